//! `tamis monitor`: prints when a stream of numbers reaches a threshold, and pays privacy for alerts only.

mod explain;
mod kept;
mod report;
mod request;

use crate::failure::Failure;
use crate::input::{Rows, Source};
use crate::output::Format;
use crate::state;
use kept::Run;
pub use kept::describe;
use rand::CryptoRng;
use report::{Alert, Report};
use request::Request;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tamis::noise::sparse_vector::{Reported, Verdict};

const EXAMPLES: &str = "\
Examples:
  What would the answers be worth? (reads no data)
    tamis monitor --explain --threshold 265 --alerts 2 --epsilon 1 \\
        --sensitivity 1 --kind counts --neighbours add-remove --queries 365 \\
        --rows-per-unit 336
  Watch a column, with the dates of the alerts:
    tamis monitor examples/nyc_aircraft_2013_daily.csv --column late_60 \\
        --label date --threshold 265 --alerts 2 --epsilon 1 --sensitivity 1 \\
        --kind counts --neighbours add-remove
  Watch numbers as they arrive, one a line:
    tail -f counts.txt | tamis monitor - --threshold 500 --alerts 3 \\
        --epsilon 1 --sensitivity 1 --kind counts --neighbours add-remove \\
        --format json
  Watch a file that grows, and go on after a restart:
    tamis monitor metrics.csv --column errors --follow --state errors.watch \\
        --threshold 500 --alerts 3 --epsilon 1 --sensitivity 1 \\
        --kind counts --neighbours add-remove

What is protected: whoever sees the output learns hardly more about one privacy unit (a person, say) than without \
that unit's data. A unit may touch every row, each by at most the sensitivity. The budget covers the whole run and \
counts as spent however many alerts come; a second run on the same data spends it again, unless it goes on with --state.

What is public: every argument, the number of rows answered and the labels of alerts; not the length of the data before \
it is answered, which is why --queries is an argument. Error messages and the running time are for the operator alone.

Malformed data: no row is ever skipped. A regular file is checked whole before anything is answered, so that a bad \
row spends nothing. On a pipe, or with --follow, the first malformed row ends the run, and alerts already printed \
stand. A message names line and column and never quotes a cell.

--follow ends with Ctrl-C. There is no closing line then: the whole budget, as the first lines state it, counts as spent.

--state FILE keeps the run: its noisy threshold, the alerts and the number of rows answered are on the disk before an alert \
is printed, and the same command goes on where it stopped, for the same budget. Of a file the rows that were answered are passed \
over; standard input is taken to hold new ones. What was answered in the last second before a crash may be answered again, which \
costs nothing but its share of --queries. An alert is charged before there is one: a run that is killed or whose disk fails has \
lost it, since that it failed may tell that there was an alert. Ctrl-C, a hang-up and a shutdown lose none, unless one of their \
signals was ignored from the start, as under `nohup` or in the background of a script. The state is as secret as the data (mode \
0600), one process at a time uses it or a copy of it, and an older copy put back is refused where a newer was used before; \
`tamis inspect FILE` shows it, with all alerts.

--format json writes one object a line, each with \"event\" and \"schema\": a \"plan\" first (epsilon and delta as exact \
text, \"error\" for T ± error, \"vacuous\" and \"warning\" null or text), an \"alert\" each time (row, label, alert, \
with --numeric value), an \"end\" last (answered, alerts, halted, epsilon, delta). Without \"end\" the run failed.

Exit codes: 0 done; 1 refused on privacy grounds: the values are legal but no mechanism is sound for them together, or all \
alerts of a state are used; 2 usage or bad input, or a state that another process uses for more than ten seconds; 3 internal \
error; 130 a run with --state that a signal ended.";

