//! Exact discrete Gaussian noise.
//!
//! # Law
//! P(Z = z) ∝ e^(−z²/(2σ²)) over the integers (Canonne, Kamath, Steinke 2020). Added to an integer vector of L2
//! sensitivity Δ it is Δ²/(2σ²)-zCDP (their Theorem 4); σ for a wanted (ε, δ) comes from
//! [`gaussian_calibration`](crate::gaussian_calibration), never from the continuous formula.
//!
//! # Method
//! Their Algorithm 3: propose Y from the discrete Laplace law of scale t = ⌊σ⌋ + 1, accept it with probability e^(−z),
//! z = (|Y| − σ²/t)²/(2σ²), else propose again. Both steps are filtered: the proposal as in
//! [`discrete_laplace`](crate::discrete_laplace), the acceptance by comparing −ln U with z in floats within a bound, and
//! e^(−z) with the same U in integers where the floats do not tell.
//!
//! # Error bound
//! −ln U as in [`discrete_laplace`](crate::discrete_laplace): 2^−52/x + 2^−50·(1 + E). z: with a = |Y| − σ²/t, the shift
//! σ²/t and the factor 1/(2σ²) each within 2u (u = 2^−53), |a|·(shift + |a|)·3u/σ² + 4u·z; the shift is at most σ and
//! |a|/σ at most 1 + z where σ ≥ 1, and the shift is σ² and |a| at most 1 + z where σ < 1: below (10 + 16z)·u. Together
//! less than 2^−52/x + 2^−48·(1 + E + z).
//!
//! # Cost
//! 1.3 proposals a draw, two words each. The time depends on the noise: nothing here hides timing.

use crate::discrete_laplace::{DiscreteLaplace, FLOAT_ERROR, INTERVAL_ERROR, LEAST_MIDPOINT, midpoint};
use crate::enclosure::{LazyUniform, Probability, Words};
use crate::logarithm::negative_logarithm;
use crate::parameters::{Scale, Variance};
use crate::vectors::for_the_widest_vectors;
use crate::words::{BLOCK, fill_words};
use dashu_ratio::RBig;
use rand::Rng;

/// Discrete Gaussian noise with parameter σ², in grid units. See the [module](self) for law, exactness and cost.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{DiscreteGaussian, Variance};
/// let noise = DiscreteGaussian::new(Variance::new(100.0)?);
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let (mut batch, mut again) = ([0; 1000], StdRng::seed_from_u64(1));
/// noise.fill(&mut batch, &mut rng);
/// assert!(batch.iter().all(|&z| z == noise.sample(&mut again))); // one by one: the same values
/// let variance = batch.iter().map(|&z| (z * z) as f64).sum::<f64>() / 1000.0;
/// assert!((80.0..120.0).contains(&variance));
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    variance: Variance,
    proposal: DiscreteLaplace,
    /// σ²/t.
    shift: f64,
    /// 1/(2σ²).
    half_precision: f64,
}

for_the_widest_vectors! {
    /// The float path over pairs of words; `None` if any step needs the exact path, else how many were accepted.
    fn accept_certain(noise: &DiscreteGaussian, words: &[u64], accepted: &mut [i64; BLOCK / 2]) -> Option<usize> {
        // Arrays of one kind each, so that the loops vectorise.
        let (mut proposals, mut kept) = ([0i64; BLOCK / 2], [false; BLOCK / 2]);
        let pairs = words.as_chunks::<2>().0;
        let mut certain = true;
        for ((&[proposal, coin], y), kept) in pairs.iter().zip(&mut proposals).zip(&mut kept) {
            let (value, sure) = noise.proposal.estimate(proposal);
            let (accept, decided) = noise.accepts(value, coin);
            (*y, *kept) = (value, accept);
            certain &= sure & decided;
        }
        if !certain {
            return None;
        }
        let mut count = 0;
        for (&y, &kept) in proposals[..pairs.len()].iter().zip(&kept) {
            accepted[count] = y;
            count += usize::from(kept);
        }
        Some(count)
    }
}

impl DiscreteGaussian {
    /// Noise with parameter σ² (for σ ≥ 1 that is its variance within 10⁻⁷).
    pub fn new(variance: Variance) -> Self {
        let t = integer_root(variance.as_rational()) + 1;
        let sigma_squared = variance.as_rational().to_f64_fast();
        Self {
            // Cannot fail: 1 ≤ t ≤ 2^40 + 1, and the one value beyond is replaced by a neighbour, just as right.
            proposal: DiscreteLaplace::new(Scale::from_rational(RBig::from(t.min(1 << 40))).expect("a legal scale")),
            shift: sigma_squared / t.min(1 << 40) as f64,
            half_precision: 0.5 / sigma_squared,
            variance,
        }
    }

    /// σ².
    pub fn variance(&self) -> &Variance {
        &self.variance
    }

