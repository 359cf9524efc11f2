//! From arguments to a plan. Nothing here reads data.

use super::{Arguments, HeavyChoice, NoiseChoice, SignsKind};
use crate::arguments::{beta, number, parameter, whole, wrong};
use crate::failure::Failure;
use crate::input::{Fields, Role};
use std::fs;
use std::path::Path;
use tamis::noise::composition::CompositionError;
use tamis::noise::stability::StabilityError;
use tamis::noise::{Beta, Budget, Delta, Epsilon, Neighbours, Queries};
use tamis::projection::{self, Builder, HeavyKeys, NoiseKind, Plan, ProjectionError, ProjectionRelease};
use tamis::queries::{Columns, FingerprintKey, KeyKind, Keys};

/// What was asked for, checked, and the plan for it.
#[derive(Debug)]
pub struct Request {
    /// Columns of the key; none only for `--explain`.
    pub key: Vec<String>,
    pub bits: Option<Columns>,
    pub count: Option<String>,
    pub unit: Unit,
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

/// What is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Each record.
    Row,
    /// All rows with the same cell in a column.
    Column(String),
}

impl Unit {
    /// Whether it is a column whose name may have been meant as `row`.
    pub fn is_like_row(&self) -> bool {
        let alike = [ROW, "rows", "record", "records"];
        matches!(self, Self::Column(name) if alike.iter().any(|word| name.eq_ignore_ascii_case(word)))
    }

    /// Whether rows beyond a bound are dropped.
    pub fn bounded(&self) -> bool {
        matches!(self, Self::Column(_))
    }
}

/// The unit that is no column.
pub const ROW: &str = "row";

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let key = arguments.key.as_deref().map_or(Ok(Vec::new()), key_columns)?;
        let bits = arguments.bits.as_deref().map(bit_names).transpose()?;
        let unit = if arguments.unit == ROW { Unit::Row } else { Unit::Column(arguments.unit.clone()) };
        if let Some(count) = &arguments.count {
            count_beside(count, &key, &unit)?;
        }
        let rows = rows_per_unit(arguments.max_rows.as_deref(), &unit)?;
        let budget = budget(arguments)?;
        let plan = plan(arguments, budget.clone(), rows)?;
        let assumed = Assumed {
            multiplicity: arguments.rows_per_key.is_none() && arguments.records.is_some(),
            support: arguments.support.is_none(),
        };
        let request = Self {
            assumed,
            delta_unspent: !budget.delta().is_zero() && plan.cost().delta().is_zero(),
            publish_records: publish_records(arguments, &unit, &plan)?,
            plan,
            key,
            bits,
            count: arguments.count.clone(),
            unit,
            confidence: confidence(arguments)?,
        };
        if !request.key.is_empty() {
            // Checked now: with another fingerprint key it will do as well.
            request.keys(FingerprintKey::new([0; 16]))?;
        }
        Ok(request)
    }

    /// Keys as this release names them.
    pub fn keys(&self, fingerprint_key: FingerprintKey) -> Result<Keys, Failure> {
        let kind = self.bits.clone().map_or(KeyKind::Text, KeyKind::Bits);
        Keys::new(self.key.iter().map(String::as_str), kind, fingerprint_key)
            .map_err(|error| wrong("key", error, "name each column once, as in --key given_name,family_name"))
    }

    /// The columns to read: those of the key, then that of the unit or that of the counts.
    pub fn columns(&self) -> Vec<(&str, Role)> {
        let mut columns: Vec<(&str, Role)> = self.key.iter().map(|name| (name.as_str(), Role::Name)).collect();
        if let Unit::Column(name) = &self.unit {
            columns.push((name, Role::Name));
        }
        columns.extend(self.count.as_deref().map(|name| (name, Role::Number)));
        columns
    }

    /// The unit, as the release names it.
    pub fn released_unit(&self) -> projection::Unit {
        match (&self.unit, &self.count) {
            (Unit::Column(name), _) => projection::Unit::Column(name.clone()),
            (Unit::Row, None) => projection::Unit::Row,
            (Unit::Row, Some(_)) => projection::Unit::Record,
        }
    }
}

