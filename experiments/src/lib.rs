//! What the papers claim and what is measured, one module an experiment.
//!
//! | module | shows |
//! | ------ | ----- |
//! | [`svt_accuracy`] | the accuracy theorems of the sparse vector: how loose, where false, and what else one could use |
//! | [`svt_monitoring`] | the worked examples, false alarms, and a year of real days |
//! | [`composition`] | what composition theorems cost in noise |
//! | [`projection_accuracy`] | errors of projection releases over everything that can be chosen, their intervals, the theorem, and what else one could use |
//! | [`projection_independence`] | how independent signs must be |
//!
//! An experiment has nothing in it but claim, sweep, trial, columns, checks and plots; [`run`] and [`means`] hold what
//! two of them share: a run of the sparse vector, by our plans or by the book's figures; how well a mean is known. To add one, write its module and
//! name it below, its one-line binary, and a line in `src/bin/reproduce.rs`.

pub mod composition;
pub mod means;
pub mod projection_accuracy;
pub mod projection_independence;
pub mod run;
pub mod svt_accuracy;
pub mod svt_monitoring;
