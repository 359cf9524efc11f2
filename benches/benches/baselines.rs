//! Releases and answers of the baselines beside the same work as one would write it without a thought for speed or exactness.
//!
//! See `benches/README.md`.

use chacha20::ChaCha12Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::hint::black_box;
use tamis::baselines::{AlpPlan, PerQueryPlan, PerturbedHistogramPlan, StabilityHistogramPlan};
use tamis::noise::{Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::queries::{Fingerprint, Histogram, SparseQuery};
use tamis_benches::{Candidate, compare};

const NEIGHBOURS: Neighbours = Neighbours::AddRemove;

fn generator() -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(1)
}

fn budget() -> Budget {
    let legal = "a legal parameter";
    Budget::approximate(Epsilon::new(1.0).expect(legal), Delta::new(1e-9).expect(legal))
}

/// Keys with counts from 1 to 100, 50 on the average.
fn table(keys: u64) -> Histogram {
    let (mut rng, mut table) = (ChaCha12Rng::seed_from_u64(2), Histogram::builder());
    for key in 0..keys {
        table.add(Fingerprint::raw(rng.next_u64()), (key % 100) as i64 + 1).expect("few records");
    }
    table.build()
}

/// Inexact noise of scale 1.
fn inexact(rng: &mut ChaCha12Rng) -> f64 {
    let word = rng.next_u64();
    let magnitude = -(((word >> 11) as f64 + 0.5) * 2f64.powi(-53)).ln();
    if word & 1 == 1 { -magnitude } else { magnitude }
}

/// ALP with a `bool` a bit, a float a flip and all levels looked at.
struct NaiveAlp {
    bits: Vec<bool>,
    step: f64,
}

impl NaiveAlp {
    fn place(&self, key: Fingerprint, level: u64) -> usize {
        let odd = 2 * level.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
        (key.get().wrapping_mul(odd) >> (64 - self.bits.len().ilog2())) as usize
    }

    fn release(plan: &AlpPlan, data: &Histogram, rng: &mut ChaCha12Rng) -> Self {
        let mut release = Self { bits: vec![false; plan.bits() as usize], step: plan.step() };
        for &(key, count) in data.entries() {
            let level = (count as f64 / plan.step() + rng.random::<f64>()).floor() as u64;
            for level in 1..=level {
                let place = release.place(key, level);
                release.bits[place] = true;
            }
        }
        let flip = plan.flip_probability();
        release.bits.iter_mut().for_each(|bit| *bit ^= rng.random::<f64>() < flip);
        release
    }

    fn estimate(&self, key: Fingerprint, levels: u64) -> f64 {
        let (mut sum, mut largest, mut first) = (0i64, 0, 0);
        for level in 1..=levels {
            sum += if self.bits[self.place(key, level)] { 1 } else { -1 };
            if sum > largest {
                (largest, first) = (sum, level);
            }
        }
        first as f64 * self.step
    }
}

/// A table like that of which OpenDP's ALP was timed: 10⁴ keys, 505 000 records, and of 2²³ bits as there.
fn alp(rounds: usize) {
    let data = table(10_000);
    let records = data.total() as u64;
    let plan = AlpPlan::new(&budget(), NEIGHBOURS, 1, records, 1_000).expect("a legal plan");
    assert_eq!(plan.bits(), 1 << 23, "as many bits as OpenDP has for this");
    let (mut rng, mut other) = (generator(), generator());
    let candidates = vec![
        Candidate::new("bit by bit, float flips", data.distinct(), || NaiveAlp::release(&plan, &data, &mut rng)),
        Candidate::new("release", data.distinct(), || plan.release(&data, &mut other).expect("bounded")).goal(10.0),
    ];
    println!("{}", compare("ALP, ε = 1, 10⁴ keys, 505 000 records, 2²³ bits; a key", rounds, candidates));

    let naive = NaiveAlp::release(&plan, &data, &mut generator());
    let release = plan.release(&data, &mut generator()).expect("bounded");
    let occurring: Vec<_> = data.entries().iter().map(|entry| entry.0).step_by(10).collect();
    let absent: Vec<_> = (0..1_000).map(Fingerprint::raw).collect();
    for (name, keys) in [("occur", occurring), ("do not occur", absent)] {
        let levels = (1_000.0 / plan.step()).ceil() as u64;
        let slow = keys.clone();
        let candidates = vec![
            Candidate::new("all levels, bit by bit", keys.len(), || {
                slow.iter().map(|&key| naive.estimate(key, levels)).sum::<f64>()
            }),
            Candidate::new("estimate", keys.len(), || keys.iter().map(|&key| release.estimate(key)).sum::<f64>()),
        ];
        println!("{}", compare(format!("ALP, keys that {name}, up to 1 000 records; a key"), rounds, candidates));
    }
}