/// Whether n is to be published. It may be only if all neighbours have as many: units are replaced and are one record each.
fn publish_records(arguments: &Arguments, unit: &Unit, plan: &Plan) -> Result<bool, Failure> {
    let is_public = plan.neighbours() == Neighbours::Substitute && plan.rows_per_unit() == 1 && *unit == Unit::Row;
    if arguments.publish_records && !is_public {
        return Err(Failure::refused(
            "--publish-records: the exact number of records tells whether somebody is among them",
            "leave it out, or protect what records say and not whether they exist: --neighbours substitute with --unit row",
        ));
    }
    Ok(arguments.publish_records)
}

fn key_columns(text: &str) -> Result<Vec<String>, Failure> {
    const HELP: &str = "for example --key email, or --key given_name,family_name";
    if text.trim().is_empty() || text.contains(['\n', '\r']) {
        return Err(wrong("key", "it must name a column, or several with commas between", HELP));
    }
    let mut fields = Fields::new();
    let names = fields.split(text, 1).map_err(|_| wrong("key", "it has a quote that is not closed", HELP))?;
    Ok(names.iter().map(str::to_owned).collect())
}

fn bit_names(path: &Path) -> Result<Columns, Failure> {
    const HELP: &str = "give a text file with the name of one boolean on each line, the first for the lowest bit";
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| wrong("bits", format_args!("cannot read {shown}: {error}"), HELP))?;
    Columns::from_text(&text).map_err(|error| wrong("bits", format_args!("{shown}: {error}"), HELP))
}

fn count_beside(count: &str, key: &[String], unit: &Unit) -> Result<(), Failure> {
    if key.iter().any(|name| name == count) {
        return Err(Failure::input(
            format_args!("--count: the column {count:?} is part of the key"),
            "give the column that says how many records a row stands for",
        ));
    }
    if unit.bounded() {
        return Err(Failure::refused(
            "--count with --unit COL: of records that were counted together nobody can tell which belong to one unit",
            "give --unit row, and with --max-rows how many of the counted records one person has at most; or release the \
             table before it was counted",
        ));
    }
    Ok(())
}

/// For `--unit rows` and the like.
pub const MEANT_ROW: &str = "did you mean --unit row, for which each record is a unit?";

fn rows_per_unit(text: Option<&str>, unit: &Unit) -> Result<u32, Failure> {
    const HELP: &str = "for example --max-rows 5: rows beyond it are dropped, and the noise grows with it";
    match (text, unit) {
        (Some(text), _) => {
            let rows = whole("max-rows", text, HELP)?;
            u32::try_from(rows)
                .ok()
                .filter(|rows| (1..=1_000_000).contains(rows))
                .ok_or_else(|| wrong("max-rows", format_args!("it must be from 1 to 1000000, got {rows}"), HELP))
        }
        (None, Unit::Row) => Ok(1),
        (None, Unit::Column(name)) => Err(Failure::refused(
            format_args!("--max-rows is missing: how many rows of one {name:?} may count decides the noise"),
            if unit.is_like_row() { MEANT_ROW } else { HELP },
        )),
    }
}

fn budget(arguments: &Arguments) -> Result<Budget, Failure> {
    let epsilon: Epsilon = parameter("epsilon", &arguments.epsilon, "for example --epsilon 1, or 1/2")?;
    let delta: Delta = parameter(
        "delta",
        &arguments.delta,
        "leave it out for pure privacy, or give far less than one over the number of units, as in --delta 1e-9",
    )?;
    Ok(Budget::approximate(epsilon, delta))
}

fn plan(arguments: &Arguments, budget: Budget, rows_per_unit: u32) -> Result<Plan, Failure> {
    let neighbours: Neighbours = parameter("neighbours", &arguments.neighbours, "give add-remove or substitute")?;
    let builder = ProjectionRelease::builder(budget, neighbours, rows_per_unit);
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
