//! The release as a whole: what one record changes, what does not matter, and whether errors are what is said of them.
//!
//! Statistical tests are seeded, so one that passes keeps passing. Their false alarm, had the seed been drawn, is 10⁻⁶
//! each: 4.9 standard deviations of what is compared. Each has a twin, wrong on purpose, that the same test rejects.

mod common;

use chacha20::ChaCha12Rng;
use common::{DEVIATIONS, FALSE_ALARM, covers, errors_are, histogram, list, mean, scaled};
use proptest::{prelude::*, test_runner::RngSeed};
use rand::SeedableRng;
use rayon::prelude::*;
use std::num::{NonZeroU32, NonZeroU128};
use tamis_noise::gaussian_calibration::{add_remove, concentrated};
use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries, Scale};
use tamis_oracle::statistics::binomial_upper_quantile;
use tamis_projection::bounds::deviations;
use tamis_projection::release::{l1_sensitivity, squared_l2_sensitivity};
use tamis_projection::{
    Answer, Builder, Noise, NoiseKind, Plan, ProjectionError, ProjectionRelease, Rule, Seed, Shape, SignFamily, Sketch,
};
use tamis_queries::{ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};

fn pure(epsilon: f64) -> Budget {
    Budget::pure(Epsilon::new(epsilon).unwrap())
}

fn approximate() -> Budget {
    Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap())
}

fn add_remove_builder(budget: Budget) -> Builder {
    ProjectionRelease::builder(budget, Neighbours::AddRemove, 1)
}

fn shapes() -> impl Strategy<Value = Shape> {
    let dense = (1u64..=4, 2u32..=6).prop_map(|(blocks, r)| Shape::dense(64 * blocks, r).unwrap());
    let sparse =
        (1u32..=9, 0u32..=9, 2u32..=6).prop_map(|(s, log, r)| Shape::sparse(u64::from(s) << log, s, r).unwrap());
    prop_oneof![dense, sparse]
}

fn differences(a: &Sketch, b: &Sketch) -> Vec<i64> {
    a.counters().iter().zip(b.counters()).map(|(a, b)| a - b).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::with_cases(400) }
}

proptest! {
    #![proptest_config(config())]

    /// The sensitivity that noise is scaled by: a record more moves exactly s integers, its column's, each by exactly 1.
    #[test]
    fn a_record_more_moves_the_right_integers_by_one(
        shape in shapes(), seed: [u8; 32], data in prop::collection::vec((0u64..50, 1i64..9), 0..40), key in 0u64..60,
    ) {
        let family = SignFamily::new(shape, Seed(seed));
        let one_more = data.iter().copied().chain([(key, 1)]);
        let without = Sketch::of(&family, &histogram(data.iter().copied())).unwrap();
        let with = Sketch::of(&family, &histogram(one_more)).unwrap();
        let moved: Vec<(usize, i64)> =
            differences(&with, &without).into_iter().enumerate().filter(|&(_, moved)| moved != 0).collect();
        prop_assert_eq!(&moved, &family.column(Fingerprint::raw(key)));
        prop_assert_eq!(moved.len() as u32, shape.nonzeros());
        prop_assert!(moved.iter().all(|(_, moved)| moved.abs() == 1));
        prop_assert_eq!(l1_sensitivity(shape, Neighbours::AddRemove, 1), u64::from(shape.nonzeros()));
    }

    /// No unit of at most L rows, added or replaced, moves a sketch by more than is said.
    #[test]
    fn no_unit_moves_more_than_its_sensitivity(
        shape in shapes(), seed: [u8; 32], rows in prop::collection::vec((0u64..3, 0u64..3), 1..6),
    ) {
        let family = SignFamily::new(shape, Seed(seed));
        let units = rows.len() as u32;
        let of = |keys: Vec<u64>| Sketch::of(&family, &histogram(keys.into_iter().map(|key| (key, 1)))).unwrap();
        let (old, new) = (of(rows.iter().map(|row| row.0).collect()), of(rows.iter().map(|row| row.1).collect()));
        for (neighbours, moved) in [
            (Neighbours::AddRemove, differences(&new, &Sketch::empty(&family))),
            (Neighbours::Substitute, differences(&new, &old)),
        ] {
            let l1: u64 = moved.iter().map(|moved| moved.unsigned_abs()).sum();
            let l2: u128 = moved.iter().map(|moved| u128::from(moved.unsigned_abs()).pow(2)).sum();
            prop_assert!(l1 <= l1_sensitivity(shape, neighbours, units));
            prop_assert!(l2 <= squared_l2_sensitivity(shape, neighbours, units));
        }
    }

    #[test]
    fn sketches_of_parts_are_the_sketch_of_the_whole(
        shape in shapes(), first in prop::collection::vec((0u64..50, 1i64..9), 0..30),
        second in prop::collection::vec((0u64..50, 1i64..9), 0..30),
    ) {
        let family = SignFamily::new(shape, Seed([5; 32]));
        let of = |rows: &[(u64, i64)]| Sketch::of(&family, &histogram(rows.iter().copied())).unwrap();
        let whole = of(&[first.clone(), second.clone()].concat());
        let mut merged = of(&first);
        merged.merge(of(&second)).unwrap();
        prop_assert_eq!(merged.counters(), whole.counters());
        merged.subtract(of(&first)).unwrap();
        let second_alone = of(&second);
        prop_assert_eq!(merged.counters(), second_alone.counters());
        for (key, count) in second {
            merged.add(Fingerprint::raw(key), -count).unwrap();
        }
        prop_assert!(merged.counters().iter().all(|&counter| counter == 0));
    }
}

