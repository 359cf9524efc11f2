//! From arguments to a plan. Nothing here reads data.

use super::{Arguments, HeavyChoice, NoiseChoice, SignsKind};
use crate::arguments::{beta, number, parameter, whole, wrong};
use crate::failure::Failure;
use crate::records::Records;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::projection::{Builder, HeavyKeys, NoiseKind, Plan, ProjectionError, ProjectionRelease};

/// What was asked for, checked, and the plan for it.
#[derive(Debug)]
pub struct Request {
    pub records: Records,
    pub plan: Plan,
    /// How many answers are to keep the stated error at once, and with which probability they may fail to.
    pub confidence: (Queries, Beta),
}

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let (key, count) = (arguments.key.as_deref(), arguments.count.as_deref());
        let records = Records::check(key, arguments.bits.as_deref(), count, &arguments.unit)?;
        let rows = records.rows_per_unit(arguments.max_rows.as_deref())?;
        Ok(Self { records, plan: plan(arguments, rows)?, confidence: confidence(arguments)? })
    }

    /// Whether the number of records is the same in all neighbours: only if units are replaced, and each has exactly one.
    pub fn size_is_public(&self) -> bool {
        self.plan.neighbours() == Neighbours::Substitute && self.plan.rows_per_unit() == 1
    }
}

fn plan(arguments: &Arguments, rows_per_unit: u32) -> Result<Plan, Failure> {
    let epsilon: Epsilon = parameter("epsilon", &arguments.epsilon, "for example --epsilon 1, or 1/2")?;
    let delta: Delta = parameter(
        "delta",
        &arguments.delta,
        "leave it out for pure privacy, or give far less than one over the number of units, as in --delta 1e-9",
    )?;
    let neighbours: Neighbours = parameter("neighbours", &arguments.neighbours, "give add-remove or substitute")?;
    let builder = ProjectionRelease::builder(Budget::approximate(epsilon, delta), neighbours, rows_per_unit);
    let builder = sized(expected(builder, arguments)?, arguments)?;
    builder.build().map_err(|error| match error {
        // Of all signs that were tried, dense ones are named last.
        ProjectionError::DenseWidth(width) if arguments.signs != Some(SignsKind::Dense) => wrong(
            "width",
            format_args!("it must be a power of two up to 2^26 (with dense signs, a multiple of 64), got {width}"),
            "for example --width 65536",
        ),
        error => refusal(&error),
    })
}

/// What is expected of the data and of the queries.
fn expected(mut builder: Builder, arguments: &Arguments) -> Result<Builder, Failure> {
    if let Some(text) = &arguments.records {
        builder = builder.records(whole("records", text, "for example --records 1000000; round it")?);
    }
    if let Some(text) = &arguments.rows_per_key {
        let multiplicity = number("rows-per-key", text, "for example --rows-per-key 2.5")?;
        builder = builder.key_multiplicity(multiplicity.to_f64_fast());
    }
    if let Some(text) = &arguments.support {
        builder = builder.support(whole("support", text, "for example --support 10000")?);
    }
    if arguments.queries.is_some() || arguments.beta.is_some() {
        let (queries, beta) = confidence(arguments)?;
        builder = builder.queries(queries).beta(beta);
    }
    if let Some(text) = &arguments.error {
        builder = builder.wanted_error(number("error", text, "for example --error 200")?.to_f64_fast());
    }
    if let Some(text) = &arguments.file_bytes {
        builder = builder.file_bytes(whole("file-bytes", text, "for example --file-bytes 400000")?);
    }
    Ok(builder)
}

/// k and β: one answer at 95 %, if nothing else is stated.
fn confidence(arguments: &Arguments) -> Result<(Queries, Beta), Failure> {
    const HELP: &str = "for example --queries 1000";
    let queries = whole("queries", arguments.queries.as_deref().unwrap_or("1"), HELP)?;
    let queries = Queries::new(queries).map_err(|error| wrong("queries", error, HELP))?;
    Ok((queries, beta(arguments.beta.as_deref().unwrap_or("0.05"))?))
}

/// What is asked of the release itself.
fn sized(mut builder: Builder, arguments: &Arguments) -> Result<Builder, Failure> {
    let small = |flag: &str, text: &str, help: &str| {
        let number = whole(flag, text, help)?;
        u32::try_from(number).map_err(|_| wrong(flag, format_args!("it must be below 2^32, got {number}"), help))
    };
    if let Some(text) = &arguments.width {
        builder = builder.width(whole("width", text, "for example --width 65536")?);
    }
    match (arguments.signs, &arguments.nonzeros) {
        (Some(SignsKind::Dense), Some(_)) => {
            return Err(Failure::input(
                "--nonzeros: with dense signs a key touches all rows",
                "leave it out, or give --signs sparse",
            ));
        }
        (Some(SignsKind::Dense), None) => builder = builder.dense(),
        (_, Some(text)) => builder = builder.nonzeros(small("nonzeros", text, "for example --nonzeros 1")?),
        // The best of the sparse ones, unless another is asked for.
        (Some(SignsKind::Sparse), None) => builder = builder.nonzeros(1),
        (None, None) => {}
    }
    if let Some(text) = &arguments.independence {
        builder = builder.independence(small("independence", text, "for example --independence 4")?);
    }
    if let Some(noise) = arguments.noise {
        builder = builder.noise(match noise {
            NoiseChoice::Laplace => NoiseKind::Laplace,
            NoiseChoice::Gaussian => NoiseKind::Gaussian,
        });
    }
    Ok(builder.heavy(match arguments.heavy {
        HeavyChoice::Auto => HeavyKeys::Auto,
        HeavyChoice::On => HeavyKeys::On,
        HeavyChoice::Off => HeavyKeys::Off,
    }))
}

/// A plan that cannot be had.
pub fn refusal(error: &ProjectionError) -> Failure {
    match error {
        ProjectionError::Unstated => Failure::input(
            "--records is missing: about how many records the data has, so that a width can be chosen",
            "give a rounded public guess, as in --records 1000000 (never the count of private data), or --width 65536",
        ),
        ProjectionError::Unreachable { .. } => Failure::refused(error, "or take what can be had: leave out --error"),
        ProjectionError::Parameter(_) | ProjectionError::Composition(_) | ProjectionError::Stability(_) => {
            Failure::refused(error, "change --epsilon, --delta, --max-rows, or what was asked of noise and signs")
        }
        _ => Failure::input(error, "`tamis release --help` says what each argument may be"),
    }
}
