//! The sparse vector: its plans spend what they say, its output law is the law of the papers' figures, and its states are
//! what they should be.
//!
//! The law is compared with exact enumeration (`tamis_oracle::enumeration`), whose mechanisms are described by the very
//! scales of our plans. Chi-square over all outputs of a small stream, false alarm 1e-6 each, seeded; the twin that
//! must fail gives the enumeration another scale.

use chacha20::ChaCha12Rng;
use proptest::prelude::*;
use rand::SeedableRng;
use tamis_noise::sparse_vector::accuracy::{is_accurate, is_numerically_accurate};
use tamis_noise::sparse_vector::{
    Halted, Plan, PlanError, Report, Reported, Setting, Snapshot, SparseVector, Variant, Verdict,
};
use tamis_noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
use tamis_oracle::enumeration::{Cell, Event, Movement, Pair, neighbouring_pairs, outputs, probability, worst_loss};
use tamis_oracle::mechanism::{Mechanism, Output};
use tamis_oracle::statistics::ChiSquare;

const FALSE_ALARM: f64 = 1e-6;

fn setting(hits: u64, epsilon: f64, delta: f64, kind: StreamKind, neighbours: Neighbours) -> Setting {
    Setting {
        hits: Hits::new(hits).unwrap(),
        budget: Budget::approximate(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()),
        sensitivity: Sensitivity::ONE,
        neighbours,
        kind,
    }
}

fn free(hits: u64, epsilon: f64) -> Setting {
    setting(hits, epsilon, 0.0, StreamKind::Values, Neighbours::Substitute)
}

fn monotone(hits: u64, epsilon: f64) -> Setting {
    setting(hits, epsilon, 0.0, StreamKind::Counts, Neighbours::AddRemove)
}

fn queries(k: u64) -> Queries {
    Queries::new(k).unwrap()
}

fn beta() -> Beta {
    Beta::new(0.05).unwrap()
}

/// The plan as the oracle describes mechanisms.
fn described(plan: &Plan) -> Mechanism {
    let (t1, t2) = (plan.threshold_noise().to_f64_up(), plan.query_noise().to_f64_up());
    let output = match plan.report() {
        Report::Verdict => Output::Verdict,
        Report::Gap => Output::Gap,
        Report::Value => Output::FreshValue(plan.value_noise().unwrap().to_f64_up()),
    };
    let hits = plan.setting().hits.get();
    if plan.redraws() { Mechanism::restarted(t1, t2, hits, output) } else { Mechanism::no_redraw(t1, t2, hits, output) }
}

// ---- Privacy, by arithmetic -------------------------------------------------------------------------------------

/// Every pair of small streams, and the long ones on which the loss comes near its limit: ⊥ move one way, ⊤ the other (or,
/// on a monotone stream, not at all), before the first hit or before each.
fn pairs(movement: Movement, hits: usize) -> Vec<Pair> {
    const BELOW: usize = 8;
    let mut pairs = neighbouring_pairs(3, -1, 1, 1, movement);
    let down = if movement == Movement::Free { -1 } else { 0 };
    let second = |below: &[usize]| below.iter().flat_map(|&m| [vec![1; m], vec![down]].concat()).collect::<Vec<i64>>();
    let mut before_the_first = vec![0; hits];
    before_the_first[0] = BELOW;
    for second in [second(&before_the_first), second(&vec![BELOW; hits])] {
        pairs.push(Pair { first: vec![0; second.len()], second });
    }
    pairs
}

/// The exact loss of a plan's mechanism is at most `epsilon`, and at least 60 % of it: the check can see something.
fn loses_at_most(plan: &Plan, movement: Movement, epsilon: f64) {
    let hits = plan.setting().hits.get() as usize;
    let found = worst_loss(&described(plan), &pairs(movement, hits), 0, 2);
    assert!(found.loss.upper <= epsilon + 1e-8, "{plan:?}: {found:?}"); // 1e-8: the enumeration's float error
    assert!(found.loss.lower >= 0.6 * epsilon, "{plan:?}: blind, {found:?}");
}

#[test]
fn theorem_3_23_above_threshold_is_private() {
    let plan =
        Plan::above_threshold(Epsilon::new(1.0).unwrap(), Sensitivity::ONE, Neighbours::Substitute, StreamKind::Values);
    loses_at_most(&plan.unwrap(), Movement::Free, 1.0);
}

