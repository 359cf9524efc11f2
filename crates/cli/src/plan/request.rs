//! From arguments to a question. Nothing here reads data.

use super::Arguments;
use crate::arguments::{beta, budget, neighbours, number, whole_up_to, wrong};
use crate::failure::Failure;
use tamis::noise::Queries;
use tamis::plan::{Asking, Question, QuestionError, Wanted};

/// What was asked, checked as far as single arguments go.
#[derive(Debug)]
pub struct Request {
    pub question: Question,
    /// What was planned by though it was not said.
    pub assumed: Option<&'static str>,
    pub wanted: Option<Wanted>,
}

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let records =
            whole_up_to("records", &arguments.records, Question::MAX_RECORDS, "for example --records 1000000")?;
        let (key_multiplicity, largest_count) = counts(arguments, records)?;
        let universe =
            |text: &String| whole_up_to("universe", text, u64::MAX, "for example --universe 1e6, or leave it out");
        let keys = |text: &String| {
            whole_up_to(
                "distinct-keys",
                text,
                records,
                "at most --records, for example --distinct-keys 50000, or leave it out",
            )
        };
        let most_rows = Question::MAX_ROWS_PER_UNIT;
        let rows_per_unit =
            whole_up_to("unit-rows", &arguments.unit_rows, most_rows.into(), "for example --unit-rows 1")?;
        let support = whole_up_to(
            "max-support",
            &arguments.max_support,
            Question::MAX_SUPPORT,
            "a list may have so many, for example --max-support 10000",
        )?;
        let queries = whole_up_to("queries", &arguments.queries, Question::MAX_QUERIES, "for example --queries 10000")?;
        let asking = if arguments.adaptive { Asking::Adaptively } else { Asking::Beforehand };
        let neither = arguments.rows_per_key.is_none() && arguments.largest_count.is_none();
        Ok(Self {
            question: Question {
                records,
                support,
                // Cannot fail: more are legal.
                queries: Queries::new(queries).expect("at most 2^52"),
                beta: beta(&arguments.beta)?,
                budget: budget(&arguments.epsilon, &arguments.delta)?,
                neighbours: neighbours(&arguments.neighbours)?,
                // Cannot fail: they are in range.
                rows_per_unit: u32::try_from(rows_per_unit).expect("at most a million"),
                largest_count,
                key_multiplicity,
                distinct_keys: arguments.distinct_keys.as_ref().map(keys).transpose()?,
                universe: arguments.universe.as_ref().map(universe).transpose()?,
                asking,
                memory: whole_up_to("memory", &arguments.memory, u64::MAX, "in bytes, for example --memory 16e9")?,
            },
            assumed: match (neither, &arguments.distinct_keys) {
                (true, None) => {
                    Some("no two records share a key: neither --rows-per-key nor --largest-count was given")
                }
                (_, Some(_)) => Some("keys have as many records as a power law gives them: for typical errors alone"),
                (false, None) => (key_multiplicity > 1.0).then_some(
                    "every key has about --rows-per-key records; where some have fewer, counts of frequent keys and ALP typically err by \
                     more than this: see --distinct-keys",
                ),
            },
            wanted: arguments.error.as_deref().map(wanted).transpose()?,
        })
    }
}

/// ‖x‖²/n and the largest count, each as large as the other allows where it is not given; 1 if neither is.
fn counts(arguments: &Arguments, records: u64) -> Result<(f64, u64), Failure> {
    let multiplicity = |text: &String| {
        number("rows-per-key", text, "for example --rows-per-key 2.5").map(|number| number.to_f64_fast())
    };
    let largest = |text: &String| {
        let help = "at most --records, for example --largest-count 1 if all keys are distinct";
        whole_up_to("largest-count", text, records, help)
    };
    let given = (
        arguments.rows_per_key.as_ref().map(multiplicity).transpose()?,
        arguments.largest_count.as_ref().map(largest).transpose()?,
    );
    Ok(match given {
        (None, None) | (Some(1.0), None) => (1.0, 1),
        (Some(multiplicity), None) => (multiplicity, records),
        (None, Some(largest)) => (largest as f64, largest),
        (Some(multiplicity), Some(largest)) => (multiplicity, largest),
    })
}

fn wanted(text: &str) -> Result<Wanted, Failure> {
    const HELP: &str = "for example --error 0.01 for one percent of the records, or --error 500 for records";
    let error = number("error", text, HELP)?.to_f64_fast();
    if error <= 0.0 {
        return Err(wrong("error", format_args!("it must be above 0, got {text}"), HELP));
    }
    Ok(if error < 1.0 { Wanted::Share(error) } else { Wanted::Records(error) })
}

/// A question that makes no sense, though each size is in its range.
pub fn refusal(error: &QuestionError) -> Failure {
    match error {
        QuestionError::KeyMultiplicity { .. } => wrong(
            "rows-per-key",
            error,
            "give a --rows-per-key from 1 up to --largest-count, which is at most --records",
        ),
        QuestionError::DistinctKeys { .. } => wrong(
            "distinct-keys",
            error,
            "give a --rows-per-key that so many keys may have, or leave out --distinct-keys",
        ),
        QuestionError::Universe { .. } => wrong(
            "universe",
            error,
            "give a larger --universe, or say by --rows-per-key or --largest-count that records share keys",
        ),
        _ => Failure::input(error, "`tamis plan --help` says what each argument may be"),
    }
}
