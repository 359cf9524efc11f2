//! Queries as hypotheses see them: lists of keys, and conjunctions that need not be listed.

use std::sync::OnceLock;
use tamis_queries::{Conjunction, Fingerprint, FingerprintKey, SparseQuery};

/// A sparse query: keys with weights from 0 to 1, or a conjunction of packed booleans.
///
/// ```
/// use tamis_interactive::Query;
/// use tamis_queries::{Conjunction, Fingerprint, FingerprintKey, SparseQuery};
/// let list = Query::keys(SparseQuery::count([1, 2, 3].map(Fingerprint::raw)));
/// assert_eq!(list.support(), 3.0);
///
/// let eight_of_48_free = Conjunction::new(48, (1 << 40) - 1, 0)?;
/// assert_eq!(Query::conjunction(eight_of_48_free, FingerprintKey::new([7; 16])).support(), 256.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    kind: Kind,
    total: f64,
    squared_norm: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Keys(SparseQuery),
    Conjunction {
        conjunction: Conjunction,
        key: FingerprintKey,
        points: OnceLock<Vec<(Fingerprint, u128)>>,
        list: OnceLock<SparseQuery>,
    },
}

/// One key of a query.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) fingerprint: Fingerprint,
    /// q(u), from 0 to 1.
    pub(crate) weight: f64,
    /// The packed booleans behind the fingerprint, where the query names them.
    pub(crate) point: Option<u128>,
}

impl Query {
    /// A list of keys. Cost: O(m).
    pub fn keys(query: SparseQuery) -> Self {
        let units: u64 = query.entries().iter().map(|&(_, units)| u64::from(units)).sum();
        Self {
            total: units as f64 / f64::from(SparseQuery::UNIT),
            squared_norm: query.squared_norm(),
            kind: Kind::Keys(query),
        }
    }

    /// A conjunction, whose points have their fingerprints under `key`: the one of the data. Its points are listed when
    /// they are first needed, and never if they are more than what they would be looked up in.
    pub fn conjunction(conjunction: Conjunction, key: FingerprintKey) -> Self {
        Self {
            total: conjunction.support(),
            squared_norm: conjunction.support(),
            kind: Kind::Conjunction { conjunction, key, points: OnceLock::new(), list: OnceLock::new() },
        }
    }

    /// On how many keys it is not zero: m, exactly while below 2⁵³, and a power of two for a conjunction.
    pub fn support(&self) -> f64 {
        match &self.kind {
            Kind::Keys(query) => query.support() as f64,
            Kind::Conjunction { conjunction, .. } => conjunction.support(),
        }
    }

    /// ‖q‖₂².
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    /// How many packed booleans a conjunction is about; none for a list.
    pub fn width(&self) -> Option<u32> {
        self.as_conjunction().map(Conjunction::width)
    }

    pub(crate) fn as_conjunction(&self) -> Option<&Conjunction> {
        match &self.kind {
            Kind::Keys(_) => None,
            Kind::Conjunction { conjunction, .. } => Some(conjunction),
        }
    }

    /// The list, if it is one.
    pub(crate) fn as_keys(&self) -> Option<&SparseQuery> {
        match &self.kind {
            Kind::Keys(query) => Some(query),
            Kind::Conjunction { .. } => None,
        }
    }

    /// Σ_u q(u).
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// Visits each key, in the order of their fingerprints. A conjunction is listed for it: whoever calls has made sure
    /// that its support is one that can be.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Key)) {
        match &self.kind {
            Kind::Keys(query) => {
                for &(fingerprint, units) in query.entries() {
                    visit(Key { fingerprint, weight: share(units), point: None });
                }
            }
            Kind::Conjunction { conjunction, key, points, .. } => {
                for &(fingerprint, point) in points.get_or_init(|| listed(conjunction, key)) {
                    visit(Key { fingerprint, weight: 1.0, point: Some(point) });
                }
            }
        }
    }

    /// The query as a list of keys, whatever it is. Of a conjunction the same holds as for
    /// [`for_each`](Self::for_each).
    pub(crate) fn list(&self) -> &SparseQuery {
        match &self.kind {
            Kind::Keys(query) => query,
            Kind::Conjunction { conjunction, key, points, list, .. } => list.get_or_init(|| {
                SparseQuery::count(points.get_or_init(|| listed(conjunction, key)).iter().map(|entry| entry.0))
            }),
        }
    }

    /// q of one key. The point is asked for by a conjunction, and by it alone.
    pub(crate) fn weight(&self, fingerprint: Fingerprint, point: impl FnOnce() -> Option<u128>) -> f64 {
        match &self.kind {
            Kind::Keys(query) => query
                .entries()
                .binary_search_by_key(&fingerprint, |entry| entry.0)
                .map_or(0.0, |at| share(query.entries()[at].1)),
            Kind::Conjunction { conjunction, .. } => match point() {
                Some(point) if conjunction.holds(point) => 1.0,
                _ => 0.0,
            },
        }
    }
}

/// Units of 2⁻²⁰ as a number, exactly.
fn share(units: u32) -> f64 {
    f64::from(units) / f64::from(SparseQuery::UNIT)
}

/// The points of a conjunction, two with one fingerprint being one key.
fn listed(conjunction: &Conjunction, key: &FingerprintKey) -> Vec<(Fingerprint, u128)> {
    let elements = conjunction.elements().zip(conjunction.points());
    let mut points: Vec<_> = elements.map(|(element, point)| (key.fingerprint(&element), point)).collect();
    points.sort_unstable();
    points.dedup_by_key(|entry| entry.0);
    points
}
