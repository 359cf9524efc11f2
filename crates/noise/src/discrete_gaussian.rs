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
//! e^(−z) with the same U in integers where the floats do not tell. Up to t = 2^20 one word begins both uniform numbers,
//! 40 bits the proposal's and 23 others the coin's; beyond, each has a word of its own. They are refined by further words,
//! the proposal's first.
//!
//! # Error bound
//! −ln U as in [`discrete_laplace`](crate::discrete_laplace): 2^−bits/x + 2^−50·(1 + E) where U is placed by its first bits. z: with a = |Y| − σ²/t, the shift
//! σ²/t and the factor 1/(2σ²) each within 2u (u = 2^−53), |a|·(shift + |a|)·3u/σ² + 4u·z; the shift is at most σ and
//! |a|/σ at most 1 + z where σ ≥ 1, and the shift is σ² and |a| at most 1 + z where σ < 1: below (10 + 16z)·u. Together
//! less than 2^−bits/x + 2^−48·(1 + E + z).
//!
//! # Cost
//! 1.3 proposals a draw, of one word each up to t = 2^20, two beyond. The time depends on the noise: nothing here hides timing.

use crate::discrete_laplace::{DiscreteLaplace, FLOAT_ERROR, Placed, place, signed};
use crate::enclosure::{LazyUniform, Probability, Words};
use crate::exact::nearest_f64;
use crate::logarithm::negative_logarithm;
use crate::parameters::{Scale, Variance};
use crate::vectors::for_the_widest_vectors;
use crate::words::{BLOCK, WordBytes, fill_words};
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
    /// Whether one word is enough for a proposal and its coin.
    one_word: bool,
}

/// E Z², the true variance: the parameter σ² from σ = 2 on, where they agree to 10⁻²⁰; below, by summation.
///
/// ```
/// use tamis_noise::{Variance, discrete_gaussian::second_moment};
/// assert_eq!(second_moment(&Variance::new(100.0)?), 100.0);
/// assert!(second_moment(&Variance::new(0.1)?) < 0.014); // nearly always 0
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn second_moment(variance: &Variance) -> f64 {
    moments(variance).0
}

/// The fourth cumulant E Z⁴ − 3(E Z²)²: 0 from σ = 2 on, where it is as near; below, by summation.
pub fn fourth_cumulant(variance: &Variance) -> f64 {
    moments(variance).1
}

/// Variance and fourth cumulant of the integer law.
fn moments(variance: &Variance) -> (f64, f64) {
    let parameter = variance.to_f64_up();
    if parameter >= 4.0 {
        return (parameter, 0.0);
    }
    // 40 is twenty standard deviations.
    let moment = |power: i32| {
        (1..=40).map(f64::from).map(|z| 2.0 * z.powi(power) * (-z * z / (2.0 * parameter)).exp()).sum::<f64>()
    };
    let mass = 1.0 + moment(0);
    let variance = moment(2) / mass;
    (variance, moment(4) / mass - 3.0 * variance.powi(2))
}

/// How a word is shared where it is enough: the proposal's U, the coin, the proposal's sign.
const PROPOSAL_BITS: u32 = 40;
const COIN_BITS: u32 = 23;
/// Up to this t the 40 bits leave a proposal open less than once in 2^14 times.
const ONE_WORD_SCALE: u64 = 1 << 20;
/// The top bits of a word of its own.
const WIDE: u32 = 52;

/// A proposal and what its coin says of it.
struct Trial {
    /// The proposed magnitude.
    magnitude: f64,
    accepted: bool,
    /// Whether the floats are certain of both.
    certain: bool,
}