fn histograms(rounds: usize) {
    let data = table(100_000);
    let universe: Vec<_> = data.entries().iter().map(|entry| entry.0).collect();
    let counts: Vec<i64> = data.entries().iter().map(|entry| entry.1).collect();
    let naive = |threshold: f64| {
        let (counts, mut rng) = (&counts, generator());
        Candidate::new("float noise on each count", counts.len(), move || {
            let noisy = counts.iter().map(|&count| count as f64 + inexact(&mut rng));
            noisy.filter(|&noisy| noisy >= threshold).collect::<Vec<f64>>()
        })
    };
    let laplace = PerturbedHistogramPlan::laplace(&budget(), NEIGHBOURS, 1).expect("a legal plan");
    let gaussian = PerturbedHistogramPlan::gaussian(&budget(), NEIGHBOURS, 1).expect("a legal plan");
    let perturbed = [("perturbed histogram, Laplace", &laplace), ("perturbed histogram, Gaussian", &gaussian)];
    let perturbed = perturbed.map(|(name, plan)| {
        let (universe, data, mut rng) = (&universe, &data, generator());
        Candidate::new(name, universe.len(), move || {
            plan.release(universe.iter().copied(), data, &mut rng).expect("bounded")
        })
    });
    let candidates = std::iter::once(naive(f64::NEG_INFINITY)).chain(perturbed).collect();
    println!("{}", compare("Releases, 10⁵ keys; a key", rounds, candidates));

    let stability = StabilityHistogramPlan::new(&budget(), NEIGHBOURS, 1).expect("a legal plan");
    let mut rng = generator();
    let released =
        Candidate::new("stability histogram", data.distinct(), || stability.release(&data, &mut rng).expect("bounded"));
    println!("{}", compare("Heavy keys of 10⁵; a key", rounds, vec![naive(22.0), released]));

    let listed = laplace.release(universe.iter().copied(), &data, &mut generator()).expect("bounded");
    let heavy = stability.release(&data, &mut generator()).expect("bounded");
    let query = SparseQuery::count(universe.iter().copied().step_by(100));
    let candidates = vec![
        Candidate::new("the histogram itself", query.support(), || query.evaluate(black_box(&data))),
        Candidate::new("perturbed histogram", query.support(), || listed.answer(black_box(&query)).expect("listed")),
        Candidate::new("stability histogram", query.support(), || heavy.answer(black_box(&query))),
    ];
    println!("{}", compare("Answers, a list of 1 000 of 10⁵ keys; a key", rounds, candidates));
}

fn per_query(rounds: usize) {
    let data = table(100_000);
    let keys: Vec<_> = data.entries().iter().map(|entry| entry.0).collect();
    let lists: Vec<_> = keys.chunks(100).map(|list| SparseQuery::count(list.iter().copied())).collect();
    let queries = Queries::new(lists.len() as u64).expect("some");
    let laplace = PerQueryPlan::laplace(&budget(), NEIGHBOURS, 1, queries).expect("a legal plan");
    let gaussian = PerQueryPlan::gaussian(&budget(), NEIGHBOURS, 1, queries).expect("a legal plan");
    let exact = || lists.iter().map(|list| list.evaluate(black_box(&data))).sum::<i64>();
    let mut candidates = vec![Candidate::new("exact answers alone", lists.len(), exact)];
    for (name, plan) in [("Laplace per query", &laplace), ("Gaussian per query", &gaussian)] {
        let (lists, data, mut rng) = (&lists, &data, generator());
        candidates.push(Candidate::new(name, lists.len(), move || plan.release(lists, data, &mut rng).expect("few")));
    }
    println!("{}", compare("A thousand lists of 100 keys; a list", rounds, candidates));
}

fn main() {
    // `cargo test` only wants to see it run.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 15 } else { 1 };
    alp(rounds);
    histograms(rounds);
    per_query(rounds);
}
