//! The guarded release: what it promises to everybody, and to those who do not attack it.

use chacha20::ChaCha20Rng;
use rand::SeedableRng;
use tamis_interactive::{
    Data, GuardedPlan, GuardedRelease, Hypothesis, Learner, Plan, PlanError, Query, Refusal, Session, Setting, Source,
    SparsePerceptron, Step,
};
use tamis_noise::{Beta, Budget, Delta, Epsilon, Hits, Neighbours, Queries};
use tamis_queries::{Conjunction, Fingerprint, FingerprintKey, Histogram, SparseQuery};

fn setting(records: u64, support: u64, queries: u64) -> Setting {
    Setting {
        records,
        largest_count: records,
        support,
        queries: Queries::new(queries).unwrap(),
        beta: Beta::new(0.05).unwrap(),
        budget: Budget::pure(Epsilon::new(1.0).unwrap()),
        neighbours: Neighbours::AddRemove,
        rows_per_unit: 1,
    }
}

fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn count(keys: impl IntoIterator<Item = u64>) -> SparseQuery {
    SparseQuery::count(keys.into_iter().map(Fingerprint::raw))
}

/// Keys 0 .. n, once each.
fn distinct(records: u64) -> Histogram {
    let mut table = Histogram::builder();
    for key in 0..records {
        table.add(Fingerprint::raw(key), 1).unwrap();
    }
    table.build()
}

fn hits(updates: u64) -> Hits {
    Hits::new(updates).unwrap()
}

#[test]
fn the_guarantee_is_useful_at_ordinary_sizes() {
    let setting = setting(1_000_000, 10_000, 1_000_000);
    let plan = GuardedPlan::new(&setting, hits(10), 1.0).unwrap();
    let alpha = plan.guard().guarantee();
    assert!((0.0030..0.0045).contains(&alpha), "{alpha}");
    assert_eq!(plan.cost().unwrap(), setting.budget);
    // Everything else that is proven for such a stream is far behind.
    let with_delta = Setting {
        budget: Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap()),
        ..setting.clone()
    };
    for other in [Plan::tight(&with_delta, Learner::SparseWeights).unwrap(), Plan::gaussian(&with_delta).unwrap()] {
        assert!(other.guarantee() > 5.0 * alpha);
    }
    // A δ is used if it helps, and paid for.
    let approximate = GuardedPlan::new(&with_delta, hits(1_000), 1.0).unwrap();
    assert!(
        approximate.guard().guarantee() < GuardedPlan::new(&setting, hits(1_000), 1.0).unwrap().guard().guarantee()
    );
    assert!(approximate.cost().unwrap().delta() <= with_delta.budget.delta());
    assert!(approximate.cost().unwrap().epsilon() <= with_delta.budget.epsilon());
}

/// 300 lists fixed beforehand: none uses a correction, none is further off than predicted. Both fail with a probability
/// of some 2·β = 1/10 together; this generator's noise does not.
#[test]
fn who_does_not_attack_uses_no_corrections() {
    let table = distinct(30_000);
    let plan = GuardedPlan::new(&setting(30_000, 300, 300), hits(5), 1.0).unwrap();
    let data = Data::keys(table.clone());
    let mut rng = generator(1);
    let mut session = Session::guarded(&plan, &data, &mut rng).unwrap();
    let predicted = plan.guard().threshold();
    for list in 0..300 {
        let query = count((0..300).map(|key| (list * 97 + key * 211) % 60_000));
        let truth = (query.evaluate(&table) >> 20) as f64;
        let answer = session.answer(&Query::keys(query), &mut rng).unwrap();
        assert_eq!((answer.source, answer.left), (Source::Hypothesis, 5));
        assert!((answer.value - truth).abs() < predicted, "{answer:?} {truth}");
    }
}

