//! `tamis inspect`: what a release or a state is and promises, from the file alone.

use crate::answer;
use crate::failure::Failure;
use crate::output::{Format, aligned, fact_rows, line, object, printable, row, weak_for, write};
use crate::state::{Kind, StateFile, is_state};
use crate::{monitor, session};
use serde::Serialize;
use std::path::PathBuf;
use tamis::queries::KeyKind;

const EXAMPLES: &str = "\
Examples:
  tamis inspect customers.tamis
  tamis inspect adult.session

Everything that is printed of a release is in the file, which holds nothing private: the table was counted and noise added \
before it was written. That it was made as it says is the word of whoever published it; the checksum tells damage, not forgery.

The standard errors are for lists that hold few of the table's records; intervals of real answers come with `tamis answer`.

A state of `tamis session` or `tamis monitor` is as secret as the data, but what is printed of it to standard output is not: \
what was asked for, what is left, and what was answered already.";

/// Prints what a release, or the state of a session or a watch, is and promises.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for an example.")]
pub struct Arguments {
    /// A file that `tamis release` wrote, or a state of `tamis session` or `tamis monitor`.
    #[arg(value_name = "RELEASE|STATE")]
    release: PathBuf,
    /// Format of standard output: text for people, JSON, or CSV with a row for each fact.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Version of the JSON object.
const SCHEMA: &str = "tamis.inspect/1";

/// Lengths of the lists whose errors are printed.
const LENGTHS: [u32; 4] = [100, 1_000, 10_000, 100_000];

#[derive(Serialize)]
struct Inspection {
    schema: &'static str,
    /// As the file has them.
    release: serde_json::Map<String, serde_json::Value>,
    /// Bytes of the file.
    bytes: u64,
    heavy_keys: usize,
    /// If the budget protects nobody.
    warning: Option<String>,
    standard_errors: Vec<ListError>,
}

#[derive(Serialize)]
struct ListError {
    keys: u32,
    standard_error: f64,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let shown = arguments.release.display().to_string();
    if is_state(&arguments.release) {
        let file = StateFile::open(&arguments.release, false)?;
        return match file.kind() {
            Kind::Session => session::describe(&file, arguments.format),
            Kind::Monitor => monitor::describe(file, arguments.format),
        };
    }
    const HELP: &str =
        "give a file that `tamis release` wrote, or a state of `tamis session` or `tamis monitor`, as it was written";
    let file = answer::read(&arguments.release, HELP)?;
    let bytes = std::fs::metadata(&arguments.release).map_or(0, |metadata| metadata.len());
    let (plan, mut facts) = (file.release.plan(), file.describe());
    let warning = weak_for(&plan.cost(), plan.stated_records());
    let errors = LENGTHS.map(|keys| {
        let standard_error = plan.predicted_standard_error(f64::from(keys), file.release.squared_norm(), 0.0);
        ListError { keys, standard_error }
    });
    match arguments.format {
        Format::Text => {
            let mut text = format!("{shown}: {bytes} bytes, its checksum holds\n{}\n", printable(&file.privacy()));
            text += &warning.map_or_else(String::new, |warning| format!("Warning: {warning}.\n"));
            text.push('\n');
            facts.retain(|(name, _)| *name != "privacy");
            facts.extend(plan.heavy().map(|_| ("heavy keys", file.release.heavy().len().to_string())));
            text += &aligned(&facts);
            text += "\nA list of so many keys, few of them in the table, is answered with a standard error of so many records:\n";
            for ListError { keys, standard_error } in &errors {
                text += &format!("{keys:>8}  {standard_error:.1}\n");
            }
            text += &format!("\nto ask   tamis answer {shown} {}\n", how_to_ask(file.keys.kind()));
            write(text.as_bytes())?;
        }
        Format::Json => line(&Inspection {
            schema: SCHEMA,
            release: object(facts),
            bytes,
            heavy_keys: file.release.heavy().len(),
            warning,
            standard_errors: errors.into(),
        })?,
        Format::Csv => {
            fact_rows(&facts)?;
            warning.iter().try_for_each(|warning| row(&["warning", warning]))?;
            for ListError { keys, standard_error } in &errors {
                row(&[&format!("standard_error_{keys}"), &standard_error.to_string()])?;
            }
        }
    }
    Ok(())
}

fn how_to_ask(kind: &KeyKind) -> &'static str {
    match kind {
        KeyKind::Text => "--list KEYS.txt",
        KeyKind::Bits(_) => "--queries QUERIES.jsonl",
    }
}