/// Watches a stream of numbers and prints when one reaches a threshold, paying privacy for alerts only.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// CSV file with a header, Parquet file, or `-` for standard input. Without --column: one number a line.
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    /// The column to watch.
    #[arg(long, value_name = "COL")]
    column: Option<String>,
    /// A column that names the rows, such as a date. It is printed with each alert and must be public.
    #[arg(long, value_name = "COL", requires = "column")]
    label: Option<String>,

    /// A value of at least this much is to alert.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    threshold: String,
    /// Stop after this many alerts.
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    alerts: String,
    /// Privacy loss ε of the whole run, as a decimal or a fraction.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,
    /// Probability δ with which the loss may be larger.
    #[arg(long, value_name = "D", default_value = "0", allow_hyphen_values = true)]
    delta: String,
    /// By how much one privacy unit can change one value, at most.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: String,
    /// What neighbouring data sets are: one unit added or removed, or one unit replaced.
    #[arg(long, value_name = "RELATION", value_parser = ["add-remove", "substitute"])]
    neighbours: String,
    /// counts: numbers of records, whole and never negative. values: anything else, rounded to --grid.
    #[arg(long, value_parser = ["counts", "values"])]
    kind: String,
    /// For values: round to multiples of 2^-BITS, and the sensitivity up.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    grid: Option<String>,

    /// book: Dwork and Roth's constants. tight: less noise for the same privacy.
    #[arg(long, value_enum, default_value_t = Variant::Tight)]
    variant: Variant,
    /// Print a noisy value with each alert. With tight it costs nothing more and tends to be too high.
    #[arg(long)]
    numeric: bool,
    /// State accuracy for this many values. A public planning number: never the length of private data. Privacy
    /// does not depend on it and more values may come; `tight` divides its noise to suit.
    #[arg(long, value_name = "K", default_value = "1000", allow_hyphen_values = true)]
    queries: String,
    /// State accuracy with this probability of failure. Privacy does not depend on it.
    #[arg(long, value_name = "B", default_value = "0.05", allow_hyphen_values = true)]
    beta: String,

    /// Print the plan and what its answers are worth, and read no data.
    #[arg(long)]
    explain: bool,
    /// With --explain: how many rows one unit can touch, to compare with releasing the whole column.
    #[arg(long, value_name = "R", requires = "explain", allow_hyphen_values = true)]
    rows_per_unit: Option<String>,
    /// With --explain: the epsilon at which the error falls to this.
    #[arg(long, value_name = "A", requires = "explain", allow_hyphen_values = true)]
    error: Option<String>,

    /// Keep the run in this file, and go on with it if it is there.
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    state: Option<PathBuf>,
    /// Wait for more when the file ends, as `tail -f` does.
    #[arg(long)]
    follow: bool,
    /// Format of standard output: text for people, JSON lines, or CSV.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but alerts, errors and warnings about privacy.
    #[arg(long)]
    quiet: bool,
}

/// Which constants to use. Both keep the same promise of privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Variant {
    Book,
    Tight,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let request = Request::check(&arguments)?;
    let plan = request.plan(request.variant)?;
    if arguments.explain {
        return explain::print(&request, &plan, arguments.format);
    }
    let source = request.source(arguments.file.as_deref())?;
    if let Some(state) = &arguments.state {
        state::check_input(state, "FILE", &source)?;
    }
    let begun = Run::find(arguments.state.as_deref(), &plan, &request, arguments.quiet)?;
    let answered = begun.as_ref().map_or(0, |run| run.answered);
    if source.is_regular_file() && !arguments.follow {
        check_all(&request, source.open(&request.columns, false)?, &source, answered)?;
    }
    let rows = source.open(&request.columns, arguments.follow)?;
    let mut report = Report::new(&request, &plan, arguments.format, arguments.quiet);
    report.begin()?;
    // Seeded by the operating system, and cryptographic: there is no flag for a seed.
    let mut rng = rand::rng();
    let run = match begun {
        Some(run) => run,
        None => Run::begin(arguments.state.as_deref(), &plan, &request, arguments.quiet, &mut rng)?,
    };
    report.resume(&run);
    let run = Arc::new(Mutex::new(run));
    end_on_a_signal(&run);
    let outcome = watch(&request, &run, rows, &source, &mut report, &mut rng);
    let mut run = lock(&run);
    let outcome = outcome.and(run.end());
    // A failure that came first is still said.
    if outcome.is_ok() && SIGNALLED.load(Relaxed) {
        std::process::exit(INTERRUPTED);
    }
    report.account(run.answered);
    outcome.map_err(|failure| failure.having_spent(SPENT))?;
    if run.answered == 0 {
        return Err(no_rows(&source));
    }
    report.end(run.answered).map_err(|error| Failure::from(error).having_spent(SPENT))
}

