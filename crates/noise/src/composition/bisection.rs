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

/// [`greatest_accepted`] for what a `measure` does not bring above a `limit`, both positive, where the measure grows smoothly and is costly: the same
/// number, by a quarter of the evaluations.
pub(crate) fn greatest_within(accepted: f64, refused: f64, limit: f64, measure: impl Fn(f64) -> f64) -> Rational {
    rational(interpolate(grid(accepted), grid(refused) + 1, limit, measure).max(accepted))
}

/// [`least_accepted`] likewise, for a measure that falls.
pub(crate) fn least_within(refused: f64, accepted: f64, limit: f64, measure: impl Fn(f64) -> f64) -> Rational {
    rational(interpolate(grid(accepted) + 1, grid(refused), limit, measure).min(accepted))
}

fn grid(value: f64) -> u64 {
    value.to_bits() >> DROPPED_BITS
}

fn number(step: u64) -> f64 {
    f64::from_bits(step << DROPPED_BITS)
}

fn bisect(mut accepted: u64, mut refused: u64, accept: impl Fn(f64) -> bool) -> f64 {
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

/// Regula falsi on the logarithms, the end that stays being taken for half as far off each time (the Illinois rule): only where to look next is guessed,
/// and no guess is better than a measurement.
fn interpolate(mut accepted: u64, mut refused: u64, limit: f64, measure: impl Fn(f64) -> f64) -> f64 {
    // ln(measure/limit), unknown at first.
    let (mut at_accepted, mut at_refused) = (f64::NAN, f64::NAN);
    // For how many measurements the same end has moved: positive for the accepted one.
    let mut streak = 0;
    while accepted.abs_diff(refused) > 1 {
        let width = accepted.abs_diff(refused);
        let share = at_accepted / (at_accepted - at_refused);
        // Where nothing can be guessed, or guesses come from one side only, it is halved.
        let guessable = 0.0 < share && share < 1.0 && i32::abs(streak) < 4;
        // A cast saturates, and only guesses.
        let step = if guessable { ((share * width as f64) as u64).clamp(1, width - 1) } else { width / 2 };
        let next = if accepted < refused { accepted + step } else { accepted - step };
        let measured = measure(number(next));
        let excess = (measured / limit).ln();
        let is_accepted = measured <= limit;
        streak = match (is_accepted, guessable) {
            (true, true) => streak.max(0) + 1,
            (false, true) => streak.min(0) - 1,
            (_, false) => 0,
        };
        if is_accepted {
            (accepted, at_accepted) = (next, excess);
            at_refused *= if streak > 1 { 0.5 } else { 1.0 };
        } else {
            (refused, at_refused) = (next, excess);
            at_accepted *= if streak < -1 { 0.5 } else { 1.0 };
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

    /// The slow twin is [`bisect`]; steep, flat, saturated and broken measures.
    #[test]
    fn interpolation_finds_what_bisection_finds_in_fewer_steps() {
        type Measure = fn(f64) -> f64;
        let measures: [(&str, Measure); 6] = [
            ("a power", |x| x * x),
            ("steep", |x| (-100.0 / x).exp()),
            ("nearly flat", |x| 1.0 + 1e-3 * x.ln()),
            ("zero for long", |x| (x - 1.9).max(0.0)),
            ("a step", |x| if x < 1.7 { 1e-300 } else { 1e300 }),
            ("never a number", |_| f64::NAN),
        ];
        for (name, measure) in measures {
            for limit in [1e-60, 1e-42, 1e-3, 0.05, 1.0, 1.000_3, 2.0, 3.7] {
                let calls = std::cell::Cell::new(0);
                let counted = |x: f64| {
                    calls.set(calls.get() + 1);
                    measure(x)
                };
                let greatest = greatest_within(1.0, 2.0, limit, counted);
                assert_eq!(greatest, greatest_accepted(1.0, 2.0, |x| measure(x) <= limit), "{name} {limit}");
                assert!(calls.get() <= 60, "{name} {limit}: {}", calls.get());
                if name == "a power" && limit > 1.1 {
                    assert!(calls.get() <= 12, "{name} {limit}: {}", calls.get());
                }
                let least = least_within(1.0, 2.0, limit, |x| measure(3.0 - x));
                assert_eq!(least, least_accepted(1.0, 2.0, |x| measure(3.0 - x) <= limit), "{name} {limit}");
            }
        }
    }

    #[test]
    fn the_given_end_stands_if_nothing_better_is_accepted() {
        for end in [0.1, 1.0 / 3.0, 7.0] {
            assert_eq!(greatest_accepted(end, end * 2.0, |x| x <= end), rational(end));
            assert_eq!(least_accepted(end / 2.0, end, |x| x >= end), rational(end));
        }
    }
}
