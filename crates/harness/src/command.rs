//! The command line of an experiment's binary.

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::experiment::{Case, Experiment, Size};
use crate::files::HarnessError;
use crate::finding::Verdict;
use crate::outcome::Outcome;
use crate::run::Runnable;

/// The seed unless another is asked for: the years of the two papers (Blum & Roth 2011, Dwork & Roth 2014).
pub const DEFAULT_SEED: u64 = 2011_2014;

/// How to run: the flags that every experiment understands.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How much to run; what is not the quick size has a folder of its own in DIR
    #[arg(long, value_name = "SIZE", value_enum, default_value_t = Size::Quick)]
    pub size: Size,
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// The seed of every trial; what comes out is repeatable and not private
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    pub seed: u64,
    /// The number of threads, all there are if not given; it never changes a row
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Keeps the finished rows of an interrupted run of the same program
    #[arg(long)]
    pub resume: bool,
    /// Lists the work without doing it
    #[arg(long)]
    pub list: bool,
    /// Prints nothing but errors
    #[arg(long)]
    pub quiet: bool,
    /// Set to stop soon and keep the finished rows: what Ctrl-C does.
    #[arg(skip)]
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Options {
    /// The quick size into `results`, with the default seed, on all threads.
    fn default() -> Self {
        Self {
            size: Size::Quick,
            out: "results".into(),
            seed: DEFAULT_SEED,
            threads: None,
            resume: false,
            list: false,
            quiet: false,
            interrupt: Arc::default(),
        }
    }
}

impl Options {
    /// Where the experiments' folders go: results of different sizes never mix.
    pub fn folder(&self) -> PathBuf {
        self.out.join(match self.size {
            Size::Brief => "brief",
            Size::Quick => "",
            Size::Full => "full",
        })
    }

    /// A remark on standard error.
    pub(crate) fn say(&self, remark: &str) {
        if !self.quiet {
            eprintln!("{remark}");
        }
    }

    /// Text on standard output. A reader that has gone away is no reason to stop working.
    pub(crate) fn print(&self, text: &str) {
        if !self.quiet {
            let _ = std::io::stdout().write_all(text.as_bytes());
        }
    }

    /// Lets Ctrl-C stop the run in good order; a second one stops it at once.
    pub(crate) fn listen(&self) {
        let interrupt = Arc::clone(&self.interrupt);
        let listening = ctrlc::set_handler(move || {
            if interrupt.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            eprintln!("\nstopping; finished rows are kept (Ctrl-C again: at once)");
        });
        if let Err(error) = listening {
            self.say(&format!("Ctrl-C will not keep finished rows: {error}"));
        }
    }
}

/// Exit codes: 0 no claim fails, 1 one does, 2 wrong usage (clap's), 3 could not run or write, 130 stopped.
pub(crate) const INTERRUPTED: u8 = 130;
const CANNOT: u8 = 3;

/// How many failures of an experiment are told; there may be one for every row.
const FAILURES: usize = 10;

/// The exit code of a run, with the reason on standard error where it is not 0.
pub(crate) fn exit_code(result: Result<Vec<Outcome>, HarnessError>, options: &Options) -> u8 {
    let outcomes = match result {
        Ok(outcomes) => outcomes,
        Err(error) => {
            eprintln!("error: {error}");
            return CANNOT;
        }
    };
    if let Some(stopped) = outcomes.iter().find(|outcome| outcome.is_interrupted()) {
        let (finished, folder) = (stopped.rows.rows.len(), options.folder().join(stopped.name));
        eprintln!(
            "{}: stopped with {finished} of {} cases finished, kept in {}",
            stopped.name,
            stopped.cases,
            folder.join("progress.csv").display()
        );
        eprintln!("help: the same command with --resume does the rest");
        return INTERRUPTED;
    }
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.verdict() == Verdict::Fails).collect();
    for outcome in &failed {
        let failures = outcome.failures();
        eprintln!("error: {}: a claim fails ({})", outcome.name, outcome.tally());
        failures.iter().take(FAILURES).for_each(|failure| eprintln!("  {failure}"));
        if failures.len() > FAILURES {
            let table = options.folder().join(outcome.name).join("table.md");
            eprintln!("  and {} more, in {}", failures.len() - FAILURES, table.display());
        }
    }
    u8::from(!failed.is_empty())
}

