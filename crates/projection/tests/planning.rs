//! What a plan chooses, predicts and refuses, before any data is seen.

use proptest::{prelude::*, test_runner::RngSeed};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tamis_noise::{Beta, Budget, Delta, Epsilon, Ledger, Neighbours, Queries};
use tamis_projection::bounds::deviations;
use tamis_projection::{Builder, HeavyKeys, NoiseKind, ProjectionError, ProjectionRelease, Signs};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

fn pure(epsilon: f64) -> Builder {
    let budget = Budget::pure(Epsilon::new(epsilon).unwrap());
    ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).records(1_000_000).support(10_000)
}

fn dense() -> Builder {
    let budget = Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
    let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).dense().noise(NoiseKind::Gaussian);
    builder.records(1_000_000).support(10_000)
}

fn queries(number: u64) -> Queries {
    Queries::new(number).unwrap()
}

/// The smallest of the files that have the error that is wanted, and no smaller one has it.
#[test]
fn a_wanted_error_is_had_with_the_smallest_file() {
    for (wanted, confidence) in [(200.0, None), (300.0, None), (1_500.0, Some((1_000, 0.05)))] {
        let stated = |builder: Builder| match confidence {
            None => builder,
            Some((k, beta)) => builder.queries(queries(k)).beta(Beta::new(beta).unwrap()),
        };
        let plan = stated(pure(1.0)).wanted_error(wanted).build().unwrap();
        let bytes = plan.file_bytes().unwrap();
        assert!(plan.predicted_error().unwrap() <= wanted, "{wanted}: {}", plan.explanation());
        let best = stated(pure(1.0)).build().unwrap();
        assert!(bytes < best.file_bytes().unwrap() && best.predicted_error() < plan.predicted_error());
        let smaller = stated(pure(1.0)).file_bytes((0.99 * bytes) as u64).build().unwrap();
        assert!(smaller.predicted_error().unwrap() > wanted, "{wanted}: {}", smaller.explanation());
    }
}

/// What nothing reaches is refused with what would reach it; and that does.
#[test]
fn an_error_beyond_reach_is_refused_with_what_would_reach_it() {
    let refusal = pure(1.0).wanted_error(120.0).build().unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "an error of 120 records is out of reach: the least is 167.2, by 1048576 rows of sparse signs, 1 entry a key with \
         Laplace noise; epsilon = 2 would reach it; so would lists of 5152 keys"
    );
    assert!(pure(2.0).wanted_error(120.0).build().is_ok());
    assert!(pure(1.0).support(5_152).wanted_error(120.0).build().is_ok());
    assert!(pure(1.0).support(5_153).wanted_error(120.0).build().is_err());
    // Where other keys are the error, no ε helps.
    let refusal = pure(1.0).key_multiplicity(3.0).wanted_error(120.0).build().unwrap_err();
    assert!(refusal.to_string().contains("a larger file"), "{refusal}");
    let refusal = pure(1.0).key_multiplicity(1_000.0).wanted_error(120.0).build().unwrap_err();
    assert!(refusal.to_string().contains("whatever epsilon is"), "{refusal}");
    let unstated = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0).unwrap()), Neighbours::AddRemove, 1);
    assert_eq!(unstated.width(64).wanted_error(10.0).build().unwrap_err(), ProjectionError::Unstated);
    let nonsense = pure(1.0).wanted_error(f64::NAN).build().unwrap_err();
    assert_eq!(nonsense.to_string(), "the wanted error must be a number from 1 to 1e15, got NaN");
}

