//! Queries as vectors over a universe that is listed: what mechanisms for small universes work on.

use crate::BaselineError;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// A listed universe and queries over it, each a vector of weights from 0 to 1. Neither may depend on the data.
///
/// Weights are whole multiples of 2⁻²⁰, as those of a [`SparseQuery`] are; bounds are for them. Of n records an answer moves by at most
/// n·2⁻²¹ if a weight was rounded to one.
///
/// ```
/// use ndarray::array;
/// use tamis_baselines::DenseWorkload;
/// use tamis_queries::{Fingerprint, SparseQuery};
/// let keys = [10, 20, 30].map(Fingerprint::raw);
/// let lists = DenseWorkload::new(keys, &[SparseQuery::count(keys[1..].iter().copied())])?;
/// assert_eq!(lists.weights(), array![[0.0, 1.0, 1.0]]);
///
/// // The same with weights in units of 2⁻²⁰, the keys being 0, 1 and 2.
/// let vectors = DenseWorkload::vectors(array![[0, 1 << 20, 1 << 20]].view())?;
/// assert_eq!((vectors.weights(), vectors.universe()[2]), (lists.weights(), Fingerprint::raw(2)));
/// # Ok::<(), tamis_baselines::BaselineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DenseWorkload {
    /// Sorted, each once.
    universe: Vec<Fingerprint>,
    /// q(u), whole multiples of 2⁻²⁰: a row for each query, a column for each element.
    weights: Array2<f64>,
}

impl DenseWorkload {
    /// Most weights that are held, elements times queries: 2²⁴, which are 128 MiB.
    pub const MAX_WEIGHTS: u64 = 1 << 24;

    /// Lists of keys, or of keys with weights. Of equal keys of the universe one is taken.
    ///
    /// # Errors
    /// If there are no elements or no queries, more than [`MAX_WEIGHTS`](Self::MAX_WEIGHTS) of both together, or a query has a
    /// key that is not in the universe.
    pub fn new(
        universe: impl IntoIterator<Item = Fingerprint>,
        queries: &[SparseQuery],
    ) -> Result<Self, BaselineError> {
        let mut universe: Vec<_> = universe.into_iter().collect();
        universe.sort_unstable();
        universe.dedup();
        Self::check_sizes(universe.len() as u64, queries.len() as u64)?;
        let mut weights = Array2::zeros((queries.len(), universe.len()));
        for (mut row, query) in weights.rows_mut().into_iter().zip(queries) {
            let positions = query.entries().iter().map(|(key, units)| (universe.binary_search(key), *units));
            let unlisted = positions.clone().filter(|(position, _)| position.is_err()).count();
            if unlisted > 0 {
                return Err(BaselineError::Unlisted(unlisted));
            }
            for (position, units) in positions.filter_map(|(position, units)| Some((position.ok()?, units))) {
                row[position] = share(units);
            }
        }
        Ok(Self { universe, weights })
    }

    /// Vectors of weights in units of 2⁻²⁰: a row for each query, a column for each element. The element at position i is the key
    /// [`Fingerprint::raw`]`(i)`.
    ///
    /// # Errors
    /// If there are no elements or no queries, more than [`MAX_WEIGHTS`](Self::MAX_WEIGHTS) of both together, or a weight is above
    /// 2²⁰ units.
    pub fn vectors(units: ArrayView2<u32>) -> Result<Self, BaselineError> {
        Self::check_sizes(units.ncols() as u64, units.nrows() as u64)?;
        for ((query, element), &given) in units.indexed_iter() {
            if given > SparseQuery::UNIT {
                return Err(BaselineError::Weight { query, element, given });
            }
        }
        let universe = (0..units.ncols() as u64).map(Fingerprint::raw).collect();
        Ok(Self { universe, weights: units.mapv(share) })
    }

    /// Whether a workload may have so many elements and queries: what can be known before there is one.
    ///
    /// # Errors
    /// If there are none, or more than [`MAX_WEIGHTS`](Self::MAX_WEIGHTS) of both together.
    pub fn check_sizes(elements: u64, queries: u64) -> Result<(), BaselineError> {
        check_size("elements of a listed universe", elements, Self::MAX_WEIGHTS)?;
        check_size("queries over a listed universe", queries, Self::MAX_WEIGHTS)?;
        let weights = elements.saturating_mul(queries);
        check_size("weights of all queries over a listed universe", weights, Self::MAX_WEIGHTS)
    }

    /// The elements, sorted, each once.
    pub fn universe(&self) -> &[Fingerprint] {
        &self.universe
    }

    /// q(u): a row for each query, a column for each element, in the order of [`universe`](Self::universe). Whole multiples of 2⁻²⁰.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// Σ_u q(u)·v(u) for each query, for any vector over the elements, as a product of floats.
    ///
    /// # Panics
    /// If the vector has not one entry for each element.
    pub fn product(&self, vector: ArrayView1<f64>) -> Array1<f64> {
        self.weights.dot(&vector)
    }

    /// The exact answers, in units of 2⁻²⁰ records; rows with other keys are in none. Raw data.
    pub(crate) fn evaluate(&self, data: &Histogram) -> Vec<i64> {
        let counts: Vec<i64> = self.universe.iter().map(|&key| data.count(key)).collect();
        // No overflow: all counts together are at most 2⁴⁰. A weight in units is a whole number below 2²¹.
        let answer =
            |query: ArrayView1<f64>| query.iter().zip(&counts).map(|(&weight, count)| units(weight) * count).sum();
        self.weights.rows().into_iter().map(answer).collect()
    }
}

/// From 1 to `most`.
pub(crate) fn check_size(name: &'static str, given: u64, most: u64) -> Result<(), BaselineError> {
    if (1..=most).contains(&given) { Ok(()) } else { Err(BaselineError::Size { name, given, most }) }
}

/// Units of 2⁻²⁰ as a number, exactly.
fn share(units: u32) -> f64 {
    f64::from(units) / f64::from(SparseQuery::UNIT)
}

/// A weight in units of 2⁻²⁰, exactly.
pub(crate) fn units(weight: f64) -> i64 {
    (weight * f64::from(SparseQuery::UNIT)) as i64
}
