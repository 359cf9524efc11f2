//! Answers on standard output, as they come.

use super::explain::condition;
use crate::failure::Failure;
use crate::output::{Format, csv, lines, percentage, printable, rounded, write};
use serde::Serialize;
use std::fmt::Write;
use tamis::interactive::{Answer, Setting, Source};

/// Version of the JSON lines.
const SCHEMA: &str = "tamis.session.answer/1";

/// A query that was answered.
pub struct Answered {
    pub name: String,
    pub keys: f64,
    pub answer: Answer,
    /// Of the release that answered, or of the noise in an answer from the data.
    pub standard_error: Option<f64>,
}

/// Prints answers, a batch at a time.
pub struct Report {
    /// 1 − β, which all bounds hold with together, …
    level: f64,
    /// … and what they rest on.
    condition: String,
    /// All records: no answer is beyond them.
    most: f64,
    format: Format,
    begun: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    schema: &'static str,
    name: &'a str,
    keys: u64,
    value: f64,
    bound: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    level: f64,
    standard_error: Option<f64>,
    source: &'static str,
    /// Whether it was compared with the data.
    checked: bool,
    updates_left: u64,
}

impl Report {
    pub fn new(setting: &Setting, format: Format) -> Self {
        let (level, most) = (1.0 - setting.beta.get(), setting.records as f64);
        Self { level, condition: condition(setting), most, format, begun: false }
    }

    /// Whether anything was printed.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    pub fn answers(&mut self, answered: &[Answered]) -> Result<(), Failure> {
        if answered.is_empty() {
            return Ok(());
        }
        let begun = std::mem::replace(&mut self.begun, true);
        let rows: Vec<Row> = answered.iter().map(|answered| self.row(answered)).collect();
        let bytes = match self.format {
            Format::Text => self.table(&rows, !begun).into_bytes(),
            Format::Json => lines(&rows)?,
            Format::Csv => records(&rows, !begun)?,
        };
        Ok(write(&bytes)?)
    }

    fn row<'a>(&self, answered: &'a Answered) -> Row<'a> {
        let Answered { name, keys, answer, standard_error } = answered;
        Row {
            schema: SCHEMA,
            name,
            // At most m.
            keys: *keys as u64,
            value: answer.value,
            bound: answer.bound,
            lower: answer.bound.map(|bound| (answer.value - bound).max(0.0)),
            upper: answer.bound.map(|bound| (answer.value + bound).min(self.most)),
            level: self.level,
            standard_error: *standard_error,
            source: match (answer.is_repeated, answer.source) {
                (true, _) => "transcript",
                (false, Source::Data) => "data",
                (false, Source::Hypothesis | Source::Unchecked) => "hypothesis",
            },
            checked: answer.source != Source::Unchecked,
            updates_left: answer.left,
        }
    }

    fn table(&self, rows: &[Row], head: bool) -> String {
        let mut text = String::new();
        if head {
            let (level, condition) = (percentage(self.level), &self.condition);
            let _ = writeln!(
                text,
                "±        all of them hold at once with probability {level}{condition}; how far the table is from what it is a sample of is not in it"
            );
            let _ = writeln!(
                text,
                "typical  standard error: of a query not chosen by looking at answers; of the noise, if from data\n"
            );
        }
        let title = ["query", "keys", "answer", "±", "from", "to", "typical", "source"].map(str::to_owned);
        let cells = rows.iter().map(|row| {
            let error = row.bound.or(row.standard_error).unwrap_or(f64::INFINITY);
            let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| rounded(value, error));
            let numbers = [Some(row.value), row.bound, row.lower, row.upper, row.standard_error].map(number);
            let [value, bound, lower, upper, typical] = numbers;
            let unchecked = if row.checked { "" } else { ", unchecked" };
            let source = format!("{}{unchecked} ({} left)", row.source, row.updates_left);
            [printable(row.name), row.keys.to_string(), value, bound, lower, upper, typical, source]
        });
        // Answers come one by one: the widths cannot be those of answers to come.
        let widest = rows.iter().map(|row| printable(row.name).chars().count()).fold(24, usize::max);
        for [name, numbers @ .., source] in head.then_some(title).into_iter().chain(cells) {
            let _ = write!(text, "{name:<widest$}");
            for (number, width) in numbers.iter().zip([7, 8, 8, 8, 8, 8]) {
                let _ = write!(text, " {number:>width$}");
            }
            let _ = writeln!(text, "  {source}");
        }
        text
    }
}

const COLUMNS: [&str; 11] = [
    "name",
    "keys",
    "value",
    "bound",
    "lower",
    "upper",
    "level",
    "standard_error",
    "source",
    "checked",
    "updates_left",
];

/// A row each, after a header if wanted.
fn records(rows: &[Row], head: bool) -> std::io::Result<Vec<u8>> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    csv(|writer| {
        if head {
            writer.write_record(COLUMNS)?;
        }
        for row in rows {
            writer.write_record([
                row.name,
                &row.keys.to_string(),
                &row.value.to_string(),
                &number(row.bound),
                &number(row.lower),
                &number(row.upper),
                &row.level.to_string(),
                &number(row.standard_error),
                row.source,
                &row.checked.to_string(),
                &row.updates_left.to_string(),
            ])?;
        }
        Ok(())
    })
}
