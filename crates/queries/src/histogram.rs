//! How often each key occurs: exact counts, in an order that says nothing about the order of the rows.
//!
//! # How to use it
//! [`Histogram::builder`] takes rows one by one, or counted ones, in any order; [`HistogramBuilder::build`] gives the
//! [`Histogram`]: its entries sorted by fingerprint, each once, none of them zero. The same multiset of rows gives the
//! same histogram, whatever the order and the parts it came in.
//!
//! # Exact
//! Counts are non-negative `i64`, and all of a histogram together at most 2⁴⁰ ([`Histogram::MAX_TOTAL`]). So nothing
//! that follows can overflow: a count in units of 2⁻²⁰ is at most 2⁶⁰, which leaves room for any noise, and the sum of
//! squares at most 2⁸⁰. Whatever would pass the limit is refused and changes nothing.
//!
//! # Limitations
//! A histogram is raw data: it is not for publication, and neither is how many keys it has. Errors do not repeat the
//! count they refuse, since it may be somebody's.
//!
//! # Cost
//! O(log distinct) a row on average; 64 bytes for each distinct key while rows are read, 16 afterwards. There is no
//! hash table, so whoever chooses the keys cannot drive this up.

use crate::{Fingerprint, RowsPerUnit};
use std::fmt;

/// Checked, non-negative counts of fingerprints.
///
/// ```
/// use tamis_queries::{Fingerprint, Histogram};
/// let [ann, bob] = [2, 1].map(Fingerprint::raw);
/// let rows = Histogram::builder().add(ann, 1)?.add(bob, 3)?.add(ann, 1)?.build();
/// assert_eq!(rows.entries(), [(bob, 3), (ann, 2)]);
/// assert_eq!((rows.total(), rows.distinct(), rows.squared_norm()), (5, 2, 13));
/// # Ok::<(), tamis_queries::HistogramError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    // Sorted by fingerprint, each once, every count positive, `total` their sum and at most MAX_TOTAL.
    entries: Vec<(Fingerprint, i64)>,
    total: i64,
    rows_per_unit: RowsPerUnit,
}

/// Without the counts: they are the data.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram").field("rows_per_unit", &self.rows_per_unit).finish_non_exhaustive()
    }
}

/// Counts that a histogram cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// A count below zero.
    #[error("a count must not be negative")]
    Negative,
    /// More than [`Histogram::MAX_TOTAL`] together.
    #[error("the counts of a histogram must not exceed 2^40 = 1099511627776 together")]
    Overflow,
    /// More taken away than is there.
    #[error("a key must not be removed more often than it occurs")]
    NotThere,
    /// Rows taken away after a bound on the rows of a unit.
    #[error("rows cannot be removed after a bound on the rows of a unit: remove them before")]
    Bounded,
}

impl Histogram {
    /// Largest sum of all counts: 2⁴⁰.
    pub const MAX_TOTAL: i64 = 1 << 40;

    /// Nothing counted yet.
    pub fn builder() -> HistogramBuilder {
        HistogramBuilder::default()
    }

    /// Each fingerprint that occurs, with its positive count, sorted by fingerprint.
    pub fn entries(&self) -> &[(Fingerprint, i64)] {
        &self.entries
    }

    /// How often `fingerprint` occurs; 0 if it does not.
    pub fn count(&self, fingerprint: Fingerprint) -> i64 {
        self.position(fingerprint).map_or(0, |at| self.entries[at].1)
    }

