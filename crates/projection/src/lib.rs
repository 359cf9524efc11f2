//! Projection releases: one private file from a table, then counts over any number of lists of keys, with error bars, over
//! a universe that nobody lists.
//!
//! | module | what is in it |
//! | ------ | ------------- |
//! | [`family`] | the public matrix of signs, from a seed |
//! | [`sketch`] | the projection of a table: exact integers, linear, as private as the table |
//! | [`builder`] | what is stated of a release, and how the rest is chosen |
//! | [`release`] | the only place with noise: plan, privacy |
//! | [`heavy`] | keys that occur often, released apart: what it costs and when it pays |
//! | [`answer`] | from the release alone: value, standard error, interval |
//! | [`mod@file`] | a release as one Parquet file that any tool opens |
//! | [`tails`] | how far errors reach that are the noise of few keys |
//! | [`bounds`] | the theorem, and errors predicted beforehand |
//!
//! ```
//! use rand::{SeedableRng, rngs::StdRng};
//! use tamis_noise::{Budget, Epsilon, Neighbours};
//! use tamis_projection::ProjectionRelease;
//! use tamis_queries::{Fingerprint, Histogram, SparseQuery};
//!
//! let mut table = Histogram::builder();
//! for key in 0..2_000 {
//!     table.add(Fingerprint::raw(key), 1)?;
//! }
//! let table = table.build();
//!
//! // One record is one person's, and each person has at most one.
//! let plan = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0)?), Neighbours::AddRemove, 1).records(2_000).build()?;
//! let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
//! let release = plan.release(&table, &mut rng)?;
//!
//! let list = SparseQuery::count((1_500..2_500).map(Fingerprint::raw)); // 500 of these 1 000 are in the table
//! let answer = release.answer(&list);
//! let interval = answer.interval(0.999)?;
//! assert!(interval.lower < 500.0 && 500.0 < interval.upper);
//! assert!(answer.standard_error < 60.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod bounds;
pub mod builder;
mod claim;
mod error;
pub mod family;
pub mod file;
mod gf64;
pub mod heavy;
mod kernels;
pub mod release;
pub mod sketch;
pub mod tails;
mod tally;
mod words;

pub use answer::{Answer, Interval, ProjectionRelease, Rule};
pub use builder::Builder;
pub use error::ProjectionError;
pub use family::{Seed, Shape, SignFamily, Signs};
pub use file::{FileError, ReleaseFile, Unit};
pub use heavy::HeavyKeys;
pub use release::{Noise, NoiseKind, Plan};
pub use sketch::Sketch;
pub use tails::Tails;