/// One experiment as a person reads it.
pub(crate) fn print(outcome: &Outcome, options: &Options) {
    if outcome.is_interrupted() {
        return;
    }
    let more = match outcome.rows.rows.len() - outcome.table(true).rows.len() {
        0 => String::new(),
        more => format!("({more} more rows in {})\n", options.folder().join(outcome.name).join("table.md").display()),
    };
    let findings: String = outcome.findings().iter().map(|line| format!("- {line}\n")).collect();
    let (table, statement) = (outcome.markdown(true), outcome.statement());
    options.print(&format!("\n## {}\n\n{}\n\n{table}{more}{findings}{statement}\n", outcome.name, outcome.claim));
}

/// The work of an experiment, without doing it.
pub(crate) fn list(experiment: &dyn Runnable, options: &Options) -> String {
    let work = experiment.work(options.size);
    let total: u64 = work.iter().map(|(_, trials)| trials).sum();
    let cases: String = work.iter().map(|(case, trials)| format!("  {case}: {trials} trials\n")).collect();
    format!("{}: {} cases, {total} trials ({} size)\n{cases}", experiment.name(), work.len(), options.size)
}

#[derive(Parser)]
struct OneExperiment {
    #[command(flatten)]
    options: Options,
}

impl<C: Case> Experiment<C> {
    /// The whole binary: reads the command line, runs, prints the table, writes the results. See [`Options`]
    /// for the flags. The exit code is 0 if no claim fails, 1 if one does, 2 for wrong usage, 3 if it could
    /// not run or write, 130 if stopped.
    pub fn main(&self) -> ExitCode {
        self.main_with(std::env::args_os()).into()
    }

    fn main_with(&self, arguments: impl IntoIterator<Item = OsString>) -> u8 {
        let command = OneExperiment::command().name(self.name).about(self.claim);
        let parsed =
            command.try_get_matches_from(arguments).and_then(|matches| OneExperiment::from_arg_matches(&matches));
        let options = match parsed {
            Ok(parsed) => parsed.options,
            Err(error) => {
                let _ = error.print(); // to standard output for --help, to standard error otherwise
                return u8::try_from(error.exit_code()).unwrap_or(CANNOT);
            }
        };
        if options.list {
            options.print(&list(self, &options));
            return 0;
        }
        options.listen();
        let result = self.run(&options);
        if let Ok(outcome) = &result {
            print(outcome, &options);
        }
        exit_code(result.map(|outcome| vec![outcome]), &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Finding};

    struct Whole;

    impl Case for Whole {
        fn parameters(&self) -> Vec<(&'static str, Cell)> {
            vec![("n", 1_u32.into())]
        }
    }

    fn status(holds: bool, arguments: &[&str]) -> u8 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let experiment = Experiment::new("status", "A test.")
            .sweep(|_| vec![Whole])
            .check("claim", move |_, _| Finding::require(holds, "it is said"));
        let out = ["status", "--quiet", "--out"].map(OsString::from).into_iter().chain([folder.path().into()]);
        experiment.main_with(out.chain(arguments.iter().map(OsString::from)))
    }

    #[test]
    fn exit_codes() {
        assert_eq!(status(true, &[]), 0);
        assert_eq!(status(false, &[]), 1);
        assert_eq!(status(false, &["--list"]), 0);
        assert_eq!(status(true, &["--seed", "one"]), 2);
        assert_eq!(status(true, &["--threads", "0"]), 2);
        assert_eq!(status(true, &["--out", "/dev/null"]), 2, "given twice");
        let unwritable = Options { out: "/dev/null/nowhere".into(), quiet: true, ..Options::default() };
        let experiment = Experiment::new("status", "A test.").sweep(|_| vec![Whole]);
        assert_eq!(exit_code(experiment.run(&unwritable).map(|outcome| vec![outcome]), &unwritable), CANNOT);
    }

    #[test]
    fn the_defaults_are_those_of_the_command_line() {
        let parsed = OneExperiment::parse_from(["status"]).options;
        assert_eq!(format!("{parsed:?}"), format!("{:?}", Options::default()));
        for (size, folder) in [(Size::Brief, "results/brief"), (Size::Quick, "results/"), (Size::Full, "results/full")]
        {
            let parsed = OneExperiment::parse_from(["status", "--size", &size.to_string()]).options;
            assert_eq!((parsed.size, parsed.folder()), (size, PathBuf::from(folder)));
        }
    }
}
