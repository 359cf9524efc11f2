//! The whole histogram of a listed universe, with noise on each count: what there is to beat while the universe is
//! small.
//!
//! # The release
//! The universe is a list of keys, stated without a look at the data. Each of its keys is released with its count and
//! integer noise of its own, also those that do not occur. **Rows with other keys are dropped**: they are in no count,
//! and how many they were is not said. A query about a key that is not listed is refused, since it would be answered as
//! if nobody had it.
//!
//! # Privacy
//! A release is private with the plan's [cost](PerturbedHistogramPlan::cost), for its neighbours and units of at most L
//! rows.
//!
//! *Proof.* Dropping rows is done for each alone, so a unit moves the listed counts by no more than it moves all
//! counts: by at most L in L1 norm if it is added or removed, and by at most 2L if it is replaced. In L2 norm that is
//! at most L and, since a vector a ≥ 0 goes and a b ≥ 0 comes, ‖a − b‖² ≤ ‖a‖² + ‖b‖² ≤ 2L².
//!
//! - [`laplace`](PerturbedHistogramPlan::laplace): noise of scale L1/ε ([`DiscreteLaplace`]); δ is not spent.
//! - [`gaussian`](PerturbedHistogramPlan::gaussian): noise of the σ² that [`concentrated`] gives for L2², or, for L =
//!   1, where one count (substitution: two, or one, or none) moves by exactly 1, of the lesser one of [`add_remove`].
//!   (What is private if two counts move is private if one of them is not released.)
//!
//! # Accuracy
//! An answer is unbiased, and its standard error is that of the noise of a key times ‖q‖₂, exactly. Bounds for k
//! queries of at most m keys with weights of at most 1, except with probability β: [`Noise::reach_of_sum`] of β/k,
//! which is
//!
//! - Gaussian: σ√m·√(2 ln(2k/β)).
//! - Laplace: never more than the textbook's √(8m ln(2k/β))·t where that holds, for m ≥ 2 ln(2k/β) (Chan, Shi, Song
//!   2010, Lemma 2.8).
//!
//! # Cost
//! A draw for each key of the universe, about ten nanoseconds; 16 bytes for each are kept.
//!
//! | paper | here | unit |
//! | ----- | ---- | ---- |
//! | t, σ  | the noise of a key | records |
//! | m, k  | `support`, `queries` | count |

use crate::units::{Answer, Sum, check_data, check_rows, sum_of_known};
use crate::{BaselineError, Noise};
use rand::CryptoRng;
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::composition::CompositionError;
use tamis_noise::gaussian_calibration::{add_remove, concentrated};
use tamis_noise::{Beta, Budget, DiscreteGaussian, DiscreteLaplace, Neighbours, Queries, Scale, Sensitivity, Variance};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Noise for the counts of a listed universe, before any data is seen. See the [module](self).
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_baselines::PerturbedHistogramPlan;
/// use tamis_noise::{Beta, Budget, Epsilon, Neighbours, Queries};
/// use tamis_queries::{Fingerprint, Histogram, SparseQuery};
/// let plan = PerturbedHistogramPlan::laplace(&Budget::pure(Epsilon::new(1.0)?), Neighbours::AddRemove, 1)?;
/// assert!((plan.predicted_standard_error(100.0) - 13.57).abs() < 0.01); // 1.357·√100
///
/// let universe = (0..1_000).map(Fingerprint::raw);
/// let table = Histogram::builder().add(Fingerprint::raw(7), 500)?.add(Fingerprint::raw(5_000), 1)?.build();
/// let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
/// let released = plan.release(universe, &table, &mut rng)?;
/// let answer = released.answer(&SparseQuery::count((0..100).map(Fingerprint::raw)))?;
/// assert!((answer.value - 500.0).abs() <= plan.guarantee(100, Queries::new(1)?, Beta::new(1e-9)?));
/// assert!(released.answer(&SparseQuery::count([Fingerprint::raw(5_000)])).is_err()); // not listed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PerturbedHistogramPlan {
    cost: Budget,
    neighbours: Neighbours,
    rows_per_unit: u32,
    /// In records.
    noise: Noise,
}

/// The noisy counts of a universe: all of it may be published. Made by [`PerturbedHistogramPlan::release`].
#[derive(Clone, Debug)]
pub struct PerturbedHistogram {
    // Sorted by fingerprint, each once.
    counts: Vec<(Fingerprint, i64)>,
    /// The standard error of each.
    standard_error: f64,
}

