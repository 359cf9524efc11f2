//! `tamis answer`: counts over lists of keys, or conjunctions, from a release alone.

mod report;

use crate::arguments::{number, wrong};
use crate::failure::Failure;
use crate::input::Source;
use crate::output::{Format, note};
use crate::questions::{self, Question};
use crate::state::is_state;
use rayon::prelude::*;
use report::{Answered, Report};
use std::fs::File;
use std::path::{Path, PathBuf};
use tamis::projection::{ReleaseFile, Unit};

const EXAMPLES: &str = "\
Examples:
  How many of these addresses are in the table?
    tamis answer customers.tamis --list audience.txt
  Several lists, each an answer of its own, for a machine:
    tamis answer customers.tamis --list spring.txt --list autumn.txt \\
        --format csv
  Queries with names, one JSON object a line:
    tamis answer adult.tamis --queries examples/adult_conjunctions.jsonl

Lists: one key a line, and no header. Of a release with one column a key is the line as it is, quotes and blanks \
included; of one with several, a line holds their cells, separated by commas as in a CSV file. The same key twice counts \
once. Keys that the table does not have count nothing, and a list may be of any length.

Queries: {\"name\": \"spring\", \"keys\": [\"ann@example.org\", \"bob@example.org\"]} counts rows with these keys; of a release \
with several columns a key is an array of strings. With \"weights\": [1, 0.5], numbers from 0 to 1 or the same as text \
(\"1/3\"), each row weighs as much as its key. {\"name\": \"adults\", \"conjunction\": {\"age >= 20\": true, \"married\": \
false}} counts rows of packed booleans on which all of it holds; at most 24 literals may be left free. Every query has a \
name of its own.

Answers come in the order of the queries. An interval holds the true answer with probability --level, for each answer \
alone, if the query was not chosen by looking at the release. It is about projection and noise; that the data are a \
sample, or that rows were dropped, it cannot know. Answers may be below 0: that keeps them unbiased.

The rule of an interval: normal, the bell curve's, with what little the noise of short lists adds to it; few-keys, a wider one \
where a few keys' noise is no bell; conservative, Chebyshev's, 4.47 standard errors at 95 %, where single keys of the data are \
so heavy that errors are rarely large.

--format json writes one object a line: schema, name, keys, value, standard_error, lower, upper, level, source, rule. csv has \
the same as columns.

Answers cost no privacy: ask as often as you like. Exit codes: 0 done; 2 usage or bad input; 3 internal error.";

/// Answers queries from a release, each with an interval. Costs no privacy.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
#[command(group = clap::ArgGroup::new("asked").required(true).args(["list", "queries"]))]
pub struct Arguments {
    /// A file that `tamis release` wrote.
    #[arg(value_name = "RELEASE")]
    release: PathBuf,
    /// A list of keys, one a line, or `-` for standard input. May be given several times: each list is a query.
    #[arg(long, value_name = "FILE|-")]
    list: Vec<PathBuf>,
    /// A file of queries as JSON lines, or `-` for standard input (in `tamis release` it is a number).
    #[arg(long, value_name = "FILE|-")]
    queries: Option<PathBuf>,
    /// How sure the intervals are to be.
    #[arg(long, value_name = "P", default_value = "0.95", allow_hyphen_values = true)]
    level: String,
    /// Format of standard output: text for people, JSON lines, or CSV.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but answers and errors.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let level = level(&arguments.level)?;
    if is_state(&arguments.release) {
        return Err(Failure::input(
            format_args!("{} is not a release: it is a state, or another SQLite file", arguments.release.display()),
            "`tamis session ask` asks the state of a session, and `tamis inspect` says what a state is",
        ));
    }
    let file = read(&arguments.release, "give a file that `tamis release` wrote, as it was written")?;
    if let Unit::Column(name) = &file.unit {
        let most = file.release.plan().rows_per_unit();
        note(
            arguments.quiet,
            &format!(
                "note: counts are of at most {most} of the rows with the same {name:?}: those beyond were dropped, so that true \
                 counts may be higher than the intervals say"
            ),
        );
    }
    let mut report = Report::new(level, arguments.format, arguments.quiet);
    let questions = match &arguments.queries {
        Some(queries) => questions::of_file(&Source::of(queries), &file.keys)?,
        None => questions::of_lists(&arguments.list, &file.keys, arguments.quiet)?,
    };
    let (mut batch, mut weight) = (Vec::new(), 0);
    for question in questions {
        let question = match question {
            Ok(question) => question,
            Err(failure) => {
                // Answers are free: those asked for before the mistake are given.
                answer(&file, &mut batch, &mut report)?;
                return Err(failure);
            }
        };
        weight += question.weight();
        batch.push(question);
        if weight >= BATCH {
            weight = 0;
            answer(&file, &mut batch, &mut report)?;
        }
    }
    answer(&file, &mut batch, &mut report)?;
    report.end()
}

/// How many keys are looked up at a time, at least.
const BATCH: usize = 1 << 18;

/// Answers what waits, on all threads, in order.
fn answer(file: &ReleaseFile, batch: &mut Vec<Question>, report: &mut Report) -> Result<(), Failure> {
    let answered = |question: Question| {
        let (name, query) = question.query(&file.keys)?;
        Ok(Answered { name, keys: query.support(), answer: file.release.answer(&query) })
    };
    let results: Vec<Result<Answered, Failure>> = std::mem::take(batch).into_par_iter().map(answered).collect();
    let mut answers = Vec::with_capacity(results.len());
    for result in results {
        match result {
            Ok(answered) => answers.push(answered),
            Err(first) => {
                report.answers(&answers)?;
                return Err(first);
            }
        }
    }
    report.answers(&answers)
}

/// The release in a file, or the help to give.
pub fn read(path: &Path, help: &str) -> Result<ReleaseFile, Failure> {
    let shown = path.display();
    let file = File::open(path).map_err(|error| Failure::input(format_args!("cannot read {shown}: {error}"), help))?;
    if path.is_dir() {
        return Err(Failure::input(format_args!("cannot read {shown}: it is a folder"), help));
    }
    ReleaseFile::read(file).map_err(|error| Failure::input(format_args!("{shown}: {error}"), help))
}

fn level(text: &str) -> Result<f64, Failure> {
    const HELP: &str = "for example --level 0.95";
    let level = number("level", text, HELP)?.to_f64_fast();
    if 0.0 < level && level < 1.0 {
        return Ok(level);
    }
    Err(wrong("level", format_args!("it must be between 0 and 1, ends excluded, got {text}"), HELP))
}
