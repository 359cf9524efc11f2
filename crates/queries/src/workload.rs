//! Named queries, in the order they were asked.

use crate::SparseQuery;
use std::collections::HashMap;

/// Queries, each with a name of its own.
///
/// ```
/// use tamis_queries::{Fingerprint, SparseQuery, Workload};
/// let mut workload = Workload::default();
/// workload.push("partner A", SparseQuery::count([1, 2].map(Fingerprint::raw)))?;
/// workload.push("partner B", SparseQuery::count([3].map(Fingerprint::raw)))?;
/// assert_eq!(workload.largest_support(), 2);
/// assert_eq!(workload.get("partner B").map(SparseQuery::support), Some(1));
/// assert!(workload.push("partner A", SparseQuery::count([])).is_err());
/// # Ok::<(), tamis_queries::WorkloadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Workload {
    queries: Vec<(String, SparseQuery)>,
    positions: HashMap<String, usize>,
}

/// A name that answers could not be told apart by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// No name.
    #[error("query {0} (counted from 0) has an empty name")]
    Unnamed(usize),
    /// A name that was used before.
    #[error("two queries are called {0:?}")]
    SameName(String),
}

impl Workload {
    /// Adds `query` at the end.
    ///
    /// # Errors
    /// If `name` is empty or in use; then nothing is changed.
    pub fn push(&mut self, name: impl Into<String>, query: SparseQuery) -> Result<(), WorkloadError> {
        let name = name.into();
        if name.is_empty() {
            return Err(WorkloadError::Unnamed(self.queries.len()));
        }
        if self.positions.contains_key(&name) {
            return Err(WorkloadError::SameName(name));
        }
        self.positions.insert(name.clone(), self.queries.len());
        self.queries.push((name, query));
        Ok(())
    }

    /// The queries with their names, in the order they came.
    pub fn queries(&self) -> &[(String, SparseQuery)] {
        &self.queries
    }

    /// The query called `name`.
    pub fn get(&self, name: &str) -> Option<&SparseQuery> {
        self.positions.get(name).map(|position| &self.queries[*position].1)
    }

    /// The largest number of keys in one query, 0 if there is none: the sparsity m of a bound for all.
    pub fn largest_support(&self) -> usize {
        self.queries.iter().map(|(_, query)| query.support()).max().unwrap_or(0)
    }
}
