//! Mechanisms but for the sparse vector that are wrong on purpose: those of `tamis_oracle::wrong_releases`, with our exact noise,
//! and our own mechanisms used against their documentation. All claim ε = 1 unless they say otherwise.

use std::num::NonZeroU128;

use rand::RngExt;
use tamis::baselines::PerturbedHistogramPlan;
use tamis::noise::stability::StabilityThreshold;
use tamis::noise::{
    Budget, GaussianMechanism, Hits, LaplaceMechanism, Neighbours, NoisyMax, Sensitivity, StreamKind, TopByIteration,
};
use tamis::queries::Fingerprint;
use tamis_harness::audit::{Claim, Subject, Transcript};
use tamis_oracle::sign_family::{SignFamily, Signs};
use tamis_oracle::wrong_releases::{self as wrong, Answer, Exact, Slip};

use super::Audited;
use super::laws::Laws;
use super::mechanisms::{DELTA, budget, claim, epsilon, or_refused, table};

/// A run of any of them, roughly.
const NANOSECONDS: u64 = 500;
/// Grid units that one record moves an answer of a session.
const UNIT: i64 = 16;

/// All of them.
pub fn subjects() -> Vec<Audited> {
    let mut all = noise();
    all.extend(selections());
    all.extend(keys_that_occur());
    all.extend(releases());
    all.extend([Slip::OneLate, Slip::Uncharged, Slip::StillLooking].map(session));
    all.extend(misused());
    all
}

/// A mechanism that claims ε = 1 and draws Laplace noise of these scales.
fn with_laplace<I: Send + Sync + 'static>(
    name: &str,
    pair: &str,
    inputs: [I; 2],
    scales: &[f64],
    run: impl Fn(&I, &mut dyn FnMut(f64) -> i64, &mut Transcript) + Send + Sync + 'static,
) -> Audited {
    let laws = Laws::new(scales);
    let subject = Subject::new(name, pair, Claim::pure(1.0), inputs, move |input, rng, seen| {
        run(input, &mut laws.with(rng), seen);
    });
    Audited::wrong(subject, NANOSECONDS)
}

fn integers(released: Vec<i64>, seen: &mut Transcript) {
    released.into_iter().for_each(|value| seen.integer(value));
}

fn noise() -> Vec<Audited> {
    let inverted = Subject::new("scale inverted", "0 → 1", Claim::pure(0.5), [0, 1], {
        let laws = Laws::new(&[0.5]);
        move |&count, rng, seen| seen.integer(wrong::scale_inverted(count, 0.5, &mut laws.with(rng)))
    });
    let floats =
        Subject::new("Laplace noise in floats", "0 → 1", Claim::pure(1.0), [0.0, 1.0], |&count, rng, seen| {
            seen.real(wrong::in_floats(count, 1.0, rng));
        });
    vec![
        Audited::wrong(inverted, NANOSECONDS).exact(|| 2.0),
        Audited::wrong(floats, NANOSECONDS),
        with_laplace(
            "one draw for all counts",
            "0, 0 → 1, 0",
            [[0, 0], [1, 0]],
            &[1.0],
            |counts, mut laplace, seen| {
                integers(wrong::one_draw_for_all(counts, 1.0, &mut laplace), seen);
            },
        ),
        with_laplace("noise only where rows are", "0 → 1", [[0], [1]], &[1.0], |counts, mut laplace, seen| {
            integers(wrong::noise_only_where_rows_are(counts, 1.0, &mut laplace), seen);
        }),
        with_laplace("other totals refused", "5 → 6", [[5], [6]], &[1.0], |counts, mut laplace, seen| {
            match wrong::other_totals_refused(counts, 5, 1.0, &mut laplace) {
                Ok(released) => integers(released, seen),
                Err(refusal) => seen.label(refusal),
            }
        }),
    ]
}

