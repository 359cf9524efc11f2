use rand::Rng;
use std::fmt;
use tamis_noise::discrete_laplace::margin;
use tamis_noise::{DiscreteGaussian, DiscreteLaplace, Scale, discrete_gaussian, discrete_laplace};

/// The integer noise of a plan, on each of what it releases.
#[derive(Clone, Debug)]
pub enum Noise {
    /// Of a scale.
    Laplace(DiscreteLaplace),
    /// Of a parameter σ².
    Gaussian(DiscreteGaussian),
}

impl Noise {
    /// The true variance of the integer law.
    pub fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => discrete_laplace::second_moment(noise.scale()),
            Self::Gaussian(noise) => discrete_gaussian::second_moment(noise.variance()),
        }
    }

    /// A number that |Z| exceeds with at most this probability: of Laplace noise the least, of Gaussian noise σ·√(2
    /// ln(2/probability)), since it is sub-Gaussian with parameter σ (Canonne, Kamath, Steinke 2020, Corollary 17).
    pub fn reach(&self, probability: f64) -> f64 {
        match self {
            Self::Laplace(noise) => margin(noise.scale(), probability) as f64,
            // A relative 1e-12 is more than the root and ln may be off by.
            Self::Gaussian(noise) => {
                (noise.variance().to_f64_up() * 2.0 * (2.0 / probability).ln()).sqrt() * (1.0 + 1e-12)
            }
        }
    }

    /// A number that |Σ w·Z| exceeds with at most this probability, for at most `keys` independent draws and weights
    /// from 0 to 1.
    ///
    /// Gaussian: [`reach`](Self::reach) times √m, since sub-Gaussian parameters add up as variances do. Laplace: the
    /// lesser of m times the reach of a share of the probability, by the union bound, and by Chernoff's method, with c
    /// = ln(2/probability),
    ///
    /// ```text
    /// min over 0 < y < 1 of  t·(c − m·ln(1 − y²))/y,
    /// ```
    ///
    /// for E e^(λZ) = 1/(1 − (cosh λ − 1)/(cosh(1/t) − 1)) ≤ 1/(1 − (λt)²) at λ = y/t, because (cosh x − 1)/x² grows
    /// with x; and −ln(1 − w²y²) ≤ −w²·ln(1 − y²) for w ≤ 1, by convexity.
    ///
    /// ```
    /// use tamis_baselines::Noise;
    /// use tamis_noise::{DiscreteLaplace, Scale};
    /// let noise = Noise::Laplace(DiscreteLaplace::new(Scale::new(10.0)?));
    /// assert_eq!((noise.reach(1e-6), noise.reach_of_sum(1, 1e-6)), (138.0, 138.0));
    /// assert!((noise.reach_of_sum(10_000, 1e-6) / 7_650.0 - 1.0).abs() < 0.01); // 5.4 standard deviations
    /// # Ok::<(), tamis_noise::ParameterError>(())
    /// ```
    pub fn reach_of_sum(&self, keys: u64, probability: f64) -> f64 {
        let keys = keys as f64;
        match self {
            Self::Gaussian(_) => keys.sqrt() * self.reach(probability),
            Self::Laplace(noise) => {
                let union = keys * self.reach(probability / keys.max(1.0));
                union.min(sum_of_laplace(noise.scale(), keys, (2.0 / probability).ln()))
            }
        }
    }

    /// Each with noise of its own. They are within ±2⁶⁰, noise within ±2⁵³: no overflow.
    pub(crate) fn add_to<R: Rng + ?Sized>(&self, values: &mut [i64], rng: &mut R) {
        let mut noise = vec![0; values.len()];
        match self {
            Self::Laplace(law) => law.fill(&mut noise, rng),
            Self::Gaussian(law) => law.fill(&mut noise, rng),
        }
        values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
    }
}

/// Chernoff's bound, except with probability e^(−tail) on each side: every y gives a bound, so how near the search
/// comes to the best does not matter. The function is convex: its two terms, c/y and −ln(1 − y²)/y, are.
fn sum_of_laplace(scale: &Scale, keys: f64, tail: f64) -> f64 {
    let at = |y: f64| (tail - keys * (-y * y).ln_1p()) / y;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(left) < at(right) { high = right } else { low = left }
    }
    scale.to_f64_up() * at(0.5 * (low + high)) * (1.0 + 1e-12)
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Laplace(noise) => write!(f, "discrete Laplace noise of scale {}", noise.scale()),
            Self::Gaussian(noise) => {
                write!(f, "discrete Gaussian noise of σ = {:.6}", noise.variance().to_f64_up().sqrt())
            }
        }
    }
}