/// The search against every division, planned in full.
#[test]
fn the_division_is_the_best_of_all() {
    let part = |share: u32, delta: &str| {
        let epsilon = Epsilon::new(f64::from(share) / 32.0).unwrap();
        Budget::approximate(epsilon, delta.parse().unwrap())
    };
    for (records, support, queries) in [(10_000, 10, 100), (1_000_000, 10_000, 1_000_000)] {
        let setting = Setting { budget: part(32, "1e-6"), ..setting(records, support, queries) };
        let with = |share: u32, of_release: &str, of_guard: &str| {
            let builder =
                tamis_projection::ProjectionRelease::builder(part(share, of_release), Neighbours::AddRemove, 1);
            let builder = builder.records(records).key_multiplicity(1.0).support(support);
            let release = builder.queries(setting.queries).beta(setting.beta).build().unwrap();
            let guard = Setting { budget: part(32 - share, of_guard), ..setting.clone() };
            GuardedPlan::with_release(&guard, hits(10), release).unwrap().guard().guarantee()
        };
        let all = (1..32).flat_map(|share| [with(share, "5e-7", "5e-7"), with(share, "0", "1e-6")]);
        let plan = GuardedPlan::new(&setting, hits(10), 1.0).unwrap();
        assert_eq!(plan.guard().guarantee(), all.fold(f64::INFINITY, f64::min), "{records}");
    }
}

/// Asks for keys that no record has, and then for all those together that the release overestimates: the truth is 0,
/// and the release's error is far beyond what it predicts for queries that do not depend on it. The guard catches every
/// such list while it has corrections.
#[test]
fn an_adaptive_attack_breaks_the_release_and_not_the_guarded_one() {
    let (records, absent) = (20_000, 8_000u64);
    let table = distinct(records);
    let plan = GuardedPlan::new(&setting(records, absent, 10_000), hits(3), 1.0).unwrap();
    let data = Data::keys(table.clone());
    let mut rng = generator(2);
    let mut session = Session::guarded(&plan, &data, &mut rng).unwrap();

    let one = |key: u64| count([1_000_000 + key]);
    let release = session.hypothesis().release().clone();
    let overestimated: Vec<u64> = (0..absent).filter(|&key| release.answer(&one(key)).value > 0.0).collect();
    let attack = count(overestimated.iter().map(|key| 1_000_000 + key));
    let alone = release.answer(&attack);
    let predicted = plan.release().predicted_error_of_all(
        attack.squared_norm(),
        records as f64,
        0.0,
        Queries::new(10_000).unwrap(),
        Beta::new(0.05).unwrap(),
    );
    assert!(alone.value > 3.0 * predicted, "{alone:?} {predicted}");

    // The same through the guard: single keys first, then ever other halves of what they give away.
    let guarantee = plan.guard().guarantee_in_records();
    assert!(alone.value > guarantee);
    let mut known = Vec::new();
    for key in 0..absent {
        let answer = session.answer(&Query::keys(one(key)), &mut rng).unwrap();
        assert_eq!(answer.source, Source::Hypothesis);
        if answer.value > 0.0 {
            known.push(key);
        }
    }
    let mut corrections = 0;
    for round in 0..20 {
        let half = known.iter().filter(|key| round == 0 || (*key >> (round % 5)) & 1 == round / 5 % 2);
        let query = count(half.map(|key| 1_000_000 + key));
        let answer = session.answer(&Query::keys(query), &mut rng).unwrap();
        corrections += u32::from(answer.source == Source::Data);
        if let Some(bound) = answer.bound {
            assert!(answer.value <= bound && bound <= guarantee, "{round}: {answer:?}");
        } else {
            assert!(session.is_exhausted());
        }
    }
    assert!(corrections >= 1);
}

