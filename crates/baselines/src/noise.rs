use rand::Rng;
use std::fmt;
use tamis_noise::discrete_laplace::margin;
use tamis_noise::{DiscreteGaussian, DiscreteLaplace, discrete_gaussian, discrete_laplace};

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

    /// A number that |Z| exceeds with at most this probability: of Laplace noise the least, of Gaussian noise σ·√(2 ln(2/probability)),
    /// since it is sub-Gaussian with parameter σ (Canonne, Kamath, Steinke 2020, Corollary 17).
    pub fn reach(&self, probability: f64) -> f64 {
        match self {
            Self::Laplace(noise) => margin(noise.scale(), probability) as f64,
            // A relative 1e-12 is more than the root and ln may be off by.
            Self::Gaussian(noise) => {
                (noise.variance().to_f64_up() * 2.0 * (2.0 / probability).ln()).sqrt() * (1.0 + 1e-12)
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
