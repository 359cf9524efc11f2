//! Privacy parameters, exact integer noise, composition and the sparse vector technique.
//!
//! This crate knows no data and no queries: it sees integers and adds integers.

// The filters' error bounds need every float operation rounded to an f64 at once, which the x87 registers do not do.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!("tamis-noise needs SSE2 on x86: its error bounds assume IEEE 754 double arithmetic");

mod budget;
mod coins;
pub mod composition;
pub mod discrete_gaussian;
pub mod discrete_laplace;
mod enclosure;
mod exact;
pub mod gaussian_calibration;
mod logarithm;
mod mechanisms;
mod parameters;
mod selection;
pub mod sparse_vector;
pub mod stability;
mod vectors;
mod words;

pub use budget::{Budget, Exhausted, Ledger};
pub use coins::uniform_below;
pub use dashu_ratio::RBig as Rational;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use exact::parse_rational;
pub use mechanisms::{GaussianMechanism, LaplaceMechanism};
pub use parameters::{
    Beta, Delta, Epsilon, Hits, Neighbours, ParameterError, Queries, Scale, Sensitivity, StreamKind, Variance,
};
pub use selection::{ExponentialMechanism, NoisyMax, PermuteAndFlip, TopByIteration};
