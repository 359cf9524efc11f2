//! Which mechanism, and how far off: for public sizes, before anything is spent.
//!
//! A [`Question`] states what is public: how many records and queries, how wide the queries, which privacy. A [`Comparison`] has a
//! [`Row`] for every mechanism of this workspace that could answer it, and says which is best. A mechanism is a [`QueryRelease`]:
//! it [plans](QueryRelease::plan), and what was planned [answers](Planned::answers).
//!
//! ```
//! use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
//! use tamis::plan::{Asking, Comparison, Question, Verdict, Wanted};
//! let question = Question {
//!     records: 1_000_000,
//!     support: 10_000,
//!     queries: Queries::new(1_000_000)?,
//!     beta: Beta::new(0.05)?,
//!     budget: Budget::approximate(Epsilon::new(1.0)?, Delta::new(1e-9)?),
//!     neighbours: Neighbours::AddRemove,
//!     rows_per_unit: 1,
//!     largest_count: 1, // no two records have one key
//!     key_multiplicity: 1.0,
//!     distinct_keys: None,
//!     universe: None,
//!     asking: Asking::Beforehand,
//!     memory: 1 << 34,
//! };
//! let comparison = Comparison::of(&question)?;
//! let winner = comparison.winner().unwrap();
//! assert_eq!(winner.mechanism.about().name, "projection");
//! assert!((165.0..172.0).contains(&winner.typical.unwrap()));
//! // Noise for each of a million answers is more than a list of 10 000 keys can hold.
//! assert_eq!(comparison.row("gaussian-per-query").unwrap().verdict, Verdict::Vacuous);
//! // It is the best for few, and so what keeps most within a hundred records.
//! let most = comparison.keeping(Wanted::Records(100.0)).largest_queries.unwrap();
//! assert_eq!((most.value, most.mechanism.about().name), (22, "gaussian-per-query"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Figures
//! All of them are what the mechanism's own plan says, for an answer to m keys of k, in records:
//!
//! - [typical](Row::typical): the root of the mean square of one answer's error. For lists of any keys of the data, each as likely as any
//!   other, as far as it has so many. Keys are taken to have `key_multiplicity` records each; where `distinct_keys` says how many there
//!   are, as many as a power law through n, their number and ‖x‖² gives them. Of a hypothesis that learns: its error before it has learned
//!   anything, where lists are too short to be corrected, so that it stays; where they are longer, none, since only a worst case is known,
//!   and errors in practice are below it: at worst four fifths of it, in `smw_accuracy`; and none beside a bound that says nothing, since it
//!   is a guess without data. None of MWEM and small databases, since only a worst case is known.
//!   Never more than what all answers are within, even if that is less: where a guard corrects what is further off, where noise is nearly always 0,
//!   or for a large β.
//! - [within](Row::within): what all k answers keep at once but for a probability β. [`Basis`] says whether that is a theorem, a theorem
//!   until corrections are used up, or a prediction.
//! - [effort](Row::effort): time and memory, to an order of magnitude, by the [figures below](#effort).
//!
//! # Verdicts
//! No answer is beyond min(n, m·largest count), the [largest answer](Question::largest_answer). What is within as much is within it of
//! anything: [`Verdict::Vacuous`]. [`Row::remedy`] says which ε or n would do, found by asking the same plan again. What needs more than the
//! question's memory is [`Verdict::NotApplicable`].
//!
//! # The best
//! Of those that are not vacuous, the least of what all answers are [within](Row::within); if each query may depend on the answers before
//! it ([`Asking::Adaptively`]), of those whose bound holds then. (Not the least typical error: that of histograms rests on which keys have
//! how many records, and on which are asked for.) Where all are vacuous there is no [winner](Comparison::winner).
//! A [guarded release](mechanisms::GuardedRelease) holds for adaptive queries while its corrections last, and an adversary may use
//! them up; [`Comparison::lasting`] is the best of those that hold to the end.
//!
//! # Effort
//! Orders of magnitude, of one thread, from the tables of `benches/README.md`, rounded: 100 ns for a key looked up in a table that no cache
//! holds, 50 ns for a key's sparse signs (each entry), 4 ns for 64 dense signs of a key, 10 ns for a draw of noise, 15 ns for an element of a
//! universe that a dense vector goes through, 1 ns for a word of the generator or a step of ALP. Reading the records comes on top, the same
//! for all. Memory is of what answers are given from; where
//! weights learn, of as many keys as they may have to learn.

