//! The private data of a session.

use crate::Query;
use std::fmt;
use tamis_queries::{BitsError, Element, FingerprintKey, Histogram, HistogramError};

/// What queries are about: counted keys, or counted records of packed booleans.
///
/// A record more or less, one of a key that a query names, moves its answer by at most 1, whichever way it is looked
/// up: a list is a set of fingerprints, a conjunction a set of points.
///
/// ```
/// use tamis_interactive::Data;
/// use tamis_queries::{Fingerprint, FingerprintKey, Histogram};
/// let table = Histogram::builder().add(Fingerprint::raw(1), 3)?.build();
/// assert_eq!(Data::keys(table).total(), 3);
///
/// let records = Data::points(48, &FingerprintKey::new([7; 16]), [(0b101, 1), (0b111, 2)])?;
/// assert_eq!((records.total(), records.width()), (3, Some(48)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Data {
    histogram: Histogram,
    points: Option<Points>,
}

#[derive(Clone)]
struct Points {
    width: u32,
    /// Sorted by point, each once.
    counts: Vec<(u128, i64)>,
}

/// Without the counts: they are the data.
impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data").field("width", &self.width()).finish_non_exhaustive()
    }
}

/// Records that cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Counts.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// Packed booleans.
    #[error(transparent)]
    Bits(#[from] BitsError),
}

impl Data {
    /// Keys with their counts. Conjunctions cannot be asked of it: a fingerprint hides the booleans behind it.
    pub fn keys(histogram: Histogram) -> Self {
        Self { histogram, points: None }
    }

    /// Records of `width` packed booleans, each with how often it occurs, in any order. `key` is what the queries'
    /// fingerprints are made with; keep it from whoever asks.
    ///
    /// # Errors
    /// If the width is not from 1 to 128, a record has a bit beyond it, or the counts are none that a [`Histogram`]
    /// holds.
    pub fn points(
        width: u32,
        key: &FingerprintKey,
        records: impl IntoIterator<Item = (u128, i64)>,
    ) -> Result<Self, DataError> {
        Element::bits(0, width)?;
        let mut histogram = Histogram::builder();
        let mut counts = Vec::new();
        for (point, count) in records {
            histogram.add(key.fingerprint(&Element::bits(point, width)?), count)?;
            counts.push((point, count));
        }
        counts.sort_unstable_by_key(|entry| entry.0);
        counts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                // No overflow: the histogram has checked the sum of all.
                kept.1 += next.1;
            }
            same
        });
        Ok(Self { histogram: histogram.build(), points: Some(Points { width, counts }) })
    }

    /// How many packed booleans a record has, if it has.
    pub fn width(&self) -> Option<u32> {
        self.points.as_ref().map(|points| points.width)
    }

    /// How many records: n. Private under add-remove neighbours.
    pub fn total(&self) -> i64 {
        self.histogram.total()
    }

    /// L, if it was bounded: see [`Histogram::rows_per_unit`].
    pub fn rows_per_unit(&self) -> Option<u32> {
        self.histogram.rows_per_unit()
    }

    /// Counted keys: of packed booleans, by their fingerprints.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The exact answer, in units of 2⁻²⁰ records: from 0 to 2⁶⁰. Raw data. Cost: O(min(m, distinct records)), a list
    /// counting log of the larger.
    ///
    /// A conjunction on records of another width holds on none.
    pub(crate) fn evaluate(&self, query: &Query) -> i64 {
        if let Some(list) = query.as_keys() {
            return list.evaluate(&self.histogram);
        }
        match (query.as_conjunction(), &self.points) {
            (Some(conjunction), Some(points)) if conjunction.width() == points.width => {
                let count = if conjunction.support() < points.counts.len() as f64 {
                    let of = |point| points.counts.binary_search_by_key(&point, |entry| entry.0);
                    conjunction.points().filter_map(|point| of(point).ok()).map(|at| points.counts[at].1).sum()
                } else {
                    points.counts.iter().filter(|entry| conjunction.holds(entry.0)).map(|entry| entry.1).sum::<i64>()
                };
                count * UNIT
            }
            _ => 0,
        }
    }
}

/// One record in units.
pub(crate) const UNIT: i64 = tamis_queries::SparseQuery::UNIT as i64;

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_queries::Conjunction;

    /// Listed, scanned, or as fingerprints: one answer.
    #[test]
    fn every_way_to_look_up_gives_the_same_answer() {
        let key = FingerprintKey::new([5; 16]);
        let records = (0..300u128).map(|i| (i * i % 64, i64::from(i % 7 == 0) + 1));
        let total: i64 = records.clone().map(|record| record.1).sum();
        let data = Data::points(6, &key, records.clone()).unwrap();
        assert_eq!(data.total(), total);
        for fixed in 0..1u128 << 12 {
            let (ones, zeros) = (fixed & 63, fixed >> 6);
            let Ok(conjunction) = Conjunction::new(6, ones, zeros) else { continue };
            let truth: i64 = records.clone().filter(|record| conjunction.holds(record.0)).map(|record| record.1).sum();
            assert_eq!(data.evaluate(&Query::conjunction(conjunction, key)), truth * UNIT);
            assert_eq!(data.evaluate(&Query::keys(conjunction.query(&key).unwrap())), truth * UNIT);
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let key = FingerprintKey::new([5; 16]);
        for (width, record) in [(0, (0, 1)), (129, (0, 1)), (3, (8, 1)), (3, (1, -1)), (3, (1, i64::MAX))] {
            assert!(Data::points(width, &key, [record]).is_err(), "{width} {record:?}");
        }
    }
}
