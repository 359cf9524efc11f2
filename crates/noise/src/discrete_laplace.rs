//! Exact discrete Laplace noise.
//!
//! # Law
//! P(Z = z) = (1 − q)/(1 + q) · q^|z| with q = e^(−1/t), t the scale: integer noise whose addition with t = Δ/ε to an
//! integer of sensitivity Δ is ε-private (Ghosh, Roughgarden, Sundararajan 2009; the proof is that moving z by Δ
//! changes the probability by a factor of at most e^(Δ/t)).
//!
//! # Method
//! *Filtered inversion.* P(|Z| ≥ k) = 2q^k/(1 + q), so with U uniform in [0, 1) and L = ln(2/(1 + q)),
//! |Z| = ⌊t·(L − ln U)⌋ has the law of the magnitude, and an independent fair sign gives Z (for k = 0 both signs give 0,
//! and P(Z = 0) comes out right because L > 0). One 64-bit word holds the sign and 63 bits of U.
//! In floats the value before the floor is known within a bound δ; if no integer is that near, the floor is
//! certain. Otherwise the same U is compared with 2q^k/(1 + q) in integers of growing precision and, if its 63 bits
//! do not tell, refined by further words. So the float never decides anything: it only saves work.
//!
//! # Error bound
//! E = −ln x is taken at the midpoint x of the interval of width 2^−52 in which the top 52 bits place U, x ≥ 2^−47.
//! With u = 2^−53: the interval adds at most −ln(1 − 2^−53/x) ≤ 1.02·u/x; the logarithm 8u·(1 + E) (its own proof); the
//! rounding of t, of the product t·E and of the sum u·E, u·E and u·(E + 1) with E' = E + L ≤ E + 0.7; L = ln 2 − ln(1 + q)
//! with two library calls on values of at most 1, which we allow 4 units each, and two roundings, 10u. Together below
//! 21u·(1 + E) + 1.02·u/x, times t. Allowed for: δ = t·(2u/x + 32u·(1 + E)), which also covers the rounding of δ itself.
//! (Where U is placed by fewer bits, these for the 52; always x ≥ 2^(5−bits).)
//!
//! # Cost
//! A few nanoseconds a draw in a batch; the exact path is entered about once in 2^46/t draws and costs microseconds.
//! The time depends on the noise: nothing here hides timing.

use crate::enclosure::{LazyUniform, Probability, Words, largest_below};
use crate::exact::nearest_f64;
use crate::logarithm::{LOGARITHM_ERROR, negative_logarithm};
use crate::parameters::Scale;
use crate::vectors::for_the_widest_vectors;
use crate::words::{BLOCK, WordBytes, fill_words};
use dashu_ratio::RBig;
use rand::Rng;

/// Discrete Laplace noise of a given scale, in grid units. See the [module](self) for law, exactness and cost.
///
/// Values are below 2⁵³ in magnitude. The law is exact but for an event of probability below 2⁻⁴⁰⁰⁰.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{DiscreteLaplace, Scale};
/// let noise = DiscreteLaplace::new(Scale::new(10.0)?);
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let (mut batch, mut again) = ([0; 1000], StdRng::seed_from_u64(1));
/// noise.fill(&mut batch, &mut rng);
/// assert!(batch.iter().all(|&z| z == noise.sample(&mut again))); // one by one: the same values
/// let mean_magnitude = batch.iter().map(|z| z.abs() as f64).sum::<f64>() / 1000.0;
/// assert!((8.0..12.0).contains(&mean_magnitude));
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    scale: Scale,
    /// 1/t.
    rate: RBig,
    /// t, within half a unit.
    t: f64,
    /// 1/t, from that t, rounded once.
    rate_float: f64,
    /// t·L.
    t_shift: f64,
    /// ln(1 + q).
    normaliser: f64,
}