/// With the same test generator: the same release, whatever the order of the rows and the number of threads.
#[test]
fn neither_order_nor_threads_matter() {
    let rows: Vec<(u64, i64)> = (0..5_000u64).map(|i| (i * i % 3_001, 1)).collect();
    let backwards = || rows.iter().rev().copied();
    for plan in [
        add_remove_builder(pure(1.0)).width(1 << 12).build().unwrap(),
        add_remove_builder(approximate()).dense().noise(NoiseKind::Gaussian).width(1 << 12).build().unwrap(),
    ] {
        let release = |data: &Histogram, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| plan.release(data, &mut ChaCha12Rng::seed_from_u64(1)).unwrap())
        };
        let first = release(&histogram(rows.iter().copied()), 1);
        let queries: Vec<SparseQuery> = (0..20u64).map(|i| list(i * 40..i * 40 + 200 * i)).collect();
        for threads in [1, 2, 3] {
            let other = release(&histogram(backwards()), threads);
            assert_eq!(first.values(), other.values());
            assert_eq!(first.family(), other.family());
            assert_eq!(first.answer_all(&queries), queries.iter().map(|query| other.answer(query)).collect::<Vec<_>>());
        }
        let other_seed = plan.release(&histogram(backwards()), &mut ChaCha12Rng::seed_from_u64(2)).unwrap();
        assert_ne!(first.values(), other_seed.values());
        assert_ne!(first.family().seed(), other_seed.family().seed());
    }
}

