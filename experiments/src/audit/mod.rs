//! The auditor against every mechanism: nothing right is accused, everything wrong on purpose is caught.
//!
//! Every row is an audit ([`tamis_harness::audit`]) of one mechanism on one pair of inputs, its only trial. All bounds of
//! all rows hold at once but for [`ALPHA`].
//!
//! | module | subjects |
//! | ------ | -------- |
//! | [`sparse_vector`], [`mechanisms`] | right ones |
//! | [`wrong_sparse_vector`], [`wrong_mechanisms`] | wrong ones, each with the pair that gives it away |
//! | [`published`] | what other auditors found, found again |
//!
//! A new subject is one more element of what one of them returns.
//!
//! Whether a right one was tried at all, its *twin* tells: the same mechanism, planned for [`TWIN`] times the ε that it claims, on a
//! pair that is made in the same way for its own ε (where inputs are sought at a threshold, at its own). What sees nothing wrong
//! with the twin is **blind**, and that the right one passes says nothing. Those have one that come from the planner or are sessions, and
//! those of which nothing is seen though something might be; of the others the column "loss ≥" says what was seen.

mod laws;
pub mod mechanisms;
pub mod published;
pub mod replay;
pub mod sparse_vector;
pub mod wrong_mechanisms;
pub mod wrong_sparse_vector;

use std::sync::LazyLock;

use tamis_harness::audit::{Auditor, Claim, Confirmed, Report, SIGHT, Subject};
use tamis_harness::{Cell, Experiment, Finding, Plot, Sample, Size, Table, TrialError, TrialRng, significant};

use crate::made::Made;

/// The probability that any bound of a run of this experiment is wrong.
pub const ALPHA: f64 = 1e-6;
/// The most runs on an input that a wrong mechanism may take until it is caught, selecting and confirming.
pub const MOST_RUNS: u64 = 2_000_000;
/// A twin is planned for so many times the ε that it claims.
pub const TWIN: f64 = 4.0;
/// Runs on an input that confirm what the auditor sees of its control.
const CONTROL_RUNS: u64 = 1_000_000;
/// Losses by arithmetic are exact to nine digits.
const ARITHMETIC: f64 = 1e-8;
/// The name of the experiment: its generators depend on it.
const NAME: &str = "audit";
/// The control is the first row.
const CONTROL: &str = "control";

/// The column of what was seen of twins, …
const TWIN_BOUND: &str = "twin's loss ≥";
/// … and of whether they were caught, …
const TWIN_SEEN: &str = "twin at 4ε";
/// … which they were not.
const BLIND: &str = "blind";

/// The mistakes worth showing where space is short.
const SHOWN: [&str; 6] = [
    "ν without the factor 2, m=4",
    "Lee–Clifton, c=1",
    "Chen and others, ⊥²⊤²",
    "never stops",
    "no query noise",
    "compared value released",
];

/// A loss, computed when it is asked for.
type Loss = LazyLock<f64, Box<dyn FnOnce() -> f64 + Send>>;

/// What is known of the loss on a pair by arithmetic.
enum Known {
    Nothing,
    /// The largest of all events.
    Largest(Loss),
    /// That of one event.
    AtLeast(Loss),
}

impl Known {
    /// The loss, if it is the largest or one.
    fn loss(&self) -> Option<f64> {
        match self {
            Known::Nothing => None,
            Known::Largest(loss) | Known::AtLeast(loss) => Some(**loss),
        }
    }

    /// As the table shows it.
    fn cell(&self) -> Cell {
        match self {
            Known::AtLeast(loss) => format!("≥ {}", significant(**loss)).into(),
            _ => self.loss().into(),
        }
    }
}

/// What another auditor found: an estimate of a loss, and the lower bound at 90 % that came with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Of the loss.
    pub estimate: f64,
    /// At 90 %.
    pub lower: f64,
}

/// What should come of an audit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// The claim is true.
    Right,
    /// The claim is false, and that shows.
    Wrong,
    /// The loss of [`published::EVENT`] is what arithmetic says, and what was published.
    AsPublished(Published),
}

/// A subject and what should come of it.
pub struct Audited {
    subject: Subject,
    /// The same with noise for [`TWIN`] times the ε.
    twin: Option<Subject>,
    expected: Expected,
    known: Known,
    /// What a run costs, in nanoseconds, roughly: expensive mechanisms get fewer runs.
    nanoseconds: u64,
    /// So many times the runs that its cost allows.
    effort: u64,
}

