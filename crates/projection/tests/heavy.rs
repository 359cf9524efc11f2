//! Heavy keys apart: what is published, and whether answers and their intervals are what is said of them.
//!
//! Statistical tests are seeded, so one that passes keeps passing. Their false alarm, had the seed been drawn, is 10⁻⁶
//! each: 4.9 standard deviations of what is compared. Each has a twin, wrong on purpose, that the same test rejects.

mod common;

use chacha20::ChaCha12Rng;
use common::{covers, errors_are, histogram, list, mean, scaled};
use rand::SeedableRng;
use rayon::prelude::*;
use tamis_noise::stability::{StabilityError, StabilityThreshold};
use tamis_noise::{Budget, Delta, Epsilon, Neighbours};
use tamis_oracle::discrete_laplace::DiscreteLaplace;
use tamis_projection::{
    Answer, Builder, HeavyKeys, NoiseKind, Plan, ProjectionError, ProjectionRelease, Rule, SignFamily, Sketch,
};
use tamis_queries::{Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};

fn budget() -> Budget {
    Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap())
}

fn builder() -> Builder {
    ProjectionRelease::builder(budget(), Neighbours::AddRemove, 1).heavy(HeavyKeys::On)
}

fn release(plan: &Plan, data: &Histogram, seed: u64) -> ProjectionRelease {
    plan.release(data, &mut ChaCha12Rng::seed_from_u64(seed)).unwrap()
}

/// Zipf, s = 1: 400 keys with from 20 000 down to 50 records. Half of them in the list, and 200 that do not occur.
fn zipf() -> (Histogram, SparseQuery, f64) {
    let count = |rank: u64| (20_000 / rank) as i64;
    let data = histogram((1..=400).map(|rank| (rank << 9, count(rank))));
    let listed = (1..=400).filter(|rank| rank % 2 == 1);
    let truth = listed.clone().map(count).sum::<i64>() as f64;
    (data, list(listed.chain(1_000..1_200).map(|rank| rank << 9)), truth)
}

/// Of each key's x − c̃: mean and mean square, by the law of the noise.
fn left_of(threshold: &StabilityThreshold, count: i64) -> (f64, f64) {
    let noise = DiscreteLaplace::new(threshold.scale().to_f64_up());
    let (low, count_float) = (threshold.threshold() - count, count as f64);
    let below = noise.mass(i64::MIN, low - 1);
    let reach = (200.0 * threshold.scale().to_f64_up()) as i64;
    let above =
        |power: i32| (low.max(-reach)..=reach).map(|z| noise.probability(z) * (-z as f64).powi(power)).sum::<f64>();
    (count_float * below + above(1), count_float.powi(2) * below + above(2))
}

/// The variance of an answer, by arithmetic: the sketch's formula with the moments of x − c̃ in place of x.
fn variance(plan: &Plan, data: &Histogram, query: &SparseQuery) -> f64 {
    let threshold = plan.heavy().unwrap();
    let (mut norm, mut own, mut mean, mut spread) = (0.0, 0.0, 0.0, 0.0);
    for &(key, count) in data.entries() {
        let (first, second) = left_of(threshold, count);
        norm += second;
        if query.entries().binary_search_by_key(&key, |entry| entry.0).is_ok() {
            own += second;
            mean += first;
            spread += second - first * first;
        }
    }
    let expected = (mean * mean + spread).sqrt();
    let predicted = plan.predicted_standard_error(query.squared_norm(), norm, expected);
    predicted.powi(2) - 2.0 * own / f64::from(plan.shape().width())
}

fn plans() -> Vec<Plan> {
    vec![
        builder().noise(NoiseKind::Laplace).nonzeros(1).width(1024).build().unwrap(),
        builder().noise(NoiseKind::Laplace).nonzeros(8).width(1024).build().unwrap(),
        builder().noise(NoiseKind::Gaussian).dense().width(256).build().unwrap(),
    ]
}

