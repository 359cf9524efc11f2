//! Fair bits to exact coins, in big integers.
//!
//! Algorithm 1 of Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy* (2020),
//! as printed. Slow and obvious: nothing is rounded, so the only assumption is that the generator's
//! bits are fair.

use dashu_base::BitTest;
use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::Rng;

use crate::enclosure::whole_and_rest;

/// Uniform in `0..bound`, by rejecting too large strings of fair bits.
///
/// # Panics
///
/// If `bound` is 0.
pub fn uniform<R: Rng + ?Sized>(bound: &UBig, rng: &mut R) -> UBig {
    assert!(!bound.is_zero(), "an empty range has no uniform draw");
    let bits = (bound - UBig::ONE).bit_len();
    loop {
        let words = bits.div_ceil(64);
        let bytes: Vec<u8> = (0..words).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        let draw = UBig::from_le_bytes(&bytes) >> (64 * words - bits);
        if draw < *bound {
            return draw;
        }
    }
}

/// True with probability `p`, exactly.
///
/// # Panics
///
/// If `p` is not in `[0, 1]`.
pub fn bernoulli<R: Rng + ?Sized>(p: &RBig, rng: &mut R) -> bool {
    assert!(RBig::ZERO <= *p && *p <= RBig::ONE, "a probability must be in [0, 1], got {p}");
    RBig::from(uniform(p.denominator(), rng)) < p * RBig::from(p.denominator().clone())
}

/// True with probability e^(−γ), exactly: Algorithm 1.
///
/// # Panics
///
/// If `gamma` is negative.
pub fn bernoulli_exponential<R: Rng + ?Sized>(gamma: &RBig, rng: &mut R) -> bool {
    assert!(*gamma >= RBig::ZERO, "an exponent must not be negative, got {gamma}");
    let (whole, rest) = whole_and_rest(gamma);
    let mut k = UBig::ZERO;
    while k < whole {
        if !bernoulli_exponential_below_one(&RBig::ONE, rng) {
            return false;
        }
        k += UBig::ONE;
    }
    bernoulli_exponential_below_one(&rest, rng)
}

/// The first branch of Algorithm 1, γ in [0, 1]: von Neumann's race, won if it stops at an odd step.
fn bernoulli_exponential_below_one<R: Rng + ?Sized>(gamma: &RBig, rng: &mut R) -> bool {
    let mut k = 1_u32;
    while bernoulli(&(gamma / RBig::from(k)), rng) {
        k += 1;
    }
    k % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::ChiSquare;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    /// Sees a probability 0.5 off by 0.012; does not see 0.005.
    const DRAWS: u64 = 100_000;

    /// Whether the coin e^(−drawn) passes for e^(−claimed).
    fn fits(drawn: &str, claimed: f64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let gamma = drawn.parse().expect("a rational literal");
        let heads = (0..DRAWS).filter(|_| bernoulli_exponential(&gamma, &mut rng)).count() as u64;
        let p = (-claimed).exp();
        ChiSquare::new(&[heads, DRAWS - heads], &[p, 1.0 - p], 25.0).accepts(FALSE_ALARM)
    }

    #[test]
    fn the_exponential_coin_has_its_probability() {
        assert!(fits("1/7", 1.0 / 7.0));
        assert!(fits("1", 1.0));
        assert!(fits("5/2", 2.5));
    }

    #[test]
    fn a_wrong_exponent_is_rejected() {
        assert!(!fits("1/7", 1.0 / 6.0));
        assert!(!fits("1", 1.05));
        assert!(!fits("5/2", 2.4));
    }

    #[test]
    fn certain_coins_are_certain() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        for _ in 0..100 {
            assert!(bernoulli_exponential(&RBig::ZERO, &mut rng));
            assert!(bernoulli(&RBig::ONE, &mut rng));
            assert!(!bernoulli(&RBig::ZERO, &mut rng));
            assert_eq!(uniform(&UBig::ONE, &mut rng), UBig::ZERO);
        }
    }

    #[test]
    fn uniform_draws_are_uniform() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut counts = [0; 5];
        for _ in 0..DRAWS {
            let draw = uniform(&5_u8.into(), &mut rng);
            counts[usize::try_from(draw).expect("below five")] += 1;
        }
        assert!(ChiSquare::new(&counts, &[0.2; 5], 25.0).accepts(FALSE_ALARM));
        // Three bits reduced modulo 5 would give 0, 1 and 2 twice the share of 3 and 4.
        let biased = [25_000, 25_000, 25_000, 12_500, 12_500];
        assert!(!ChiSquare::new(&biased, &[0.2; 5], 25.0).accepts(FALSE_ALARM));
        // A range wider than one word.
        let wide = UBig::ONE << 100;
        assert!((0..100).all(|_| uniform(&wide, &mut rng) < wide));
    }
}
