//! Sparse linear queries: sets of keys with weights, in whole units of 2⁻²⁰.
//!
//! # How to use it
//! [`SparseQuery::count`] asks how many rows have one of these keys; [`SparseQuery::weighted`] gives each key a weight
//! from 0 to 1. [`SparseQuery::evaluate`] is the exact answer, for curators and tests.
//!
//! # A set
//! A key counts once however often it was listed, and so do two keys with one fingerprint. Otherwise a record could be
//! counted twice, and a query would move by more than its sensitivity. A key listed with two different weights is
//! refused: nobody can say which was meant.
//!
//! # Rounded once
//! A weight w becomes floor(w·2²⁰ + ½) units, by exact arithmetic and without a look at the data, so answers are
//! integers. That moves a weight by at most 2⁻²¹, hence an answer by at most n·2⁻²¹ over n records; 0 and 1 are exact.
//! One record more or less moves the answer by at most [`SparseQuery::UNIT`] units, that is by 1.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | m     | [`SparseQuery::support`] | keys |
//! | q(u)  | the weights of [`SparseQuery::entries`] | 2⁻²⁰ |
//! | q(x)  | [`SparseQuery::evaluate`] | 2⁻²⁰ rows |
//! | ‖q‖₂² | [`SparseQuery::squared_norm`] | 1 |

use crate::{Fingerprint, Grid, Histogram, Rational};

/// Keys with weights from 0 to 1.
///
/// ```
/// use tamis_queries::{Fingerprint, Histogram, Rational, SparseQuery};
/// let [ann, bob, eve] = [1, 2, 3].map(Fingerprint::raw);
/// let rows = Histogram::builder().add(ann, 2)?.add(bob, 1)?.build();
///
/// let list = SparseQuery::count([eve, ann, ann]); // Ann twice: once
/// assert_eq!(list.support(), 2);
/// assert_eq!(list.evaluate(&rows), 2 << 20);
///
/// let third = Rational::from_parts(1.into(), 3u8.into());
/// let weighted = SparseQuery::weighted([(bob, third)])?;
/// assert_eq!(weighted.evaluate(&rows), 349_525); // 2^20/3 = 349 525.33
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseQuery {
    // Sorted by fingerprint, each once, weights from 1 to UNIT.
    entries: Vec<(Fingerprint, u32)>,
    is_rounded: bool,
}

/// Weights that make no query. Positions count from 0, in the order given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A weight outside 0 to 1.
    #[error("a weight must be from 0 to 1, got {weight} at position {position}")]
    Weight {
        /// Where.
        position: usize,
        /// What.
        weight: Rational,
    },
    /// One key with two weights.
    #[error("one key has the weight {} at position {} and {} at position {}", first.1, first.0, second.1, second.0)]
    Conflict {
        /// Position and weight.
        first: (usize, Rational),
        /// Position and weight.
        second: (usize, Rational),
    },
}

impl SparseQuery {
    /// The weight 1, in units.
    pub const UNIT: u32 = 1 << Self::UNIT_BITS;
    const UNIT_BITS: u32 = 20;

    /// How many rows have one of these keys. Duplicates are merged.
    pub fn count(fingerprints: impl IntoIterator<Item = Fingerprint>) -> Self {
        let mut fingerprints: Vec<_> = fingerprints.into_iter().collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let entries = fingerprints.into_iter().map(|fingerprint| (fingerprint, Self::UNIT)).collect();
        Self { entries, is_rounded: false }
    }

