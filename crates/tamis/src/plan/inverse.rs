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
    /// In records.
    pub fn in_records(self, question: &Question) -> f64 {
        match self {
            Self::Records(error) => error,
            Self::Share(share) => share * question.records as f64,
        }
    }

    /// Whether any answer keeps it, be it made without the data: no [answer](Question::largest_answer) is beyond it.
    pub fn is_kept_by_anything(self, question: &Question) -> bool {
        self.in_records(question) >= question.largest_answer()
    }

    fn kept(self, planned: &Planned, question: &Question) -> bool {
        planned.within <= self.in_records(question)
    }
}

/// All searches go through a hundred numbers a decade, of three digits: two neighbours are within 3 % of each other.
///
/// What is given was itself planned and keeps the error, and its neighbour on the other side was planned and does not. If a bound goes one way
/// with what is searched, that is the least or the largest there is. Bounds do, but for some steps: a release is at its best where a power of two
/// fits, an eighth better than between two of them; its intervals are wide for lists so short that their errors are not normal, and for very large ε; and
/// plans end where their theorems, their tables or the memory do. Across such a step another number, further on, may do too.
///
/// What is found keeps the error by a bound that says something: where the largest answer falls with what is searched, or grows less than the
/// error, there may be none.
impl Question {
    /// The least [number of records](Self::with_records) for which a mechanism keeps a wanted share of them; none if none up to 2⁴⁰ is
    /// enough.
    pub fn least_records(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        self.least_records_for(mechanism, |planned, question| wanted.kept(planned, question))
            .filter(|&records| self.with_records(records).is_told_by(mechanism))
    }

