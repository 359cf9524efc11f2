//! The rows of a table, counted by key: streamed into a sketch where that is enough, else as a histogram.

use super::request::{MEANT_ROW, ROW, Request, Unit};
use crate::failure::Failure;
use crate::input::{Place, Source, Table, decimal};
use crate::progress::Progress;
use std::fmt::Display;
use tamis::noise::Rational;
use tamis::projection::{SignFamily, Sketch};
use tamis::queries::{ContributionBound, Element, Fingerprint, Histogram, HistogramBuilder, Keys};

/// What the noise is added to.
pub enum Data {
    Sketch(Sketch),
    Histogram(Histogram),
}

/// How much was read. As private as the data.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Lines of the table.
    pub rows: u64,
    /// What they stand for, after rows beyond the bound were dropped.
    pub records: u64,
    /// Rows beyond the bound.
    pub dropped: u64,
}

/// Rows handed to a sketch at a time.
pub const BATCH: usize = 1 << 17;

/// Where rows go.
enum Tally {
    /// Memory does not grow with the data.
    Sketch { sketch: Sketch, waiting: Vec<(Fingerprint, i64)> },
    /// Memory for each distinct key.
    Histogram(HistogramBuilder),
    /// Memory for each unit.
    Bound(ContributionBound),
}

impl Tally {
    fn new(request: &Request, keys: &Keys, family: &SignFamily) -> Self {
        if request.unit.bounded() {
            let bound = ContributionBound::new(request.plan.rows_per_unit(), *keys.fingerprint_key());
            // Cannot fail: a plan is for at least one row.
            return Self::Bound(bound.expect("a positive bound"));
        }
        if request.plan.heavy().is_some() {
            return Self::Histogram(Histogram::builder());
        }
        Self::Sketch { sketch: Sketch::empty(family), waiting: Vec::with_capacity(BATCH) }
    }

