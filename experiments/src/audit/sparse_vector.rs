//! The sparse vector: every plan, on the pairs that bring its loss near its claim, driven in every way there is.

use rand::CryptoRng;
use tamis::noise::sparse_vector::{Halted, Plan, PlanError, Report, Reported, Setting, SparseVector, Verdict};
use tamis::noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
use tamis_harness::TrialRng;
use tamis_harness::audit::{Claim, Subject, Transcript};
use tamis_oracle::enumeration::{Interval, Pair, universal_pair, worst_loss};
use tamis_oracle::mechanism::{Mechanism, Output};
use tamis_oracle::wrong::interleaved_pair;

use super::Audited;

/// Grid units that one record moves an answer: so many that the grid costs the auditor nothing.
pub const UNIT: i64 = 16;

/// A run of ours, roughly.
const NANOSECONDS: u64 = 2_500;

/// Writes an answer as the analyst sees it.
pub fn write(answer: Result<Verdict, Halted>, seen: &mut Transcript) {
    match answer {
        Ok(Verdict::Below) => seen.mark("⊥"),
        Ok(Verdict::Above(reported)) => {
            seen.mark("⊤");
            match reported {
                Reported::Nothing => (),
                Reported::Gap(number) | Reported::Value(number) => seen.integer(number),
            }
        }
        Err(_) => seen.mark("over"),
    }
}

/// δ of the plans that have one.
const DELTA: f64 = 1e-6;

/// Plans with c hits, ε = 1 and this δ. `kind` decides between neighbours under which answers move freely or together.
pub fn setting(hits: u64, delta: f64, kind: StreamKind) -> Setting {
    setting_at(1.0, hits, delta, kind)
}

/// The same at another ε.
fn setting_at(epsilon: f64, hits: u64, delta: f64, kind: StreamKind) -> Setting {
    // Cannot fail, here and below: the parameters are constants of this file, and legal.
    let legal = "legal parameters";
    Setting {
        hits: Hits::new(hits).expect(legal),
        budget: Budget::approximate(Epsilon::new(epsilon).expect(legal), Delta::new(delta).expect(legal)),
        sensitivity: Sensitivity::new(UNIT as u64).expect(legal),
        neighbours: Neighbours::AddRemove,
        kind,
    }
}

type Make = fn(&Setting, Queries, Beta) -> Result<Plan, PlanError>;

/// The plan for a hundred queries.
pub fn plan(make: Make, setting: &Setting) -> Plan {
    let (queries, beta) = (Queries::new(100), Beta::new(0.05));
    // Cannot fail: see `setting`.
    make(setting, queries.expect("legal"), beta.expect("legal")).expect("a plan for legal parameters")
}

/// A run on all of a stream; whatever is asked after the end is refused.
pub fn answer_all<R: CryptoRng>(gate: &mut SparseVector, values: &[i64], rng: &mut R, seen: &mut Transcript) {
    values.iter().for_each(|&value| write(gate.answer(value, rng), seen));
}

/// The plan as the oracle describes mechanisms.
fn described(plan: &Plan) -> Mechanism {
    let (threshold, query) = (plan.threshold_noise().to_f64_up(), plan.query_noise().to_f64_up());
    let hits = plan.setting().hits.get();
    let output = match (plan.report(), plan.value_noise()) {
        (Report::Value, Some(noise)) => Output::FreshValue(noise.to_f64_up()),
        (Report::Gap, _) => Output::Gap,
        _ => Output::Verdict,
    };
    if plan.redraws() {
        Mechanism::restarted(threshold, query, hits, output)
    } else {
        Mechanism::no_redraw(threshold, query, hits, output)
    }
}

/// What it claims, δ as it is written.
fn claim(plan: &Plan) -> Claim {
    let budget = &plan.setting().budget;
    Claim { epsilon: budget.epsilon().to_f64_up(), delta: if budget.delta().is_zero() { 0.0 } else { DELTA } }
}

/// A plan against threshold 0 on a pair of streams, asked to the end and beyond it.
fn asked_all(name: &str, pair_name: &str, plan: Plan, pair: Pair) -> Subject {
    let (claim, inputs) = (claim(&plan), [pair.first, pair.second]);
    Subject::new(name, pair_name, claim, inputs, move |values: &Vec<i64>, rng, seen| {
        let mut gate = SparseVector::new(plan.clone(), 0, rng);
        answer_all(&mut gate, values, rng, seen);
    })
}

