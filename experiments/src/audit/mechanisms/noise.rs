//! What `tamis_noise` offers, but for the sparse vector while it runs.

use std::num::NonZeroU128;

use tamis::noise::sparse_vector::{Plan, SparseVector};
use tamis::noise::stability::StabilityThreshold;
use tamis::noise::{
    Budget, ExponentialMechanism, GaussianMechanism, Hits, LaplaceMechanism, Neighbours, NoisyMax, PermuteAndFlip,
    Rational, Sensitivity, StreamKind, TopByIteration,
};
use tamis_harness::TrialRng;
use tamis_harness::audit::{Claim, Subject};
use tamis_oracle::enumeration::{Interval, Pair};
use tamis_oracle::selection;

use super::{Audited, DELTA, all_moved, budget, claim, epsilon, or_refused};
use crate::audit::sparse_vector::{UNIT, plan, setting, write};

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let mut all = vec![laplace(), laplace_vector(), at_the_end_of_the_integers(), gaussian(1), gaussian(4)];
    all.extend(selections());
    all.extend([
        threshold("a key that one has once", Neighbours::AddRemove, 1, [vec![], vec![1]]),
        threshold("a person's three rows, of one key", Neighbours::AddRemove, 3, [vec![], vec![3]]),
        threshold("a key another takes the place of", Neighbours::Substitute, 1, [vec![1, 0], vec![0, 1]]),
        threshold("a key at the threshold", Neighbours::AddRemove, 1, [vec![5], vec![6]]),
        after_the_end(),
    ]);
    all
}

fn laplace() -> Audited {
    let mechanism = LaplaceMechanism::new(Sensitivity::ONE, &epsilon(1.0)).expect("a scale of 1");
    let subject = Subject::new("Laplace", "0 → 1", Claim::pure(1.0), [0, 1], move |&answer, rng, seen| {
        seen.integer(mechanism.release(answer, rng));
    });
    Audited::right(subject, 150).exact(|| 1.0)
}

/// Two counts of which one grows and one shrinks: L1 sensitivity 2.
fn laplace_vector() -> Audited {
    let mechanism = LaplaceMechanism::new(Sensitivity::new(2).expect("positive"), &epsilon(1.0)).expect("a scale of 2");
    let counts = [vec![1, 0], vec![0, 1]];
    let subject =
        Subject::new("Laplace, two counts", "1, 0 → 0, 1", Claim::pure(1.0), counts, move |counts, rng, seen| {
            mechanism.release_all(counts, rng).into_iter().for_each(|count| seen.integer(count));
        });
    Audited::right(all_moved(subject, vec![(0, 1, 0), (1, 0, 1)]), 300).exact(|| 1.0)
}

/// Where sums no longer fit: half of the noise ends at the largest integer.
fn at_the_end_of_the_integers() -> Audited {
    let mechanism = LaplaceMechanism::new(Sensitivity::ONE, &epsilon(1.0)).expect("a scale of 1");
    let answers = [i64::MAX - 1, i64::MAX];
    let subject =
        Subject::new("Laplace", "the largest integers", Claim::pure(1.0), answers, move |&answer, rng, seen| {
            // As a distance from the end: a float, which events are made of, does not tell such numbers apart.
            seen.integer(mechanism.release(answer, rng).wrapping_sub(i64::MAX));
        });
    Audited::right(subject, 150).exact(|| 1.0)
}

/// A vector of so many answers that moves by 20 in L2 norm: what is seen is the sum that tells most.
fn gaussian(answers: usize) -> Audited {
    let budget = budget(1.0, DELTA);
    let moved: i64 = if answers == 1 { 20 } else { 10 };
    let squared_norm = NonZeroU128::new(400).expect("positive");
    let mechanism = GaussianMechanism::new(squared_norm, &budget).expect("noise for a moderate sensitivity");
    let name = format!("Gaussian, vector of {answers}");
    let inputs = [0, moved];
    let subject = Subject::new(name, "L2 distance 20", claim(&budget), inputs, move |&answer, rng, seen| {
        seen.integer((0..answers).map(|_| mechanism.release(answer, rng)).sum());
    });
    Audited::right(subject, 150 * answers as u64)
}

fn selections() -> Vec<Audited> {
    let mut all = selections_of(StreamKind::Values, "", "2", -1, "one score falls, all others grow");
    all.extend(selections_of(StreamKind::Counts, ", monotone", "1", 0, "all scores but one grow"));
    all.extend([Budget::pure(epsilon(1.0)), budget(1.0, DELTA)].iter().map(top));
    all
}

