//! The sum of the columns of all records, before noise: integers, and linear in the data.

use crate::{ProjectionError, SignFamily};
use std::fmt;
use tamis_queries::{Fingerprint, Histogram, RowsPerUnit};

/// S_j = Σ_u x(u)·s_j(u) for T rows j: the projection of a histogram x by a [`SignFamily`], exactly.
///
/// **It is raw data**: whoever has it has the counts. Only a [`Plan`](crate::Plan) makes something of it that may be
/// published. Since it is a sum over records, sketches of parts merge into the sketch of the whole, one record can be added or
/// removed, and a table can be read in pieces; order and threads never matter.
///
/// ```
/// use tamis_projection::{Seed, SignFamily, Sketch};
/// use tamis_queries::{Fingerprint, Histogram};
/// let family = SignFamily::sparse(1 << 10, 1, 4, Seed([1; 32]))?;
/// let (ann, bob) = (Fingerprint::raw(1), Fingerprint::raw(2));
/// let table = Histogram::builder().add(ann, 2)?.add(bob, 1)?.build();
///
/// let whole = Sketch::of(&family, &table)?;
/// let mut pieces = Sketch::empty(&family);
/// for record in [bob, ann, ann] {
///     pieces.add(record, 1)?;
/// }
/// assert_eq!(pieces.counters(), whole.counters());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sketch {
    family: SignFamily,
    counters: Vec<i64>,
    /// Σ |count| of all that was added or removed: no counter can be larger in magnitude.
    reach: u64,
    /// As of a [`Histogram`]: parts add up, and a record added alone has no bound.
    rows_per_unit: RowsPerUnit,
}

/// Without the counters: they are the data.
impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sketch").field("family", &self.family).finish_non_exhaustive()
    }
}

impl Sketch {
    /// Most records that may be added and removed, together.
    pub const MAX_RECORDS: u64 = 1 << 50;

    /// Of no records.
    pub fn empty(family: &SignFamily) -> Self {
        Self { family: family.clone(), counters: vec![0; family.width()], reach: 0, rows_per_unit: RowsPerUnit::NONE }
    }

    /// Of a whole histogram, on all threads.
    ///
    /// Cost: the column of each key. Memory: 8T bytes; besides, with dense signs, up to as much again while it is computed,
    /// and with sparse ones a few megabytes.
    ///
    /// # Errors
    /// If there are more than [`MAX_RECORDS`](Self::MAX_RECORDS).
    pub fn of(family: &SignFamily, histogram: &Histogram) -> Result<Self, ProjectionError> {
        let reach = within_reach(0, histogram.total().unsigned_abs())?;
        Ok(Self {
            family: family.clone(),
            counters: family.sum(histogram.entries()),
            reach,
            rows_per_unit: histogram.rows_per_unit(),
        })
    }

    /// Adds `count` records of one key; removes them if it is negative.
    ///
    /// # Errors
    /// If more than [`MAX_RECORDS`](Self::MAX_RECORDS) would have been added and removed; then nothing is changed.
    pub fn add(&mut self, key: Fingerprint, count: i64) -> Result<(), ProjectionError> {
        self.reach = within_reach(self.reach, count.unsigned_abs())?;
        self.rows_per_unit = self.rows_per_unit.and(RowsPerUnit::UNKNOWN);
        for (row, sign) in self.family.column(key) {
            self.counters[row] += sign * count;
        }
        Ok(())
    }

    /// Adds many records, as [`add`](Self::add) does one after the other, but on all threads and much faster: for readers of
    /// batches of some 10⁵ keys. A key may come more than once, and counts may be negative.
    ///
    /// Cost: the column of each key, and for dense signs a pass over the T rows. Memory while it works: with dense signs up to
    /// 8T bytes, twice that if a count is negative; with sparse ones a few megabytes.
    ///
    /// # Errors
    /// If more than [`MAX_RECORDS`](Self::MAX_RECORDS) would have been added and removed; then nothing is changed.
    ///
    /// ```
    /// use tamis_projection::{Seed, SignFamily, Sketch};
    /// use tamis_queries::Fingerprint;
    /// let family = SignFamily::sparse(1 << 10, 1, 4, Seed([1; 32]))?;
    /// let (ann, bob) = (Fingerprint::raw(1), Fingerprint::raw(2));
    /// let mut sketch = Sketch::empty(&family);
    /// sketch.add_all(&[(ann, 2), (bob, 1), (ann, -2)])?;
    /// let mut of_bob = Sketch::empty(&family);
    /// of_bob.add(bob, 1)?;
    /// assert_eq!(sketch.counters(), of_bob.counters());
    /// # Ok::<(), tamis_projection::ProjectionError>(())
    /// ```
    pub fn add_all(&mut self, records: &[(Fingerprint, i64)]) -> Result<(), ProjectionError> {
        if records.is_empty() {
            return Ok(());
        }
        let more = records.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(count.unsigned_abs()));
        self.reach = within_reach(self.reach, more.ok_or(ProjectionError::TooManyRecords)?)?;
        self.rows_per_unit = self.rows_per_unit.and(RowsPerUnit::UNKNOWN);
        self.family.add_to(&mut self.counters, records);
        Ok(())
    }

    /// Adds the records of another sketch of the same family.
    ///
    /// # Errors
    /// If the family is another, or there would be more than [`MAX_RECORDS`](Self::MAX_RECORDS); then nothing is changed.
    pub fn merge(&mut self, other: Self) -> Result<(), ProjectionError> {
        self.combine(other, add)
    }

    /// Removes the records of another sketch of the same family.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn subtract(&mut self, other: Self) -> Result<(), ProjectionError> {
        self.combine(other, subtract)
    }

    fn combine(&mut self, other: Self, how: fn(&mut [i64], &[i64])) -> Result<(), ProjectionError> {
        if self.family != other.family {
            return Err(ProjectionError::OtherFamily);
        }
        self.reach = within_reach(self.reach, other.reach)?;
        self.rows_per_unit = self.rows_per_unit.and(other.rows_per_unit);
        how(&mut self.counters, &other.counters);
        Ok(())
    }

    /// The family.
    pub fn family(&self) -> &SignFamily {
        &self.family
    }

    /// What is known of how many rows a unit of privacy has at most: see [`Histogram::rows_per_unit`].
    pub fn rows_per_unit(&self) -> RowsPerUnit {
        self.rows_per_unit
    }

    /// S, one integer a row. As private as the data.
    pub fn counters(&self) -> &[i64] {
        &self.counters
    }

    pub(crate) fn into_parts(self) -> (SignFamily, Vec<i64>) {
        (self.family, self.counters)
    }
}

