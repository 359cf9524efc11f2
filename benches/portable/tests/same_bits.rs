//! All copies of the kernels give the same bits: `tamis-noise` runs the widest that this machine has, its twin the
//! narrowest.

use chacha20::ChaCha12Rng;
use rand::{Rng, SeedableRng};

/// Not a multiple of a block: the last one is short.
const DRAWS: usize = 100_003;

/// The same code over either crate, whose types are not the same.
macro_rules! over {
    ($noise:ident, $build:ident) => {
        mod $build {
            use super::*;
            use $noise::sparse_vector::{Plan, Setting, SliceAnswers, SparseVector};
            use $noise::{
                Beta, Budget, DiscreteGaussian, DiscreteLaplace, Epsilon, Hits, Neighbours, Queries, Sensitivity,
                StreamKind,
            };

            pub fn laplace(scale: &str, seed: u64) -> Vec<i64> {
                let mut draws = vec![0; DRAWS];
                DiscreteLaplace::new(scale.parse().unwrap()).fill(&mut draws, &mut ChaCha12Rng::seed_from_u64(seed));
                draws
            }

            pub fn gaussian(variance: &str, seed: u64) -> Vec<i64> {
                let mut draws = vec![0; DRAWS];
                DiscreteGaussian::new(variance.parse().unwrap())
                    .fill(&mut draws, &mut ChaCha12Rng::seed_from_u64(seed));
                draws
            }

            /// The hits among queries that lie at random up to `below` under the threshold.
            pub fn hits(below: u64, seed: u64) -> (usize, Vec<usize>) {
                let setting = Setting {
                    hits: Hits::new(10_000).unwrap(),
                    budget: Budget::pure(Epsilon::new(1000.0).unwrap()),
                    sensitivity: Sensitivity::new(10).unwrap(),
                    neighbours: Neighbours::Substitute,
                    kind: StreamKind::Values,
                };
                let plan = Plan::no_redraw(&setting, Queries::new(DRAWS as u64).unwrap(), Beta::new(0.05).unwrap());
                let mut rng = ChaCha12Rng::seed_from_u64(seed);
                let values: Vec<i64> = (0..DRAWS).map(|_| -((rng.next_u64() % below) as i64)).collect();
                let mut run = SparseVector::new(plan.unwrap(), 0, &mut rng);
                let SliceAnswers { answered, hits } = run.answer_slice(&values, &mut rng).unwrap();
                (answered, hits.into_iter().map(|(index, _)| index).collect())
            }
        }
    };
}

over!(tamis_noise, wide);
over!(tamis_noise_portable, narrow);

#[test]
fn discrete_laplace() {
    for scale in ["0.3", "1", "10", "1000", "1000000", "1e9", "1e12"] {
        assert!(wide::laplace(scale, 1) == narrow::laplace(scale, 1), "scale {scale}");
    }
}

#[test]
fn discrete_gaussian() {
    for variance in ["0.3", "1", "100", "1000000", "1e18"] {
        assert!(wide::gaussian(variance, 2) == narrow::gaussian(variance, 2), "variance {variance}");
    }
}

#[test]
fn sparse_vector() {
    // The noise of a query has scale 200: near the threshold, and mostly far below it.
    for below in [500, 20_000] {
        let (answered, hits) = wide::hits(below, 3);
        assert!(answered > 5_000 && hits.len() > 300, "{answered} answers, {} hits", hits.len());
        assert!((answered, hits) == narrow::hits(below, 3), "up to {below} below");
    }
}

#[test]
fn other_noise_gives_other_bits() {
    assert!(wide::laplace("1000000", 1) != narrow::laplace("1000001", 1));
    assert!(wide::gaussian("1e18", 2) != narrow::gaussian("1.0000001e18", 2));
    assert!(wide::hits(500, 3) != narrow::hits(501, 3));
}
