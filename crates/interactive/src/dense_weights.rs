//! Multiplicative weights over a finite universe that is listed (HR10): what the sparse form is compared with.
//!
//! [`DenseWeights`] is the algorithm as it is written, a probability for every element and O(|X|) work for every query.
//! [`SupportWeights`] keeps the same weights unnormalised, with their sum, so that a query costs O(m log|X|): memory is
//! still O(|X|).
//!
//! Keys outside the universe weigh nothing: the promise is that no record has one.

use crate::hypothesis::{check_size, check_support};
use crate::sparse_weights::mistakes;
use crate::sum::Sum;
use crate::tilt::{Member, tilt};
use crate::{Hypothesis, Query, Refused, SparseWeights, Step};
use tamis_queries::Fingerprint;

/// Most elements of a universe that is listed: 2³⁰.
pub const MAX_UNIVERSE: u64 = 1 << 30;

/// Sorted, each once.
fn sorted(universe: impl IntoIterator<Item = Fingerprint>, padding: u64) -> Result<Vec<Fingerprint>, Refused> {
    let mut universe: Vec<_> = universe.into_iter().collect();
    universe.sort_unstable();
    universe.dedup();
    let size = (universe.len() as u64).saturating_add(padding);
    check_size("the elements of a universe that is listed", size, MAX_UNIVERSE)?;
    Ok(universe)
}

/// The algorithm as it is written.
///
/// ```
/// use tamis_interactive::{DenseWeights, Hypothesis, Query, Step};
/// use tamis_queries::{Fingerprint, SparseQuery};
/// let mut weights = DenseWeights::new((0..8).map(Fingerprint::raw), 0)?;
/// let query = Query::keys(SparseQuery::count([1, 2].map(Fingerprint::raw)));
/// assert_eq!(weights.evaluate(&query)?, 0.25);
/// weights.update(&query, Step::Raise(0.1))?;
/// assert!((weights.evaluate(&query)? - 0.25 * 0.1f64.exp() / (0.75 + 0.25 * 0.1f64.exp())).abs() < 1e-15);
/// # Ok::<(), tamis_interactive::Refused>(())
/// ```
#[derive(Clone, Debug)]
pub struct DenseWeights {
    universe: Vec<Fingerprint>,
    /// Of the universe's elements, then of the padding's.
    probabilities: Vec<f64>,
}

impl DenseWeights {
    /// Uniform over `universe` and `padding` elements more, which no query names.
    ///
    /// # Errors
    /// If there is no element, or more than 2³⁰.
    pub fn new(universe: impl IntoIterator<Item = Fingerprint>, padding: u64) -> Result<Self, Refused> {
        let universe = sorted(universe, padding)?;
        // Cannot overflow: `sorted` has checked the sum.
        let size = universe.len() + padding as usize;
        Ok(Self { universe, probabilities: vec![1.0 / size as f64; size] })
    }

    /// q as a vector over the whole universe.
    fn vector(&self, query: &Query) -> Vec<f64> {
        let mut vector = vec![0.0; self.probabilities.len()];
        query.for_each(|key| {
            if let Ok(position) = self.universe.binary_search(&key.fingerprint) {
                vector[position] = key.weight;
            }
        });
        vector
    }

    /// The answer after the step s.
    fn answer_after(&self, step: f64, query: &[f64]) -> f64 {
        let weights = || self.probabilities.iter().zip(query).map(|(p, q)| (p * (step * q).exp(), q));
        let total: f64 = weights().map(|(weight, _)| weight).sum();
        weights().map(|(weight, q)| weight * q).sum::<f64>() / total
    }

    /// The step after which the answer is `target`, by halving: it grows with the step.
    fn step_to(&self, target: f64, query: &[f64]) -> f64 {
        let (mut low, mut high) = (-64.0, 64.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.answer_after(middle, query) < target { low = middle } else { high = middle }
        }
        low
    }
}

impl Hypothesis for DenseWeights {
    fn evaluate(&self, query: &Query) -> Result<f64, Refused> {
        check_support(query, SparseWeights::MAX_SUPPORT)?;
        Ok(self.answer_after(0.0, &self.vector(query)).clamp(0.0, 1.0))
    }

    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused> {
        check_support(query, SparseWeights::MAX_SUPPORT)?;
        let query = self.vector(query);
        // One probability is at least 1/|X|, so their sum stays a positive number.
        let rate = step.checked()?.signed(|target| self.step_to(target, &query)).clamp(-600.0, 600.0);
        for (probability, q) in self.probabilities.iter_mut().zip(&query) {
            *probability *= (rate * q).exp();
        }
        let total: f64 = self.probabilities.iter().sum();
        for probability in &mut self.probabilities {
            *probability /= total;
        }
        Ok(())
    }

