//! What all commands print alike.

use serde::Serialize;
use std::io::{self, Write};
use tamis::noise::{Budget, Rational};

/// What standard output is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
    Csv,
}

/// `95 %`.
pub fn percentage(probability: f64) -> String {
    // Twelve digits hide the binary rounding of 1 - 0.05 and the like.
    format!("{} %", (probability * 1e14).round() / 1e12)
}

/// `1 row`, `2 rows`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Names in a message.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// A label without characters that could command a terminal, or turn what is read around.
pub fn printable(label: &str) -> String {
    let is_command = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    label.chars().map(|c| if is_command(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// With a digit after the point only where the error is small enough for it to say something.
pub fn rounded(value: f64, error: f64) -> String {
    let digits = usize::from(error < 10.0);
    let text = format!("{value:.digits$}");
    // What rounds to 0 is not below it.
    if text.parse() == Ok(0.0) { text.trim_start_matches('-').to_owned() } else { text }
}

/// A JSON object on a line.
pub fn line(event: &impl Serialize) -> io::Result<()> {
    write(&lines(std::slice::from_ref(event))?)
}

/// JSON objects, one a line.
pub fn lines(objects: &[impl Serialize]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for object in objects {
        serde_json::to_writer(&mut bytes, object)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// A line of CSV.
pub fn row(fields: &[&str]) -> io::Result<()> {
    write(&csv(|writer| writer.write_record(fields))?)
}

/// Facts beside their names, for people.
pub fn aligned(facts: &[(&'static str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    facts.iter().map(|(name, fact)| format!("{name:<width$}  {}\n", printable(fact))).collect()
}

/// Facts as JSON has them.
pub fn object(facts: Vec<(&'static str, String)>) -> serde_json::Map<String, serde_json::Value> {
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact.into())).collect()
}

/// Facts as lines of CSV, after a header.
pub fn fact_rows(facts: &[(&'static str, String)]) -> io::Result<()> {
    row(&["name", "value"])?;
    facts.iter().try_for_each(|(name, fact)| row(&[name, fact]))
}

/// CSV, as `fill` writes it.
pub fn csv(fill: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    fill(&mut writer)?;
    // Cannot fail: a vector takes every byte.
    Ok(writer.into_inner().expect("memory is writable"))
}

/// One write and one flush, so that a line is never seen half.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// What is to be said of a budget that protects nobody, though its arithmetic is right.
pub fn weak(budget: &Budget) -> Option<String> {
    if *budget.delta().as_rational() > Rational::from_parts(1.into(), 1000u16.into()) {
        return Some(format!(
            "a delta of {0} allows the data of {0} of all units to be given away whole",
            budget.delta()
        ));
    }
    (*budget.epsilon().as_rational() >= Rational::from(10)).then(|| {
        let epsilon = budget.epsilon();
        format!(
            "an epsilon of {epsilon} hides next to nothing: whoever sees the output may be sure of what one unit did"
        )
    })
}

/// The same where about so many records are protected by it.
pub fn weak_for(budget: &Budget, records: Option<f64>) -> Option<String> {
    weak(budget).or_else(|| {
        let (records, delta) = (records?, budget.delta());
        let expected = delta.to_f64_down() * records;
        (expected >= 0.1).then(|| {
            format!(
                "a delta of {delta} allows {expected:.1} of {records} records to be given away whole: give far less than one \
                 over their number"
            )
        })
    })
}

/// A message to whoever runs the program, unless `quiet`.
pub fn note(quiet: bool, text: &str) {
    if !quiet {
        // If standard error is closed, nobody wants to know.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// A header and one row.
pub fn record_line(record: &impl Serialize) -> io::Result<()> {
    write(&csv(|writer| writer.serialize(record))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        let shown = [(-0.3, 20.0, "0"), (-0.04, 9.0, "0.0"), (-0.3, 9.0, "-0.3"), (-0.6, 20.0, "-1"), (0.3, 20.0, "0")];
        for (value, error, text) in shown {
            assert_eq!(rounded(value, error), text);
        }
    }
}
