//! Sessions: each question hangs on the answers before it, and a neighbour moves the answers both ways.
//!
//! The question is asked in ever new lists with the same records, as long as the guess holds; then another is. So a session is
//! made to say ⊥ often where the answer of a neighbour grows, and then ⊤ where it shrinks, which is where the sparse vector's
//! loss is.

use tamis::interactive::{
    Answer, Data, GuardedPlan, Hypothesis, Learner, Plan, Query, Refusal, Session, Setting, Source, SparsePerceptron,
};
use tamis::noise::{Beta, Hits, Neighbours, Queries};
use tamis::projection::{HeavyKeys, ProjectionRelease};
use tamis::queries::Fingerprint;
use tamis_harness::TrialRng;
use tamis_harness::audit::{Subject, Transcript};

use super::{Audited, DELTA, all_moved, budget, claim, list, or_refused, table, units};

/// The two keys that a neighbour exchanges.
const GROWS: u64 = 1;
const SHRINKS: u64 = 2;
/// No record has keys from here on: they make a list another one.
const ABSENT: u64 = 100;
/// What all others have.
const OTHER: u64 = 50;
/// What is seen of a guess that holds.
const HELD: &str = "⊥";
/// n, or what is stated of it.
const RECORDS: u64 = 1_000;
/// Of the budgeted sessions: T.
const THRESHOLD: u64 = 40;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let (exchanged, added) = (setting(Neighbours::Substitute, 0.0), setting(Neighbours::AddRemove, 0.0));
    let budgeted = |learner, updates| {
        let updates = Hits::new(updates).expect("positive");
        Plan::budgeted(&exchanged, learner, updates, THRESHOLD).expect("noise for few corrections")
    };
    let (learner, two) = (Learner::SparseWeights, Queries::new(2).expect("positive"));
    vec![
        weights("session of sparse weights, c = 1", budgeted(learner, 1), 10_000),
        weights("session of sparse weights, c = 2", budgeted(learner, 2), 12_000),
        weights("session of sparse weights, tight", Plan::tight(&added, learner).expect("noise"), 10_000),
        weights("session of sparse weights, paper", Plan::paper(&added, learner).expect("noise"), 5_000),
        with_an_answer_lost(budgeted(learner, 2)),
        gaussian(Plan::gaussian(&Setting { queries: two, ..setting(Neighbours::Substitute, DELTA) }).expect("noise")),
        perceptron(budgeted(Learner::SparsePerceptron, 1)),
        guarded(),
    ]
}

fn setting(neighbours: Neighbours, delta: f64) -> Setting {
    Setting {
        records: RECORDS,
        largest_count: RECORDS,
        support: 4,
        queries: Queries::new(8).expect("positive"),
        beta: Beta::new(0.05).expect("a probability"),
        budget: budget(1.0, delta),
        neighbours,
        rows_per_unit: 1,
    }
}

/// Records of a key that grows, of one that shrinks or stays, and of all others.
fn data(grows: i64, shrinks: i64, rest: i64) -> Data {
    Data::keys(table(&[(GROWS, grows), (SHRINKS, shrinks), (OTHER, rest)]))
}

/// A record comes, or takes another key. Both keys have so many more than `guess` that a session is in two minds; under add-remove
/// that may be more than was stated, which costs accuracy alone.
fn neighbours(plan: &Plan, guess: u64) -> (&'static str, [Data; 2]) {
    let each = (guess + plan.threshold() as u64) as i64;
    let (pair, rest, shrunk) = match plan.setting().neighbours {
        Neighbours::AddRemove => ("one record more", 0, each),
        Neighbours::Substitute => ("one record takes another key", RECORDS as i64 - 2 * each, each - 1),
    };
    (pair, [data(each, each, rest), data(each + 1, shrunk, rest)])
}

fn weights(name: &str, plan: Plan, nanoseconds: u64) -> Audited {
    let weights = plan.sparse_weights(None).expect("few slots");
    // Of a list of four keys.
    let guess = 4 * RECORDS / weights.slots();
    let (pair, data) = neighbours(&plan, guess);
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        if let Some(session) = or_refused(Session::new(plan.clone(), data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    Audited::right(corrected_late(subject), nanoseconds)
}

/// What is likelier if the first key has a record less: guesses for it hold, and that for the other does not.
fn corrected_late(subject: Subject) -> Subject {
    subject.event("five guesses hold, a later one does not", |seen| {
        seen.items().take(5).all(|item| item == HELD) && seen.items().any(|item| item == "⊤")
    })
}

/// The third answer is drawn and lost, with the process; the session goes on from what was stored before it, and asks again.
fn with_an_answer_lost(plan: Plan) -> Audited {
    let guess = 4 * RECORDS / plan.sparse_weights(None).expect("few slots").slots();
    let (pair, data) = neighbours(&plan, guess);
    let name = "session of sparse weights, c = 2, an answer lost";
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        let Some(mut session) = or_refused(Session::new(plan.clone(), data, rng), seen) else { return };
        let mut is_held = true;
        for question in 0..9 {
            if question == 2 {
                let (weights, transcript) = (session.hypothesis().clone(), session.transcript().to_vec());
                let head = session.charged_head(1, rng);
                let lost = session.answer(&query(question, is_held), rng);
                drop((session, lost));
                let Some(resumed) = or_refused(Session::resume(head, weights, transcript, data), seen) else { return };
                session = resumed;
            }
            is_held = ask(&mut session, question, is_held, rng, seen);
        }
    });
    Audited::right(corrected_late(subject), 15_000)
}

