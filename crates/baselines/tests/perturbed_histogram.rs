//! The perturbed histogram: its sensitivity by exhaustion, its noise, its answers and its bound.

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use tamis_baselines::{BaselineError, Noise, PerturbedHistogramPlan};
use tamis_noise::{Beta, Budget, Neighbours, Queries, Rational};
use tamis_oracle::composition::discrete_gaussian_delta;
use tamis_oracle::statistics::binomial_upper_quantile;
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

fn budget(epsilon: &str, delta: &str) -> Budget {
    Budget::approximate(epsilon.parse().unwrap(), delta.parse().unwrap())
}

fn table(counts: &[(u64, i64)]) -> Histogram {
    let mut table = Histogram::builder();
    for &(key, count) in counts {
        table.add(Fingerprint::raw(key), count).unwrap();
    }
    table.build()
}

/// The rows of a unit at two listed keys and one that is not.
fn units(rows: i64) -> Vec<[i64; 3]> {
    let all = (0..=rows).flat_map(|a| (0..=rows).flat_map(move |b| (0..=rows).map(move |c| [a, b, c])));
    all.filter(|unit| unit.iter().sum::<i64>() <= rows).collect()
}

/// The noise is for the largest change of the listed counts that any unit makes, in both norms, and for no larger.
#[test]
fn the_noise_is_that_of_the_sensitivity() {
    for neighbours in [Neighbours::AddRemove, Neighbours::Substitute] {
        for rows in [1u32, 2, 5] {
            let units = units(rows.into());
            let others = if neighbours == Neighbours::AddRemove { vec![[0; 3]] } else { units.clone() };
            let changes =
                units.iter().flat_map(|one| others.iter().map(move |other| [one[0] - other[0], one[1] - other[1]]));
            let (l1, squared_l2) =
                changes.fold((0, 0), |(l1, l2), [a, b]| (l1.max(a.abs() + b.abs()), l2.max(a * a + b * b)));

            let plan = PerturbedHistogramPlan::laplace(&budget("1/2", "1e-6"), neighbours, rows).unwrap();
            let Noise::Laplace(noise) = plan.noise() else { unreachable!() };
            assert_eq!(*noise.scale().as_rational(), Rational::from(2 * l1));
            assert_eq!(*plan.cost(), budget("1/2", "0"));

            let plan = PerturbedHistogramPlan::gaussian(&budget("1", "1e-6"), neighbours, rows).unwrap();
            let Noise::Gaussian(noise) = plan.noise() else { unreachable!() };
            let sigma = noise.variance().to_f64_up().sqrt();
            // By the exact law of the sum, for the worst unit; less would not do for less than a tenth where rows move
            // together.
            let worst: Vec<i64> = match (neighbours, rows) {
                (Neighbours::AddRemove, rows) => vec![rows.into()],
                (Neighbours::Substitute, rows) => vec![rows.into(), -i64::from(rows)],
            };
            assert_eq!(worst.iter().map(|shift| shift * shift).sum::<i64>(), squared_l2);
            assert!(discrete_gaussian_delta(sigma, &worst, 1.0) <= 1e-6);
            assert!(discrete_gaussian_delta(sigma * 0.85, &worst, 1.0) > 1e-6);
        }
    }
}

#[test]
fn counts_are_those_of_the_listed_keys_with_noise() {
    let plan = PerturbedHistogramPlan::laplace(&budget("1", "0"), Neighbours::AddRemove, 1).unwrap();
    let data = table(&[(2, 40), (5, 7), (9, 1), (11, 3)]);
    let universe = [9, 2, 3, 2, 12].map(Fingerprint::raw);
    let released = plan.release(universe, &data, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
    let Noise::Laplace(noise) = plan.noise() else { unreachable!() };
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let expected =
        [(2, 40), (3, 0), (9, 1), (12, 0)].map(|(key, count)| (Fingerprint::raw(key), count + noise.sample(&mut rng)));
    assert_eq!(released.counts(), expected);

    let half = tamis_noise::parse_rational("1/2").unwrap();
    let query = SparseQuery::weighted([(Fingerprint::raw(2), half), (Fingerprint::raw(9), Rational::ONE)]).unwrap();
    let answer = released.answer(&query).unwrap();
    assert_eq!(answer.value, expected[0].1 as f64 / 2.0 + expected[2].1 as f64);
    assert!((answer.standard_error - plan.predicted_standard_error(1.25)).abs() < 1e-12);
    let refused = released.answer(&SparseQuery::count([2, 5, 11].map(Fingerprint::raw))).unwrap_err();
    assert_eq!(refused, BaselineError::Unlisted(2));
}

/// In each of 3 000 releases the largest error of ten lists, false alarm 10⁻⁶; half of the bound fails.
#[test]
fn all_answers_are_within_the_bound() {
    let (beta, releases, truth) = (0.05, 3_000, 20.0);
    let data = table(&(0..200).map(|key| (key, 1)).collect::<Vec<_>>());
    let budget = budget("1", "1e-6");
    for neighbours in [Neighbours::AddRemove, Neighbours::Substitute] {
        let laplace = PerturbedHistogramPlan::laplace(&budget, neighbours, 1).unwrap();
        let gaussian = PerturbedHistogramPlan::gaussian(&budget, neighbours, 1).unwrap();
        for plan in [laplace, gaussian] {
            let mut rng = ChaCha12Rng::seed_from_u64(2);
            let mut largest = || {
                let released = plan.release((0..200).map(Fingerprint::raw), &data, &mut rng).unwrap();
                let list = |first: u64| SparseQuery::count((first..first + 20).map(Fingerprint::raw));
                let errors = (0..10).map(|i| (released.answer(&list(20 * i)).unwrap().value - truth).abs());
                errors.fold(0.0, f64::max)
            };
            let errors: Vec<f64> = (0..releases).map(|_| largest()).collect();
            let beyond = |bound: f64| errors.iter().filter(|&&error| error > bound).count() as u64;
            let bound = plan.guarantee(20, Queries::new(10).unwrap(), Beta::new(beta).unwrap());
            let allowed = binomial_upper_quantile(releases, beta, 1e-6);
            assert!(beyond(bound) <= allowed && beyond(bound / 2.0) > allowed, "{plan:?}: {}", beyond(bound));
        }
    }
}

/// Never more than the textbook's, √(8m·ln(2k/β))·t, where that holds; and of one key no more than the law gives.
#[test]
fn the_bound_on_sums_is_no_worse_than_the_textbook() {
    let plan = PerturbedHistogramPlan::laplace(&budget("1/3", "0"), Neighbours::AddRemove, 1).unwrap();
    for (k, beta) in [(1, 0.05), (1_000_000, 1e-6)] {
        let (queries, beta) = (Queries::new(k).unwrap(), Beta::new(beta).unwrap());
        let logarithm = (2.0 * queries.to_f64() / beta.get()).ln();
        for m in [100u64, 10_000, 1_000_000] {
            let textbook = 3.0 * (8.0 * m as f64 * logarithm).sqrt();
            assert!(plan.guarantee(m, queries, beta) < textbook && plan.guarantee(m, queries, beta) > 0.4 * textbook);
        }
        assert_eq!(plan.guarantee(1, queries, beta), plan.noise().reach(beta.get() / queries.to_f64()));
        assert_eq!(plan.guarantee(0, queries, beta), 0.0);
    }
}
