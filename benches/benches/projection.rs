//! Sketches and answers of sign families beside the same work with one polynomial for each row and key.
//!
//! See `benches/README.md`. A sketch works on all threads of its pool; here that is one, and it is the one that is timed.

use rand::{Rng, SeedableRng, rngs::StdRng};
use rayon::ThreadPoolBuilder;
use std::hint::black_box;
use tamis::noise::{Budget, Epsilon, Neighbours};
use tamis::projection::{ProjectionRelease, Seed, Shape, SignFamily, Signs, Sketch};
use tamis::queries::{Fingerprint, Histogram, SparseQuery};
use tamis_benches::signs::{Polynomial, add_dense, add_sparse, product_by_blocks, product_by_rows};
use tamis_benches::{Candidate, compare};
use tamis_projection_portable as portable;

const INDEPENDENCE: u32 = 17;

fn polynomials(number: usize, independence: u32) -> Vec<Polynomial> {
    let mut rng = StdRng::seed_from_u64(1);
    (0..number).map(|_| Polynomial::new((0..independence).map(|_| rng.next_u64()))).collect()
}

fn table(keys: u64, count: impl Fn(u64) -> i64) -> Histogram {
    let mut rng = StdRng::seed_from_u64(2);
    let mut table = Histogram::builder();
    for key in 0..keys {
        table.add(Fingerprint::raw(rng.next_u64()), count(key)).expect("few records");
    }
    table.build()
}

/// A sketch of a whole table, an item being one of `items` for each key.
fn sketch<'a>(name: &str, family: &'a SignFamily, table: &'a Histogram, items: usize) -> Candidate<'a> {
    Candidate::new(name, items * table.distinct(), move || Sketch::of(family, table).expect("few records"))
}

/// The same without special instructions.
fn portable_sketch<'a>(shape: Shape, table: &'a Histogram, items: usize) -> Candidate<'a> {
    let seed = portable::Seed([1; 32]);
    let (width, independence) = (u64::from(shape.width()), shape.independence());
    let family = match shape.signs() {
        Signs::Dense => portable::SignFamily::dense(width, independence, seed),
        Signs::Sparse { nonzeros } => portable::SignFamily::sparse(width, nonzeros, independence, seed),
    };
    let family = family.expect("a legal shape");
    Candidate::new("portable", items * table.distinct(), move || {
        portable::Sketch::of(&family, table).expect("few records")
    })
}

fn naive_dense<'a>(independence: u32) -> Candidate<'a> {
    let rows = polynomials(1024, independence);
    let mut counters = vec![0; rows.len()];
    let keys = [[1, 2, 3, 4], [5, 6, 7, 8]];
    Candidate::new("naive: a polynomial over GF(2^61 - 1) for each row", 8 * 1024 / 64, move || {
        add_dense(&rows, black_box(&keys), &[[1; 4]; 2], &mut counters);
        counters[0]
    })
}

fn dense_sketches(width: u64, keys: u64, independence: u32, goal: Option<f64>, rounds: usize) {
    let family = SignFamily::dense(width, independence, Seed([1; 32])).expect("a legal shape");
    let (units, counts) = (table(keys, |_| 1), table(keys, |key| (keys / (key + 1)) as i64));
    let few = table(64, |_| 1);
    let words = width as usize / 64;
    let candidates = vec![
        naive_dense(independence),
        sketch("dense sketch, counts 1", &family, &units, words).goal(goal),
        sketch("dense sketch, counts falling as 1/rank", &family, &counts, words),
        portable_sketch(family.shape(), &few, words),
    ];
    println!(
        "{}",
        compare(format!("Dense, r = {independence}, T = {width}, {keys} keys; 64 signs"), rounds, candidates)
    );
}

fn sparse_sketches(width: u64, nonzeros: u32, independence: u32, goal: Option<f64>, rounds: usize) {
    let keys = 1 << 18;
    let family = SignFamily::sparse(width, nonzeros, independence, Seed([1; 32])).expect("a legal shape");
    let units = table(keys, |_| 1);
    let blocks = polynomials(2 * nonzeros as usize, independence).as_chunks().0.to_vec();
    let mut counters = vec![0; width as usize];
    let mut rng = StdRng::seed_from_u64(2);
    let few: Vec<[u64; 4]> = (0..256).map(|_| std::array::from_fn(|_| rng.next_u64() >> 3)).collect();
    let candidates = vec![
        Candidate::new("naive: two polynomials over GF(2^61 - 1) for each non-zero", 4 * few.len(), move || {
            add_sparse(&blocks, black_box(&few), &mut counters);
            counters[0]
        }),
        sketch("sparse sketch", &family, &units, 1).goal(goal),
        portable_sketch(family.shape(), &units, 1),
    ];
    println!(
        "{}",
        compare(
            format!("Sparse, r = {independence}, T = {width}, s = {nonzeros}, {keys} keys; a key"),
            rounds,
            candidates
        )
    );
}

