//! Sparse vectors that are wrong on purpose: the published mistakes and the slips of `tamis_oracle::wrong`, with our exact
//! noise, and our own mechanism used against its documentation.

use tamis::noise::StreamKind;
use tamis::noise::sparse_vector::{Plan, SparseVector};
use tamis_harness::TrialRng;
use tamis_harness::audit::{Claim, Number, Subject, Transcript};
use tamis_oracle::enumeration::{Cell, Event, Pair, loss, universal_pair, worst_loss};
use tamis_oracle::mechanism::{Answer, Mechanism, Output, Redraw};
use tamis_oracle::wrong::{Counterexample, catalogue};

use super::Audited;
use super::laws::Laws;
use super::sparse_vector::{UNIT, answer_all, in_words, plan, setting};

/// A run of a described mechanism, roughly.
const NANOSECONDS: u64 = 300;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    // What it gives away is too rare on its counterexample: `redrawn_after_each_hit` asks it better.
    let is_asked_better = |wrong: &Counterexample| wrong.name == "threshold redrawn at the scale of one draw";
    let mut all: Vec<Audited> =
        catalogue(UNIT).into_iter().filter(|wrong| !is_asked_better(wrong)).map(published).collect();
    all.extend([
        redrawn_after_each_hit(),
        compared_value_of_numeric_sparse(),
        threshold_from_the_data(),
        sensitivity_understated(),
        monotone_noise_where_answers_move_freely(),
        older_snapshot_continued(),
    ]);
    all
}

/// A described mechanism with its noise.
struct Runner {
    mechanism: Mechanism,
    laws: Laws,
}

impl Runner {
    fn new(mechanism: Mechanism) -> Self {
        let redrawn = if let Redraw::AfterHit(scale) = mechanism.redraw { scale } else { 0.0 };
        let fresh = if let Output::FreshValue(scale) = mechanism.output { scale } else { 0.0 };
        let mut scales = vec![mechanism.threshold_scale, mechanism.query_scale, redrawn, fresh];
        scales.retain(|&scale| scale > 0.0);
        Self { mechanism, laws: Laws::new(&scales) }
    }

    /// Runs it, and writes what is seen.
    fn run(&self, values: &[i64], threshold: i64, rng: &mut TrialRng, seen: &mut Transcript) {
        for answer in self.mechanism.run(values, threshold, &mut self.laws.with(rng)) {
            seen.mark(if answer.is_above() { "⊤" } else { "⊥" });
            match answer {
                Answer::Below | Answer::Above => (),
                Answer::Gap(number) | Answer::Value(number) => seen.integer(number),
                Answer::GapAndValue(gap, value) => [gap, value].into_iter().for_each(|number| seen.integer(number)),
            }
        }
    }
}

/// A described mechanism that claims ε = 1, on a pair.
fn described(name: &str, pair_name: &str, mechanism: Mechanism, pair: Pair, threshold: i64) -> Subject {
    let runner = Runner::new(mechanism);
    let inputs = [pair.first, pair.second];
    Subject::new(name, pair_name, Claim::pure(1.0), inputs, move |values: &Vec<i64>, rng, seen| {
        runner.run(values, threshold, rng, seen);
    })
}

/// With the event that only the last answer is ⊤, with a low number: a half-line of an output so rare that a sample may not rank it first.
fn low_at_the_end(subject: Subject, pair: &Pair) -> Subject {
    let before = pair.first.len() - 1;
    subject.event("only the last is ⊤, with a number ≤ 3", move |seen| {
        let is_low = matches!(seen.numbers().last(), Some(Number::Integer(number)) if *number <= 3 * UNIT);
        is_low && seen.items().take(before).all(|item| item == "⊥")
    })
}

/// One of the catalogue, on the pair that gives it away; which event does is left to the auditor, but for one that it is handed where
/// outputs have numbers and the loss is finite.
fn published(wrong: Counterexample) -> Audited {
    let Counterexample { name, mechanism, pair, threshold, output, continuous_loss } = wrong;
    let against = if threshold == 0 { String::new() } else { format!(", T = {}", threshold as f64 / UNIT as f64) };
    let subject = described(name, &(in_words(&pair, UNIT) + &against), mechanism, pair.clone(), threshold);
    if continuous_loss == Some(f64::INFINITY) {
        return Audited::wrong(subject, NANOSECONDS).exact(|| f64::INFINITY);
    }
    let is_verdict = mechanism.output == Output::Verdict;
    let audited = Audited::wrong(if is_verdict { subject } else { low_at_the_end(subject, &pair) }, NANOSECONDS);
    if is_verdict {
        return audited.exact(move || worst_loss(&mechanism, std::slice::from_ref(&pair), threshold, 0).loss.upper);
    }
    audited.at_least(move || loss(&mechanism, &pair, threshold, &output).lower)
}