fn selections() -> Vec<Audited> {
    let flips = Subject::new(
        "permute-and-flip without the permutation",
        "a tie → the second is ahead",
        Claim::pure(1.0),
        [[0, 0], [-1, 1]],
        |scores, rng, seen| {
            // t = 2.
            let mut coin = |below: u64| rng.random_bool((-(below as f64) / 2.0).exp());
            seen.label(wrong::flips_in_order(scores, &mut coin));
        },
    );
    vec![
        with_laplace(
            "noisy max with its value",
            "eight answers all grow",
            [[0; 8], [1; 8]],
            &[2.0],
            |answers, mut laplace, seen| {
                let (selected, value) = wrong::noisy_max_with_value(answers, 1.0, &mut laplace);
                seen.label(selected);
                seen.integer(value);
            },
        ),
        Audited::wrong(flips, NANOSECONDS).exact(|| f64::INFINITY),
    ]
}

fn keys_that_occur() -> Vec<Audited> {
    let approximate = budget(1.0, DELTA);
    let threshold = StabilityThreshold::new(&approximate, Neighbours::AddRemove, 1).expect("a scale of 1").threshold();
    // Noise of scale 1/ε′.
    let drawn_for = |share: f64, name: &str, pair: &str, threshold: i64, delta: f64, counts: [Vec<i64>; 2]| {
        let laws = Laws::new(&[1.0 / share]);
        let subject =
            Subject::new(name, pair, Claim::approximate(1.0, delta), counts, move |counts: &Vec<i64>, rng, seen| {
                write_counts(wrong::released_from(threshold, counts, share, &mut laws.with(rng)), seen);
            });
        Audited::wrong(subject, NANOSECONDS)
    };
    let released = |name: &str, pair: &str, threshold: i64, delta: f64, counts: [Vec<i64>; 2]| {
        drawn_for(1.0, name, pair, threshold, delta, counts)
    };
    // A third of ε for each of a person's rows: then the noise is right, and δ is spent three times.
    let third = 1.0 / 3.0;
    let for_one_row = StabilityThreshold::new(&budget(third, DELTA), Neighbours::AddRemove, 1);
    let for_one_row = for_one_row.expect("a scale of 3").threshold();
    let true_counts = Subject::new(
        "heavy keys chosen by true counts",
        "a key below the threshold → at it",
        claim(&approximate),
        [[threshold - 1], [threshold]],
        {
            let laws = Laws::new(&[1.0]);
            move |counts, rng, seen| {
                write_counts(wrong::heavy_by_true_count(threshold, counts, 1.0, &mut laws.with(rng)), seen);
            }
        },
    );
    let once = "a key that one has once";
    vec![
        released("stability threshold one too low", once, threshold - 1, DELTA, [vec![], vec![1]]),
        released("keys without a threshold", once, i64::MIN, 1e-6, [vec![], vec![1]]),
        released(
            "stability threshold for one row",
            "a person's three rows, of one key",
            threshold,
            DELTA,
            [vec![], vec![3]],
        ),
        drawn_for(
            third,
            "stability threshold for one row, noise for three",
            "a person's three rows, of three keys",
            for_one_row,
            DELTA,
            [vec![0; 3], vec![1; 3]],
        ),
        Audited::wrong(true_counts, NANOSECONDS),
    ]
}

fn write_counts(counts: Vec<(usize, i64)>, seen: &mut Transcript) {
    for (key, count) in counts {
        seen.label(key);
        seen.integer(count);
    }
}

