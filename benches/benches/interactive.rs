//! The hypotheses of the interactive engine: key by key beside hash maps that do the same arithmetic, and query by query
//! beside hypotheses that list the universe.
//!
//! See `benches/README.md`. A hypothesis answers by one sum over the keys of a list, and learns by one change of each. So
//! does everybody with a `HashMap<u64, f64>`, and that is the peer, with the hash of rustc-hash and with that of the
//! standard library. Sums of weights are compensated in both, and a weight is multiplied by an exponential in both. What
//! only ours do: logarithms and values in whole numbers, for a state without rounding, and the order in which keys came.
//!
//! # Why the table is two common containers
//! A map from key to position and a vector of entries wait for memory three times where the peer waits twice, and a key is
//! more work: it is half as fast, or less. What was tried instead, and is not here: one table of slots of 32 bytes
//! with all that is held of a key, found by linear probing, in memory of large pages, its slots read ahead in batches or
//! not. In seven runs it was, beside the peer, at 10⁶ and 10⁷ keys:
//!
//! | as fast as the peer | tried, 10⁶ | tried, 10⁷ | now, 10⁶ | now, 10⁷ |
//! | ------------------- | ---------: | ---------: | -------: | -------: |
//! | reading a weight | 1.2–6.0 | 1.0–5.7 | 0.1–0.5 | 0.1–1.1 |
//! | updating a weight | 1.5–3.5 | 2.0–4.1 | 0.2–0.5 | 0.2–0.7 |
//! | updating a perceptron's value | 0.6–1.8 | 0.8–1.6 | 0.1–0.2 | 0.1–0.9 |
//!
//! The high figures are from times when other work filled the caches, the low ones from quiet times. It was to be twice as
//! fast as the peer throughout to be worth two dependencies and its code, and it is not.

use rand::{SeedableRng, rngs::StdRng, seq::index};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use tamis::interactive::{DenseWeights, Hypothesis, Query, SparsePerceptron, SparseWeights, Step, SupportWeights};
use tamis::noise::Hits;
use tamis::queries::{Element, Fingerprint, FingerprintKey, SparseQuery};
use tamis_benches::{Candidate, compare};

/// Keys of a list.
const SUPPORT: u64 = 1_000;
/// Different lists, asked in turn.
const LISTS: usize = 1024;
const UPDATES: u64 = 1_000_000;
const RATE: f64 = 0.01;

fn fingerprint(element: &Element) -> Fingerprint {
    FingerprintKey::new([7; 16]).fingerprint(element)
}

/// As many fingerprints as are asked for.
fn fingerprints(number: u64) -> Vec<Fingerprint> {
    (0..number).map(|number| fingerprint(&Element::number(number))).collect()
}

/// A list, and the same for peers.
struct List {
    query: Query,
    keys: Vec<(u64, f64)>,
}

impl List {
    fn new(keys: impl IntoIterator<Item = Fingerprint>) -> Self {
        let query = SparseQuery::count(keys);
        let keys = query.entries().iter().map(|&(key, units)| (key.get(), share(units))).collect();
        Self { keys, query: Query::keys(query) }
    }
}

fn share(units: u32) -> f64 {
    f64::from(units) / f64::from(SparseQuery::UNIT)
}

/// Lists of some of these keys.
fn lists(keys: &[Fingerprint]) -> Vec<List> {
    let mut rng = StdRng::seed_from_u64(1);
    let mut list = || List::new(index::sample(&mut rng, keys.len(), SUPPORT as usize).iter().map(|index| keys[index]));
    (0..LISTS).map(|_| list()).collect()
}

/// Numbers with the error of their sum beside it, as in Tamis.
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    correction: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let rounded = sum - self.sum;
        self.correction += (self.sum - (sum - rounded)) + (value - rounded);
        self.sum = sum;
    }

    fn get(self) -> f64 {
        self.sum + self.correction
    }
}

/// Multiplicative weights, or a perceptron, as a hash map.
struct Map<S> {
    values: HashMap<u64, f64, S>,
    /// Of a key that is not in the map.
    absent: f64,
    total: Sum,
}

impl<S: BuildHasher + Default> Map<S> {
    fn new(keys: &[Fingerprint], absent: f64) -> Self {
        let mut values = HashMap::with_hasher(S::default());
        let mut total = Sum::default();
        for key in keys {
            values.insert(key.get(), 1.0);
            total.add(1.0);
        }
        Self { values, absent, total }
    }

    fn evaluate(&self, list: &List) -> f64 {
        let mut sum = Sum::default();
        sum.add(list.keys.len() as f64 * self.absent);
        for (key, share) in &list.keys {
            if let Some(value) = self.values.get(key) {
                sum.add(share * (value - self.absent));
            }
        }
        (sum.get() / self.total.get()).clamp(0.0, 1.0)
    }

