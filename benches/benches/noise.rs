//! Exact integer noise beside inexact noise from the same generator.
//!
//! Absolute times first, by criterion; then the ratios, which carry from machine to machine. See `benches/README.md`.

use chacha20::ChaCha12Rng;
use criterion::{Criterion, Throughput};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::time::Duration;
use tamis::noise::{DiscreteGaussian, DiscreteLaplace, Rational};
use tamis_benches::{Candidate, compare};
use tamis_noise_portable as portable;
use tamis_oracle::{discrete_gaussian, discrete_laplace};

const BATCH: usize = 4096;
/// Draws a call of the samplers in big integers.
const FEW: usize = 64;
const SCALES: [&str; 5] = ["1", "10", "1000", "1000000", "1000000000"];

fn generator() -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(1)
}

/// −t·ln U with the sign of another bit: what one would write without a thought for its low bits.
#[inline]
fn inversion(scale: f64, word: u64) -> f64 {
    let magnitude = -scale * (((word >> 11) as f64 + 0.5) * 2f64.powi(-53)).ln();
    if word & 1 == 1 { -magnitude } else { magnitude }
}

/// A candidate that fills a batch of its own by `fill`, with a generator of its own.
fn batch<'a, T: Copy + Default + 'a>(
    name: &str,
    mut fill: impl FnMut(&mut [T], &mut ChaCha12Rng) + 'a,
) -> Candidate<'a> {
    let (mut draws, mut rng) = (vec![T::default(); BATCH], generator());
    Candidate::new(name, BATCH, move || {
        fill(&mut draws, &mut rng);
        draws[BATCH / 2]
    })
}

/// A candidate that makes the draws one by one.
fn single<'a, T: Copy + Default + 'a>(name: &str, mut draw: impl FnMut(&mut ChaCha12Rng) -> T + 'a) -> Candidate<'a> {
    batch(name, move |draws, rng| draws.iter_mut().for_each(|cell| *cell = draw(rng)))
}

/// A candidate too slow for a whole batch.
fn slow<'a>(name: &str, mut draw: impl FnMut(&mut ChaCha12Rng) -> i64 + 'a) -> Candidate<'a> {
    let mut rng = generator();
    Candidate::new(name, FEW, move || (0..FEW).map(|_| draw(&mut rng)).fold(0, i64::wrapping_add))
}

fn raw_generator() -> [Candidate<'static>; 2] {
    [
        batch("ChaCha12, 64-bit words in a batch", |bytes: &mut [[u8; 8]], rng| {
            rng.fill_bytes(bytes.as_flattened_mut())
        }),
        single("ChaCha12, word by word", |rng| rng.next_u64()),
    ]
}

fn our_laplace(scale: &str) -> [Candidate<'static>; 2] {
    let noise = DiscreteLaplace::new(scale.parse().expect("a legal scale"));
    let again = noise.clone();
    [
        batch("discrete Laplace, batch", move |draws, rng| noise.fill(draws, rng)),
        single("discrete Laplace, one by one", move |rng| again.sample(rng)),
    ]
}

fn our_gaussian(variance: &str) -> [Candidate<'static>; 2] {
    let noise = DiscreteGaussian::new(variance.parse().expect("a legal variance"));
    let again = noise.clone();
    [
        batch("discrete Gaussian, batch", move |draws, rng| noise.fill(draws, rng)),
        single("discrete Gaussian, one by one", move |rng| again.sample(rng)),
    ]
}

fn absolute_times(criterion: &mut Criterion) {
    let groups = SCALES
        .map(|scale| (format!("scale {scale}"), our_laplace(scale)))
        .into_iter()
        .chain(["100", "1000000", "1e18"].map(|variance| (format!("variance {variance}"), our_gaussian(variance))))
        .chain([("generator".to_owned(), raw_generator())]);
    for (name, candidates) in groups {
        let mut group = criterion.benchmark_group(name);
        for mut candidate in candidates {
            group.throughput(Throughput::Elements(candidate.items() as u64));
            let name = candidate.name().to_owned();
            group.bench_function(name, |bencher| bencher.iter_custom(|calls| candidate.time(calls)));
        }
    }
}

fn laplace_ratios(text: &str, rounds: usize) {
    let scale: f64 = text.parse().expect("a number");
    let exact: Rational = text.parse().expect("a rational number");
    let narrow = portable::DiscreteLaplace::new(text.parse().expect("a legal scale"));
    let [ours, ours_singly] = our_laplace(text);
    let candidates = vec![
        single("inexact: f64 inversion", |rng| inversion(scale, rng.next_u64())),
        batch("inexact: f64 inversion, words in a batch", |draws: &mut [f64], rng| {
            let mut words = [[0; 8]; BATCH];
            rng.fill_bytes(words.as_flattened_mut());
            for (cell, word) in draws.iter_mut().zip(words) {
                *cell = inversion(scale, u64::from_le_bytes(word));
            }
        }),
        single("inexact: rand_distr Exp1 and a sign", |rng| {
            let magnitude: f64 = Exp1.sample(rng);
            if rng.next_u32() & 1 == 1 { -scale * magnitude } else { scale * magnitude }
        }),
        slow("CKS20 in big integers", |rng| discrete_laplace::sample(&exact, rng)),
        batch("discrete Laplace, batch, portable", move |draws, rng| narrow.fill(draws, rng)).goal(1.0),
        ours.goal(1.0),
        ours_singly,
    ];
    println!("{}", compare(format!("Discrete Laplace, scale {text}, on ChaCha12"), rounds, candidates));
}

fn gaussian_ratios(deviation: u32, rounds: usize) {
    let variance = u64::from(deviation).pow(2).to_string();
    let exact: Rational = variance.parse().expect("a rational number");
    let narrow = portable::DiscreteGaussian::new(variance.parse().expect("a legal variance"));
    let [ours, ours_singly] = our_gaussian(&variance);
    let candidates = vec![
        single("inexact: rand_distr StandardNormal", |rng| {
            let standard: f64 = StandardNormal.sample(rng);
            f64::from(deviation) * standard
        }),
        slow("CKS20 in big integers", |rng| discrete_gaussian::sample(&exact, rng)),
        batch("discrete Gaussian, batch, portable", move |draws, rng| narrow.fill(draws, rng)),
        ours,
        ours_singly,
    ];
    println!("{}", compare(format!("Discrete Gaussian, σ = {deviation}, on ChaCha12"), rounds, candidates));
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    absolute_times(&mut criterion);
    criterion.final_summary();
    // `cargo test` only wants to see it run.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 31 } else { 1 };
    SCALES.iter().for_each(|scale| laplace_ratios(scale, rounds));
    [10, 1000, 1_000_000_000].iter().for_each(|&deviation| gaussian_ratios(deviation, rounds));
    println!("{}", compare("The generator alone", rounds, raw_generator().into()));
}
