//! What tests of releases share: small data, and whether errors and intervals are what is said of them.

use tamis_oracle::statistics::{clopper_pearson_lower, clopper_pearson_upper};
use tamis_projection::Answer;
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Of each test, and the standard deviations that it stands for.
pub const FALSE_ALARM: f64 = 1e-6;
pub const DEVIATIONS: f64 = 4.9;

pub fn histogram(counts: impl IntoIterator<Item = (u64, i64)>) -> Histogram {
    let mut builder = Histogram::builder();
    for (key, count) in counts {
        builder.add(Fingerprint::raw(key), count).unwrap();
    }
    builder.build()
}

pub fn list(keys: impl IntoIterator<Item = u64>) -> SparseQuery {
    SparseQuery::count(keys.into_iter().map(Fingerprint::raw))
}

pub fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// Whether the errors have mean 0 and this variance.
///
/// The mean of R squared errors has a relative standard deviation of √((κ + 2)/R); κ, the excess kurtosis, is at most 2 in
/// the cases it is for. So at R = 20 000 what is 7 % off in variance is noticed, and 5 % may not be; at 10 000 what is 10 % off.
pub fn errors_are(errors: &[f64], variance: f64) -> bool {
    let trials = errors.len() as f64;
    let biased = mean(errors.iter().copied()).abs() > DEVIATIONS * (variance / trials).sqrt();
    let squares = mean(errors.iter().map(|error| error * error));
    !biased && (squares / variance - 1.0).abs() < DEVIATIONS * (4.0 / trials).sqrt()
}

/// Whether so many of the trials are consistent with a coverage between the two.
pub fn covers(answers: &[Answer], truth: f64, level: f64, least: f64, most: f64) -> bool {
    let trials = answers.len() as u64;
    let covered = answers.iter().map(|answer| answer.interval(level).unwrap());
    let covered = covered.filter(|interval| interval.lower <= truth && truth <= interval.upper).count() as u64;
    clopper_pearson_lower(covered, trials, 1.0 - FALSE_ALARM) <= most
        && clopper_pearson_upper(covered, trials, 1.0 - FALSE_ALARM) >= least
}

/// Answers with other standard errors.
pub fn scaled(answers: &[Answer], factor: f64) -> Vec<Answer> {
    answers.iter().map(|answer| Answer { standard_error: factor * answer.standard_error, ..*answer }).collect()
}
