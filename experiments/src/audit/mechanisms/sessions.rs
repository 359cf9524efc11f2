//! Sessions: each question hangs on the answers before it, and a neighbour moves the answers both ways.
//!
//! The question is asked in ever new lists with the same records, as long as the guess holds; then another is. So a session is
//! made to say ⊥ often where the answer of a neighbour grows, and then ⊤ where it shrinks, which is where the sparse vector's
//! loss is.

use tamis::interactive::{
    Answer, Data, DenseWeights, GuardedPlan, Hypothesis, Learner, Plan, Query, Refusal, Session, Setting, Source,
    SparsePerceptron,
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
    let (learner, two) = (Learner::SparseWeights, Queries::new(2).expect("positive"));
    let budgeted = |learner, updates, epsilon| {
        let updates = Hits::new(updates).expect("positive");
        let exchanged = setting(Neighbours::Substitute, epsilon, 0.0);
        Plan::budgeted(&exchanged, learner, updates, THRESHOLD).expect("noise for few corrections")
    };
    // Of as many keys as records the first guess is nearly as good as any: one correction, and a threshold hardly above the noise.
    let tight = |epsilon| {
        let distinct = Setting { records: 200, largest_count: 1, ..setting(Neighbours::Substitute, epsilon, 0.0) };
        Plan::tight(&distinct, learner).expect("noise")
    };
    // One correction, too: of so few records nothing can be learned. They are understated.
    let paper = |epsilon| {
        let few = Setting { records: 5, largest_count: 5, ..setting(Neighbours::AddRemove, epsilon, 0.0) };
        Plan::paper(&few, learner).expect("noise")
    };
    let answers = |epsilon| Setting { queries: two, ..setting(Neighbours::Substitute, epsilon, DELTA) };
    let once =
        |name: &str, plan: &dyn Fn(f64) -> Plan| Audited::with_twin(|epsilon| weights(name, plan(epsilon)), 10_000);
    vec![
        once("session of sparse weights, c = 1", &|epsilon| budgeted(learner, 1, epsilon)),
        once("session of sparse weights, c = 2", &|epsilon| budgeted(learner, 2, epsilon)).thoroughly(3),
        once("session of sparse weights, tight", &tight),
        once("session of sparse weights, paper", &paper),
        Audited::with_twin(|epsilon| with_an_answer_lost(budgeted(learner, 2, epsilon)), 15_000).thoroughly(3),
        Audited::with_twin(|epsilon| gaussian(Plan::gaussian(&answers(epsilon)).expect("noise")), 30_000),
        Audited::with_twin(|epsilon| perceptron(budgeted(Learner::SparsePerceptron, 1, epsilon)), 10_000),
        Audited::with_twin(
            |epsilon| dense(budgeted(Learner::DenseWeights(LISTED.len() as u64 + 1), 1, epsilon)),
            15_000,
        ),
        Audited::with_twin(guarded, 15_000),
    ]
}

fn setting(neighbours: Neighbours, epsilon: f64, delta: f64) -> Setting {
    Setting {
        records: RECORDS,
        largest_count: RECORDS,
        support: 4,
        queries: Queries::new(8).expect("positive"),
        beta: Beta::new(0.05).expect("a probability"),
        budget: budget(epsilon, delta),
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
        Neighbours::Substitute => {
            let records = plan.setting().records as i64;
            ("one record takes another key", records - 2 * each, each - 1)
        }
    };
    (pair, [data(each, each, rest), data(each + 1, shrunk, rest)])
}

/// The first guess of sparse weights for a list of four keys.
fn first_guess(plan: &Plan) -> u64 {
    4 * plan.setting().records / plan.slots().expect("weights")
}

fn weights(name: &str, plan: Plan) -> Subject {
    let guess = first_guess(&plan);
    let (pair, data) = neighbours(&plan, guess);
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        if let Some(session) = or_refused(Session::new(plan.clone(), data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    corrected_late(subject)
}

/// What is likelier if the first key has a record less: guesses for it hold, and that for the other does not.
fn corrected_late(subject: Subject) -> Subject {
    subject.event("five guesses hold, a later one does not", |seen| {
        seen.items().take(5).all(|item| item == HELD) && seen.items().any(|item| item == "⊤")
    })
}

/// The third answer is drawn and lost, with the process; the session goes on from what was stored before it, and asks again.
fn with_an_answer_lost(plan: Plan) -> Subject {
    let (pair, data) = neighbours(&plan, first_guess(&plan));
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
    corrected_late(subject)
}

/// Two answers, and then none. The calibration of its noise is nearly all of what a run costs.
fn gaussian(plan: Plan) -> Subject {
    let data = [data(100, 100, 800), data(101, 99, 800)];
    let (name, pair) = ("session of Gaussian noise", "one record takes another key");
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        if let Some(session) = or_refused(Session::new(plan.clone(), data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    // Rather far than near: at the tails Gaussian noise tells most.
    let moved = [(0, 100.0, 103.0), (1, 100.0, 97.0)].map(|(place, first, far)| (place, units(first), units(far)));
    all_moved(subject, moved.to_vec())
}

fn perceptron(plan: Plan) -> Subject {
    let (pair, data) = neighbours(&plan, 0);
    let name = "session of a perceptron, c = 1";
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        let Some(learner) = or_refused(SparsePerceptron::new(4, 1, None), seen) else { return };
        if let Some(session) = or_refused(Session::with_hypothesis(plan.clone(), learner, data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    corrected_late(subject)
}

/// The keys that dense weights know. All lists name one of them.
const LISTED: [u64; 3] = [GROWS, SHRINKS, OTHER];

fn dense(plan: Plan) -> Subject {
    // Of a list with one known key.
    let guess = RECORDS / plan.slots().expect("weights");
    let (pair, data) = neighbours(&plan, guess);
    let name = "session of dense weights, c = 1";
    let subject = Subject::new(name, pair, claim(&plan.cost()), data, move |data, rng, seen| {
        let Some(learner) = or_refused(DenseWeights::new(LISTED.map(Fingerprint::raw), 1), seen) else { return };
        if let Some(session) = or_refused(Session::with_hypothesis(plan.clone(), learner, data, rng), seen) {
            ask_adaptively(session, rng, seen);
        }
    });
    corrected_late(subject)
}

/// Half of ε for a release of four rows, half for its guard. The number of records is understated, so that the guesses are too
/// low by as much as calls the guard.
fn guarded(epsilon: f64) -> Subject {
    let half = 0.5 * epsilon;
    let setting = Setting { records: 50, largest_count: 50, ..setting(Neighbours::AddRemove, half, 0.0) };
    let release = ProjectionRelease::builder(budget(half, 0.0), Neighbours::AddRemove, 1).records(50);
    let release = release.nonzeros(1).width(4).heavy(HeavyKeys::Off).build().expect("a small release");
    let plan = GuardedPlan::with_release(&setting, Hits::ONE, release).expect("noise for one correction");
    let each = 50 + plan.guard().threshold() as i64;
    let data = [each, each + 1].map(|grows| Data::keys(table(&[(GROWS, grows), (SHRINKS, each)])));
    let cost = plan.cost().expect("a sum of halves");
    Subject::new(
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
    )
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
