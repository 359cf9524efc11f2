//! The other way round: for which size or privacy an error is kept. The plans are asked again, none of their bounds is inverted here.

use super::{Planned, QueryRelease, Question};
use tamis_noise::{Budget, Epsilon, Queries};

/// An error that is good enough: what all k answers keep but for β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// In records.
    Records(f64),
    /// As a share of the records.
    Share(f64),
}

impl Wanted {
    fn kept(self, planned: &Planned, question: &Question) -> bool {
        match self {
            Self::Records(error) => planned.within <= error,
            Self::Share(share) => planned.within <= share * question.records as f64,
        }
    }
}

/// All searches go through a hundred numbers a decade, of three digits, and give one that was itself asked for: within 3 % of the best.
impl Question {
    /// The least [number of records](Self::with_records) for which a mechanism keeps a wanted share of them; none if none up to 2⁴⁰ is
    /// enough.
    pub fn least_records(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        self.least_records_for(mechanism, |planned, question| wanted.kept(planned, question))
    }

    /// The least ε, from 0.001 to 100; none if that is not enough.
    pub fn least_epsilon(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<f64> {
        self.least_epsilon_for(mechanism, -300, |planned, question| wanted.kept(planned, question))
    }

    /// The largest number of keys of a query; none if one is too many.
    pub fn largest_support(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        let with = |support: f64| Some(Self { support: support as u64, ..self.clone() });
        largest(0..=1_200, |support| self.keeps(mechanism, wanted, with(support))).map(|support| support as u64)
    }

    /// The largest number of queries; none if one is too many.
    pub fn largest_queries(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        let with = |queries: f64| Some(Self { queries: Queries::new(queries as u64).ok()?, ..self.clone() });
        largest(0..=1_560, |queries| self.keeps(mechanism, wanted, with(queries))).map(|queries| queries as u64)
    }

    /// The same with so many records. A largest count that says nothing (all records) goes on saying nothing.
    #[must_use]
    pub fn with_records(&self, records: u64) -> Self {
        let largest_count = if self.largest_count == self.records { records } else { self.largest_count };
        Self { records, largest_count, ..self.clone() }
    }

    /// [`Row::within`](super::Row::within) of one mechanism alone; none if it is not applicable, or the question makes no sense.
    pub fn within(&self, mechanism: &dyn QueryRelease) -> Option<f64> {
        self.check().ok()?;
        Some(mechanism.plan(self).ok()?.within)
    }

    fn keeps(&self, mechanism: &dyn QueryRelease, wanted: Wanted, changed: Option<Self>) -> bool {
        changed.is_some_and(|question| {
            question.check().is_ok() && mechanism.plan(&question).is_ok_and(|planned| wanted.kept(&planned, &question))
        })
    }

    fn least_records_for(&self, mechanism: &dyn QueryRelease, good: impl Fn(&Planned, &Self) -> bool) -> Option<u64> {
        let accept = |records: f64| {
            // Below 2⁴⁰.
            let question = self.with_records(records as u64);
            question.check().is_ok() && mechanism.plan(&question).is_ok_and(|planned| good(&planned, &question))
        };
        least(0..=1_203, accept).map(|records| records as u64)
    }

    /// The least number of keys of a query, up to 10⁷, for which something holds.
    pub(super) fn least_support(&self, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        let with = |support: f64| Self { support: support as u64, ..self.clone() };
        least(0..=700, |support| holds(&with(support))).map(|support| support as u64)
    }

    /// The least number of queries for which something holds.
    pub(super) fn least_queries(&self, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        let with = |queries: f64| Some(Self { queries: Queries::new(queries as u64).ok()?, ..self.clone() });
        let accept = |queries: f64| with(queries).is_some_and(|question| holds(&question));
        least(0..=1_560, accept).map(|queries| queries as u64)
    }

    /// The least ε of the grid, from a place on.
    fn least_epsilon_for(
        &self,
        mechanism: &dyn QueryRelease,
        from: i32,
        good: impl Fn(&Planned, &Self) -> bool,
    ) -> Option<f64> {
        let accept = |epsilon: f64| {
            let Ok(epsilon) = Epsilon::new(epsilon) else { return false };
            let budget = Budget::approximate(epsilon, self.budget.delta().clone());
            let question = Self { budget, ..self.clone() };
            mechanism.plan(&question).is_ok_and(|planned| good(&planned, &question))
        };
        least(from..=200, accept)
    }
}

/// Which ε, n or m would make a vacuous mechanism say something.
pub(super) fn remedy(mechanism: &dyn QueryRelease, question: &Question) -> String {
    let speaks = |question: &Question| mechanism.plan(question).is_ok_and(|planned| planned.says_something(question));
    // Of long queries the largest answer grows with the records, of short ones with their keys; no bound falls with either.
    let size = || {
        if question.largest_answer() < question.records as f64 {
            return question.least_support(speaks).map(|support| format!("for queries of {support} keys"));
        }
        let records = question.least_records_for(mechanism, Planned::says_something);
        records.map(|records| format!("at {records} records"))
    };
    // What is given is not enough.
    let from = ((100.0 * question.budget.epsilon().to_f64_down().log10()) as i32).clamp(-300, 200);
    let epsilon = || {
        let epsilon = question.least_epsilon_for(mechanism, from, Planned::says_something);
        epsilon.map(|epsilon| format!("at epsilon = {epsilon}"))
    };
    match rayon::join(epsilon, size) {
        (Some(epsilon), Some(size)) => format!("{epsilon}, or {size}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "at no epsilon up to 100".to_owned(),
    }
}

/// The number at a place of the grid: 10^(place/100) to three digits.
fn number(place: i32) -> f64 {
    // Cannot fail: what was printed is read.
    format!("{:.2e}", 10f64.powf(f64::from(place) / 100.0)).parse().expect("a number")
}

/// The least number of the grid that `accept` takes, if it takes all above; where it does not take the largest, about the least of those
/// that it takes (a larger ε can make the rule of a release's intervals a worse one).
fn least(places: std::ops::RangeInclusive<i32>, accept: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, end) = places.into_inner();
    let step = ((end - low) / 16).max(25);
    let accepted = |place: &i32| accept(number(*place));
    let mut high = if accepted(&end) {
        end
    } else {
        let first = (low..end).step_by(step as usize).find(accepted)?;
        low = low.max(first - step);
        first
    };
    while low < high {
        // Rounded down, below 0 too, so that it ends.
        let middle = low + (high - low) / 2;
        if accept(number(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(number(high))
}

/// The largest, if it takes all below.
fn largest(places: std::ops::RangeInclusive<i32>, accept: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut low, mut high) = places.into_inner();
    if !accept(number(low)) {
        return None;
    }
    while low < high {
        // Rounded up, so that it ends.
        let middle = low + (high - low + 1) / 2;
        if accept(number(middle)) { low = middle } else { high = middle - 1 }
    }
    Some(number(low))
}
