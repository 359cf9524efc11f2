//! Bisection that returns a number which was itself accepted.
//!
//! It walks the positive `f64`s of 40 significant bits: their order is the order of their bit patterns, the step is
//! below 1e-12 of the value, and short numbers make short rationals for the exact samplers.

use crate::{Rational, exact};

/// Bits of the mantissa of an `f64` that the grid leaves at zero.
const DROPPED_BITS: u32 = 13;

/// The largest number between `accepted` and `refused` that `accept` takes, found from one that it takes and a
/// larger one that it does not.
///
/// If `accept` is not monotone the result is still a number that it took. The end given is not asked again, and is
/// itself the result if nothing larger is taken.
pub(crate) fn greatest_accepted(accepted: f64, refused: f64, accept: impl Fn(f64) -> bool) -> Rational {
    rational(bisect(grid(accepted), grid(refused) + 1, accept).max(accepted))
}

/// The smallest number between `refused` and `accepted` that `accept` takes; the mirror of [`greatest_accepted`].
pub(crate) fn least_accepted(refused: f64, accepted: f64, accept: impl Fn(f64) -> bool) -> Rational {
    rational(bisect(grid(accepted) + 1, grid(refused), accept).min(accepted))
}

fn grid(value: f64) -> u64 {
    value.to_bits() >> DROPPED_BITS
}

fn bisect(mut accepted: u64, mut refused: u64, accept: impl Fn(f64) -> bool) -> f64 {
    let number = |step: u64| f64::from_bits(step << DROPPED_BITS);
    while accepted.abs_diff(refused) > 1 {
        let middle = accepted.midpoint(refused);
        if accept(number(middle)) {
            accepted = middle;
        } else {
            refused = middle;
        }
    }
    number(accepted)
}

fn rational(value: f64) -> Rational {
    // Cannot fail: no caller searches up to the infinite.
    exact::from_f64(value).expect("a finite number is a rational")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_found_to_forty_bits() {
        let largest = greatest_accepted(1.0, 2.0, |x| x * x <= 2.0);
        let smallest = least_accepted(1.0, 2.0, |x| x * x >= 2.0);
        let two = Rational::from(2);
        assert!(&largest * &largest <= two && &smallest * &smallest >= two);
        assert!(exact::to_f64_up(&(&smallest - &largest)) <= 2e-12, "{largest} {smallest}");
    }

    #[test]
    fn the_given_end_stands_if_nothing_better_is_accepted() {
        for end in [0.1, 1.0 / 3.0, 7.0] {
            assert_eq!(greatest_accepted(end, end * 2.0, |x| x <= end), rational(end));
            assert_eq!(least_accepted(end / 2.0, end, |x| x >= end), rational(end));
        }
    }
}
