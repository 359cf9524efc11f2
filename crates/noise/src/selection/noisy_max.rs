//! Report noisy max: the index of the largest of many answers.

use super::scale;
use crate::discrete_laplace::margin;
use crate::{Beta, DiscreteLaplace, Epsilon, Neighbours, ParameterError, Queries, Sensitivity, StreamKind};
use rand::CryptoRng;

/// Report Noisy Max (Dwork and Roth 2014, Claim 3.9), the non-interactive analogue of the sparse vector.
///
/// # Privacy
/// The index alone, of answers of sensitivity Δ each, is ε-private with discrete Laplace noise of scale 2Δ/ε, or Δ/ε if
/// the answers are monotone (all move the same way between neighbours). *Proof*: fix the noise of all others. Answer i wins
/// iff its noise is at least some integer j, ties going to the lower index; on the neighbour it wins iff it is at least some
/// j' with |j − j'| ≤ 2Δ (monotone: Δ), since i's and the best rival's answer each move by at most Δ; and
/// P(Z ≥ j') ≥ e^(−|j − j'|/t)·P(Z ≥ j) for every whole j and j'. The answer itself must be released with noise of its own.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Epsilon, Neighbours, NoisyMax, Sensitivity, StreamKind};
/// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
/// let selection = NoisyMax::new(Sensitivity::ONE, &Epsilon::new(1.0)?, neighbours, kind)?;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// assert_eq!(selection.select(&[3, 1, 500, 2], &mut rng), Some(2));
/// assert_eq!(selection.select(&[], &mut rng), None);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NoisyMax {
    noise: DiscreteLaplace,
}

impl NoisyMax {
    /// For answers of sensitivity Δ at privacy ε.
    ///
    /// # Errors
    /// If the scale is one that the sampler does not serve.
    pub fn new(
        sensitivity: Sensitivity,
        epsilon: &Epsilon,
        neighbours: Neighbours,
        kind: StreamKind,
    ) -> Result<Self, ParameterError> {
        Ok(Self { noise: DiscreteLaplace::new(scale(sensitivity, epsilon, neighbours, kind)?) })
    }

    /// How far below the largest answer the selected one may be: with probability 1 − β over selections among `draws` answers in
    /// all, at most twice the [`margin`] of β/draws, since no noise is beyond it then. Grid units.
    ///
    /// ```
    /// use tamis_noise::{Beta, Epsilon, Neighbours, NoisyMax, Queries, Sensitivity, StreamKind};
    /// let (neighbours, kind) = (Neighbours::AddRemove, StreamKind::Counts);
    /// let selection = NoisyMax::new(Sensitivity::ONE, &Epsilon::new(1.0)?, neighbours, kind)?;
    /// assert_eq!(selection.accuracy(Queries::new(1000)?, Beta::new(0.05)?), 20);
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn accuracy(&self, draws: Queries, beta: Beta) -> u64 {
        2 * margin(self.noise.scale(), beta.get() / draws.to_f64())
    }

    /// The index of the largest noisy answer, the first of equals; `None` for no answers.
    pub fn select<R: CryptoRng + ?Sized>(&self, answers: &[i64], rng: &mut R) -> Option<usize> {
        let noisy = |&answer: &i64| i128::from(answer) + i128::from(self.noise.sample(rng));
        let noisy: Vec<i128> = answers.iter().map(noisy).collect();
        let largest = noisy.iter().max()?;
        noisy.iter().position(|answer| answer == largest)
    }
}
