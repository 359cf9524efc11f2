//! What the papers claim and what is measured, one module an experiment.
//!
//! | module | shows |
//! | ------ | ----- |
//! | [`audit`] | lower bounds on the privacy loss: no mechanism is accused, everything wrong on purpose is caught |
//! | [`svt_accuracy`] | the accuracy theorems of the sparse vector: how loose, where false, and what else one could use |
//! | [`svt_monitoring`] | the worked examples, false alarms, and a year of real days |
//! | [`composition`] | what composition theorems cost in noise |
//! | [`projection_accuracy`] | errors of projection releases over everything that can be chosen, their intervals, the theorem, and what else one could use |
//! | [`projection_independence`] | how independent signs must be |
//! | [`smw_accuracy`] | sessions: how far off in every mode, how many corrections, who wins on a real workload, an attack |
//! | [`smw_universe`] | that neither time nor error of a session knows the universe, and what does |
//! | [`conjunctions`] | all conjunctions of a class: records they need, time they take, both engines |
//! | [`crossover`] | every mechanism of the planner at work: errors beside what was predicted, and who wins where |
//!
//! An experiment has nothing in it but claim, sweep, trial, columns, checks and plots. What two of them share is in
//! [`run`] (a run of the sparse vector, by our plans or by the book's figures), [`sessions`] (sessions of every kind
//! behind one function), [`points`] (records of booleans), [`means`] (how well a mean is known), [`claims`] (what a row
//! claims) and [`made`] (what the trials of a row share). To add one, write its module and name it below, its one-line
//! binary, and a line in `src/bin/reproduce.rs`.

pub mod audit;
pub mod claims;
pub mod composition;
pub mod conjunctions;
pub mod crossover;
pub mod made;
pub mod means;
pub mod points;
pub mod projection_accuracy;
pub mod projection_independence;
pub mod run;
pub mod sessions;
pub mod smw_accuracy;
pub mod smw_universe;
pub mod svt_accuracy;
pub mod svt_monitoring;

/// The recipes in CONTRIBUTING are compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../CONTRIBUTING.md")]
struct Contributing;
