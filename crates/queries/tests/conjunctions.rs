//! Conjunctions against brute force over all points of small universes.

use proptest::prelude::*;
use std::collections::BTreeSet;
use tamis_queries::{
    BitsError, Columns, Conjunction, ConjunctionError, Element, FingerprintKey, Histogram, SparseQuery,
};

const KEY: [u8; 16] = [7; 16];

/// Each literal fixed to true, fixed to false, or free.
fn literals(width: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Option<bool>>> {
    prop::collection::vec(prop_oneof![Just(None), any::<bool>().prop_map(Some)], width)
}

fn conjunction(literals: &[Option<bool>]) -> Conjunction {
    let those = |value| (0..literals.len()).filter(|&i| literals[i] == Some(value)).map(|i| 1u128 << i).sum();
    Conjunction::new(literals.len() as u32, those(true), those(false)).unwrap()
}

/// Literal by literal.
fn satisfies(point: u128, literals: &[Option<bool>]) -> bool {
    literals.iter().enumerate().all(|(i, literal)| literal.is_none_or(|value| (point >> i & 1 == 1) == value))
}

proptest! {
    /// All 2^d points are tried: those that are listed are those on which every literal is as it should be.
    #[test]
    fn points_are_those_of_brute_force(literals in literals(1..=12)) {
        let conjunction = conjunction(&literals);
        let universe = 0..1u128 << literals.len();
        let expected: Vec<u128> = universe.clone().filter(|&point| satisfies(point, &literals)).collect();
        prop_assert_eq!(conjunction.points().collect::<Vec<_>>(), &expected[..]);
        prop_assert_eq!(conjunction.support(), expected.len() as f64);
        prop_assert_eq!(conjunction.free() as usize, literals.iter().filter(|literal| literal.is_none()).count());
        prop_assert!(universe.into_iter().all(|point| conjunction.holds(point) == satisfies(point, &literals)));
        let elements = expected.iter().map(|&point| Element::bits(point, literals.len() as u32).unwrap());
        prop_assert!(conjunction.elements().eq(elements));
    }

    /// As a query it counts the rows it holds on.
    #[test]
    fn the_query_counts_the_rows_it_holds_on(
        literals in literals(5..=5),
        rows in prop::collection::vec(0u128..32, 0..50),
    ) {
        let (conjunction, key) = (conjunction(&literals), FingerprintKey::new(KEY));
        let mut data = Histogram::builder();
        for &row in &rows {
            data.add(key.fingerprint(&Element::bits(row, 5).unwrap()), 1).unwrap();
        }
        let holding = rows.iter().filter(|&&row| conjunction.holds(row)).count() as i64;
        let query = conjunction.query(&key).unwrap();
        prop_assert_eq!(query.support() as f64, conjunction.support());
        prop_assert_eq!(query.evaluate(&data.build()), holding * i64::from(SparseQuery::UNIT));
    }

    /// Wide universes, few free literals: as many points as there should be, ascending, each holding.
    #[test]
    fn wide_universes_are_enumerated_too(
        ones in any::<u128>(),
        free in prop::collection::btree_set(0u32..128, 0..9),
        width in 1u32..=128,
    ) {
        let mask = u128::MAX >> (128 - width);
        let free: u128 = free.into_iter().map(|bit| 1 << bit).sum::<u128>() & mask;
        let conjunction = Conjunction::new(width, ones & mask & !free, !ones & mask & !free).unwrap();
        let points: Vec<u128> = conjunction.points().collect();
        prop_assert_eq!(points.len() as f64, conjunction.support());
        prop_assert!(points.is_sorted_by(|a, b| a < b));
        prop_assert!(points.iter().all(|&point| conjunction.holds(point) && point & !mask == 0));
    }
}

#[test]
fn the_corners_of_the_width() {
    let everything = Conjunction::new(128, 0, 0).unwrap();
    assert_eq!(everything.support(), 2f64.powi(128));
    assert_eq!(everything.points().take(3).collect::<Vec<_>>(), [0, 1, 2]);
    let one = Conjunction::new(128, u128::MAX, 0).unwrap();
    assert_eq!(one.points().collect::<Vec<_>>(), [u128::MAX]);
    assert_eq!(Conjunction::new(0, 0, 0), Err(BitsError::Width(0).into()));
    assert_eq!(Conjunction::new(129, 0, 0), Err(BitsError::Width(129).into()));
    assert_eq!(Conjunction::new(3, 0, 8), Err(BitsError::Beyond { width: 3 }.into()));
}

#[test]
fn too_many_points_are_refused_with_the_number() {
    let key = FingerprintKey::new(KEY);
    let refusal = Conjunction::new(48, (1 << 18) - 1, 0).unwrap().query(&key).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the conjunction holds on 2^30 = 1073741824 points, and at most 2^24 = 16777216 can be listed: \
         fix 6 literals more"
    );
    let refusal = Conjunction::new(128, 0, 0).unwrap().query(&key).unwrap_err();
    assert!(refusal.to_string().contains("2^128 = 340282366920938463463374607431768211456 points"));
    assert!(Conjunction::new(25, 0, 0).unwrap().query(&key).is_err());
    assert_eq!(Conjunction::MAX_SUPPORT, 1 << 24);
}

#[test]
fn names_become_bits_the_first_the_lowest() {
    let columns = Columns::new(["age < 60", "capital-gain = 0", "sex = F"]).unwrap();
    assert_eq!((columns.width(), columns.names()[1].as_str()), (3, "capital-gain = 0"));
    let found = columns.conjunction([("sex = F", false), ("age < 60", true), ("age < 60", true)]);
    assert_eq!(found, Conjunction::new(3, 0b001, 0b100));
    let everything = columns.conjunction([]).unwrap();
    assert_eq!((everything.support(), everything.free(), everything.width()), (8.0, 3, 3));
}

#[test]
fn names_that_say_nothing_are_refused() {
    assert_eq!(Columns::new([""; 0]), Err(BitsError::Width(0).into()));
    assert_eq!(Columns::new((0..129).map(|i| i.to_string())), Err(BitsError::Width(129).into()));
    assert_eq!(Columns::new(["a", ""]), Err(ConjunctionError::Unnamed(1)));
    assert_eq!(Columns::new(["a", "b", "a"]), Err(ConjunctionError::SameName("a".to_owned())));
    let columns = Columns::new(["a", "b"]).unwrap();
    assert_eq!(columns.conjunction([("A", true)]), Err(ConjunctionError::Unknown("A".to_owned())));
    let refusal = columns.conjunction([("b", true), ("b", false)]).unwrap_err();
    assert_eq!(refusal.to_string(), "\"b\" is to be both true and false: no record can be");
    let refusal = Conjunction::new(4, 0b0110, 0b0100).unwrap_err();
    assert_eq!(refusal.to_string(), "bit 2 is to be both true and false: no record can be");
}

/// Distinct points have distinct fingerprints here, and none is listed twice.
#[test]
fn a_larger_query_is_complete() {
    let conjunction = Conjunction::new(48, u128::MAX >> 80 & !0xffff, 0).unwrap();
    let query = conjunction.query(&FingerprintKey::new(KEY)).unwrap();
    assert_eq!(query.support(), 1 << 16);
    let listed: BTreeSet<u64> = query.entries().iter().map(|entry| entry.0.get()).collect();
    assert_eq!(listed.len(), 1 << 16);
}