    fn multiply(&mut self, list: &List, rate: f64) {
        for &(key, share) in &list.keys {
            let value = self.values.entry(key).or_insert(self.absent);
            let before = *value;
            *value *= (rate * share).exp();
            self.total.add(*value);
            self.total.add(-before);
        }
    }

    fn add(&mut self, list: &List, distance: f64) {
        let factor = distance / list.keys.iter().map(|(_, share)| share * share).sum::<f64>();
        for &(key, share) in &list.keys {
            *self.values.entry(key).or_insert(self.absent) += factor * share;
        }
    }
}

/// The lists one after the other, without end.
fn in_turn<'a>(lists: &'a [List]) -> impl FnMut() -> (usize, &'a List) {
    let mut turn = 0;
    move || {
        turn += 1;
        (turn, &lists[turn % lists.len()])
    }
}

fn weights() -> SparseWeights {
    SparseWeights::new(SUPPORT, Hits::new(UPDATES).expect("legal hits"), 1, None).expect("legal sizes")
}

fn perceptron() -> SparsePerceptron {
    SparsePerceptron::new(SUPPORT, 1, None).expect("legal sizes")
}

/// After an update of each key.
fn taught<H: Hypothesis>(mut hypothesis: H, keys: &[Fingerprint]) -> H {
    for keys in keys.chunks(SUPPORT as usize) {
        let list = List::new(keys.iter().copied());
        hypothesis.update(&list.query, Step::Raise(RATE)).expect("a legal update");
    }
    hypothesis
}

fn read<'a>(name: &str, hypothesis: &'a impl Hypothesis, lists: &'a [List]) -> Candidate<'a> {
    let mut next = in_turn(lists);
    Candidate::new(name, SUPPORT as usize, move || hypothesis.evaluate(&next().1.query).expect("a legal query"))
}

/// Up and down by turns, so that weights stay where they are.
fn signed(turn: usize) -> f64 {
    // And each list the other way when its turn comes again.
    if (turn + turn / LISTS).is_multiple_of(2) { RATE } else { -RATE }
}

fn learn<'a>(name: &str, mut hypothesis: impl Hypothesis + 'a, lists: &'a [List]) -> Candidate<'a> {
    let mut next = in_turn(lists);
    Candidate::new(name, SUPPORT as usize, move || {
        let (turn, list) = next();
        let step = if signed(turn) > 0.0 { Step::Raise(RATE) } else { Step::Lower(RATE) };
        hypothesis.update(&list.query, step).expect("a legal update");
    })
}

fn read_map<'a, S: BuildHasher + Default>(name: &str, map: &'a Map<S>, lists: &'a [List]) -> Candidate<'a> {
    let mut next = in_turn(lists);
    Candidate::new(name, SUPPORT as usize, move || map.evaluate(next().1))
}

fn learn_map<'a, S: BuildHasher + Default>(
    name: &str,
    map: &'a mut Map<S>,
    lists: &'a [List],
    learn: impl Fn(&mut Map<S>, &List, f64) + 'a,
) -> Candidate<'a> {
    let mut next = in_turn(lists);
    Candidate::new(name, SUPPORT as usize, move || {
        let (turn, list) = next();
        learn(map, list, signed(turn));
    })
}

/// What peers are called.
const RUSTC_HASH: &str = "HashMap<u64, f64>, rustc-hash";
const SIPHASH: &str = "HashMap<u64, f64>, SipHash";

/// Per key, at so many assigned keys.
fn keys_beside_maps(number: u64, goal: Option<f64>, rounds: usize) {
    let keys = fingerprints(number);
    let lists = lists(&keys);
    let (weights, perceptron) = (taught(weights(), &keys), taught(perceptron(), &keys));
    let mut fast = Map::<FxBuildHasher>::new(&keys, 1.0);
    let mut standard = Map::<RandomState>::new(&keys, 1.0);
    let reads = vec![
        read_map(RUSTC_HASH, &fast, &lists),
        read_map(SIPHASH, &standard, &lists),
        with(read("sparse weights", &weights, &lists), goal),
        with(read("perceptron", &perceptron, &lists), goal),
    ];
    println!("{}", compare(format!("Reading a key, {number} assigned"), rounds, reads));
    let updates = vec![
        learn_map(RUSTC_HASH, &mut fast, &lists, Map::multiply),
        learn_map(SIPHASH, &mut standard, &lists, Map::multiply),
        with(learn("sparse weights", weights, &lists), goal),
    ];
    println!("{}", compare(format!("Updating the weight of a key, {number} assigned"), rounds, updates));
    let additions = vec![
        learn_map(RUSTC_HASH, &mut fast, &lists, Map::add),
        learn_map(SIPHASH, &mut standard, &lists, Map::add),
        with(learn("perceptron", perceptron, &lists), goal),
    ];
    println!("{}", compare(format!("Updating a perceptron's value of a key, {number} assigned"), rounds, additions));
}