/// The least whole a with P(|Z| > a) ≤ `probability`, from the law itself: P(|Z| > a) = 2q^(a + 1)/(1 + q), so
/// a = ⌈t·ln(2/((1 + q)·probability))⌉ − 1. Rounded up where floats might not tell.
///
/// ```
/// use tamis_noise::{Scale, discrete_laplace::margin};
/// assert_eq!(margin(&Scale::new(100.0)?, 0.05), 300); // P(|Z| > 300) ≤ 0.05 < P(|Z| > 299)
/// assert_eq!(margin(&Scale::new(0.1)?, 0.05), 0); // P(|Z| > 0) = 9e-5
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn margin(scale: &Scale, probability: f64) -> u64 {
    let t = scale.to_f64_up();
    let q = (-1.0 / t).exp();
    // A relative 1e-12 is more than exp, ln and the products may be off by.
    let reach = t * (2.0 / ((1.0 + q) * probability)).ln() * (1.0 + 1e-12);
    // Whole and not negative; beyond the integers it becomes the largest, an error that nothing is worse than.
    (reach.ceil() - 1.0).max(0.0) as u64
}

/// E Z², the variance: 2q/(1 − q)², q = e^(−1/t).
///
/// ```
/// use tamis_noise::{Scale, discrete_laplace::second_moment};
/// let variance = second_moment(&Scale::new(10.0)?); // of continuous noise: 2t² = 200
/// assert!((variance - 199.833).abs() < 1e-3);
/// # Ok::<(), tamis_noise::ParameterError>(())
/// ```
pub fn second_moment(scale: &Scale) -> f64 {
    let (q, p) = geometric(scale);
    2.0 * q / p.powi(2)
}

/// The fourth cumulant E Z⁴ − 3(E Z²)²: 2q(1 + 4q + q²)/(1 − q)⁴, that of a difference of two geometric numbers.
pub fn fourth_cumulant(scale: &Scale) -> f64 {
    let (q, p) = geometric(scale);
    2.0 * q * (1.0 + 4.0 * q + q * q) / p.powi(4)
}

/// q and 1 − q.
fn geometric(scale: &Scale) -> (f64, f64) {
    let rate = -1.0 / scale.to_f64_up();
    (rate.exp(), -rate.exp_m1())
}

const TWO_52: f64 = 4_503_599_627_370_496.0;
/// 2^-48: what the logarithm and the operations after it may be off by, relative to 1 + E.
pub(crate) const FLOAT_ERROR: f64 = 4.0 * LOGARITHM_ERROR;
/// The bits of a word that place U, where a word has no other use.
const WIDE: u32 = 52;

/// The first bits of a uniform number that goes on with further words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix {
    /// The bits, as an integer.
    bits: u16,
    /// How many they are; those before the last 16 are zeros.
    length: u32,
}

impl Prefix {
    /// Nothing is known yet.
    pub(crate) const NONE: Self = Self::zeros(0);

    /// At most 64 bits 0.
    pub(crate) const fn zeros(length: u32) -> Self {
        Self { bits: 0, length }
    }

    /// Sixteen bits.
    pub(crate) const fn sixteen(bits: u16) -> Self {
        Self { bits, length: 16 }
    }

    fn number(self, word: u64) -> LazyUniform {
        LazyUniform::new((u128::from(self.bits) << 64) | u128::from(word), 64 + self.length as usize)
    }

    /// The number that goes on with `word`, and 1 less it: as `f64`, within 2^−51 relatively where it is at least
    /// 2^−12 · 2^−length.
    #[inline(always)]
    fn both_ends(self, word: u64) -> (f64, f64) {
        let unit = f64::from_bits(u64::from(1023 - self.length) << 52); // 2^-length
        let x = (f64::from(self.bits) + (word as f64 + 0.5) * 2f64.powi(-64)) * unit;
        // Of use only without a prefix or with a full one: zeros are followed only where the number is small.
        let above = 2f64.powi(self.length.min(16) as i32) - 1.0 - f64::from(self.bits);
        (x, (above + (!word as f64 + 0.5) * 2f64.powi(-64)) * unit)
    }
}

/// A uniform number known by its first bits: the midpoint of its interval, and what that may be off by.
pub(crate) struct Placed {
    /// The midpoint x. Exact.
    pub(crate) x: f64,
    /// 2^−bits/x: twice what the logarithm at x may be off by, and a little less.
    pub(crate) error: f64,
    /// Whether x is so large, at least 2^(5−bits), that `error` is to be trusted.
    pub(crate) trusted: bool,
}