/// Each selection among scores that tie: the first moves by so much, all others grow by 1. Their scale is t.
fn selections_of(kind: StreamKind, suffix: &str, scale: &'static str, first: i64, pair: &str) -> Vec<Audited> {
    let (sensitivity, neighbours, one) = (Sensitivity::ONE, Neighbours::AddRemove, epsilon(1.0));
    let max = NoisyMax::new(sensitivity, &one, neighbours, kind).expect("a small scale");
    let exponential = ExponentialMechanism::new(sensitivity, &one, neighbours, kind).expect("a small scale");
    let flips = PermuteAndFlip::new(sensitivity, &one, neighbours, kind).expect("a small scale");
    let tie = |candidates: usize| [vec![0; candidates], [vec![first], vec![1; candidates - 1]].concat()];
    vec![
        selection(
            format!("noisy max{suffix}"),
            pair,
            tie(4),
            move |scores, rng| max.select(scores, rng),
            move |scores| selection::noisy_max(scores, &rational(scale)),
        ),
        selection(
            format!("exponential mechanism{suffix}"),
            pair,
            // Of many candidates the first is rare, and its loss near ε.
            tie(20),
            move |scores, rng| exponential.select(scores, rng),
            move |scores| selection::exponential(scores, &rational(scale)),
        ),
        selection(
            format!("permute-and-flip{suffix}"),
            pair,
            tie(4),
            move |scores, rng| flips.select(scores, rng),
            move |scores| selection::permute_and_flip(scores, &rational(scale)),
        ),
    ]
}

fn rational(text: &str) -> Rational {
    text.parse().expect("a rational literal")
}

/// A selection with the exact loss on its pair.
fn selection(
    name: String,
    pair: &str,
    scores: [Vec<i64>; 2],
    select: impl Fn(&[i64], &mut TrialRng) -> Option<usize> + Send + Sync + 'static,
    law: impl Fn(&[i64]) -> Vec<Interval> + Send + Sync + 'static,
) -> Audited {
    let [first, second] = scores.clone();
    let neighbours = [Pair { first, second }];
    let subject =
        Subject::new(name, pair, Claim::pure(1.0), scores, move |scores: &Vec<i64>, rng, seen| {
            match select(scores, rng) {
                Some(selected) => seen.label(selected),
                None => seen.mark("none"),
            }
        });
    Audited::right(subject, 200).exact(move || selection::worst_loss(&law, &neighbours).upper)
}

/// The two largest of five.
fn top(budget: &Budget) -> Audited {
    let scores = [vec![0, 0, 0, 0, 0], vec![-1, -1, 1, 1, 1]];
    let top = TopByIteration::new(
        Hits::new(2).expect("positive"),
        Sensitivity::ONE,
        budget,
        Neighbours::AddRemove,
        StreamKind::Values,
    )
    .expect("a small scale");
    let (pair, claim) = ("two scores fall, three grow", claim(budget));
    let name = if claim.delta == 0.0 { "top two by iteration" } else { "top two by iteration, with δ" };
    let neighbours = [Pair { first: scores[0].clone(), second: scores[1].clone() }];
    let subject = Subject::new(name, pair, claim, scores, move |scores: &Vec<i64>, rng, seen| {
        top.select(scores, rng).into_iter().for_each(|candidate| seen.label(candidate));
    });
    let audited = Audited::right(subject, 300);
    if claim.delta > 0.0 {
        return audited;
    }
    // t = 2·2Δ/ε.
    let law = |scores: &[i64]| selection::in_turn(|left| selection::permute_and_flip(left, &rational("4")), scores, 2);
    audited.exact(move || selection::worst_loss(law, &neighbours).upper)
}

/// A stability threshold for the keys that occur, and what of its answers may be published.
fn threshold(pair: &str, neighbours: Neighbours, rows_per_unit: u32, counts: [Vec<i64>; 2]) -> Audited {
    let subject = |epsilon| {
        let (budget, counts) = (budget(epsilon, DELTA), counts.clone());
        let threshold = StabilityThreshold::new(&budget, neighbours, rows_per_unit).expect("a small scale");
        Subject::new("stability threshold", pair, claim(&budget), counts, move |counts: &Vec<i64>, rng, seen| {
            for (key, &count) in counts.iter().enumerate() {
                if let Some(noisy) = threshold.release(count, rng) {
                    seen.label(key);
                    seen.integer(noisy);
                }
            }
        })
    };
    Audited::with_twin(subject, 200)
}

/// What is refused after the last alert is refused alike, whatever the data says by then, and without a look at it: these inputs
/// are neighbours no more.
fn after_the_end() -> Audited {
    let plan = plan(|setting, _, _| Plan::sparse(setting), &setting(1, 0.0, StreamKind::Values));
    let inputs = [[i64::MIN; 3], [0, UNIT, i64::MAX]];
    let pair = "anything, once it is over";
    let subject = Subject::new("AboveThreshold", pair, Claim::pure(1.0), inputs, move |values, rng, seen| {
        let mut gate = SparseVector::new(plan.clone(), 0, rng);
        write(gate.answer(1_000 * UNIT, rng), seen);
        for &value in values {
            let mut is_read = false;
            let answer = gate.answer_with(
                || {
                    is_read = true;
                    value
                },
                rng,
            );
            if or_refused(answer, seen).is_some() || is_read {
                seen.mark("read");
            }
        }
    });
    Audited::right(subject, 2_000).exact(|| 0.0)
}
