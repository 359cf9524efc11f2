//! Differentially private answers to sparse queries over huge universes.
//!
//! This is the crate to add to a `Cargo.toml`. What it offers today is the sparse vector technique, projection
//! releases, sessions that answer adaptive queries, and what stands under all of them: checked privacy parameters, exact
//! integer noise, composition.
//!
//! | you want to | start at |
//! | ----------- | -------- |
//! | watch a long stream and pay only for alerts | [`noise::sparse_vector`] |
//! | publish a table once and count any lists of keys in it | [`projection`] |
//! | answer queries as they come, each chosen after the answers before it | [`interactive`] |
//! | know which mechanism to take, and how far off it would be, before anything is spent | [`plan`] |
//! | take another mechanism than the engines above | [`baselines`] |
//! | add noise to integers and know how far off they are | [`noise::LaplaceMechanism`], [`noise::GaussianMechanism`] |
//! | know what many mechanisms cost together | [`noise::composition`] |
//! | spend a budget exactly | [`noise::Ledger`] |
//! | give keys exact weights | [`noise::parse_rational`], the [`queries::Rational`] of [`queries::SparseQuery::weighted`] |
//! | turn real values into the exact integers all of this needs | [`queries::Grid`] |
//!
//! The README has a whole program.

pub use tamis_baselines as baselines;
pub use tamis_interactive as interactive;
pub use tamis_noise as noise;
pub use tamis_projection as projection;
pub use tamis_queries as queries;

pub mod plan;

/// The programs in the README are compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
