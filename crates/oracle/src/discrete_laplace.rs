//! The discrete Laplace law, P(Z=z) = (1−s)/(1+s)·s^|z| with s = e^(−1/t), and an exact sampler.
//!
//! Algorithm 2 of Canonne, Kamath and Steinke (2020). The scale `t` is in grid units.

use dashu_base::UnsignedAbs;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand::Rng;

use crate::coins::{bernoulli_exponential, uniform};
use crate::enclosure::{Enclosure, exponential};

/// The law, in floats, with every probability a product or sum of positive terms.
///
/// Relative error of every probability: below `2e-16·(10 + distance/scale)`, where `distance` is how far
/// from 0 the event starts.
///
/// ```
/// use tamis_oracle::discrete_laplace::DiscreteLaplace;
/// let law = DiscreteLaplace::new(2.0);
/// assert!((law.mass(i64::MIN, -1) + law.probability(0) + law.survival(1) - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteLaplace {
    scale: f64,
}

impl DiscreteLaplace {
    /// The law of this scale, in grid units. Scale 0 is the point mass at 0: no noise at all, which
    /// only mechanisms that are wrong on purpose use.
    ///
    /// # Panics
    ///
    /// If `scale` is negative or not finite.
    pub fn new(scale: f64) -> Self {
        assert!(scale >= 0.0 && scale.is_finite(), "a scale must be finite and not negative, got {scale}");
        Self { scale }
    }

    /// P(Z = z).
    pub fn probability(&self, z: i64) -> f64 {
        self.mass(z, z)
    }

    /// P(Z ≥ j).
    pub fn survival(&self, j: i64) -> f64 {
        self.mass(j, i64::MAX)
    }

    /// P(low ≤ Z ≤ high), 0 if the range is empty. `i64::MIN` and `i64::MAX` stand for infinity.
    pub fn mass(&self, low: i64, high: i64) -> f64 {
        if low > high {
            return 0.0;
        }
        if self.scale == 0.0 {
            return if low <= 0 && 0 <= high { 1.0 } else { 0.0 };
        }
        if low >= 0 {
            self.mass_above_zero(low, high)
        } else if high <= 0 {
            // −i64::MIN saturates to infinity, which is what it stands for.
            self.mass_above_zero(high.saturating_neg(), low.saturating_neg())
        } else {
            self.mass_above_zero(1, low.saturating_neg()) + self.mass_above_zero(0, high)
        }
    }

    /// Σ of s^z(1−s)/(1+s) over low ≤ z ≤ high with low ≥ 0, which is s^low·(1−s^(high−low+1))/(1+s).
    fn mass_above_zero(&self, low: i64, high: i64) -> f64 {
        let count = (high - low) as f64 + 1.0;
        (-(low as f64) / self.scale).exp() * -(-count / self.scale).exp_m1() / (1.0 + (-1.0 / self.scale).exp())
    }
}

/// P(Z = z) for a rational scale, enclosed to a relative 2^-bits or so.
///
/// # Panics
///
/// If the scale is not positive.
pub fn probability_enclosure(scale: &RBig, z: i64, bits: usize) -> Enclosure {
    assert!(*scale > RBig::ZERO, "a scale must be positive, got {scale}");
    let s = exponential(&(-RBig::ONE / scale), bits);
    let power = exponential(&(-RBig::from(z.unsigned_abs()) / scale), bits);
    // (1−s)/(1+s) falls as s grows.
    let centre = |s: &RBig| (RBig::ONE - s) / (RBig::ONE + s);
    Enclosure { lower: centre(&s.upper) * power.lower, upper: centre(&s.lower) * power.upper }
}

/// P(Z ≥ j) for a rational scale, enclosed to a relative 2^-bits or so (absolutely, for j ≤ 0).
///
/// # Panics
///
/// If the scale is not positive.
///
/// ```
/// use tamis_oracle::discrete_laplace::{DiscreteLaplace, survival_enclosure};
/// let (lower, upper) = survival_enclosure(&"5/2".parse().unwrap(), 3, 100).to_f64();
/// let float = DiscreteLaplace::new(2.5).survival(3);
/// assert!(lower * (1.0 - 1e-14) < float && float < upper * (1.0 + 1e-14));
/// ```
pub fn survival_enclosure(scale: &RBig, j: i64, bits: usize) -> Enclosure {
    assert!(*scale > RBig::ZERO, "a scale must be positive, got {scale}");
    if j <= 0 {
        let below = survival_enclosure(scale, 1 - j, bits);
        return Enclosure { lower: RBig::ONE - below.upper, upper: RBig::ONE - below.lower };
    }
    let s = exponential(&(-RBig::ONE / scale), bits);
    let power = exponential(&(-RBig::from(j) / scale), bits);
    Enclosure { lower: power.lower / (RBig::ONE + s.upper), upper: power.upper / (RBig::ONE + s.lower) }
}