/// On Zipf data, over fresh seeds and noise: unbiased, with the variance of the formula, and 95 % are 93–97 %.
#[test]
fn answers_are_unbiased_and_intervals_cover_what_they_say() {
    let (data, query, truth) = zipf();
    for plan in plans() {
        let trial = |seed| {
            let release = release(&plan, &data, seed);
            assert!(release.heavy().len() > 100, "{} heavy keys", release.heavy().len());
            release.answer(&query)
        };
        let answers: Vec<Answer> = (0..10_000).into_par_iter().map(trial).collect();
        let errors: Vec<f64> = answers.iter().map(|answer| answer.value - truth).collect();
        let variance = variance(&plan, &data, &query);
        assert!(errors_are(&errors, variance), "{}: {variance}", plan.explanation());
        // The twins: a bias of a tenth of a standard deviation; a variance off; the sketch of the whole table.
        let biased: Vec<f64> = errors.iter().map(|error| error + 0.1 * variance.sqrt()).collect();
        assert!(!errors_are(&biased, variance));
        assert!(!errors_are(&errors, 1.15 * variance) && !errors_are(&errors, 0.87 * variance));
        let whole = plan.predicted_standard_error(query.squared_norm(), data.squared_norm() as f64, truth);
        assert!(whole.powi(2) > 100.0 * variance);

        assert!(answers.iter().filter(|answer| answer.rule.name() == "normal").count() > 9_900);
        let squares = mean(answers.iter().map(|answer| answer.standard_error.powi(2)));
        assert!((0.98..1.1).contains(&(squares / variance)), "{squares} {variance}");
        for (level, least, most) in [(0.5, 0.48, 0.54), (0.95, 0.93, 0.97), (0.99, 0.98, 1.0)] {
            assert!(covers(&answers, truth, level, least, most), "{level} {}", plan.explanation());
        }
        assert!(!covers(&scaled(&answers, 0.8), truth, 0.95, 0.93, 0.97));
    }
}

/// With the same test generator: the same release, whatever the order of the rows and the number of threads.
#[test]
fn neither_order_nor_threads_matter() {
    let rows: Vec<(u64, i64)> = (0..30_000u64).map(|i| (i * i % 3_001 % (1 + i % 997), 1)).collect();
    let (data, backwards) = (histogram(rows.iter().copied()), histogram(rows.iter().rev().copied()));
    for plan in plans() {
        let of = |data: &Histogram, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| release(&plan, data, 1))
        };
        let first = of(&data, 1);
        let queries: Vec<SparseQuery> = (0..20u64).map(|i| list(i * 40..i * 40 + 20 * i)).collect();
        assert!(!first.heavy().is_empty() && first.heavy().is_sorted());
        for threads in [1, 2, 3] {
            let other = of(&backwards, threads);
            assert_eq!((first.values(), first.heavy()), (other.values(), other.heavy()));
            assert_eq!(first.answer_all(&queries), queries.iter().map(|query| other.answer(query)).collect::<Vec<_>>());
        }
    }
}

/// A record more moves the right integers and the one count by exactly 1 and the rest not at all: the noise that the sketch and
/// the other counts have does not depend on it.
#[test]
fn a_record_more_moves_its_count_and_its_column_alone() {
    let counts = |more| {
        (0..500u64).map(move |key| (key, if key % 10 == 0 { 1_000 } else { 1 } + if key == 250 { more } else { 0 }))
    };
    for plan in plans() {
        let [one, other] = [0, 1].map(|more| release(&plan, &histogram(counts(more)), 3));
        let moved = one.values().iter().zip(other.values()).map(|(one, other)| other - one);
        let moved: Vec<(usize, i64)> = moved.enumerate().filter(|moved| moved.1 != 0).collect();
        assert_eq!(moved, one.family().column(Fingerprint::raw(250)));
        let expected = one.heavy().iter().map(|&(key, count)| (key, count + i64::from(key == Fingerprint::raw(250))));
        assert_eq!(other.heavy(), expected.collect::<Vec<_>>());
        assert_eq!(one.heavy().len(), 50);
    }
}

/// A table of nothing, of light keys alone, of one key of 10⁹ records: each is released, and answered within its error.
#[test]
fn tables_of_all_kinds_are_released() {
    for plan in plans() {
        let nothing = release(&plan, &histogram([]), 1);
        assert!(nothing.heavy().is_empty());
        let light = release(&plan, &histogram((0..300).map(|key| (key, 1))), 2);
        assert!(light.heavy().is_empty());
        let giant = release(&plan, &histogram([(7, 1_000_000_000)]), 3);
        assert_eq!(giant.heavy().iter().map(|entry| entry.0).collect::<Vec<_>>(), [Fingerprint::raw(7)]);
        assert!(giant.heavy()[0].1.abs_diff(1_000_000_000) < 100); // 50 scales of the noise
        // What is left of it is its noise: no answer errs by it.
        assert!(giant.squared_norm() < 1e5, "{}", giant.squared_norm());
        for (release, query, truth) in [
            (&nothing, list(0..100), 0.0),
            (&light, list(200..400), 100.0),
            (&giant, list([7]), 1e9),
            (&giant, list(100..200), 0.0),
        ] {
            let answer = release.answer(&query);
            // Seeded: 6 standard errors are enough, of noise with Laplace tails too.
            assert!((answer.value - truth).abs() < 6.0 * answer.standard_error + 1.0, "{answer:?} {truth}");
            assert!(answer.standard_error < 2_000.0, "{answer:?}");
        }
        assert_eq!(giant.answer(&list([])).value, 0.0);
    }
}