mod counts;
mod effort;
mod inverse;
pub mod mechanisms;
mod query_release;

pub use effort::Effort;
pub use inverse::{Keeping, Kept, Wanted};
pub use query_release::{
    About, AnswerError, Basis, Planned, QueryRelease, Records, Refusal, Release, UnplannedUniverse,
};

use inverse::Whole;
use mechanisms::SparseWeights;
use rayon::prelude::*;
use tamis_noise::{Beta, Budget, Neighbours, Queries};

/// Everything that is public, and that a mechanism is chosen by. Nothing here has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// n: how many records, exactly under substitution, where it is public; else an upper bound.
    pub records: u64,
    /// m: the most keys that a query has.
    pub support: u64,
    /// k: how many queries.
    pub queries: Queries,
    /// β: with which probability bounds may fail.
    pub beta: Beta,
    /// What may be spent.
    pub budget: Budget,
    /// Which data sets must be hard to tell apart.
    pub neighbours: Neighbours,
    /// L: how many records a unit of privacy has at most.
    pub rows_per_unit: u32,
    /// The most records that one key has, if that is public; else `records`. 1: all keys are distinct.
    pub largest_count: u64,
    /// How many records a key has on the average over records, ‖x‖₂²/n.
    pub key_multiplicity: f64,
    /// How many different keys the data has, if that is public; else they are taken to have `key_multiplicity` records each.
    /// No bound depends on it.
    pub distinct_keys: Option<u64>,
    /// How many elements there may be, if all of them can be listed.
    pub universe: Option<u64>,
    /// How the queries come.
    pub asking: Asking,
    /// How many bytes of memory there are: what [answers are given from](Effort::bytes) must find room.
    pub memory: u64,
}

/// How queries come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// All are fixed before any answer is seen, or chosen without looking at answers.
    Beforehand,
    /// Each may depend on the answers before it.
    Adaptively,
}

/// A question that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A size outside its range.
    #[error("the {name} must be {}, got {given}", range(1, *most))]
    Size {
        /// Which.
        name: &'static str,
        /// As given.
        given: u64,
        /// The largest.
        most: u64,
    },
    /// An average beyond the largest.
    #[error("the records of a key on the average must be from 1 to those of the largest key, {largest}, got {given}")]
    KeyMultiplicity {
        /// As given.
        given: String,
        /// Its bound.
        largest: u64,
    },
    /// More or fewer keys than records of which a key has so many.
    #[error(
        "the number of different keys must be {}, since the key of a record has so many on the average, got {given}",
        range(*least, *most)
    )]
    DistinctKeys {
        /// As given.
        given: u64,
        /// As if all were alike.
        least: u64,
        /// As if all but one had one record.
        most: u64,
    },
    /// A list of all keys that there may be which has no room for those that there are.
    #[error(
        "the universe must have at least {least} elements, got {given}: as many as there are different keys, and enough for all records \
         at so many as one key may have"
    )]
    Universe {
        /// As given.
        given: u64,
        /// The smallest.
        least: u64,
    },
}

/// Whole numbers from one to another, which may be the same.
fn range(least: u64, most: u64) -> String {
    if least == most { most.to_string() } else { format!("from {least} to {most}") }
}

impl Question {
    /// Most records: 2⁴⁰.
    pub const MAX_RECORDS: u64 = 1 << 40;
    /// Most keys of a query: 2²⁴, as many as a list may have.
    pub const MAX_SUPPORT: u64 = 1 << 24;
    /// Most queries: 2⁵². Sessions count each twice, where it is below and where it is above, up to as many as [`Queries`] has.
    pub const MAX_QUERIES: u64 = 1 << 52;
    /// Most records of a unit.
    pub const MAX_ROWS_PER_UNIT: u32 = 1_000_000;

    /// The most that an answer can be: all records, or those of m keys of the largest count.
    pub fn largest_answer(&self) -> f64 {
        self.records.min(self.support.saturating_mul(self.largest_count)) as f64
    }

