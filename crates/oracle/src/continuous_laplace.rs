//! The papers' real-valued Laplace noise, for experiments only.
//!
//! Adding a float draw to a float answer leaks the answer through its low bits (Mironov 2012):
//! **nothing drawn here may ever be released**. The papers' algorithms are stated with it, so
//! experiments that check their accuracy theorems literally need it.

use rand::{Rng, RngExt};

/// One draw of density e^(−|x|/scale)/(2·scale), by inverting a uniform of 53 bits.
///
/// The uniform is `(i + ½)/2^53`, never 0 or 1, so the draw is always finite: |x| ≤ 36.8·scale.
///
/// ```
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
/// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
/// assert!(tamis_oracle::continuous_laplace::sample(2.0, &mut rng).is_finite());
/// ```
pub fn sample<R: Rng + ?Sized>(scale: f64, rng: &mut R) -> f64 {
    let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) * 2.0_f64.powi(-53);
    let magnitude = -scale * uniform.ln();
    if rng.random() { magnitude } else { -magnitude }
}

/// P(X ≤ x).
pub fn distribution(scale: f64, x: f64) -> f64 {
    let tail = (-x.abs() / scale).exp() / 2.0;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::KolmogorovSmirnov;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    const FALSE_ALARM: f64 = 1e-6;
    /// Rejects a scale 10 % off; does not see 3 %.
    const DRAWS: usize = 100_000;

    fn fits(drawn: f64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let draws = (0..DRAWS).map(|_| sample(drawn, &mut rng)).collect();
        KolmogorovSmirnov::of_reals(draws, |x| distribution(3.0, x)).accepts(FALSE_ALARM)
    }

    #[test]
    fn draws_follow_the_law() {
        assert!(fits(3.0));
    }

    #[test]
    fn a_scale_a_tenth_off_is_rejected() {
        assert!(!fits(2.7));
        assert!(!fits(3.3));
    }

    #[test]
    fn the_corner_words_are_finite() {
        struct Constant(u64);
        impl rand::TryRng for Constant {
            type Error = std::convert::Infallible;
            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                Ok(self.0 as u32)
            }
            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                Ok(self.0)
            }
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
                bytes.fill(self.0 as u8);
                Ok(())
            }
        }
        for word in [0, u64::MAX] {
            let x = sample(1.0, &mut Constant(word));
            assert!(x.is_finite() && x.abs() < 38.0, "{word}: {x}");
        }
    }
}