impl Audited {
    /// A mechanism whose claim is true.
    pub fn right(subject: Subject, nanoseconds: u64) -> Self {
        Self { subject, twin: None, expected: Expected::Right, known: Known::Nothing, nanoseconds, effort: 1 }
    }

    /// A mechanism whose claim is true, planned for the ε that it is given, which is 1; and its twin.
    pub fn with_twin(subject: impl Fn(f64) -> Subject, nanoseconds: u64) -> Self {
        Self::beside_twin(subject(1.0), subject(TWIN), nanoseconds)
    }

    /// A mechanism whose claim is true, and the same planned for [`TWIN`] times its ε.
    ///
    /// # Panics
    /// If the twin has another δ: it would be another mechanism.
    pub fn beside_twin(right: Subject, twin: Subject, nanoseconds: u64) -> Self {
        let claim = right.claim();
        assert_eq!(twin.claim().delta, claim.delta, "δ of the twin of {}, {}", right.name(), right.pair());
        Self { twin: Some(twin.claiming(claim)), ..Self::right(right, nanoseconds) }
    }

    /// The same with so many times the runs, at most those of what is wrong: for losses that few runs show.
    #[must_use]
    pub fn thoroughly(self, effort: u64) -> Self {
        Self { effort, ..self }
    }

    /// One that is wrong on purpose.
    pub fn wrong(subject: Subject, nanoseconds: u64) -> Self {
        Self { expected: Expected::Wrong, ..Self::right(subject, nanoseconds) }
    }

    /// A published detection, and the true loss of its event.
    pub fn published(subject: Subject, published: Published, loss: impl FnOnce() -> f64 + Send + 'static) -> Self {
        Self { expected: Expected::AsPublished(published), ..Self::right(subject, 0) }.exact(loss)
    }

    /// The same, with the largest loss on this pair: no bound may exceed it.
    #[must_use]
    pub fn exact(self, loss: impl FnOnce() -> f64 + Send + 'static) -> Self {
        Self { known: Known::Largest(Loss::new(Box::new(loss))), ..self }
    }

    /// The same, with the loss of one event on this pair: there may be larger ones.
    #[must_use]
    pub fn at_least(self, loss: impl FnOnce() -> f64 + Send + 'static) -> Self {
        Self { known: Known::AtLeast(Loss::new(Box::new(loss))), ..self }
    }

    /// Runs on each input that confirm.
    fn runs(&self, size: Size) -> u64 {
        // A tenth as many select, and the number is a Poisson variable.
        let most = MOST_RUNS / 12 * 10;
        match self.expected {
            Expected::Right => {
                let nanoseconds: u64 = size.pick(300_000_000, 10_000_000_000);
                (self.effort * nanoseconds / self.nanoseconds.max(1)).clamp(5_000, size.pick(200_000, most))
            }
            Expected::Wrong => most,
            Expected::AsPublished(_) => size.pick(500_000, 20_000_000),
        }
    }

    fn role(&self) -> &'static str {
        match self.expected {
            Expected::Right => "right",
            Expected::Wrong => "wrong",
            Expected::AsPublished(_) => "published",
        }
    }
}

/// A row: one audit.
pub struct Case {
    role: &'static str,
    audited: Audited,
    auditor: Auditor,
    report: Made<Report>,
    of_twin: Made<Report>,
}

impl Case {
    /// The audit, made with this generator if it is not yet.
    fn report(&self, rng: &mut TrialRng) -> Result<&Report, TrialError> {
        let Self { audited: Audited { subject, expected, .. }, auditor, report, .. } = self;
        report.get(|| {
            Ok(match expected {
                Expected::AsPublished(_) => auditor.measure(subject, rng),
                _ => auditor.audit(subject, rng),
            })
        })
    }

    /// The audit of the twin, if there is one, after its own.
    fn twin_report(&self, rng: &mut TrialRng) -> Result<Option<&Report>, TrialError> {
        let Self { audited: Audited { twin, .. }, auditor, of_twin, .. } = self;
        twin.as_ref().map(|twin| of_twin.get(|| Ok(auditor.audit(twin, rng)))).transpose()
    }