fn releases() -> Vec<Audited> {
    let bits = |bits: Vec<bool>, seen: &mut Transcript| {
        bits.into_iter().for_each(|bit| seen.mark(if bit { "1" } else { "0" }))
    };
    // α = 6, of which flips have 1/(α + 2).
    let step = 6.0 / 1_f64.exp_m1();
    let rounded = Subject::new(
        "ALP rounded to the nearest level",
        "1 → 2 records",
        Claim::pure(1.0),
        [1.0, 2.0],
        move |&count, rng, seen| {
            bits(wrong::alp_rounded_to_nearest(count, step, 4, &mut || rng.random_bool(0.125)), seen)
        },
    );
    let zeros = Subject::new(
        "ALP that flips zeros only",
        "no level → one",
        Claim::pure(1.0),
        [0, 1],
        move |&level, rng, seen| bits(wrong::alp_flipping_zeros_only(level, 4, &mut || rng.random_bool(0.125)), seen),
    );
    let offered = [[10, 0], [5, 5], [0, 10]].map(Vec::from);
    let nearest = Subject::new(
        "small database without noise",
        "one record takes another key",
        Claim::pure(1.0),
        [[3, 7], [2, 8]],
        move |truth, _, seen| seen.label(wrong::nearest_database(truth, &offered)),
    );
    // A key with four entries ±1.
    let sketch = SignFamily::new(Signs::Sparse { nonzeros: 4 }, 4, 4, [7; 32]).sketch(&[(0, 1)]);
    vec![
        Audited::wrong(rounded, NANOSECONDS).exact(|| 7_f64.ln()),
        Audited::wrong(zeros, NANOSECONDS).exact(|| f64::INFINITY),
        mwem("MWEM that selects without noise", "5, 6 → 6, 5", Exact::Selection, [[5, 6], [6, 5]]),
        mwem("MWEM that measures without noise", "5, 6 → 5, 7", Exact::Measurement, [[5, 6], [5, 7]]),
        Audited::wrong(nearest, NANOSECONDS).exact(|| f64::INFINITY),
        with_laplace(
            "projection with noise for one of four signs",
            "no record → one",
            [vec![0; 4], sketch],
            &[1.0],
            |sketch, mut laplace, seen| {
                integers(wrong::sketch_with_noise_for_one_entry(sketch, 1.0, &mut laplace), seen);
            },
        )
        .exact(|| 4.0),
    ]
}

fn mwem(name: &str, pair: &str, exact: Exact, truth: [[i64; 2]; 2]) -> Audited {
    with_laplace(name, pair, truth, &[4.0, 2.0], move |truth, mut laplace, seen| {
        let (selected, answer) = wrong::mwem_round(truth, 0, 1.0, exact, &mut laplace);
        seen.label(selected);
        seen.integer(answer);
    })
    .exact(|| f64::INFINITY)
}

/// Answers at the threshold that grow, and then as many that shrink as are corrected; of one that still looks, answers far above
/// it and then one below.
fn session(slip: Slip) -> Audited {
    let threshold = 40 * UNIT;
    let pair = |growing: usize, shrinking: usize| {
        [[0, 0], [UNIT, -UNIT]].map(|[grows, shrinks]| {
            let answers = [vec![grows; growing], vec![shrinks; shrinking]].concat();
            answers.into_iter().map(|answer| answer + threshold).collect::<Vec<_>>()
        })
    };
    let (name, pair_name, inputs) = match slip {
        Slip::OneLate => ("session that stops one late", "U(6, 2)", pair(6, 2)),
        Slip::Uncharged => ("session that charges nothing", "U(4, 4)", pair(4, 4)),
        Slip::StillLooking => (
            "session that looks after its end",
            "a correction, then below the threshold → at it",
            [-1, 0].map(|last| vec![1_000 * UNIT, threshold + last]),
        ),
    };
    let scales = [2.0, 4.0].map(|scale| scale * UNIT as f64);
    let growing = if slip == Slip::OneLate { 6 } else { 4 };
    let run = with_laplace(name, pair_name, inputs, &scales, move |answers, mut laplace, seen| {
        for answer in wrong::session(answers, threshold, 1.0 / UNIT as f64, slip, &mut laplace) {
            match answer {
                Answer::Guess => seen.mark("⊥"),
                Answer::Unchecked => seen.mark("unchecked"),
                Answer::Data(gap) => {
                    seen.mark("⊤");
                    seen.integer(gap);
                }
            }
        }
    });
    let subject = run.subject.event("all that grow are ⊥, and all others ⊤", move |seen| {
        seen.items().enumerate().all(|(place, item)| (item == "⊥") == (place < growing))
    });
    Audited::wrong(subject, 2 * NANOSECONDS)
}