/// Intervals of one heavy key alone, and of light ones beside one heavy key, cover at least what they say.
#[test]
fn intervals_of_a_heavy_key_and_beside_it_cover() {
    let data = histogram([(7, 1_000_000)].into_iter().chain((100..400).map(|key| (key, 1))));
    let plan = builder().nonzeros(1).noise(NoiseKind::Laplace).width(1024).build().unwrap();
    for (query, truth) in [(list([7]), 1e6), (list(300..500), 100.0)] {
        let answer = |seed| release(&plan, &data, seed).answer(&query);
        let answers: Vec<Answer> = (0..4_000).into_par_iter().map(answer).collect();
        for level in [0.8, 0.95, 0.99] {
            assert!(covers(&answers, truth, level, level - 0.005, 1.0), "{level} {truth}");
        }
        assert!(!covers(&scaled(&answers, 0.2), truth, 0.95, 0.945, 1.0));
    }
}

/// First names in the United States, of which a few are most of the data: a list of 18 common ones within 0.1 % with heavy keys
/// apart, as is chosen; without, the standard error is many times that.
#[test]
fn common_names_are_counted_to_a_thousandth() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    let read = |name: &str| std::fs::read_to_string(format!("{examples}{name}")).unwrap();
    let key = FingerprintKey::new([3; 16]);
    let fingerprint = |name: &str| key.fingerprint(&Element::bytes(name.as_bytes()));
    let mut names = Histogram::builder();
    for row in read("us_baby_names_1880_2017.csv").lines().skip(1) {
        let (name, count) = row.rsplit_once(',').unwrap();
        names.add(fingerprint(name), count.parse().unwrap()).unwrap();
    }
    let (names, common) = (names.build(), SparseQuery::count(read("names.txt").lines().map(fingerprint)));
    let truth = common.evaluate(&names) as f64 / f64::from(SparseQuery::UNIT);
    assert_eq!(common.support(), 18);
    let budget = Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
    let answer = |heavy| {
        let builder = ProjectionRelease::builder(budget.clone(), Neighbours::AddRemove, 1).records(350_000_000);
        let plan = builder.key_multiplicity(1e6).support(18).heavy(heavy).build().unwrap();
        release(&plan, &names, 1).answer(&common)
    };
    let (apart, plain) = (answer(HeavyKeys::Auto), answer(HeavyKeys::Off));
    assert!(apart.standard_error < 50.0 && (apart.value / truth - 1.0).abs() < 1e-3, "{apart:?} {truth}");
    assert!(plain.standard_error > 1e-3 * truth && plain.rule == Rule::Conservative, "{plain:?} {truth}");
}

/// The rule does without the data: what is stated decides.
#[test]
fn heavy_keys_are_chosen_where_they_are_predicted_to_pay() {
    let builder = |multiplicity: f64| {
        let builder = ProjectionRelease::builder(budget(), Neighbours::AddRemove, 1).records(1_000_000);
        builder.key_multiplicity(multiplicity)
    };
    for (multiplicity, apart) in [(1.0, false), (10.0, false), (10_000.0, true)] {
        let plan = builder(multiplicity).build().unwrap();
        assert_eq!(plan.heavy().is_some(), apart, "{multiplicity}: {}", plan.explanation());
        // And by the error that is predicted: the other way it is more, or as good as.
        let other = builder(multiplicity).heavy(if apart { HeavyKeys::Off } else { HeavyKeys::On }).build().unwrap();
        assert!(plan.predicted_error().unwrap() < 1.02 * other.predicted_error().unwrap(), "{multiplicity}");
        assert_eq!(plan.cost().delta().is_zero(), !apart);
        assert_eq!(plan.cost().epsilon(), budget().epsilon());
    }
    let apart = builder(10_000.0).build().unwrap();
    let threshold = apart.heavy().unwrap();
    assert_eq!(threshold.cost().to_string(), "ε = 0.5, δ = 0.000001");
    assert_eq!(apart.sketch_cost().to_string(), "ε = 0.5, δ = 0");
    assert!(apart.explanation().contains("28 or more are released apart"), "{}", apart.explanation());
    assert!(apart.privacy().contains("released with its noisy count if that is 28 or more"), "{}", apart.privacy());
    // What remains is estimated from above, by what is stated.
    let left = release(&apart, &histogram((0..100).map(|key| (key, 10_000))), 1).squared_norm();
    assert!(left < apart.stated_norm().unwrap() && apart.stated_norm().unwrap() < 1e10);

    // With Gaussian noise both need δ, and have half of it each.
    let gaussian = builder(1.0).heavy(HeavyKeys::On).noise(NoiseKind::Gaussian).build().unwrap();
    assert_eq!(gaussian.heavy().unwrap().cost(), gaussian.sketch_cost());
    assert_eq!(gaussian.cost(), budget());

    // Without δ there are none, whatever is stated.
    let pure = |heavy| {
        let budget = Budget::pure(Epsilon::new(1.0).unwrap());
        let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).records(1_000_000);
        builder.key_multiplicity(10_000.0).heavy(heavy).build()
    };
    assert!(pure(HeavyKeys::Auto).unwrap().heavy().is_none());
    assert_eq!(pure(HeavyKeys::On).unwrap_err(), ProjectionError::Stability(StabilityError::WithoutDelta));
}

