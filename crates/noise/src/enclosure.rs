//! Certain bounds on exponentials, in fixed-point integers of any precision, and the uniform number that is
//! compared with them. This is the arbitrary-precision path behind every sampler: slow, obvious, exact.

use crate::logarithm::negative_logarithm;
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// `low` ≤ 2^precision · value ≤ `high`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Enclosure {
    pub(crate) low: UBig,
    pub(crate) high: UBig,
}

impl Enclosure {
    fn around(centre: UBig, error: u32) -> Self {
        let error = UBig::from(error);
        let low = if centre > error { &centre - &error } else { UBig::ZERO };
        Self { low, high: centre + error }
    }

    /// 1 − value.
    fn complement(self, precision: usize) -> Self {
        let one = UBig::ONE << precision;
        let low = if one > self.high { &one - &self.high } else { UBig::ZERO };
        // Cannot underflow: only probabilities are complemented, and their low ends are below 1.
        Self { low, high: one - self.low }
    }
}

/// e^(−exponent), for a rational exponent ≥ 0.
///
/// The exponent is halved r times until it is at most ½, the alternating Taylor series is summed in units of
/// 2^−w, w = precision + r + 16, and the sum is squared r times. Error: the reduced exponent is truncated by less
/// than one unit; a term a_i = ⌊a_(i−1)·y⌋/i is off by at most 2 units (by induction: (2·½ + 1)/2 + 1 = 2); the
/// remainder of an alternating series is less than its first missing term, which is less than one unit. So N terms
/// leave the sum within 2N + 2 units. Squarings round the lower end down and the upper end up.
pub(crate) fn exponential(exponent: &RBig, precision: usize) -> Enclosure {
    debug_assert!(*exponent >= RBig::ZERO);
    if *exponent == RBig::ZERO {
        return Enclosure { low: UBig::ONE << precision, high: UBig::ONE << precision };
    }
    if *exponent >= RBig::from(precision) {
        // e^−precision < 2^−precision
        return Enclosure { low: UBig::ZERO, high: UBig::ONE };
    }
    // Cannot fail: the exponent is below `precision`, which is a usize.
    let whole = usize::try_from(exponent.floor()).expect("below the precision");
    let halvings = (whole + 1).ilog2() as usize + 2;
    let work = precision + halvings + 16;
    let scaled = exponent * RBig::from(UBig::ONE << (work - halvings));
    let reduced: UBig = scaled.floor().unsigned_abs();
    let (mut sum, mut term, mut terms) = (IBig::from(UBig::ONE << work), UBig::ONE << work, 0u32);
    while term != UBig::ZERO {
        terms += 1;
        term = ((term * &reduced) >> work) / UBig::from(terms);
        sum += if terms % 2 == 1 { -IBig::from(term.clone()) } else { IBig::from(term.clone()) };
    }
    let Enclosure { mut low, mut high } = Enclosure::around(sum.unsigned_abs(), 2 * terms + 2);
    for _ in 0..halvings {
        low = (&low * &low) >> work;
        high = ((&high * &high) >> work) + UBig::ONE;
    }
    Enclosure { low: low >> (work - precision), high: (high >> (work - precision)) + UBig::ONE }
}

/// multiplier · e^(−exponent) / (1 + e^(−rate)): every tail of a discrete Laplace law has this form.
fn tail_form(multiplier: u32, exponent: &RBig, rate: &RBig, precision: usize) -> Enclosure {
    let power = exponential(exponent, precision);
    let ratio = exponential(rate, precision);
    let one = UBig::ONE << precision;
    let multiplier = UBig::from(multiplier);
    Enclosure {
        low: ((power.low * &multiplier) << precision) / (&one + ratio.high),
        high: ((power.high * multiplier) << precision) / (one + ratio.low) + UBig::ONE,
    }
}