#[test]
fn theorem_3_25_sparse_is_private() {
    loses_at_most(&Plan::sparse(&free(2, 2.0)).unwrap(), Movement::Free, 2.0);
}

#[test]
fn theorem_3_27_numeric_sparse_is_private() {
    let plan = Plan::numeric_sparse(&free(1, 2.0)).unwrap();
    loses_at_most(&plan, Movement::Free, 2.0);
}

#[test]
fn restarted_is_private_with_and_without_the_gap() {
    for plan in
        [Plan::restarted(&free(2, 2.0), queries(10), beta()), Plan::restarted(&free(1, 2.0), queries(10), beta())]
    {
        let plan = plan.unwrap();
        loses_at_most(&plan, Movement::Free, 2.0);
        loses_at_most(&plan.with_gap().unwrap(), Movement::Free, 2.0);
    }
    let plan = Plan::restarted(&monotone(2, 2.0), queries(10), beta()).unwrap();
    loses_at_most(&plan, Movement::Together, 2.0);
    loses_at_most(&plan.with_gap().unwrap(), Movement::Together, 2.0);
}

#[test]
fn no_redraw_is_private_with_and_without_the_gap() {
    let plan = Plan::no_redraw(&free(2, 2.0), queries(10), beta()).unwrap();
    loses_at_most(&plan, Movement::Free, 2.0);
    loses_at_most(&plan.with_gap().unwrap(), Movement::Free, 2.0);
    let plan = Plan::no_redraw(&monotone(2, 2.0), queries(10), beta()).unwrap();
    loses_at_most(&plan, Movement::Together, 2.0);
    loses_at_most(&plan.with_gap().unwrap(), Movement::Together, 2.0);
}

/// The monotone constants are right on monotone streams only: the same scales overspend where answers move both ways.
#[test]
fn monotone_constants_on_a_free_stream_are_caught() {
    for plan in [
        Plan::restarted(&monotone(2, 2.0), queries(10), beta()),
        Plan::no_redraw(&monotone(2, 2.0), queries(10), beta()),
    ] {
        let found = worst_loss(&described(&plan.unwrap()), &pairs(Movement::Free, 2), 0, 0);
        assert!(found.loss.lower > 2.1, "{found:?}");
    }
}

/// For δ > 0 each run of one hit must cost at most the ε₀ that composes.
#[test]
fn a_run_of_an_approximate_plan_costs_its_share() {
    let setting = setting(20, 1.0, 1e-9, StreamKind::Values, Neighbours::Substitute);
    let plan = Plan::restarted(&setting, queries(100), beta()).unwrap();
    let share = tamis_noise::composition::optimal::epsilon_per_run(setting.hits, &setting.budget).unwrap().to_f64_up();
    let (t1, t2) = (plan.threshold_noise().to_f64_up(), plan.query_noise().to_f64_up());
    let one = Mechanism::restarted(t1, t2, 1, Output::Verdict);
    let found = worst_loss(&one, &pairs(Movement::Free, 1), 0, 0);
    assert!(found.loss.upper <= share + 1e-8 && found.loss.lower >= 0.6 * share, "{share}: {found:?}");
}

// ---- The law of the output --------------------------------------------------------------------------------------

fn event_of(verdict: Verdict, largest: i64) -> Event {
    match verdict {
        Verdict::Below => Event::Below,
        Verdict::Above(Reported::Nothing) => Event::ABOVE,
        Verdict::Above(Reported::Gap(gap)) if gap <= largest => Event::gap(Cell::exactly(gap)),
        Verdict::Above(Reported::Gap(_)) => Event::gap(Cell::at_least(largest + 1)),
        Verdict::Above(Reported::Value(value)) if value < 0 => Event::value(Cell::at_most(-1)),
        Verdict::Above(Reported::Value(value)) if value <= largest => Event::value(Cell::exactly(value)),
        Verdict::Above(Reported::Value(_)) => Event::value(Cell::at_least(largest + 1)),
    }
}

fn one_by_one(plan: &Plan, values: &[i64], threshold: i64, rng: &mut ChaCha12Rng) -> Vec<Verdict> {
    let mut run = SparseVector::new(plan.clone(), threshold, rng);
    values.iter().map_while(|&value| run.answer(value, rng).ok()).collect()
}

