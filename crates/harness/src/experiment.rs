//! An experiment: claim, sweep, trial, columns, checks, plots.

use crate::cell::Cell;
use crate::finding::Finding;
use crate::plot::Plot;
use crate::sample::Sample;
use crate::table::Table;

/// The generator a trial is given: cryptographic in kind, because mechanisms ask for that, but seeded. What
/// it produces is repeatable and **not private**.
pub type TrialRng = chacha20::ChaCha12Rng;

/// Whatever went wrong in a trial; `?` turns any error into it.
pub type TrialError = Box<dyn std::error::Error + Send + Sync>;

/// One point of a sweep.
pub trait Case: Send + Sync {
    /// The parameters by name, in the order of the table's columns: the same names for every case of a sweep.
    /// They identify the case.
    fn parameters(&self) -> Vec<(&'static str, Cell)>;
}

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Size {
    /// Of the quick size the highlighted rows, those without trials and those of some plots: a first look
    Brief,
    /// Seconds an experiment: for every change
    Quick,
    /// As long as it takes to be sharp
    Full,
}

impl Size {
    /// One of two values. The brief size is a part of the quick one.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Size::Brief | Size::Quick => quick,
            Size::Full => full,
        }
    }

    /// The size whose sweep its rows are from: an experiment is asked for the quick size or the full one, and never
    /// knows of the brief one.
    pub(crate) fn sweep(self) -> Self {
        self.pick(Size::Quick, Size::Full)
    }

    /// The end of a command that runs this size.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Size::Brief => " -- --size brief",
            Size::Quick => "",
            Size::Full => " -- --size full",
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Size::Brief => "brief",
            Size::Quick => "quick",
            Size::Full => "full",
        })
    }
}

type Trials<C> = Box<dyn Fn(&C, Size) -> u64 + Send + Sync>;
type Trial<C> = Box<dyn Fn(&C, &mut TrialRng) -> Result<Vec<f64>, TrialError> + Send + Sync>;