/// It with the exact loss, where that can be enumerated.
fn on_pair(name: &str, pair_name: &str, plan: Plan, pair: Pair) -> Audited {
    let (mechanism, report, hits) = (described(&plan), plan.report(), plan.setting().hits.get());
    let subject = asked_all(name, pair_name, plan, pair.clone());
    let claim = subject.claim();
    // The more hits, the rarer what tells.
    let audited = Audited::right(subject, NANOSECONDS).thoroughly(hits.into());
    let largest = move || {
        let Interval { lower, upper } = worst_loss(&mechanism, std::slice::from_ref(&pair), 0, 0).loss;
        // The interval is 1e-9 wide; equal streams have no loss.
        if lower <= 0.0 { 0.0 } else { upper }
    };
    // The enumeration is of δ = 0, and lumps gaps.
    match (claim.delta == 0.0, report) {
        (true, Report::Gap) => audited.at_least(largest),
        (true, _) => audited.exact(largest),
        (false, _) => audited,
    }
}

/// Answers on a pair, in sensitivities of so many units: "0×5 → 1×4 -1".
pub fn in_words(pair: &Pair, unit: i64) -> String {
    let stream = |values: &[i64]| {
        let runs = values.chunk_by(|one, next| one == next);
        let run = |run: &[i64]| {
            let value = run[0] as f64 / unit as f64;
            if run.len() == 1 { value.to_string() } else { format!("{value}×{}", run.len()) }
        };
        runs.map(run).collect::<Vec<_>>().join(" ")
    };
    format!("{} → {}", stream(&pair.first), stream(&pair.second))
}

/// AboveThreshold on U(8, 1): its loss there is 0.98 of its claim, so an auditor that does not see it sees nothing.
pub fn control() -> Audited {
    let make: Make = |setting, _, _| Plan::sparse(setting);
    let plan = plan(make, &setting(1, 0.0, StreamKind::Values));
    on_pair("AboveThreshold", "U(8, 1)", plan, universal_pair(8, 1, UNIT))
}

/// All of them but the control.
pub fn subjects() -> Vec<Audited> {
    let free = |hits| setting(hits, 0.0, StreamKind::Values);
    let monotone = |hits| setting(hits, 0.0, StreamKind::Counts);
    let approximate = |hits| setting(hits, DELTA, StreamKind::Values);
    let sparse: Make = |setting, _, _| Plan::sparse(setting);
    let numeric: Make = |setting, _, _| Plan::numeric_sparse(setting);
    let gap: Make = |setting, queries, beta| Plan::tight(setting, queries, beta)?.with_gap();
    let universal = |below, above| universal_pair(below, above, UNIT);
    // Answers that only grow: the ⊥ do, the ⊤ stays.
    let together = |below: usize| Pair { first: vec![0; below + 1], second: [vec![UNIT; below], vec![0]].concat() };
    let all_below = Pair { first: vec![-6 * UNIT; 32], second: vec![-5 * UNIT; 32] };
    let nothing_moves = Pair { first: vec![0; 5], second: vec![0; 5] };
    vec![
        on_pair("AboveThreshold", "U(4, 1)", plan(sparse, &free(1)), universal(4, 1)),
        on_pair("AboveThreshold", "32 answers that all grow", plan(sparse, &free(1)), all_below),
        on_pair("AboveThreshold", "the same stream twice", plan(sparse, &free(1)), nothing_moves),
        on_pair("Sparse, c=2", "U(4, 1) twice", plan(sparse, &free(2)), interleaved_pair(4, 2, UNIT)),
        Audited::with_twin(sparse_with_delta, NANOSECONDS).thoroughly(2),
        on_pair("NumericSparse", "U(4, 1)", plan(numeric, &free(1)), universal(4, 1)),
        on_pair("NumericSparse", "one answer", plan(numeric, &free(1)), universal(0, 1)),
        on_pair("one threshold, c=3", "U(4, 3)", plan(Plan::no_redraw, &free(3)), universal(4, 3)),
        on_pair("restarted, c=2", "U(4, 1) twice", plan(Plan::restarted, &free(2)), interleaved_pair(4, 2, UNIT)),
        on_pair(
            "restarted, c=2, δ=1e-6",
            "U(4, 1) twice",
            plan(Plan::restarted, &approximate(2)),
            interleaved_pair(4, 2, UNIT),
        ),
        on_pair("monotone, c=1", "eight counts of nine grow", plan(Plan::tight, &monotone(1)), together(8)),
        on_pair(
            "monotone, c=3",
            "two counts of three grow, thrice",
            plan(Plan::tight, &monotone(3)),
            repeated(&together(2), 3),
        ),
        on_pair("tight with gap", "U(4, 1)", plan(gap, &free(1)), universal(4, 1)),
        on_pair("tight with gap, c=2", "U(2, 1) twice", plan(gap, &free(2)), interleaved_pair(2, 2, UNIT)),
        at_the_ends_of_the_integers(plan(sparse, &free(1))),
        by_slices(plan(sparse, &free(2))),
        Audited::with_twin(stored_and_restored, 8 * NANOSECONDS).thoroughly(3),
        driven_adaptively(plan(Plan::no_redraw, &free(2))),
    ]
}