/// A magnitude below 2^52 with the sign that bit 0 of `word` tells. Its integer stands in the low bits of itself + 2^52.
#[inline(always)]
pub(crate) fn signed(magnitude: f64, word: u64) -> i64 {
    let magnitude = ((magnitude + TWO_52).to_bits() & ((1 << 52) - 1)) as i64;
    let sign = -((word & 1) as i64);
    (magnitude ^ sign) - sign
}

/// Where the top `BITS` bits of `word` place a uniform number.
#[inline(always)]
pub(crate) fn place<const BITS: u32>(word: u64) -> Placed {
    let width = const { f64::from_bits(((1023 - BITS) as u64) << 52) };
    let top = word >> (64 - BITS) << (52 - BITS);
    let x = f64::from_bits((1023 << 52) | top) - (1.0 - 0.5 * width);
    Placed { x, error: width / x, trusted: x >= 32.0 * width }
}

for_the_widest_vectors! {
    /// The float path over a block; false if any draw needs the exact path.
    fn fill_certain(noise: &DiscreteLaplace, words: &[WordBytes], cells: &mut [i64]) -> bool {
        let mut certain = true;
        for (word, cell) in words.iter().zip(cells) {
            let (value, sure) = noise.estimate(u64::from_le_bytes(*word));
            *cell = value;
            certain &= sure;
        }
        certain
    }
}

impl DiscreteLaplace {
    /// Noise of this scale.
    pub fn new(scale: Scale) -> Self {
        let rate = RBig::ONE / scale.as_rational();
        let t = nearest_f64(scale.as_rational());
        let normaliser = (-1.0 / t).exp().ln_1p();
        Self { rate, t, rate_float: 1.0 / t, t_shift: t * (std::f64::consts::LN_2 - normaliser), normaliser, scale }
    }

    /// The scale t.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// One draw: one 64-bit word of `rng`, rarely more.
    #[inline]
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> i64 {
        self.draw(&mut || rng.next_u64())
    }

    /// Fills `noise` with independent draws, the very values that as many calls of [`sample`](Self::sample) give.
    pub fn fill<R: Rng + ?Sized>(&self, noise: &mut [i64], rng: &mut R) {
        let mut words = [WordBytes::default(); BLOCK];
        for cells in noise.chunks_mut(BLOCK) {
            let words = &mut words[..cells.len()];
            fill_words(words, rng);
            if !fill_certain(self, words, cells) {
                // Some floor was not certain: take the same words once more, in order, with the exact path.
                let mut queue = words.iter().copied().map(u64::from_le_bytes);
                let mut next = || queue.next().unwrap_or_else(|| rng.next_u64());
                cells.iter_mut().for_each(|cell| *cell = self.draw(&mut next));
            }
        }
    }

    /// The draw that `word` gives, and whether its float computation is certain: bits 63..1 are U, bit 0 the sign.
    #[inline(always)]
    pub(crate) fn estimate(&self, word: u64) -> (i64, bool) {
        let (magnitude, certain) = self.magnitude::<WIDE>(word);
        (signed(magnitude, word), certain)
    }

    /// The magnitude for a U that begins with the top `BITS` bits of `word`, and whether it is certain.
    ///
    /// The floor is taken by adding 2^52, so that it vectorises everywhere.
    #[inline(always)]
    pub(crate) fn magnitude<const BITS: u32>(&self, word: u64) -> (f64, bool) {
        let Placed { x, error, trusted } = place::<BITS>(word);
        let e = negative_logarithm(x);
        let value = self.t * e + self.t_shift;
        let nearest = (value + TWO_52) - TWO_52;
        let floor = nearest - if nearest > value { 1.0 } else { 0.0 };
        let fraction = value - floor;
        let error = self.t * (error + FLOAT_ERROR * (1.0 + e));
        (floor, (fraction >= error) & (fraction <= 1.0 - error) & trusted)
    }

    /// One draw from a source of words.
    #[inline(always)]
    pub(crate) fn draw(&self, words: &mut impl Words) -> i64 {
        let word = words();
        match self.estimate(word) {
            (value, true) => value,
            (_, false) => self.draw_exactly(word, 63, words),
        }
    }