/// The session's parts, stored apart and put together again.
#[test]
fn a_guarded_session_goes_on_where_it_stopped() {
    let table = distinct(5_000);
    let plan = GuardedPlan::new(&setting(5_000, 3_000, 200), hits(4), 1.0).unwrap();
    let data = Data::keys(table);
    let mut straight = Session::guarded(&plan, &data, &mut generator(3)).unwrap();
    let (mut rng, mut other_rng) = (generator(4), generator(4));
    let release = straight.hypothesis().release().clone();
    // A wrong guess is planted, so that there is something to correct.
    let bad = |release: &tamis_projection::ProjectionRelease| {
        let mut wrong = GuardedRelease::new(release.clone(), 5_000, 3_000, None).unwrap();
        wrong.update(&Query::keys(count(0..3_000)), Step::Reach(0.0)).unwrap();
        wrong
    };
    let head = serde_json::to_string(&straight.head()).unwrap();
    let restore = |head: &str, residual: &SparsePerceptron, transcript: &[tamis_interactive::Entry]| {
        let text = serde_json::to_string(&residual.store()).unwrap();
        let residual = SparsePerceptron::restore(&serde_json::from_str(&text).unwrap()).unwrap();
        let hypothesis = GuardedRelease::with_residual(release.clone(), 5_000, residual).unwrap();
        Session::resume(serde_json::from_str(head).unwrap(), hypothesis, transcript.to_vec(), &data).unwrap()
    };
    straight = restore(&head, bad(&release).residual(), &[]);
    let (mut stored, mut residual, mut transcript) = (head, bad(&release).residual().clone(), Vec::new());
    for start in (0..3_000).step_by(150) {
        let query = Query::keys(count(start / 3..3_000));
        let expected = straight.answer(&query, &mut rng).unwrap();
        let mut session = restore(&stored, &residual, &transcript);
        assert_eq!(session.answer(&query, &mut other_rng).unwrap(), expected);
        stored = serde_json::to_string(&session.head()).unwrap();
        residual = session.hypothesis().residual().clone();
        transcript = session.transcript().to_vec();
    }
    assert!(straight.left() < 4);

    // A hypothesis of another moment is as bad as one of another plan: it is only ever less right, but a transcript is
    // checked.
    transcript.pop();
    let hypothesis = GuardedRelease::with_residual(release, 5_000, residual).unwrap();
    let refusal = Session::resume(serde_json::from_str(&stored).unwrap(), hypothesis, transcript, &data).unwrap_err();
    assert!(matches!(refusal, Refusal::Damaged(_)), "{refusal}");
}

#[test]
fn what_cannot_be_guarded_is_refused() {
    let base = setting(1_000, 10, 10);
    for broken in [
        Setting { records: 0, ..base.clone() },
        Setting { support: 0, ..base.clone() },
        Setting { rows_per_unit: 0, ..base.clone() },
        Setting { budget: Budget::pure(Epsilon::new(1e-12).unwrap()), ..base.clone() },
    ] {
        assert!(GuardedPlan::new(&broken, Hits::ONE, 1.0).is_err(), "{broken:?}");
    }
    for multiplicity in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(GuardedPlan::new(&base, Hits::ONE, multiplicity).is_err());
    }
    let refusal = Plan::tight(&base, Learner::GuardedRelease).unwrap_err();
    assert!(matches!(refusal, PlanError::Learner { .. }), "{refusal}");
    // Nothing was stated of the release: the guard allows anything, and says so.
    let release = tamis_projection::ProjectionRelease::builder(base.budget.clone(), base.neighbours, 1);
    let plan = GuardedPlan::with_release(&base, Hits::ONE, release.width(64).build().unwrap()).unwrap();
    assert!(plan.guard().is_vacuous());
    assert_eq!(plan.cost().unwrap(), Budget::pure(Epsilon::new(2.0).unwrap()));
    // What is released to a unit of one row does not hide a unit of two.
    for (neighbours, rows) in [(Neighbours::Substitute, 1), (base.neighbours, 2)] {
        let release = tamis_projection::ProjectionRelease::builder(base.budget.clone(), neighbours, rows);
        let refusal = GuardedPlan::with_release(&base, Hits::ONE, release.width(64).build().unwrap()).unwrap_err();
        let expected = PlanError::OtherUnits { of_release: (neighbours, rows), of_guard: (base.neighbours, 1) };
        assert_eq!(refusal, expected);
    }
}

#[test]
fn conjunctions_are_guarded() {
    let key = FingerprintKey::new([8; 16]);
    let records: Vec<(u128, i64)> = (0..4_096).map(|bits| (bits, 5)).collect();
    let data = Data::points(12, &key, records).unwrap();
    let plan = GuardedPlan::new(&setting(20_480, 1_024, 100), hits(3), 5.0).unwrap();
    let mut rng = generator(5);
    let mut session = Session::guarded(&plan, &data, &mut rng).unwrap();
    for ones in [0b11, 0b101, 0b1100, 0b111] {
        let conjunction = Conjunction::new(12, ones, 0).unwrap();
        let answer = session.answer(&Query::conjunction(conjunction, key), &mut rng).unwrap();
        let truth = 5.0 * conjunction.support();
        assert!((answer.value - truth).abs() <= answer.bound.unwrap(), "{answer:?} {truth}");
    }
}
