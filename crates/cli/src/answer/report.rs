//! Answers on standard output.

use crate::failure::Failure;
use crate::output::{Format, csv, lines, note, percentage, printable, rounded, write};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use tamis::projection::Answer;

/// Version of the JSON lines.
const SCHEMA: &str = "tamis.answer/1";

/// A query that was answered.
pub struct Answered {
    pub name: String,
    pub keys: usize,
    pub answer: Answer,
}

/// Prints answers, a batch at a time.
pub struct Report {
    level: f64,
    format: Format,
    quiet: bool,
    begun: bool,
    /// Rules other than the normal one, for a last word about them.
    rules: BTreeSet<&'static str>,
}

#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    name: &'a str,
    keys: usize,
    value: f64,
    standard_error: f64,
    lower: f64,
    upper: f64,
    level: f64,
    source: &'static str,
    rule: &'static str,
}

impl Report {
    pub fn new(level: f64, format: Format, quiet: bool) -> Self {
        Self { level, format, quiet, begun: false, rules: BTreeSet::new() }
    }

    pub fn answers(&mut self, answered: &[Answered]) -> Result<(), Failure> {
        if answered.is_empty() {
            return Ok(());
        }
        let records: Vec<Record> = answered.iter().map(|answered| self.record(answered)).collect::<Result<_, _>>()?;
        self.rules.extend(records.iter().map(|record| record.rule).filter(|rule| *rule != "normal"));
        let begun = std::mem::replace(&mut self.begun, true);
        let bytes = match self.format {
            Format::Text => self.table(&records, !begun).into_bytes(),
            Format::Json => lines(&records)?,
            Format::Csv => rows(&records, !begun)?,
        };
        Ok(write(&bytes)?)
    }

    fn record<'a>(&self, answered: &'a Answered) -> Result<Record<'a>, Failure> {
        let Answered { name, keys, answer } = answered;
        let interval =
            answer.interval(self.level).map_err(|error| Failure::input(error, "for example --level 0.95"))?;
        Ok(Record {
            schema: SCHEMA,
            name,
            keys: *keys,
            value: answer.value,
            standard_error: answer.standard_error,
            lower: interval.lower,
            upper: interval.upper,
            level: self.level,
            source: "release",
            rule: answer.rule.name(),
        })
    }

    fn table(&self, records: &[Record], head: bool) -> String {
        let title = ["query", "keys", "answer", "±", "from", "to", "rule"].map(str::to_owned);
        let rows = records.iter().map(|record| {
            let half = (record.upper - record.lower) / 2.0;
            let number = |value: f64| rounded(value, half);
            let numbers = [record.value, half, record.lower, record.upper].map(number);
            let [value, half, lower, upper] = numbers;
            [printable(record.name), record.keys.to_string(), value, half, lower, upper, record.rule.to_owned()]
        });
        let rows: Vec<[String; 7]> = head.then_some(title).into_iter().chain(rows).collect();
        let widths: [usize; 7] =
            std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
        let mut text = String::new();
        if head {
            let level = percentage(self.level);
            let _ = writeln!(
                text,
                "{level} intervals of projection and noise; how far the table is from what it is a sample of is not in them\n"
            );
        }
        for [name, numbers @ .., rule] in &rows {
            let _ = write!(text, "{name:<width$}", width = widths[0]);
            for (number, width) in numbers.iter().zip(&widths[1..]) {
                let _ = write!(text, "  {number:>width$}");
            }
            let _ = writeln!(text, "  {rule}");
        }
        text
    }

    /// Says what the rules mean that were used.
    pub fn end(&self) -> Result<(), Failure> {
        if !self.begun {
            return Err(Failure::input("there are no queries", "give at least one, a JSON object on a line"));
        }
        if self.format == Format::Text {
            for rule in &self.rules {
                let meaning = match *rule {
                    "few-keys" => {
                        "the noise of so few keys has longer tails than a bell curve: their interval is wider"
                    }
                    _ => {
                        "keys of the data are so heavy, or rows so few, that errors are rarely large: Chebyshev's interval, too wide as a rule"
                    }
                };
                note(self.quiet, &format!("{rule}: {meaning}"));
            }
        }
        Ok(())
    }
}

const COLUMNS: [&str; 9] = ["name", "keys", "value", "standard_error", "lower", "upper", "level", "source", "rule"];

/// A row each, after a header if wanted.
fn rows(records: &[Record], head: bool) -> io::Result<Vec<u8>> {
    csv(|writer| {
        if head {
            writer.write_record(COLUMNS)?;
        }
        for record in records {
            let numbers = [record.value, record.standard_error, record.lower, record.upper, record.level];
            let [value, error, lower, upper, level] = numbers.map(|number| number.to_string());
            let keys = record.keys.to_string();
            let (name, source, rule) = (record.name, record.source, record.rule);
            writer.write_record([name, &keys, &value, &error, &lower, &upper, &level, source, rule])?;
        }
        Ok(())
    })
}
