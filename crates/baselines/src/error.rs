use tamis_noise::ParameterError;
use tamis_noise::composition::CompositionError;
use tamis_noise::stability::StabilityError;

/// What a baseline cannot be planned for, released from or asked. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// L.
    #[error("the rows of a unit must be from 1 to 1000000, got {0}")]
    RowsPerUnit(u32),
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
    /// More queries than the noise is for.
    #[error("the plan is for {planned} answers, {given} were asked for: ask fewer, or plan for more")]
    TooManyQueries {
        /// k.
        planned: u64,
        /// As given.
        given: usize,
    },
    /// Keys of a query that nothing is known of.
    #[error(
        "{0} keys of the query are not in the listed universe, and rows with them were not counted: list them before a release"
    )]
    Unlisted(usize),
    /// A stated size outside its range.
    #[error("the {name} must be from 1 to {most}, got {given}")]
    Size {
        /// Which.
        name: &'static str,
        /// As given.
        given: u64,
        /// The largest.
        most: u64,
    },
    /// A table of more bits than is served.
    #[error(
        "{records} records at this privacy need a table of {bits} bits, at most 2^33 are served: take a smaller epsilon or state fewer"
    )]
    Table {
        /// As stated.
        records: u64,
        /// How many it would have.
        bits: String,
    },
    /// A weight of a query.
    #[error("a weight must be from 0 to 1048576 units of 2^-20, got {given} for element {element} of query {query}")]
    Weight {
        /// Position of the query.
        query: usize,
        /// Position of the element.
        element: usize,
        /// As given, in units.
        given: u32,
    },
    /// More small databases than are enumerated.
    #[error(
        "there are more than {most} databases of at most {size} records over {elements} elements: take at most {largest} records, or \
         fewer elements"
    )]
    TooManyDatabases {
        /// |X|.
        elements: u64,
        /// m.
        size: u32,
        /// How many are enumerated.
        most: u64,
        /// The largest m that is served for these elements.
        largest: u32,
    },
    /// α.
    #[error("alpha must be above 0 and at most 1, got {0}")]
    Alpha(String),
    /// A parameter that follows from others.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The noise.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// The threshold.
    #[error(transparent)]
    Stability(#[from] StabilityError),
}