/// Noise is scaled by the sensitivity that was just shown, by the calibrations of `tamis-noise`, and no other.
#[test]
fn the_noise_is_that_of_the_sensitivity() {
    for (neighbours, factor) in [(Neighbours::AddRemove, 1), (Neighbours::Substitute, 2)] {
        for rows in [1u32, 3] {
            for (nonzeros, dense) in [(1u32, false), (8, false), (128, true)] {
                let builder = |budget| {
                    let builder = ProjectionRelease::builder(budget, neighbours, rows).width(128);
                    if dense { builder.dense() } else { builder.nonzeros(nonzeros) }
                };
                let plan = builder(Budget::pure("1/3".parse().unwrap())).build().unwrap();
                let Noise::Laplace(noise) = plan.noise() else { panic!("δ = 0 leaves Laplace") };
                let scale = f64::from(3 * factor * rows * nonzeros);
                assert_eq!(*noise.scale(), Scale::new(scale).unwrap());

                let plan = builder(approximate()).noise(NoiseKind::Gaussian).build().unwrap();
                let Noise::Gaussian(noise) = plan.noise() else { panic!("Gaussian was asked for") };
                let norm = u128::from(factor * rows).pow(2) * u128::from(nonzeros);
                let mut expected = concentrated(NonZeroU128::new(norm).unwrap(), &approximate()).unwrap();
                if (neighbours, rows) == (Neighbours::AddRemove, 1) {
                    expected = expected.min(add_remove(NonZeroU32::new(nonzeros).unwrap(), &approximate()).unwrap());
                }
                assert_eq!(*noise.variance(), expected);
                assert_eq!(plan.cost(), approximate());
            }
        }
    }
    // And it is drawn: the noise of an empty table has that variance. 2¹⁸ draws of Laplace noise: 0.45 %.
    let plan = add_remove_builder(pure(0.1)).width(1 << 18).build().unwrap();
    let release = plan.release(&histogram([]), &mut ChaCha12Rng::seed_from_u64(4)).unwrap();
    let variance = release.values().iter().map(|&y| (y * y) as f64).sum::<f64>() / f64::from(1 << 18);
    assert!((variance / 200.0 - 1.0).abs() < DEVIATIONS * 0.0045, "{variance}");
}

#[test]
fn the_moments_of_the_noise_are_those_of_its_law() {
    for epsilon in [0.2, 1.0, 3.0] {
        let noise = add_remove_builder(pure(epsilon)).width(64).build().unwrap();
        let law = tamis_oracle::discrete_laplace::DiscreteLaplace::new(1.0 / epsilon);
        check_moments(noise.noise(), |z| law.survival(z) - law.survival(z + 1));
    }
    for epsilon in [1.0, 20.0, 100.0] {
        let budget = Budget::approximate(Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap());
        let plan = add_remove_builder(budget).nonzeros(1).noise(NoiseKind::Gaussian).width(64).build().unwrap();
        let Noise::Gaussian(noise) = plan.noise() else { panic!("Gaussian was asked for") };
        let law = tamis_oracle::discrete_gaussian::DiscreteGaussian::new(noise.variance().to_f64_up().sqrt());
        check_moments(plan.noise(), |z| law.survival(z) - law.survival(z + 1));
    }
}

fn check_moments(noise: &Noise, probability: impl Fn(i64) -> f64) {
    let moment = |power: i32| (1..400).map(|z| 2.0 * probability(z) * (z as f64).powi(power)).sum::<f64>();
    let variance = moment(2);
    assert!((noise.variance() / variance - 1.0).abs() < 1e-6, "{noise}: {} {variance}", noise.variance());
    let cumulant = moment(4) - 3.0 * variance * variance;
    let error = (noise.fourth_cumulant() - cumulant).abs();
    assert!(error < 1e-5 * moment(4), "{noise}: {} {cumulant}", noise.fourth_cumulant());
}