    /// One draw.
    #[inline]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> i64 {
        self.draw(&mut || rng.next_u64())
    }

    /// Fills `noise` with independent draws, the very values that as many calls of [`sample`](Self::sample) give.
    pub fn fill<R: Rng + ?Sized>(&self, noise: &mut [i64], rng: &mut R) {
        let mut words = [0; BLOCK];
        let mut accepted = [0; BLOCK / 2];
        let mut filled = 0;
        while filled < noise.len() {
            // Each draw takes at least two words, so no word is taken that single draws would leave.
            let pairs = (noise.len() - filled).min(BLOCK / 2);
            let words = &mut words[..2 * pairs];
            fill_words(words, rng);
            if let Some(count) = accept_certain(self, words, &mut accepted) {
                noise[filled..filled + count].copy_from_slice(&accepted[..count]);
                filled += count;
                continue;
            }
            // Some step was not certain: take the same words once more, in order, with the exact path.
            let mut taken = 0;
            while taken < words.len() && filled < noise.len() {
                noise[filled] = self.draw(&mut || {
                    taken += 1;
                    words.get(taken - 1).copied().unwrap_or_else(|| rng.next_u64())
                });
                filled += 1;
            }
        }
    }

    /// Whether the coin `word` accepts `y`, and whether the floats are certain of it.
    #[inline(always)]
    fn accepts(&self, y: i64, word: u64) -> (bool, bool) {
        let x = midpoint(word);
        let e = negative_logarithm(x);
        let a = y.unsigned_abs() as i64 as f64 - self.shift;
        let z = a * a * self.half_precision;
        let error = INTERVAL_ERROR / x + FLOAT_ERROR * (1.0 + e + z);
        (e > z, ((e - z).abs() >= error) & (x >= LEAST_MIDPOINT))
    }

    #[inline(always)]
    fn draw(&self, words: &mut impl Words) -> i64 {
        loop {
            let y = self.proposal.draw(words);
            let coin = words();
            let accepted = match self.accepts(y, coin) {
                (accepted, true) => accepted,
                (_, false) => self.accepts_exactly(y, coin, words),
            };
            if accepted {
                return y;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn accepts_exactly(&self, y: i64, word: u64, words: &mut impl Words) -> bool {
        let sigma_squared = self.variance.as_rational();
        let a = RBig::from(y.unsigned_abs()) - sigma_squared / self.proposal.scale().as_rational();
        let exponent = &a * &a / (sigma_squared * RBig::from(2));
        LazyUniform::new(word, 64).below(Probability::Exponential { exponent: &exponent }, words)
    }
}

/// ⌊√value⌋ for a value below 2^81.
fn integer_root(value: &RBig) -> u64 {
    use dashu_base::{SquareRoot, UnsignedAbs};
    // Cannot fail: the root of a number below 2^81 is below 2^41.
    u64::try_from(value.floor().unsigned_abs().sqrt()).expect("below 2^41")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha12Rng;
    use proptest::prelude::*;
    use rand::SeedableRng;

    const VARIANCES: [&str; 7] = ["0.000001", "0.3", "1", "100/7", "1000000", "1e18", "1208925819614629174706176"];

    fn noise(variance: &str) -> DiscreteGaussian {
        DiscreteGaussian::new(variance.parse().unwrap())
    }

    #[test]
    fn the_proposal_has_the_scale_of_the_paper() {
        for (variance, t) in [("0.3", 1u64), ("1", 2), ("99.9", 10), ("100", 11)] {
            assert_eq!(*noise(variance).proposal.scale().as_rational(), RBig::from(t), "{variance}");
        }
    }

    #[test]
    fn a_broken_generator_ends_all_the_same() {
        for variance in VARIANCES {
            let noise = noise(variance);
            // All ones propose 0 and toss the coin 1 − 2^-64: accepted only where the acceptance is above it.
            assert!(!noise.accepts_exactly(i64::from(i32::MAX), u64::MAX, &mut || u64::MAX));
            assert!(noise.accepts_exactly(0, 1, &mut || 0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn forcing_the_exact_path_changes_nothing(
            proposal: u64, coin: u64, shift in 0u32..50, variance in prop::sample::select(&VARIANCES),
        ) {
            let noise = noise(variance);
            let y = noise.proposal.estimate(proposal).0;
            let (accepted, certain) = noise.accepts(y, coin >> shift);
            if certain {
                let exact = noise.accepts_exactly(y, coin >> shift, &mut || unreachable!("decided by 64 bits"));
                prop_assert_eq!(accepted, exact);
            }
        }

        #[test]
        fn a_batch_is_the_single_draws(seed: u64, length in 0usize..600, variance in prop::sample::select(&VARIANCES)) {
            let noise = noise(variance);
            let (mut one, mut many) = (ChaCha12Rng::seed_from_u64(seed), ChaCha12Rng::seed_from_u64(seed));
            let mut batch = vec![0; length];
            noise.fill(&mut batch, &mut many);
            let single: Vec<i64> = (0..length).map(|_| noise.sample(&mut one)).collect();
            prop_assert_eq!(batch, single);
            prop_assert_eq!(one.next_u64(), many.next_u64());
        }
    }

    /// Coins next to the acceptance probability itself: the filter must step back, and the exact path decides.
    #[test]
    fn the_filter_steps_back_next_to_a_boundary() {
        let noise = noise("100");
        for y in 0..40 {
            let (mut low, mut high) = (0u64, u64::MAX); // accepted at low, refused at high
            if noise.accepts_exactly(y, u64::MAX, &mut || u64::MAX) {
                continue; // accepted with certainty
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if noise.accepts_exactly(y, middle, &mut || 0) { low = middle } else { high = middle }
            }
            for coin in [low, high] {
                assert!(!noise.accepts(y, coin).1, "y = {y}: certain at the boundary");
            }
            let step = 1 << 14; // 2^-50: four times the width of the filter's interval
            assert!(!noise.accepts(y, low.saturating_sub(step)).1 || noise.accepts(y, low.saturating_sub(step)).0);
        }
    }
}
