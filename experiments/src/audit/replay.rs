//! Counterexamples as a file, and running them again.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use tamis_harness::audit::{Confirmed, Report};
use tamis_harness::{Cell, Size, Table, TrialError, trial_generator};

use super::{Case, NAME, sweep};

/// How to run them again: stands in the file.
const COMMAND: &str = "cargo run --release --bin audit -- --replay FILE";

/// The columns of what an audit finds.
pub const FOUND: [&str; 7] = ["loss ≥", "event", "likelier on", "k₁", "k₂", "n", "α"];

/// What an audit found, in the order of [`FOUND`].
pub fn found(report: &Report) -> [Cell; 7] {
    let best = |read: &dyn Fn(&Confirmed) -> Cell| report.best().map_or(Cell::Missing, read);
    [
        report.bound().into(),
        best(&|best| best.event.as_str().into()),
        best(&|best| ["first", "second"][best.likelier].into()),
        best(&|best| best.counts[0].into()),
        best(&|best| best.counts[1].into()),
        report.runs.into(),
        report.alpha.into(),
    ]
}

/// Every row that was caught, with all that it takes to get the same counts again.
pub fn counterexamples(size: Size, table: &Table) -> String {
    let caught = table.only("caught", "yes");
    let of = |row: usize, column: &str| caught.position(column).map_or("", |column| caught.rows[row][column].as_str());
    let number = |row: usize, column: &str| of(row, column).parse::<f64>().map_or(Value::Null, Value::from);
    let one = |row: usize| {
        let mut record = json!({
            "mechanism": of(row, "mechanism"),
            "pair": of(row, "pair"),
            "claim": { "epsilon": number(row, "ε"), "delta": number(row, "δ") },
            "size": size.to_string(),
            "seed": of(row, "seed").parse::<u64>().ok(),
            "stream": of(row, "first stream").parse::<u64>().ok(),
        });
        FOUND.iter().for_each(|column| record[*column] = of(row, column).into());
        record
    };
    let records: Vec<Value> = (0..caught.rows.len()).map(one).collect();
    format!("{:#}\n", json!({ "again": COMMAND, "private": false, "counterexamples": records }))
}

/// Runs every counterexample of a file again: for each its name, and what came out otherwise than the file says.
///
/// `sweep` gives the rows of a size.
///
/// # Errors
/// If the file cannot be read, is not one that [`counterexamples`] wrote, or names a mechanism that is not in the sweep.
pub fn replay(file: &Path, sweep: impl Fn(Size) -> Vec<Case>) -> Result<Vec<(String, Vec<String>)>, TrialError> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let content: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let records = content["counterexamples"].as_array();
    let records = records.ok_or_else(|| format!("{}: there is no list \"counterexamples\"", file.display()))?;
    records.iter().map(|record| again(record, &sweep)).collect()
}

/// Runs one counterexample again.
fn again(record: &Value, sweep: &impl Fn(Size) -> Vec<Case>) -> Result<(String, Vec<String>), TrialError> {
    let text =
        |key: &str| record[key].as_str().ok_or_else(|| format!("a counterexample has no text {key:?}: {record}"));
    let integer =
        |key: &str| record[key].as_u64().ok_or_else(|| format!("a counterexample has no number {key:?}: {record}"));
    let (mechanism, pair) = (text("mechanism")?, text("pair")?);
    let size = match text("size")? {
        "brief" | "quick" => Size::Quick,
        "full" => Size::Full,
        other => return Err(format!("the size is brief, quick or full, got {other:?}").into()),
    };
    let is_it = |case: &Case| case.audited.subject.name() == mechanism && case.audited.subject.pair() == pair;
    let unknown = || format!("no mechanism {mechanism:?} is audited on the pair {pair:?}");
    let case = sweep(size).into_iter().find(is_it).ok_or_else(unknown)?;
    let report = case.report(&mut trial_generator(integer("seed")?, NAME, integer("stream")?))?;
    let compare = |(key, cell): (&str, Cell)| {
        let (before, now) = (record[key].as_str().unwrap_or("nothing").to_owned(), cell.measured());
        (before != now).then(|| format!("{key} was {before}, is {now}"))
    };
    let differences = FOUND.into_iter().zip(found(report)).filter_map(compare).collect();
    Ok((format!("{mechanism}, {pair}"), differences))
}

/// What `--replay FILE` does: exit code 0 if everything came out the same, 1 if not, 3 if it could not be run.
pub fn main(file: &OsStr) -> ExitCode {
    let replayed = match replay(Path::new(file), sweep) {
        Ok(replayed) => replayed,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(3);
        }
    };
    for (name, differences) in &replayed {
        let said = if differences.is_empty() { "the same again".to_owned() } else { differences.join("; ") };
        println!("{name}: {said}");
    }
    ExitCode::from(u8::from(replayed.iter().any(|(_, differences)| !differences.is_empty())))
}
