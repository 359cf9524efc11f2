//! The sparse vector on long streams beside the loop that adds float noise to every query.
//!
//! Absolute times first, by criterion; then the ratios, which carry from machine to machine. See `benches/README.md`.

use chacha20::ChaCha12Rng;
use criterion::{Criterion, Throughput};
use rand::{Rng, RngExt, SeedableRng};
use std::time::Duration;
use tamis::noise as ours;
use tamis_benches::{Candidate, compare};
use tamis_noise_portable as portable;

const QUERIES: usize = 1 << 16;
const THRESHOLD: i64 = 1_000_000;
/// Noise that is drawn at once where every query gets its own.
const BATCH: usize = 1024;

/// Queries that lie uniformly from `nearest` to `farthest` below the threshold, in scales b of their noise.
#[derive(Clone, Copy)]
struct Stream {
    nearest: f64,
    farthest: f64,
    /// How many times as fast as the loop over float noise a slice should be.
    goal: f64,
}

const STREAMS: [Stream; 3] = [
    Stream { nearest: 20.0, farthest: 60.0, goal: 10.0 },
    Stream { nearest: 5.0, farthest: 60.0, goal: 10.0 },
    Stream { nearest: 0.0, farthest: 10.0, goal: 2.5 },
];

impl Stream {
    fn name(self) -> String {
        format!("{}b to {}b below", self.nearest, self.farthest)
    }

    fn values(self, b: f64) -> Vec<i64> {
        let mut rng = generator();
        (0..QUERIES).map(|_| THRESHOLD - (b * rng.random_range(self.nearest..self.farthest)) as i64).collect()
    }
}

fn generator() -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(1)
}

/// A plan with hits for every query, made by either build. One threshold serves all hits, with noise so far below b that
/// the queries lie where a stream says.
macro_rules! plan {
    ($noise:ident) => {{
        use $noise::sparse_vector::{Plan, Setting};
        use $noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
        let setting = Setting {
            hits: Hits::new(1_000_000).expect("legal hits"),
            budget: Budget::pure(Epsilon::new(1000.0).expect("a legal epsilon")),
            sensitivity: Sensitivity::ONE,
            neighbours: Neighbours::Substitute,
            kind: StreamKind::Values,
        };
        let queries = Queries::new(QUERIES as u64).expect("a legal number of queries");
        Plan::no_redraw(&setting, queries, Beta::new(0.05).expect("a legal beta")).expect("a plan")
    }};
}

/// The run over a slice, by either build.
macro_rules! slice {
    ($noise:ident, $stream:expr) => {{
        let plan = plan!($noise);
        let values = $stream.values(plan.query_noise().to_f64_up());
        let mut rng = generator();
        move || {
            let mut run = $noise::sparse_vector::SparseVector::new(plan.clone(), THRESHOLD, &mut rng);
            run.answer_slice(&values, &mut rng).expect("hits enough").hits.len()
        }
    }};
}

fn one_at_a_time(stream: Stream) -> Candidate<'static> {
    let plan = plan!(ours);
    let values = stream.values(plan.query_noise().to_f64_up());
    let mut rng = generator();
    Candidate::new("one at a time", QUERIES, move || {
        let mut run = ours::sparse_vector::SparseVector::new(plan.clone(), THRESHOLD, &mut rng);
        let mut hits = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            if run.answer(value, &mut rng).expect("hits enough") != ours::sparse_vector::Verdict::Below {
                hits.push(index);
            }
        }
        hits.len()
    })
}

fn as_a_slice(stream: Stream) -> Candidate<'static> {
    Candidate::new("as a slice", QUERIES, slice!(ours, stream))
}

/// The loop everybody writes: −b·ln U with a sign, added to every answer.
fn float_noise(stream: Stream) -> Candidate<'static> {
    let plan = plan!(ours);
    let (b, b_of_threshold) = (plan.query_noise().to_f64_up(), plan.threshold_noise().to_f64_up());
    let values: Vec<f64> = stream.values(b).into_iter().map(|value| value as f64).collect();
    let mut rng = generator();
    let mut laplace = move |scale: f64| {
        let word = rng.next_u64();
        let magnitude = -scale * (((word >> 11) as f64 + 0.5) * 2f64.powi(-53)).ln();
        if word & 1 == 1 { -magnitude } else { magnitude }
    };
    Candidate::new("inexact: float noise for every query", QUERIES, move || {
        let noisy_threshold = THRESHOLD as f64 + laplace(b_of_threshold);
        let mut hits = Vec::new();
        for (index, value) in values.iter().enumerate() {
            if value + laplace(b) >= noisy_threshold {
                hits.push(index);
            }
        }
        hits.len()
    })
}

/// The same loop over exact noise, drawn in batches.
fn exact_noise(stream: Stream) -> Candidate<'static> {
    let plan = plan!(ours);
    let values = stream.values(plan.query_noise().to_f64_up());
    let [noise, noise_of_threshold] =
        [plan.query_noise(), plan.threshold_noise()].map(|scale| ours::DiscreteLaplace::new(scale.clone()));
    let mut rng = generator();
    let mut drawn = [0; BATCH];
    Candidate::new("exact noise for every query, in batches", QUERIES, move || {
        let noisy_threshold = THRESHOLD + noise_of_threshold.sample(&mut rng);
        let mut hits = Vec::new();
        for (block, values) in values.chunks(BATCH).enumerate() {
            let drawn = &mut drawn[..values.len()];
            noise.fill(drawn, &mut rng);
            for (lane, (value, noise)) in values.iter().zip(drawn).enumerate() {
                if value + *noise >= noisy_threshold {
                    hits.push(block * BATCH + lane);
                }
            }
        }
        hits.len()
    })
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for stream in STREAMS {
        let mut group = criterion.benchmark_group(stream.name());
        for mut candidate in [one_at_a_time(stream), as_a_slice(stream)] {
            group.throughput(Throughput::Elements(candidate.items() as u64));
            let name = candidate.name().to_owned();
            group.bench_function(name, |bencher| bencher.iter_custom(|calls| candidate.time(calls)));
        }
    }
    criterion.final_summary();
    // `cargo test` only wants to see it run.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 31 } else { 1 };
    for stream in STREAMS {
        let candidates = vec![
            float_noise(stream),
            exact_noise(stream),
            one_at_a_time(stream),
            Candidate::new("as a slice, portable", QUERIES, slice!(portable, stream)),
            as_a_slice(stream).goal(stream.goal),
        ];
        println!("{}", compare(format!("Sparse vector on ChaCha12, queries {}", stream.name()), rounds, candidates));
    }
}
