//! The discrete Gaussian law, P(Z=z) ∝ e^(−z²/2σ²) over the integers, and an exact sampler.
//!
//! Definition 1 and Algorithm 3 of Canonne, Kamath and Steinke (2020). `sigma` is in grid units; the
//! standard deviation is slightly smaller than it.

use dashu_base::{Abs, SquareRoot};
use dashu_ratio::RBig;
use rand::Rng;
use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

use crate::coins::bernoulli_exponential;
use crate::discrete_laplace;
use crate::enclosure::whole_and_rest;

/// Beyond this many σ a probability is below 1e-313 and taken as 0.
const REACH: f64 = 38.0;
/// From this σ on, tails are integrals; below, sums.
const INTEGRAL_FROM: f64 = 1000.0;

/// The law, in floats.
///
/// ```
/// use tamis_oracle::discrete_gaussian::DiscreteGaussian;
/// let law = DiscreteGaussian::new(1.0);
/// // Just below the continuous density at 0, 1/√(2π) = 0.398 942 280 4.
/// assert!((law.probability(0) - 0.398_942_278_3).abs() < 1e-10);
/// assert!((2.0 * law.survival(1) + law.probability(0) - 1.0).abs() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    sigma: f64,
    total: f64,
}

impl DiscreteGaussian {
    /// The law with this parameter, in grid units.
    ///
    /// # Panics
    ///
    /// If `sigma` is not positive and finite.
    pub fn new(sigma: f64) -> Self {
        assert!(0.0 < sigma && sigma.is_finite(), "sigma must be finite and positive, got {sigma}");
        // Poisson summation: the sum is σ√(2π)(1 + 2e^(−2π²σ²) + …), below 1e-34 from σ = 2 on.
        let total = if sigma >= 2.0 {
            sigma * (2.0 * PI).sqrt()
        } else {
            1.0 + 2.0 * (1..=(REACH * sigma) as i64 + 1).rev().map(|z| weight(z, sigma)).sum::<f64>()
        };
        Self { sigma, total }
    }

    /// P(Z = z), relative error below `2e-16·(10 + z²/2σ²)`.
    pub fn probability(&self, z: i64) -> f64 {
        weight(z, self.sigma) / self.total
    }

    /// P(Z ≥ j). For j > 0 and down to 1e-30 the relative error is below 1e-11 while σ < 1000, and below
    /// 1e-9 from there on.
    ///
    /// Cost: 38σ exponentials for σ below 1000. Above, the sum is the integral from j − ½ with the
    /// midpoint rule's first correction: that formula errs by 1e-11 at most, the `erfc` of statrs by up
    /// to 1e-10.
    pub fn survival(&self, j: i64) -> f64 {
        if j <= 0 {
            return 1.0 - self.survival(j.saturating_neg().saturating_add(1));
        }
        if self.sigma < INTEGRAL_FROM {
            let last = (REACH * self.sigma) as i64 + 1;
            // From the far end, so that small terms are added first.
            return (j..=last).rev().map(|z| self.probability(z)).sum();
        }
        let x = (j as f64 - 0.5) / self.sigma;
        let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
        erfc(x / SQRT_2) / 2.0 - x * density / (24.0 * self.sigma * self.sigma)
    }
}

fn weight(z: i64, sigma: f64) -> f64 {
    let x = z as f64 / sigma;
    (-x * x / 2.0).exp()
}

/// One draw with parameter σ² = `variance`, exactly, from fair bits: Algorithm 3.
///
/// # Panics
///
/// If the variance is not positive.
///
/// ```
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let draws: Vec<i64> = (0..100)
///     .map(|_| tamis_oracle::discrete_gaussian::sample(&"9/2".parse().unwrap(), &mut rng))
///     .collect();
/// assert!(draws.iter().all(|z| z.abs() < 40));
/// ```
pub fn sample<R: Rng + ?Sized>(variance: &RBig, rng: &mut R) -> i64 {
    assert!(*variance > RBig::ZERO, "a variance must be positive, got {variance}");
    // t = ⌊σ⌋ + 1, and ⌊σ⌋ = ⌊√⌊σ²⌋⌋.
    let t = RBig::from(whole_and_rest(variance).0.sqrt()) + RBig::ONE;
    loop {
        let y = discrete_laplace::sample(&t, rng);
        let offset = RBig::from(y).abs() - variance / &t;
        let exponent = &offset * &offset / (RBig::from(2_u8) * variance);
        if bernoulli_exponential(&exponent, rng) {
            return y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enclosure::rational;
    use crate::statistics::IntegerBins;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn the_law_sums_to_one() {
        for sigma in [0.1, 0.7, 1.0, 1.99, 2.0, 30.0] {
            let law = DiscreteGaussian::new(sigma);
            let reach = (REACH * sigma) as i64 + 2;
            let sum: f64 = (-reach..=reach).map(|z| law.probability(z)).sum();
            assert!((sum - 1.0).abs() < 1e-13, "{sigma}: {sum}");
        }
    }

    #[test]
    fn the_integral_agrees_with_the_sum() {
        let sigma = 1500.0;
        let law = DiscreteGaussian::new(sigma);
        for j in [1_i64, 2, 700, 4000, 9000, 15_000] {
            let sum: f64 = (j..=60_000).rev().map(|z| law.probability(z)).sum();
            assert!((law.survival(j) / sum - 1.0).abs() < 1e-9, "{j}: {} {sum}", law.survival(j));
        }
        assert!((law.survival(-3) + law.survival(4) - 1.0).abs() < 1e-15);
    }

    const FALSE_ALARM: f64 = 1e-6;
    /// Rejects a σ 10 % off; does not see 2 %.
    const DRAWS: usize = 10_000;

    fn fits(drawn: f64, claimed: f64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        let law = DiscreteGaussian::new(claimed);
        let bins = IntegerBins::new(|j| law.survival(j), 30);
        let variance = rational(drawn) * rational(drawn);
        bins.test((0..DRAWS).map(|_| sample(&variance, &mut rng))).accepts(FALSE_ALARM)
    }

    #[test]
    fn draws_follow_the_law() {
        for sigma in [0.6, 1.0, 4.5, 1e4] {
            assert!(fits(sigma, sigma), "{sigma}");
        }
    }

    #[test]
    fn a_sigma_a_tenth_off_is_rejected() {
        for sigma in [0.6, 1.0, 4.5, 1e4] {
            assert!(!fits(1.1 * sigma, sigma), "{sigma}");
        }
    }
}