/// Our own, for neighbours, rows or directions that they were not made for.
fn misused() -> Vec<Audited> {
    let one_moves = LaplaceMechanism::new(Sensitivity::ONE, &epsilon(1.0)).expect("a scale of 1");
    let three_rows = Subject::new(
        "Laplace for one row of a person",
        "three rows",
        Claim::pure(1.0),
        [0, 3],
        move |&count, rng, seen| {
            seen.integer(one_moves.release(count, rng));
        },
    );
    let histogram = PerturbedHistogramPlan::laplace(&Budget::pure(epsilon(1.0)), Neighbours::AddRemove, 1);
    let histogram = histogram.expect("a scale of 1");
    let data = [table(&[(1, 1)]), table(&[(2, 1)])];
    let substituted = Subject::new(
        "histogram for add-remove neighbours",
        "one record takes another key",
        Claim::pure(1.0),
        data,
        move |data, rng, seen| {
            if let Some(released) = or_refused(histogram.release([1, 2].map(Fingerprint::raw), data, rng), seen) {
                released.counts().iter().for_each(|&(_, count)| seen.integer(count));
            }
        },
    );
    vec![
        Audited::wrong(three_rows, NANOSECONDS).exact(|| 3.0),
        Audited::wrong(substituted, NANOSECONDS).exact(|| 2.0),
        half_of_sigma(),
        monotone_scale(),
        whole_budget_for_each_selection(),
    ]
}

/// Noise for half of what answers move.
fn half_of_sigma() -> Audited {
    let budget = budget(1.0, DELTA);
    let mechanism = GaussianMechanism::new(NonZeroU128::new(100).expect("positive"), &budget).expect("a small σ");
    let subject =
        Subject::new("Gaussian with half of σ", "0 → 20", claim(&budget), [0, 20], move |&answer, rng, seen| {
            seen.integer(mechanism.release(answer, rng));
        });
    Audited::wrong(subject, NANOSECONDS)
}

/// Scores of which one falls while the others grow, taken for counts.
fn monotone_scale() -> Audited {
    let selection = NoisyMax::new(Sensitivity::ONE, &epsilon(1.0), Neighbours::AddRemove, StreamKind::Counts);
    let selection = selection.expect("a scale of 1");
    let scores = [[0; 4], [-1, 1, 1, 1]];
    let pair = "one score falls, all others grow";
    let subject =
        Subject::new("noisy max, monotone scale", pair, Claim::pure(1.0), scores, move |scores, rng, seen| {
            seen.label(selection.select(scores, rng).unwrap_or(usize::MAX));
        });
    Audited::wrong(subject, NANOSECONDS)
}

/// Top three by one selection after the other, each of which spends all of ε.
fn whole_budget_for_each_selection() -> Audited {
    let budget = Budget::pure(epsilon(3.0));
    let top = TopByIteration::new(
        Hits::new(3).expect("positive"),
        Sensitivity::ONE,
        &budget,
        Neighbours::AddRemove,
        StreamKind::Values,
    )
    .expect("a scale of 2");
    let scores = [[0; 6], [-1, -1, -1, 1, 1, 1]];
    let pair = "three scores fall, three grow";
    let subject = Subject::new("top three at ε each", pair, Claim::pure(1.0), scores, move |scores, rng, seen| {
        top.select(scores, rng).into_iter().for_each(|candidate| seen.label(candidate));
    });
    Audited::wrong(subject, 2 * NANOSECONDS)
}
