//! Noise added to integers: the Laplace and the Gaussian mechanism, each with its bound.

use crate::composition::CompositionError;
use crate::discrete_laplace::margin;
use crate::gaussian_calibration::concentrated;
use crate::{
    Beta, Budget, DiscreteGaussian, DiscreteLaplace, Epsilon, ParameterError, Queries, Scale, Sensitivity, Variance,
};
use rand::CryptoRng;
use std::num::NonZeroU128;

/// The Laplace mechanism over the integers.
///
/// # Privacy
/// A vector of integer answers whose sum of changes between neighbours (L1 norm) is at most Δ is released with
/// ε-privacy by adding independent discrete Laplace noise of scale Δ/ε to each (Dwork, McSherry, Nissim, Smith 2006;
/// Ghosh, Roughgarden, Sundararajan 2009): the probability of any output changes by a factor of at most
/// ∏ e^(|shift|/t) ≤ e^(Δ/t). The code is [`DiscreteLaplace`].
///
/// **Nothing is counted here.** The ε pays for each coordinate of one vector once; a second release of it costs ε again, and is
/// for the caller to [charge](crate::Ledger). For c adaptive answers of sensitivity Δ each within one budget, make it with
/// [`optimal::epsilon_per_run`](crate::composition::optimal::epsilon_per_run) and release c answers.
///
/// # Accuracy
/// [`accuracy`](Self::accuracy) and its inverse [`epsilon_for`](Self::epsilon_for).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Beta, Epsilon, LaplaceMechanism, Queries, Sensitivity};
/// let mechanism = LaplaceMechanism::new(Sensitivity::ONE, &Epsilon::new(0.5)?)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let alpha = mechanism.accuracy(Queries::new(1)?, Beta::new(1e-9)?);
/// assert!(mechanism.release(1000, &mut rng).abs_diff(1000) <= alpha);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaplaceMechanism {
    noise: DiscreteLaplace,
}

impl LaplaceMechanism {
    /// For answers of L1 sensitivity Δ, at privacy ε for all of them together.
    ///
    /// # Errors
    /// If Δ/ε is a scale that the sampler does not serve.
    pub fn new(sensitivity: Sensitivity, epsilon: &Epsilon) -> Result<Self, ParameterError> {
        Ok(Self { noise: DiscreteLaplace::new(Scale::of(sensitivity, epsilon)?) })
    }

    /// One noisy answer. Beyond the range of `i64` it saturates, which is a function of the noisy answer and harmless.
    pub fn release<R: CryptoRng + ?Sized>(&self, answer: i64, rng: &mut R) -> i64 {
        answer.saturating_add(self.noise.sample(rng))
    }

    /// Each answer with noise of its own.
    pub fn release_all<R: CryptoRng + ?Sized>(&self, answers: &[i64], rng: &mut R) -> Vec<i64> {
        let mut released = vec![0; answers.len()];
        self.noise.fill(&mut released, rng);
        for (noise, &answer) in released.iter_mut().zip(answers) {
            *noise = answer.saturating_add(*noise);
        }
        released
    }

    /// Scale of the noise.
    pub fn scale(&self) -> &Scale {
        self.noise.scale()
    }

    /// α in grid units: with probability 1 − β all of `queries` answers are within the [`margin`] of β/k.
    pub fn accuracy(&self, queries: Queries, beta: Beta) -> u64 {
        margin(self.scale(), beta.get() / queries.to_f64())
    }

    /// An ε with which all of `queries` answers of L1 sensitivity Δ together are within `alpha`: Δ·ln(k/β)/α, rounded up,
    /// since P(|Z| > j) ≤ e^(−j/t) for whole j.
    ///
    /// # Errors
    /// If there is no such ε up to 1000, as for `alpha` = 0.
    pub fn epsilon_for(
        alpha: u64,
        sensitivity: Sensitivity,
        queries: Queries,
        beta: Beta,
    ) -> Result<Epsilon, ParameterError> {
        let logarithm = (queries.to_f64() / beta.get()).ln() * (1.0 + 1e-11);
        Epsilon::new(sensitivity.get() as f64 * logarithm / alpha as f64)
    }
}

/// The Gaussian mechanism over the integers.
///
/// # Privacy
/// A vector of integer answers whose change between neighbours has a squared L2 norm of at most N is released with
/// (ε, δ)-privacy by adding independent discrete Gaussian noise of the σ² of
/// [`gaussian_calibration::concentrated`](crate::gaussian_calibration::concentrated) (Canonne, Kamath, Steinke 2020). The code is
/// [`DiscreteGaussian`]. It serves k adaptive answers of sensitivity 1 as one vector with N = k.
///
/// **Nothing is counted here.** The budget pays for each coordinate of one vector once; what is released beyond it is for the
/// caller to [charge](crate::Ledger).
///
/// ```
/// use std::num::NonZeroU128;
/// use tamis_noise::{Beta, Budget, Delta, Epsilon, GaussianMechanism, Queries};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let hundred = GaussianMechanism::new(NonZeroU128::new(100).unwrap(), &budget)?;
/// assert_eq!(hundred.accuracy(Queries::new(100)?, Beta::new(0.05)?), 185);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GaussianMechanism {
    noise: DiscreteGaussian,
}

impl GaussianMechanism {
    /// For answers of squared L2 sensitivity `squared_norm`.
    ///
    /// # Errors
    /// If δ is 0, or the σ² is one that the sampler does not serve.
    pub fn new(squared_norm: NonZeroU128, budget: &Budget) -> Result<Self, CompositionError> {
        Ok(Self { noise: DiscreteGaussian::new(concentrated(squared_norm, budget)?) })
    }

    /// One noisy answer. Beyond the range of `i64` it saturates, which is a function of the noisy answer and harmless.
    pub fn release<R: CryptoRng + ?Sized>(&self, answer: i64, rng: &mut R) -> i64 {
        answer.saturating_add(self.noise.sample(rng))
    }

    /// σ² of the noise.
    pub fn variance(&self) -> &Variance {
        self.noise.variance()
    }

    /// α in grid units: with probability 1 − β all of `queries` answers are within ⌈σ·√(2 ln(2k/β))⌉, since the noise is
    /// sub-Gaussian with parameter σ (Canonne, Kamath, Steinke 2020, Corollary 17).
    pub fn accuracy(&self, queries: Queries, beta: Beta) -> u64 {
        let logarithm = 2.0 * (2.0 * queries.to_f64() / beta.get()).ln();
        // A relative 1e-12 is more than the root and ln may be off by.
        ((self.variance().to_f64_up() * logarithm).sqrt() * (1.0 + 1e-12)).ceil() as u64
    }
}