fn with(candidate: Candidate<'_>, goal: Option<f64>) -> Candidate<'_> {
    match goal {
        Some(ratio) => candidate.goal(ratio),
        None => candidate,
    }
}

/// Keys that are numbers as they are, where a fingerprint should be.
fn unscattered_keys(rounds: usize) {
    let keys = |step: u64| (0..KEYS).map(|number| Fingerprint::raw(number * step)).collect::<Vec<_>>();
    let kinds = [("fingerprints", fingerprints(KEYS)), ("0 to 1023", keys(1)), ("multiples of 2^54", keys(1 << 54))];
    let kinds = kinds.map(|(name, keys)| (name, taught(weights(), &keys), lists(&keys)));
    let reads = kinds.iter().map(|(name, weights, lists)| read(name, weights, lists)).collect();
    println!("{}", compare(format!("Reading the weight of a key, {KEYS} assigned"), rounds, reads));
    let updates = kinds.iter().map(|(name, weights, lists)| learn(name, weights.clone(), lists)).collect();
    println!("{}", compare(format!("Updating the weight of a key, {KEYS} assigned"), rounds, updates));
}

/// Keys that have been in a list, wherever in their universe they are.
const KEYS: u64 = 1 << 10;

/// The keys in a universe of numbers of so many bits, evenly spread.
fn among_numbers(bits: u32) -> Vec<Fingerprint> {
    (0..KEYS).map(|number| fingerprint(&Element::number(number << (bits - KEYS.ilog2())))).collect()
}

/// The keys in a universe of strings of so many bytes.
fn among_strings(length: usize) -> Vec<Fingerprint> {
    (0..KEYS).map(|number| fingerprint(&Element::bytes(format!("{number:0length$}").as_bytes()))).collect()
}

/// A hypothesis over a universe, and lists of its keys.
struct World {
    name: String,
    hypothesis: Box<dyn Hypothesis>,
    lists: Vec<List>,
}

impl World {
    fn new(name: String, hypothesis: impl Hypothesis + 'static, keys: &[Fingerprint]) -> Self {
        Self { name, hypothesis: Box::new(taught(hypothesis, keys)), lists: lists(keys) }
    }

    /// An item is a query.
    fn candidate(&self) -> Candidate<'_> {
        let mut next = in_turn(&self.lists);
        Candidate::new(self.name.clone(), 1, move || self.hypothesis.evaluate(&next().1.query).expect("a legal query"))
    }
}

/// The time of a query of a thousand keys, as the universe grows.
fn universes(rounds: usize) {
    let sparse = |name, keys: Vec<_>| World::new(format!("sparse weights, {name}"), weights(), &keys);
    let numbers = [10, 16, 24, 32, 48, 64].map(|bits| sparse(format!("2^{bits}"), among_numbers(bits)));
    let strings = [16, 64].map(|length| sparse(format!("strings of {length} bytes"), among_strings(length)));
    let worlds: Vec<_> = numbers.into_iter().chain(strings).collect();
    let candidates = worlds.iter().map(World::candidate).collect();
    println!("{}", compare(format!("A query of {SUPPORT} keys, by universe"), rounds, candidates));

    let support = [10, 16, 22].map(|bits| {
        let weights = SupportWeights::new(fingerprints(1 << bits)).expect("a universe that fits");
        World::new(format!("dense, support only, 2^{bits}"), weights, &among_numbers(bits))
    });
    let full = [10, 15, 20].map(|bits| {
        let weights = DenseWeights::new(fingerprints(1 << bits), 0).expect("a universe that fits");
        World::new(format!("dense, full vector, 2^{bits}"), weights, &among_numbers(bits))
    });
    let sparse = sparse("2^64".to_owned(), among_numbers(64));
    let worlds: Vec<_> = [sparse].into_iter().chain(support).chain(full).collect();
    let candidates = worlds.iter().map(World::candidate).collect();
    println!("{}", compare(format!("A query of {SUPPORT} keys, beside a universe that is listed"), rounds, candidates));
}

fn main() {
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 15 } else { 1 };
    for (number, goal) in [(10_000, None), (1_000_000, Some(2.5)), (10_000_000, Some(2.5))] {
        keys_beside_maps(number, goal, rounds);
    }
    unscattered_keys(rounds);
    universes(rounds);
}