/// A probability given by certain bounds at any precision.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Probability<'a> {
    /// P(|Z| ≥ k), k ≥ 0, for a discrete Laplace Z with rate 1/t; for k = 0 the formula exceeds 1, which is harmless.
    Magnitude { at_least: u64, rate: &'a RBig },
    /// P(Z ≥ y) for the same Z.
    Tail { at_least: i64, rate: &'a RBig },
    /// e^(−exponent).
    Exponential { exponent: &'a RBig },
}

impl Probability<'_> {
    pub(crate) fn enclose(self, precision: usize) -> Enclosure {
        match self {
            Self::Magnitude { at_least, rate } => tail_form(2, &(rate * RBig::from(at_least)), rate, precision),
            Self::Tail { at_least, rate } if at_least >= 1 => {
                tail_form(1, &(rate * RBig::from(at_least)), rate, precision)
            }
            Self::Tail { at_least, rate } => {
                let beyond = RBig::from(i128::from(at_least).abs_diff(1));
                tail_form(1, &(rate * beyond), rate, precision).complement(precision)
            }
            Self::Exponential { exponent } => exponential(exponent, precision),
        }
    }
}

/// Where the next 64 fair bits come from.
pub(crate) trait Words: FnMut() -> u64 {}
impl<F: FnMut() -> u64> Words for F {}

/// Bits after which a uniform number is taken as it is. An event that is still open then has probability below
/// 2^−4096, and a generator that brings it about is broken; the samplers stay total all the same.
const MAX_BITS: usize = 4096;

/// A uniform number in [0, 1), known only to lie in [bits, bits + 1) · 2^−length, and refined on demand.
///
/// It is always the *same* number that is refined, never drawn again: that is what makes a filtered decision exact.
#[derive(Clone, Debug)]
pub(crate) struct LazyUniform {
    bits: UBig,
    length: usize,
}

impl LazyUniform {
    pub(crate) fn new(bits: impl Into<UBig>, length: usize) -> Self {
        Self { bits: bits.into(), length }
    }

    /// Appends 64 fair bits.
    pub(crate) fn extend(&mut self, words: &mut impl Words) {
        self.bits = (std::mem::take(&mut self.bits) << 64) + UBig::from(words());
        self.length += 64;
    }

    /// Whether the number is below `probability`; `None` if the bits known so far do not tell.
    ///
    /// The precision grows until the bounds lie on one side of the interval of the number, or strictly inside it. They
    /// do in the end, because e^(−rational) and its rational functions are never dyadic (Lindemann) except for the
    /// probability 1, which is enclosed exactly. A probability within 2^−4096 of an end counts as that end.
    fn is_below(&self, probability: Probability<'_>) -> Option<bool> {
        let mut precision = self.length + 32;
        loop {
            let Enclosure { low, high } = probability.enclose(precision);
            let start = &self.bits << (precision - self.length);
            let end = (&self.bits + UBig::ONE) << (precision - self.length);
            if end <= low {
                return Some(true);
            }
            if start >= high {
                return Some(false);
            }
            if start < low && high < end {
                return None;
            }
            if precision > self.length + MAX_BITS {
                return Some(start < low);
            }
            precision *= 2;
        }
    }

    /// Whether the number is below `probability`, refining it as far as it takes.
    pub(crate) fn below(&mut self, probability: Probability<'_>, words: &mut impl Words) -> bool {
        loop {
            match self.is_below(probability) {
                Some(decided) => return decided,
                None if self.length > MAX_BITS => return false,
                None => self.extend(words),
            }
        }
    }

    /// −ln of the number, for a guess: near enough that few steps remain, however small it is.
    pub(crate) fn negative_logarithm(&self) -> f64 {
        let excess = self.bits.bit_len().saturating_sub(64);
        // Cannot fail: at most 64 bits are left.
        let top = u64::try_from(&self.bits >> excess).expect("64 bits");
        let halvings = self.length as f64 - excess as f64 - 64.0;
        negative_logarithm((top as f64 + 0.5) * 2f64.powi(-64)) + halvings * std::f64::consts::LN_2
    }

    /// 1 less the number.
    pub(crate) fn complement(&self) -> Self {
        Self { bits: (UBig::ONE << self.length) - UBig::ONE - &self.bits, length: self.length }
    }
}

/// max{k : number < P(Z-event at k)} for a family of probabilities that falls with k, starting from a guess.
///
/// A wrong guess costs steps, never exactness; after every refinement of the number a new guess is made.
pub(crate) fn largest_below<'a>(
    number: &mut LazyUniform,
    family: impl Fn(i64) -> Probability<'a>,
    guess: impl Fn(&LazyUniform) -> i64,
    words: &mut impl Words,
) -> i64 {
    loop {
        let mut k = guess(number);
        loop {
            match (number.is_below(family(k)), number.is_below(family(k + 1))) {
                (Some(true), Some(false)) => return k,
                (Some(true), Some(true)) => k += 1,
                (Some(false), _) => k -= 1,
                (None, _) | (_, None) if number.length > MAX_BITS => return k,
                (None, _) | (_, None) => break,
            }
        }
        number.extend(words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: u64, denominator: u64) -> RBig {
        RBig::from_parts(numerator.into(), denominator.into())
    }

    #[test]
    fn exponential_encloses_known_digits() {
        // e^-1 to 40 decimals, and e^-20.
        for (exponent, digits, places) in [
            (ratio(1, 1), "3678794411714423215955237701614608674458", 40usize),
            (ratio(1, 2), "6065306597126334236037995349911804534419", 40),
            (ratio(20, 1), "20611536224385578279659403801558209763", 46),
        ] {
            let value =
                RBig::from_parts(IBig::from(UBig::from_str_radix(digits, 10).unwrap()), UBig::from(10u8).pow(places));
            let one_digit = RBig::from_parts(1.into(), UBig::from(10u8).pow(places));
            for precision in [16usize, 64, 100] {
                let bounds = exponential(&exponent, precision);
                let unit = RBig::from(UBig::ONE << precision);
                assert!(RBig::from(bounds.low.clone()) <= (&value + &one_digit) * &unit, "{exponent} {precision}");
                assert!(&value * &unit <= RBig::from(bounds.high.clone()), "{exponent} {precision}");
                assert!(&bounds.high - &bounds.low <= UBig::from(3u8), "{exponent} {precision}: loose");
            }
        }
    }

    #[test]
    fn exponential_of_zero_and_of_much() {
        assert_eq!(exponential(&RBig::ZERO, 64), Enclosure { low: UBig::ONE << 64, high: UBig::ONE << 64 });
        assert_eq!(exponential(&ratio(1_000_000, 1), 64), Enclosure { low: UBig::ZERO, high: UBig::ONE });
    }

    #[test]
    fn a_certain_event_is_below_without_more_bits() {
        let mut top = LazyUniform::new(u64::MAX, 64);
        let zero = RBig::ZERO;
        assert!(top.below(Probability::Exponential { exponent: &zero }, &mut || unreachable!("decided")));
    }

    #[test]
    fn an_undecided_number_is_refined_not_redrawn() {
        // e^-½ = 0.6065 lies inside [½, 1), so one bit does not tell.
        let half = ratio(1, 2);
        let probability = Probability::Exponential { exponent: &half };
        assert_eq!(LazyUniform::new(1u8, 1).is_below(probability), None);
        let mut low = LazyUniform::new(1u8, 1);
        assert!(low.below(probability, &mut || 0)); // 0.5 < 0.6065
        let mut high = LazyUniform::new(1u8, 1);
        assert!(!high.below(probability, &mut || u64::MAX)); // 0.99… > 0.6065
        assert_eq!((low.length, high.length), (65, 65));
    }
}
