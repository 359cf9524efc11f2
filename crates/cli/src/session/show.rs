//! `tamis session show`: what a session has promised, given and left.

use super::explain::lasts;
use super::stored::{Description, Engine, Kept, Table};
use crate::failure::Failure;
use crate::output::{Format, aligned, fact_rows, line, object, percentage, printable, write};
use crate::state::{Kind, StateFile};
use serde::Serialize;
use std::path::PathBuf;
use tamis::queries::KeyKind;

const EXAMPLES: &str = "\
Example:
  tamis session show adult.session

All of a session's budget is spent when it is created, so what is left is counted in corrections from the data and in queries \
that the guarantee is for, or, of a gaussian session, in answers.

It prints nothing that asking has not published: neither data nor the noisy threshold.";

/// Prints what a session has promised, given and left.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for an example.")]
pub struct Arguments {
    /// A state that `tamis session create` wrote.
    #[arg(value_name = "STATE")]
    state: PathBuf,
    /// Format of standard output: text for people, JSON, or CSV with a row for each fact.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Version of the JSON object.
const SCHEMA: &str = "tamis.session.show/1";

/// Answers that are shown.
const LATEST: usize = 10;

#[derive(Serialize)]
struct Shown<'a> {
    schema: &'static str,
    facts: serde_json::Map<String, serde_json::Value>,
    latest: &'a [Latest],
}

#[derive(Serialize)]
struct Latest {
    name: String,
    value: f64,
    bound: Option<f64>,
    source: String,
}

pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let file = StateFile::open(&arguments.state)?;
    file.expect(Kind::Session)?;
    describe(&file, arguments.format)
}

/// Prints the session of a state.
pub fn describe(file: &StateFile, format: Format) -> Result<(), Failure> {
    let description = Description::read(file)?;
    let keys = description.keys(file)?;
    let data = Table::of_parts(file, &description, &keys)?.into_data(&keys)?;
    let kept = Kept::all(file)?;
    let latest = latest(&kept);
    let transcript = kept.iter().map(|kept| kept.entry).collect();
    let engine = Engine::resume(file, &description, transcript, &data)?;
    let facts = facts(&description, &engine, keys.kind(), keys.columns());
    match format {
        Format::Text => {
            let shown = file.path().display();
            let mut text = format!("{shown}: a session, its checksums hold\n\n{}", aligned(&facts));
            if !latest.is_empty() {
                text += "\nlatest answers\n";
            }
            for Latest { name, value, bound, source } in &latest {
                let bound = bound.map_or_else(String::new, |bound| format!(" ± {bound:.0}"));
                text += &format!("  {}: {value:.0}{bound} ({source})\n", printable(name));
            }
            write(text.as_bytes())?;
        }
        Format::Json => line(&Shown { schema: SCHEMA, facts: object(facts), latest: &latest })?,
        Format::Csv => fact_rows(&facts)?,
    }
    Ok(())
}

fn latest(kept: &[Kept]) -> Vec<Latest> {
    let shown = |kept: &Kept| Latest {
        name: kept.name.clone(),
        value: kept.entry.value(),
        bound: kept.entry.bound(),
        source: kept.entry.source().to_string(),
    };
    kept[kept.len().saturating_sub(LATEST)..].iter().map(shown).collect()
}

fn facts(
    description: &Description,
    engine: &Engine,
    kind: &KeyKind,
    columns: &[String],
) -> Vec<(&'static str, String)> {
    let (plan, asked) = (engine.plan(), engine.transcript().len() as u64);
    let setting = plan.setting();
    let (stated, level) = (setting.queries.get(), percentage(1.0 - setting.beta.get()));
    let lasts = lasts(plan, engine.lost());
    let mut facts = vec![
        ("mode", description.kind.name().to_owned()),
        ("total", description.budget.to_string()),
        ("spent", format!("{}, when it was created", description.cost)),
        ("neighbours", setting.neighbours.to_string()),
        ("unit", description.unit.clone()),
        ("rows per unit", setting.rows_per_unit.to_string()),
        ("key", columns.join(", ")),
    ];
    if let KeyKind::Bits(names) = kind {
        facts.push(("literals", names.names().join("; ")));
    }
    facts.extend([
        ("records", setting.records.to_string()),
        ("max support", setting.support.to_string()),
        ("bound", format!("± {:.0}, with probability {level} for all{lasts}", plan.guarantee_in_records())),
        ("asked", format!("{asked} different queries; the bound is for {stated}")),
    ]);
    facts.extend(plan.updates().map(|_| ("threshold", format!("{:.0}", plan.threshold()))));
    facts.push(("left", engine.left_of_all()));
    facts
}
