//! Sparse queries and workloads: sets, exact answers, one record moves an answer by at most one unit.

use dashu_ratio::RBig;
use proptest::prelude::*;
use std::collections::BTreeSet;
use tamis_queries::{Fingerprint, Histogram, QueryError, SparseQuery, Workload, WorkloadError};

fn ratio(numerator: i64, denominator: u64) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

fn histogram(rows: &[(u64, i64)]) -> Histogram {
    let mut builder = Histogram::builder();
    for &(fingerprint, count) in rows {
        builder.add(Fingerprint::raw(fingerprint), count).unwrap();
    }
    builder.build()
}

/// Over all pairs of a row and a listed key, in wide integers.
fn naive(query: &SparseQuery, rows: &[(u64, i64)]) -> i128 {
    let mut sum = 0;
    for &(row, count) in rows {
        for &(key, units) in query.entries() {
            if key.get() == row {
                sum += i128::from(units) * i128::from(count);
            }
        }
    }
    sum
}

fn keys(universe: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..universe, 0..80)
}

fn rows(universe: u64) -> impl Strategy<Value = Vec<(u64, i64)>> {
    prop::collection::vec((0..universe, prop_oneof![1i64..4, 1i64..1 << 33]), 0..80)
}

/// Weights with one for each key, so that duplicates agree.
fn weight_of(key: u64, salt: u64) -> RBig {
    let denominator = 1 + (key * 31 + salt) % 97;
    ratio((key % (denominator + 1)) as i64, denominator)
}

/// A numerator and a denominator, from 0 to 1 together; often at a half of a unit, or too small for one.
fn fraction() -> impl Strategy<Value = (u64, u64)> {
    let near_half = (0u64..1 << 20).prop_map(|units| (2 * units + 1, 1 << 21));
    prop_oneof![
        (0u64..=5_000_000, 1u64..=5_000_000).prop_map(|(a, b)| (a.min(b), b)),
        near_half,
        Just((0, 1)),
        Just((1, 1 << 22))
    ]
}

proptest! {
    /// A list is the set of its keys, whatever its order.
    #[test]
    fn a_count_is_a_set(listed in keys(60), order in any::<prop::sample::Index>()) {
        let query = SparseQuery::count(listed.iter().copied().map(Fingerprint::raw));
        let set: BTreeSet<u64> = listed.iter().copied().collect();
        let expected = set.iter().map(|&key| (Fingerprint::raw(key), SparseQuery::UNIT));
        prop_assert!(query.entries().iter().copied().eq(expected));
        prop_assert_eq!(query.squared_norm(), query.support() as f64);
        let mut rotated = listed;
        rotated.reverse();
        if !rotated.is_empty() {
            let start = order.index(rotated.len());
            rotated.rotate_left(start);
        }
        prop_assert_eq!(SparseQuery::count(rotated.into_iter().map(Fingerprint::raw)), query);
    }

    /// Few keys against many rows, many against few, dense and thin overlap.
    #[test]
    fn evaluation_is_the_naive_sum(
        (listed, rows) in (1u64..400).prop_flat_map(|universe| (keys(universe), rows(universe))),
        salt in any::<u32>(),
    ) {
        let data = histogram(&rows);
        let count = SparseQuery::count(listed.iter().copied().map(Fingerprint::raw));
        prop_assert_eq!(i128::from(count.evaluate(&data)), naive(&count, &rows));
        let pairs = listed.iter().map(|&key| (Fingerprint::raw(key), weight_of(key, salt.into())));
        let weighted = SparseQuery::weighted(pairs).unwrap();
        prop_assert_eq!(i128::from(weighted.evaluate(&data)), naive(&weighted, &rows));
    }

    /// The sensitivity that every mechanism relies on.
    #[test]
    fn one_record_moves_an_answer_by_at_most_a_unit(
        listed in keys(40), rows in rows(40), extra in 0u64..40, salt in any::<u32>(),
    ) {
        let pairs = listed.iter().map(|&key| (Fingerprint::raw(key), weight_of(key, salt.into())));
        let query = SparseQuery::weighted(pairs).unwrap();
        let with = histogram(&[&rows[..], &[(extra, 1)]].concat());
        let moved = query.evaluate(&with) - query.evaluate(&histogram(&rows));
        prop_assert!((0..=i64::from(SparseQuery::UNIT)).contains(&moved));
    }

    /// Weights are floor(w·2^20 + 1/2), zeros left out; the norm is that of the rounded weights.
    #[test]
    fn weights_are_rounded_once(pairs in prop::collection::btree_map(0u64..1000, fraction(), 0..40)) {
        let listed = pairs.iter().map(|(&key, &(a, b))| (Fingerprint::raw(key), ratio(a as i64, b)));
        let query = SparseQuery::weighted(listed).unwrap();
        let mut expected = Vec::new();
        let mut norm = 0.0;
        for (&key, &(a, b)) in &pairs {
            let units = ((u128::from(a) << 21) + u128::from(b)) / (2 * u128::from(b));
            if units > 0 {
                expected.push((Fingerprint::raw(key), units as u32));
                norm += (units as f64 / f64::from(1 << 20)).powi(2);
            }
        }
        prop_assert_eq!(query.entries(), &expected[..]);
        prop_assert!((query.squared_norm() - norm).abs() <= 1e-12 * norm); // 40 roundings of 2^-53 each
    }
}

