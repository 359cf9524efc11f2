//! What the planner knows, as it plans and carries it out: a new mechanism of its list is audited without a line here.

use tamis::noise::{Beta, Neighbours, Queries};
use tamis::plan::{Asking, QueryRelease, Question, Records, mechanisms};
use tamis::queries::Fingerprint;
use tamis_harness::audit::Subject;

use super::{Audited, DELTA, budget, claim, list, or_refused, table};

/// All of them. Sessions hardly ask the data at these sizes: [`sessions`](super::sessions) makes them.
///
/// # Panics
/// If one has no plan for the question, which is one that all have a plan for.
pub fn subjects() -> Vec<Audited> {
    mechanisms::ALL.iter().map(|&mechanism| audited(mechanism)).collect()
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

/// Three lists, of which two name the key that has one record more.
fn audited(mechanism: &'static dyn QueryRelease) -> Audited {
    let planned = mechanism.plan(&question()).unwrap_or_else(|refusal| panic!("{mechanism:?}: {}", refusal.reason));
    let lists = [[0, 1], [2, 3], [0, 3]].map(|keys| list(&keys));
    let universe = || (0..4).map(Fingerprint::raw);
    let data = [5, 6].map(|count| Records::listed(table(&[(0, count), (2, 2)]), universe()));
    let (name, pair) = (format!("planned {}", mechanism.about().name), "one record more");
    // Nanoseconds, with what comes on top at these sizes.
    let cost = 10_000 + (2e9 * planned.effort.once) as u64;
    let subject = Subject::new(name, pair, claim(&planned.cost), data, move |data, rng, seen| {
        let answers = or_refused(planned.answers(data, &lists, rng), seen);
        answers.into_iter().flatten().for_each(|answer| seen.real(answer));
    });
    Audited::right(subject, cost)
}
