//! What else could answer sparse queries: the mechanisms that the engines of this workspace are compared with, each as
//! good as it can be made, with exact noise, its privacy, its typical error and its bound.
//!
//! | mechanism | privacy | universe | error of a list of m keys, one of k | best where |
//! | --------- | ------- | -------- | ------------------------------------ | ---------- |
//! | [`per_query`] | pure, or with δ | any | grows with k (Laplace) or √k (Gaussian), not with m | there are few lists |
//! | [`perturbed_histogram`] | pure, or with δ | listed | √m times the noise of a key | the universe is small |
//! | [`stability_histogram`] | with δ | any | √m, but light keys count as nothing | few keys have most of the records |
//! | [`mwem`] | pure, or with δ | listed, small | n^(2/3), with δ n^(1/2); hardly with k, not with m | very many fixed lists of few records |
//! | [`small_database`] | pure | listed, tiny | n^(2/3); hardly with k, not with m | nowhere: it enumerates, to be compared with |
//! | [`alp`] | pure | any | up to m: its errors do not cancel | single keys are looked up |
//!
//! Each has a plan, made of what is public before any data is seen: it says what a release costs, how far answers are
//! off typically (`predicted_…`) and at most (`guarantee`). A release reads the data once; what is answered from it
//! costs nothing more.
//!
//! ```
//! use rand::{SeedableRng, rngs::StdRng};
//! use tamis_baselines::{PerQueryPlan, StabilityHistogramPlan};
//! use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
//! use tamis_queries::{Fingerprint, Histogram, SparseQuery};
//!
//! let budget = Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?);
//! let names = StabilityHistogramPlan::new(&budget, Neighbours::AddRemove, 1)?;
//! let (lists, beta) = (Queries::new(1_000)?, Beta::new(0.05)?);
//! let each = PerQueryPlan::gaussian(&budget, Neighbours::AddRemove, 1, lists)?;
//! // Ten names of 5 000 records each: the noise of ten keys, against that of a thousand answers.
//! assert!(names.predicted_error(10, 5_000) < 5.0);
//! assert!(each.predicted_standard_error() > 150.0);
//!
//! let mut table = Histogram::builder();
//! for name in 0..10 {
//!     table.add(Fingerprint::raw(name), 5_000)?;
//! }
//! let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
//! let released = names.release(&table.build(), &mut rng)?;
//! let answer = released.answer(&SparseQuery::count((0..10).map(Fingerprint::raw)));
//! assert!((answer.value - 50_000.0).abs() < 50.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What all of them share
//! A unit of privacy (a person) has at most L rows in the table, `rows_per_unit`: that is for the caller to make true
//! ([`ContributionBound`](tamis_queries::ContributionBound)); a table that says otherwise is refused. So is counting: a
//! release spends its plan's cost anew each time, to be [charged](tamis_noise::Ledger) before.
//!
//! Time depends on the data and on the noise: do not let an analyst measure it.

pub mod alp;
mod error;
pub mod mwem;
mod noise;
pub mod per_query;
pub mod perturbed_histogram;
pub mod small_database;
pub mod stability_histogram;
mod units;
mod workload;

pub use alp::{Alp, AlpPlan};
pub use error::BaselineError;
pub use mwem::{Mwem, MwemPlan};
pub use noise::Noise;
pub use per_query::PerQueryPlan;
pub use perturbed_histogram::{PerturbedHistogram, PerturbedHistogramPlan};
pub use small_database::{SmallDatabase, SmallDatabasePlan};
pub use stability_histogram::{StabilityAnswer, StabilityHistogram, StabilityHistogramPlan};
pub use units::{Answer, KeyError};
pub use workload::DenseWorkload;
