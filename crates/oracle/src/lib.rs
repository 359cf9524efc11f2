//! Slow and obvious twins, mechanisms wrong on purpose, and statistics.
//!
//! This crate is for tests, the harness and experiments; nothing in it is ever part of a release.
//! It knows none of the code it judges: numbers come in as plain `i64`, `f64` and
//! [`RBig`](dashu_ratio::RBig), so every other crate can test itself against it.
//!
//! | module | what stands behind what |
//! | ------ | ----------------------- |
//! | [`statistics`] | Clopper–Pearson, chi-square, Kolmogorov–Smirnov: the accept or reject of every statistical test |
//! | [`enclosure`] | `e^x` of a rational between two rationals: the root of every exact claim here |
//! | [`coins`] | fair bits to uniform integers and Bernoulli(e^(−γ)), in big integers |
//! | [`discrete_laplace`], [`discrete_gaussian`] | exact laws and the samplers of Canonne, Kamath and Steinke |
//! | [`continuous_laplace`] | the papers' real-valued noise, for experiments only |
//! | [`composition`] | optimal composition and Gaussian δ by direct summation |
//! | [`sign_family`] | the sign families of projection releases, bit by bit, with sketch and estimate |
//! | [`sparse_vector`] | the papers' figures, written as printed |
//! | [`mechanism`] | one description of a sparse-vector mechanism, for the sampler and the enumerator alike |
//! | [`median`] | the median mechanism's hypothesis, for a handful of elements |
//! | [`selection`] | the exact laws of noisy max, the exponential mechanism and permute-and-flip |
//! | [`wrong`], [`wrong_releases`] | the mechanisms that must be caught |
//! | [`enumeration`] | the exact output law of a mechanism, and its worst privacy loss |
//!
//! Wrong arguments panic with the reason: a test that asks for nonsense is a broken test, and
//! should stop there.

pub mod statistics;

pub mod coins;
pub mod composition;
pub mod continuous_laplace;
pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod enclosure;
pub mod enumeration;
pub mod mechanism;
pub mod median;
pub mod selection;
pub mod sign_family;
pub mod sparse_vector;
pub mod wrong;
pub mod wrong_releases;
