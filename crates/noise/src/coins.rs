//! Coins of probability e^(−n/t), and uniform whole numbers: what a selection tosses.
//!
//! # Method
//! A uniform number U in [0, 1) is below e^(−n/t) iff E = −ln U is above n/t. In floats both are known within a bound; if they
//! are further apart than it, that decides. Otherwise the same U is compared in integers of growing precision and refined by
//! further words if it must be. So the float never decides anything: it only saves work.
//!
//! # Error bound
//! With u = 2^−53: E as in [`discrete_laplace`](crate::discrete_laplace), within 8u·(1 + E) and what the width of U's interval
//! adds; n and t each rounded once, 1/t and the product once more, within 4u·n/t. Allowed for: 32u·(1 + E + n/t).

use crate::Scale;
use crate::discrete_laplace::{FLOAT_ERROR, Placed, place};
use crate::enclosure::{LazyUniform, Probability, Words};
use crate::exact::nearest_f64;
use crate::logarithm::negative_logarithm;
use dashu_ratio::RBig;
use std::num::NonZeroU64;

/// After so many rejections in a row, each of probability below ½, a generator is broken; the samplers stay total all the same.
const MAX_REJECTIONS: u32 = 4096;

/// Coins that show heads with probability e^(−n/t), for any whole n ≥ 0.
#[derive(Clone, Debug)]
pub(crate) struct ExponentialCoin {
    scale: Scale,
    /// 1/t.
    rate: RBig,
    rate_float: f64,
}

impl ExponentialCoin {
    pub(crate) fn new(scale: Scale) -> Self {
        let rate = RBig::ONE / scale.as_rational();
        let rate_float = 1.0 / nearest_f64(scale.as_rational());
        Self { scale, rate, rate_float }
    }

    /// t.
    pub(crate) fn scale(&self) -> &Scale {
        &self.scale
    }

    /// One coin: a word, rarely more; none for n = 0, which is certain.
    pub(crate) fn toss(&self, n: u64, words: &mut impl Words) -> bool {
        if n == 0 {
            return true;
        }
        let word = words();
        self.estimate(n, word).unwrap_or_else(|| self.toss_exactly(n, word, words))
    }

    /// What the top 52 bits of U tell, if floats can tell it.
    fn estimate(&self, n: u64, word: u64) -> Option<bool> {
        let Placed { x, error, trusted } = place::<52>(word);
        let e = negative_logarithm(x);
        let exponent = n as f64 * self.rate_float;
        let error = error + FLOAT_ERROR * (1.0 + e + exponent);
        (trusted && (e - exponent).abs() >= error).then_some(e > exponent)
    }

    #[cold]
    #[inline(never)]
    fn toss_exactly(&self, n: u64, word: u64, words: &mut impl Words) -> bool {
        let exponent = &self.rate * RBig::from(n);
        LazyUniform::new(word, 64).below(Probability::Exponential { exponent: &exponent }, words)
    }
}