    fn updates_left(&self) -> u32 {
        u32::MAX
    }

    fn mistake_bound(&self, alpha: f64) -> f64 {
        mistakes((self.probabilities.len() as f64).ln(), alpha)
    }
}

/// The same weights, of which a query touches only its own.
///
/// What falls below e⁻⁷⁰⁰ of the sum is taken for 0 and stays so.
#[derive(Clone, Debug)]
pub struct SupportWeights {
    universe: Vec<Fingerprint>,
    weights: Vec<f64>,
    total: Sum,
    /// Updates since the sum was made anew.
    since: u32,
}

/// After so many updates the sum is made anew …
const RENEWAL: u32 = 1 << 10;
/// … and when it leaves this range, or falls to such a share of what it was.
const RANGE: std::ops::Range<f64> = 1e-100..1e100;
const FALL: f64 = 1e-3;

impl SupportWeights {
    /// Uniform over `universe`.
    ///
    /// # Errors
    /// If it has no element, or more than 2³⁰.
    pub fn new(universe: impl IntoIterator<Item = Fingerprint>) -> Result<Self, Refused> {
        let universe = sorted(universe, 0)?;
        let weights = vec![1.0; universe.len()];
        Ok(Self { total: weights.iter().copied().collect(), universe, weights, since: 0 })
    }

    /// Position and q of each key that is in the universe.
    fn members(&self, query: &Query) -> Vec<(usize, f64)> {
        let mut members = Vec::with_capacity(query.support() as usize);
        query.for_each(|key| {
            members.extend(self.universe.binary_search(&key.fingerprint).map(|position| (position, key.weight)));
        });
        members
    }

    fn step_to(&self, target: f64, members: &[(usize, f64)]) -> f64 {
        let of_query: Sum = members.iter().map(|&(position, _)| self.weights[position]).collect();
        let rest = self.total.less(&of_query).get().max(f64::MIN_POSITIVE);
        let members: Vec<_> = members
            .iter()
            .map(|&(position, weight)| Member { weight, logarithm: self.weights[position].max(f64::MIN_POSITIVE).ln() })
            .collect();
        tilt(&members, rest.ln(), target)
    }

    /// Divides all by their sum, and adds them up anew.
    fn renew(&mut self) {
        let total = self.total.get().clamp(f64::MIN_POSITIVE, f64::MAX);
        for weight in &mut self.weights {
            *weight /= total;
        }
        self.total = self.weights.iter().copied().collect();
        self.since = 0;
    }
}

impl Hypothesis for SupportWeights {
    fn evaluate(&self, query: &Query) -> Result<f64, Refused> {
        check_support(query, SparseWeights::MAX_SUPPORT)?;
        let members = self.members(query);
        let of_query: Sum = members.iter().map(|&(position, weight)| weight * self.weights[position]).collect();
        Ok((of_query.get() / self.total.get()).clamp(0.0, 1.0))
    }

    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused> {
        check_support(query, SparseWeights::MAX_SUPPORT)?;
        let members = self.members(query);
        let rate = match step.checked()? {
            Step::Raise(rate) => rate,
            Step::Lower(rate) => -rate,
            Step::Reach(target) => self.step_to(target, &members),
        }
        // Between two renewals no weight can leave the floats.
        .clamp(-300.0, 300.0);
        let before = self.total.get();
        for (position, weight) in members {
            let old = self.weights[position];
            self.weights[position] *= (rate * weight).exp();
            self.total.add(self.weights[position]);
            self.total.add(-old);
        }
        self.since += 1;
        let total = self.total.get();
        if self.since >= RENEWAL || !RANGE.contains(&total) || total < FALL * before {
            self.renew();
        }
        Ok(())
    }

    fn updates_left(&self) -> u32 {
        u32::MAX
    }

    fn mistake_bound(&self, alpha: f64) -> f64 {
        mistakes((self.weights.len() as f64).ln(), alpha)
    }
}
