//! Sign families, sketches and answers against their twin in `oracle`, which was written from the definition in the
//! documentation of `family` alone and computes bit by bit: the same integers, and estimates rounded once.

use proptest::{prelude::*, test_runner::RngSeed};
use rand::{SeedableRng, rngs::StdRng};
use tamis_noise::{Budget, Delta, Epsilon, Neighbours, Rational};
use tamis_oracle::sign_family as oracle;
use tamis_oracle::sign_family::Slip;
use tamis_projection::{NoiseKind, Plan, ProjectionRelease, Seed, Shape, SignFamily, Signs, Sketch};
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

const KEYS: [u64; 8] = [0, 1, 2, 3, 0xdead_beef, 1 << 63, u64::MAX - 1, u64::MAX];
const INDEPENDENCES: [u32; 10] = [2, 3, 4, 5, 6, 7, 8, 9, 17, 48];

/// Nothing about it is regular.
fn seed() -> [u8; 32] {
    std::array::from_fn(|i| (i * i * 73 + i * 41 + 5) as u8)
}

fn twin_signs(shape: Shape) -> oracle::Signs {
    match shape.signs() {
        Signs::Dense => oracle::Signs::Dense,
        Signs::Sparse { nonzeros } => oracle::Signs::Sparse { nonzeros: nonzeros as usize },
    }
}

fn twin(shape: Shape, seed: [u8; 32]) -> oracle::SignFamily {
    oracle::SignFamily::new(twin_signs(shape), shape.width() as usize, shape.independence() as usize, seed)
}

fn dense(width: u64, independence: u32) -> Shape {
    Shape::dense(width, independence).unwrap()
}

/// So many blocks of 2^`bits` rows.
fn sparse(nonzeros: u32, bits: u32, independence: u32) -> Shape {
    Shape::sparse(u64::from(nonzeros) << bits, nonzeros, independence).unwrap()
}

/// Whether a column of the library is the twin's, for each of these keys.
fn columns_agree(shape: Shape, seed: [u8; 32], twin: &oracle::SignFamily, keys: &[u64]) -> bool {
    let family = SignFamily::new(shape, Seed(seed));
    keys.iter().all(|&key| family.column(Fingerprint::raw(key)) == twin.nonzero_entries(key))
}

#[test]
fn dense_columns_are_those_of_the_definition() {
    for r in INDEPENDENCES {
        for width in [64, 128, 192, 1024, 4096] {
            let shape = dense(width, r);
            assert!(columns_agree(shape, seed(), &twin(shape, seed()), &KEYS), "{shape:?}");
        }
    }
}

/// Blocks from one row, which needs no position, to 2²⁶; so from 64 to 2 of them a word.
#[test]
fn sparse_columns_are_those_of_the_definition() {
    for r in INDEPENDENCES {
        for s in [1, 2, 3, 8, 16] {
            for bits in [0, 1, 2, 6, 9, 15, 16, 20, 22] {
                let shape = sparse(s, bits, r);
                assert!(columns_agree(shape, seed(), &twin(shape, seed()), &KEYS), "{shape:?}");
            }
        }
        for (s, bits) in [(1, 26), (64, 0), (65, 0), (96, 2), (100, 12)] {
            let shape = sparse(s, bits, r);
            assert!(columns_agree(shape, seed(), &twin(shape, seed()), &KEYS), "{shape:?}");
        }
    }
}

