//! The counts of the keys that occur often, over a universe that nobody lists: right where few keys have most of the
//! records.
//!
//! # The release
//! Each key that occurs gets noise of its own, and is released with its noisy count if that reaches a threshold τ; of
//! all others nothing is said. Noise, threshold, ε and δ are one type, [`StabilityThreshold`], whose
//! [module](tamis_noise::stability) has the proof.
//!
//! # Privacy
//! A release is (ε, δ)-private with the plan's [cost](StabilityHistogramPlan::cost), for its neighbours and units of at
//! most L rows (Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016). What is published is a list
//! sorted by fingerprint of the keys that were released, which says nothing of the others: not which they are, nor how
//! many, nor in which order they came.
//!
//! # Accuracy
//! A key of x records, x ≥ 1, is released with probability P(Z ≥ τ − x), with an error of Z; else what is said of it,
//! nothing, is off by x. A key that does not occur is right. So answers are **biased downward**, by up to about τ for
//! each light key of a query, and noise of light keys does not show: on a table whose keys are all distinct every
//! answer is 0, but for a δ-th of the keys. [`error_of_key`](StabilityHistogramPlan::error_of_key) has the exact
//! moments:
//!
//! ```text
//! bias(x) = E[Z; Z ≥ τ − x] − x·P(Z < τ − x),    mean square(x) = E[Z²; Z ≥ τ − x] + x²·P(Z < τ − x).
//! ```
//!
//! *Bound for any data.* With probability 1 − β no noise of the at most km keys that k queries name is larger than the
//! margin α of β/(km). Then a key that was released is off by at most α, and one that was not has x < τ − Z ≤ τ + α, so
//! x ≤ τ − 1 + α: an answer to m keys is off by at most m·(τ − 1 + α).
//!
//! *Bound for heavy keys.* If all keys named have τ + α' records or more, or none, α' being the margin of β/(2km), then
//! with probability 1 − β/2 all that occur are released, and an answer is off by a sum of at most m draws: with
//! probability 1 − β/2 of all of them, by at most [`Noise::reach_of_sum`] of β/(2k).
//!
//! # References
//! - A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas, *Releasing search queries and clicks privately*, WWW 2009.
//! - M. Bun, K. Nissim, U. Stemmer, *Simultaneous private learning of multiple concepts*, ITCS 2016.

use crate::units::{KeyError, Sum, check_data, check_rows, sum_of_known};
use crate::{BaselineError, Noise};
use rand::CryptoRng;
use tamis_noise::discrete_laplace::{margin, second_moment};
use tamis_noise::stability::StabilityThreshold;
use tamis_noise::{Beta, Budget, DiscreteLaplace, Neighbours, Queries};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// Noise and threshold for the counts of keys, before any data is seen. See the [module](self).
///
/// ```
/// use tamis_baselines::StabilityHistogramPlan;
/// use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
/// let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let plan = StabilityHistogramPlan::new(&budget, Neighbours::AddRemove, 1)?;
/// assert_eq!(plan.threshold().threshold(), 22);
/// assert!((plan.predicted_error(100, 1_000) - 13.57).abs() < 0.01); // heavy keys: the noise, 1.357·√100
/// assert!((plan.predicted_error(100, 5) - 500.0).abs() < 1e-3); // light ones: all they have
/// assert_eq!(plan.predicted_error(100, 0), 0.0); // none: right
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StabilityHistogramPlan {
    threshold: StabilityThreshold,
}

/// Noisy counts of the keys that reached the threshold: all of it may be published. Made by
/// [`StabilityHistogramPlan::release`].
#[derive(Clone, Debug)]
pub struct StabilityHistogram {
    // Sorted by fingerprint, each once.
    counts: Vec<(Fingerprint, i64)>,
    /// Of the noise of a key.
    standard_deviation: f64,
}

/// What a stability histogram says of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityAnswer {
    /// The sum over the released keys, in records.
    pub value: f64,
    /// What their noise contributes to the standard error, in records.
    pub standard_error: f64,
    /// How many keys of the query were not released: each may have any number of records from 0 to about the threshold,
    /// of which nothing is in the value.
    pub unreleased: usize,
}

impl StabilityHistogramPlan {
    /// The least threshold for this privacy.
    ///
    /// # Errors
    /// If L is not from 1 to 1 000 000, δ is 0, or the noise is of a scale that the sampler does not serve.
    pub fn new(budget: &Budget, neighbours: Neighbours, rows_per_unit: u32) -> Result<Self, BaselineError> {
        check_rows(rows_per_unit)?;
        Ok(Self { threshold: StabilityThreshold::new(budget, neighbours, rows_per_unit)? })
    }

    /// Noise and threshold.
    pub fn threshold(&self) -> &StabilityThreshold {
        &self.threshold
    }

    /// What a release spends, to be charged before it.
    pub fn cost(&self) -> &Budget {
        self.threshold.cost()
    }