impl PerturbedHistogramPlan {
    /// Laplace noise: pure, whatever δ is offered.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, or the noise is of a scale that the sampler does not serve.
    pub fn laplace(budget: &Budget, neighbours: Neighbours, rows_per_unit: u32) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        let sensitivity = Sensitivity::new(neighbours.rows_moved() * u64::from(rows_per_unit))?;
        let noise = Noise::Laplace(DiscreteLaplace::new(Scale::of(sensitivity, budget.epsilon())?));
        Ok(Self { cost: Budget::pure(budget.epsilon().clone()), neighbours, rows_per_unit, noise })
    }

    /// Gaussian noise.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, δ is 0, or the noise is of a variance that the sampler does not serve.
    pub fn gaussian(budget: &Budget, neighbours: Neighbours, rows_per_unit: u32) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        let noise = Noise::Gaussian(DiscreteGaussian::new(least_variance(budget, neighbours, rows_per_unit)?));
        Ok(Self { cost: budget.clone(), neighbours, rows_per_unit, noise })
    }

    /// What a release spends, to be charged before it.
    pub fn cost(&self) -> &Budget {
        &self.cost
    }

    /// For which neighbours it is private.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// L: how many rows a unit may have.
    pub fn rows_per_unit(&self) -> u32 {
        self.rows_per_unit
    }

    /// The noise of each count, in records.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// The standard error of an answer to a query of this ‖q‖₂² (m for a list of m keys), in records: exact.
    pub fn predicted_standard_error(&self, squared_norm: f64) -> f64 {
        (self.noise.variance() * squared_norm).sqrt()
    }

    /// With probability 1 − β all of `queries` answers, each to at most `support` keys, are within so many records: see
    /// the [module](self#accuracy). The queries may depend on the release if they are chosen among so many.
    pub fn guarantee(&self, support: u64, queries: Queries, beta: Beta) -> f64 {
        self.noise.reach_of_sum(support, beta.get() / queries.to_f64())
    }

    /// A release of the data over this universe. It must have been listed without a look at the data; of equal keys one
    /// is taken.
    ///
    /// # Errors
    /// If the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. That does not
    /// depend on the rows themselves.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        universe: impl IntoIterator<Item = Fingerprint>,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<PerturbedHistogram, BaselineError> {
        check_data(data, self.rows_per_unit)?;
        let mut universe: Vec<_> = universe.into_iter().collect();
        universe.sort_unstable();
        universe.dedup();
        let mut counts = listed(&universe, data);
        self.noise.add_to(&mut counts, rng);
        let counts = universe.into_iter().zip(counts).collect();
        Ok(PerturbedHistogram { counts, standard_error: self.predicted_standard_error(1.0) })
    }
}

/// The count of each key of the universe. Both sides are sorted: one walk over them.
fn listed(universe: &[Fingerprint], data: &Histogram) -> Vec<i64> {
    let mut rows = data.entries().iter().peekable();
    let count = |key: &Fingerprint| {
        while rows.next_if(|entry| entry.0 < *key).is_some() {}
        rows.next_if(|entry| entry.0 == *key).map_or(0, |entry| entry.1)
    };
    universe.iter().map(count).collect()
}

/// σ²: see the [module](self#privacy).
fn least_variance(budget: &Budget, neighbours: Neighbours, rows_per_unit: u32) -> Result<Variance, CompositionError> {
    // Cannot fail, here and below: positive.
    let moved = NonZeroU32::new(neighbours.rows_moved() as u32).unwrap_or(NonZeroU32::MIN);
    let squared_norm = u128::from(moved.get()) * u128::from(rows_per_unit).pow(2);
    let enough = concentrated(NonZeroU128::new(squared_norm).unwrap_or(NonZeroU128::MIN), budget)?;
    if rows_per_unit > 1 {
        return Ok(enough);
    }
    Ok(add_remove(moved, budget)?.min(enough))
}

impl PerturbedHistogram {
    /// Each key of the universe with its noisy count, sorted by fingerprint.
    pub fn counts(&self) -> &[(Fingerprint, i64)] {
        &self.counts
    }

    /// The answer to a query. Cost: O(m·log of the universe).
    ///
    /// # Errors
    /// If a key of the query is not in the universe.
    pub fn answer(&self, query: &SparseQuery) -> Result<Answer, BaselineError> {
        let Sum { value, squared_norm, keys } = sum_of_known(query, &self.counts);
        if keys < query.support() {
            return Err(BaselineError::Unlisted(query.support() - keys));
        }
        Ok(Answer { value, standard_error: self.standard_error * squared_norm.sqrt() })
    }
}