/// Two answers, and then none. The calibration of its noise is nearly all of what a run costs.
fn gaussian(plan: Plan) -> Audited {
    let data = [data(100, 100, 800), data(101, 99, 800)];
    let (name, pair) = ("session of Gaussian noise", "one record takes another key");
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        if let Some(session) = or_refused(Session::new(plan.clone(), data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    // Rather far than near: at the tails Gaussian noise tells most.
    let moved = [(0, 100.0, 103.0), (1, 100.0, 97.0)].map(|(place, first, far)| (place, units(first), units(far)));
    Audited::right(all_moved(subject, moved.to_vec()), 30_000)
}

fn perceptron(plan: Plan) -> Audited {
    let (pair, data) = neighbours(&plan, 0);
    let name = "session of a perceptron, c = 1";
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        let Some(learner) = or_refused(SparsePerceptron::new(4, 1, None), seen) else { return };
        if let Some(session) = or_refused(Session::with_hypothesis(plan.clone(), learner, data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    Audited::right(corrected_late(subject), 10_000)
}

/// Half of ε for a release of four rows, half for its guard. The number of records is understated, so that the guesses are too
/// low by as much as calls the guard.
fn guarded() -> Audited {
    let setting =
        Setting { budget: budget(0.5, 0.0), records: 50, largest_count: 50, ..setting(Neighbours::AddRemove, 0.0) };
    let release = ProjectionRelease::builder(budget(0.5, 0.0), Neighbours::AddRemove, 1).records(50);
    let release = release.nonzeros(1).width(4).heavy(HeavyKeys::Off).build().expect("a small release");
    let plan = GuardedPlan::with_release(&setting, Hits::ONE, release).expect("noise for one correction");
    let each = 50 + plan.guard().threshold() as i64;
    let data = [each, each + 1].map(|grows| Data::keys(table(&[(GROWS, grows), (SHRINKS, each)])));
    let cost = plan.cost().expect("a sum of halves");
    let subject = Subject::new(
        "session of a guarded release, c = 1",
        "one record more",
        claim(&cost),
        data,
        move |data, rng, seen| {
            let Some(session) = or_refused(Session::guarded(&plan, data, rng), seen) else { return };
            let release = session.hypothesis().release();
            // Of the sketch, the sum that tells most of the key.
            let column = release.family().column(Fingerprint::raw(GROWS));
            seen.integer(column.iter().map(|&(row, sign)| sign * release.values()[row]).sum());
            ask_adaptively(session, rng, seen);
        },
    );
    Audited::right(subject, 15_000)
}

/// Nine questions, each after the answer before it.
fn ask_adaptively<H: Hypothesis>(mut session: Session<'_, H>, rng: &mut TrialRng, seen: &mut Transcript) {
    let mut is_held = true;
    for question in 0..9 {
        is_held = ask(&mut session, question, is_held, rng, seen);
    }
}

/// Asks one, and says whether the guess held.
fn ask<H: Hypothesis>(
    session: &mut Session<'_, H>,
    question: u64,
    is_held: bool,
    rng: &mut TrialRng,
    seen: &mut Transcript,
) -> bool {
    let answer = session.answer(&query(question, is_held), rng);
    let is_held = matches!(answer, Ok(Answer { source: Source::Hypothesis, .. }));
    write(answer, seen);
    is_held
}

/// While guesses hold, five lists with the key that grows; then, and once a guess did not hold, lists with the one that shrinks.
fn query(question: u64, is_held: bool) -> Query {
    let key = if is_held && question < 5 { GROWS } else { SHRINKS };
    Query::keys(list(&[key, ABSENT + question, ABSENT + 50, ABSENT + 51]))
}

/// Guesses are public, and computed from what is seen already.
fn write(answer: Result<Answer, Refusal>, seen: &mut Transcript) {
    match or_refused(answer, seen) {
        Some(Answer { source: Source::Data, value, .. }) => {
            seen.mark("⊤");
            seen.integer(units(value));
        }
        Some(Answer { source: Source::Hypothesis, .. }) => seen.mark(HELD),
        Some(Answer { source: Source::Unchecked, .. }) => seen.mark("unchecked"),
        None => (),
    }
}
