//! Rationals that enclose real numbers: the root of every exact claim in this crate.
//!
//! A float computation whose error is "about 1e-15" is an opinion; a pair of rationals with the
//! truth between them is not. Only `e^x` is needed.

use dashu_base::{Approximation, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Two rationals with the truth between them, ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosure {
    /// At most the truth.
    pub lower: RBig,
    /// At least the truth.
    pub upper: RBig,
}

impl Enclosure {
    /// The nearest floats outside the enclosure.
    pub fn to_f64(&self) -> (f64, f64) {
        (f64_below(&self.lower), f64_above(&self.upper))
    }
}

/// `e^x`, at most a relative 2^-bits apart.
///
/// By halving x until it is below ½, the Taylor series, and squaring back, every step rounded outwards
/// to multiples of a power of two. Cost: `bits` multiplications of `bits`-bit numbers, fit for |x| up to
/// a few thousand.
///
/// ```
/// use dashu_ratio::RBig;
/// use tamis_oracle::enclosure::exponential;
/// let (below, above) = exponential(&RBig::ONE, 200).to_f64();
/// assert!(below <= std::f64::consts::E && std::f64::consts::E <= above);
/// assert!(above - below <= 2.0 * f64::EPSILON * above);
/// ```
pub fn exponential(x: &RBig, bits: usize) -> Enclosure {
    if x.sign() == Sign::Negative {
        let positive = exponential(&-x.clone(), bits);
        return Enclosure { lower: RBig::ONE / positive.upper, upper: RBig::ONE / positive.lower };
    }
    let mut halvings = 0_usize;
    while x.clone() / RBig::from(UBig::ONE << halvings) > RBig::from_parts(1.into(), 2_u8.into()) {
        halvings += 1;
    }
    // Each squaring doubles the relative error, and a few bits go to the series.
    let grid = bits + 2 * halvings + 16;
    let small = x.clone() / RBig::from(UBig::ONE << halvings);
    let (mut lower, mut upper) = taylor(&small, grid);
    for _ in 0..halvings {
        lower = round_down(&(&lower * &lower), grid);
        upper = round_up(&(&upper * &upper), grid);
    }
    Enclosure { lower, upper }
}

/// Partial sums of e^x for 0 ≤ x ≤ ½, and the same plus the remainder, which is below the last term.
fn taylor(x: &RBig, grid: usize) -> (RBig, RBig) {
    let smallest = RBig::from_parts(IBig::ONE, UBig::ONE << grid);
    let (mut lower, mut upper) = (RBig::ONE, RBig::ONE);
    let (mut term_down, mut term_up) = (RBig::ONE, RBig::ONE);
    let mut i = 1_u32;
    while term_up > smallest {
        term_down = round_down(&(&term_down * x / RBig::from(i)), grid);
        term_up = round_up(&(&term_up * x / RBig::from(i)), grid);
        lower += &term_down;
        upper += &term_up;
        i += 1;
    }
    (lower, upper + term_up)
}

/// The largest multiple of 2^-grid at most `x`.
fn round_down(x: &RBig, grid: usize) -> RBig {
    RBig::from_parts((x * RBig::from(UBig::ONE << grid)).floor(), UBig::ONE << grid)
}

/// The smallest multiple of 2^-grid at least `x`.
fn round_up(x: &RBig, grid: usize) -> RBig {
    RBig::from_parts((x * RBig::from(UBig::ONE << grid)).ceil(), UBig::ONE << grid)
}

/// The largest float at most `x`.
pub fn f64_below(x: &RBig) -> f64 {
    match x.to_f64() {
        Approximation::Exact(value) => value,
        // The sign is that of the error, value − x.
        Approximation::Inexact(value, Sign::Positive) => value.next_down(),
        Approximation::Inexact(value, Sign::Negative) => value,
    }
}

/// The smallest float at least `x`.
pub fn f64_above(x: &RBig) -> f64 {
    -f64_below(&-x.clone())
}

/// The rational that a finite float is.
///
/// # Panics
///
/// If `x` is not finite.
pub fn rational(x: f64) -> RBig {
    RBig::try_from(x).unwrap_or_else(|_| panic!("a finite number is needed, got {x}"))
}

/// The integer part, and the rest, of a non-negative rational.
pub(crate) fn whole_and_rest(x: &RBig) -> (UBig, RBig) {
    let whole = x.floor().unsigned_abs();
    let rest = x - RBig::from(whole.clone());
    (whole, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_as_asked() {
        for x in ["0", "1/3", "-1/3", "7", "-20", "100/7"] {
            let x: RBig = x.parse().expect("a rational literal");
            let e = exponential(&x, 128);
            assert!(e.lower <= e.upper);
            let relative = (&e.upper - &e.lower) / &e.lower;
            assert!(relative < RBig::from_parts(IBig::ONE, UBig::ONE << 128), "{x}");
            let float = x.to_f64_fast().exp();
            assert!((e.lower.to_f64_fast() / float - 1.0).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn products_of_enclosures_enclose() {
        // e^(1/3) cubed is e.
        let third = exponential(&RBig::from_parts(1.into(), 3_u8.into()), 150);
        let one = exponential(&RBig::ONE, 100);
        assert!(third.lower.pow(3) <= one.upper && one.lower <= third.upper.pow(3));
        // 30 digits of e, from any table.
        let known: RBig =
            "2718281828459045235360287471352/1000000000000000000000000000000".parse().expect("a rational literal");
        assert!((one.lower - known).to_f64_fast().abs() < 1e-29);
    }

    #[test]
    fn floats_are_on_the_stated_side() {
        for x in ["1/3", "2/3", "-1/3", "1/10", "3/4"] {
            let x: RBig = x.parse().expect("a rational literal");
            let (below, above) = (f64_below(&x), f64_above(&x));
            assert!(rational(below) <= x && x <= rational(above), "{x}: {below} {above}");
            assert!(above <= below.next_up());
        }
    }
}