/// Said of k queries: the theorem where it holds, and what is only predicted is said to be.
#[test]
fn what_all_of_k_answers_keep_is_stated_for_what_it_is() {
    let plan = pure(1.0).queries(queries(1_000)).build().unwrap();
    let error = plan.predicted_standard_error(1e4, 1e6, 0.0);
    let all = deviations(queries(1_000), Beta::new(0.05).unwrap()) * error;
    assert_eq!(plan.predicted_error(), Some(all));
    let text = plan.explanation();
    assert!(text.contains("All of 1000 such lists within 678.0 records but for a probability of 0.05"), "{text}");
    assert!(text.contains("a prediction, not a guarantee") && !text.contains("theorem"), "{text}");

    let plan = dense().width(1 << 16).queries(queries(1_000_000)).beta(Beta::new(0.01).unwrap()).build().unwrap();
    let bound = plan.guarantee(1e4, 1e6, queries(1_000_000), Beta::new(0.01).unwrap()).unwrap();
    let text = plan.explanation();
    assert!(text.contains(&format!("add up to at most 1000000: within {bound:.1} records.")), "{text}");
    let vacuous = dense().width(1 << 16).records(3_000).queries(queries(1_000_000)).build().unwrap();
    assert!(vacuous.explanation().contains("vacuous, since the data has no more"), "{}", vacuous.explanation());
}

/// Where the theorem is asked for, columns are as independent as makes the most of it; else as errors need.
#[test]
fn independence_is_what_the_theorem_wants() {
    let chosen = |builder: Builder| builder.build().unwrap().shape().independence();
    assert_eq!(chosen(dense().width(1 << 16)), 4);
    let plan = dense().width(1 << 16).queries(queries(1_000_000)).build().unwrap();
    let of = |independence| {
        let plan = dense().width(1 << 16).independence(independence).build().unwrap();
        plan.guarantee(1e4, 1e6, queries(1_000_000), Beta::new(0.05).unwrap()).unwrap_or(f64::INFINITY)
    };
    let bound = of(plan.shape().independence());
    for independence in [4, 12, 24, 48, 68] {
        let better = independence > plan.shape().independence();
        assert!(of(independence) > if better { 0.99 * bound } else { bound / 1.000_1 }, "{independence}");
    }
    assert_eq!(chosen(dense().width(1 << 16).queries(queries(1_000_000)).independence(6)), 6);
    assert_eq!(chosen(pure(1.0).queries(queries(1_000_000))), 4);
}

/// Of data whose keys are all alike: the rule that is predicted is the one that answers have, and its intervals as wide, for
/// lists of keys that the data does not have. Each case is far from the borders between rules, and seeded.
#[test]
fn intervals_are_predicted() {
    let (one, beta) = (queries(1), Beta::new(0.05).unwrap());
    for (multiplicity, support, expected) in
        [(1, 100, "normal"), (1, 2, "few-keys"), (20, 1_000, "normal"), (1_000, 100, "conservative")]
    {
        let plan = pure(1.0).records(20_000).key_multiplicity(f64::from(multiplicity)).support(support).nonzeros(1);
        let plan = plan.width(1 << 16).build().unwrap();
        let mut table = Histogram::builder();
        for key in 0..20_000 / u64::try_from(multiplicity).unwrap() {
            table.add(Fingerprint::raw(key), multiplicity.into()).unwrap();
        }
        let release = plan.release(&table.build(), &mut StdRng::seed_from_u64(1)).unwrap();
        let absent = (1 << 20..(1 << 20) + support).map(Fingerprint::raw);
        let answer = release.answer(&SparseQuery::count(absent));
        let (predicted, own) = (plan.predicted_rule().name(), answer.rule.name());
        assert_eq!((predicted, own), (expected, expected), "{multiplicity} {support}");
        let interval = answer.interval(0.95).unwrap();
        let ratio = (interval.upper - answer.value) / plan.predicted_half_width(one, beta);
        assert!((0.8..1.25).contains(&ratio), "{multiplicity} {support}: {ratio}");
    }
    let text = pure(1.0).records(20_000).key_multiplicity(1e3).support(100).build().unwrap();
    assert!(text.explanation().contains("predicted to be conservative"), "{}", text.explanation());
    let text = pure(1.0).key_multiplicity(2.0).build().unwrap();
    assert!(text.explanation().contains("conservative, 4.47, if a few keys have most"), "{}", text.explanation());
}