    /// The sum of the weights of all rows; a key that is not listed weighs nothing. The same key with the same weight
    /// is merged; weights that round to 0 are left out.
    ///
    /// Weights are exact: a [`Rational`] is made of two integers, or read from a text such as `1/3` or `0.25` by `parse_rational`
    /// of `tamis-noise`, which users of the crate `tamis` find as `tamis::noise::parse_rational`.
    ///
    /// # Errors
    /// If a weight is not from 0 to 1, or a key has two different ones (compared before they are rounded).
    pub fn weighted(pairs: impl IntoIterator<Item = (Fingerprint, Rational)>) -> Result<Self, QueryError> {
        let mut listed = Vec::new();
        for (position, (fingerprint, weight)) in pairs.into_iter().enumerate() {
            if !(Rational::ZERO..=Rational::ONE).contains(&weight) {
                return Err(QueryError::Weight { position, weight });
            }
            listed.push((fingerprint, position, weight));
        }
        listed.sort_unstable_by_key(|&(fingerprint, position, _)| (fingerprint, position));
        for pair in listed.windows(2) {
            let [(first, at, weight), (second, other_at, other)] = pair else { continue };
            if first == second && weight != other {
                let (first, second) = ((*at, weight.clone()), (*other_at, other.clone()));
                return Err(QueryError::Conflict { first, second });
            }
        }
        listed.dedup_by_key(|(fingerprint, ..)| *fingerprint);
        let unit = Rational::from(Self::UNIT);
        let is_rounded = listed.iter().any(|(.., weight)| !(weight * &unit).is_int());
        let entries = listed.into_iter().map(|(fingerprint, _, weight)| (fingerprint, rounded(&weight)));
        Ok(Self { entries: entries.filter(|&(_, units)| units > 0).collect(), is_rounded })
    }

    /// Whether a weight was rounded: then the answer is that of the weights as given but for n·2⁻²¹ over n records.
    pub fn is_rounded(&self) -> bool {
        self.is_rounded
    }

    /// Each key with its weight in units, 1 ..= [`UNIT`](Self::UNIT), sorted by fingerprint.
    pub fn entries(&self) -> &[(Fingerprint, u32)] {
        &self.entries
    }

    /// How many keys have a weight: m.
    pub fn support(&self) -> usize {
        self.entries.len()
    }

    /// ‖q‖₂², in true units: the number of keys for a count. The sum is exact and rounded once, to an `f64`.
    pub fn squared_norm(&self) -> f64 {
        let units: u128 = self.entries.iter().map(|&(_, units)| u128::from(units).pow(2)).sum();
        units as f64 / f64::from(Self::UNIT).powi(2)
    }

    /// The exact answer q(x), in units of 2⁻²⁰: from 0 to 2⁶⁰. Raw data: it is for mechanisms to add noise to.
    ///
    /// Cost: O(m·log(d/m)) for m keys and d distinct rows, with the two exchanged if m is larger.
    pub fn evaluate(&self, histogram: &Histogram) -> i64 {
        let mut sum = 0;
        // No overflow: the counts are at most 2^40 together and a weight is at most 2^20.
        if self.entries.len() <= histogram.distinct() {
            for_each_shared(&self.entries, histogram.entries(), |units, count| sum += i64::from(*units) * count);
        } else {
            for_each_shared(histogram.entries(), &self.entries, |count, units| sum += i64::from(*units) * count);
        }
        sum
    }
}

fn rounded(weight: &Rational) -> u32 {
    // Cannot fail: the grid has at most 30 bits, and a weight from 0 to 1 becomes at most 2^20 units.
    let units = Grid::new(SparseQuery::UNIT_BITS).and_then(|grid| grid.round(weight)).expect("a weight from 0 to 1");
    u32::try_from(units).expect("at most 2^20 units")
}

/// Calls `meet` with what `few` and `many`, both sorted, say of each fingerprint that is in both.
fn for_each_shared<A, B>(few: &[(Fingerprint, A)], many: &[(Fingerprint, B)], mut meet: impl FnMut(&A, &B)) {
    let mut rest = many;
    for (fingerprint, a) in few {
        rest = &rest[first_not_below(rest, *fingerprint)..];
        match rest.first() {
            Some((found, b)) if found == fingerprint => meet(a, b),
            Some(_) => {}
            None => return,
        }
    }
}

/// The position of the first entry at or above `fingerprint`: by steps that double, then by halving, so that a walk
/// over the whole costs little more than the shorter list.
fn first_not_below<B>(entries: &[(Fingerprint, B)], fingerprint: Fingerprint) -> usize {
    let mut reach = 1;
    while reach < entries.len() && entries[reach].0 < fingerprint {
        reach *= 2;
    }
    let from = reach / 2;
    from + entries[from..entries.len().min(reach)].partition_point(|entry| entry.0 < fingerprint)
}