fn add(counters: &mut [i64], more: &[i64]) {
    counters.iter_mut().zip(more).for_each(|(counter, value)| *counter += value);
}

fn subtract(counters: &mut [i64], less: &[i64]) {
    counters.iter_mut().zip(less).for_each(|(counter, value)| *counter -= value);
}

fn within_reach(reach: u64, more: u64) -> Result<u64, ProjectionError> {
    reach.checked_add(more).filter(|&sum| sum <= Sketch::MAX_RECORDS).ok_or(ProjectionError::TooManyRecords)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn what_cannot_be_counted_is_refused_and_changes_nothing() {
        let family = SignFamily::dense(64, 2, Seed([0; 32])).unwrap();
        let mut sketch = Sketch::empty(&family);
        sketch.add(Fingerprint::raw(1), 1 << 50).unwrap();
        let before = sketch.counters().to_vec();
        let key = Fingerprint::raw(2);
        for count in [1, -1, i64::MAX, i64::MIN] {
            assert_eq!(sketch.add(key, count), Err(ProjectionError::TooManyRecords));
            assert_eq!(sketch.add_all(&[(key, 0), (key, count)]), Err(ProjectionError::TooManyRecords));
            assert_eq!(sketch.add_all(&[(key, count); 3]), Err(ProjectionError::TooManyRecords));
        }
        let mut one = Sketch::empty(&family);
        one.add(Fingerprint::raw(3), 1).unwrap();
        assert_eq!(sketch.merge(one), Err(ProjectionError::TooManyRecords));
        assert_eq!(sketch.counters(), before);
        let other = SignFamily::dense(64, 2, Seed([1; 32])).unwrap();
        assert_eq!(sketch.subtract(Sketch::empty(&other)), Err(ProjectionError::OtherFamily));
    }

    #[test]
    fn batches_are_their_records_one_after_the_other() {
        let families = [
            SignFamily::dense(64 * 9, 5, Seed([1; 32])).unwrap(),
            SignFamily::sparse(1 << 12, 4, 4, Seed([1; 32])).unwrap(),
        ];
        let records: Vec<_> = (0..700i64).map(|i| (Fingerprint::raw(i as u64 % 500), (i * i) % 41 - 12)).collect();
        let none_removed: Vec<_> = records.iter().map(|&(key, count)| (key, count.abs())).collect();
        let units: Vec<_> = records.iter().map(|&(key, _)| (key, 1)).collect();
        for family in &families {
            for records in [&records[..], &none_removed, &units, &records[..1], &[]] {
                let start = || {
                    let mut start = Sketch::empty(family);
                    start.merge(Sketch::of(family, &Histogram::builder().build()).unwrap()).unwrap();
                    start
                };
                let (mut singly, mut batch) = (start(), start());
                for &(key, count) in records {
                    singly.add(key, count).unwrap();
                }
                batch.add_all(records).unwrap();
                assert_eq!(batch.counters, singly.counters);
                assert_eq!((batch.reach, batch.rows_per_unit), (singly.reach, singly.rows_per_unit));
                batch.add_all(records).unwrap();
                batch.subtract(singly).unwrap();
                let mut once = start();
                once.add_all(records).unwrap();
                assert_eq!(batch.counters, once.counters);
            }
        }
    }

    #[test]
    fn debug_output_does_not_tell_the_data() {
        let family = SignFamily::dense(64, 2, Seed([0; 32])).unwrap();
        let mut sketch = Sketch::empty(&family);
        sketch.add(Fingerprint::raw(1), 987_654_321).unwrap();
        assert!(!format!("{sketch:?}").contains("987654321"));
    }
}
