//! What a mechanism is to the planner: it introduces itself, it plans, and a plan of it can be carried out.

use super::{Effort, Question};
use rand::CryptoRng;
use std::fmt;
use tamis_interactive::Data;
use tamis_noise::Budget;
use tamis_queries::{Fingerprint, Histogram, SparseQuery};

/// A mechanism that answers sparse queries privately: a line of a [`Comparison`](super::Comparison).
///
/// Those of this workspace are [`mechanisms::ALL`](super::mechanisms::ALL); CONTRIBUTING has a recipe for one more. What tells
/// two of them apart is their [name](About::name).
///
/// ```
/// use tamis::plan::{QueryRelease, mechanisms};
/// let projection: &dyn QueryRelease = &mechanisms::Projection;
/// assert_eq!(projection.about().name, "projection");
/// assert!(mechanisms::ALL.iter().any(|mechanism| mechanism.about() == projection.about()));
/// ```
pub trait QueryRelease: Sync {
    /// Its introduction.
    fn about(&self) -> About;

    /// Whether it learns from the data while it answers: [`Planned::typical`] is of what has learned nothing then.
    fn learns(&self) -> bool {
        false
    }

    /// What it would do for a question whose sizes are [within their ranges](super::QuestionError), and how it does it: all of it from
    /// what is public. Its bound is a function beside the theorem, in the crate that proves it.
    ///
    /// # Errors
    /// If it cannot be had for this question. [Memory](Question::memory) is looked at by [`Question::planned`], but for what must be held whole while
    /// it is made.
    fn plan(&self, question: &Question) -> Result<Planned, Refusal>;
}

/// A mechanism by its name.
impl fmt::Debug for dyn QueryRelease + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().name)
    }
}

/// How a mechanism is introduced, whatever the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// What it is called, for machines: no other has the same.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it is right for, and what its error grows with, in a sentence.
    pub strength: &'static str,
    /// Where it is to be had: a command, or what to look for in this library.
    pub found_at: &'static str,
    /// Whether its bound is for queries that may depend on the answers before them.
    pub is_adaptive: bool,
    /// What its bound rests on.
    pub basis: Basis,
}

impl About {
    /// Whether it is to be had as a command, not in the library alone.
    pub fn is_command(&self) -> bool {
        self.found_at.starts_with("tamis ")
    }
}

/// What [`Row::within`](super::Row::within) rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A theorem, for data as stated.
    Theorem,
    /// A theorem until the corrections are used up. Queries that do not depend on the release are predicted to use none.
    UntilCorrected,
    /// The rule of the release's intervals: exact variances, and the tail of a normal, a Laplace or any law; or how far what heavy keys
    /// leave [reaches](tamis_projection::reach).
    Prediction,
}

/// A mechanism with noise and sizes for one question. Errors are in records.
pub struct Planned {
    /// The root of the mean square of one answer's error, where it can be predicted.
    pub typical: Option<f64>,
    /// What all k answers are within but for β.
    pub within: f64,
    /// What answers spend, all of them together.
    pub cost: Budget,
    /// Time and memory.
    pub effort: Effort,
    /// What [`answers`](Self::answers) does: one release or one session, by the mechanism's own code. It draws no noise itself.
    pub release: Box<Release>,
}

/// From records, queries and a generator to one answer for each query, in records.
pub type Release = dyn Fn(&Records, &[SparseQuery], &mut dyn CryptoRng) -> Result<Vec<f64>, AnswerError> + Send + Sync;

/// Why there are no answers: the mechanism's own error. It depends on what is public alone.
pub type AnswerError = Box<dyn std::error::Error + Send + Sync>;

impl Planned {
    /// Answers all these queries from the data, by one release or one session that is new each time: each time it spends
    /// [`cost`](Self::cost) anew. One answer for each query, in order, in records.
    ///
    /// `rng` must be cryptographic and, in a release, seeded by the operating system.
    ///
    /// # Errors
    /// What the mechanism itself refuses: data bounded to more rows a unit, no list of the universe where one was stated, for some more
    /// queries than were planned for. The others answer more and wider ones too, at the same cost, and [`within`](Self::within) says
    /// nothing of them.
    pub fn answers(
        &self,
        records: &Records,
        queries: &[SparseQuery],
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<f64>, AnswerError> {
        (self.release)(records, queries, rng)
    }

    /// Whether the bound is below the largest answer.
    pub fn says_something(&self, question: &Question) -> bool {
        self.within < question.largest_answer()
    }
}

/// Without what it would do.
impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { typical, within, cost, effort, release: _ } = self;
        f.debug_struct("Planned")
            .field("typical", typical)
            .field("within", within)
            .field("cost", cost)
            .field("effort", effort)
            .finish_non_exhaustive()
    }
}

/// What answers are given from: the private data, and the public list of all keys where there is one.
///
/// ```
/// use tamis::plan::Records;
/// use tamis::queries::{Fingerprint, Histogram};
/// let table = Histogram::builder().add(Fingerprint::raw(1), 3)?.build();
/// let records = Records::listed(table, (0..4).map(Fingerprint::raw));
/// assert_eq!((records.histogram().total(), records.universe().len()), (3, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Records {
    data: Data,
    universe: Vec<Fingerprint>,
}

impl Records {
    /// Counted keys of a universe that nobody lists.
    pub fn new(histogram: Histogram) -> Self {
        Self { data: Data::keys(histogram), universe: Vec::new() }
    }

    /// Counted keys, and all keys that there may be, in any order. The list must not depend on the data.
    pub fn listed(histogram: Histogram, universe: impl IntoIterator<Item = Fingerprint>) -> Self {
        let mut universe: Vec<_> = universe.into_iter().collect();
        universe.sort_unstable();
        universe.dedup();
        Self { data: Data::keys(histogram), universe }
    }

    /// The counted keys. Raw data.
    pub fn histogram(&self) -> &Histogram {
        self.data.histogram()
    }

    /// The same, as sessions take it.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// All keys that there may be, sorted, each once; none if nobody lists them.
    pub fn universe(&self) -> &[Fingerprint] {
        &self.universe
    }

    /// The same, for a mechanism that was planned for so many.
    ///
    /// # Errors
    /// If there are none, or more.
    pub fn universe_of(&self, planned: u64) -> Result<&[Fingerprint], UnplannedUniverse> {
        let listed = self.universe.len();
        if (1..=planned).contains(&(listed as u64)) {
            Ok(&self.universe)
        } else {
            Err(UnplannedUniverse { planned, listed })
        }
    }
}

/// A list of all keys that is not the one that was planned for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was planned for a list of 1 to {planned} keys that there may be, and {listed} are listed")]
pub struct UnplannedUniverse {
    /// As the question states it.
    pub planned: u64,
    /// As the records have it.
    pub listed: usize,
}

/// Why a mechanism cannot be had, and when it could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, in a sentence without an end.
    pub reason: String,
    /// What it takes; none if that is yet to be found by asking the plan again.
    pub remedy: Option<String>,
}

impl Refusal {
    pub(super) fn new(reason: impl ToString, remedy: &str) -> Self {
        Self { reason: reason.to_string(), remedy: Some(remedy.to_owned()) }
    }
}

/// Of a plan that could not be made, for sizes or a privacy for which there is no noise.
impl<E: std::error::Error> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self { reason: error.to_string(), remedy: None }
    }
}