    /// How far what is said of a key of `count` records is off: exact, but for floats.
    pub fn error_of_key(&self, count: u64) -> KeyError {
        if count == 0 {
            return KeyError { bias: 0.0, mean_square: 0.0 };
        }
        let x = count as f64;
        let Tail { probability, mean, square } = self.noise_from(self.threshold.threshold() as f64 - x);
        KeyError { bias: mean - x * (1.0 - probability), mean_square: square + x * x * (1.0 - probability) }
    }

    /// P(Z ≥ j), E[Z; Z ≥ j] and E[Z²; Z ≥ j] for whole j. For j ≥ 1 the noise beyond j is geometric with ratio q =
    /// e^(−1/t), of mean q/(1 − q) and mean square q(1 + q)/(1 − q)²; for j ≤ 0 by symmetry what is below has the
    /// moments of what is from 1 − j on.
    fn noise_from(&self, j: f64) -> Tail {
        let rate = -1.0 / self.threshold.scale().to_f64_up();
        if j < 1.0 {
            let Tail { probability, mean, square } = self.noise_from(1.0 - j);
            let all = second_moment(self.threshold.scale());
            return Tail { probability: 1.0 - probability, mean, square: all - square };
        }
        let (q, p) = (rate.exp(), -rate.exp_m1());
        let probability = (rate * j).exp() / (1.0 + q);
        Tail {
            probability,
            mean: probability * (j + q / p),
            square: probability * (j * j + 2.0 * j * q / p + q * (1.0 + q) / (p * p)),
        }
    }

    /// The typical error of an answer to `keys` keys of `count` records each, bias and noise together: the root of its
    /// mean square, in records. Of keys with other counts [`error_of_key`](Self::error_of_key) is to be summed up.
    pub fn predicted_error(&self, keys: u64, count: u64) -> f64 {
        self.error_of_key(count).of_many(keys)
    }

    /// With probability 1 − β all of `queries` answers, each to at most `support` keys with weights of at most 1, are
    /// within so many records: the bound of the [module](self#accuracy), for any data.
    pub fn guarantee(&self, support: u64, queries: Queries, beta: Beta) -> f64 {
        support as f64 * (self.threshold.threshold() as f64 - 1.0 + self.margin(support, queries, beta.get()))
    }

    /// The same where all keys named have [so many](Self::heavy_from) records, or none.
    pub fn guarantee_of_heavy(&self, support: u64, queries: Queries, beta: Beta) -> f64 {
        Noise::Laplace(DiscreteLaplace::new(self.threshold.scale().clone()))
            .reach_of_sum(support, 0.5 * beta.get() / queries.to_f64())
    }

    /// From how many records on a key is heavy in the bound above: τ + α'.
    pub fn heavy_from(&self, support: u64, queries: Queries, beta: Beta) -> f64 {
        self.threshold.threshold() as f64 + self.margin(support, queries, 0.5 * beta.get())
    }

    /// What no noise of the keys that are named is larger than.
    fn margin(&self, support: u64, queries: Queries, beta: f64) -> f64 {
        margin(self.threshold.scale(), beta / queries.to_f64() / support.max(1) as f64) as f64
    }

    /// A release of the data.
    ///
    /// # Errors
    /// If the data was [bounded](Histogram::rows_per_unit) to more rows a unit than the plan is for. That does not
    /// depend on the rows themselves.
    pub fn release<R: CryptoRng + ?Sized>(
        &self,
        data: &Histogram,
        rng: &mut R,
    ) -> Result<StabilityHistogram, BaselineError> {
        check_data(data, self.threshold.rows_per_unit())?;
        let mut counts = Vec::new();
        // In the order of fingerprints, and in pieces, so that memory stays small.
        for keys in data.entries().chunks(1 << 12) {
            let exact: Vec<i64> = keys.iter().map(|entry| entry.1).collect();
            let noisy = self.threshold.release_all(&exact, rng);
            counts.extend(keys.iter().zip(noisy).filter_map(|(&(key, _), noisy)| Some((key, noisy?))));
        }
        let standard_deviation = second_moment(self.threshold.scale()).sqrt();
        Ok(StabilityHistogram { counts, standard_deviation })
    }
}

/// Of noise from some value on.
struct Tail {
    probability: f64,
    mean: f64,
    square: f64,
}

impl StabilityHistogram {
    /// Each released key with its noisy count, sorted by fingerprint.
    pub fn counts(&self) -> &[(Fingerprint, i64)] {
        &self.counts
    }

    /// The answer to a query. Cost: O(m·log of the released keys).
    pub fn answer(&self, query: &SparseQuery) -> StabilityAnswer {
        let Sum { value, squared_norm, keys } = sum_of_known(query, &self.counts);
        StabilityAnswer {
            value,
            standard_error: self.standard_deviation * squared_norm.sqrt(),
            unreleased: query.support() - keys,
        }
    }
}
