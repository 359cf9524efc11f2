//! Exact numbers: what a user wrote, as a rational, and the way back to `f64` in a chosen direction.

use dashu_base::{Approximation, Sign};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Longest mantissa accepted, in digits: enough for any `f64` written out, and for any parameter that we print.
const MAX_DIGITS: usize = 500;
/// Largest power of ten accepted: beyond it lies nothing that an `f64` could hold.
const MAX_EXPONENT: u64 = 400;

/// Reads `0.1`, `-3`, `2.5e-3` or `1/11` exactly.
///
/// Returns `None` for anything else: `inf`, `nan`, `0x10`, `1_000`, spaces inside, a zero denominator,
/// more than 500 digits or a power of ten beyond ±400.
///
/// ```
/// use tamis_noise::{Rational, parse_rational};
/// assert_eq!(parse_rational("0.1"), parse_rational("1/10"));
/// assert_eq!(parse_rational("-2.50e1"), Some(Rational::from(-25)));
/// assert_eq!(parse_rational("1e400000"), None);
/// ```
pub fn parse_rational(text: &str) -> Option<RBig> {
    match text.split_once('/') {
        None => parse_decimal(text),
        Some((numerator, denominator)) => {
            let denominator = parse_decimal(denominator)?;
            if denominator == RBig::ZERO {
                return None;
            }
            Some(parse_decimal(numerator)? / denominator)
        }
    }
}

fn parse_decimal(text: &str) -> Option<RBig> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        None => (unsigned, 0),
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty()
        || digits.len() > MAX_DIGITS
        || !digits.bytes().all(|b| b.is_ascii_digit())
        || exponent.unsigned_abs() > MAX_EXPONENT
    {
        return None;
    }
    let magnitude = UBig::from_str_radix(&digits, 10).ok()?;
    // Cannot fail: at most MAX_DIGITS digits.
    let shift = exponent - i64::try_from(fraction.len()).ok()?;
    let power = UBig::from(10u8).pow(usize::try_from(shift.unsigned_abs()).ok()?);
    let signed = if negative { -IBig::from(magnitude) } else { IBig::from(magnitude) };
    Some(if shift >= 0 { RBig::from(signed * power) } else { RBig::from_parts(signed, power) })
}

/// The decimal that Rust prints for `value`, exactly: `0.1` is 1/10, not the nearest binary fraction.
/// `None` for NaN and infinities.
pub(crate) fn shortest_decimal(value: f64) -> Option<RBig> {
    if value.is_finite() { parse_decimal(&format!("{value:e}")) } else { None }
}

/// The `f64` nearest to `value`. (dashu's `to_f64_fast` may be further off.)
pub(crate) fn nearest_f64(value: &RBig) -> f64 {
    value.to_f64().value()
}

/// Largest `f64` not above `value`.
pub(crate) fn to_f64_down(value: &RBig) -> f64 {
    match value.to_f64() {
        Approximation::Exact(nearest) => nearest,
        // The sign says on which side of the true value the nearest `f64` lies.
        Approximation::Inexact(nearest, Sign::Positive) => nearest.next_down(),
        Approximation::Inexact(nearest, Sign::Negative) => nearest,
    }
}

/// Smallest `f64` not below `value`.
pub(crate) fn to_f64_up(value: &RBig) -> f64 {
    0.0 - to_f64_down(&-value.clone()) // not −0.0 for 0
}

/// A finite `f64` as the exact binary fraction it is. `None` for NaN and infinities.
pub(crate) fn from_f64(value: f64) -> Option<RBig> {
    RBig::try_from(value).ok()
}

/// Prints a decimal if it terminates within 20 places, a fraction otherwise.
pub(crate) fn display(value: &RBig) -> String {
    for places in 0..=20usize {
        let scaled = value.clone() * RBig::from(UBig::from(10u8).pow(places));
        if !scaled.is_int() {
            continue;
        }
        if places > 12 {
            break;
        }
        let digits = format!("{:0>width$}", scaled.numerator().clone().into_parts().1, width = places + 1);
        let sign = if scaled < RBig::ZERO { "-" } else { "" };
        let (whole, fraction) = digits.split_at(digits.len() - places);
        return if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };
    }
    let shortest = format!("{:e}", nearest_f64(value));
    if parse_decimal(&shortest).as_ref() == Some(value) { shortest } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_conversions_enclose() {
        for text in ["1/3", "2/3", "0.1", "-1/3", "1e-300", "1/11", "5"] {
            let value = parse_rational(text).unwrap();
            let (down, up) = (to_f64_down(&value), to_f64_up(&value));
            assert!(from_f64(down).unwrap() <= value && value <= from_f64(up).unwrap(), "{text}");
            assert!(up == down || up == down.next_up(), "{text}");
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(format!("{} {}", to_f64_up(&RBig::ZERO), to_f64_down(&RBig::ZERO)), "0 0");
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in [
            "",
            "-",
            ".",
            "inf",
            "NaN",
            "0x10",
            "1_000",
            " 1",
            "1 ",
            "1/0",
            "1e401",
            "1e",
            "--1",
            "1/2/3",
            "1e+-2",
            "1e-9223372036854775808",
            "0e9223372036854775807",
            "1e99999999999999999999",
        ] {
            assert_eq!(parse_rational(text), None, "{text}");
        }
    }

    #[test]
    fn display_is_short_and_reads_back() {
        for text in ["0.1", "1", "1/11", "1e-320", "1e-9", "0.000001", "-2.5", "1000", "1/3"] {
            let value = parse_rational(text).unwrap();
            assert_eq!(parse_rational(&display(&value)), Some(value), "{text}");
        }
        assert_eq!(display(&parse_rational("0.10").unwrap()), "0.1");
        assert_eq!(display(&parse_rational("1e-9").unwrap()), "0.000000001");
    }
}
