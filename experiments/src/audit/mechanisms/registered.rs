//! What the planner knows, as it plans and carries it out: a new mechanism of its list is audited without a line here.

use tamis::noise::{Beta, Neighbours, Queries};
use tamis::plan::{Asking, Planned, QueryRelease, Question, Records, mechanisms};
use tamis::queries::Fingerprint;
use tamis_harness::audit::{Number, Subject};

use super::{Audited, DELTA, budget, claim, list, or_refused, table};

/// All of them. Sessions hardly ask the data at these sizes: [`sessions`](super::sessions) makes them.
pub fn subjects() -> Vec<Audited> {
    mechanisms::ALL.iter().map(|&mechanism| Audited::right(subject(mechanism), nanoseconds(mechanism))).collect()
}

/// Small, and such that everything can be had: with δ, and with a universe that is listed.
fn question() -> Question {
    Question {
        records: 8,
        support: 2,
        queries: Queries::new(3).expect("positive"),
        beta: Beta::new(0.05).expect("a probability"),
        budget: budget(1.0, DELTA),
        neighbours: Neighbours::AddRemove,
        rows_per_unit: 1,
        largest_count: 8,
        key_multiplicity: 4.0,
        distinct_keys: None,
        universe: Some(4),
        asking: Asking::Adaptively,
        memory: 1 << 30,
    }
}

/// What it does with the question.
fn planned(mechanism: &dyn QueryRelease) -> Planned {
    mechanism.plan(&question()).unwrap_or_else(|refusal| panic!("{}: {}", mechanism.about().name, refusal.reason))
}

/// What a run costs, with what comes on top at these sizes.
fn nanoseconds(mechanism: &dyn QueryRelease) -> u64 {
    10_000 + (2e9 * planned(mechanism).effort.once) as u64
}

/// Any mechanism as the audit sees it: three lists, of which two name the key that has one record more. CONTRIBUTING has an example.
///
/// # Panics
/// If it has no plan for 8 records, 3 lists of 2 keys, 4 keys that are listed, ε = 1 and a δ: everything can be had there.
pub fn subject(mechanism: &'static dyn QueryRelease) -> Subject {
    let planned = planned(mechanism);
    let lists = [[0, 1], [2, 3], [0, 3]].map(|keys| list(&keys));
    let universe = || (0..4).map(Fingerprint::raw);
    let data = [5, 6].map(|count| Records::listed(table(&[(0, count), (2, 2)]), universe()));
    let (name, pair) = (format!("planned {}", mechanism.about().name), "one record more");
    Subject::new(name, pair, claim(&planned.cost), data, move |data, rng, seen| {
        let answers = or_refused(planned.answers(data, &lists, rng), seen);
        answers.into_iter().flatten().for_each(|answer| seen.real(answer));
    })
    // Of noise on each answer no event tells more, and nobody finds it who does not know it.
    .event("both lists that name it reach six", |seen| {
        let reaches = |place: usize| matches!(seen.numbers().get(place), Some(Number::Real(answer)) if *answer >= 6.0);
        reaches(0) && reaches(2)
    })
}