/// The definition of an experiment. The crate's front page shows a whole one.
///
/// Columns, checks and plots are functions of a case and what its trials measured, in the order in which they
/// are added. A bound comes from its own function, called in a column and in a check, and is never restated.
pub struct Experiment<C> {
    pub(crate) name: &'static str,
    pub(crate) claim: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) sweep: Box<dyn Fn(Size) -> Vec<C> + Send + Sync>,
    pub(crate) trials: Trials<C>,
    pub(crate) cost: Box<dyn Fn(&C) -> u64 + Send + Sync>,
    pub(crate) measurements: Vec<&'static str>,
    pub(crate) trial: Trial<C>,
    pub(crate) columns: Vec<(&'static str, OfCase<C, Cell>)>,
    pub(crate) checks: Vec<(&'static str, OfCase<C, Option<Finding>>)>,
    pub(crate) overall_checks: Vec<(&'static str, OfRows)>,
    pub(crate) timings: Vec<&'static str>,
    pub(crate) split: Option<&'static str>,
    pub(crate) highlight: Box<dyn Fn(&C) -> bool + Send + Sync>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) files: Vec<(&'static str, TextOfRows)>,
}

/// A column or a check: a function of a case and what its trials measured.
pub(crate) type OfCase<C, T> = Box<dyn Fn(&C, &Sample) -> T + Send + Sync>;
/// A check across cases: a function of all rows.
pub(crate) type OfRows = Box<dyn Fn(&Table) -> Finding + Send + Sync>;
/// A file: its content, of the size that was run and all rows.
pub(crate) type TextOfRows = Box<dyn Fn(Size, &Table) -> String + Send + Sync>;

impl<C: Case> Experiment<C> {
    /// An experiment that shows `claim`, a sentence or two with the citation. `name` names its folder, its
    /// binary and its generator.
    ///
    /// # Panics
    /// If `name` is not 1 to 24 characters of a-z, 0-9 and `_`: it is the rest of the generator's 32-byte
    /// key, beside the 8 bytes of the seed, so that no two experiments share a stream.
    pub fn new(name: &'static str, claim: &'static str) -> Self {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(
            (1..=24).contains(&name.len()) && name.bytes().all(allowed),
            "an experiment's name is 1 to 24 of a-z, 0-9 and _, got {name:?}"
        );
        Self {
            name,
            claim,
            subject: claim,
            sweep: Box::new(|_| Vec::new()),
            trials: Box::new(|_, _| 0),
            cost: Box::new(|_| 1),
            measurements: Vec::new(),
            trial: Box::new(|_, _| Ok(Vec::new())),
            columns: Vec::new(),
            checks: Vec::new(),
            overall_checks: Vec::new(),
            timings: Vec::new(),
            split: None,
            highlight: Box::new(|_| true),
            plots: Vec::new(),
            files: Vec::new(),
        }
    }

    /// What it looks at, in a few words, for the list of all experiments; the claim if not given.
    #[must_use]
    pub fn subject(mut self, subject: &'static str) -> Self {
        self.subject = subject;
        self
    }

    /// The cases, in the order of the rows.
    #[must_use]
    pub fn sweep(mut self, sweep: impl Fn(Size) -> Vec<C> + Send + Sync + 'static) -> Self {
        self.sweep = Box::new(sweep);
        self
    }

    /// How many trials a case gets. Without this an experiment has none: its columns and checks are computed
    /// from the cases alone.
    #[must_use]
    pub fn trials(mut self, trials: impl Fn(&C, Size) -> u64 + Send + Sync + 'static) -> Self {
        self.trials = Box::new(trials);
        self
    }

    /// What one trial of a case costs beside others, in any unit: makes the time left honest where cases
    /// differ much. One unit if not given.
    #[must_use]
    pub fn cost(mut self, cost: impl Fn(&C) -> u64 + Send + Sync + 'static) -> Self {
        self.cost = Box::new(cost);
        self
    }

    /// One trial, and the names of what it measures (`f64::from` turns a bool into 0 or 1). A trial that
    /// returns an error or a NaN, or panics, has failed: its row says so, and its verdict is *fails*.
    #[must_use]
    pub fn trial<const N: usize>(
        mut self,
        measurements: [&'static str; N],
        trial: impl Fn(&C, &mut TrialRng) -> Result<[f64; N], TrialError> + Send + Sync + 'static,
    ) -> Self {
        self.measurements = measurements.to_vec();
        self.trial = Box::new(move |case, rng| Ok(trial(case, rng)?.to_vec()));
        self
    }

    /// A column of the table.
    #[must_use]
    pub fn column<V: Into<Cell>>(
        mut self,
        name: &'static str,
        value: impl Fn(&C, &Sample) -> V + Send + Sync + 'static,
    ) -> Self {
        self.columns.push((name, Box::new(move |case, sample| value(case, sample).into())));
        self
    }

    /// A check of one case: a [`Finding`], or an `Option` of one where the claim does not speak of every case.
    #[must_use]
    pub fn check<F: Into<Option<Finding>>>(
        mut self,
        name: &'static str,
        check: impl Fn(&C, &Sample) -> F + Send + Sync + 'static,
    ) -> Self {
        self.checks.push((name, Box::new(move |case, sample| check(case, sample).into())));
        self
    }

    /// A check across cases, such as a slope, from the rows as printed (four digits). Columns are found by
    /// their names; a measurement `x` has the columns `x mean`, `x q50`, `x q90`, `x q95`, `x q99`, `x least`
    /// and `x most`.
    #[must_use]
    pub fn check_all(mut self, name: &'static str, check: impl Fn(&Table) -> Finding + Send + Sync + 'static) -> Self {
        self.overall_checks.push((name, Box::new(check)));
        self
    }

    /// Says which measurements, columns and checks come from reading a clock. They differ from run to run, so
    /// they go to `timings.csv`, and plots that use them to `timings-….svg`, which are not
    /// compared. (Verdicts are: give a check on time wide margins. Run with `--threads 1`.)
    #[must_use]
    pub fn timings<const N: usize>(mut self, names: [&'static str; N]) -> Self {
        self.timings.extend(names);
        self
    }

    /// The cases worth showing where space is short: on the terminal, in the README, and first in the report. All of
    /// them if not given. The brief size has only these, those that have no trials, and those of the plots that are
    /// [`in_brief`](Plot::in_brief).
    #[must_use]
    pub fn highlight(mut self, highlight: impl Fn(&C) -> bool + Send + Sync + 'static) -> Self {
        self.highlight = Box::new(highlight);
        self
    }

    /// Prints a table for each value of this column, without the columns that are empty in it: for parts that have little
    /// in common. `rows.csv` has all in one.
    #[must_use]
    pub fn table_for_each(mut self, column: &'static str) -> Self {
        self.split = Some(column);
        self
    }

    /// A plot of columns.
    #[must_use]
    pub fn plot(mut self, plot: Plot) -> Self {
        self.plots.push(plot);
        self
    }

    /// A further file in the folder of the results, made of the rows: the same bytes everywhere.
    #[must_use]
    pub fn file(
        mut self,
        name: &'static str,
        content: impl Fn(Size, &Table) -> String + Send + Sync + 'static,
    ) -> Self {
        self.files.push((name, Box::new(content)));
        self
    }
}