    fn position(&self, fingerprint: Fingerprint) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&fingerprint, |entry| entry.0)
    }

    /// The sum of all counts, ‖x‖₁: the number of records.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// How many fingerprints occur.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// The sum of the squared counts, ‖x‖₂², exactly.
    pub fn squared_norm(&self) -> u128 {
        self.entries.iter().map(|&(_, count)| u128::from(count.unsigned_abs()).pow(2)).sum()
    }

    /// What is known of L, how many rows a unit of privacy has at most: what a [`ContributionBound`](crate::ContributionBound)
    /// that stood before it says.
    pub fn rows_per_unit(&self) -> RowsPerUnit {
        self.rows_per_unit
    }

    /// The same rows, said to have been bounded.
    pub(crate) fn bounded(self, rows_per_unit: u32) -> Self {
        Self { rows_per_unit: RowsPerUnit::bounded(rows_per_unit), ..self }
    }

    /// The rows of both. Cost: O(distinct of both).
    ///
    /// A unit may have rows in both, so the bounds on its rows [add up](RowsPerUnit::and).
    ///
    /// ```
    /// use tamis_queries::{Fingerprint, Histogram};
    /// let ann = Fingerprint::raw(1);
    /// let part = Histogram::builder().add(ann, 2)?.build();
    /// assert_eq!(part.merge(&part)?.count(ann), 4);
    /// # Ok::<(), tamis_queries::HistogramError>(())
    /// ```
    ///
    /// # Errors
    /// If they are more than [`MAX_TOTAL`](Self::MAX_TOTAL) together.
    pub fn merge(&self, other: &Self) -> Result<Self, HistogramError> {
        let total = checked_total(self.total, other.total)?;
        let rows_per_unit = self.rows_per_unit.and(other.rows_per_unit);
        Ok(Self { entries: summed([self.entries(), other.entries()].concat()), total, rows_per_unit })
    }

    /// Takes `count` rows of `fingerprint` away. Cost: O(distinct) if none is left, else O(log distinct).
    ///
    /// ```
    /// use tamis_queries::{Fingerprint, Histogram, HistogramError};
    /// let ann = Fingerprint::raw(1);
    /// let mut rows = Histogram::builder().add(ann, 2)?.build();
    /// rows.remove(ann, 2)?;
    /// assert_eq!(rows.total(), 0);
    /// assert_eq!(rows.remove(ann, 1), Err(HistogramError::NotThere));
    /// # Ok::<(), HistogramError>(())
    /// ```
    ///
    /// # Errors
    /// If `count` is negative, or there are fewer; then nothing is changed. If the rows of a unit were bounded: of those that were
    /// not kept there is nothing to remove, so another's rows would go in their place.
    pub fn remove(&mut self, fingerprint: Fingerprint, count: i64) -> Result<(), HistogramError> {
        if self.rows_per_unit.known() > 0 {
            return Err(HistogramError::Bounded);
        }
        if count < 0 {
            return Err(HistogramError::Negative);
        }
        if count == 0 {
            return Ok(());
        }
        let at = self.position(fingerprint).map_err(|_| HistogramError::NotThere)?;
        let left = self.entries[at].1 - count; // two non-negative numbers: no overflow
        match left {
            ..0 => return Err(HistogramError::NotThere),
            0 => {
                self.entries.remove(at);
            }
            _ => self.entries[at].1 = left,
        }
        self.total -= count;
        Ok(())
    }
}

/// Rows on their way into a [`Histogram`].
#[derive(Clone, Default)]
pub struct HistogramBuilder {
    // `merged` is sorted and summed; `pending` is as it came.
    merged: Vec<(Fingerprint, i64)>,
    pending: Vec<(Fingerprint, i64)>,
    total: i64,
}

/// Without the counts: they are the data.
impl fmt::Debug for HistogramBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistogramBuilder").finish_non_exhaustive()
    }
}

impl HistogramBuilder {
    /// Rows held before the first sorting.
    const LEAST_PENDING: usize = 1 << 16;

    /// Counts `fingerprint` `count` times more. A count of 0 leaves no trace.
    ///
    /// # Errors
    /// If `count` is negative, or more than [`Histogram::MAX_TOTAL`] would be counted; then nothing is changed.
    pub fn add(&mut self, fingerprint: Fingerprint, count: i64) -> Result<&mut Self, HistogramError> {
        if count < 0 {
            return Err(HistogramError::Negative);
        }
        self.total = checked_total(self.total, count)?;
        if count > 0 {
            self.pending.push((fingerprint, count));
        }
        // As many rows wait as keys are known: memory stays within a factor of the distinct keys, and each sorting is
        // paid by as many rows as it moves.
        if self.pending.len() >= self.merged.len().max(Self::LEAST_PENDING) {
            self.settle();
        }
        Ok(self)
    }

    fn settle(&mut self) {
        self.merged.append(&mut self.pending);
        self.merged = summed(std::mem::take(&mut self.merged));
    }

    /// The histogram of all rows added. The builder is empty afterwards.
    pub fn build(&mut self) -> Histogram {
        self.settle();
        let Self { merged: mut entries, total, .. } = std::mem::take(self);
        entries.shrink_to_fit();
        Histogram { entries, total, rows_per_unit: RowsPerUnit::UNKNOWN }
    }
}

fn checked_total(total: i64, more: i64) -> Result<i64, HistogramError> {
    total.checked_add(more).filter(|sum| *sum <= Histogram::MAX_TOTAL).ok_or(HistogramError::Overflow)
}

/// Sorted by fingerprint, equal ones added up. Every total has been checked by then, so the sums cannot overflow.
fn summed(mut entries: Vec<(Fingerprint, i64)>) -> Vec<(Fingerprint, i64)> {
    // The standard library's stable sort finds runs that are sorted already, and merges two of them in linear time.
    entries.sort_by_key(|entry| entry.0);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    entries
}
