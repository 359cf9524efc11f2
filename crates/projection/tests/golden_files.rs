//! Release files of earlier versions: they must be readable for ever. Each stands in `golden/` beside a text of all that is in
//! it, written when it was made.

use rand::{SeedableRng, rngs::StdRng};
use std::fmt::Write;
use std::path::PathBuf;
use tamis_noise::{Budget, Neighbours};
use tamis_projection::{Builder, HeavyKeys, NoiseKind, ProjectionRelease, ReleaseFile, Unit};
use tamis_queries::{Columns, FingerprintKey, Histogram, KeyKind, Keys, SparseQuery};

fn path(name: &str, ending: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.{ending}"))
}

/// A release of a table in which key number i (in `cells`) has so many records as its place from 1 on, times ten.
fn made(builder: Builder, keys: Keys, cells: &[&[&str]]) -> ReleaseFile {
    let mut table = Histogram::builder();
    for (cells, count) in cells.iter().zip((10..).step_by(10)) {
        table.add(keys.fingerprint(cells).unwrap(), count).unwrap();
    }
    let plan = builder.build().unwrap();
    let release = plan.release(&table.build(), &mut StdRng::seed_from_u64(1)).unwrap();
    ReleaseFile { release, keys, unit: Unit::Row, records: None }
}

fn builder(epsilon: &str, delta: &str, neighbours: Neighbours, rows_per_unit: u32) -> Builder {
    let budget = Budget::approximate(epsilon.parse().unwrap(), delta.parse().unwrap());
    ProjectionRelease::builder(budget, neighbours, rows_per_unit)
}

fn keys<const N: usize>(columns: [&str; N], kind: KeyKind) -> Keys {
    Keys::new(columns, kind, FingerprintKey::new(std::array::from_fn(|i| i as u8))).unwrap()
}

/// The keys that are asked about.
const ONE: [&[&str]; 3] = [&["ann"], &["bob"], &["Ünal, \"U\""]];
const TWO: [&[&str]; 3] = [&["ann", "2024"], &["ann", ""], &["", "2024"]];
const BITS: [&[&str]; 3] = [&["00"], &["07"], &["1f"]];

/// All of them, with how they were made.
fn files() -> Vec<(&'static str, [&'static [&'static str]; 3], ReleaseFile)> {
    use Neighbours::{AddRemove, Substitute};
    let text = || keys(["name"], KeyKind::Text);
    let bits = KeyKind::Bits(Columns::new(["a", "b,", "\"c\"", "д", "e e"]).unwrap());
    let sparse = builder("1", "0", AddRemove, 1).records(1_000).support(3).width(1024);
    let dense = builder("0.5", "1e-6", AddRemove, 1).dense().width(128).noise(NoiseKind::Gaussian).independence(5);
    let unit = builder("1/3", "0", Substitute, 3).width(256).nonzeros(4);
    let packed = builder("1", "1e-9", Substitute, 1).width(64).nonzeros(2).noise(NoiseKind::Gaussian);
    let wide = builder("0.001", "0", AddRemove, 1).width(1024);
    let heavy = builder("2", "1e-3", AddRemove, 1).heavy(HeavyKeys::On).width(512);
    let unit = made(unit, keys(["name", "a \"b\",\nc"], KeyKind::Text), &TWO);
    vec![
        ("sparse_laplace", ONE, made(sparse, text(), &ONE)),
        ("dense_gaussian", ONE, made(dense, text(), &ONE)),
        ("substitute_two_columns", TWO, ReleaseFile { unit: Unit::Column("person".to_owned()), ..unit }),
        ("packed_bits", BITS, ReleaseFile { records: Some(60), ..made(packed, keys(["answers"], bits), &BITS) }),
        ("many_values", ONE, ReleaseFile { unit: Unit::Record, ..made(wide, text(), &ONE) }),
        ("heavy_keys", ONE, made(heavy, text(), &ONE)),
    ]
}

/// All that is in a file, and an answer: but for the sentence on privacy, whose words may change.
fn told(file: &ReleaseFile, cells: [&[&str]; 3]) -> String {
    let mut told = String::new();
    for (name, text) in file.describe().into_iter().filter(|(name, _)| *name != "privacy") {
        writeln!(told, "{name}: {text:?}").unwrap();
    }
    let list = SparseQuery::count(cells.map(|cells| file.keys.fingerprint(cells).unwrap()));
    let answer = file.release.answer(&list);
    // The rule's name alone.
    let rule = format!("{:?}", answer.rule);
    let rule = rule.split('(').next().unwrap();
    writeln!(told, "answer: {} ± {:.9}, {rule}", answer.value, answer.standard_error).unwrap();
    for (key, count) in file.release.heavy() {
        writeln!(told, "heavy: {:016x} {count}", key.get()).unwrap();
    }
    writeln!(told, "values: {:?}", file.release.values()).unwrap();
    told
}

#[test]
fn golden_files_are_read_as_they_were_written() {
    for (name, cells) in [
        ("sparse_laplace", ONE),
        ("dense_gaussian", ONE),
        ("substitute_two_columns", TWO),
        ("packed_bits", BITS),
        ("many_values", ONE),
        ("heavy_keys", ONE),
    ] {
        let file = ReleaseFile::read(std::fs::File::open(path(name, "tamis")).unwrap()).unwrap();
        assert_eq!(told(&file, cells), std::fs::read_to_string(path(name, "txt")).unwrap(), "{name}");
    }
}

/// Writes files that are not there yet: never over one that is.
#[test]
#[ignore = "writes golden files of the present format"]
fn write_golden_files() {
    for (name, cells, file) in files() {
        if !path(name, "tamis").exists() {
            file.write(std::fs::File::create(path(name, "tamis")).unwrap()).unwrap();
            std::fs::write(path(name, "txt"), told(&file, cells)).unwrap();
        }
    }
}
