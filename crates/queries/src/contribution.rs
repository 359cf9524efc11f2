//! At most L rows of each privacy unit, whatever the order of the rows.
//!
//! # How to use it
//! A *unit* is whoever is to be protected: a person, a household, a device. A [`ContributionBound`] takes rows, each
//! with its unit, keeps at most L of a unit and gives the [`Histogram`] of what it kept. Where a row is a unit, none is
//! needed.
//!
//! # Which rows
//! Of a unit with more than L rows, those with the smallest keyed hash of (unit, row) are kept. So the choice depends
//! on the multiset of the unit's own rows and on a public key alone: not on the order of the file, and not on anybody
//! else. The unit is part of what is hashed, so no key wins in all units. Equal rows of a unit have equal hashes: they
//! are kept together as far as there is room.
//!
//! # Privacy
//! Adding or removing a whole unit changes the histogram by at most L rows, all of them added or all removed; replacing
//! it by another takes out at most L and puts in at most L. *Proof*: the rows kept of one unit are a function of its
//! own rows, at most L of them, and the histogram is the sum over units. This needs units to be told apart *exactly*:
//! were two of them taken for one, adding the first could push rows of the second out. That is why units are held as
//! whole elements here, and never as fingerprints.
//!
//! # Limitations
//! Every unit is in memory: about 200 bytes each, and 16 to 32 for each row kept. Dropped rows bias counts downward,
//! and nothing in a release can correct it.

use crate::{Element, Fingerprint, FingerprintKey, Histogram, HistogramError};
use std::collections::{BinaryHeap, HashMap};
use std::fmt;

/// Keeps at most L rows of each unit.
///
/// ```
/// use tamis_queries::{ContributionBound, Element, Fingerprint, FingerprintKey};
/// let [ann, bob] = [1, 2].map(Element::number);
/// let mut bound = ContributionBound::new(2, FingerprintKey::new([7; 16]))?;
/// for place in 0..5 {
///     bound.add(&ann, Fingerprint::raw(place));
/// }
/// bound.add(&bob, Fingerprint::raw(0));
/// assert_eq!(bound.dropped(), 3);
/// assert_eq!(bound.histogram()?.total(), 3); // two rows of Ann, one of Bob
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// All rows of a table go through one bound. Of two tables that were bounded apart and then merged a unit may have rows in
/// both: [`Histogram::rows_per_unit`] keeps count of that.
#[derive(Clone)]
pub struct ContributionBound {
    rows_per_unit: u32,
    key: FingerprintKey,
    // The standard library keys this table at random, so chosen units cannot slow it down; its order is never seen. The
    // top of each heap is the row that goes first.
    units: HashMap<Element, BinaryHeap<(Fingerprint, Fingerprint)>>,
    dropped: u64,
}

/// Without the units and their rows: they are the data.
impl fmt::Debug for ContributionBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContributionBound").field("rows_per_unit", &self.rows_per_unit).finish_non_exhaustive()
    }
}

/// A bound of no rows at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at least 1 row of a unit must be kept, got a bound of 0")]
pub struct NoRows;

impl ContributionBound {
    /// At most `rows_per_unit` rows of a unit, chosen under `key`. The key may be that of the fingerprints.
    ///
    /// # Errors
    /// If `rows_per_unit` is 0.
    pub fn new(rows_per_unit: u32, key: FingerprintKey) -> Result<Self, NoRows> {
        if rows_per_unit == 0 {
            return Err(NoRows);
        }
        Ok(Self { rows_per_unit, key, units: HashMap::new(), dropped: 0 })
    }

    /// L.
    pub fn rows_per_unit(&self) -> u32 {
        self.rows_per_unit
    }

    /// One row of `unit`. Cost: a hash, and O(log L).
    pub fn add(&mut self, unit: &Element, row: Fingerprint) {
        let rank = self.key.fingerprint(&Element::tuple(&[unit.clone(), Element::number(row.get())]));
        let row = (rank, row);
        let Some(kept) = self.units.get_mut(unit) else {
            self.units.insert(unit.clone(), BinaryHeap::from([row]));
            return;
        };
        if kept.len() < self.rows_per_unit as usize {
            kept.push(row);
            return;
        }
        self.dropped += 1;
        // Cannot fail: a unit in the table has at least one row.
        let mut last = kept.peek_mut().expect("a row of the unit");
        if row < *last {
            *last = row;
        }
    }

    /// How many rows were not kept. As private as the data: for the curator alone.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The histogram of the rows kept.
    ///
    /// # Errors
    /// If they are more than [`Histogram::MAX_TOTAL`].
    pub fn histogram(self) -> Result<Histogram, HistogramError> {
        let (mut histogram, rows_per_unit) = (Histogram::builder(), self.rows_per_unit);
        for (_, row) in self.units.into_values().flatten() {
            histogram.add(row, 1)?;
        }
        Ok(histogram.build().bounded(rows_per_unit))
    }
}
