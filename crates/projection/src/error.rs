use crate::{Shape, Sketch};
use tamis_noise::composition::CompositionError;
use tamis_noise::stability::StabilityError;
use tamis_noise::{Exhausted, ParameterError};

/// What a projection cannot be made with, or asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// T of dense signs.
    #[error("the width with dense signs must be a multiple of 64 from 64 to 2^26, got {0}")]
    DenseWidth(u64),
    /// T of sparse signs.
    #[error(
        "the width with sparse signs must be the nonzeros times a power of two, up to 2^26, got width {width} with {nonzeros} nonzeros"
    )]
    SparseWidth {
        /// T.
        width: u64,
        /// s.
        nonzeros: u32,
    },
    /// r.
    #[error("the independence must be from 2 to {max}, got {0}", max = Shape::MAX_INDEPENDENCE)]
    Independence(u32),
    /// An r that leaves error bars without ground.
    #[error("answers with error bars need at least {least}-wise independence, got {0}", least = crate::Builder::INDEPENDENCE)]
    IndependenceOfAnswers(u32),
    /// Data whose units have more rows than the noise is for.
    #[error(
        "the plan is for at most {planned} rows a unit, the data was bounded to {bounded}: bound it to fewer, or plan for more"
    )]
    RowsBeyondPlan {
        /// L of the plan.
        planned: u32,
        /// L of the data.
        bounded: u32,
    },
    /// T and r together.
    #[error("width and independence ask for {coefficients} coefficients; up to {max} are served: lower one of them", max = Shape::MAX_COEFFICIENTS)]
    Description {
        /// How many.
        coefficients: u64,
    },
    /// More than a sketch can count.
    #[error("a sketch holds up to {max} records, added and removed ones together", max = Sketch::MAX_RECORDS)]
    TooManyRecords,
    /// Sketches with different rows, seeds or signs.
    #[error("the sketches are of different families: width, signs, independence and seed must agree")]
    OtherFamily,
    /// A sketch, or values, that another plan is for.
    #[error("the plan is for {planned} rows with other signs or independence than what it was given ({given} rows)")]
    OtherShape {
        /// T of the plan.
        planned: usize,
        /// T of what was given.
        given: usize,
    },
    /// A value that no release holds.
    #[error("a value of a release must be within ±2^54, got {0}")]
    Value(i64),
    /// Heavy keys where the plan has none.
    #[error("the plan releases no heavy keys apart, {0} were given")]
    HeavyUnplanned(usize),
    /// More heavy keys than can be summed up in seconds.
    #[error("with so many signs a key a release holds at most {most} heavy keys, got {given}")]
    TooManyHeavy {
        /// How many it may hold.
        most: usize,
        /// As given.
        given: usize,
    },
    /// Heavy keys out of order.
    #[error("the heavy keys of a release must be sorted by fingerprint, each once")]
    HeavyOrder,
    /// A noisy count that no release has.
    #[error("the noisy count of a heavy key must be at least the threshold {threshold}, got {count}")]
    HeavyCount {
        /// τ.
        threshold: i64,
        /// As given.
        count: i64,
    },
    /// More than any data has.
    #[error("the noisy counts of the heavy keys must be at most 2^54 together")]
    HeavyTotal,
    /// A sketch alone, where the counts of keys are needed too.
    #[error(
        "the plan releases heavy keys apart, which needs the counts of the keys and not a sketch alone: release the \
         histogram, or plan with heavy keys off"
    )]
    HeavyFromSketch,
    /// An error that nothing that may be chosen has.
    #[error("an error of {wanted} records is out of reach: the least is {least}, by {by}; {remedy}")]
    Unreachable {
        /// The error asked for.
        wanted: String,
        /// The least that is predicted.
        least: String,
        /// What has it.
        by: String,
        /// What would reach what was asked for.
        remedy: String,
    },
    /// L.
    #[error("the rows of a unit must be from 1 to 1000000, got {0}")]
    RowsPerUnit(u32),
    /// Nothing to choose the width by.
    #[error(
        "state the number of records (rounded, public): width and errors are judged by it; or state the width and no wanted error"
    )]
    Unstated,
    /// A stated size that is no size.
    #[error("the {name} must be a number from 1 to 1e15, got {value}")]
    Size {
        /// Which.
        name: &'static str,
        /// As given.
        value: String,
    },
    /// Everything considered would be too large.
    #[error("no release fits into {0} bytes: allow at least 10000")]
    FileTooSmall(u64),
    /// A level of confidence.
    #[error("the level must be between 0 and 1, ends excluded, got {0}")]
    Level(String),
    /// A plan whose parts spend more than it promises.
    #[error("sketch and heavy keys spend more than the release promises: {0}")]
    Overspent(Box<Exhausted>),
    /// A plan that promises more privacy than its noise gives.
    #[error("{noise} is not enough for {cost}: that needs {least}")]
    Claim {
        /// As recorded.
        noise: String,
        /// As recorded.
        cost: String,
        /// What would be enough.
        least: String,
    },
    /// The noise.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The noise.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// The counts of heavy keys.
    #[error(transparent)]
    Stability(#[from] StabilityError),
}