/// One draw of scale `scale`, exactly, from fair bits: Algorithm 2, with the paper's t/s the scale in
/// lowest terms.
///
/// Slow: some hundred big-integer operations. A draw beyond `i64`, of probability
/// e^(−2^63/scale), saturates.
///
/// # Panics
///
/// If the scale is not positive.
///
/// ```
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// let scale = "7/3".parse().unwrap();
/// let draws: Vec<i64> =
///     (0..100).map(|_| tamis_oracle::discrete_laplace::sample(&scale, &mut rng)).collect();
/// assert!(draws.iter().any(|&z| z < 0) && draws.iter().any(|&z| z > 0));
/// ```
pub fn sample<R: Rng + ?Sized>(scale: &RBig, rng: &mut R) -> i64 {
    assert!(*scale > RBig::ZERO, "a scale must be positive, got {scale}");
    let t = scale.numerator().unsigned_abs();
    let s = scale.denominator();
    loop {
        let u = uniform(&t, rng);
        if !bernoulli_exponential(&RBig::from_parts(IBig::from(u.clone()), t.clone()), rng) {
            continue;
        }
        let mut v = UBig::ZERO;
        while bernoulli_exponential(&RBig::ONE, rng) {
            v += UBig::ONE;
        }
        let x = u + &t * v;
        let y = x / s;
        let negative = uniform(&2_u8.into(), rng) == UBig::ONE;
        if negative && y.is_zero() {
            continue;
        }
        let magnitude = i64::try_from(y).unwrap_or(i64::MAX);
        return if negative { -magnitude } else { magnitude };
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
    fn the_float_law_lies_in_its_enclosure() {
        for scale in ["1/10", "1", "7/3", "40", "1000000"] {
            let exact: RBig = scale.parse().expect("a rational literal");
            let law = DiscreteLaplace::new(exact.to_f64_fast());
            for z in [0_i64, 1, -2, 17, -60] {
                let (lower, upper) = probability_enclosure(&exact, z, 120).to_f64();
                let distance = z.unsigned_abs() as f64 * law.scale.recip();
                let error = 2e-16 * (10.0 + distance);
                let p = law.probability(z);
                assert!(lower * (1.0 - error) <= p && p <= upper * (1.0 + error), "{scale} {z} {p}");
                let (lower, upper) = survival_enclosure(&exact, z, 120).to_f64();
                let p = law.survival(z);
                assert!(lower * (1.0 - error) <= p && p <= upper * (1.0 + error), "{scale} {z} {p}");
            }
        }
    }

    #[test]
    fn masses_add_up() {
        for scale in [0.2, 1.0, 9.5] {
            let law = DiscreteLaplace::new(scale);
            for (low, high) in [(-5, 5), (0, 0), (-3, -1), (2, 9), (-1, 0), (0, 4)] {
                let sum: f64 = (low..=high).map(|z| law.probability(z)).sum();
                assert!((law.mass(low, high) / sum - 1.0).abs() < 1e-14, "{scale} {low} {high}");
            }
            assert!((law.mass(i64::MIN, i64::MAX) - 1.0).abs() < 1e-15);
            assert!((law.mass(i64::MIN, -4) / law.survival(4) - 1.0).abs() < 1e-15);
            assert_eq!(law.mass(3, 2), 0.0);
            // The closed form of the design: P(Z ≥ j) = s^j/(1+s).
            let s = (-1.0 / scale).exp();
            assert!((law.survival(3) / (s.powi(3) / (1.0 + s)) - 1.0).abs() < 1e-13);
        }
        assert_eq!(DiscreteLaplace::new(0.0).survival(0), 1.0);
        assert_eq!(DiscreteLaplace::new(0.0).survival(1), 0.0);
    }

    const FALSE_ALARM: f64 = 1e-6;
    /// Rejects a scale 10 % off; does not see 3 %.
    const DRAWS: usize = 20_000;

    fn fits(drawn: &RBig, claimed: f64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let law = DiscreteLaplace::new(claimed);
        let bins = IntegerBins::new(|j| law.survival(j), 40);
        bins.test((0..DRAWS).map(|_| sample(drawn, &mut rng))).accepts(FALSE_ALARM)
    }

    #[test]
    fn draws_follow_the_law() {
        for scale in [0.3, 1.0, 7.5, 1000.0, 1e9] {
            assert!(fits(&rational(scale), scale), "{scale}");
        }
    }

    #[test]
    fn a_scale_a_tenth_off_is_rejected() {
        for scale in [1.0, 7.5, 1000.0, 1e9] {
            assert!(!fits(&rational(1.1 * scale), scale), "{scale}");
        }
    }
}