/// For comparison with projections in Python, see `peers/python`.
fn matrix_entries(rounds: usize) {
    let table = table(4096, |_| 1);
    let families =
        [4, 17].map(|independence| SignFamily::dense(4096, independence, Seed([1; 32])).expect("a legal shape"));
    let candidates = families.iter().map(|family| {
        let name = format!("dense sketch, r = {}", family.shape().independence());
        // 4096 entries a key.
        Candidate::new(name, 4 * table.distinct(), || Sketch::of(family, &table).expect("few records"))
    });
    println!("{}", compare("Dense, T = 4096, 4096 keys; 1024 entries of the matrix", rounds, candidates.collect()));
}

fn weighted_answers(width: u64, support: usize, rounds: usize) {
    let budget = Budget::pure(Epsilon::new(1.0).expect("a legal budget"));
    let plan = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).dense().width(width);
    let plan = plan.independence(INDEPENDENCE).build().expect("a legal plan");
    let mut rng = StdRng::seed_from_u64(3);
    let release = plan.release(&table(10_000, |_| 1), &mut rng).expect("few records");
    let values: Vec<f64> = release.values().iter().map(|&value| value as f64).collect();

    let keys: Vec<[u64; 4]> = (0..support / 4).map(|_| std::array::from_fn(|_| rng.next_u64() >> 3)).collect();
    let weights: Vec<[u32; 4]> = keys.iter().map(|_| std::array::from_fn(|_| 1 + rng.next_u32() % 999_999)).collect();
    let fingerprints = keys.as_flattened().iter().map(|&key| Fingerprint::raw(key));
    let exact = weights.as_flattened().iter().map(|weight| format!("{weight}/1000000").parse().expect("a number"));
    let query = SparseQuery::weighted(fingerprints.zip(exact)).expect("weights from 0 to 1");
    let weights: Vec<[f64; 4]> = weights.iter().map(|weights| weights.map(|weight| f64::from(weight) / 1e6)).collect();

    let (rows, blocks) =
        (polynomials(width as usize, INDEPENDENCE), polynomials(values.len().div_ceil(61), INDEPENDENCE));
    let words = support * width as usize / 64;
    let (few, few_weights) = (&keys[..2], &weights[..2]);
    let naive = Candidate::new("naive: a polynomial over GF(2^61 - 1) for each row", 8 * width as usize / 64, || {
        product_by_rows(&rows, black_box(few), few_weights, &values)
    });
    let by_blocks = || {
        Candidate::new("a polynomial for each 61 rows, f64 sums", words, || {
            product_by_blocks(&blocks, black_box(&keys), &weights, &values)
        })
    };
    let answer = || Candidate::new("answer and standard error", words, || release.answer(black_box(&query)));
    let title = format!("Answers, r = {INDEPENDENCE}, T = {width}, {support} keys of real weight; 64 signs");
    println!("{}", compare(&*title, rounds, vec![naive, by_blocks(), answer().goal(800.0)]));
    println!("{}", compare(title, rounds, vec![by_blocks(), answer().goal(20.0)]));
}

fn counts_over_lists(rounds: usize) {
    let budget = || Budget::pure(Epsilon::new(1.0).expect("a legal budget"));
    let mut rng = StdRng::seed_from_u64(4);
    let table = table(100_000, |_| 1);
    let sparse = ProjectionRelease::builder(budget(), Neighbours::AddRemove, 1).nonzeros(1).width(1 << 20);
    let dense = ProjectionRelease::builder(budget(), Neighbours::AddRemove, 1).dense().width(1 << 12);
    let lists = [sparse, dense].map(|plan| plan.build().expect("a legal plan").release(&table, &mut rng).expect("few"));
    let query = SparseQuery::count((0..1000).map(|_| Fingerprint::raw(rng.next_u64())));
    let candidates = lists
        .iter()
        .zip(["sparse signs, s = 1, T = 2^20", "dense signs, T = 2^12"])
        .map(|(release, name)| Candidate::new(name, query.support(), || release.answer(black_box(&query))));
    println!("{}", compare("Answers, r = 4, a list of 1000 keys; a key", rounds, candidates.collect()));
}

fn main() {
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 15 } else { 1 };
    let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        for (width, keys) in [(1 << 14, 1 << 14), (1 << 16, 1 << 13), (1 << 20, 1 << 11)] {
            dense_sketches(width, keys, INDEPENDENCE, Some(1000.0), rounds);
        }
        dense_sketches(1 << 14, 1 << 14, 4, None, rounds);
        matrix_entries(rounds);
        sparse_sketches(1 << 20, 8, INDEPENDENCE, Some(20.0), rounds);
        sparse_sketches(1 << 12, 8, INDEPENDENCE, None, rounds);
        sparse_sketches(1 << 20, 1, 4, None, rounds);
        weighted_answers(1 << 12, 256, rounds);
        counts_over_lists(rounds);
    });
}