/// For so few hits the book's composition with δ costs noise rather than saving it: seven times that of δ = 0, so that little is lost.
fn sparse_with_delta(epsilon: f64) -> Subject {
    let plan = plan(|setting, _, _| Plan::sparse(setting), &setting_at(epsilon, 2, DELTA, StreamKind::Values));
    asked_all("Sparse, c=2, δ=1e-6", "U(4, 1) twice", plan, interleaved_pair(4, 2, UNIT))
}

fn repeated(pair: &Pair, times: usize) -> Pair {
    Pair { first: pair.first.repeat(times), second: pair.second.repeat(times) }
}

/// Ties with the threshold, and answers that no margin holds.
fn at_the_ends_of_the_integers(plan: Plan) -> Audited {
    let streams =
        [[i64::MIN, i64::MIN + UNIT, 0, 0, i64::MAX], [i64::MIN + UNIT, i64::MIN, UNIT, -UNIT, i64::MAX - UNIT]];
    let subject =
        Subject::new("AboveThreshold", "the ends of the integers", claim(&plan), streams, move |values, rng, seen| {
            let mut gate = SparseVector::new(plan.clone(), 0, rng);
            answer_all(&mut gate, values, rng, seen);
        });
    Audited::right(subject, NANOSECONDS)
}

/// A hundred answers far below the threshold, in slices, among some near it: what the fast path is for.
fn by_slices(plan: Plan) -> Audited {
    let stream =
        |below: i64, above: i64| [vec![-200 * UNIT; 70], vec![below; 6], vec![-200 * UNIT; 64], vec![above]].concat();
    let streams = [stream(0, 0), stream(UNIT, -UNIT)];
    let subject = Subject::new(
        "Sparse by slices, c=2",
        "U(6, 1) among 134 far answers",
        claim(&plan),
        streams,
        move |values: &Vec<i64>, rng, seen| {
            let mut gate = SparseVector::new(plan.clone(), 0, rng);
            for slice in values.chunks(100) {
                match gate.answer_slice(slice, rng) {
                    Ok(answers) => {
                        answers.hits.iter().for_each(|(index, _)| seen.label(format_args!("⊤ at {index}")));
                        seen.label(format_args!("{} answered", answers.answered));
                    }
                    Err(halted) => seen.label(halted),
                }
            }
        },
    );
    Audited::right(subject, NANOSECONDS)
}

/// After every answer the run is stored and goes on from what was stored, once.
fn stored_and_restored(epsilon: f64) -> Subject {
    let plan = plan(Plan::restarted, &setting_at(epsilon, 2, 0.0, StreamKind::Values));
    let Pair { first, second } = interleaved_pair(4, 2, UNIT);
    Subject::new(
        "restarted, stored after each answer",
        "U(4, 1) twice",
        claim(&plan),
        [first, second],
        move |values: &Vec<i64>, rng, seen| {
            let mut gate = SparseVector::new(plan.clone(), 0, rng);
            for &value in values {
                write(gate.answer(value, rng), seen);
                match SparseVector::restore(gate.snapshot()) {
                    Ok(restored) => gate = restored,
                    Err(error) => return seen.label(error),
                }
            }
        },
    )
}

/// Each question, and the threshold it is asked against, depends on the answers so far: the analyst looks for the noisy
/// threshold, from above, with answers that grow, and strikes with one that shrinks.
fn driven_adaptively(plan: Plan) -> Audited {
    let inputs = [(0, 0), (UNIT, -UNIT)];
    let subject = Subject::new(
        "one threshold, c=2, adaptive",
        "questions that grow and shrink",
        claim(&plan),
        inputs,
        move |&(growing, shrinking), rng, seen| {
            adaptive(SparseVector::new(plan.clone(), 0, rng), growing, shrinking, rng, seen);
        },
    );
    Audited::right(subject, NANOSECONDS)
}

fn adaptive(mut gate: SparseVector, growing: i64, shrinking: i64, rng: &mut TrialRng, seen: &mut Transcript) {
    let mut threshold = 2 * UNIT;
    for _ in 0..6 {
        let answer = gate.answer_against(growing, threshold, rng);
        write(answer, seen);
        match answer {
            Ok(Verdict::Below) => threshold -= UNIT,
            Ok(Verdict::Above(_)) => threshold += UNIT,
            Err(_) => return,
        }
    }
    write(gate.answer_against(shrinking, threshold, rng), seen);
}