fn as_slice(plan: &Plan, values: &[i64], threshold: i64, rng: &mut ChaCha12Rng) -> Vec<Verdict> {
    let mut run = SparseVector::new(plan.clone(), threshold, rng);
    let answers = run.answer_slice(values, rng).unwrap();
    let mut verdicts = vec![Verdict::Below; answers.answered];
    for (index, reported) in answers.hits {
        verdicts[index] = Verdict::Above(reported);
    }
    verdicts
}

type Runner = fn(&Plan, &[i64], i64, &mut ChaCha12Rng) -> Vec<Verdict>;

/// Chi-square of 200 000 runs against the law enumerated for `claimed`.
fn law_of(run: Runner, plan: &Plan, claimed: &Mechanism, values: &[i64], threshold: i64) -> ChiSquare {
    const RUNS: usize = 200_000;
    const LARGEST: i64 = 3;
    let outputs = outputs(claimed, values.len(), LARGEST, Cell { low: 0, high: LARGEST });
    let probabilities: Vec<f64> =
        outputs.iter().map(|output| probability(claimed, values, threshold, output).lower).collect();
    let mut counts = vec![0; outputs.len()];
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    for _ in 0..RUNS {
        let said: Vec<Event> = run(plan, values, threshold, &mut rng).iter().map(|&v| event_of(v, LARGEST)).collect();
        let index = outputs.iter().position(|output| *output == said);
        counts[index.expect("every output is enumerated")] += 1;
    }
    ChiSquare::new(&counts, &probabilities, 25.0)
}

/// One of each kind, on small scales so that every output occurs.
fn plans() -> Vec<Plan> {
    let numeric = Plan::numeric_sparse(&free(2, 12.0)).unwrap();
    let restarted = Plan::restarted(&free(2, 6.0), queries(4), beta()).unwrap();
    let no_redraw = Plan::no_redraw(&monotone(2, 3.0), queries(4), beta()).unwrap();
    vec![
        Plan::sparse(&free(1, 3.0)).unwrap(),
        Plan::sparse(&free(2, 6.0)).unwrap(),
        numeric,
        restarted.clone(),
        restarted.with_gap().unwrap(),
        no_redraw.clone(),
        no_redraw.with_gap().unwrap(),
    ]
}

#[test]
fn the_law_of_the_output_is_that_of_the_figure() {
    for run in [one_by_one as Runner, as_slice] {
        for plan in plans() {
            // Answers far below, near, at and above the threshold.
            let test = law_of(run, &plan, &described(&plan), &[-20, 1, 2, 3], 2);
            assert!(test.accepts(FALSE_ALARM), "{plan:?}: {test:?}");
        }
    }
}

/// Everything far below: the path that tosses 64 coins at once, over a stream long enough for hits.
#[test]
fn a_slice_far_below_has_the_law_of_single_answers() {
    const RUNS: u64 = 60_000;
    let plan = Plan::sparse(&free(2, 8.0)).unwrap();
    let values: Vec<i64> = (0..150).map(|i| -6 - (i % 3)).collect();
    let histogram = |run: Runner, seed| {
        let mut counts = [0u64; 3];
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        for _ in 0..RUNS {
            let hits = run(&plan, &values, 0, &mut rng).iter().filter(|v| **v != Verdict::Below).count();
            counts[hits] += 1;
        }
        counts
    };
    let (single, slice) = (histogram(one_by_one, 1), histogram(as_slice, 2));
    assert!(single.iter().all(|&count| count > 500), "{single:?}");
    // Two samples of one law: Σ (a − b)²/(a + b) is chi-square with 2 degrees of freedom; 27.6 is its 1 − 1e-6 quantile.
    let statistic: f64 = single.iter().zip(&slice).map(|(&a, &b)| (a as f64 - b as f64).powi(2) / (a + b) as f64).sum();
    assert!(statistic < 27.6, "{single:?} against {slice:?}: {statistic}");
}

#[test]
fn a_query_noise_five_percent_off_is_noticed() {
    for run in [one_by_one as Runner, as_slice] {
        let plan = Plan::sparse(&free(2, 6.0)).unwrap();
        let right = described(&plan);
        let wrong = Mechanism { query_scale: right.query_scale * 1.05, ..right };
        let test = law_of(run, &plan, &wrong, &[-20, 1, 2, 3], 2);
        assert!(!test.accepts(FALSE_ALARM), "{test:?}");
    }
}

