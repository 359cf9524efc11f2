//! Units, rows of a unit, and what the answers of several mechanisms have in common.

use crate::BaselineError;
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// What is said of a query. All of it may be published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The estimate, in records. Unbiased, so it may be below 0.
    pub value: f64,
    /// Its standard error, in records: known exactly, since it is that of the noise.
    pub standard_error: f64,
}

/// How far what is said of one key is off: of mechanisms whose error depends on how many records the key has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyError {
    /// The mean of the error, in records.
    pub bias: f64,
    /// The mean of its square, in squared records.
    pub mean_square: f64,
}

impl KeyError {
    /// The variance of the error, in squared records.
    pub fn variance(&self) -> f64 {
        (self.mean_square - self.bias.powi(2)).max(0.0)
    }

    /// The root of the mean square of the sum of so many errors, independent of each other: bias adds up, noise only as
    /// its root.
    ///
    /// ```
    /// use tamis_baselines::KeyError;
    /// let unbiased = KeyError { bias: 0.0, mean_square: 4.0 };
    /// assert_eq!(unbiased.of_many(100), 20.0);
    /// let biased = KeyError { bias: 1.0, mean_square: 1.0 };
    /// assert_eq!(biased.of_many(100), 100.0);
    /// ```
    pub fn of_many(&self, keys: u64) -> f64 {
        let keys = keys as f64;
        ((keys * self.bias).powi(2) + keys * self.variance()).sqrt()
    }
}

/// Weights of a query, in units of 2⁻²⁰, as the numbers they stand for.
pub(crate) fn in_records(units: f64) -> f64 {
    units / f64::from(SparseQuery::UNIT)
}

/// A query over the keys whose counts are known.
pub(crate) struct Sum {
    /// Σ q(u)·c(u), in records.
    pub(crate) value: f64,
    /// Σ q(u)².
    pub(crate) squared_norm: f64,
    /// How many keys of the query have a count that is known.
    pub(crate) keys: usize,
}

/// `counts` are sorted by key. Cost: O(m·log of how many they are).
pub(crate) fn sum_of_known(query: &SparseQuery, counts: &[(Fingerprint, i64)]) -> Sum {
    let (mut value, mut squared_norm, mut keys) = (0, 0, 0);
    for &(key, weight) in query.entries() {
        let Ok(at) = counts.binary_search_by_key(&key, |entry| entry.0) else { continue };
        value += i128::from(counts[at].1) * i128::from(weight);
        squared_norm += u128::from(weight).pow(2);
        keys += 1;
    }
    Sum { value: in_records(value as f64), squared_norm: in_records(in_records(squared_norm as f64)), keys }
}

pub(crate) fn check_rows(rows_per_unit: u32) -> Result<(), BaselineError> {
    if (1..=1_000_000).contains(&rows_per_unit) { Ok(()) } else { Err(BaselineError::RowsPerUnit(rows_per_unit)) }
}

/// Whether data may be released by a plan for so many rows a unit: that does not depend on the rows themselves.
pub(crate) fn check_data(data: &Histogram, planned: u32) -> Result<(), BaselineError> {
    let bounded = data.rows_per_unit();
    if bounded.within(planned) {
        Ok(())
    } else {
        Err(BaselineError::RowsBeyondPlan { planned, bounded: bounded.known() })
    }
}