    /// The draw that U's first bits, the top ones of `word`, and further words if they do not tell, give: by integers
    /// alone.
    #[cold]
    #[inline(never)]
    pub(crate) fn draw_exactly(&self, word: u64, bits: usize, words: &mut impl Words) -> i64 {
        let magnitude = largest_below(
            &mut LazyUniform::new(word >> (64 - bits), bits),
            |k| Probability::Magnitude { at_least: k.unsigned_abs(), rate: &self.rate },
            // Never negative: the shift is positive. The event at 0 is certain, so the search never goes below it.
            |number| (self.t * number.negative_logarithm() + self.t_shift) as i64,
            words,
        );
        if word & 1 == 1 { -magnitude } else { magnitude }
    }

    /// −ln P(Z ≥ y) for y ≥ 1, and −ln P(Z < y) for y ≤ 0, as an `f64` within 2^−51·(1 + result).
    #[inline(always)]
    pub(crate) fn tail_exponent(&self, y: i64) -> f64 {
        let distance = if y >= 1 { y as f64 } else { 1.0 - y as f64 };
        distance * self.rate_float + self.normaliser
    }

    /// At least every y whose event Z ≥ y may still happen when U begins with these sixteen bits, and at least 0.
    ///
    /// With the first bit 1 at place i, U ≥ 2^−i; U < P(Z ≥ y) and y ≥ 1 give y/t + ln(1 + q) < i·ln 2. The product is
    /// raised by far more than its rounding, and by the 1 that the conversion may cut off.
    #[inline(always)]
    pub(crate) fn most(&self, bits: u16) -> i64 {
        // i is 16 less the exponent of `bits` as a float; taken so, it vectorises everywhere.
        let exponent = f64::from_bits(TWO_52.to_bits() | (f64::from(bits.max(1)).to_bits() >> 52)) - (TWO_52 + 1023.0);
        let place = 16.0 - exponent;
        let most = self.t * (place * std::f64::consts::LN_2 - self.normaliser) * (1.0 + 1e-12) + 1.0;
        // Not negative, for i·ln 2 ≥ ln 2 ≥ ln(1 + q), and below 2^44: its integer stands in the low bits of it + 2^52.
        let most = ((most + TWO_52).to_bits() & ((1 << 52) - 1)) as i64;
        if bits == 0 { i64::MAX >> 3 } else { most }
    }

    /// Decides Z ≥ `y` by comparing with P(Z ≥ y) the uniform number U that begins with `prefix` and goes on with one
    /// word. Gives the number, as far as it is then known, if the event happened.
    ///
    /// Error: −ln U within 2^−50·(1 + E) and the 2^−51 of U itself; the exponent within 2^−50·(1 + exponent). Twice their
    /// sum is allowed for.
    #[inline]
    pub(crate) fn at_least(&self, y: i64, prefix: Prefix, words: &mut impl Words) -> Option<LazyUniform> {
        let word = words();
        let exponent = self.tail_exponent(y);
        // U < P(Z ≥ y) where that is small; 1 − U > P(Z < y) where it is large.
        let rare = y >= 1;
        debug_assert!(rare || prefix.length <= 16, "long runs of zeros are tossed only where the event is rare");
        if rare && prefix.bits == 0 && word != 0 {
            // The first bit 1 of U is known, so U is at least 2^−(zeros + 1), so −ln U is at most this.
            let most = f64::from(prefix.length + word.leading_zeros() + 1) * std::f64::consts::LN_2;
            if most < exponent * (1.0 - FLOAT_ERROR) {
                return None;
            }
        }
        let (low, high) = prefix.both_ends(word);
        let x = if rare { low } else { high };
        let e = negative_logarithm(x);
        let error = FLOAT_ERROR * (1.0 + e + exponent);
        let precise = x * f64::from_bits(u64::from(1023 + prefix.length) << 52) >= 2f64.powi(-12);
        if !precise || (e - exponent).abs() < error {
            return self.at_least_exactly(y, prefix.number(word), words);
        }
        ((e > exponent) == rare).then(|| prefix.number(word))
    }

    #[cold]
    #[inline(never)]
    fn at_least_exactly(&self, y: i64, mut number: LazyUniform, words: &mut impl Words) -> Option<LazyUniform> {
        number.below(Probability::Tail { at_least: y, rate: &self.rate }, words).then_some(number)
    }