// ---- Accuracy ---------------------------------------------------------------------------------------------------

/// The seed's first example: 1000 queries of value 0 but number 700 of value 200; T = 100, ε = 1.
#[test]
fn the_first_worked_example_comes_out_2000_of_2000() {
    let plan =
        Plan::above_threshold(Epsilon::new(1.0).unwrap(), Sensitivity::ONE, Neighbours::AddRemove, StreamKind::Counts);
    let plan = plan.unwrap();
    let mut values = vec![0; 1000];
    values[700] = 200;
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    for _ in 0..2000 {
        let verdicts = one_by_one(&plan, &values, 100, &mut rng);
        assert_eq!(verdicts.len(), 701);
    }
}

/// The seed's second example: hits of value 300 at 100, 400, 800 of 1000; T = 150, c = 3, ε = 2.
#[test]
fn the_second_worked_example_comes_out_2000_of_2000() {
    let plan = Plan::sparse(&monotone(3, 2.0)).unwrap();
    let mut values = vec![0; 1000];
    for hit in [100, 400, 800] {
        values[hit] = 300;
    }
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    for _ in 0..2000 {
        let mut run = SparseVector::new(plan.clone(), 150, &mut rng);
        let answers = run.answer_slice(&values, &mut rng).unwrap();
        assert_eq!(answers.hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), [100, 400, 800]);
        assert!(run.is_halted());
    }
}

/// Within α with the promised probability: at most a β share of 4000 runs may miss, within binomial tolerance.
#[test]
fn every_plan_keeps_its_promise() {
    const RUNS: u64 = 4000;
    let limit = tamis_oracle::statistics::binomial_upper_quantile(RUNS, 0.05, FALSE_ALARM);
    let (k, approximate) = (queries(50), setting(5, 1.0, 1e-6, StreamKind::Values, Neighbours::Substitute));
    let five = free(5, 1.0);
    let mut plans = vec![Plan::sparse(&five).unwrap(), Plan::sparse(&approximate).unwrap()];
    for plan in [Plan::restarted(&approximate, k, beta()), Plan::no_redraw(&five, k, beta())] {
        plans.push(plan.clone().unwrap());
        plans.push(plan.unwrap().with_gap().unwrap());
    }
    plans.push(Plan::numeric_sparse(&five).unwrap());
    plans.push(Plan::numeric_sparse(&approximate).unwrap());
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    for plan in plans {
        let alpha = plan.accuracy(k, beta());
        // As hard as the theorem allows: five answers just within reach, the others just below T − α.
        let threshold = 10_000;
        let mut values = vec![threshold - alpha as i64 - 1; 50];
        values[5..10].fill(threshold + alpha as i64 + 1);
        let numeric = plan.report() != Report::Verdict;
        let misses = (0..RUNS)
            .filter(|_| {
                let mut verdicts = one_by_one(&plan, &values, threshold, &mut rng);
                // After its last hit the run is over; what follows is below and is not asked.
                verdicts.resize(50, Verdict::Below);
                let predicate = if numeric { is_numerically_accurate } else { is_accurate };
                !predicate(&verdicts, &values, threshold, alpha as f64)
            })
            .count() as u64;
        assert!(misses <= limit, "{plan:?}: {misses} of {RUNS} beyond α = {alpha}");
    }
}

// ---- Plans ------------------------------------------------------------------------------------------------------

#[test]
fn tight_takes_the_better_and_says_which() {
    let (k, beta) = (queries(1000), beta());
    let few = Plan::tight(&setting(3, 1.0, 1e-9, StreamKind::Values, Neighbours::Substitute), k, beta).unwrap();
    assert_eq!(few.variant(), Variant::NoRedraw);
    let many = Plan::tight(&setting(300, 1.0, 1e-9, StreamKind::Values, Neighbours::Substitute), k, beta).unwrap();
    assert_eq!(many.variant(), Variant::Restarted);
}

