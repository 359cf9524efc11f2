//! The auditor against every mechanism: nothing right is accused, everything wrong on purpose is caught.
//!
//! Every row is an audit ([`tamis_harness::audit`]) of one mechanism on one pair of inputs, its only trial. All bounds of
//! all rows hold at once but for [`ALPHA`].
//!
//! | module | subjects |
//! | ------ | -------- |
//! | [`sparse_vector`], [`mechanisms`] | right ones |
//! | [`wrong_sparse_vector`], [`wrong_mechanisms`] | wrong ones, each with the pair that gives it away |
//!
//! A new subject is one more element of what one of them returns.

pub mod mechanisms;
pub mod replay;
pub mod sparse_vector;
pub mod wrong_mechanisms;
pub mod wrong_sparse_vector;

use tamis_harness::audit::{Auditor, Claim, Report, SIGHT, Subject};
use tamis_harness::{Cell, Experiment, Finding, Plot, Sample, Size, Table, TrialError, TrialRng};

use crate::made::Made;

/// The probability that any bound of a run of this experiment is wrong.
pub const ALPHA: f64 = 1e-6;
/// The most runs on an input that a wrong mechanism may take until it is caught, selecting and confirming.
pub const MOST_RUNS: u64 = 2_000_000;
/// Runs on an input that confirm what the auditor sees of its control.
const CONTROL_RUNS: u64 = 1_000_000;
/// The name of the experiment: its generators depend on it.
const NAME: &str = "audit";
/// The control is the first row.
const CONTROL: &str = "control";

/// The largest loss on a pair, computed when it is asked for.
type Exact = Box<dyn Fn() -> f64 + Send + Sync>;

/// A subject and what should come of it.
pub struct Audited {
    /// Mechanism, claim, pair.
    pub subject: Subject,
    /// The claim is true.
    pub is_private: bool,
    /// The largest loss there is on this pair, where it is known.
    exact: Option<Exact>,
    /// What a run costs, in nanoseconds, roughly: expensive mechanisms get fewer runs.
    nanoseconds: u64,
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
    pub fn exact(self, loss: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self { exact: Some(Box::new(loss)), ..self }
    }

    /// Runs on each input that confirm.
    fn runs(&self, size: Size) -> u64 {
        // A tenth as many select.
        let most = MOST_RUNS / 11 * 10;
        if !self.is_private {
            return most;
        }
        let nanoseconds: u64 = size.pick(300_000_000, 10_000_000_000);
        (nanoseconds / self.nanoseconds.max(1)).clamp(5_000, size.pick(200_000, most))
    }
}

/// A row: one audit.
pub struct Case {
    role: &'static str,
    audited: Audited,
    auditor: Auditor,
    report: Made<Report>,
}

impl Case {
    /// The audit, made with this generator if it is not yet.
    fn report(&self, rng: &mut TrialRng) -> Result<&Report, TrialError> {
        self.report.get(|| Ok(self.auditor.audit(&self.audited.subject, rng)))
    }

    /// What the audit found, by its column; missing before its trial.
    fn found(&self, column: usize) -> Cell {
        let report = self.report.get(|| Err("the trial has failed".into()));
        report.map_or(Cell::Missing, |report| replay::found(report)[column].clone())
    }

    /// Something of the audit, after its trial.
    fn of_report<T>(&self, read: impl Fn(&Report) -> Option<T>) -> Option<T> {
        self.report.get(|| Err("the trial has failed".into())).ok().and_then(read)
    }

    fn exact(&self) -> Option<f64> {
        self.audited.exact.as_ref().map(|exact| exact())
    }
}

impl tamis_harness::Case for Case {
    fn parameters(&self) -> Vec<(&'static str, Cell)> {
        let subject = &self.audited.subject;
        let Claim { epsilon, delta } = subject.claim();
        vec![
            ("it is", self.role.into()),
            ("mechanism", subject.name().into()),
            ("pair", subject.pair().into()),
            ("ε", epsilon.into()),
            ("δ", delta.into()),
        ]
    }
}

/// Every row of a size: the control, what is right, what is wrong.
fn sweep(size: Size) -> Vec<Case> {
    let mut all = vec![sparse_vector::control()];
    all.extend(sparse_vector::subjects());
    all.extend(mechanisms::subjects());
    all.extend(wrong_sparse_vector::subjects());
    all.extend(wrong_mechanisms::subjects());
    let alpha = ALPHA / all.len() as f64;
    let case = |(index, audited): (usize, Audited)| {
        let (role, runs) = match (index, audited.is_private) {
            (0, _) => (CONTROL, CONTROL_RUNS),
            (_, true) => ("right", audited.runs(size)),
            (_, false) => ("wrong", audited.runs(size)),
        };
        Case { role, auditor: Auditor::new(alpha, runs), audited, report: Made::default() }
    };
    all.into_iter().enumerate().map(case).collect()
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    let experiment = Experiment::new(
        NAME,
        "From runs alone, a lower bound on the privacy loss (loss ≥, all at once but for 10⁻⁶): it exceeds no claim of a right \
         mechanism, and that of every wrong one after at most 2·10⁶ runs on an input. Passing is not a proof: events with \
         probability below about 20/n are invisible.",
    )
    .sweep(sweep)
    .trials(|_, _| 1)
    .cost(|case| case.audited.runs(Size::Quick) * case.audited.nanoseconds / 1_000)
    .trial(["bound"], |case, rng| Ok([case.report(rng)?.bound()]))
    .column("exact", |case, _| case.exact())
    .column("caught", |case, _| case.of_report(|report| Some(if report.is_caught() { "yes" } else { "no" })));
    let found = replay::FOUND.into_iter().enumerate();
    found
        .fold(experiment, |experiment, (place, name)| experiment.column(name, move |case, _| case.found(place)))
        .check("as it should be", as_it_should_be)
        .check("bound is true", |case, sample| {
            // Four digits of a bound are compared with arithmetic that is exact to nine.
            Some(Finding::at_most(bound(case, sample), case.exact()? * (1.0 + 1e-8)))
        })
        .check_all("the auditor is not blind", sight)
        .highlight(|case| case.role != "right")
        .file("counterexamples.json", replay::counterexamples)
        .plot(
            Plot::new("bounds", "exact", "loss: lower bound, and exact")
                .line("exact")
                .points("loss ≥")
                .split_by("it is"),
        )
}

fn bound(_: &Case, sample: &Sample) -> f64 {
    sample.mean("bound")
}

fn as_it_should_be(case: &Case, sample: &Sample) -> Finding {
    let (bound, claim) = (bound(case, sample), case.audited.subject.claim());
    if case.audited.is_private {
        return Finding::at_most(bound, claim.epsilon);
    }
    let runs = case.of_report(|report| Some(report.runs + report.selecting)).unwrap_or(u64::MAX);
    let because =
        format!("loss at least {bound:.4} against a claim of {}, after {runs} runs on an input", claim.epsilon);
    Finding::require(bound > claim.epsilon && runs <= MOST_RUNS, because)
}

/// What passes an auditor that does not see its control has not been audited.
fn sight(table: &Table) -> Finding {
    let control = table.only("it is", CONTROL);
    let (bound, epsilon) = (control.number("loss ≥"), control.number("ε"));
    let sees = bound >= SIGHT * epsilon;
    let word = if sees { "sees" } else { "is blind: it sees" };
    Finding::require(sees, format!("it {word} {bound} of the control's {}", control.number("exact")))
}
