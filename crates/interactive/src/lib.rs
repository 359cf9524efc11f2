//! The interactive engine: adaptive sparse queries over a universe that nobody lists, each answered from a public guess
//! as long as the data does not contradict it.
//!
//! | module | what is in it |
//! | ------ | ------------- |
//! | [`plan`] | guarantee, noise and corrections, all before any data is seen |
//! | [`mechanism`] | the only place with noise: the session, its privacy and proof, its state |
//! | [`sparse_weights`] | the hypothesis of Blum and Roth: multiplicative weights over slots that keys get when they need them |
//! | [`dense_weights`] | that of Hardt and Rothblum, over a universe that is listed: for comparison |
//! | [`perceptron`] | another that needs no universe, better where keys are rare |
//! | [`guarded`] | a projection release, watched over: the one to use at ordinary sizes |
//!
//! [`Query`] is what is asked, [`Data`] what it is asked of, [`Hypothesis`] what all hypotheses can do.
//!
//! ```
//! use rand::{SeedableRng, rngs::StdRng};
//! use tamis_interactive::{Data, Learner, Plan, Query, Session, Setting};
//! use tamis_noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
//! use tamis_queries::{Conjunction, FingerprintKey};
//!
//! let setting = Setting {
//!     records: 1_000_000, // an upper bound that is public
//!     largest_count: 1_000_000,
//!     support: 256,
//!     queries: Queries::new(10_000)?,
//!     beta: Beta::new(0.05)?,
//!     budget: Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?),
//!     neighbours: Neighbours::AddRemove,
//!     rows_per_unit: 1,
//! };
//! let plan = Plan::tight(&setting, Learner::SparseWeights)?;
//! assert!(!plan.is_vacuous() && plan.guarantee() < 0.1);
//!
//! let key = FingerprintKey::new([7; 16]); // in earnest: drawn from the operating system, and kept
//! let data = Data::points(48, &key, (0..900_000).map(|row| (row % 1_000, 1)))?;
//! let mut rng = StdRng::seed_from_u64(1); // a release takes its generator from the operating system
//! let mut session = Session::new(plan, &data, &mut rng)?;
//!
//! let eight_of_48_free = Conjunction::new(48, 0b11, ((1 << 38) - 1) << 10)?;
//! let answer = session.answer(&Query::conjunction(eight_of_48_free, key), &mut rng)?;
//! assert!((answer.value - 225_000.0).abs() <= answer.bound.unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod data;
pub mod dense_weights;
pub mod guarded;
mod hypothesis;
pub mod mechanism;
pub mod perceptron;
pub mod plan;
mod query;
pub mod sparse_weights;
mod sum;
mod table;
mod tilt;
mod transcript;
pub use data::{Data, DataError};
pub use dense_weights::{DenseWeights, SupportWeights};
pub use guarded::{GuardedPlan, GuardedRelease};
pub use hypothesis::{Hypothesis, Refused, Step};
pub use mechanism::{Answer, Batch, Head, Refusal, Session, Source, State};
pub use perceptron::{SparsePerceptron, StoredPerceptron};
pub use plan::{Learner, Mode, Plan, PlanError, Setting};
pub use query::Query;
pub use sparse_weights::{SparseWeights, StoredWeights};
pub use transcript::Entry;
