//! The release file: what was written is read, what was damaged is not, and how large it is.

use proptest::{prelude::*, test_runner::RngSeed};
use rand::{SeedableRng, rngs::StdRng};
use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours};
use tamis_projection::{Builder, FileError, HeavyKeys, NoiseKind, Plan, ProjectionRelease, ReleaseFile, Seed, Unit};
use tamis_queries::{Columns, Fingerprint, FingerprintKey, Histogram, KeyKind, Keys, SparseQuery};

fn keys() -> Keys {
    Keys::new(["email"], KeyKind::Text, FingerprintKey::new(std::array::from_fn(|i| i as u8))).unwrap()
}

fn builder(epsilon: f64) -> Builder {
    let budget = Budget::approximate(Epsilon::new(epsilon).unwrap(), Delta::new(1e-9).unwrap());
    ProjectionRelease::builder(budget, Neighbours::AddRemove, 1)
}

/// So many different keys, a record each.
fn table(records: u64) -> Histogram {
    let mut table = Histogram::builder();
    for key in 0..records {
        table.add(Fingerprint::raw(key.wrapping_mul(0x9e37_79b9_7f4a_7c15)), 1).unwrap();
    }
    table.build()
}

fn file(plan: &Plan, records: u64) -> ReleaseFile {
    let release = plan.release(&table(records), &mut StdRng::seed_from_u64(1)).unwrap();
    ReleaseFile { release, keys: keys(), unit: Unit::Row, records: None }
}

fn bytes(file: &ReleaseFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    bytes
}

fn small() -> ReleaseFile {
    file(&builder(1.0).width(64).build().unwrap(), 100)
}

/// Names with all that a format may trip over.
fn names(most: usize) -> impl Strategy<Value = Vec<String>> {
    let awkward =
        prop::sample::select(vec!["a,b", "\"", "it's", "line\nbreak", "\0", "ключ", " ", "[]", "tamis.format"]);
    let name = prop_oneof![awkward.prop_map(str::to_owned), "\\PC{1,12}"];
    prop::collection::hash_set(name, 1..=most).prop_map(|names| names.into_iter().collect())
}

fn any_keys() -> impl Strategy<Value = Keys> {
    let kind = prop_oneof![
        names(5).prop_map(|columns| (columns, KeyKind::Text)),
        names(40).prop_map(|bits| (vec![String::new()], KeyKind::Bits(Columns::new(bits).unwrap()))),
    ];
    (kind, any::<[u8; 16]>())
        .prop_map(|((columns, kind), key)| Keys::new(columns, kind, FingerprintKey::new(key)).unwrap())
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let epsilon = prop::sample::select(vec!["1", "0.1", "1/3", "7.25", "0.001"]);
    let neighbours = prop::sample::select(vec![Neighbours::AddRemove, Neighbours::Substitute]);
    let kind = prop::sample::select(vec![NoiseKind::Laplace, NoiseKind::Gaussian]);
    let heavy = prop::sample::select(vec![HeavyKeys::Off, HeavyKeys::On]);
    let stated = (prop::option::of(1u64..1_000_000), heavy);
    (epsilon, neighbours, 1u32..4, prop::sample::select(vec![0, 1, 3]), kind, 4u32..7, stated).prop_map(
        |(epsilon, neighbours, rows, nonzeros, kind, independence, (records, heavy))| {
            let budget = Budget::approximate(epsilon.parse().unwrap(), Delta::new(1e-9).unwrap());
            let builder = ProjectionRelease::builder(budget, neighbours, rows).noise(kind).independence(independence);
            let builder = match nonzeros {
                0 => builder.dense().width(128),
                nonzeros => builder.nonzeros(nonzeros).width(u64::from(nonzeros) << 5),
            };
            let builder = match records {
                Some(records) => {
                    builder.records(records).key_multiplicity(1.5).support(17).beta(Beta::new(0.01).unwrap())
                }
                None => builder,
            };
            builder.heavy(heavy).build().unwrap()
        },
    )
}

fn any_values(number: usize) -> impl Strategy<Value = Vec<i64>> {
    let ranges = prop::sample::select(vec![0i64, 1, 3, 1000, 1 << 20, 1 << 54]);
    ranges.prop_flat_map(move |most| prop::collection::vec(-most..=most, number))
}

/// Up to five, none if the plan has none.
fn any_heavy(plan: &Plan) -> impl Strategy<Value = Vec<(Fingerprint, i64)>> + use<> {
    let (most, least) = plan.heavy().map_or((0, 1), |threshold| (5, threshold.threshold()));
    prop::collection::btree_map(any::<u64>(), least..=1 << 50, 0..=most)
        .prop_map(|counts| counts.into_iter().map(|(key, count)| (Fingerprint::raw(key), count)).collect())
}

fn any_unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::Row), Just(Unit::Record), ".{0,9}".prop_map(Unit::Column)]
}

