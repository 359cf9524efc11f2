//! From arguments to a plan. Nothing here reads data.

use super::{Arguments, HeavyChoice, NoiseChoice, SignsKind};
use crate::arguments::{beta, budget, neighbours, number, queries, whole, wrong};
use crate::failure::Failure;
use crate::records::Records;
use tamis::noise::composition::CompositionError;
use tamis::noise::stability::StabilityError;
use tamis::noise::{Beta, Budget, Neighbours, Queries};
use tamis::projection::{Builder, HeavyKeys, NoiseKind, Plan, ProjectionError, ProjectionRelease, Unit};

/// What was asked for, checked, and the plan for it.
#[derive(Debug)]
pub struct Request {
    pub records: Records,
    pub plan: Plan,
    /// Whether the exact number of records is to be in the file.
    pub publish_records: bool,
    /// What the plan takes for granted, since nothing was said of it.
    pub assumed: Assumed,
    /// Whether a δ was offered that is not spent.
    pub delta_unspent: bool,
    /// How many answers are to keep the stated error at once, and with which probability they may fail to.
    pub confidence: (Queries, Beta),
}

/// What was not said of the data and of the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// One record a key.
    pub multiplicity: bool,
    /// Lists of 10 000 keys.
    pub support: bool,
}

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let (key, count) = (arguments.key.as_deref(), arguments.count.as_deref());
        let records = Records::check(key, arguments.bits.as_deref(), count, &arguments.unit)?;
        let rows = records.rows_per_unit(arguments.max_rows.as_deref())?;
        let budget = budget(&arguments.epsilon, &arguments.delta)?;
        let plan = plan(arguments, budget.clone(), rows)?;
        let assumed = Assumed {
            multiplicity: arguments.rows_per_key.is_none() && arguments.records.is_some(),
            support: arguments.support.is_none(),
        };
        Ok(Self {
            assumed,
            delta_unspent: !budget.delta().is_zero() && plan.cost().delta().is_zero(),
            publish_records: publish_records(arguments, &records.released_unit(), &plan)?,
            plan,
            records,
            confidence: confidence(arguments)?,
        })
    }
}

/// Whether n is to be published. It may be only if all neighbours have as many: units are replaced and are one record each.
fn publish_records(arguments: &Arguments, unit: &Unit, plan: &Plan) -> Result<bool, Failure> {
    let is_public = plan.neighbours() == Neighbours::Substitute && unit.is_one_record(plan.rows_per_unit());
    if arguments.publish_records && !is_public {
        return Err(Failure::refused(
            "--publish-records: the exact number of records tells whether somebody is among them",
            "leave it out, or protect what records say and not whether they exist: --neighbours substitute with --unit row",
        ));
    }
    Ok(arguments.publish_records)
}

fn plan(arguments: &Arguments, budget: Budget, rows_per_unit: u32) -> Result<Plan, Failure> {
    let builder = ProjectionRelease::builder(budget, neighbours(&arguments.neighbours)?, rows_per_unit);
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
        const HELP: &str = "for example --records 1000000; round it";
        let records = whole("records", text, HELP)?;
        size("records", records as f64, text, HELP)?;
        builder = builder.records(records);
    }
    if let Some(text) = &arguments.rows_per_key {
        const HELP: &str = "for example --rows-per-key 2.5";
        let multiplicity = number("rows-per-key", text, HELP)?.to_f64_fast();
        builder = builder.key_multiplicity(size("rows-per-key", multiplicity, text, HELP)?);
    }
    if let Some(text) = &arguments.support {
        const HELP: &str = "for example --support 10000";
        let support = whole("support", text, HELP)?;
        size("support", support as f64, text, HELP)?;
        builder = builder.support(support);
    }
    if arguments.queries.is_some() || arguments.beta.is_some() {
        let (queries, beta) = confidence(arguments)?;
        builder = builder.queries(queries).beta(beta);
    }
    if let Some(text) = &arguments.error {
        const HELP: &str = "for example --error 200";
        builder = builder.wanted_error(size("error", number("error", text, HELP)?.to_f64_fast(), text, HELP)?);
    }
    if let Some(text) = &arguments.file_bytes {
        builder = builder.file_bytes(whole("file-bytes", text, "for example --file-bytes 400000")?);
    }
    Ok(builder)
}

/// What a plan takes for a number of records or keys.
fn size(flag: &str, value: f64, text: &str, help: &str) -> Result<f64, Failure> {
    if (1.0..=1e15).contains(&value) {
        return Ok(value);
    }
    Err(wrong(flag, format_args!("it must be from 1 to 1e15, got {text}"), help))
}

/// k and β: one answer at 95 %, if nothing else is stated.
fn confidence(arguments: &Arguments) -> Result<(Queries, Beta), Failure> {
    const HELP: &str = "say how many, as in --queries 1000 (a file of queries is for `tamis answer`)";
    let queries = queries(arguments.queries.as_deref().unwrap_or("1"), HELP)?;
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
        ProjectionError::Unreachable { .. } => Failure::refused(
            error,
            "change --epsilon, --file-bytes or --support as it says, or take what can be had: leave out --error",
        ),
        ProjectionError::Stability(StabilityError::WithoutDelta)
        | ProjectionError::Composition(CompositionError::PureBudget { .. }) => {
            Failure::refused(error, "give --delta, for example --delta 1e-9")
        }
        ProjectionError::FileTooSmall(_) => wrong("file-bytes", error, "for example --file-bytes 400000"),
        ProjectionError::Independence(_) | ProjectionError::IndependenceOfAnswers(_) => {
            wrong("independence", error, "for example --independence 4")
        }
        ProjectionError::DenseWidth(_) => wrong("width", error, "for example --width 65536"),
        ProjectionError::SparseWidth { .. } => wrong("nonzeros", error, "for example --nonzeros 1 --width 65536"),
        ProjectionError::Parameter(_) | ProjectionError::Composition(_) | ProjectionError::Stability(_) => {
            Failure::refused(error, "change --epsilon, --delta, --max-rows, or what was asked of noise and signs")
        }
        _ => Failure::input(error, "`tamis release --help` says what each argument may be"),
    }
}
