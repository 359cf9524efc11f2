//! The private data of a session.

use crate::Query;
use std::fmt;
use tamis_queries::{BitsError, Element, FingerprintKey, Histogram, HistogramError, RowsPerUnit};

/// What queries are about: counted keys, or counted records of packed booleans.
///
/// A record more or less, one of a key that a query names, moves its answer by at most 1: a list is a set of
/// fingerprints, a conjunction a set of points. (Not quite so conjunctions on [`named_points`](Self::named_points).)
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
    /// A row that conjunctions could not see.
    #[error("the points named are not those of all rows")]
    Unnamed,
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
        counts.dedup_by(|entry, kept| {
            let is_same = entry.0 == kept.0;
            // No overflow: the histogram has added up all of them.
            kept.1 += if is_same { entry.1 } else { 0 };
            is_same
        });
        counts.retain(|entry| entry.1 > 0);
        Ok(Self { histogram: histogram.build(), points: Some(Points { width, counts }) })
    }

    /// The same of a histogram whose rows are counted already, and perhaps [bounded](tamis_queries::ContributionBound):
    /// `points` names them, in any order and any number of times.
    ///
    /// Which rows were which of two points with one fingerprint is not known any more; all are then taken for the lesser
    /// point's. A record that comes or goes can so move a conjunction by more than 1, if its point shares its fingerprint
    /// with one of d others: under a key that nobody knows this has a probability of at most d/2⁶⁴, which is a δ that
    /// comes on top of what a session states; R times as much for a unit that names R points, those of rows that a bound
    /// dropped included. [`points`](Self::points) has none.
    ///
    /// # Errors
    /// If the width is not from 1 to 128, a point has a bit beyond it, or a row has a key that no point has.
    pub fn named_points(
        histogram: Histogram,
        width: u32,
        key: &FingerprintKey,
        points: impl IntoIterator<Item = u128>,
    ) -> Result<Self, DataError> {
        Element::bits(0, width)?;
        let mut named = Vec::new();
        for point in points {
            named.push((key.fingerprint(&Element::bits(point, width)?), point));
        }
        // Of two points with one fingerprint one has the rows of both: else a row would count twice.
        named.sort_unstable();
        named.dedup_by_key(|entry| entry.0);
        let counts = named.into_iter().map(|(fingerprint, point)| (point, histogram.count(fingerprint)));
        let mut counts: Vec<_> = counts.filter(|entry| entry.1 > 0).collect();
        if counts.len() != histogram.distinct() {
            return Err(DataError::Unnamed);
        }
        counts.sort_unstable();
        Ok(Self { histogram, points: Some(Points { width, counts }) })
    }

    /// How many packed booleans a record has, if it has.
    pub fn width(&self) -> Option<u32> {
        self.points.as_ref().map(|points| points.width)
    }

    /// How many records: n. Private under add-remove neighbours.
    pub fn total(&self) -> i64 {
        self.histogram.total()
    }

    /// What is known of L: see [`Histogram::rows_per_unit`].
    pub fn rows_per_unit(&self) -> RowsPerUnit {
        self.histogram.rows_per_unit()
    }

    /// Counted keys: of packed booleans, by their fingerprints. Raw data.
    pub fn histogram(&self) -> &Histogram {
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
                // No overflow: all counts together are at most 2⁴⁰.
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
    use tamis_queries::{Conjunction, ContributionBound};

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
            let named = Data::named_points(data.histogram().clone(), 6, &key, records.clone().map(|record| record.0));
            assert_eq!(named.unwrap().points.unwrap().counts, data.points.as_ref().unwrap().counts);
        }
    }

    /// What was bounded stays so, and every row has a point.
    #[test]
    fn counted_rows_are_named() {
        let key = FingerprintKey::new([5; 16]);
        let of = |point| Element::bits(point, 4).unwrap();
        let mut bound = ContributionBound::new(2, key).unwrap();
        for (unit, point) in [(1, 3), (1, 3), (1, 5), (2, 5)] {
            bound.add(&Element::number(unit), key.fingerprint(&of(point)));
        }
        let table = bound.histogram().unwrap();
        let data = Data::named_points(table.clone(), 4, &key, [5, 3, 5, 7]).unwrap();
        assert_eq!((data.total(), data.rows_per_unit().bound()), (3, Some(2)));
        let five = Conjunction::new(4, 5, 10).unwrap();
        assert_eq!(data.evaluate(&Query::conjunction(five, key)), table.count(key.fingerprint(&of(5))) * UNIT);
        assert!(matches!(Data::named_points(table, 4, &key, [3]), Err(DataError::Unnamed)));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let key = FingerprintKey::new([5; 16]);
        for (width, record) in [(0, (0, 1)), (129, (0, 1)), (3, (8, 1)), (3, (1, -1)), (3, (1, i64::MAX))] {
            assert!(Data::points(width, &key, [record]).is_err(), "{width} {record:?}");
        }
    }
}