/// Where errors without heavy keys apart are a little less but rarely large, intervals are not.
#[test]
fn heavy_keys_are_chosen_by_intervals() {
    let plan = |heavy, multiplicity| {
        let builder = ProjectionRelease::builder(budget(), Neighbours::AddRemove, 1).records(1_000_000).support(25);
        builder.key_multiplicity(multiplicity).heavy(heavy).build().unwrap()
    };
    let [auto, on, off] = [HeavyKeys::Auto, HeavyKeys::On, HeavyKeys::Off].map(|heavy| plan(heavy, 30.0));
    assert!(off.predicted_error().unwrap() < on.predicted_error().unwrap(), "{}", on.explanation());
    assert_eq!((off.predicted_rule().name(), on.predicted_rule().name()), ("conservative", "normal"));
    assert!(auto.heavy().is_some(), "{}", auto.explanation());
    // Below the threshold of 28 no key would be heavy if all are alike.
    assert!(plan(HeavyKeys::Auto, 27.0).heavy().is_none());
}

#[test]
fn what_cannot_be_is_refused() {
    let plan = plans().remove(0);
    let (data, query, _) = zipf();
    let released = release(&plan, &data, 1);
    let (seed, values, heavy) = (released.family().seed(), released.values().to_vec(), released.heavy().to_vec());
    let restore = |plan: &Plan, heavy: &[(Fingerprint, i64)]| {
        ProjectionRelease::restore(plan.clone(), seed, values.clone(), heavy.to_vec())
    };
    assert_eq!(restore(&plan, &heavy).unwrap().answer(&query), released.answer(&query));
    let mut disordered = heavy.clone();
    disordered.swap(0, 1);
    assert_eq!(restore(&plan, &disordered).unwrap_err(), ProjectionError::HeavyOrder);
    assert_eq!(restore(&plan, &[heavy[0], heavy[0]]).unwrap_err(), ProjectionError::HeavyOrder);
    let threshold = plan.heavy().unwrap().threshold();
    for count in [threshold - 1, 0, i64::MIN] {
        let refusal = restore(&plan, &[(heavy[0].0, count)]).unwrap_err();
        assert_eq!(refusal, ProjectionError::HeavyCount { threshold, count });
    }
    for counts in [[i64::MAX, threshold], [1 << 54, threshold], [i64::MAX, i64::MAX]] {
        let refusal = restore(&plan, &[(heavy[0].0, counts[0]), (heavy[1].0, counts[1])]).unwrap_err();
        assert_eq!(refusal, ProjectionError::HeavyTotal);
    }
    let plain = builder().heavy(HeavyKeys::Off).nonzeros(1).width(1024).build().unwrap();
    let refusal = restore(&plain, &heavy).unwrap_err();
    assert_eq!(refusal, ProjectionError::HeavyUnplanned(heavy.len()));
    assert!(restore(&plain, &[]).is_ok());

    // A sketch has no counts.
    let sketch = Sketch::empty(&SignFamily::new(plan.shape(), seed));
    let refusal = plan.release_sketch(sketch, &mut ChaCha12Rng::seed_from_u64(0)).unwrap_err();
    assert_eq!(refusal, ProjectionError::HeavyFromSketch);
}