/// Where alerts cannot be printed.
const SPENT: &str = "look for a full disk; what was printed stands, and the budget of the run is spent";

/// Reads everything and answers nothing.
fn check_all(request: &Request, rows: Rows, source: &Source, answered: u64) -> Result<(), Failure> {
    let mut read = 0;
    for row in rows {
        request.units(&row?)?;
        read += 1;
    }
    if read == 0 {
        return Err(no_rows(source));
    }
    if read < answered {
        return Err(Failure::input(
            format_args!("{source} has fewer rows than the {answered} that were answered by the state"),
            "give the file that was watched, as it has grown since; rows that replace it come on standard input",
        ));
    }
    Ok(())
}

fn no_rows(source: &Source) -> Failure {
    Failure::input(format_args!("{source} holds no values"), "give an input with at least one row")
}

/// Whoever ends a run that is kept, by Ctrl-C or as the system shuts down, need not pay for an alert that there was none of.
fn end_on_a_signal(run: &Arc<Mutex<Run>>) {
    if !lock(run).is_kept() {
        return;
    }
    let run = Arc::clone(run);
    // Where signals are handled or ignored already they stay so, and the alert is paid for.
    let _ = ctrlc::try_set_handler(move || {
        SIGNALLED.store(true, Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match run.try_lock() {
                Ok(mut run) => {
                    // What cannot be kept stays charged. And no row is answered after it: the lock is held to the end.
                    let _ = run.end();
                    std::process::exit(INTERRUPTED);
                }
                // An answer is being drawn, kept or printed; whoever does so ends the run after it.
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Poisoned(_)) => break,
            }
        }
        // The alert stays charged: nobody reads what is printed, or nobody knows what was drawn.
        std::process::exit(INTERRUPTED);
    });
}

/// Whether the run is to end. Whoever waits for rows does not see it; then the handler of signals ends the run.
static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// As shells call a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;
/// How long a signal waits for an answer that is on its way.
const PATIENCE: Duration = Duration::from_secs(2);

fn lock(run: &Mutex<Run>) -> MutexGuard<'_, Run> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers row after row until the alerts are used or the data end. Private data meets noise here and nowhere else.
fn watch<R: CryptoRng + ?Sized>(
    request: &Request,
    run: &Mutex<Run>,
    rows: Rows,
    source: &Source,
    report: &mut Report,
    rng: &mut R,
) -> Result<(), Failure> {
    // A file holds what was answered before; a stream does not.
    let mut passed_over = if source.is_regular_file() { lock(run).answered } else { 0 };
    lock(run).charge(rng)?;
    for row in rows {
        let row = row?;
        if passed_over > 0 {
            passed_over -= 1;
            continue;
        }
        let value = request.units(&row)?;
        if SIGNALLED.load(Relaxed) {
            return Ok(());
        }
        let mut run = lock(run);
        let verdict = run.answer(value, rng)?;
        let Verdict::Above(reported) = verdict else {
            run.keep_now_and_then(rng)?;
            continue;
        };
        let value = match reported {
            Reported::Nothing => None,
            Reported::Gap(gap) => Some(request.threshold.saturating_add(gap)),
            Reported::Value(value) => Some(value),
        };
        let alert = Alert { label: row.label, value };
        // On the disk before anybody sees it.
        run.keep_alert(&alert, rng)?;
        report.alert(&alert, run.answered)?;
        if run.gate.is_halted() {
            return Ok(());
        }
    }
    Ok(())
}
