//! The auditor against every mechanism: nothing right is accused, everything wrong is caught.

pub mod mechanisms;
pub mod sparse_vector;
pub mod wrong_mechanisms;
pub mod wrong_sparse_vector;

use tamis_harness::audit::Subject;

/// A subject and what should come of it.
#[derive(Debug)]
pub struct Audited {
    /// Mechanism, claim, pair.
    pub subject: Subject,
    /// The claim is true.
    pub is_private: bool,
    /// The largest loss there is on this pair, where it is known.
    pub exact: Option<f64>,
    /// What a run costs, in nanoseconds, roughly: expensive mechanisms get fewer runs.
    pub nanoseconds: u64,
}

impl Audited {
    /// A mechanism whose claim is true.
    pub fn right(subject: Subject, nanoseconds: u64) -> Self {
        Self { subject, is_private: true, exact: None, nanoseconds }
    }

    /// One that is wrong on purpose.
    pub fn wrong(subject: Subject, nanoseconds: u64) -> Self {
        Self { is_private: false, ..Self::right(subject, nanoseconds) }
    }

    /// The same, with the largest loss on this pair.
    #[must_use]
    pub fn exact(self, loss: f64) -> Self {
        Self { exact: Some(loss), ..self }
    }
}