    /// The Z that a uniform number stands for when events Z ≥ y are read as U < P(Z ≥ y): max{y : U < P(Z ≥ y)}.
    pub(crate) fn value_of(&self, mut number: LazyUniform, words: &mut impl Words) -> i64 {
        largest_below(
            &mut number,
            |y| Probability::Tail { at_least: y, rate: &self.rate },
            |number| {
                let positive = self.t * (number.negative_logarithm() - self.normaliser);
                if positive >= 1.0 {
                    positive as i64
                } else {
                    -((self.t * (number.complement().negative_logarithm() - self.normaliser)) as i64)
                }
            },
            words,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha12Rng;
    use proptest::prelude::*;
    use rand::SeedableRng;

    /// From the least to the greatest, whole and not.
    const SCALES: [&str; 9] = ["0.001", "0.3", "1", "10/3", "10", "1000", "1000000", "1e9", "1099511627776"];

    fn noise(scale: &str) -> DiscreteLaplace {
        DiscreteLaplace::new(scale.parse().unwrap())
    }

    /// Words that begin with `first` and go on from a fixed generator, and how many were taken.
    fn words(first: u64) -> (impl Words, std::rc::Rc<std::cell::Cell<usize>>) {
        let taken = std::rc::Rc::new(std::cell::Cell::new(0));
        let counter = taken.clone();
        let mut rest = ChaCha12Rng::seed_from_u64(first);
        let next = move || {
            counter.set(counter.get() + 1);
            if counter.get() == 1 { first } else { rest.next_u64() }
        };
        (next, taken)
    }

    /// Word by word: the filtered draw, and the draw by integers alone; with the number of words each took.
    fn both_ways(noise: &DiscreteLaplace, word: u64) -> [(i64, usize); 2] {
        let (mut fast, fast_taken) = words(word);
        let (mut slow, slow_taken) = words(word);
        let quick = noise.draw(&mut fast);
        let first = slow();
        let exact = noise.draw_exactly(first, 63, &mut slow);
        [(quick, fast_taken.get()), (exact, slow_taken.get())]
    }

    #[test]
    fn corner_words_give_the_exact_value() {
        let corners = [0, 1, 2, 3, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, 1 << 11, 1 << 22, 1 << 32, 1 << 52];
        for scale in SCALES {
            for word in corners {
                let [fast, slow] = both_ways(&noise(scale), word);
                assert_eq!(fast, slow, "scale {scale}, word {word:#x}");
            }
        }
    }

    #[test]
    fn the_exact_path_is_really_taken_and_refines_the_same_number() {
        // At the largest scale U's interval often holds the end of a value's interval: a second word is needed.
        let noise = noise("1099511627776");
        let refined = (1..400u64).filter(|i| both_ways(&noise, i << 24 | 1)[1].1 > 1).count();
        assert!(refined > 300, "only {refined} of 400 small words were refined");
        // And a filter that is certain of everything would go wrong there.
        let wrong =
            (1..400u64).filter(|i| noise.estimate(i << 24 | 1).0 != both_ways(&noise, i << 24 | 1)[1].0).count();
        assert!(wrong > 100, "only {wrong} unfiltered values were wrong");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn forcing_the_exact_path_changes_nothing(word: u64, shift in 0u32..50, scale in prop::sample::select(&SCALES)) {
            let [fast, slow] = both_ways(&noise(scale), word >> shift);
            prop_assert_eq!(fast, slow);
        }

        /// The coin "Z ≥ y" and the value read off its number agree, with and without a prefix of zeros.
        #[test]
        fn the_coin_and_the_value_agree(word: u64, scale in prop::sample::select(&SCALES), margin in -30i64..30, zeros in 0u32..6) {
            let noise = noise(scale);
            let y = (margin as f64 * noise.t / 8.0) as i64;
            let (mut next, _) = words(word);
            let value = noise.value_of(Prefix::zeros(zeros).number(word), &mut words(word).0);
            let (mut slow, _) = words(word);
            slow();
            let exact = noise.at_least_exactly(y, Prefix::zeros(zeros).number(word), &mut slow).is_some();
            let coin = noise.at_least(y, Prefix::zeros(zeros), &mut next).is_some();
            prop_assert_eq!(coin, exact);
            prop_assert_eq!(coin, value >= y);
        }

        /// No number that begins with the bits stands for more than they allow; the least such number for hardly less.
        #[test]
        fn sixteen_bits_bound_the_value(bits in 1u16.., scale in prop::sample::select(&SCALES)) {
            let noise = noise(scale);
            let value = |bits: u16| noise.value_of(LazyUniform::new(bits, 16), &mut || 0);
            let most = noise.most(bits);
            prop_assert!(value(bits) <= most, "{} is above {}", value(bits), most);
            let least_alike = 1 << bits.ilog2();
            let value = value(least_alike).max(0);
            prop_assert!(most <= value + 2 + value / 100_000_000_000, "{} is far above {}", most, value);
        }

        #[test]
        fn a_prefix_of_sixteen_bits_is_sixteen_bits(word: u64, bits: u16, margin in -30i64..30) {
            let noise = noise("10/3");
            let prefix = Prefix::sixteen(bits);
            // 16 + 64 bits are a number of 80 bits; cut to 64 it is a number of its own, decided alike unless they
            // straddle the probability, which 64 bits never do here.
            let joined = (u64::from(bits) << 48) | (word >> 16);
            let with_prefix = noise.at_least(margin, prefix, &mut words(word).0).is_some();
            let without = noise.at_least(margin, Prefix::NONE, &mut words(joined).0).is_some();
            prop_assert_eq!(with_prefix, without);
        }

        #[test]
        fn a_batch_is_the_single_draws(seed: u64, length in 0usize..1000, scale in prop::sample::select(&SCALES)) {
            let noise = noise(scale);
            let (mut one, mut many) = (ChaCha12Rng::seed_from_u64(seed), ChaCha12Rng::seed_from_u64(seed));
            let mut batch = vec![0; length];
            noise.fill(&mut batch, &mut many);
            let single: Vec<i64> = (0..length).map(|_| noise.sample(&mut one)).collect();
            prop_assert_eq!(batch, single);
            prop_assert_eq!(one.next_u64(), many.next_u64()); // and both generators stand at the same word
        }
    }

    #[test]
    fn a_broken_generator_ends_all_the_same() {
        for scale in SCALES {
            let noise = noise(scale);
            let most = noise.draw(&mut || 0);
            assert!((0..1 << 53).contains(&most), "scale {scale}: {most}");
            assert_eq!(noise.draw(&mut || u64::MAX), 0, "scale {scale}");
            let y = noise.t.ceil() as i64;
            let number = noise.at_least(y, Prefix::NONE, &mut || 0).expect("0 is below any probability of note");
            assert!(noise.value_of(number, &mut || 0) >= y);
            assert!(noise.at_least(1, Prefix::NONE, &mut || u64::MAX).is_none());
        }
    }

    #[test]
    fn the_margin_is_the_least_by_the_sum_of_the_law() {
        for (scale, probability) in [(1.0, 0.05), (336.0, 1e-4), (0.3, 2e-13), (17.5, 0.5), (0.1, 0.9)] {
            let q = f64::exp(-1.0 / scale);
            let mut tail = 1.0 - (1.0 - q) / (1.0 + q); // P(|Z| > 0)
            let mut least = 0;
            while tail > probability {
                least += 1;
                tail -= 2.0 * (1.0 - q) / (1.0 + q) * q.powi(least);
            }
            assert_eq!(margin(&Scale::new(scale).unwrap(), probability), least as u64, "{scale} {probability}");
        }
    }

    /// The float filter's claim, against certain bounds: where it is sure, it is right, even next to a boundary.
    #[test]
    fn the_filter_is_right_next_to_boundaries() {
        let noise = noise("1000");
        let mut near = 0;
        for k in 1..300u64 {
            // The word at which the magnitude changes from k to k − 1, found by halving with the exact path.
            let (mut low, mut high) = (1u64 << 30, u64::MAX >> 1);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                let magnitude = noise.draw_exactly(middle << 1, 63, &mut || 1 << 63);
                if magnitude >= k as i64 { low = middle } else { high = middle }
            }
            for n in low.saturating_sub(3)..=high + 3 {
                let [fast, slow] = both_ways(&noise, n << 1);
                assert_eq!(fast, slow, "k = {k}, n = {n}");
                near += usize::from(!noise.estimate(n << 1).1);
            }
        }
        assert!(near > 300, "the filter was sure {near} times next to a boundary: its bound is not in force");
    }
}