#[test]
fn the_books_constants_are_the_books() {
    let plan = Plan::sparse(&free(3, 2.0)).unwrap();
    assert_eq!(*plan.threshold_noise(), "3".parse().unwrap()); // 2c/ε
    assert_eq!(*plan.query_noise(), "6".parse().unwrap());
    let numeric = Plan::numeric_sparse(&free(1, 1.0)).unwrap();
    assert_eq!(*numeric.threshold_noise(), "9/4".parse().unwrap()); // 2c/(8/9)
    assert_eq!(*numeric.value_noise().unwrap(), "9".parse().unwrap()); // 2c/(2/9)
    let approximate = setting(10, 1.0, 1e-6, StreamKind::Values, Neighbours::Substitute);
    let sigma = Plan::sparse(&approximate).unwrap().threshold_noise().to_f64_up();
    assert!((sigma / (32.0 * 10.0 * 1e6f64.ln()).sqrt() - 1.0).abs() < 1e-9);
    let value = Plan::numeric_sparse(&approximate).unwrap().value_noise().unwrap().to_f64_up();
    let literal = (32.0 * 10.0 * 2e6f64.ln()).sqrt() * (512f64.sqrt() + 1.0) / 2.0;
    assert!((value / literal - 1.0).abs() < 3e-5, "{value} {literal}"); // the split is a multiple of 2^-20
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let approximate = setting(3, 1.0, 1e-9, StreamKind::Values, Neighbours::Substitute);
    assert!(matches!(Plan::no_redraw(&approximate, queries(9), beta()), Err(PlanError::NoRedrawIsPure(_))));
    let numeric = Plan::numeric_sparse(&free(3, 1.0)).unwrap();
    assert!(matches!(numeric.with_gap(), Err(PlanError::GapBesideValue(_))));
    // ε = 1000 with sensitivity 1 asks for a scale of 1/500 for the threshold: served. ε too small for many hits is not.
    assert!(matches!(Plan::sparse(&free(1_000_000, 1e-9)), Err(PlanError::Parameter(_))));
    // Corollary 3.21 far outside its range.
    let wild = setting(10_000, 200.0, 1e-6, StreamKind::Values, Neighbours::Substitute);
    assert!(matches!(Plan::sparse(&wild), Err(PlanError::Composition(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever is asked for, a plan that is made covers its budget: it passes its own check when read back.
    #[test]
    fn every_plan_reads_back(hits in 1u64..2000, epsilon in 0.01f64..20.0, pure: bool, k in 1u64..1_000_000, which in 0usize..4) {
        let delta = if pure { 0.0 } else { 1e-7 };
        let setting = setting(hits, epsilon, delta, StreamKind::Counts, Neighbours::AddRemove);
        let plan = match which {
            0 => Plan::sparse(&setting),
            1 => Plan::numeric_sparse(&setting),
            2 => Plan::restarted(&setting, queries(k), beta()),
            _ => Plan::tight(&setting, queries(k), beta()).and_then(Plan::with_gap),
        };
        if let Ok(plan) = plan {
            let text = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
    }

    /// A stored plan with less noise than its budget needs is refused.
    #[test]
    fn a_tampered_plan_is_refused(hits in 1u64..50, which in 0usize..2) {
        let plan = Plan::tight(&free(hits, 1.0), queries(100), beta()).unwrap();
        let mut stored: serde_json::Value = serde_json::to_value(&plan).unwrap();
        let field = ["threshold_noise", "query_noise"][which];
        let scale = if which == 0 { plan.threshold_noise() } else { plan.query_noise() };
        let less = scale.times(&"0.999".parse::<tamis_noise::Scale>().unwrap().as_rational().clone()).unwrap();
        stored[field] = less.to_string().into();
        prop_assert!(serde_json::from_value::<Plan>(stored).is_err());
    }
}

// ---- The state machine ------------------------------------------------------------------------------------------

#[test]
fn after_the_last_hit_every_call_is_refused_alike_and_no_data_is_read() {
    let mut rng = ChaCha12Rng::seed_from_u64(4);
    let mut run = SparseVector::new(Plan::sparse(&free(2, 50.0)).unwrap(), 0, &mut rng);
    assert!(run.answer(1000, &mut rng).unwrap() != Verdict::Below);
    assert_eq!(run.hits_left(), 1);
    assert!(run.answer(1000, &mut rng).unwrap() != Verdict::Below);
    let refusal = Halted { hits: 2 };
    for _ in 0..3 {
        assert_eq!(run.answer(1000, &mut rng), Err(refusal));
        assert_eq!(run.answer_against(1000, 0, &mut rng), Err(refusal));
        assert_eq!(run.answer_slice(&[1000], &mut rng), Err(refusal));
        assert_eq!(run.answer_with(|| unreachable!("the data is not asked"), &mut rng), Err(refusal));
    }
    assert_eq!((run.hits_left(), run.is_halted()), (0, true));
}

#[test]
fn a_threshold_of_the_querys_own_is_folded_in() {
    let mut rng = ChaCha12Rng::seed_from_u64(5);
    let mut run = SparseVector::new(Plan::sparse(&free(2, 50.0)).unwrap(), 0, &mut rng);
    assert_eq!(run.answer_against(1000, 2000, &mut rng), Ok(Verdict::Below));
    assert_eq!(run.answer_against(-1000, -2000, &mut rng), Ok(Verdict::Above(Reported::Nothing)));
}

#[test]
fn a_run_goes_on_from_its_snapshot_under_the_same_noisy_threshold() {
    let plan = Plan::tight(&free(3, 0.5), queries(100), beta()).unwrap().with_gap().unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let mut run = SparseVector::new(plan, 40, &mut rng);
    while run.hits_left() == 3 {
        run.answer(60, &mut rng).unwrap();
    }
    let text = serde_json::to_string(&run.snapshot()).unwrap();
    let mut again = SparseVector::restore(serde_json::from_str::<Snapshot>(&text).unwrap()).unwrap();
    assert_eq!(again.snapshot(), run.snapshot());
    let (mut rng, mut same) = (ChaCha12Rng::seed_from_u64(7), ChaCha12Rng::seed_from_u64(7));
    for value in [0, 20, 40, 60, 80, 100, 120, 140] {
        assert_eq!(run.answer(value, &mut rng), again.answer(value, &mut same));
    }
}

/// A run that may have lost a ⊤ goes on with one hit less, and, where a ⊤ moves the threshold, under another.
#[test]
fn what_may_be_lost_is_charged_beforehand() {
    let mut rng = ChaCha12Rng::seed_from_u64(6);
    let offset = |snapshot: &Snapshot| serde_json::to_value(snapshot).unwrap()["offset"].clone();
    for (variant, moves) in [
        (Plan::restarted(&free(3, 0.5), queries(9), beta()).unwrap(), true),
        (Plan::no_redraw(&free(3, 0.5), queries(9), beta()).unwrap(), false),
    ] {
        let run = SparseVector::new(variant, 40, &mut rng);
        let charged = run.charged_snapshot(&mut rng);
        assert_eq!(offset(&charged) != offset(&run.snapshot()), moves);
        let mut run = SparseVector::restore(charged).unwrap();
        assert_eq!(run.hits_left(), 2);
        for _ in 0..2 {
            run = SparseVector::restore(run.charged_snapshot(&mut rng)).unwrap();
        }
        assert!(run.is_halted() && run.answer(1_000, &mut rng).is_err());
        assert_eq!(run.charged_snapshot(&mut rng), run.snapshot());
    }
}

/// One step of a client.
#[derive(Clone, Debug)]
enum Step {
    Answer(bool),
    Against(bool),
    Slice(Vec<bool>),
    Store,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(Step::Answer),
        any::<bool>().prop_map(Step::Against),
        prop::collection::vec(prop::bool::weighted(0.1), 0..150).prop_map(Step::Slice),
        Just(Step::Store),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever a client does, in whatever order: with answers so far from the threshold that no noise matters (a scale
    /// is at most 4·5·2/ε = 40 here and the margin 10⁶: one error in e^25000), the run is the obvious counter of its hits.
    #[test]
    fn the_run_is_a_counter(hits in 1u64..5, which in 0usize..4, steps in prop::collection::vec(step(), 1..40), seed: u64) {
        const FAR: i64 = 1_000_000;
        let plan = match which {
            0 => Plan::sparse(&free(hits, 1.0)),
            1 => Plan::numeric_sparse(&free(hits, 1.0)),
            2 => Plan::restarted(&free(hits, 1.0), queries(9), beta()).and_then(Plan::with_gap),
            _ => Plan::no_redraw(&monotone(hits, 1.0), queries(9), beta()),
        };
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut run = SparseVector::new(plan.unwrap(), 0, &mut rng);
        let refusal = Halted { hits: hits as u32 };
        let value = |above: bool| if above { FAR } else { -FAR };
        let mut left = hits;
        for step in steps {
            match step {
                Step::Answer(above) => {
                    let said = run.answer(value(above), &mut rng).map(|verdict| verdict != Verdict::Below);
                    prop_assert_eq!(said, if left == 0 { Err(refusal) } else { Ok(above) });
                    left -= u64::from(above && left > 0);
                }
                Step::Against(above) => {
                    let said = run.answer_against(0, -value(above), &mut rng).map(|verdict| verdict != Verdict::Below);
                    prop_assert_eq!(said, if left == 0 { Err(refusal) } else { Ok(above) });
                    left -= u64::from(above && left > 0);
                }
                Step::Slice(above) => {
                    let values: Vec<i64> = above.iter().map(|&above| value(above)).collect();
                    let all: Vec<usize> = (0..above.len()).filter(|&i| above[i]).collect();
                    let said = run.answer_slice(&values, &mut rng);
                    if left == 0 {
                        prop_assert_eq!(said, Err(refusal));
                        continue;
                    }
                    let first = &all[..all.len().min(left as usize)];
                    let said = said.unwrap();
                    prop_assert_eq!(said.hits.iter().map(|hit| hit.0).collect::<Vec<_>>(), first);
                    left -= first.len() as u64;
                    prop_assert_eq!(said.answered, if left == 0 { first.last().unwrap() + 1 } else { above.len() });
                }
                Step::Store => {
                    let text = serde_json::to_string(&run.snapshot()).unwrap();
                    run = SparseVector::restore(serde_json::from_str::<Snapshot>(&text).unwrap()).unwrap();
                }
            }
            prop_assert_eq!((u64::from(run.hits_left()), run.is_halted()), (left, left == 0));
        }
    }
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(8);
    let run = SparseVector::new(Plan::sparse(&free(2, 1.0)).unwrap(), 0, &mut rng);
    let good = serde_json::to_value(run.snapshot()).unwrap();
    for (path, value) in [
        ("/hits_left", serde_json::json!(3)),
        ("/hits_left", serde_json::json!(-1)),
        ("/offset", serde_json::json!(0.5)),
        ("/offset", serde_json::Value::Null),
        ("/offset", serde_json::json!(i64::MAX)),
        ("/plan/setting/hits", serde_json::json!(0)),
        ("/plan/setting/budget/epsilon", serde_json::json!("0.5")),
        ("/plan/setting/budget/epsilon", serde_json::json!("NaN")),
        ("/plan/query_noise", serde_json::json!("0")),
        ("/plan/report", serde_json::json!("Value")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap() = value.clone();
        let read = serde_json::from_value::<Snapshot>(bad).map_err(|e| e.to_string());
        let restored = read.and_then(|snapshot| SparseVector::restore(snapshot).map_err(|e| e.to_string()));
        assert!(restored.is_err(), "{path} = {value} was accepted");
    }
}

#[test]
fn debug_output_does_not_hold_the_noisy_threshold() {
    let mut rng = ChaCha12Rng::seed_from_u64(10);
    let run = SparseVector::new(Plan::sparse(&free(2, 1.0)).unwrap(), 0, &mut rng);
    for text in [format!("{run:?}"), format!("{:?}", run.snapshot())] {
        assert!(text.contains("hits_left: 2") && !text.contains("offset"), "{text}");
    }
}

#[test]
fn the_ends_of_the_integers_are_answered() {
    let mut rng = ChaCha12Rng::seed_from_u64(9);
    let plan = Plan::restarted(&free(4, 4.0), queries(10), beta()).unwrap().with_gap().unwrap();
    for threshold in [i64::MIN, 0, i64::MAX] {
        let mut run = SparseVector::new(plan.clone(), threshold, &mut rng);
        let verdicts: Vec<_> = [i64::MIN, i64::MAX].map(|value| run.answer(value, &mut rng)).into();
        assert!(verdicts.iter().all(Result::is_ok));
        run.answer_slice(&[i64::MIN; 70], &mut rng).unwrap();
    }
    let numeric = Plan::numeric_sparse(&free(4, 4.0)).unwrap();
    let mut run = SparseVector::new(numeric, 0, &mut rng);
    assert!(matches!(run.answer(i64::MAX, &mut rng), Ok(Verdict::Above(Reported::Value(_)))));
}
