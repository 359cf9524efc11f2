//! Adaptive sparse queries over a universe that nobody lists.
mod data;
pub mod dense_weights;
mod hypothesis;
pub mod perceptron;
pub mod plan;
mod query;
pub mod sparse_weights;
mod sum;
mod table;
mod tilt;
pub use data::{Data, DataError};
pub use dense_weights::{DenseWeights, SupportWeights};
pub use hypothesis::{Hypothesis, Refused, Step};
pub use perceptron::SparsePerceptron;
pub use plan::{Learner, Mode, Plan, PlanError, Setting};
pub use query::Query;
pub use sparse_weights::{SparseWeights, StoredWeights};
