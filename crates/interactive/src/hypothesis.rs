//! What every hypothesis can do: answer, learn, and say how often it can be wrong.

use crate::Query;

/// A public guess at the data, corrected where it was found wrong: an iterative database construction (GRU12).
///
/// Answers are shares of the records, from 0 to 1. It draws nothing and sees no data: all that it learns are the steps
/// it is told.
pub trait Hypothesis {
    /// q(D^t): what it takes the answer for.
    ///
    /// # Errors
    /// If the query is wider than it was made for.
    fn evaluate(&self, query: &Query) -> Result<f64, Refused>;

    /// Learns that its answer to `query` was wrong.
    ///
    /// # Errors
    /// If the query is wider than it was made for, the step is no number, or no updates are left; then it is as before.
    fn update(&mut self, query: &Query, step: Step) -> Result<(), Refused>;

    /// How many updates it may still make.
    fn updates_left(&self) -> u32;

    /// B(α): no sequence of queries makes it update more often, if each time its answer was wrong by at least `alpha`,
    /// and the step was the best one: [`Step::Reach`] with a target at least `alpha` away and not beyond the truth.
    fn mistake_bound(&self, alpha: f64) -> f64;
}

/// Which way, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The truth is higher: with this learning rate, a positive number.
    Raise(f64),
    /// The truth is lower: with this learning rate.
    Lower(f64),
    /// Answer exactly this from now on, a share from 0 to 1: the projection onto what is now known.
    Reach(f64),
}

impl Step {
    /// The same step, if it is one.
    pub(crate) fn checked(self) -> Result<Self, Refused> {
        let legal = match self {
            Self::Raise(rate) | Self::Lower(rate) => 0.0 < rate && rate.is_finite(),
            Self::Reach(target) => (0.0..=1.0).contains(&target),
        };
        if legal { Ok(self) } else { Err(Refused::Step(format!("{self:?}"))) }
    }

    /// By how much, upward; `reach` says how far it is to a target.
    pub(crate) fn signed(self, reach: impl FnOnce(f64) -> f64) -> f64 {
        match self {
            Self::Raise(rate) => rate,
            Self::Lower(rate) => -rate,
            Self::Reach(target) => reach(target),
        }
    }
}

/// What a hypothesis does not do. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// m.
    #[error("a query may have at most {most} keys here, got {support}")]
    TooWide {
        /// Of the query, as text: it can be 2^128.
        support: String,
        /// m.
        most: u64,
    },
    /// A conjunction over other records.
    #[error("{}, got a conjunction over {width}", match expected {
        Some(expected) => format!("records have {expected} packed booleans here"),
        None => "records have no packed booleans here".to_owned(),
    })]
    Width {
        /// Of the query.
        width: u32,
        /// Of the records.
        expected: Option<u32>,
    },
    /// c.
    #[error("all {0} updates are made: there are no free slots to learn more with")]
    NoUpdatesLeft(u32),
    /// A step that is none.
    #[error("a learning rate must be positive and finite, a target a share from 0 to 1, got {0}")]
    Step(String),
    /// A size outside its range.
    #[error("{name} must be from 1 to {most}, got {value}")]
    Size {
        /// Of what.
        name: &'static str,
        /// As given.
        value: u64,
        /// The most that would do.
        most: u64,
    },
    /// A stored hypothesis that no run has made.
    #[error("a stored hypothesis is damaged: {0}")]
    Damaged(&'static str),
}

/// Refuses a size of 0 or above `most`.
pub(crate) fn check_size(name: &'static str, value: u64, most: u64) -> Result<(), Refused> {
    if (1..=most).contains(&value) { Ok(()) } else { Err(Refused::Size { name, value, most }) }
}

/// Refuses a query of more than `most` keys.
pub(crate) fn check_support(query: &Query, most: u64) -> Result<(), Refused> {
    if query.support() <= most as f64 {
        return Ok(());
    }
    Err(Refused::TooWide { support: format!("{:.0}", query.support()), most })
}