/// The comparison is not blind: it sees each slip of the catalogue wherever it makes a difference, and only there.
#[test]
fn families_with_a_slip_are_told_apart() {
    // 16 blocks of 8 bits each: two words.
    let (dense, sparse) = (dense(192, 5), sparse(16, 7, 5));
    for slip in Slip::ALL {
        let caught = |shape: Shape| {
            let (signs, width, r) = (twin_signs(shape), shape.width() as usize, shape.independence() as usize);
            !columns_agree(shape, seed(), &oracle::SignFamily::wrong(signs, width, r, seed(), slip), &KEYS)
        };
        let of_sparse_alone = matches!(slip, Slip::SignSharesABit | Slip::BlocksShareBits | Slip::OneStreamForBoth);
        assert_eq!((caught(dense), caught(sparse)), (!of_sparse_alone, true), "{slip:?}");
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    let dense = (1_u64..=6, 2_u32..=12).prop_map(|(blocks, r)| dense(64 * blocks, r));
    let sparse = (1_u32..=20, 0_u32..=9, 2_u32..=12).prop_map(|(s, bits, r)| sparse(s, bits, r));
    prop_oneof![dense, sparse]
}

/// Keys with counts or weights; small keys, so that some come twice.
fn entries(largest: i64, number: usize) -> impl Strategy<Value = Vec<(u64, i64)>> {
    let key = prop_oneof![any::<u64>(), 0_u64..20];
    let weight = prop_oneof![1_i64..5, 1..=largest];
    prop::collection::vec((key, weight), 0..number)
}

fn histogram(entries: &[(u64, i64)]) -> Histogram {
    let mut builder = Histogram::builder();
    for &(key, count) in entries {
        builder.add(Fingerprint::raw(key), count).unwrap();
    }
    builder.build()
}

fn units(weight: i64) -> Rational {
    Rational::from_parts(weight.into(), SparseQuery::UNIT.into())
}

/// The first weight of each key.
fn without_repetition(mut entries: Vec<(u64, i64)>) -> Vec<(u64, Rational)> {
    entries.sort_by_key(|entry| entry.0);
    entries.dedup_by_key(|entry| entry.0);
    entries.into_iter().map(|(key, weight)| (key, units(weight))).collect()
}

fn query(entries: &[(u64, Rational)]) -> SparseQuery {
    SparseQuery::weighted(entries.iter().map(|(key, weight)| (Fingerprint::raw(*key), weight.clone()))).unwrap()
}

fn plan(shape: Shape) -> Plan {
    let budget = Budget::approximate(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap());
    let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1)
        .width(shape.width().into())
        .independence(shape.independence());
    match shape.signs() {
        Signs::Dense => builder.dense().noise(NoiseKind::Gaussian).build().unwrap(),
        Signs::Sparse { nonzeros } => builder.nonzeros(nonzeros).noise(NoiseKind::Laplace).build().unwrap(),
    }
}

/// No float is nearer to the exact value: it was rounded once.
fn is_nearest(value: f64, exact: &Rational) -> bool {
    let distance = |float: f64| {
        let difference = Rational::try_from(float).unwrap() - exact;
        if difference < Rational::ZERO { -difference } else { difference }
    };
    distance(value) <= distance(value.next_up()) && distance(value) <= distance(value.next_down())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(300) })]

    #[test]
    fn columns_of_any_seed_are_those_of_the_definition(
        shape in shapes(), seed: [u8; 32], keys in prop::collection::vec(any::<u64>(), 4),
    ) {
        prop_assert!(columns_agree(shape, seed, &twin(shape, seed), &keys));
    }

    #[test]
    fn sketches_are_sums_of_columns(shape in shapes(), seed: [u8; 32], data in entries(1 << 30, 200)) {
        let sketch = Sketch::of(&SignFamily::new(shape, Seed(seed)), &histogram(&data)).unwrap();
        prop_assert_eq!(sketch.counters(), twin(shape, seed).sketch(&data));
    }

    /// Weights of all kinds and values up to 2¹⁴: sums below 2⁵³, so the one rounding is that of the division.
    #[test]
    fn answers_are_the_exact_estimate_rounded_once(
        shape in shapes(), seed: [u8; 32], asked in entries(SparseQuery::UNIT.into(), 80), values_from: u64,
    ) {
        prop_assume!(shape.independence() >= 4);
        let mut value = values_from;
        let values: Vec<i64> = (0..shape.width())
            .map(|_| {
                value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (value >> 49) as i64 - (1 << 14)
            })
            .collect();
        let asked = without_repetition(asked);
        let exact = twin(shape, seed).estimate(&values, &asked);
        let release = ProjectionRelease::restore(plan(shape), Seed(seed), values, Vec::new()).unwrap();
        let answer = release.answer(&query(&asked)).value;
        prop_assert!(is_nearest(answer, &exact), "{} for {}", answer, exact);
    }
}

/// From data to answers: with ε = 1 000 the noise is 0, and the release is the twin's sketch.
#[test]
fn a_release_without_noise_is_the_sketch_of_the_definition() {
    let data: Vec<(u64, i64)> = (0..300).map(|i| (i * i * 7, 1 + (i % 5) as i64)).collect();
    let list: Vec<(u64, Rational)> = (0..90).map(|i| (i * 49 * 7, units(SparseQuery::UNIT.into()))).collect();
    let budget = Budget::pure(Epsilon::new(1_000.0).unwrap());
    let builder = || ProjectionRelease::builder(budget.clone(), Neighbours::AddRemove, 1);
    for plan in [builder().nonzeros(1).width(1 << 10), builder().nonzeros(3).width(192).independence(7)] {
        let plan = plan.build().unwrap();
        let release = plan.release(&histogram(&data), &mut StdRng::seed_from_u64(1)).unwrap();
        let twin = twin(plan.shape(), release.family().seed().0);
        assert_eq!(release.values(), twin.sketch(&data));
        let exact = twin.estimate(release.values(), &list);
        let answer = release.answer(&query(&list)).value;
        assert!(is_nearest(answer, &exact) && !is_nearest(answer.next_up(), &exact), "{answer} for {exact}");
    }
}
