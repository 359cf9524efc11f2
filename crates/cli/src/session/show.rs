//! `tamis session show`: what a session has promised, given and left.

use super::create::warn_of_more_records;
use super::explain::{condition, lasts};
use super::stored::{Description, Engine, Kept, Table};
use crate::failure::Failure;
use crate::output::{Format, aligned, csv, fact_rows, line, object, percentage, printable, write};
use crate::state::{Kind, StateFile};
use serde::Serialize;
use std::path::PathBuf;
use tamis::queries::KeyKind;

const EXAMPLES: &str = "\
Examples:
  tamis session show adult.session
  All answers, as a table:
    tamis session show adult.session --all --format csv

All of a session's budget is spent when it is created, so what is left is counted in corrections from the data and in queries \
that the guarantee is for, or, of a gaussian session, in answers.

Standard output has nothing that asking has not published: neither data nor the noisy threshold. A warning on standard error \
that there are more records than --records says is private, for the curator alone.

--format json writes one object: schema, facts, asked, and latest with the last ten answers, or all of them with --all (name, \
value, bound, source). csv has a row for each fact; with --all it has instead a row for each answer, in the order of asking.

Exit codes: 0 done; 1 the state is an older copy; 2 usage, a damaged state, or one that another process uses for more than ten \
seconds; 3 internal error, or output that could not be written.";

/// Prints what a session has promised, given and left.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "See --help for examples.")]
pub struct Arguments {
    /// A state that `tamis session create` wrote.
    #[arg(value_name = "STATE")]
    state: PathBuf,
    /// Print all answers and not only the last ten.
    #[arg(long)]
    all: bool,
    /// Format of standard output: text for people, JSON, or CSV with a row for each fact, or each answer with --all.
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
    /// How many answers there are.
    asked: usize,
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
    let file = StateFile::open(&arguments.state, false)?;
    file.expect(Kind::Session)?;
    print(&file, arguments.format, if arguments.all { usize::MAX } else { LATEST })
}

/// Prints the session of a state, with its latest answers.
pub fn describe(file: &StateFile, format: Format) -> Result<(), Failure> {
    print(file, format, LATEST)
}

/// The same with so many answers.
fn print(file: &StateFile, format: Format, most: usize) -> Result<(), Failure> {
    let description = Description::read(file)?;
    let keys = description.keys(file)?;
    let data = Table::of_parts(file, &description, &keys)?.into_data(&keys)?;
    let kept = Kept::all(file)?;
    let (asked, latest) = (kept.len(), latest(&kept, most));
    let transcript = kept.iter().map(|kept| kept.entry).collect();
    let engine = Engine::resume(file, &description, transcript, &data)?;
    let facts = facts(&description, &engine, keys.kind(), keys.columns());
    if data.total() > engine.plan().setting().records as i64 {
        warn_of_more_records();
    }
    match format {
        Format::Text => {
            let shown = file.path().display();
            let mut text = format!("{shown}: a session, its checksums hold\n\n{}", aligned(&facts));
            text += &match latest.len() {
                0 => String::new(),
                shown if shown == asked => "\nanswers\n".to_owned(),
                shown => format!("\nlatest answers, {shown} of {asked}: `tamis session show --all` lists them\n"),
            };
            for Latest { name, value, bound, source } in &latest {
                let bound = bound.map_or_else(String::new, |bound| format!(" ± {bound:.0}"));
                text += &format!("  {}: {value:.0}{bound} ({source})\n", printable(name));
            }
            write(text.as_bytes())?;
        }
        Format::Json => line(&Shown { schema: SCHEMA, facts: object(facts), asked, latest: &latest })?,
        Format::Csv if most > LATEST => write(&answer_rows(&latest)?)?,
        Format::Csv => fact_rows(&facts)?,
    }
    Ok(())
}

/// A row each, after a header.
fn answer_rows(answers: &[Latest]) -> std::io::Result<Vec<u8>> {
    csv(|writer| {
        writer.write_record(["name", "value", "bound", "source"])?;
        for Latest { name, value, bound, source } in answers {
            let bound = bound.map_or_else(String::new, |bound| bound.to_string());
            writer.write_record([name, &value.to_string(), &bound, source])?;
        }
        Ok(())
    })
}

fn latest(kept: &[Kept], most: usize) -> Vec<Latest> {
    let shown = |kept: &Kept| Latest {
        name: kept.name.clone(),
        value: kept.entry.value(),
        bound: kept.entry.bound(),
        source: kept.entry.source().to_string(),
    };
    kept[kept.len().saturating_sub(most)..].iter().map(shown).collect()
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
    let (lasts, condition) = (lasts(plan, engine.lost()), condition(setting));
    let forgotten = match engine.forgotten() {
        0 => String::new(),
        forgotten => format!(", and {forgotten} that a run took with it when it was cut off"),
    };
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
        ("bound", format!("± {:.0}, with probability {level} for all{lasts}{condition}", plan.guarantee_in_records())),
        ("asked", format!("{asked} different queries{forgotten}; the bound is for {stated}")),
    ]);
    facts.extend(plan.updates().map(|_| ("threshold", format!("{:.0}", plan.threshold()))));
    facts.push(("left", engine.left_of_all()));
    facts
}
