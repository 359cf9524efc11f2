//! `tamis plan`: which mechanism, and how far off, before anything is spent. Reads no data.

mod picture;
mod report;
mod request;

use crate::arguments::wrong;
use crate::failure::Failure;
use crate::output::{Format, note, weak_for};
use report::Report;
use request::Request;
use std::path::PathBuf;
use tamis::plan::Question;

const EXAMPLES: &str = "\
Examples:
  A million lists of up to 10 000 addresses, of a million customers:
    tamis plan --records 1e6 --max-support 1e4 --queries 1e6 --epsilon 1 --delta 1e-9 --neighbours add-remove
  Names, of which some have millions of bearers:
    tamis plan --records 350e6 --max-support 10 --queries 1000 --epsilon 1 --delta 1e-10 \\
        --neighbours add-remove --rows-per-key 800000
  An analyst whose questions depend on the answers before, over packed booleans:
    tamis plan --records 32561 --max-support 256 --queries 10000 --epsilon 1 --delta 1e-9 \\
        --neighbours substitute --rows-per-key 1000 --adaptive
  How many records does it take to keep all answers within a thousandth? And a picture:
    tamis plan --records 1e6 --max-support 1e4 --queries 1e4 --epsilon 1 --delta 1e-9 \\
        --neighbours add-remove --error 0.001 --plot plan.svg

What the figures are. \"typically\" is the root of the mean square of one answer's error, where it can be predicted: as if all keys \
had --rows-per-key records (with --distinct-keys: as many as a power law gives them) and lists named any keys that occur; of a \
session that learns, before it has learned anything, and not beside a bound that is vacuous. \"all within\" is what all --queries \
answers keep at once, but for the probability --beta. \"proven\": a theorem. \"proven*\": a theorem for as long as a guarded \
session has corrections left. \"predicted\": by the rule of a release's intervals, from exact variances.

What is best. The least of what all answers are within; with --adaptive, of those whose bound holds for questions that depend on \
answers. A bound is vacuous where no answer could be as far off: no answer is beyond the number of records, or beyond --max-support \
times --largest-count.

Time and memory are orders of magnitude, for one thread; reading the records comes on top. What needs more than --memory is not to \
be had.

Nothing is read and nothing is spent. Every number that you give must be public: rounded guesses, never counts of private data.

Exit codes: 0 done (also if everything is vacuous); 2 usage or bad input; 3 internal error, or a disk that failed.";

/// Says which mechanism would answer best, and how far off: from public sizes, before anything is read or spent.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// How many records there are, from 1 to 2^40: exactly, under substitution; else at most, as a public guess.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    records: String,
    /// The most keys that a query may have, from 1 to 2^24; for a conjunction with f literals left free, 2^f.
    #[arg(long, visible_alias = "support", value_name = "M", allow_hyphen_values = true)]
    max_support: String,
    /// How many queries are to be answered, from 1 to 2^52.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    queries: String,
    /// Privacy loss ε of all of it, as a decimal or a fraction from 1e-12 to 1000.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: String,
    /// Probability δ with which the loss may be larger: 0, or from 1e-300 to less than 1.
    #[arg(long, value_name = "D", default_value = "0", allow_hyphen_values = true)]
    delta: String,
    /// What neighbouring data sets are: add-remove (one unit is added or removed) or substitute (one is replaced).
    #[arg(long, value_name = "RELATION")]
    neighbours: String,
    /// How many records a unit of privacy (a person, say) has at most, from 1 to 1000000.
    #[arg(long, value_name = "L", default_value = "1", allow_hyphen_values = true)]
    unit_rows: String,
    /// Probability with which bounds may fail, between 1e-300 and 1. Privacy does not depend on it.
    #[arg(long, value_name = "B", default_value = "0.05", allow_hyphen_values = true)]
    beta: String,
    /// Each query may depend on the answers before it.
    #[arg(long)]
    adaptive: bool,
    /// How many different keys there may be, if all of them can be listed without a look at the data: at least as many as the records
    /// have.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    universe: Option<String>,
    /// Records that share a record's key, averaged over records (Σn²/Σn over keys with n records), from 1 to --largest-count: a public
    /// guess. If not given, what --largest-count allows, and 1 if neither is given.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    rows_per_key: Option<String>,
    /// How many different keys the records have: a public guess, for typical errors alone. If not given, all keys are taken to have
    /// --rows-per-key records.
    #[arg(long, value_name = "KEYS", allow_hyphen_values = true)]
    distinct_keys: Option<String>,
    /// The most records that one key has, by your word, from 1 to --records. If not given, 1 if --rows-per-key is 1, else --records.
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    largest_count: Option<String>,
    /// How many bytes of memory there are, at least 1: what needs more is not to be had.
    #[arg(long, value_name = "BYTES", default_value = "16e9", allow_hyphen_values = true)]
    memory: String,
    /// Search how much ε it takes (of a share, also how many records), and how many keys or queries it allows, to keep all answers within this
    /// error: a share of the records if below 1, else in records. Above 0; an error that no answer is beyond is kept by anything.
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    error: Option<String>,
    /// Draw the bound of every mechanism against the number of records, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Replace the picture if it exists.
    #[arg(long, requires = "plot")]
    force: bool,
    /// What to print to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print nothing but errors and the plan.
    #[arg(long)]
    quiet: bool,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.plot {
        picture::check(path, arguments.force)?;
    }
    let request = Request::check(&arguments)?;
    let report = Report::of(&request)?;
    if let Some(path) = &arguments.plot {
        if let Some(why) = report.why_empty() {
            return Err(wrong(
                "plot",
                format_args!("there is nothing to draw: {why}"),
                "leave out --plot to see what it takes",
            ));
        }
        picture::write(&request.question, path, arguments.force)?;
        note(arguments.quiet, &format!("wrote {}", path.display()));
    }
    if let Some(weak) = weak_for(&request.question.budget, Some(request.question.records as f64)) {
        note(arguments.quiet, &format!("warning: {weak}"));
    }
    let Question { rows_per_unit, records, .. } = request.question;
    if u64::from(rows_per_unit) > records {
        let rows = format!("--unit-rows {rows_per_unit} is more than --records {records}");
        note(arguments.quiet, &format!("note: {rows}: one unit may have all of them"));
    }
    if arguments.format == Format::Csv && request.wanted.is_some() {
        note(arguments.quiet, "note: CSV has no room for what --error searches: see --format json or text");
    }
    report.print(arguments.format)
}
