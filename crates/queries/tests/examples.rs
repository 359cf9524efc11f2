//! The truths that `examples/README.md` states are those of the data, by the exact evaluation of the example queries.

use std::collections::BTreeMap;
use tamis_queries::{Columns, Element, FingerprintKey, Histogram, SparseQuery};

const README: &str = include_str!("../../../examples/README.md");
const ADULT: &str = include_str!("../../../examples/adult_majority48.csv");
const ADULT_COLUMNS: &str = include_str!("../../../examples/adult_majority48_columns.txt");
const CONJUNCTIONS: &str = include_str!("../../../examples/adult_conjunctions.jsonl");
const NAMES: &str = include_str!("../../../examples/us_baby_names_1880_2017.csv");
const LIST: &str = include_str!("../../../examples/names.txt");

fn key() -> FingerprintKey {
    FingerprintKey::new([7; 16])
}

/// Name and number of each row of the first table of truths after `words`.
fn truths(words: &str) -> Vec<(&'static str, i64)> {
    let section = README.split_once(words).unwrap().1;
    let table = section.split_once("| name | truth |\n| --- | --: |\n").unwrap().1;
    let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.map(|(name, number)| (name, number.replace(' ', "").parse().unwrap())).collect()
}

#[derive(serde::Deserialize)]
struct Asked {
    name: String,
    conjunction: BTreeMap<String, bool>,
}

#[test]
fn conjunctions_of_adult() {
    let columns = Columns::from_text(ADULT_COLUMNS).unwrap();
    let records: Vec<u128> = ADULT.lines().skip(1).map(|text| columns.parse_bits(text).unwrap()).collect();
    let mut table = Histogram::builder();
    for &record in &records {
        table.add(key().fingerprint(&Element::bits(record, columns.width()).unwrap()), 1).unwrap();
    }
    let table = table.build();
    assert_eq!((table.total(), table.distinct()), (32_561, 4_140));
    assert_eq!(records.iter().filter(|&&record| record == (1 << 48) - 1).count(), 6_065);

    let truths = truths("**Adult**");
    let asked: Vec<Asked> = CONJUNCTIONS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(asked.len(), truths.len());
    for (Asked { name, conjunction }, (stated, truth)) in asked.iter().zip(truths) {
        let literals = conjunction.iter().map(|(literal, &value)| (literal.as_str(), value));
        let conjunction = columns.conjunction(literals).unwrap();
        assert_eq!((name.as_str(), conjunction.free()), (stated, 8));
        let answer = conjunction.query(&key()).unwrap().evaluate(&table);
        assert_eq!(answer, truth * i64::from(SparseQuery::UNIT), "{name}");
        assert_eq!(records.iter().filter(|&&record| conjunction.holds(record)).count() as i64, truth, "{name}");
    }
}

#[test]
fn eighteen_names() {
    let of = |name: &str| key().fingerprint(&Element::bytes(name.as_bytes()));
    let mut table = Histogram::builder();
    for row in NAMES.lines().skip(1) {
        let (name, count) = row.split_once(',').unwrap();
        table.add(of(name), count.parse().unwrap()).unwrap();
    }
    let table = table.build();
    assert_eq!((table.total(), table.distinct()), (348_120_517, 97_310));
    assert_eq!((table.squared_norm() as f64).sqrt().round(), 17_275_739.0);

    let mut truths = truths("**Names**");
    let (_, sum) = truths.pop().unwrap();
    assert!(LIST.lines().eq(truths.iter().map(|truth| truth.0)));
    for &(name, truth) in &truths {
        assert_eq!(table.count(of(name)), truth, "{name}");
    }
    let list = SparseQuery::count(LIST.lines().map(of));
    assert_eq!((list.support(), list.evaluate(&table)), (18, sum * i64::from(SparseQuery::UNIT)));
}
