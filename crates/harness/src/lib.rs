//! The experiment harness: an experiment states its claim, its sweep, one trial, its columns and its checks;
//! the harness does the rest.
//!
//! ```
//! use rand::RngExt;
//! use tamis_harness::{Case, Cell, Experiment, Finding, Options, Plot, Runnable, Verdict};
//!
//! struct Tosses { tosses: u32, beta: f64 }
//!
//! impl Case for Tosses {
//!     fn parameters(&self) -> Vec<(&'static str, Cell)> {
//!         vec![("tosses", self.tosses.into()), ("beta", self.beta.into())]
//!     }
//! }
//!
//! /// Hoeffding 1963, Theorem 2: but for probability beta, heads exceed half the tosses by at most this many.
//! fn bound(case: &Tosses) -> f64 {
//!     (f64::from(case.tosses) * (1.0 / case.beta).ln() / 2.0).sqrt()
//! }
//!
//! fn experiment() -> Experiment<Tosses> {
//!     Experiment::new("coin", "Heads exceed n/2 by at most √(n ln(1/β)/2), but for β [Hoeffding 1963, Thm 2].")
//!         .sweep(|size| {
//!             let tosses = size.pick(vec![10, 100], vec![10, 100, 1_000, 10_000]);
//!             tosses.into_iter().map(|tosses| Tosses { tosses, beta: 0.05 }).collect()
//!         })
//!         .trials(|_, size| size.pick(1_000, 100_000))
//!         .cost(|case| u64::from(case.tosses))
//!         .trial(["excess"], |case, rng| {
//!             let heads = (0..case.tosses).filter(|_| rng.random::<bool>()).count();
//!             Ok([heads as f64 - f64::from(case.tosses) / 2.0])
//!         })
//!         .column("bound", |case, _| bound(case))
//!         .column("measured", |case, sample| sample.quantile("excess", 1.0 - case.beta))
//!         .column("ratio", |case, sample| bound(case) / sample.quantile("excess", 1.0 - case.beta))
//!         .check("below the bound", |case, sample| {
//!             Finding::rarely_above(sample.values("excess"), bound(case), case.beta)
//!         })
//!         .plot(Plot::new("plot", "Excess of heads: bound and measured", "tosses", "excess (heads)").x_label("n (tosses)").log_x().log_y().line("bound").points("measured"))
//! }
//!
//! // The binary is `fn main() -> ExitCode { experiment().main() }`. Here, the same without a command line:
//! let folder = tempfile::tempdir()?;
//! let outcome = experiment().run(&Options { out: folder.path().into(), quiet: true, ..Options::default() })?;
//! assert_eq!(outcome.verdict(), Verdict::Holds);
//! let table = std::fs::read_to_string(folder.path().join("coin/table.md"))?;
//! assert!(table.contains("| tosses | beta | bound | measured | ratio | verdict |"));
//! assert!(folder.path().join("coin/plot.svg").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where an experiment lives
//!
//! In `experiments/src/<name>.rs`, a module of `experiments/src/lib.rs`, as `pub fn experiment() -> Experiment<…>` over a
//! `pub struct` of a case, with nothing but claim, sweep, trial, columns, checks and plots. Its binary `experiments/src/bin/<name>.rs` is one line,
//! `experiment().main()`, and `experiments/src/bin/reproduce.rs` lists it in the call of [`reproduce`].
//! Bounds come from the crate that proves them. A quick size takes seconds.
//!
//! # What is written
//!
//! Into `results/<name>/` for the quick size, which is regenerated with every change, `results/brief/<name>/` and
//! `results/full/<name>/` for the others ([`Size`]):
//!
//! | file | holds | same bytes everywhere |
//! | ---- | ----- | --------------------- |
//! | `rows.csv` | one row a case: parameters, seed, first stream, trials, failures, quantiles, columns, checks with reasons, error | yes |
//! | `table.md` | what a reader wants of it, and the verdict | yes |
//! | `<plot>.svg`, further files | a plot; what else an experiment makes of its rows | yes |
//! | `manifest.json`, `timings.csv`, `timings-<plot>.svg` | revision, machine, seconds | no |
//! | `progress.csv` | finished rows, for `--resume` by the same program | no |
//!
//! [`reproduce`] adds `README.md` (the same everywhere), `report.html` and `machine.txt` (of one run on one machine),
//! and refreshes the tables in documents. What is the same everywhere is in the repository and compared by CI; what is
//! not is in the repository for the full size alone, as the record of a run.
//!
//! # Reproducibility
//!
//! A trial's generator is ChaCha12 with the key (seed, name of the experiment) and, as its stream, the number
//! of the trial in the whole sweep. So a row does not depend on threads, order or interruptions, and one
//! trial can be repeated alone. Printed numbers have four digits, see [`Cell`]. All of it is seeded, hence
//! **not private**, and says so.
//!
//! # Reading order
//!
//! [`Experiment`] (what an experiment is), [`Finding`] (what a verdict means), [`Runnable::run`] (what
//! running does), [`reproduce`] (all of them).

pub mod audit;

mod cell;
mod command;
mod experiment;
mod files;
mod finding;
mod outcome;
mod pace;
mod plot;
mod report;
mod reproduce;
mod run;
mod sample;
mod splice;
mod table;

pub use cell::{Cell, significant};
pub use command::{DEFAULT_SEED, Options};
pub use experiment::{Case, Experiment, Size, TrialError, TrialRng};
pub use files::HarnessError;
pub use finding::{FALSE_ALARM, Finding, MISSED, Verdict};
pub use outcome::{Outcome, Picture};
pub use plot::Plot;
pub use reproduce::{reproduce, run_all};
pub use run::{Runnable, trial_generator};
pub use sample::Sample;
pub use splice::splice;
pub use table::{Column, Role, Table};