fn any_file() -> impl Strategy<Value = ReleaseFile> {
    let numbers = |plan: Plan| (any_values(plan.shape().width() as usize), any_heavy(&plan), Just(plan));
    let numbers = any_plan().prop_flat_map(numbers);
    (numbers, any::<[u8; 32]>(), any_keys(), any_unit(), any::<u64>()).prop_map(
        |((values, heavy, plan), seed, keys, unit, records)| {
            let is_public = plan.neighbours() == Neighbours::Substitute
                && plan.rows_per_unit() == 1
                && !matches!(unit, Unit::Column(_));
            let records = is_public.then_some(records);
            let release = ProjectionRelease::restore(plan, Seed(seed), values, heavy).unwrap();
            ReleaseFile { release, keys, unit, records }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::with_cases(200) })]

    #[test]
    fn what_is_written_is_read(file in any_file()) {
        let written = bytes(&file);
        let read = ReleaseFile::read(&written[..]).unwrap();
        prop_assert_eq!(read.release.values(), file.release.values());
        prop_assert_eq!(read.release.heavy(), file.release.heavy());
        prop_assert_eq!(read.release.family(), file.release.family());
        prop_assert_eq!(&read.keys, &file.keys);
        prop_assert_eq!((&read.unit, read.records), (&file.unit, file.records));
        prop_assert_eq!(read.describe(), file.describe());
        prop_assert_eq!(read.release.plan().cost(), file.release.plan().cost());
        prop_assert_eq!(read.release.plan().predicted_error(), file.release.plan().predicted_error());
        let list = SparseQuery::count((0..9).map(Fingerprint::raw));
        prop_assert_eq!(read.release.answer(&list), file.release.answer(&list));
        prop_assert_eq!(bytes(&read), written);
    }
}

#[test]
fn any_changed_byte_is_noticed() {
    let written = bytes(&small());
    for position in 0..written.len() {
        for change in [1, 0x10, 0x80, 0xff] {
            let mut damaged = written.clone();
            damaged[position] ^= change;
            assert!(ReleaseFile::read(&damaged[..]).is_err(), "byte {position}");
        }
    }
    for length in 0..written.len() {
        assert!(ReleaseFile::read(&written[..length]).is_err(), "length {length}");
    }
    let longer = [&written[..], &[0]].concat();
    assert!(matches!(ReleaseFile::read(&longer[..]), Err(FileError::CutShort)));
}

#[test]
fn what_is_no_release_is_refused_with_a_reason() {
    let written = bytes(&small());
    let reason = |bytes: &[u8]| ReleaseFile::read(bytes).unwrap_err().to_string();
    assert_eq!(reason(b""), "this is no release file: it does not start as a Parquet file does");
    assert_eq!(reason(b"email\nann@example.org\n"), reason(b""));
    assert!(reason(&written[..500]).contains("was cut short"));
    let mut damaged = written.clone();
    damaged[40] ^= 1;
    assert!(reason(&damaged).contains("is damaged"));
    // All that a foreign file lacks is the name.
    let place = written.windows(12).position(|window| window == b"tamis.format").unwrap();
    damaged[place] ^= 1;
    assert!(reason(&damaged).contains("but no release"));
}

/// Over noises and signs. The default for a million records fits what is allowed it.
#[test]
fn sizes_are_as_predicted() {
    let records = 1_000_000;
    let data = table(records);
    let stated = |epsilon| builder(epsilon).records(records);
    let gaussian = NoiseKind::Gaussian;
    for (name, builder) in [
        ("default", stated(1.0)),
        ("little noise", stated(8.0).width(1 << 18)),
        ("more noise", stated(0.1).width(1 << 18)),
        ("much noise", stated(0.05).width(1 << 18)),
        ("very much noise", stated(0.005).width(1 << 16)),
        ("eight entries", stated(1.0).width(1 << 15).nonzeros(8)),
        ("eight entries, Gaussian noise", stated(1.0).width(1 << 15).nonzeros(8).noise(gaussian)),
        ("sixteen entries", stated(0.1).width(1 << 16).nonzeros(16).noise(NoiseKind::Laplace)),
        ("few rows", stated(1.0).width(1 << 10)),
    ] {
        let plan = builder.build().unwrap();
        let release = plan.release(&data, &mut StdRng::seed_from_u64(1)).unwrap();
        let size = bytes(&ReleaseFile { release, keys: keys(), unit: Unit::Row, records: None }).len();
        let ratio = size as f64 / plan.file_bytes().unwrap();
        assert!((0.95..1.05).contains(&ratio), "{name}: {size} bytes, {ratio:.3} of what was predicted");
        assert!(name != "default" || size <= 400_000, "{size}");
    }
}

/// A disk that is full.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_write_is_an_error() {
    assert!(matches!(small().write(Full), Err(FileError::Io(_))));
}