    /// Whether it makes sense: all sizes in their ranges, as many records as a key may have for their average, and keys and a universe with
    /// room for all records.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self) -> Result<(), QuestionError> {
        let size = |name, given, most| {
            if (1..=most).contains(&given) { Ok(()) } else { Err(QuestionError::Size { name, given, most }) }
        };
        size("number of records", self.records, Self::MAX_RECORDS)?;
        size("number of keys of a query", self.support, Self::MAX_SUPPORT)?;
        size("number of queries", self.queries.get(), Self::MAX_QUERIES)?;
        size("number of rows of a unit", self.rows_per_unit.into(), Self::MAX_ROWS_PER_UNIT.into())?;
        size("number of records of the largest key", self.largest_count, self.records)?;
        size("number of elements of the universe", self.universe.unwrap_or(1), u64::MAX)?;
        size("number of bytes of memory", self.memory, u64::MAX)?;
        if !(1.0..=self.largest_count as f64).contains(&self.key_multiplicity) {
            let (given, largest) = (self.key_multiplicity.to_string(), self.largest_count);
            return Err(QuestionError::KeyMultiplicity { given, largest });
        }
        self.check_keys()?;
        self.check_universe()
    }

    /// The most keys are all but one of one record each, and that one of y + 1: y² + y + n = ‖x‖².
    fn check_keys(&self) -> Result<(), QuestionError> {
        let (Some(given), records) = (self.distinct_keys, self.records as f64) else { return Ok(()) };
        let others = 0.5 * ((1.0 + 4.0 * records * (self.key_multiplicity - 1.0)).sqrt() - 1.0);
        // Rounded outward: the average is a guess.
        let least = ((records / self.key_multiplicity).floor() as u64).max(1);
        let most = self.records - others.floor() as u64;
        if (least..=most).contains(&given) { Ok(()) } else { Err(QuestionError::DistinctKeys { given, least, most }) }
    }

    /// All keys that the records have are among those that there may be.
    fn check_universe(&self) -> Result<(), QuestionError> {
        let Some(given) = self.universe else { return Ok(()) };
        let least = self.records.div_ceil(self.largest_count).max(self.distinct_keys.unwrap_or(1));
        if given >= least { Ok(()) } else { Err(QuestionError::Universe { given, least }) }
    }

    /// What a mechanism would do, if the question [makes sense](Self::check) and there is [memory](Self::memory) for it.
    ///
    /// # Errors
    /// If there is not, or the mechanism cannot be had for it.
    pub fn planned(&self, mechanism: &dyn QueryRelease) -> Result<Planned, Refusal> {
        self.check()?;
        let planned = mechanism.plan(self)?;
        self.needs_memory(planned.effort.bytes)?;
        Ok(planned)
    }

    /// The same if memory were no matter.
    #[must_use]
    pub fn in_any_memory(&self) -> Self {
        Self { memory: u64::MAX, ..self.clone() }
    }

    /// How many records a list of m keys of the data has on the average.
    fn typical_answer(&self) -> f64 {
        (self.support as f64 / self.keys()).min(1.0) * self.records as f64
    }

    /// How many keys the data has: as stated, or as if all had `key_multiplicity` records.
    fn keys(&self) -> f64 {
        let alike = (self.records as f64 / self.key_multiplicity).max(1.0);
        self.distinct_keys.map_or(alike, |keys| keys as f64)
    }
}

/// What is to be thought of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It answers the question.
    Applicable,
    /// Its bound reaches the largest answer: it says nothing.
    Vacuous,
    /// It cannot be had.
    NotApplicable,
}

/// What a mechanism would do for a question. Errors are in records.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub mechanism: &'static dyn QueryRelease,
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// The root of the mean square of one answer's error, where it can be predicted, or `within` if that is less; none of what has
    /// [yet to learn](QueryRelease::learns) if its bound says nothing.
    pub typical: Option<f64>,
    /// What all k answers are within but for β; none if it is not applicable.
    pub within: Option<f64>,
    /// What it would spend; none if it is not applicable.
    pub cost: Option<Budget>,
    /// Time and memory; none if it is not applicable.
    pub effort: Option<Effort>,
    /// Why it is vacuous or not applicable, in a sentence.
    pub reason: Option<String>,
    /// What would make it meaningful.
    pub remedy: Option<String>,
}

impl Row {
    fn of(mechanism: &'static dyn QueryRelease, question: &Question) -> Self {
        match question.planned(mechanism) {
            Ok(planned) => Self::had(mechanism, question, planned),
            Err(Refusal { reason, remedy }) => Self {
                mechanism,
                verdict: Verdict::NotApplicable,
                typical: None,
                within: None,
                cost: None,
                effort: None,
                reason: Some(reason),
                remedy: remedy.or_else(|| Some(what_it_takes(mechanism, question))),
            },
        }
    }