    /// How much of the twin was seen; missing where there is none.
    fn of_twin<T>(&self, read: impl Fn(&Report) -> T) -> Option<T> {
        self.audited.twin.as_ref()?;
        self.of_twin.get(|| Err("the trial has failed".into())).ok().map(read)
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

    /// The estimate of a published event's loss beside what was published.
    fn beside_published(&self) -> Option<String> {
        let Expected::AsPublished(Published { estimate, lower }) = self.audited.expected else { return None };
        let ours = self.of_report(|report| report.best().map(Confirmed::estimate))?;
        Some(format!("{} / {estimate} (≥ {lower})", significant(ours)))
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
    all.extend(published::subjects());
    cases(all, size)
}

/// The rows of these subjects, the first being the control.
fn cases(all: Vec<Audited>, size: Size) -> Vec<Case> {
    // Every audit but the control's.
    let others = all.len() - 1 + all.iter().filter(|audited| audited.twin.is_some()).count();
    let case = |(index, audited): (usize, Audited)| {
        // Half of what may go wrong is the control's: whether the auditor sees must not hang on how many are audited.
        let (role, runs, share) = match index {
            0 => (CONTROL, CONTROL_RUNS, 0.5),
            _ => (audited.role(), audited.runs(size), 0.5 / others as f64),
        };
        Case {
            role,
            auditor: Auditor::new(ALPHA * share, runs),
            audited,
            report: Made::default(),
            of_twin: Made::default(),
        }
    };
    all.into_iter().enumerate().map(case).collect()
}

/// The experiment.
pub fn experiment() -> Experiment<Case> {
    experiment_on(sweep)
}

/// The experiment on other rows.
fn experiment_on(sweep: fn(Size) -> Vec<Case>) -> Experiment<Case> {
    let experiment = Experiment::new(
        NAME,
        "From runs alone, a lower bound on the privacy loss (loss ≥, all at once but for 10⁻⁶): it exceeds no claim of a right \
         mechanism, and that of every wrong one after at most 2·10⁶ runs on an input. Passing is not a proof: what is not in \
         some 70 of n runs is invisible, and where a right one has a twin, with noise for 4ε, that is not caught either, the row \
         is blind. Published: what another auditor found is found again, caught or not. Event: what is likelier on one of the two \
         inputs; exact: the loss by arithmetic; α: the share of the 10⁻⁶ that a row has.",
    )
    .subject("lower bounds on the privacy loss of every mechanism, right or wrong on purpose")
    .sweep(sweep)
    .trials(|_, _| 1)
    .cost(|case| case.audited.runs(Size::Quick) * case.audited.nanoseconds / 1_000)
    .trial(["bound"], |case, rng| {
        let bound = case.report(rng)?.bound();
        case.twin_report(rng)?;
        Ok([bound])
    })
    .column(replay::FOUND[0], |case, _| case.found(0))
    .column("exact", |case, _| case.audited.known.cell())
    .column("caught", |case, _| case.of_report(|report| Some(if report.is_caught() { "yes" } else { "no" })));
    let found = replay::FOUND.into_iter().enumerate().skip(1);
    found
        .fold(experiment, |experiment, (place, name)| experiment.column(name, move |case, _| case.found(place)))
        .column(TWIN_BOUND, |case, _| case.of_twin(Report::bound))
        .column(TWIN_SEEN, |case, _| case.of_twin(|report| if report.is_caught() { "caught" } else { BLIND }))
        .column("estimate here / published", |case, _| case.beside_published())
        .check("as it should be", as_it_should_be)
        .check("bound is true", bound_is_true)
        .check_all("the auditor is not blind", sight)
        .check_all("every wrong one is caught and no right one accused", tally)
        .highlight(|case| case.role == CONTROL || SHOWN.contains(&case.audited.subject.name()))
        .file("counterexamples.json", replay::counterexamples)
        .plot(
            Plot::new(
                "bounds",
                "Privacy loss: what is claimed (ε), and what runs alone prove, against arithmetic",
                "exact",
                "loss: exact, claimed, and at least",
            )
            .x_label("exact loss, where it is known (above ε: wrong)")
            // Not split by what a row is: the line would be drawn for each, and what is right and wrong shows by ε.
            .line("exact")
            .points("loss ≥")
            .points("ε"),
        )
}

fn bound(_: &Case, sample: &Sample) -> f64 {
    sample.mean("bound")
}

fn as_it_should_be(case: &Case, sample: &Sample) -> Finding {
    let (bound, claim) = (bound(case, sample), case.audited.subject.claim());
    match case.audited.expected {
        Expected::Right if case.role == CONTROL && bound < SIGHT * claim.epsilon => {
            Finding::require(false, format!("the auditor is blind: it sees {} of its control", significant(bound)))
        }
        Expected::Right if case.audited.known.loss().is_some_and(|exact| exact > claim.epsilon + ARITHMETIC) => {
            Finding::require(false, "by arithmetic its loss is above the claim")
        }
        Expected::Right => Finding::at_most(bound, claim.epsilon),
        Expected::Wrong if case.audited.known.loss().is_some_and(|exact| exact <= claim.epsilon) => {
            Finding::require(false, "by arithmetic its loss is not above the claim")
        }
        Expected::Wrong => {
            let runs = case.of_report(|report| Some(report.runs + report.selecting)).unwrap_or(u64::MAX);
            let because = format!(
                "loss at least {} against a claim of {}, after {runs} runs on an input",
                significant(bound),
                claim.epsilon
            );
            Finding::require(bound > claim.epsilon && runs <= MOST_RUNS, because)
        }
        Expected::AsPublished(published) => {
            let most = case.of_report(|report| report.best().map(|best| best.most)).unwrap_or(f64::NAN);
            let is_inside = |loss: f64| bound <= loss && loss <= most;
            let exact = case.audited.known.loss().unwrap_or(f64::NAN);
            let because = format!(
                "published {} and at least {}, by arithmetic {}, here between {} and {}",
                published.estimate,
                published.lower,
                significant(exact),
                significant(bound),
                significant(most)
            );
            Finding::require(is_inside(exact) && is_inside(published.estimate) && published.lower <= exact, because)
        }
    }
}

/// No lower bound exceeds the largest loss.
fn bound_is_true(case: &Case, sample: &Sample) -> Option<Finding> {
    let Known::Largest(largest) = &case.audited.known else { return None };
    Some(Finding::at_most(bound(case, sample), **largest + ARITHMETIC))
}

/// What passes an auditor that does not see its control has not been audited.
fn sight(table: &Table) -> Finding {
    let control = table.only("it is", CONTROL);
    let (bound, epsilon) = (control.number("loss ≥"), control.number("ε"));
    let sees = bound >= SIGHT * epsilon;
    let word = if sees { "sees" } else { "is blind: it sees" };
    // What 10⁶ runs show at the control's share of alpha.
    let least = Auditor::new(ALPHA / 2.0, CONTROL_RUNS).least_visible(Claim::pure(1.0));
    let exact = control.number("exact");
    let limit =
        format!("what one input never does and the other with probability below {} it cannot see", significant(least));
    Finding::require(sees, format!("it {word} {bound} of the control's {exact}; {limit}"))
}

/// The table in one sentence.
fn tally(table: &Table) -> Finding {
    let of = |role: &str| {
        let rows = table.only("it is", role);
        (rows.only("caught", "yes").rows.len(), rows.rows.len())
    };
    let ((caught, wrong), (accused, right)) = (of("wrong"), of("right"));
    // How hard the right ones were tried.
    let seen = table.only("it is", "right").points("ε", "loss ≥");
    let (nothing, little) = seen.into_iter().fold((0, 0), |(nothing, little), (epsilon, bound)| {
        (nothing + usize::from(bound == 0.0), little + usize::from(bound < 0.5 * epsilon))
    });
    let [twins, blind] = ["caught", BLIND].map(|seen| table.only(TWIN_SEEN, seen).rows.len());
    let because = format!(
        "{caught} of {wrong} wrong ones caught, {accused} of {right} right ones accused; less than half of the claim was seen of \
         {little} right ones, nothing of {nothing}; {twins} of {} twins at 4ε caught: {blind} rows are blind",
        twins + blind
    );
    Finding::require(caught == wrong && accused == 0, because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_harness::{Options, Runnable, Verdict};

    /// A bit told truly with probability ¾, so that the loss is ln 3 = 1.0986.
    fn response(claim: f64) -> Subject {
        let name = format!("bit that claims {claim}");
        Subject::new(name, "0 → 1", Claim::pure(claim), [false, true], |bit: &bool, rng, seen| {
            let told = if rand::RngExt::random_bool(rng, 0.75) { *bit } else { !*bit };
            seen.mark(if told { "1" } else { "0" });
        })
    }

    /// A bit told truly with this probability, so that the loss is the logarithm of the odds, which claims ln 3.
    fn told(truly: f64) -> Subject {
        let name = format!("bit told with probability {truly}");
        Subject::new(name, "0 → 1", Claim::pure(1.0987), [false, true], move |bit: &bool, rng, seen| {
            seen.mark(if rand::RngExt::random_bool(rng, truly) == *bit { "1" } else { "0" });
        })
    }

    /// A twin that is caught, and one that is as right as the other, so that nothing shows.
    #[test]
    fn what_does_not_see_a_twin_is_blind() {
        let twins = |size: Size| {
            let (costly, loud, quiet) = (300_000_000 / 20_000, 0.95, 0.75);
            let subject = |truly| move |epsilon: f64| told(if epsilon == 1.0 { 0.75 } else { truly });
            let all = vec![
                Audited::right(response(1.0987), costly),
                Audited::with_twin(subject(loud), costly),
                Audited::with_twin(|epsilon| told(if epsilon == 1.0 { 0.6 } else { quiet }), costly),
            ];
            let mut cases = cases(all, size);
            cases[0].auditor = Auditor::new(ALPHA, 40_000);
            cases
        };
        let (_, outcome) = run(twins);
        assert_eq!(outcome.verdict(), Verdict::Holds);
        let tallied = "1 of 2 twins at 4ε caught: 1 rows are blind";
        assert!(outcome.findings().iter().any(|line| line.contains(tallied)), "{:?}", outcome.findings());
    }

    #[test]
    #[should_panic(expected = "δ of the twin of bit that claims 1")]
    fn another_delta_is_no_twin() {
        let another = response(4.0).claiming(Claim::approximate(4.0, 0.1));
        let _ = Audited::beside_twin(response(1.0), another, 100);
    }

    /// What is right, wrong, falsely called right, and falsely called wrong. Cheap: at most 40 000 runs.
    fn small(size: Size) -> Vec<Case> {
        let costly = 300_000_000 / 40_000;
        let all = vec![
            Audited::right(response(1.0987), costly),
            Audited::right(response(1.5), costly),
            Audited::wrong(response(0.8), costly),
            Audited::right(response(0.9), costly).exact(|| 0.7),
        ];
        let mut cases = cases(all, size);
        cases[0].auditor = Auditor::new(ALPHA, 40_000);
        cases
    }

    fn blind(size: Size) -> Vec<Case> {
        let mut cases = small(size);
        cases[0].auditor = Auditor::new(ALPHA, 300);
        cases.truncate(2);
        cases
    }

    fn run(sweep: fn(Size) -> Vec<Case>) -> (tempfile::TempDir, tamis_harness::Outcome) {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: folder.path().into(), quiet: true, ..Options::default() };
        let outcome = experiment_on(sweep).run(&options).unwrap();
        (folder, outcome)
    }

    /// A claim that is false, and arithmetic that is: both are named, and no other row is.
    #[test]
    fn a_falsified_claim_is_named() {
        let (_, outcome) = run(small);
        assert_eq!(outcome.verdict(), Verdict::Fails);
        let failing: Vec<String> = outcome.findings().into_iter().filter(|line| line.contains("fails")).collect();
        // Accused, above its exact loss, and counted.
        assert_eq!(failing.len(), 3, "{failing:?}");
        assert_eq!(failing.iter().filter(|line| line.contains("bit that claims 0.9")).count(), 2, "{failing:?}");
        assert!(
            failing.iter().any(|line| line.contains("1 of 1 wrong ones caught, 1 of 2 right ones accused")),
            "{failing:?}"
        );
    }

    #[test]
    fn blindness_fails() {
        let (_, outcome) = run(blind);
        let failing: Vec<String> = outcome.findings().into_iter().filter(|line| line.contains("fails")).collect();
        assert_eq!(failing.len(), 2, "{failing:?}");
        assert!(failing.iter().all(|line| line.contains("is blind: it sees")), "{failing:?}");
    }

    #[test]
    fn counterexamples_are_found_again_and_forged_ones_are_not() {
        let (folder, _) = run(small);
        let file = folder.path().join("audit/counterexamples.json");
        let again = replay::replay(&file, small).unwrap();
        // The wrong one, and the one that is falsely called right.
        assert_eq!(again.len(), 2);
        assert!(again.iter().all(|(_, differences)| differences.is_empty()), "{again:?}");

        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("\"k₁\": \"", "\"k₁\": \"1", 1)).unwrap();
        let forged = replay::replay(&file, small).unwrap();
        assert!(matches!(forged[0].1.as_slice(), [difference] if difference.starts_with("k₁ was ")), "{forged:?}");
        std::fs::write(&file, text.replacen("claims 0.8", "claims 7", 1)).unwrap();
        assert!(replay::replay(&file, small).is_err());
        std::fs::write(&file, "{}").unwrap();
        assert!(replay::replay(&file, small).unwrap_err().to_string().contains("counterexamples"));
    }

    /// Rows are told apart by mechanism and pair when they are run again.
    #[test]
    fn no_two_rows_are_alike() {
        let all = sweep(Size::Quick);
        let names: std::collections::HashSet<(&str, &str)> =
            all.iter().map(|case| (case.audited.subject.name(), case.audited.subject.pair())).collect();
        assert_eq!(names.len(), all.len());
    }
}
