//! Elements, histograms and sparse queries: data as exact integers. No randomness and no privacy here.
//!
//! | you have | it becomes |
//! | -------- | ---------- |
//! | a key: a number, a text, several columns, packed booleans | an [`Element`], then its [`Fingerprint`] |
//! | the cells of a row | a [`Fingerprint`], by [`Keys`] |
//! | a table | a [`Histogram`] |
//! | a table with many rows a person | a [`Histogram`], through a [`ContributionBound`] |
//! | a list of keys, perhaps with weights | a [`SparseQuery`] |
//! | a conjunction of booleans | a [`Conjunction`], then a [`SparseQuery`] |
//! | many queries | a [`Workload`] |
//! | real values | whole units of a [`Grid`] |
//!
//! ```
//! use tamis_queries::{Element, FingerprintKey, Histogram, SparseQuery};
//! let key = FingerprintKey::new([7; 16]); // in earnest: drawn from the operating system before the data is read
//! let of = |address: &str| key.fingerprint(&Element::bytes(address.as_bytes()));
//!
//! let mut table = Histogram::builder();
//! for row in ["ann@example.org", "bob@example.org", "ann@example.org"] {
//!     table.add(of(row), 1)?;
//! }
//! let table = table.build();
//!
//! let list = SparseQuery::count(["ann@example.org", "eve@example.org"].map(of));
//! assert_eq!(list.evaluate(&table), 2 * i64::from(SparseQuery::UNIT)); // two rows, in units of 2^-20
//! # Ok::<(), tamis_queries::HistogramError>(())
//! ```

pub mod conjunction;
pub mod contribution;
pub mod element;
pub mod fingerprint;
pub mod grid;
pub mod histogram;
pub mod keys;
pub mod query;
pub mod rows;
pub mod workload;

pub use conjunction::{Columns, Conjunction, ConjunctionError};
pub use contribution::{ContributionBound, NoRows};
/// A number, exactly: of weights and of values to be rounded to a [`Grid`]. The same type as `Rational` of `tamis-noise`.
pub use dashu_ratio::RBig as Rational;
pub use element::{BitsError, Element};
pub use fingerprint::{Fingerprint, FingerprintKey};
pub use grid::{Grid, GridError};
pub use histogram::{Histogram, HistogramBuilder, HistogramError};
pub use keys::{KeyError, KeyKind, Keys};
pub use query::{QueryError, SparseQuery};
pub use rows::RowsPerUnit;
pub use workload::{Workload, WorkloadError};
