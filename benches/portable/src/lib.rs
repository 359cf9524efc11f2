//! `tamis-noise` as a machine without AVX2 runs it: the same source files, but for the one that chooses the vectors.
//!
//! For benches, and for the test that both builds give the same bits. Its modules are those of `crates/noise/src/lib.rs`.

#[path = "../../../crates/noise/src/budget.rs"]
mod budget;
#[path = "../../../crates/noise/src/coins.rs"]
mod coins;
#[path = "../../../crates/noise/src/composition/mod.rs"]
pub mod composition;
#[path = "../../../crates/noise/src/discrete_gaussian.rs"]
pub mod discrete_gaussian;
#[path = "../../../crates/noise/src/discrete_laplace.rs"]
pub mod discrete_laplace;
#[path = "../../../crates/noise/src/enclosure.rs"]
mod enclosure;
#[path = "../../../crates/noise/src/exact.rs"]
mod exact;
#[path = "../../../crates/noise/src/gaussian_calibration.rs"]
pub mod gaussian_calibration;
#[path = "../../../crates/noise/src/logarithm.rs"]
mod logarithm;
#[path = "../../../crates/noise/src/mechanisms.rs"]
mod mechanisms;
#[path = "../../../crates/noise/src/parameters.rs"]
mod parameters;
#[path = "../../../crates/noise/src/selection/mod.rs"]
mod selection;
#[path = "../../../crates/noise/src/sparse_vector/mod.rs"]
pub mod sparse_vector;
#[path = "../../../crates/noise/src/stability.rs"]
pub mod stability;
mod vectors;
#[path = "../../../crates/noise/src/words.rs"]
mod words;

pub use budget::{Budget, Exhausted, Ledger};
pub use dashu_ratio::RBig as Rational;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use exact::parse_rational;
pub use mechanisms::{GaussianMechanism, LaplaceMechanism};
pub use parameters::{
    Beta, Delta, Epsilon, Hits, Neighbours, ParameterError, Queries, Scale, Sensitivity, StreamKind, Variance,
};
pub use selection::{ExponentialMechanism, NoisyMax, PermuteAndFlip, TopByIteration};
