//! OpenDP's samplers beside those of Tamis, in turns, on the thread's CPU time. See the README beside this package.

use chacha20::ChaCha12Rng;
use dashu::integer::IBig;
use dashu::rational::RBig;
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measurements::{make_gaussian, make_laplace};
use opendp::measures::{MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::{L1Distance, L2Distance};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use rand::{RngExt, SeedableRng};
use std::error::Error;
use tamis_benches::{Candidate, compare};
use tamis_noise as ours;
use tamis_noise::sparse_vector::Verdict;
use tamis_noise_portable as portable;

const ROUNDS: usize = 21;
/// Draws a call of opendp.
const FEW: usize = 256;
/// Draws, or queries, a call of ours.
const MANY: usize = 4096;
const QUERIES: usize = 1 << 16;
const THRESHOLD: i64 = 10_000_000;

fn generator() -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(1)
}

/// Batches of ours, of either build; and draws one by one.
macro_rules! ours {
    ($name:literal, batch, $noise:expr) => {{
        let (noise, mut rng, mut draws) = ($noise, generator(), vec![0; MANY]);
        Candidate::new($name, MANY, move || {
            noise.fill(&mut draws, &mut rng);
            draws[MANY / 2]
        })
    }};
    ($name:literal, single, $noise:expr) => {{
        let (noise, mut rng) = ($noise, generator());
        Candidate::new($name, MANY, move || (0..MANY).map(|_| noise.sample(&mut rng)).fold(0, i64::wrapping_add))
    }};
}

fn laplace(scale: u32) -> Result<(), Box<dyn Error>> {
    let exact = RBig::from(scale);
    let measurement = make_laplace::<_, _, MaxDivergence>(
        VectorDomain::new(AtomDomain::<i64>::default()),
        L1Distance::<i64>::default(),
        f64::from(scale),
        None,
    )?;
    let zeros = vec![0; FEW];
    let candidates = vec![
        Candidate::new("opendp: sample_discrete_laplace", FEW, || {
            (0..FEW).filter(|_| sample_discrete_laplace(exact.clone()).expect("a draw").is_zero()).count()
        }),
        Candidate::new("opendp: make_laplace, Vec<i64>", FEW, || measurement.invoke(&zeros).expect("draws")[0]),
        ours!("Tamis: batch, portable", batch, portable::DiscreteLaplace::new(scale.to_string().parse()?)).goal(500.0),
        ours!("Tamis: batch", batch, ours::DiscreteLaplace::new(scale.to_string().parse()?)).goal(1500.0),
        ours!("Tamis: one by one", single, ours::DiscreteLaplace::new(scale.to_string().parse()?)),
    ];
    println!("{}", compare(format!("Discrete Laplace, scale {scale}"), ROUNDS, candidates));
    Ok(())
}

fn gaussian(deviation: u32) -> Result<(), Box<dyn Error>> {
    let exact = RBig::from(deviation);
    let variance = (u64::from(deviation) * u64::from(deviation)).to_string();
    let measurement = make_gaussian::<_, _, ZeroConcentratedDivergence>(
        VectorDomain::new(AtomDomain::<i64>::default()),
        L2Distance::<f64>::default(),
        f64::from(deviation),
        None,
    )?;
    let zeros = vec![0; FEW];
    let candidates = vec![
        Candidate::new("opendp: sample_discrete_gaussian", FEW, || {
            (0..FEW).filter(|_| sample_discrete_gaussian(exact.clone()).expect("a draw").is_zero()).count()
        }),
        Candidate::new("opendp: make_gaussian, Vec<i64>", FEW, || measurement.invoke(&zeros).expect("draws")[0]),
        ours!("Tamis: batch, portable", batch, portable::DiscreteGaussian::new(variance.parse()?)),
        ours!("Tamis: batch", batch, ours::DiscreteGaussian::new(variance.parse()?)).goal(1000.0),
        ours!("Tamis: one by one", single, ours::DiscreteGaussian::new(variance.parse()?)),
    ];
    println!("{}", compare(format!("Discrete Gaussian, σ = {deviation}"), ROUNDS, candidates));
    Ok(())
}

/// DR14 Algorithm 2 on opendp's sampler: opendp has none of its own.
fn sparse_on_opendp(values: &[i64], noise: &RBig, noise_of_threshold: &RBig) -> Vec<usize> {
    let laplace = |scale: &RBig| sample_discrete_laplace(scale.clone()).expect("a draw");
    let mut noisy_threshold = IBig::from(THRESHOLD) + laplace(noise_of_threshold);
    let mut hits = Vec::new();
    for (index, &value) in values.iter().enumerate() {
        if IBig::from(value) + laplace(noise) >= noisy_threshold {
            hits.push(index);
            noisy_threshold = IBig::from(THRESHOLD) + laplace(noise_of_threshold);
        }
    }
    hits
}

/// DR14 Algorithm 2 with noise of scale 4000 for a query, 2000 for the threshold, and hits for every query.
macro_rules! plan {
    ($noise:ident) => {{
        use $noise::sparse_vector::{Plan, Setting};
        use $noise::{Budget, Epsilon, Hits, Neighbours, Sensitivity, StreamKind};
        Plan::sparse(&Setting {
            hits: Hits::new(1_000_000)?,
            budget: Budget::pure(Epsilon::new(1000.0)?),
            sensitivity: Sensitivity::ONE,
            neighbours: Neighbours::Substitute,
            kind: StreamKind::Values,
        })?
    }};
}

macro_rules! slice {
    ($noise:ident, $values:expr) => {{
        let (plan, values, mut rng) = (plan!($noise), $values, generator());
        move || {
            let mut run = $noise::sparse_vector::SparseVector::new(plan.clone(), THRESHOLD, &mut rng);
            run.answer_slice(values, &mut rng).expect("hits enough").hits.len()
        }
    }};
}

/// Queries uniformly from `nearest` to `farthest` below the threshold, in scales b of their noise.
fn sparse_vector(nearest: i64, farthest: i64) -> Result<(), Box<dyn Error>> {
    let plan = plan!(ours);
    let [noise, noise_of_threshold] =
        [plan.query_noise(), plan.threshold_noise()].map(|scale| scale.as_rational().clone());
    let b = i64::try_from(noise.floor())?;
    let mut rng = generator();
    let values: Vec<i64> = (0..QUERIES).map(|_| THRESHOLD - rng.random_range(nearest * b..farthest * b)).collect();
    let candidates = vec![
        Candidate::new("opendp's sampler in DR14's loop", FEW, || {
            sparse_on_opendp(&values[..FEW], &noise, &noise_of_threshold).len()
        }),
        Candidate::new("Tamis: one at a time", QUERIES, || {
            let mut run = ours::sparse_vector::SparseVector::new(plan.clone(), THRESHOLD, &mut rng);
            let mut is_hit = |&value: &i64| run.answer(value, &mut rng).expect("hits enough") != Verdict::Below;
            values.iter().filter(|value| is_hit(value)).count()
        }),
        Candidate::new("Tamis: a slice, portable", QUERIES, slice!(portable, &values)),
        Candidate::new("Tamis: a slice", QUERIES, slice!(ours, &values)).goal(1000.0),
    ];
    println!("{}", compare(format!("Sparse vector, queries {nearest}b to {farthest}b below"), ROUNDS, candidates));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for scale in [10, 1000] {
        laplace(scale)?;
    }
    for deviation in [10, 1000] {
        gaussian(deviation)?;
    }
    for (nearest, farthest) in [(20, 60), (5, 60), (0, 10)] {
        sparse_vector(nearest, farthest)?;
    }
    Ok(())
}
