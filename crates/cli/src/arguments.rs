//! From the text of an argument to a checked parameter, or a complaint that names both.

use crate::failure::Failure;
use std::fmt::Display;
use tamis::noise::{Beta, Rational, parse_rational};

pub fn wrong(flag: &str, fault: impl Display, help: &str) -> Failure {
    Failure::input(format_args!("--{flag}: {fault}"), help)
}

pub fn parameter<T: std::str::FromStr<Err: Display>>(flag: &str, text: &str, help: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| wrong(flag, error, help))
}

pub fn whole(flag: &str, text: &str, help: &str) -> Result<u64, Failure> {
    text.parse().map_err(|_| wrong(flag, format_args!("it must be a whole number of at least 1, got {text}"), help))
}

pub fn number(flag: &str, text: &str, help: &str) -> Result<Rational, Failure> {
    parse_rational(text)
        .ok_or_else(|| wrong(flag, format_args!("it must be a decimal number or a fraction, got {text}"), help))
}

pub fn beta(text: &str) -> Result<Beta, Failure> {
    const HELP: &str = "for example --beta 0.05 for statements that hold with probability 95 %";
    let probability = number("beta", text, HELP)?.to_f64_fast();
    Beta::new(probability).map_err(|_| {
        wrong("beta", format_args!("it must be a probability between 1e-300 and 1, ends excluded, got {text}"), HELP)
    })
}