    fn had(mechanism: &'static dyn QueryRelease, question: &Question, planned: Planned) -> Self {
        let largest = question.largest_answer();
        let vacuous = !planned.says_something(question);
        let reason = vacuous.then(|| format!("± {:.0} says nothing: no answer is beyond {largest:.0}", planned.within));
        Self {
            mechanism,
            verdict: if vacuous { Verdict::Vacuous } else { Verdict::Applicable },
            typical: Self::typical_of(mechanism, &planned, question),
            within: Some(planned.within),
            cost: Some(planned.cost),
            effort: Some(planned.effort),
            reason,
            remedy: vacuous.then(|| {
                let more = if largest < question.records as f64 { "longer queries" } else { "more records" };
                let most = question.epsilons_tried().1;
                let found = inverse::remedy(mechanism, question);
                found.unwrap_or_else(|| format!("more than any epsilon up to {most} or {more} that were tried"))
            }),
        }
    }

    /// What is predicted, as far as it is to be shown beside the bound.
    fn typical_of(mechanism: &dyn QueryRelease, planned: &Planned, question: &Question) -> Option<f64> {
        let is_guess = mechanism.learns() && !planned.says_something(question);
        planned.typical.filter(|_| !is_guess).map(|typical| typical.min(planned.within))
    }

    /// What it is compared by: see the [module](self#the-best).
    fn figure(&self) -> f64 {
        self.within.unwrap_or(f64::INFINITY)
    }
}

/// What is missing to a mechanism that cannot be had, if it does not say so itself.
fn what_it_takes(mechanism: &'static dyn QueryRelease, question: &Question) -> String {
    let roomy = question.in_any_memory();
    if roomy.is_told_by(mechanism) {
        return "more memory".to_owned();
    }
    if roomy.within(mechanism).is_some() {
        // In the memory that there is, or in more.
        let smaller = inverse::speaking(mechanism, question);
        let larger =
            || inverse::speaking(mechanism, &roomy).map(|found| format!("more memory, and to be useful {found}"));
        return smaller.or_else(larger).unwrap_or_else(|| "more than memory: with any it would be vacuous".to_owned());
    }
    let found = inverse::remedy(mechanism, question).map(|found| format!(": useful with {found}"));
    format!("other sizes or another privacy{}", found.unwrap_or_default())
}

/// Every mechanism beside the others.
#[derive(Clone, Debug)]
pub struct Comparison {
    question: Question,
    /// In the order of the mechanisms.
    rows: Vec<Row>,
}

/// From where on the bound of sparse weights is the least that is proven to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// k, not below what was asked: with fewer queries, of as many keys as there may be, another has a lesser bound.
    pub queries: u64,
    /// m, not below what was asked: with fewer keys in so many queries another has a lesser bound.
    pub support: u64,
}

impl Comparison {
    /// Asks the plan of [every mechanism](mechanisms::ALL).
    ///
    /// # Errors
    /// If the question [makes no sense](Question::check).
    pub fn of(question: &Question) -> Result<Self, QuestionError> {
        Self::of_these(mechanisms::ALL, question)
    }

    /// Asks the plans of these mechanisms, of which no two have the same name.
    ///
    /// # Errors
    /// If the question [makes no sense](Question::check).
    pub fn of_these(mechanisms: &[&'static dyn QueryRelease], question: &Question) -> Result<Self, QuestionError> {
        question.check()?;
        let rows = mechanisms.into_par_iter().map(|&mechanism| Row::of(mechanism, question)).collect();
        Ok(Self { question: question.clone(), rows })
    }

    /// What was asked.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Whether no mechanism is to be had.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.verdict == Verdict::NotApplicable)
    }

