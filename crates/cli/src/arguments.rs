//! From the text of an argument to a checked parameter, or a complaint that names both.

use crate::failure::Failure;
use crate::input::decimal;
use std::fmt::Display;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries, Rational, parse_rational};

/// An argument that cannot be used, and what would be right.
pub fn wrong(flag: &str, fault: impl Display, help: &str) -> Failure {
    Failure::input(format_args!("--{flag}: {fault}"), help)
}

/// A checked parameter.
pub fn parameter<T: std::str::FromStr<Err: Display>>(flag: &str, text: &str, help: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| wrong(flag, error, unless_percentage(text, help)))
}

/// A whole number, `1000000` or `1e6`.
pub fn whole(flag: &str, text: &str, help: &str) -> Result<u64, Failure> {
    let number = decimal(text).filter(Rational::is_int);
    let is_beyond = number.as_ref().is_some_and(|number| *number > Rational::from(u64::MAX));
    number.and_then(|number| u64::try_from(number.trunc()).ok()).ok_or_else(|| {
        let range = if is_beyond { format!("at most {}", u64::MAX) } else { "at least 1".to_owned() };
        wrong(flag, format_args!("it must be a whole number of {range}, got {text}"), help)
    })
}

/// The same from 1 to the largest that there may be.
pub fn whole_up_to(flag: &str, text: &str, most: u64, help: &str) -> Result<u64, Failure> {
    let number = decimal(text).filter(Rational::is_int).and_then(|number| u64::try_from(number.trunc()).ok());
    number.filter(|number| (1..=most).contains(number)).ok_or_else(|| {
        let range = if most == 1 { "1".to_owned() } else { format!("a whole number from 1 to {most}") };
        wrong(flag, format_args!("it must be {range}, got {text}"), help)
    })
}

/// A number, exactly.
pub fn number(flag: &str, text: &str, help: &str) -> Result<Rational, Failure> {
    parse_rational(text).ok_or_else(|| {
        let fault = format_args!("it must be a decimal number or a fraction, got {text}");
        wrong(flag, fault, unless_percentage(text, help))
    })
}

/// The help, unless it is the percent sign that is wrong.
fn unless_percentage<'help>(text: &str, help: &'help str) -> &'help str {
    if text.ends_with('%') { "write 0.05 for 5 %" } else { help }
}

/// ε and δ.
pub fn budget(epsilon: &str, delta: &str) -> Result<Budget, Failure> {
    let epsilon: Epsilon = parameter("epsilon", epsilon, "for example --epsilon 1, or 1/2")?;
    let delta: Delta = parameter(
        "delta",
        delta,
        "leave it out for pure privacy, or give far less than one over the number of units, as in --delta 1e-9",
    )?;
    Ok(Budget::approximate(epsilon, delta))
}

/// Who is a neighbour.
pub fn neighbours(text: &str) -> Result<Neighbours, Failure> {
    parameter("neighbours", text, "give add-remove or substitute")
}

/// k.
pub fn queries(text: &str, help: &str) -> Result<Queries, Failure> {
    Queries::new(whole("queries", text, help)?).map_err(|error| wrong("queries", error, help))
}

/// c, by the name that it has there: alerts, say.
pub fn hits(flag: &str, noun: &str, text: &str, help: &str) -> Result<Hits, Failure> {
    let number = whole(flag, text, help)?;
    Hits::new(number).map_err(|_| {
        wrong(flag, format_args!("the number of {noun} must be a whole number from 1 to 1000000, got {number}"), help)
    })
}

/// A probability of failure.
pub fn beta(text: &str) -> Result<Beta, Failure> {
    const HELP: &str = "for example --beta 0.05 for statements that hold with probability 95 %";
    let probability = number("beta", text, HELP)?.to_f64_fast();
    Beta::new(probability).map_err(|_| {
        wrong("beta", format_args!("it must be a probability between 1e-300 and 1, ends excluded, got {text}"), HELP)
    })
}