    /// `count` records of `key`; of this unit, if units are bounded.
    fn add(&mut self, key: Fingerprint, count: i64, unit: Option<&str>) -> Result<(), String> {
        match self {
            Self::Sketch { sketch, waiting } => {
                waiting.push((key, count));
                if waiting.len() == BATCH {
                    sketch.add_all(waiting).map_err(|error| error.to_string())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::Histogram(builder) => builder.add(key, count).map(|_| ()).map_err(|error| error.to_string()),
            Self::Bound(bound) => {
                bound.add(&Element::bytes(unit.unwrap_or_default().as_bytes()), key);
                Ok(())
            }
        }
    }

    /// All of it, and how many rows were dropped.
    fn finish(self) -> Result<(Data, u64), String> {
        match self {
            Self::Sketch { mut sketch, waiting } => {
                sketch.add_all(&waiting).map_err(|error| error.to_string())?;
                Ok((Data::Sketch(sketch), 0))
            }
            Self::Histogram(mut builder) => Ok((Data::Histogram(builder.build()), 0)),
            Self::Bound(bound) => {
                let dropped = bound.dropped();
                let histogram = bound.histogram().map_err(|error| error.to_string())?;
                Ok((Data::Histogram(histogram), dropped))
            }
        }
    }
}

/// Fails if the table cannot be opened or has other columns, before anything is said of a plan. A pipe can be opened only once:
/// there [`read`] finds out.
pub fn check(request: &Request, source: &Source) -> Result<(), Failure> {
    let Source::File(path) = source else { return Ok(()) };
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Ok(());
    }
    open(request, source, &Progress::new(true)).map(|_| ())
}

/// Opens the table and finds its columns.
fn open(request: &Request, source: &Source, progress: &Progress) -> Result<Table, Failure> {
    let opened = source.table(&request.columns(), progress);
    let table = opened.map_err(|failure| match request.unit.is_like_row() {
        true => failure.advising(MEANT_ROW),
        false => failure,
    })?;
    if request.unit == Unit::Row && table.names().iter().any(|name| name == ROW) {
        return Err(Failure::refused(
            format_args!(
                "--unit row: {source} has a column called \"row\", and it is not clear which of the two is meant"
            ),
            "rename the column if each record is a unit of its own, or if the column is to tell units apart",
        ));
    }
    Ok(table)
}

/// Reads the whole table, or fails at its first malformed row.
pub fn read(
    request: &Request,
    keys: &Keys,
    family: &SignFamily,
    source: &Source,
    progress: &Progress,
) -> Result<(Data, Contents), Failure> {
    let table = open(request, source, progress)?;
    let width = keys.columns().len();
    let whole_up_to = request.count.as_ref().and_then(|_| table.whole_up_to(width));
    let mut tally = Tally::new(request, keys, family);
    let mut contents = Contents::default();
    table.for_each(|place, cells| {
        let (key, other) = cells.split_at(width);
        let fingerprint = keys.fingerprint(key).map_err(|error| no_key(place, keys, &error))?;
        let (count, unit) = match (&request.count, &request.unit) {
            (Some(column), _) => (count(other[0], whole_up_to).map_err(|fault| no_count(place, column, fault))?, None),
            (None, Unit::Column(column)) => (1, Some(unit(place, column, other[0])?)),
            (None, Unit::Row) => (1, None),
        };
        contents.rows += 1;
        // No overflow: what is added has been checked against 2^50.
        contents.records = contents.records.saturating_add(count.unsigned_abs());
        tally.add(fingerprint, count, unit).map_err(|fault| too_many(place, &fault))
    })?;
    let (data, dropped) = tally.finish().map_err(|fault| too_many(source, &fault))?;
    contents.dropped = dropped;
    contents.records -= dropped;
    Ok((data, contents))
}

/// A count, or what is wrong with it.
fn count(cell: &str, whole_up_to: Option<u64>) -> Result<i64, &'static str> {
    let cell = cell.trim_matches([' ', '\t']);
    // What most cells are.
    if whole_up_to.is_none() && !cell.is_empty() && cell.len() <= 12 && cell.bytes().all(|byte| byte.is_ascii_digit()) {
        // Cannot fail: at most twelve digits.
        let count = cell.parse().expect("digits");
        return if count <= Histogram::MAX_TOTAL { Ok(count) } else { Err(BEYOND) };
    }
    let Some(value) = decimal(cell) else {
        return Err(if cell.is_empty() { "is empty" } else { "is not a decimal number" });
    };
    if value < Rational::ZERO {
        return Err("is negative");
    }
    if !value.is_int() {
        return Err("is not a whole number");
    }
    if whole_up_to.is_some_and(|limit| value > Rational::from(limit)) {
        return Err("is beyond what its floating-point type counts to, so that it may have been rounded");
    }
    i64::try_from(value.trunc()).ok().filter(|count| *count <= Histogram::MAX_TOTAL).ok_or(BEYOND)
}

const BEYOND: &str = "is beyond 2^40";

fn no_count(place: Place, column: &str, fault: &str) -> Failure {
    Failure::input(
        format_args!("{place}: the cell in column {column:?} {fault}"),
        "counts are whole numbers from 0, such as 42; no row can be skipped",
    )
}

fn no_key(place: Place, keys: &Keys, error: &impl Display) -> Failure {
    let columns: Vec<String> = keys.columns().iter().map(|name| format!("{name:?}")).collect();
    Failure::input(
        format_args!("{place}: the cell in column {}: {error}", columns.join(", ")),
        "give the key as it is described by --bits, or leave --bits out; no row can be skipped",
    )
}

/// The unit of a row. Rows without one are nobody's: taken for one unit, they would push each other out.
fn unit<'cell>(place: Place, column: &str, cell: &'cell str) -> Result<&'cell str, Failure> {
    if cell.is_empty() {
        return Err(Failure::input(
            format_args!("{place}: the cell in column {column:?} is empty, so that the row has no unit of privacy"),
            "fill the cell, or leave the row out of the input",
        ));
    }
    Ok(cell)
}

fn too_many(place: impl Display, fault: &str) -> Failure {
    Failure::input(format_args!("{place}: {fault}"), "release the table in parts, each with a budget of its own")
}