    /// Of the mechanism with this [name](About::name), if it was asked.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.mechanism.about().name == name)
    }

    /// All of them, the best first: those that answer the question, then bounds that do not hold for adaptive queries if such are asked, then
    /// what is vacuous, then what is not applicable.
    pub fn ranked(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let class = |row: &Row| match row.verdict {
            Verdict::Applicable if self.holds(row) => 0,
            Verdict::Applicable => 1,
            Verdict::Vacuous => 2,
            Verdict::NotApplicable => 3,
        };
        rows.sort_by(|one, other| class(one).cmp(&class(other)).then(one.figure().total_cmp(&other.figure())));
        rows
    }

    /// Whether what a row says holds for queries that come as they do here.
    pub fn holds(&self, row: &Row) -> bool {
        self.question.asking == Asking::Beforehand || row.mechanism.about().is_adaptive
    }

    /// The best, if any says something.
    pub fn winner(&self) -> Option<&Row> {
        self.answering().next()
    }

    /// The second best.
    pub fn runner_up(&self) -> Option<&Row> {
        self.answering().nth(1)
    }

    /// The best of those that a [command](About::is_command) makes.
    pub fn best_command(&self) -> Option<&Row> {
        self.answering().find(|row| row.mechanism.about().is_command())
    }

    /// The best by a theorem that holds for all k queries, however they are chosen.
    pub fn lasting(&self) -> Option<&Row> {
        let lasting = |row: &&Row| row.verdict == Verdict::Applicable && lasts(row.mechanism);
        self.rows.iter().filter(lasting).min_by(|one, other| one.figure().total_cmp(&other.figure()))
    }

    /// From where on, of at least as many queries and keys as were asked, the bound of [sparse weights](mechanisms::SparseWeights) is the least
    /// that is [proven to the end](Self::lasting), and says something, all else but the memory being as stated: first how many queries there must be,
    /// if they have as many keys as they may, then, of so many queries, how many keys they must have. None if it never is.
    pub fn sparse_weights_from(&self) -> Option<Crossing> {
        let roomy = self.question.in_any_memory();
        let is_least = |question: &Question| {
            let others = mechanisms::ALL.iter().filter(|mechanism| lasts(**mechanism));
            let least = others.filter_map(|&other| question.within(other)).fold(f64::INFINITY, f64::min);
            question.within(&SparseWeights).is_some_and(|bound| bound <= least && bound < question.largest_answer())
        };
        let widest = Question { support: Question::MAX_SUPPORT, ..roomy.clone() };
        let queries = widest.least_queries(roomy.queries.get(), is_least)?;
        let many = Question { queries: Queries::new(queries).ok()?, ..roomy };
        let range = Whole { least: many.support, most: Question::MAX_SUPPORT };
        Some(Crossing { queries, support: many.least_support(range, is_least)? })
    }

    fn answering(&self) -> impl Iterator<Item = &Row> {
        self.ranked().into_iter().filter(move |row| row.verdict == Verdict::Applicable && self.holds(row))
    }
}

/// Whether the bound is a theorem for all queries, however they are chosen.
fn lasts(mechanism: &dyn QueryRelease) -> bool {
    let about = mechanism.about();
    about.is_adaptive && about.basis == Basis::Theorem
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    use tamis_noise::{Delta, Epsilon};

    /// Whatever is asked: 16 questions, from a seed. Of what guarded releases plan, before it is shown, it is not so.
    #[test]
    fn no_typical_error_is_beyond_its_bound() {
        let mut rng = StdRng::seed_from_u64(20);
        let mut power = |most: f64| 10f64.powf(rng.random_range(0.0..most));
        let (mut seen, mut beyond) = (0, 0);
        for turn in 0..16 {
            let records = power(8.0) as u64;
            let largest_count = (power(8.0) as u64).min(records);
            let question = Question {
                records,
                support: power(7.0) as u64,
                queries: Queries::new(power(9.0) as u64).unwrap(),
                beta: Beta::new(0.05).unwrap(),
                budget: Budget::approximate(Epsilon::new(power(4.0) * 1e-2).unwrap(), Delta::new(1e-9).unwrap()),
                neighbours: if turn % 2 == 0 { Neighbours::AddRemove } else { Neighbours::Substitute },
                rows_per_unit: if turn % 5 == 0 { power(3.0) as u32 } else { 1 },
                largest_count,
                key_multiplicity: power(8.0).min(largest_count as f64),
                distinct_keys: None,
                universe: (turn % 3 == 0).then_some(records),
                asking: Asking::Beforehand,
                memory: u64::MAX,
            };
            for &mechanism in mechanisms::ALL {
                let Ok(planned) = question.planned(mechanism) else { continue };
                beyond += u32::from(planned.typical > Some(planned.within));
                let Row { typical: Some(typical), within: Some(within), .. } = Row::had(mechanism, &question, planned)
                else {
                    continue;
                };
                assert!(typical <= within, "{mechanism:?} {question:?}");
                seen += 1;
            }
        }
        assert!(seen > 80 && beyond > 0, "{seen} {beyond}");
    }
}