#[test]
fn a_key_with_two_weights_is_refused() {
    let [ann, bob] = [9, 1].map(Fingerprint::raw);
    let refusal = SparseQuery::weighted([(ann, ratio(1, 2)), (bob, RBig::ONE), (ann, ratio(1, 2)), (ann, ratio(1, 3))]);
    assert_eq!(refusal.unwrap_err().to_string(), "one key has the weight 1/2 at position 2 and 1/3 at position 3");
    // Compared before rounding: both of these would round to nothing.
    let tiny = ratio(1, 1 << 40);
    assert!(matches!(SparseQuery::weighted([(ann, tiny), (ann, RBig::ZERO)]), Err(QueryError::Conflict { .. })));
    let twice = SparseQuery::weighted([(ann, ratio(2, 4)), (ann, ratio(1, 2))]).unwrap();
    assert_eq!(twice.entries(), [(ann, 1 << 19)]);
}

#[test]
fn weights_outside_0_to_1_are_refused() {
    let ann = Fingerprint::raw(1);
    for weight in [ratio(-1, 1_000_000_000), ratio(1_000_001, 1_000_000)] {
        let refusal = SparseQuery::weighted([(ann, RBig::ONE), (ann, weight.clone())]);
        assert_eq!(refusal, Err(QueryError::Weight { position: 1, weight }));
    }
    assert_eq!(SparseQuery::weighted([(ann, RBig::ONE)]), Ok(SparseQuery::count([ann])));
}

#[test]
fn the_largest_answer_fits() {
    let full = histogram(&[(1, Histogram::MAX_TOTAL - 5), (2, 5)]);
    assert_eq!(SparseQuery::count([1, 2].map(Fingerprint::raw)).evaluate(&full), 1 << 60);
    assert_eq!(SparseQuery::count([]).evaluate(&full), 0);
    assert_eq!(SparseQuery::count([1].map(Fingerprint::raw)).evaluate(&Histogram::default()), 0);
}

#[test]
fn a_workload_keeps_order_and_refuses_a_name_twice() {
    let mut workload = Workload::default();
    assert_eq!(workload.largest_support(), 0);
    for (name, size) in [("z", 3), ("a", 5), ("m", 0)] {
        workload.push(name, SparseQuery::count((0..size).map(Fingerprint::raw))).unwrap();
    }
    let again = workload.push("a", SparseQuery::count([]));
    assert_eq!(again, Err(WorkloadError::SameName("a".to_owned())));
    assert_eq!(workload.push("", SparseQuery::count([])), Err(WorkloadError::Unnamed(3)));
    let names: Vec<_> = workload.queries().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m"]);
    assert_eq!(workload.largest_support(), 5);
    assert_eq!(workload.get("a").map(SparseQuery::support), Some(5));
    assert_eq!(workload.get("b"), None);
}
