//! Noise for each answer: what it is, what it costs, and whether its bound holds.

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use tamis_baselines::{BaselineError, Noise, PerQueryPlan};
use tamis_noise::{Beta, Budget, DiscreteLaplace, Neighbours, Queries, Rational};
use tamis_oracle::composition::{optimal_delta, zcdp_delta};
use tamis_oracle::statistics::binomial_upper_quantile;
use tamis_queries::{ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, SparseQuery};

fn budget(epsilon: &str, delta: &str) -> Budget {
    Budget::approximate(epsilon.parse().unwrap(), delta.parse().unwrap())
}

fn queries(k: u64) -> Queries {
    Queries::new(k).unwrap()
}

fn table() -> Histogram {
    let mut table = Histogram::builder();
    for key in 0..100 {
        table.add(Fingerprint::raw(key), key as i64 % 7).unwrap();
    }
    table.build()
}

fn lists(k: u64) -> Vec<SparseQuery> {
    (0..k).map(|first| SparseQuery::count((first..first + 20).map(Fingerprint::raw))).collect()
}

/// ε₀ of each answer, by the scale of its noise.
fn per_query(plan: &PerQueryPlan) -> Rational {
    let Noise::Laplace(noise) = plan.noise() else { panic!("Laplace noise was asked for") };
    Rational::from(u64::from(plan.rows_per_unit()) << 20) / noise.scale().as_rational()
}

#[test]
fn laplace_noise_is_that_of_the_best_composition() {
    for neighbours in [Neighbours::AddRemove, Neighbours::Substitute] {
        for rows in [1, 3] {
            let pure = PerQueryPlan::laplace(&budget("1", "0"), neighbours, rows, queries(50)).unwrap();
            assert_eq!(per_query(&pure), "1/50".parse::<tamis_noise::Epsilon>().unwrap().as_rational().clone());
            let offered = budget("1", "1e-6");
            let plan = PerQueryPlan::laplace(&offered, neighbours, rows, queries(50)).unwrap();
            assert_eq!((plan.cost(), pure.cost().delta().is_zero()), (&offered, true));
            let each = per_query(&plan).to_f64().value();
            assert!(optimal_delta(50, each, 1.0).0 <= 1e-6 && optimal_delta(50, each * 1.001, 1.0).1 > 1e-6);
            assert_eq!((plan.neighbours(), plan.rows_per_unit()), (neighbours, rows));
        }
    }
    // δ that does not help is not spent.
    let one = PerQueryPlan::laplace(&budget("1", "1e-6"), Neighbours::AddRemove, 1, queries(1)).unwrap();
    assert_eq!(*one.cost(), budget("1", "0"));
    // Beyond a million answers: ½ε₀² each.
    let many = PerQueryPlan::laplace(&budget("1", "1e-9"), Neighbours::AddRemove, 1, queries(5_000_000)).unwrap();
    let rho = 5e6 * per_query(&many).to_f64().value().powi(2) / 2.0;
    // The oracle tries orders on a grid, and is above the least by that.
    assert!(zcdp_delta(rho * 0.9999, 1.0, 100_000) <= 1e-9 && zcdp_delta(rho * 1.001, 1.0, 100_000) > 1e-9);
}

#[test]
fn gaussian_noise_is_that_of_a_vector_of_answers() {
    let at = |k, rows| {
        let plan = PerQueryPlan::gaussian(&budget("1", "1e-9"), Neighbours::Substitute, rows, queries(k)).unwrap();
        plan.predicted_standard_error()
    };
    assert!((at(1, 1) - 5.779).abs() < 1e-3);
    assert!((at(400, 1) / at(1, 1) - 20.0).abs() < 1e-9 && (at(1, 7) / at(1, 1) - 7.0).abs() < 1e-9);
    assert!(PerQueryPlan::gaussian(&budget("1", "0"), Neighbours::Substitute, 1, queries(1)).is_err());
}

#[test]
fn answers_are_exact_ones_with_noise_of_their_own() {
    let plan = PerQueryPlan::laplace(&budget("2", "0"), Neighbours::AddRemove, 1, queries(30)).unwrap();
    let (data, third) = (table(), tamis_noise::parse_rational("1/3").unwrap());
    let mut asked = lists(29);
    asked.push(SparseQuery::weighted((0..9).map(|key| (Fingerprint::raw(key), third.clone()))).unwrap());
    let answers = plan.release(&asked, &data, &mut ChaCha12Rng::seed_from_u64(1)).unwrap();
    let (mut rng, Noise::Laplace(noise)) = (ChaCha12Rng::seed_from_u64(1), plan.noise()) else { unreachable!() };
    let noise: &DiscreteLaplace = noise;
    for (query, answer) in asked.iter().zip(answers) {
        let noisy = query.evaluate(&data) + noise.sample(&mut rng);
        assert_eq!(answer.value, noisy as f64 / 2f64.powi(20));
        assert_eq!(answer.standard_error, plan.predicted_standard_error());
    }
}

/// In each of 2 000 releases of 40 answers the largest error, false alarm 10⁻⁶; half of the bound fails.
#[test]
fn all_answers_are_within_the_bound() {
    let (data, lists, beta, releases) = (table(), lists(40), 0.05, 2_000);
    let laplace = PerQueryPlan::laplace(&budget("1", "1e-6"), Neighbours::AddRemove, 1, queries(40)).unwrap();
    let gaussian = PerQueryPlan::gaussian(&budget("1", "1e-6"), Neighbours::AddRemove, 1, queries(40)).unwrap();
    for plan in [laplace, gaussian] {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let mut largest = || {
            let answers = plan.release(&lists, &data, &mut rng).unwrap();
            let truths = lists.iter().map(|list| list.evaluate(&data) as f64 / 2f64.powi(20));
            answers.iter().zip(truths).map(|(answer, truth)| (answer.value - truth).abs()).fold(0.0, f64::max)
        };
        let errors: Vec<f64> = (0..releases).map(|_| largest()).collect();
        let beyond = |bound: f64| errors.iter().filter(|&&error| error > bound).count() as u64;
        let (bound, allowed) =
            (plan.guarantee(Beta::new(beta).unwrap()), binomial_upper_quantile(releases, beta, 1e-6));
        assert!(beyond(bound) <= allowed && beyond(bound / 2.0) > allowed, "{plan:?}: {}", beyond(bound));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let plan = |rows, k| PerQueryPlan::laplace(&budget("1", "0"), Neighbours::AddRemove, rows, queries(k));
    assert_eq!(plan(0, 1).unwrap_err(), BaselineError::RowsPerUnit(0));
    assert_eq!(plan(1_000_001, 1).unwrap_err(), BaselineError::RowsPerUnit(1_000_001));
    assert!(matches!(plan(1, 1 << 21).unwrap_err(), BaselineError::Parameter(_)));
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let refused = plan(1, 2).unwrap().release(&lists(3), &table(), &mut rng).unwrap_err();
    assert_eq!(refused, BaselineError::TooManyQueries { planned: 2, given: 3 });
    let mut bound = ContributionBound::new(2, FingerprintKey::new([1; 16])).unwrap();
    bound.add(&Element::number(1), Fingerprint::raw(1));
    let refused = plan(1, 2).unwrap().release(&lists(1), &bound.histogram().unwrap(), &mut rng).unwrap_err();
    assert_eq!(refused, BaselineError::RowsBeyondPlan { planned: 1, bounded: 2 });
}
