//! The mechanisms of this workspace, as the planner knows them: a file for each kind, and a line in the list.
//!
//! No bound is computed here, and no noise is drawn: each asks its own plan, and calls its own release.

use super::counts::Counts;
use super::{Effort, Planned, QueryRelease, Question, Refusal};
use tamis_baselines::{DenseWorkload, KeyError};
use tamis_interactive::Setting;

/// Declares the files, and lists what is in them.
macro_rules! mechanisms {
    ($($file:ident: $($mechanism:ident),+;)+) => {
        $(
            mod $file;
            pub use $file::{$($mechanism),+};
        )+

        /// All there are.
        pub const ALL: &[&dyn QueryRelease] = &[$($(&$mechanism),+),+];
    };
}

mechanisms! {
    per_query: LaplacePerQuery, GaussianPerQuery;
    perturbed_histogram: LaplaceHistogram, GaussianHistogram;
    mwem: Mwem;
    small_database: SmallDatabase;
    stability_histogram: StabilityHistogram;
    alp: Alp;
    projection: Projection, HeavyKeysApart, DenseProjection;
    guarded_release: GuardedRelease;
    learners: SparseWeights, SparseWeightsPaper, Perceptron, DenseWeights;
}

/// What several mechanisms ask of a question.
impl Question {
    /// For mechanisms that may fail with a probability.
    fn needs_delta(&self) -> Result<(), Refusal> {
        if self.budget.delta().is_zero() {
            let remedy = "a delta far below one over the number of records";
            return Err(Refusal::new("it needs a delta, and none is stated", remedy));
        }
        Ok(())
    }

    /// How many keys are listed, for mechanisms that go through all of them.
    fn needs_universe(&self) -> Result<u64, Refusal> {
        self.universe.ok_or_else(|| {
            let remedy = "a list of all keys that there may be, made without a look at the data";
            Refusal::new("it needs all possible keys listed, and no universe is stated", remedy)
        })
    }

    /// Whether all queries can be written down as vectors over so many keys.
    fn needs_workload(&self, elements: u64) -> Result<(), Refusal> {
        DenseWorkload::check_sizes(elements, self.queries.get())
            .map_err(|error| Refusal::new(error, "fewer queries, or a smaller universe"))?;
        self.needs_memory(self.queries.to_f64() * elements as f64 * size_of::<f64>() as f64)
    }

    /// Whether what must be held whole finds room.
    pub(super) fn needs_memory(&self, bytes: f64) -> Result<(), Refusal> {
        if bytes <= self.memory as f64 {
            return Ok(());
        }
        let reason = format!("it needs about {bytes:.2e} bytes of memory, and there are {:.2e}", self.memory as f64);
        Err(Refusal { reason, remedy: None })
    }

    /// The typical error of a list that names any keys of the data, as many as it can, the others being of nobody.
    fn typical_of_list(&self, error_of_key: impl Fn(u64) -> KeyError) -> f64 {
        Counts::of(self).typical_error_of_list(self.support as f64, error_of_key)
    }

    /// As sessions take it.
    fn setting(&self) -> Setting {
        Setting {
            records: self.records,
            largest_count: self.largest_count,
            support: self.support,
            queries: self.queries,
            beta: self.beta,
            budget: self.budget.clone(),
            neighbours: self.neighbours,
            rows_per_unit: self.rows_per_unit,
        }
    }
}
