//! The stability histogram: δ counted, its error against the exact law, its answers and its bound.

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use tamis_baselines::{BaselineError, KeyError, StabilityHistogramPlan};
use tamis_noise::stability::StabilityError;
use tamis_noise::{Beta, Budget, DiscreteLaplace, Neighbours, Queries};
use tamis_oracle::discrete_laplace::DiscreteLaplace as Law;
use tamis_oracle::statistics::{binomial_tail, binomial_upper_quantile};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

fn plan(epsilon: &str, delta: &str, neighbours: Neighbours, rows: u32) -> StabilityHistogramPlan {
    let budget = Budget::approximate(epsilon.parse().unwrap(), delta.parse().unwrap());
    StabilityHistogramPlan::new(&budget, neighbours, rows).unwrap()
}

fn table(counts: impl IntoIterator<Item = (u64, i64)>) -> Histogram {
    let mut table = Histogram::builder();
    for (key, count) in counts {
        table.add(Fingerprint::raw(key), count).unwrap();
    }
    table.build()
}

/// Of 10⁵ keys of one record each no more than δ·10⁵ = 100 may be expected to be released: false alarm 10⁻⁴ for that,
/// and 10⁻⁶ on either side for the law itself, which has 66.7 at ε = 1, where no whole threshold reaches δ, and 99.8 at
/// ε = 0.94, where one does. With the threshold one lower, 181 and 255 are expected, e^ε times as many: the same test
/// sees all of those but one in a thousand.
#[test]
fn as_many_unique_keys_are_released_as_delta_says() {
    const KEYS: u64 = 100_000;
    let data = table((0..KEYS).map(|key| (key, 1)));
    for (epsilon, expected) in [("1", 66.7), ("0.94", 99.8)] {
        let plan = plan(epsilon, "1/1000", Neighbours::AddRemove, 1);
        let released = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(1)).unwrap().counts().len() as u64;
        let consistent = |released: u64| released <= binomial_upper_quantile(KEYS, 1e-3, 1e-4);
        assert!(consistent(released), "{epsilon}: {released}");

        let tau = plan.threshold().threshold();
        let chance = Law::new(plan.threshold().scale().to_f64_up()).survival(tau - 1);
        assert!((KEYS as f64 * chance - expected).abs() < 0.1, "{epsilon}: {chance}");
        let below = 1.0 - binomial_tail(KEYS, chance, released + 1);
        assert!(released <= binomial_upper_quantile(KEYS, chance, 1e-6) && below > 1e-6, "{epsilon}: {released}");

        // A strict tail with a threshold that is not strict.
        let (noise, mut rng) = (DiscreteLaplace::new(plan.threshold().scale().clone()), ChaCha12Rng::seed_from_u64(1));
        let off_by_one = (0..KEYS).filter(|_| 1 + noise.sample(&mut rng) >= tau - 1).count() as u64;
        assert!(!consistent(off_by_one), "{epsilon}: {off_by_one}");
    }
}

#[test]
fn errors_of_keys_are_those_of_the_law() {
    let two_rows = (Neighbours::AddRemove, 2);
    for (epsilon, delta, (neighbours, rows)) in [
        ("1", "1e-9", (Neighbours::AddRemove, 1)),
        ("1/4", "1e-3", (Neighbours::Substitute, 1)),
        ("3", "1e-6", two_rows),
    ] {
        let plan = plan(epsilon, delta, neighbours, rows);
        let (law, tau) = (Law::new(plan.threshold().scale().to_f64_up()), plan.threshold().threshold());
        for count in [1, 2, tau - 1, tau, tau + 1, 3 * tau, 1_000_000] {
            let error = |z: i64| if count + z >= tau { z as f64 } else { -count as f64 };
            let moment = |power| (-2_000..=2_000).map(|z| law.probability(z) * error(z).powi(power)).sum::<f64>();
            let KeyError { bias, mean_square } = plan.error_of_key(count as u64);
            assert!((bias - moment(1)).abs() < 1e-9 * moment(2), "{epsilon} {count}: {bias} {}", moment(1));
            assert!((mean_square / moment(2) - 1.0).abs() < 1e-9, "{epsilon} {count}: {mean_square} {}", moment(2));
        }
        assert_eq!(plan.predicted_error(1_000, 0), 0.0);
    }
}

#[test]
fn answers_are_of_what_was_released() {
    let plan = plan("1", "1e-9", Neighbours::Substitute, 1);
    let data = table([(5, 1_000), (1, 3), (9, 500), (7, 200)]);
    let released = plan.release(&data, &mut ChaCha12Rng::seed_from_u64(3)).unwrap();
    let mut rng = ChaCha12Rng::seed_from_u64(3);
    let noisy = [(1, 3), (5, 1_000), (7, 200), (9, 500)]
        .map(|(key, count)| plan.threshold().release(count, &mut rng).map(|noisy| (Fingerprint::raw(key), noisy)));
    assert_eq!(released.counts(), noisy.into_iter().flatten().collect::<Vec<_>>());
    let keys: Vec<_> = released.counts().iter().map(|entry| entry.0.get()).collect();
    assert_eq!(keys, [5, 7, 9]);
    let answer = released.answer(&SparseQuery::count([1, 5, 9, 100].map(Fingerprint::raw)));
    assert_eq!(answer.value, (released.counts()[0].1 + released.counts()[2].1) as f64);
    assert_eq!(answer.unreleased, 2);
    // Two released keys, scale 2.
    assert!(
        (answer.standard_error - (2.0 * tamis_noise::discrete_laplace::second_moment(plan.threshold().scale())).sqrt())
            .abs()
            < 1e-12
    );
}

/// In each of 2 000 releases the largest error of ten lists, of light keys and of heavy ones, false alarm 10⁻⁶; two
/// fifths of the bound fail.
#[test]
fn all_answers_are_within_the_bounds() {
    let (beta, releases) = (Beta::new(0.05).unwrap(), 2_000);
    let plan = plan("1", "1e-6", Neighbours::AddRemove, 1);
    let (queries, tau) = (Queries::new(10).unwrap(), plan.threshold().threshold());
    assert!(plan.heavy_from(4, queries, beta) < 100.0);
    let light = (tau - 1, plan.guarantee(4, queries, beta));
    let heavy = (100, plan.guarantee_of_heavy(4, queries, beta));
    for (count, bound) in [light, heavy] {
        let data = table((0..40).map(|key| (key, count)));
        let mut rng = ChaCha12Rng::seed_from_u64(4);
        let mut largest = || {
            let released = plan.release(&data, &mut rng).unwrap();
            let list = |first: u64| SparseQuery::count((first..first + 4).map(Fingerprint::raw));
            let truth = 4.0 * count as f64;
            (0..10).map(|i| (released.answer(&list(4 * i)).value - truth).abs()).fold(0.0, f64::max)
        };
        let errors: Vec<f64> = (0..releases).map(|_| largest()).collect();
        let beyond = |bound: f64| errors.iter().filter(|&&error| error > bound).count() as u64;
        let allowed = binomial_upper_quantile(releases, beta.get(), 1e-6);
        assert!(
            beyond(bound) <= allowed && beyond(bound * 0.4) > allowed,
            "{count}: {} of {bound}",
            beyond(bound * 0.4)
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let pure = Budget::pure("1".parse().unwrap());
    let new = |rows| StabilityHistogramPlan::new(&pure, Neighbours::AddRemove, rows).unwrap_err();
    assert_eq!(new(1), BaselineError::Stability(StabilityError::WithoutDelta));
    assert_eq!(new(0), BaselineError::RowsPerUnit(0));
}
