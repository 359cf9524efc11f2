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

fn columns(width: usize) -> Columns {
    Columns::new((0..width).map(|column| format!("column {column}"))).unwrap()
}

/// By the definition in words: as many digits as there must be; column i is bit i mod 4 of digit ⌊i/4⌋ from the end.
fn slow_bits(text: &str, width: usize) -> Option<u128> {
    let digit = |character: char| "0123456789abcdef".find(character.to_ascii_lowercase());
    let digits: Vec<usize> = text.chars().rev().map(digit).collect::<Option<_>>()?;
    let set = |column: &usize| digits[column / 4] >> (column % 4) & 1 == 1;
    let within = digits.len() == width.div_ceil(4) && !(width..4 * digits.len()).any(|column| set(&column));
    within.then(|| (0..width).filter(set).map(|column| 1 << column).sum())
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

    /// Written as text, in digits of either case, a record is read back.
    #[test]
    fn packed_bits_are_read_back(value: u128, width in 1_usize..=128, cases: u32) {
        let value = value >> (128 - width);
        let digits = format!("{value:0digits$x}", digits = width.div_ceil(4));
        let upper = |(i, digit): (usize, char)| if cases >> i & 1 == 1 { digit.to_ascii_uppercase() } else { digit };
        let text: String = digits.chars().enumerate().map(upper).collect();
        prop_assert_eq!(columns(width).parse_bits(&text), Ok(value));
        prop_assert_eq!(slow_bits(&text, width), Some(value));
    }

    /// Whatever the text: what is not packed bits by the definition is refused, and not repeated.
    #[test]
    fn other_texts_are_not_packed_bits(text in "[0-9a-fA-F]{0,5}|[-+_xX 0-9f]{1,5}|\\PC{0,5}", width in 1_usize..=20) {
        let found = columns(width).parse_bits(&text);
        prop_assert_eq!(found.clone().ok(), slow_bits(&text, width));
        if let Err(refusal) = found {
            let same_whatever_the_text = [BitsError::Digits { width: width as u32 }, BitsError::Beyond { width: width as u32 }];
            prop_assert!(same_whatever_the_text.contains(&refusal));
        }
    }

    /// Names written one a line are read back, however lines end.
    #[test]
    fn names_are_read_back(
        names in prop::collection::btree_set("[!-~é]([ -~é]{0,9}[!-~é])?", 1..20),
        ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r\n"), Just(" \n")], 20),
        last in prop_oneof![Just(""), Just("\n"), Just("\r\n\n \r\n")],
        mark in prop_oneof![Just(""), Just("\u{feff}")],
    ) {
        let mut text = mark.to_owned();
        for (i, name) in names.iter().enumerate() {
            text += if i == 0 { "" } else { ends[i] };
            text += name;
        }
        let columns = Columns::from_text(&(text + last)).unwrap();
        prop_assert!(columns.names().iter().eq(&names));
    }

    #[test]
    fn no_text_makes_reading_panic(text in "(\\PC|[\r\n\t ]){0,30}") {
        let _ = Columns::from_text(&text);
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

#[test]
fn columns_files_that_say_nothing_are_refused() {
    let of = |text: &str| Columns::from_text(text);
    assert_eq!(of(""), Err(BitsError::Width(0).into()));
    assert_eq!(of("\u{feff}\n \r\n"), Err(BitsError::Width(0).into()));
    assert_eq!(of(&"a line of data\n".repeat(129)), Err(BitsError::Width(129).into()));
    assert_eq!(of("\na"), Err(ConjunctionError::BlankLine(1)));
    assert_eq!(of("a\nb\n \t\r\nc\n"), Err(ConjunctionError::BlankLine(3)));
    assert_eq!(of("a\nb\rc"), Err(ConjunctionError::ControlCharacter(2)));
    assert_eq!(of("a\tb"), Err(ConjunctionError::ControlCharacter(1)));
    assert_eq!(of("a\nb\na \n"), Err(ConjunctionError::SameName("a".to_owned())));
    assert_eq!(of("# a\nA\na").unwrap().names(), ["# a", "A", "a"]);
}

/// The first record of the example data: 39 years, with a capital gain, employed by the state, otherwise as most are.
#[test]
fn a_record_of_the_example_data() {
    let columns = Columns::from_text(include_str!("../../../examples/adult_majority48_columns.txt")).unwrap();
    let bits = columns.parse_bits("bffffffffff7").unwrap();
    let unusual: Vec<&str> =
        (0..48).filter(|column| bits >> column & 1 == 0).map(|column| columns.names()[column].as_str()).collect();
    assert_eq!(unusual, ["capital-gain = 0", "workclass != State-gov"]);
}

#[test]
fn refused_bits_are_not_repeated() {
    let columns = columns(48);
    for text in ["bffffffffff", "0bffffffffff7", "0xffffffffff", "+fffffffffff", "fff fffffff7", "ｆfffffffff", ""] {
        assert_eq!(columns.parse_bits(text), Err(BitsError::Digits { width: 48 }), "{text}");
    }
    assert_eq!(
        BitsError::Digits { width: 48 }.to_string(),
        "packed bits of width 48 are written as exactly 12 hexadecimal digits, with leading zeros and without 0x"
    );
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