/// LSL17's Algorithm 1 for monotone streams with ρ drawn again after the first of two ⊤, at the scale that pays for one
/// draw. It claims ε = 3, where that shows soonest. The analyst asks five times what grows, then the same again and again
/// until there is a ⊤; then all of it once more.
fn redrawn_after_each_hit() -> Audited {
    const EPSILON: f64 = 3.0;
    const GROWING: usize = 5;
    const PATIENCE: usize = 6;
    let right = Mechanism::lyu_su_li_monotone(EPSILON / 2.0, EPSILON / 2.0, 2, UNIT);
    // To its first ⊤ the mechanism is this one, and then again.
    let stretch = Mechanism { hits: Some(1), ..right };
    let runner = Runner::new(stretch);
    let stream = |moved: i64| [vec![moved; GROWING], vec![0; PATIENCE]].concat();
    let pair = Pair { first: stream(0), second: stream(UNIT) };
    let inputs = [pair.first.clone(), pair.second.clone()];
    let name = "threshold redrawn at the scale of one draw";
    let pair_name = format!("twice up to a ⊤: {}, T = 0.5", in_words(&pair, UNIT));
    let subject = Subject::new(name, pair_name, Claim::pure(EPSILON), inputs, move |values: &Vec<i64>, rng, seen| {
        runner.run(values, UNIT / 2, rng, seen);
        if seen.items().any(|item| item == "⊤") {
            runner.run(values, UNIT / 2, rng, seen);
        }
    });
    // Its outputs are many and the telling ones rare: the union that a sample ranks highest is not the best one.
    let subject = subject.event("five that grow ⊥, then a ⊤: twice", |seen| {
        let verdicts: Vec<bool> = seen.items().map(|item| item == "⊤").collect();
        let stretches: Vec<&[bool]> = verdicts.split_inclusive(|&above| above).collect();
        stretches.len() == 2 && stretches.iter().all(|stretch| stretch.len() > GROWING && stretch.ends_with(&[true]))
    });
    Audited::wrong(subject, 2 * NANOSECONDS)
        .exact(move || 2.0 * worst_loss(&stretch, std::slice::from_ref(&pair), UNIT / 2, 0).loss.upper)
}

/// NumericSparse with the book's constants that releases what it compared instead of drawing fresh noise.
fn compared_value_of_numeric_sparse() -> Audited {
    const BELOW: usize = 7;
    let mechanism = Mechanism::numeric_sparse(1.0, 1, UNIT).with_output(Output::ComparedValue);
    let pair = universal_pair(BELOW, 1, UNIT);
    let output = [vec![Event::Below; BELOW], vec![Event::value(Cell::at_most(3 * UNIT))]].concat();
    let subject =
        described("NumericSparse releases what it compared", &in_words(&pair, UNIT), mechanism, pair.clone(), 0);
    // The telling half-line is of an output so rare that a sample does not rank it first.
    let subject = subject.event("⊥×7, then a value ≤ 3", |seen| {
        seen.items().count() == BELOW + 2 && matches!(seen.numbers(), [Number::Integer(value)] if *value <= 3 * UNIT)
    });
    Audited::wrong(subject, NANOSECONDS).at_least(move || loss(&mechanism, &pair, 0, &output).lower)
}

/// The threshold is a count of the same data and moves against the answers: margins move twice as far.
fn threshold_from_the_data() -> Audited {
    let mechanism = Mechanism::above_threshold(1.0, UNIT);
    let runner = Runner::new(mechanism);
    let inputs = [(vec![0; 7], 0), ([vec![UNIT; 6], vec![-UNIT]].concat(), -UNIT)];
    let subject = Subject::new(
        "threshold taken from the data",
        "U(6, 1), threshold shrinks",
        Claim::pure(1.0),
        inputs,
        move |(values, threshold), rng, seen| {
            runner.run(values, *threshold, rng, seen);
        },
    );
    Audited::wrong(subject, NANOSECONDS)
}

/// Queries that one record moves by twice what was declared, such as a coefficient nobody checked.
fn sensitivity_understated() -> Audited {
    let plan = above_threshold();
    misused("coefficient of 2 where 1 is declared", "U(4, 1) of sensitivity 2", plan, universal_pair(4, 1, 2 * UNIT))
}

/// The plan for monotone streams where some answers grow and others shrink: substitution taken for add-remove, or a session
/// that asks q − q̂ and q̂ − q.
fn monotone_noise_where_answers_move_freely() -> Audited {
    let plan = plan(Plan::tight, &setting(1, 0.0, StreamKind::Counts));
    misused("monotone plan, answers of both directions", "U(6, 1)", plan, universal_pair(6, 1, UNIT))
}

fn above_threshold() -> Plan {
    plan(|setting, _, _| Plan::sparse(setting), &setting(1, 0.0, StreamKind::Values))
}

fn misused(name: &str, pair_name: &str, plan: Plan, pair: Pair) -> Audited {
    let inputs = [pair.first, pair.second];
    let subject = Subject::new(name, pair_name, Claim::pure(1.0), inputs, move |values: &Vec<i64>, rng, seen| {
        answer_all(&mut SparseVector::new(plan.clone(), 0, rng), values, rng, seen);
    });
    Audited::wrong(subject, 10 * NANOSECONDS)
}

/// A stored run that is continued twice: two hits under one noisy threshold for the budget of one.
fn older_snapshot_continued() -> Audited {
    let plan = above_threshold();
    let inputs = [[0; 8], [UNIT, UNIT, UNIT, -UNIT, UNIT, UNIT, UNIT, -UNIT]];
    let subject = Subject::new(
        "older snapshot continued",
        "U(3, 1), then again",
        Claim::pure(1.0),
        inputs,
        move |values: &[i64; 8], rng, seen| {
            let mut gate = SparseVector::new(plan.clone(), 0, rng);
            let stored = gate.snapshot();
            answer_all(&mut gate, &values[..4], rng, seen);
            match SparseVector::restore(stored) {
                Ok(mut again) => answer_all(&mut again, &values[4..], rng, seen),
                Err(error) => seen.label(error),
            }
        },
    );
    Audited::wrong(subject, 20 * NANOSECONDS)
}
