//! Differentially private answers to sparse queries over huge universes.
//!
//! This is the crate to add to a `Cargo.toml`. What it offers today is the sparse vector technique and what stands under it:
//! checked privacy parameters, exact integer noise, composition.
//!
//! | you want to | start at |
//! | ----------- | -------- |
//! | watch a long stream and pay only for alerts | [`noise::sparse_vector`] |
//! | add noise to integers and know how far off they are | [`noise::LaplaceMechanism`], [`noise::GaussianMechanism`] |
//! | know what many mechanisms cost together | [`noise::composition`] |
//! | spend a budget exactly | [`noise::Ledger`] |
//! | turn real values into the exact integers all of this needs | [`queries::Grid`] |
//!
//! # Example
//! A year of daily counts, watched for two days above 265. Each person changes a day's count by at most 1.
//!
//! ```
//! use tamis::noise::sparse_vector::{Plan, Setting, SparseVector, Verdict};
//! use tamis::noise::{Beta, Budget, Epsilon, Hits, Neighbours, Queries, Sensitivity, StreamKind};
//!
//! let setting = Setting {
//!     hits: Hits::new(2)?,
//!     budget: Budget::pure(Epsilon::new(1.0)?),
//!     sensitivity: Sensitivity::ONE,
//!     neighbours: Neighbours::AddRemove,
//!     kind: StreamKind::Counts,
//! };
//! let (queries, beta) = (Queries::new(365)?, Beta::new(0.05)?);
//! let plan = Plan::tight(&setting, queries, beta)?;
//! println!("alerts are right beyond 265 ± {}", plan.accuracy(queries, beta));
//!
//! let mut rng = rand::rng(); // cryptographic, seeded by the operating system
//! let mut watch = SparseVector::new(plan, 265, &mut rng);
//! for (day, count) in [(0, 48), (1, 66), (2, 500)] {
//!     if let Verdict::Above(_) = watch.answer(count, &mut rng)? {
//!         println!("day {day} is above");
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use tamis_noise as noise;
pub use tamis_queries as queries;