/// A whole number below `bound`, each equally likely, from uniform words: the high half of word · bound, the few words rejected
/// that would favour some (D. Lemire, *Fast random integer generation in an interval*, 2019). Exact but for an event of
/// probability below 2⁻⁴⁰⁰⁰; one word, rarely more.
///
/// ```
/// use rand::{Rng, SeedableRng, rngs::StdRng};
/// use std::num::NonZeroU64;
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let die = NonZeroU64::new(6).unwrap();
/// assert!((0..100).all(|_| tamis_noise::uniform_below(die, || rng.next_u64()) < 6));
/// ```
pub fn uniform_below(bound: NonZeroU64, mut words: impl FnMut() -> u64) -> u64 {
    let favoured = bound.get().wrapping_neg() % bound; // 2^64 mod bound
    for _ in 0..MAX_REJECTIONS {
        let product = u128::from(words()) * u128::from(bound.get());
        // The low half, then the high one: both are meant to be cut off.
        if product as u64 >= favoured {
            return (product >> 64) as u64;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha12Rng;
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};

    const SCALES: [&str; 5] = ["0.001", "10/3", "1000", "1e9", "1099511627776"];

    fn coin(scale: &str) -> ExponentialCoin {
        ExponentialCoin::new(scale.parse().unwrap())
    }

    /// The filtered and the exact decision of one number.
    fn both_ways(coin: &ExponentialCoin, n: u64, word: u64) -> [bool; 2] {
        let [mut rest, mut again] = [(); 2].map(|()| ChaCha12Rng::seed_from_u64(word));
        let mut first = Some(word);
        let fast = coin.toss(n, &mut || first.take().unwrap_or_else(|| rest.next_u64()));
        [fast, coin.toss_exactly(n, word, &mut || again.next_u64())]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn forcing_the_exact_path_changes_nothing(word: u64, shift in 0u32..50, n: u64, scale in prop::sample::select(&SCALES)) {
            let coin = coin(scale);
            // Of the order of E·t, where both sides are possible; and anything at all.
            let near = (-((word >> shift) as f64 * 2f64.powi(-64)).ln() / coin.rate_float) as u64;
            for n in [near, near.saturating_add(1), n] {
                let [fast, exact] = both_ways(&coin, n.max(1), word >> shift);
                prop_assert_eq!(fast, exact);
            }
        }
    }

    #[test]
    fn the_filter_is_right_next_to_the_boundary_and_not_sure_on_it() {
        let coin = coin("1000");
        let mut unsure = 0;
        for n in 1..300 {
            // The least number that shows tails, by halving with the exact path.
            let (mut heads, mut tails) = (0, u64::MAX);
            while tails - heads > 1 {
                let middle = heads + (tails - heads) / 2;
                if coin.toss_exactly(n, middle, &mut || 1 << 63) { heads = middle } else { tails = middle }
            }
            for word in (tails - 3..tails + 3).chain([tails - (1 << 20), tails + (1 << 20)]) {
                let [fast, exact] = both_ways(&coin, n, word);
                assert_eq!(fast, exact, "n = {n}, word {word:#x}");
                unsure += usize::from(coin.estimate(n, word).is_none());
            }
        }
        assert!(unsure >= 300, "the filter was unsure {unsure} times on a boundary: its bound is not in force");
    }

    #[test]
    fn a_broken_generator_ends_all_the_same() {
        for scale in SCALES {
            let coin = coin(scale);
            assert!(coin.toss(0, &mut || unreachable!("certain")));
            assert!(!coin.toss(1 << 62, &mut || u64::MAX));
            assert!(!coin.toss(u64::MAX, &mut || 1 << 63));
            // 0.000… is below every probability that the exact path can tell from 0.
            assert!(coin.toss(1, &mut || 0));
        }
        let bound = NonZeroU64::new(3).unwrap();
        assert_eq!(uniform_below(bound, || 0), 0); // the favoured word, over and over
        assert_eq!(uniform_below(bound, || u64::MAX), 2);
    }

    #[test]
    fn every_number_below_the_bound_has_as_many_words() {
        // With words of 64 bits and a bound of 3·2^62 a quarter of all words is rejected. Of the others each fourth number
        // would be twice as likely without.
        let bound = NonZeroU64::new(3 << 62).unwrap();
        let favoured = bound.get().wrapping_neg() % bound;
        assert_eq!(favoured, 1 << 62);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut words = 0;
        for _ in 0..30_000 {
            let draw = uniform_below(bound, || {
                words += 1;
                rng.next_u64()
            });
            assert!(draw < bound.get());
        }
        // 4/3 words a draw: 40 000 ± 115, false alarm below 1e-8 at 6 standard deviations.
        assert!((39_300..40_700).contains(&words), "{words}");
        assert_eq!(uniform_below(NonZeroU64::MIN, || 12345), 0);
    }
}