/// What is wanted of all of many short lists is reached by the ε and by the lists that a refusal names.
#[test]
fn a_refusal_of_short_lists_names_what_reaches_it() {
    let stated = |epsilon: f64, support| pure(epsilon).support(support).queries(queries(1_000)).wanted_error(18.0);
    let refusal = stated(1.0, 10).build().unwrap_err().to_string();
    assert!(refusal.contains("the least is 23.6"), "{refusal}");
    let named = |before: &str| refusal.split(before).nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
    let (epsilon, keys): (f64, u64) = (named("epsilon = ").parse().unwrap(), named("lists of ").parse().unwrap());
    assert!(stated(epsilon, 10).build().is_ok() && stated(0.8 * epsilon, 10).build().is_err(), "{refusal}");
    assert!(stated(1.0, keys).build().is_ok() && stated(1.0, keys + 1).build().is_err(), "{refusal}");
}

#[test]
fn ranges_of_answers_are_those_of_the_list_and_of_the_data() {
    let range = |builder: Builder| builder.build().unwrap().answer_range();
    assert_eq!(range(pure(1.0)), Some(10_000.0));
    assert_eq!(range(pure(1.0).key_multiplicity(3.0)), Some(30_000.0));
    assert_eq!(range(pure(1.0).records(5_000)), Some(5_000.0));
    let unstated = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0).unwrap()), Neighbours::AddRemove, 1);
    let unstated = unstated.width(64).build().unwrap();
    assert_eq!((unstated.answer_range(), unstated.is_useful(), unstated.predicted_error()), (None, None, None));
    assert!(matches!(unstated.shape().signs(), Signs::Sparse { nonzeros: 1 }));
}

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(5), ..ProptestConfig::with_cases(500) }
}

proptest! {
    #![proptest_config(config())]

    /// Whatever is stated: a plan or a refusal, and a plan spends no more than the budget: what its parts spend, exactly.
    #[test]
    fn a_plan_spends_what_its_parts_spend_and_no_more(
        (epsilon, delta) in (-13f64..3.5, prop_oneof![Just(0.0), (-301f64..0.1).prop_map(|log| 10f64.powf(log))]),
        (rows, substitute) in (0u32..5, any::<bool>()),
        (signs, width) in (0u32..12, 6u32..12),
        (noise, heavy) in (0usize..3, 0usize..3),
        (records, multiplicity, wanted) in (0u64..1 << 40, -1f64..9.0, prop::option::of(-1f64..9.0)),
        k in prop::option::of(1u64..1 << 53),
    ) {
        let (Ok(epsilon), Ok(delta)) = (Epsilon::new(10f64.powf(epsilon)), Delta::new(delta)) else { return Ok(()) };
        let budget = Budget::approximate(epsilon, delta);
        let neighbours = if substitute { Neighbours::Substitute } else { Neighbours::AddRemove };
        let mut builder = ProjectionRelease::builder(budget.clone(), neighbours, rows).records(records);
        builder = builder.key_multiplicity(10f64.powf(multiplicity));
        builder = if signs < 3 { builder.dense() } else { builder.nonzeros(signs - 3) };
        builder = builder.width(u64::from((signs.max(4) - 3) << width));
        builder = builder.heavy([HeavyKeys::Off, HeavyKeys::Auto, HeavyKeys::On][heavy]);
        if let Some(&kind) = [NoiseKind::Laplace, NoiseKind::Gaussian].get(noise) {
            builder = builder.noise(kind);
        }
        if let Some(wanted) = wanted {
            builder = builder.wanted_error(10f64.powf(wanted));
        }
        if let Some(k) = k {
            builder = builder.queries(queries(k));
        }
        let Ok(plan) = builder.build() else { return Ok(()) };
        Ledger::new(budget.clone()).charge(&plan.cost()).unwrap();
        let mut ledger = Ledger::new(plan.cost());
        ledger.charge(plan.sketch_cost()).unwrap();
        if let Some(threshold) = plan.heavy() {
            ledger.charge(threshold.cost()).unwrap();
            prop_assert_eq!((threshold.neighbours(), threshold.rows_per_unit()), (neighbours, rows));
        }
        let (epsilon, delta) = ledger.left();
        prop_assert!(epsilon == tamis_noise::Rational::ZERO && delta == tamis_noise::Rational::ZERO);
        prop_assert!(plan.predicted_error().unwrap() > 0.0 && plan.is_useful().is_some());
    }
}