/// Answers over fresh seeds and fresh noise, in the order of the trials.
fn answers(plan: &Plan, data: &Histogram, query: &SparseQuery, trials: u64) -> Vec<Answer> {
    let trial = |seed| plan.release(data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap().answer(query);
    (0..trials).into_par_iter().map(trial).collect()
}

fn truth(data: &Histogram, query: &SparseQuery) -> f64 {
    query.evaluate(data) as f64 / f64::from(SparseQuery::UNIT)
}

/// The signal's variance, with the term that is not known beforehand.
fn exact_variance(plan: &Plan, data: &Histogram, query: &SparseQuery) -> f64 {
    let unit = f64::from(SparseQuery::UNIT);
    let own: f64 =
        query.entries().iter().map(|&(key, weight)| (f64::from(weight) / unit * data.count(key) as f64).powi(2)).sum();
    let predicted = plan.predicted_standard_error(query.squared_norm(), data.squared_norm() as f64, truth(data, query));
    predicted.powi(2) - 2.0 * own / f64::from(plan.shape().width())
}

fn plans() -> Vec<Plan> {
    vec![
        add_remove_builder(pure(1.0)).nonzeros(1).width(1024).build().unwrap(),
        add_remove_builder(pure(2.0)).nonzeros(4).width(1024).build().unwrap(),
        add_remove_builder(approximate()).nonzeros(3).noise(NoiseKind::Gaussian).width(768).build().unwrap(),
        add_remove_builder(approximate()).dense().noise(NoiseKind::Gaussian).width(256).build().unwrap(),
    ]
}

/// 300 keys with 1 to 5 records each, and a list of 100 of which 50 are among them.
fn small_data() -> (Histogram, SparseQuery) {
    (histogram((0..300).map(|key| (key << 7, 1 + key as i64 % 5))), list((250..350).map(|key| key << 7)))
}

#[test]
fn answers_are_unbiased_and_err_as_predicted() {
    let (data, query) = small_data();
    for plan in plans() {
        let answers = answers(&plan, &data, &query, 20_000);
        let errors: Vec<f64> = answers.iter().map(|answer| answer.value - truth(&data, &query)).collect();
        let variance = exact_variance(&plan, &data, &query);
        assert!(errors_are(&errors, variance), "{plan:?}: {variance}");
        // The twins: a bias of a tenth of a standard deviation; a variance 10 % off; noise alone.
        let biased: Vec<f64> = errors.iter().map(|error| error + 0.1 * variance.sqrt()).collect();
        assert!(!errors_are(&biased, variance));
        assert!(!errors_are(&errors, 1.1 * variance) && !errors_are(&errors, 0.9 * variance));
        assert!(!errors_are(&errors, plan.predicted_standard_error(query.squared_norm(), 0.0, 0.0).powi(2)));

        // The standard errors are right on the average: unbiased for dense signs, for sparse ones within what they add.
        let squares = mean(answers.iter().map(|answer| answer.standard_error.powi(2)));
        let stated = match plan.shape().signs() {
            tamis_projection::Signs::Dense => variance,
            tamis_projection::Signs::Sparse { .. } => {
                let (norm, of_data) = (query.squared_norm(), data.squared_norm() as f64);
                let value = (truth(&data, &query).powi(2) + variance).sqrt();
                plan.predicted_standard_error(norm, of_data, value).powi(2)
            }
        };
        // One varies by less than 15 %, the mean of 20 000 by 0.1 %; F, cut off at 0, may be a little large.
        assert!((squares / stated - 1.0).abs() < 0.02, "{plan:?}: {squares} {stated}");
        assert!(stated >= variance && stated < 1.1 * variance, "{stated} {variance}");
    }
}

/// Power: at 10 000 trials a coverage of 93.8 % or 96.6 % in place of 95 % is noticed.
#[test]
fn normal_intervals_cover_what_they_say() {
    let (data, query) = small_data();
    let zipf = histogram((1..400u64).map(|rank| (rank, 2_000 / rank as i64)));
    let half = list(200..600);
    let one_heavy = histogram([(1, 100_000)]);
    let dense = || add_remove_builder(approximate()).dense().noise(NoiseKind::Gaussian);
    let cases = [
        (plans().remove(0), &data, &query),
        (plans().remove(3), &data, &query),
        (dense().width(1024).build().unwrap(), &zipf, &half),
        (dense().width(1024).build().unwrap(), &one_heavy, &half),
    ];
    for (plan, data, query) in cases {
        let answers = answers(&plan, data, query, 10_000);
        let normal = answers.iter().filter(|answer| answer.rule.name() == "normal").count();
        assert!(normal > 9_900, "{normal} normal intervals, {plan:?}");
        for level in [0.5, 0.95, 0.99] {
            assert!(covers(&answers, truth(data, query), level, level, level + 0.005), "{level} {plan:?}");
            assert!(!covers(&scaled(&answers, 0.85), truth(data, query), level, level, level), "{level} {plan:?}");
        }
    }
}

/// One heavy key under sparse signs: normal intervals would cover four times in five.
#[test]
fn under_a_heavy_key_intervals_turn_conservative() {
    let data = histogram([(1, 1_000_000)]);
    let query = list(2..18);
    let plan = add_remove_builder(pure(1.0)).nonzeros(8).width(4096).build().unwrap();
    let answers = answers(&plan, &data, &query, 10_000);
    assert!(answers.iter().all(|answer| answer.rule == Rule::Conservative));
    assert!(covers(&answers, 0.0, 0.95, 0.95, 1.0));
    let normal: Vec<Answer> = answers.iter().map(|answer| Answer { rule: Rule::Normal, ..*answer }).collect();
    assert!(!covers(&normal, 0.0, 0.95, 0.95, 1.0));
    assert!(covers(&normal, 0.0, 0.95, 0.75, 0.85));
}

/// Between the two: data between one heavy key and none, at several levels, never less than the level.
#[test]
fn intervals_never_cover_less_on_the_way() {
    for heavy in [3, 10, 30, 100, 1000] {
        for nonzeros in [1, 8] {
            let data = histogram((0..1000u64).map(|key| (key, 1)).chain([(5_000, heavy)]));
            let query = list(900..1100);
            let plan = add_remove_builder(pure(1.0)).nonzeros(nonzeros).width(2048).build().unwrap();
            let answers = answers(&plan, &data, &query, 4_000);
            for level in [0.8, 0.95, 0.99] {
                // Normal up to an excess kurtosis of ½: half a percent.
                assert!(covers(&answers, 100.0, level, level - 0.005, 1.0), "{heavy} {nonzeros} {level}");
            }
            assert!(!covers(&scaled(&answers, 0.2), 100.0, 0.95, 0.945, 1.0));
        }
    }
}

/// A list of one key errs by the noise of one row, which is no bell. 20 releases and 200 keys that hardly ever share a row,
/// so that their errors are as good as independent.
#[test]
fn intervals_of_few_keys_allow_for_the_noise_of_few_rows() {
    let data = histogram((0..1000u64).map(|key| (key, 1)));
    let singles: Vec<SparseQuery> = (0..200).map(|key| list([key])).collect();
    for epsilon in [0.1, 1.0, 2.0] {
        let plan = add_remove_builder(pure(epsilon)).width(1 << 20).build().unwrap();
        let release = |seed| plan.release(&data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap();
        let answers: Vec<Answer> =
            (0..20).into_par_iter().flat_map(|seed| release(seed).answer_all(&singles)).collect();
        // Of one row it is not always certain that no heavy key is about; normal it never is.
        let few = answers.iter().filter(|answer| answer.rule.name() == "few-keys").count();
        assert!(few > 3_700 && answers.iter().all(|answer| answer.rule.name() != "normal"), "{epsilon}: {few}");
        for level in [0.9, 0.95, 0.99] {
            assert!(covers(&answers, 1.0, level, level, 1.0), "{epsilon} {level}");
            assert!(!covers(&scaled(&answers, 0.2), 1.0, level, level, 1.0), "{epsilon} {level}");
        }
    }
}

/// Lists of few keys, many at once: what is predicted of all, and what their own intervals say at that level, is broken in no more
/// than one release in twenty. 400 releases. Twin: the normal law, which is broken in one of five for lists of ten keys.
#[test]
fn lists_of_few_keys_keep_together_what_is_predicted() {
    let data = histogram((0..1_000u64).map(|key| (key, 1)));
    let beta = Beta::new(0.05).unwrap();
    for (support, lists) in [(1, 1_000), (10, 1_000), (100, 100), (1_000, 20)] {
        let queries = Queries::new(lists).unwrap();
        let plan = add_remove_builder(pure(1.0)).nonzeros(1).width(1 << 14).records(1_000).support(support);
        let plan = plan.build().unwrap();
        let predicted = plan.predicted_half_width(queries, beta);
        let normal = deviations(queries, beta) * plan.predicted_standard_error(support as f64, 1_000.0, 0.0);
        let level = 1.0 - beta.get() / queries.to_f64();
        // Of keys that no record has: the true answers are 0.
        let lists: Vec<SparseQuery> =
            (0..lists).map(|at| list(2_000 + at * support..2_000 + (at + 1) * support)).collect();
        let broken: Vec<[bool; 3]> = (0..400)
            .into_par_iter()
            .map(|seed| {
                let release = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap();
                let answers = release.answer_all(&lists);
                let beyond = |half: f64| answers.iter().any(|answer| answer.value.abs() > half);
                [beyond(predicted), beyond(normal), answers.iter().any(|answer| misses(answer, level))]
            })
            .collect();
        let count = |which: usize| broken.iter().filter(|broken| broken[which]).count() as u64;
        let allowed = binomial_upper_quantile(400, beta.get(), FALSE_ALARM);
        assert!(count(0) <= allowed && count(2) <= allowed, "{support} keys: {} {} of 400", count(0), count(2));
        assert!(support != 10 || count(1) > allowed, "{} of 400", count(1));
    }
}

/// Whether 0, the true answer, is outside its interval, of a level at which three standard errors are always inside.
fn misses(answer: &Answer, level: f64) -> bool {
    answer.value.abs() > 3.0 * answer.standard_error && {
        let interval = answer.interval(level).unwrap();
        interval.lower > 0.0 || interval.upper < 0.0
    }
}

/// The numbers this is for: a million distinct keys, ε = 1, no δ, lists of 10⁴ with 4 000 matches.
///
/// 2 releases and 200 lists: their errors are near to independent, so that the root of the mean square is known to 3.6 %.
#[test]
fn a_million_keys_and_lists_of_ten_thousand() {
    let data = histogram((0..1_000_000u64).map(|key| (key, 1)));
    let plan = add_remove_builder(pure(1.0)).records(1_000_000).support(10_000).build().unwrap();
    assert_eq!((plan.shape().width(), plan.shape().nonzeros()), (1 << 20, 1));
    let predicted = plan.predicted_standard_error(1e4, 1e6, 4e3);
    assert!(predicted <= 180.0 && plan.file_bytes().unwrap() <= 400_000.0);
    let lists: Vec<SparseQuery> = (0..200u64)
        .map(|i| list((i * 4_000..i * 4_000 + 4_000).chain(2_000_000 + i * 6_000..2_006_000 + i * 6_000)))
        .collect();
    let mut squares = Vec::new();
    for seed in 0..2 {
        let release = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap();
        for answer in release.answer_all(&lists) {
            assert!((answer.standard_error / predicted - 1.0).abs() < 0.05, "{answer:?} {predicted}");
            assert_eq!(answer.rule, Rule::Normal);
            squares.push((answer.value - 4_000.0).powi(2));
        }
    }
    let measured = mean(squares.into_iter()).sqrt();
    assert!((measured / predicted - 1.0).abs() < DEVIATIONS * 0.036, "{measured} {predicted}");
}

/// The theorem is not broken more often than its β: 20 lists of 50 keys at once, over 300 releases. The bound is loose, so this
/// would not see one a fifth smaller; one a third as large is seen.
#[test]
fn the_theorem_holds() {
    let data = histogram((0..300u64).map(|key| (key, 3)));
    let builder = add_remove_builder(approximate()).dense().noise(NoiseKind::Gaussian);
    let plan = builder.width(1024).independence(32).build().unwrap();
    let (queries, beta) = (Queries::new(20).unwrap(), Beta::new(0.05).unwrap());
    let bound = plan.guarantee(50.0, data.squared_norm() as f64, queries, beta).unwrap();
    let lists: Vec<SparseQuery> = (0..20u64).map(|i| list(i * 20..i * 20 + 50)).collect();
    let worst = |seed| {
        let release = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap();
        let errors = lists.iter().map(|list| (release.answer(list).value - truth(&data, list)).abs());
        errors.fold(0.0, f64::max)
    };
    let worst: Vec<f64> = (0..300).into_par_iter().map(worst).collect();
    let broken = |bound: f64| worst.iter().filter(|&&worst| worst > bound).count() as u64;
    let allowed = binomial_upper_quantile(300, beta.get(), FALSE_ALARM);
    assert!(broken(bound) <= allowed, "{} of 300 above {bound}", broken(bound));
    assert!(broken(bound / 3.0) > allowed);

    // It is not claimed where it is not proven.
    for unproven in [
        add_remove_builder(pure(1.0)).dense().width(1024).independence(32),
        add_remove_builder(approximate()).nonzeros(8).noise(NoiseKind::Gaussian).width(1024).independence(32),
        add_remove_builder(approximate()).dense().noise(NoiseKind::Gaussian).width(1024).independence(4),
    ] {
        assert_eq!(unproven.build().unwrap().guarantee(50.0, 300.0, queries, beta), None);
    }
}

#[test]
fn weights_are_answered() {
    use tamis_noise::Rational;
    let half = |keys: std::ops::Range<u64>| {
        keys.map(|key| (Fingerprint::raw(key), Rational::from_parts(1.into(), 2u8.into())))
    };
    let data = histogram((0..500u64).map(|key| (key, 4)));
    let plan = add_remove_builder(pure(1.0)).width(1 << 12).build().unwrap();
    let release = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
    let (whole, halved) = (list(100..200), SparseQuery::weighted(half(100..200)).unwrap());
    let (whole, halved) = (release.answer(&whole), release.answer(&halved));
    assert_eq!(halved.value, whole.value / 2.0);
    assert!((halved.standard_error / whole.standard_error - 0.5).abs() < 1e-12);
    let nothing = release.answer(&list([]));
    assert_eq!((nothing.value, nothing.standard_error), (0.0, 0.0));
}

#[test]
fn what_cannot_be_is_refused() {
    let builder = || add_remove_builder(pure(1.0));
    assert_eq!(builder().build().unwrap_err(), ProjectionError::Unstated);
    assert!(matches!(builder().dense().width(100).build(), Err(ProjectionError::DenseWidth(100))));
    assert!(matches!(builder().nonzeros(0).records(10).build(), Err(ProjectionError::SparseWidth { .. })));
    assert!(matches!(builder().width(64).noise(NoiseKind::Gaussian).build(), Err(ProjectionError::Composition(_))));
    assert!(matches!(builder().records(10).file_bytes(10).build(), Err(ProjectionError::FileTooSmall(10))));
    assert!(matches!(builder().records(10).key_multiplicity(f64::NAN).build(), Err(ProjectionError::Size { .. })));
    assert!(matches!(builder().records(0).build(), Err(ProjectionError::Size { .. })));
    let tiny = ProjectionRelease::builder(pure(1e-12), Neighbours::Substitute, 1_000_000).width(1 << 20);
    assert!(matches!(tiny.build(), Err(ProjectionError::Parameter(_))));
    for rows in [0, 1_000_001] {
        let builder = ProjectionRelease::builder(pure(1.0), Neighbours::AddRemove, rows).width(64);
        assert_eq!(builder.build().unwrap_err(), ProjectionError::RowsPerUnit(rows));
    }
    for few in [2, 3] {
        let error = builder().width(64).independence(few).build().unwrap_err();
        assert_eq!(error, ProjectionError::IndependenceOfAnswers(few));
    }
    let plan = builder().width(64).build().unwrap();
    let other = SignFamily::sparse(128, 1, 4, Seed([0; 32])).unwrap();
    let wrong = plan.release_sketch(Sketch::empty(&other), &mut ChaCha12Rng::seed_from_u64(0));
    assert_eq!(wrong.unwrap_err(), ProjectionError::OtherShape { planned: 64, given: 128 });
    for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        let answer = Answer { value: 0.0, standard_error: 1.0, rule: Rule::Normal };
        assert!(matches!(answer.interval(level), Err(ProjectionError::Level(_))));
    }
}

/// A table bounded to L rows a unit is not released with noise for fewer: neither whole, nor as parts whose bounds add up.
#[test]
fn more_rows_a_unit_than_planned_are_refused() {
    let bounded = |rows: u32| {
        let mut bound = ContributionBound::new(rows, FingerprintKey::new([7; 16])).unwrap();
        (0..3).for_each(|place| bound.add(&Element::number(1), Fingerprint::raw(place)));
        bound.histogram().unwrap()
    };
    let plan = |rows| ProjectionRelease::builder(pure(1.0), Neighbours::AddRemove, rows).width(64).build().unwrap();
    let release = |rows, data: &Histogram| plan(rows).release(data, &mut ChaCha12Rng::seed_from_u64(0)).map(drop);
    let refusal = |planned, bounded| Err(ProjectionError::RowsBeyondPlan { planned, bounded });
    assert_eq!(release(2, &bounded(2)), Ok(()));
    assert_eq!(release(1, &bounded(2)), refusal(1, 2));
    assert_eq!(release(1, &bounded(1).merge(&bounded(1)).unwrap()), refusal(1, 2));

    let family = SignFamily::new(plan(1).shape(), Seed([0; 32]));
    let mut parts = Sketch::of(&family, &bounded(1)).unwrap();
    parts.merge(Sketch::of(&family, &bounded(1)).unwrap()).unwrap();
    let refused = plan(1).release_sketch(parts, &mut ChaCha12Rng::seed_from_u64(0)).map(drop);
    assert_eq!(refused, refusal(1, 2));

    // Whatever comes to it, a bound that is known is not forgotten: neither rows without one, nor none at all.
    let with_none = bounded(2).merge(&Histogram::builder().build()).unwrap();
    assert_eq!(release(1, &with_none), refusal(1, 2));
    let parts = [bounded(1), bounded(1)];
    let folded = parts.iter().try_fold(Histogram::default(), |sum, part| sum.merge(part)).unwrap();
    assert_eq!(release(1, &folded), refusal(1, 2));
    let mut sketch = Sketch::of(&family, &bounded(2)).unwrap();
    sketch.add(Fingerprint::raw(1), 0).unwrap();
    let refused = plan(1).release_sketch(sketch, &mut ChaCha12Rng::seed_from_u64(0)).map(drop);
    assert_eq!(refused, refusal(1, 2));
}

#[test]
fn a_release_is_restored_as_it_was() {
    let plan = add_remove_builder(pure(1.0)).width(1 << 10).build().unwrap();
    let release = plan.release(&small_data().0, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
    let seed = release.family().seed();
    let restored = ProjectionRelease::restore(plan.clone(), seed, release.values().to_vec(), Vec::new()).unwrap();
    assert_eq!(restored.answer(&small_data().1), release.answer(&small_data().1));
    assert!(ProjectionRelease::restore(plan.clone(), seed, vec![0; 64], Vec::new()).is_err());
    let beyond = ProjectionRelease::restore(plan, seed, vec![i64::MIN; 1 << 10], Vec::new());
    assert_eq!(beyond.unwrap_err(), ProjectionError::Value(i64::MIN));
}

#[test]
fn explanations_say_what_was_chosen_and_what_would_be_next() {
    let plan = add_remove_builder(approximate()).records(1_000_000).support(10_000).build().unwrap();
    let text = plan.explanation();
    for part in
        ["1048576 rows of sparse signs, 1 entry a key", "discrete Laplace noise of scale 1", "Next best", "373 kB"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    // A smaller file is had by fewer rows, and skewed data by others.
    let small = add_remove_builder(approximate()).records(1_000_000).file_bytes(120_000).build().unwrap();
    assert_eq!(small.shape().width(), 1 << 18);
    // A thousand records need no million rows.
    let few = add_remove_builder(pure(1.0)).records(1_000).build().unwrap();
    assert!(few.shape().width() <= 1 << 15, "{}", few.explanation());
}
