//! Composition against exact arithmetic, against the papers' routes, and at the corners of its range.

use proptest::{prelude::*, test_runner::RngSeed};
use statrs::function::beta::beta_reg;
use tamis_noise::{
    Budget, Delta, Epsilon, Hits, Rational,
    composition::{CompositionError, Rho, optimal, papers, zcdp},
};
use tamis_oracle::composition::{optimal_delta, zcdp_delta};

fn hits(runs: u64) -> Hits {
    Hits::new(runs).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::approximate(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
}

/// The same number, times a factor near 1.
fn scaled(epsilon: &Epsilon, factor: &str) -> Epsilon {
    Epsilon::from_rational(epsilon.as_rational() * tamis_noise::parse_rational(factor).unwrap()).unwrap()
}

#[test]
fn optimal_delta_is_the_theorems_from_above() {
    let mut positive = 0;
    for runs in [1, 2, 3, 5, 10, 30, 100] {
        // Dyadic, so that both compute with the same numbers.
        for per_run in [0.0078125, 0.125, 0.5, 1.0, 3.0] {
            for total in [0.0009765625, 0.125, 0.5, 1.0, 4.0, 20.0] {
                let delta = optimal::delta(hits(runs), &epsilon(per_run), &epsilon(total));
                let (lower, upper) = optimal_delta(runs as u32, per_run, total);
                assert!(
                    lower <= delta && delta <= upper * (1.0 + 1e-9),
                    "{runs} runs of {per_run} at {total}: {delta:e}, exactly {lower:e} to {upper:e}"
                );
                positive += usize::from(lower > 0.0);
            }
        }
    }
    assert!(positive > 80, "only {positive} cases have a delta at all");
}

/// Where exact sums would take hours: the theorem as the difference of two binomial tails, each by the incomplete
/// beta function, P(L ≤ l) = I_{1−p}(c−l, l+1).
#[test]
fn optimal_delta_of_many_runs_is_a_difference_of_binomial_tails() {
    for (runs, per_run, total) in
        [(1000u32, 0.01, 1.0), (10_000, 0.005, 2.0), (1_000_000, 1e-4, 0.5), (1_000_000, 0.001, 3.0)]
    {
        let c = f64::from(runs);
        let last = ((c - total / per_run) / 2.0).ceil() - 1.0;
        let unlikely = 1.0 / (1.0 + f64::exp(per_run));
        let tail = |p: f64| beta_reg(c - last, last + 1.0, 1.0 - p);
        let expected = tail(unlikely) - f64::exp(total) * tail(1.0 - unlikely);
        let delta = optimal::delta(hits(runs.into()), &epsilon(per_run), &epsilon(total));
        assert!((delta / expected - 1.0).abs() < 1e-7, "{runs} runs of {per_run} at {total}: {delta:e} {expected:e}");
        // A per-run loss one part in 10⁵ off would be seen.
        let off = optimal::delta(hits(runs.into()), &scaled(&epsilon(per_run), "1.00001"), &epsilon(total));
        assert!(off / expected - 1.0 > 1e-5, "{runs} runs of {per_run} at {total}: {off:e} {expected:e}");
    }
}

#[test]
fn pure_budgets_and_single_runs_compose_basically_and_exactly() {
    for runs in [1, 2, 3, 11, 1000, 1_000_000] {
        let pure = Budget::pure(epsilon(1.0));
        let exactly = Epsilon::from_rational(Rational::ONE / Rational::from(runs)).unwrap();
        assert_eq!(optimal::epsilon_per_run(hits(runs), &pure).unwrap(), exactly);
        assert_eq!(papers::basic(hits(runs), pure.epsilon()).unwrap(), exactly);
        assert_eq!(optimal::epsilon(hits(runs), &exactly, &Delta::ZERO).unwrap(), epsilon(1.0));
    }
    let single = optimal::epsilon_per_run(Hits::ONE, &budget(0.1, 1e-3)).unwrap();
    assert_eq!(single, epsilon(0.1));
}

#[test]
fn a_share_below_the_least_epsilon_is_refused() {
    let tiny = Budget::pure(epsilon(1e-12));
    assert!(optimal::epsilon_per_run(hits(2), &tiny).is_err());
    assert!(papers::basic(hits(2), tiny.epsilon()).is_err());
    assert!(optimal::epsilon(hits(1_000_000), &epsilon(1.0), &Delta::ZERO).is_err());
}

/// What the book's ε₀ would leak where it is refused (c = 10⁴, ε = 200, δ = 10⁻⁶).
#[test]
fn corollary_3_21_is_false_where_it_is_refused() {
    let (runs, asked) = (10_000u64, budget(200.0, 1e-6));
    let literal = 200.0 / (8.0 * runs as f64 * 1e6_f64.ln()).sqrt();
    let truth = optimal::delta(hits(runs), &epsilon(literal), asked.epsilon());
    assert!((truth - 0.139).abs() < 5e-4, "{truth}");
    let refusal = papers::corollary_3_21(hits(runs), &asked).unwrap_err();
    let CompositionError::EpsilonTooLarge { largest, .. } = &refusal else {
        panic!("{refusal}");
    };
    let largest: f64 = largest.parse().unwrap();
    assert!(papers::corollary_3_21(hits(runs), &budget(largest, 1e-6)).is_ok());
    assert!(papers::corollary_3_21(hits(runs), &budget(largest + 0.002, 1e-6)).is_err());
    assert_eq!(
        refusal.to_string(),
        "DR14 corollary 3.21 does not hold for 10000 runs at ε = 200, δ = 0.000001: it needs \
         c·ε₀·(exp(ε₀) − 1) ≤ ε/2, here epsilon up to 53.858; use optimal composition"
    );
}

#[test]
fn the_papers_routes_refuse_deltas_outside_their_range() {
    for delta in [0.500_001, 0.999] {
        let refusal = papers::corollary_3_21(hits(3), &budget(1.0, delta)).unwrap_err();
        assert!(matches!(refusal, CompositionError::DeltaTooLarge { .. }), "{refusal}");
    }
    assert!(papers::corollary_3_21(hits(3), &budget(1.0, 0.5)).is_ok());
    let pure = Budget::pure(epsilon(1.0));
    for refusal in [
        papers::corollary_3_21(hits(3), &pure).unwrap_err(),
        papers::advanced_per_run(hits(3), &pure).unwrap_err(),
        papers::advanced(hits(3), &epsilon(1.0), &Delta::ZERO).unwrap_err(),
        zcdp::rho(&pure).unwrap_err(),
    ] {
        assert!(matches!(refusal, CompositionError::PureBudget { .. }), "{refusal}");
    }
    // e^ε₀ overflows: an error, not a panic.
    assert!(papers::advanced(hits(3), &epsilon(1000.0), &Delta::new(0.1).unwrap()).is_err());
}

#[test]
fn rho_adds_up_exactly_and_stays_in_its_range() {
    let eleventh = Rho::from_rational("1/11".parse().unwrap()).unwrap();
    let sum = (1..11).fold(eleventh.clone(), |sum, _| sum.plus(&eleventh).unwrap());
    assert_eq!(*sum.as_rational(), Rational::ONE);
    let largest = Rho::from_rational(Rational::from(1_000_000)).unwrap();
    assert!(largest.plus(&eleventh).is_err());
    for outside in ["0", "-1", "1e-31", "1000001"] {
        assert!(Rho::from_rational(tamis_noise::parse_rational(outside).unwrap()).is_err(), "{outside}");
    }
}

#[test]
fn concentrated_delta_is_the_least_over_all_orders() {
    for rho in ["0.001", "0.02", "0.5", "3"] {
        let rho = Rho::from_rational(tamis_noise::parse_rational(rho).unwrap()).unwrap();
        for total in [0.1, 1.0, 7.0] {
            let (delta, grid) =
                (zcdp::delta(&rho, &epsilon(total)), zcdp_delta(rho.as_rational().to_f64_fast(), total, 100_000));
            assert!(
                // Below every number there is, the bound is the least of them.
                (delta / grid.max(f64::MIN_POSITIVE) - 1.0).abs() < 2e-6,
                "rho {rho}, epsilon {total}: {delta:e} {grid:e}"
            );
        }
    }
}

/// Any number of runs, evenly over the orders of magnitude.
fn any_hits() -> impl Strategy<Value = Hits> {
    (0.0..6.0f64).prop_map(|digits| hits(10f64.powf(digits) as u64))
}

fn any_epsilon(digits: std::ops::Range<f64>) -> impl Strategy<Value = Epsilon> {
    digits.prop_map(|digits| epsilon(10f64.powf(digits)))
}

fn any_delta() -> impl Strategy<Value = Delta> {
    prop_oneof![
        (-12.0..-0.3f64).prop_map(|digits| Delta::new(10f64.powf(digits)).unwrap()),
        (-300.0..-12.0f64).prop_map(|digits| Delta::new(10f64.powf(digits)).unwrap()),
        (1e-15..0.5f64).prop_map(|rest| Delta::new(1.0 - rest).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn optimal_delta_falls_with_the_total_and_rises_with_each_run(
        runs in any_hits(), per_run in any_epsilon(-6.0..1.0), total in any_epsilon(-3.0..2.0),
    ) {
        let delta = optimal::delta(runs, &per_run, &total);
        prop_assert!((0.0..=1.0).contains(&delta));
        // The error bound moves with the number of terms, by less than this.
        let tolerance = 1.0 + 1e-9;
        prop_assert!(optimal::delta(runs, &per_run, &scaled(&total, "1.01")) <= delta * tolerance);
        prop_assert!(delta <= optimal::delta(runs, &scaled(&per_run, "1.01"), &total) * tolerance);
        if let Ok(more) = Hits::new(u64::from(runs.get()) + 2) {
            prop_assert!(delta <= optimal::delta(more, &per_run, &total) * tolerance);
        }
    }

    #[test]
    fn no_inversion_overspends(
        runs in any_hits(), total in any_epsilon(-5.0..3.0), delta in any_delta(),
    ) {
        let budget = Budget::approximate(total.clone(), delta.clone());
        let per_run = optimal::epsilon_per_run(runs, &budget).unwrap();
        let basic = papers::basic(runs, &total).unwrap();
        prop_assert!(per_run >= basic);
        prop_assert!(optimal::delta(runs, &per_run, &total) <= delta.to_f64_down());
        prop_assert_eq!(optimal::delta(runs, &basic, &total), 0.0);
        // Sharp: a millionth more is too much.
        let more = scaled(&per_run, "1.000001");
        prop_assert!(runs == Hits::ONE || more > epsilon(1000.0)
            || optimal::delta(runs, &more, &total) > delta.to_f64_down());

        let back = optimal::epsilon(runs, &per_run, &delta).unwrap();
        prop_assert!(back <= scaled(&total, "1.00000000001"));
        prop_assert!(*back.as_rational() <= per_run.as_rational() * Rational::from(runs.get()));
    }

    #[test]
    fn no_paper_allows_more_than_the_optimum(
        runs in any_hits(), total in any_epsilon(-5.0..3.0), delta in any_delta(),
    ) {
        let budget = Budget::approximate(total.clone(), delta.clone());
        let optimum = optimal::epsilon_per_run(runs, &budget).unwrap();
        let advanced = papers::advanced_per_run(runs, &budget).unwrap();
        prop_assert!(papers::advanced(runs, &advanced, &delta).unwrap() <= total);
        // At δ above ½ a single run's optimum is more than the ε that is used for it.
        if runs != Hits::ONE || delta <= Delta::new(0.5).unwrap() {
            prop_assert!(advanced <= optimum, "advanced {} above {}", advanced.to_f64_up(), optimum.to_f64_up());
        }
        if let Ok(book) = papers::corollary_3_21(runs, &budget) {
            prop_assert!(book <= advanced, "book {} above {}", book.to_f64_up(), advanced.to_f64_up());
        }
    }

    #[test]
    fn corollary_3_21_accepts_what_the_book_says(
        runs in any_hits(), total in any_epsilon(-5.0..0.0), delta in any_delta(),
    ) {
        let accepted = papers::corollary_3_21(runs, &Budget::approximate(total, delta.clone())).is_ok();
        prop_assert_eq!(accepted, delta <= Delta::new(0.5).unwrap());
    }

    #[test]
    fn concentrated_budgets_come_back(total in any_epsilon(-5.0..2.9), delta in any_delta()) {
        let budget = Budget::approximate(total.clone(), delta.clone());
        let rho = zcdp::rho(&budget).unwrap();
        prop_assert!(zcdp::delta(&rho, &total) <= delta.to_f64_down());
        let back = zcdp::epsilon(&rho, &delta).unwrap();
        prop_assert!(zcdp::delta(&rho, &back) <= delta.to_f64_down());
        prop_assert!(back <= scaled(&total, "1.00001"));
        prop_assert!(zcdp::delta(&rho, &scaled(&total, "0.999")) >= zcdp::delta(&rho, &total));
    }
}