    /// The least ε, from 0.001 to 100; none if that is not enough.
    pub fn least_epsilon(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<f64> {
        self.least_epsilon_for(mechanism, -300, |planned, question| {
            wanted.kept(planned, question) && planned.says_something(question)
        })
    }

    /// The largest number of keys of a query; none if one is too many.
    pub fn largest_support(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        let with = |support: f64| Self { support: support as u64, ..self.clone() };
        edge(0, 1_200, |support| with(support).keeps(mechanism, wanted))
            .filter(|&support| with(support).is_told_by(mechanism))
            .map(|support| support as u64)
    }

    /// The largest number of queries; none if one is too many.
    pub fn largest_queries(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> Option<u64> {
        let with = |queries: f64| Some(Self { queries: Queries::new(queries as u64).ok()?, ..self.clone() });
        edge(0, 1_560, |queries| with(queries).is_some_and(|question| question.keeps(mechanism, wanted)))
            .filter(|&queries| with(queries).is_some_and(|question| question.is_told_by(mechanism)))
            .map(|queries| queries as u64)
    }

    /// The same with so many records. A largest count that says nothing (all records) goes on saying nothing; how many different keys
    /// so many records have is not known.
    #[must_use]
    pub fn with_records(&self, records: u64) -> Self {
        let largest_count = if self.largest_count == self.records { records } else { self.largest_count };
        Self { records, largest_count, distinct_keys: None, ..self.clone() }
    }

    /// [`Row::within`](super::Row::within) of one mechanism alone; none if it is not applicable, or the question makes no sense.
    pub fn within(&self, mechanism: &dyn QueryRelease) -> Option<f64> {
        Some(self.planned(mechanism).ok()?.within)
    }

    fn keeps(&self, mechanism: &dyn QueryRelease, wanted: Wanted) -> bool {
        self.planned(mechanism).is_ok_and(|planned| wanted.kept(&planned, self))
    }

    /// Whether the bound of a mechanism says something.
    fn is_told_by(&self, mechanism: &dyn QueryRelease) -> bool {
        self.planned(mechanism).is_ok_and(|planned| planned.says_something(self))
    }

    fn least_records_for(&self, mechanism: &dyn QueryRelease, good: impl Fn(&Planned, &Self) -> bool) -> Option<u64> {
        let accept = |records: f64| {
            // Below 2⁴⁰.
            let question = self.with_records(records as u64);
            question.planned(mechanism).is_ok_and(|planned| good(&planned, &question))
        };
        edge(1_203, 0, accept).map(|records| records as u64)
    }

    /// The least number of keys of a query, up to so many, for which something holds.
    pub(super) fn least_support(&self, most: f64, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        let with = |support: f64| Self { support: support as u64, ..self.clone() };
        let sure = (100.0 * most.log10()).ceil() as i32;
        edge(sure, 0, |support| holds(&with(support))).map(|support| support as u64)
    }

    /// The least number of queries for which something holds.
    pub(super) fn least_queries(&self, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        let with = |queries: f64| Some(Self { queries: Queries::new(queries as u64).ok()?, ..self.clone() });
        let accept = |queries: f64| with(queries).is_some_and(|question| holds(&question));
        edge(1_560, 0, accept).map(|queries| queries as u64)
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
            question.planned(mechanism).is_ok_and(|planned| good(&planned, &question))
        };
        edge(200, from, accept)
    }
}

/// Which ε, n or m would make a mechanism say something, in the memory that there is or, if none would, in more; none if
/// none is found.
pub(super) fn remedy(mechanism: &dyn QueryRelease, question: &Question) -> Option<String> {
    let in_more = || {
        let roomy = Question { memory: u64::MAX, ..question.clone() };
        speaking(mechanism, &roomy).map(|found| format!("{found}, with more memory"))
    };
    speaking(mechanism, question).or_else(in_more)
}

fn speaking(mechanism: &dyn QueryRelease, question: &Question) -> Option<String> {
    let speaks = |question: &Question| question.is_told_by(mechanism);
    // Of long queries the largest answer grows with the records, of short ones with their keys; no bound falls with either.
    let size = || {
        if question.largest_answer() < question.records as f64 {
            // From these on no answer is larger, and no bound becomes less.
            let all = question.records as f64 / question.largest_count as f64;
            return question.least_support(all, speaks).map(|support| format!("for queries of {support} keys"));
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
        (Some(epsilon), Some(size)) => Some(format!("{epsilon}, or {size}")),
        (one, other) => one.or(other),
    }
}

/// The number at a place of the grid: 10^(place/100) to three digits.
fn number(place: i32) -> f64 {
    // Cannot fail: what was printed is read.
    format!("{:.2e}", 10f64.powf(f64::from(place) / 100.0)).parse().expect("a number")
}

/// A number of the grid that `accept` takes while it does not take the next one on the way from `sure` to `unsure`: if it takes all up to some place
/// and none beyond, the last of them. Where it does not take `sure`, it is looked for from `unsure` on, at sixteen places. None if it is found to take none.
fn edge(sure: i32, unsure: i32, accept: impl Fn(f64) -> bool) -> Option<f64> {
    let way = (sure - unsure).signum();
    let accepted = |place: &i32| accept(number(*place));
    // One beyond the range stands for what is not taken.
    let (mut taken, mut refused) = (sure, unsure - way);
    if !accepted(&sure) {
        let step = ((sure - unsure).abs() / 16).max(25);
        let places = (0..).map(|count| unsure + way * step * count).take_while(|place| (sure - place) * way > 0);
        taken = places.into_iter().find(accepted)?;
        refused = if taken == unsure { refused } else { taken - way * step };
    }
    while (taken - refused).abs() > 1 {
        let middle = taken.midpoint(refused);
        if accepted(&middle) { taken = middle } else { refused = middle }
    }
    Some(number(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is taken and what not.
    #[test]
    fn an_edge_is_where_what_is_taken_ends() {
        let tables: [fn(i32) -> bool; 6] = [
            |_| true,
            |_| false,
            |place| place >= 37,
            |place| place <= 37,
            |place| (40..120).contains(&place),
            |place| place % 50 < 30,
        ];
        for takes in tables {
            let accept = |given: f64| takes((100.0 * given.log10()).round() as i32);
            for (sure, unsure) in [(200, 0), (0, 200), (100, 100)] {
                let place = edge(sure, unsure, accept).map(|given| (100.0 * given.log10()).round() as i32);
                let scanned = (0..=8).map(|count| unsure + (sure - unsure).signum() * 25 * count);
                assert_eq!(place.is_some(), scanned.chain([sure]).any(takes), "{sure} {unsure}");
                let Some(place) = place else { continue };
                let next = place - (sure - unsure).signum();
                assert!(takes(place) && (place == unsure || !takes(next)), "{sure} {unsure} {place}");
            }
        }
    }
}