for_the_widest_vectors! {
    /// The float path over words; `None` if any trial needs the exact path, else how many were accepted.
    fn accept_certain(noise: &DiscreteGaussian, words: &[WordBytes], accepted: &mut [i64; BLOCK]) -> Option<usize> {
        // Arrays of one kind each, so that the loops vectorise.
        let (mut proposals, mut kept) = ([0i64; BLOCK], [false; BLOCK]);
        let cells = proposals.iter_mut().zip(&mut kept);
        let mut certain = true;
        let mut record = |trial: Trial, proposal: u64, (y, kept): (&mut i64, &mut bool)| {
            (*y, *kept) = (signed(trial.magnitude, proposal), trial.accepted);
            certain &= trial.certain;
        };
        let trials = if noise.one_word {
            for (word, cell) in words.iter().zip(cells) {
                let word = u64::from_le_bytes(*word);
                record(noise.trial_of_one(word), word, cell);
            }
            words.len()
        } else {
            let pairs = words.as_chunks::<2>().0;
            for (pair, cell) in pairs.iter().zip(cells) {
                let [proposal, coin] = pair.map(u64::from_le_bytes);
                record(noise.trial_of_two(proposal, coin), proposal, cell);
            }
            pairs.len()
        };
        if !certain {
            return None;
        }
        let mut count = 0;
        for (&y, &kept) in proposals[..trials].iter().zip(&kept) {
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
        let sigma_squared = nearest_f64(variance.as_rational());
        Self {
            // Cannot fail: 1 ≤ t ≤ 2^40 + 1, and the one value beyond is replaced by a neighbour, just as right.
            proposal: DiscreteLaplace::new(Scale::from_rational(RBig::from(t.min(1 << 40))).expect("a legal scale")),
            shift: sigma_squared / t.min(1 << 40) as f64,
            half_precision: 0.5 / sigma_squared,
            one_word: t <= ONE_WORD_SCALE,
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
        let mut words = [WordBytes::default(); BLOCK];
        let mut accepted = [0; BLOCK];
        let mut filled = 0;
        while filled < noise.len() {
            // Each draw takes at least so many words, so no word is taken that single draws would leave.
            let words_a_trial = if self.one_word { 1 } else { 2 };
            let trials = (noise.len() - filled).min(BLOCK / words_a_trial);
            let words = &mut words[..words_a_trial * trials];
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
                    words.get(taken - 1).map_or_else(|| rng.next_u64(), |word| u64::from_le_bytes(*word))
                });
                filled += 1;
            }
        }
    }

    /// A trial on one word: U, coin, sign.
    #[inline(always)]
    fn trial_of_one(&self, word: u64) -> Trial {
        let (magnitude, certain) = self.proposal.magnitude::<PROPOSAL_BITS>(word);
        let (accepted, decided) = self.accepts::<COIN_BITS>(magnitude, word << PROPOSAL_BITS);
        Trial { magnitude, accepted, certain: certain & decided }
    }

    /// A trial on a word for the proposal and one for the coin.
    #[inline(always)]
    fn trial_of_two(&self, proposal: u64, coin: u64) -> Trial {
        let (magnitude, certain) = self.proposal.magnitude::<WIDE>(proposal);
        let (accepted, decided) = self.accepts::<WIDE>(magnitude, coin);
        Trial { magnitude, accepted, certain: certain & decided }
    }

    /// Whether the coin that begins with the top `BITS` bits of `word` accepts a proposal, and whether the floats are
    /// certain of it.
    #[inline(always)]
    fn accepts<const BITS: u32>(&self, magnitude: f64, word: u64) -> (bool, bool) {
        let Placed { x, error, trusted } = place::<BITS>(word);
        let e = negative_logarithm(x);
        let a = magnitude - self.shift;
        let z = a * a * self.half_precision;
        let error = error + FLOAT_ERROR * (1.0 + e + z);
        (e > z, ((e - z).abs() >= error) & trusted)
    }

    #[inline(always)]
    fn draw(&self, words: &mut impl Words) -> i64 {
        loop {
            let proposal = words();
            let (trial, coin, known) = if self.one_word {
                (self.trial_of_one(proposal), proposal << PROPOSAL_BITS, [PROPOSAL_BITS, COIN_BITS])
            } else {
                let coin = words();
                (self.trial_of_two(proposal, coin), coin, [63, 64])
            };
            match trial {
                Trial { magnitude, accepted: true, certain: true } => return signed(magnitude, proposal),
                Trial { certain: true, .. } => {}
                Trial { .. } => {
                    if let Some(y) = self.trial_exactly([proposal, coin], known, words) {
                        return y;
                    }
                }
            }
        }
    }

    /// The trial on the top bits, `known` so many, of a word for the proposal and one for the coin, by integers alone.
    #[cold]
    #[inline(never)]
    fn trial_exactly(&self, [proposal, coin]: [u64; 2], known: [u32; 2], words: &mut impl Words) -> Option<i64> {
        // Lossless: at most 64 bits.
        let [proposal_bits, coin_bits] = known.map(|bits| bits as usize);
        let y = self.proposal.draw_exactly(proposal, proposal_bits, words);
        self.accepts_exactly(y, LazyUniform::new(coin >> (64 - coin_bits), coin_bits), words).then_some(y)
    }

    fn accepts_exactly(&self, y: i64, mut coin: LazyUniform, words: &mut impl Words) -> bool {
        let sigma_squared = self.variance.as_rational();
        let a = RBig::from(y.unsigned_abs()) - sigma_squared / self.proposal.scale().as_rational();
        let exponent = &a * &a / (sigma_squared * RBig::from(2));
        coin.below(Probability::Exponential { exponent: &exponent }, words)
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

    fn wide(coin: u64) -> LazyUniform {
        LazyUniform::new(coin, 64)
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
            assert!(!noise.accepts_exactly(i64::from(i32::MAX), wide(u64::MAX), &mut || u64::MAX));
            assert!(noise.accepts_exactly(0, wide(1), &mut || 0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn forcing_the_exact_path_changes_nothing(
            proposal: u64, coin: u64, shift in 0u32..50, variance in prop::sample::select(&VARIANCES),
        ) {
            let noise = noise(variance);
            let two = noise.trial_of_two(proposal, coin >> shift);
            let one = noise.trial_of_one(proposal >> shift);
            for (trial, words, known) in [
                (two, [proposal, coin >> shift], [63, 64]),
                (one, [proposal >> shift, proposal >> shift << PROPOSAL_BITS], [PROPOSAL_BITS, COIN_BITS]),
            ] {
                if trial.certain {
                    let exact = noise.trial_exactly(words, known, &mut || unreachable!("decided by the bits there are"));
                    prop_assert_eq!(trial.accepted.then(|| signed(trial.magnitude, words[0])), exact);
                }
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

    /// Where a short proposal or a short coin does not tell, the draw is the exact trial's.
    #[test]
    fn one_word_is_refined_where_it_does_not_tell() {
        let noise = noise("100");
        let (mut proposals, mut accepted) = (0, 0);
        // Coins all zeros, which do not tell; proposals from far out, where the interval is wide, and from everywhere.
        for word in (0..10_000).flat_map(|i: u64| [i << 24 | 1, i << 50 | 1]) {
            assert!(!noise.trial_of_one(word).certain);
            let exactly =
                noise.trial_exactly([word, word << PROPOSAL_BITS], [PROPOSAL_BITS, COIN_BITS], &mut || 1 << 62);
            let mut first = Some(word);
            let drawn = noise.draw(&mut || first.take().unwrap_or(1 << 62));
            assert!(exactly.is_none_or(|y| y == drawn), "word {word:#x}: {drawn}, not {exactly:?}");
            proposals += usize::from(!noise.proposal.magnitude::<PROPOSAL_BITS>(word).1);
            accepted += usize::from(exactly.is_some());
        }
        assert!(proposals > 30 && accepted > 9_000, "{proposals} proposals refined, {accepted} accepted");
    }

    /// Coins next to the acceptance probability itself: the filter must step back, and the exact path decides.
    #[test]
    fn the_filter_steps_back_next_to_a_boundary() {
        let noise = noise("100");
        for y in 0..40 {
            let (mut low, mut high) = (0u64, u64::MAX); // accepted at low, refused at high
            if noise.accepts_exactly(y, wide(u64::MAX), &mut || u64::MAX) {
                continue; // accepted with certainty
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if noise.accepts_exactly(y, wide(middle), &mut || 0) { low = middle } else { high = middle }
            }
            for coin in [low, high] {
                assert!(!noise.accepts::<WIDE>(y as f64, coin).1, "y = {y}: certain at the boundary");
                assert!(
                    !noise.accepts::<COIN_BITS>(y as f64, coin).1,
                    "y = {y}: certain at the boundary of a short coin"
                );
            }
            let step = 1 << 14; // 2^-50: four times the width of the filter's interval
            let (accepted, certain) = noise.accepts::<WIDE>(y as f64, low.saturating_sub(step));
            assert!(!certain || accepted);
        }
    }
}
