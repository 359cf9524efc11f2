//! The rows of a table: which columns are the key, how many records a row stands for, and whose they are.

use crate::arguments::{whole, wrong};
use crate::failure::Failure;
use crate::input::{Fields, Place, Role, Source, Table, decimal};
use crate::output::quoted;
use crate::progress::Progress;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use tamis::noise::{Neighbours, Rational};
use tamis::projection;
use tamis::queries::{
    Columns, ContributionBound, Element, Fingerprint, FingerprintKey, Histogram, HistogramBuilder, KeyKind, Keys,
};

/// What the rows of a table are.
#[derive(Debug)]
pub struct Records {
    /// Columns of the key; none if only a plan is wanted.
    pub key: Vec<String>,
    pub bits: Option<Columns>,
    pub count: Option<String>,
    pub unit: Unit,
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
    /// As in the argument.
    pub fn name(&self) -> &str {
        match self {
            Self::Row => ROW,
            Self::Column(name) => name,
        }
    }

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

/// A row as it is read.
pub struct Record<'a> {
    /// The cells of the key.
    pub cells: &'a [&'a str],
    pub fingerprint: Fingerprint,
    /// How many records it stands for.
    pub count: i64,
    /// Whose it is, if units are told apart by a column.
    pub unit: Option<&'a str>,
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

impl Records {
    /// From the arguments `--key`, `--bits`, `--count` and `--unit`.
    pub fn check(key: Option<&str>, bits: Option<&Path>, count: Option<&str>, unit: &str) -> Result<Self, Failure> {
        let key = key.map_or(Ok(Vec::new()), key_columns)?;
        let bits = bits.map(bit_names).transpose()?;
        let unit = if unit == ROW { Unit::Row } else { Unit::Column(unit.to_owned()) };
        if let Some(count) = count {
            count_beside(count, &key, &unit)?;
        }
        let records = Self { key, bits, count: count.map(str::to_owned), unit };
        if !records.key.is_empty() {
            // Checked now: with another fingerprint key it will do as well.
            records.keys(FingerprintKey::new([0; 16]))?;
        }
        Ok(records)
    }

    /// L, from the argument `--max-rows`.
    pub fn rows_per_unit(&self, max_rows: Option<&str>) -> Result<u32, Failure> {
        rows_per_unit(max_rows, &self.unit)
    }

    /// Keys as these rows name them.
    pub fn keys(&self, fingerprint_key: FingerprintKey) -> Result<Keys, Failure> {
        let kind = self.bits.clone().map_or(KeyKind::Text, KeyKind::Bits);
        Keys::new(self.key.iter().map(String::as_str), kind, fingerprint_key)
            .map_err(|error| wrong("key", error, "name each column once, as in --key given_name,family_name"))
    }

    /// The columns to read: those of the key, then that of the unit or that of the counts.
    fn columns(&self) -> Vec<(&str, Role)> {
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

    /// What a neighbour is, in words that a curator can check.
    pub fn protected(&self, neighbours: Neighbours, rows: u32) -> String {
        let whose = match (&self.unit, &self.count, rows) {
            (Unit::Column(name), ..) => format!("all rows with the same {name:?}, of which at most {rows} count"),
            (Unit::Row, None, 1) => "one row".to_owned(),
            (Unit::Row, Some(_), 1) => "one of the counted records, not a line of the table".to_owned(),
            (Unit::Row, None, _) => format!("{rows} rows, the most that one unit has by your word"),
            (Unit::Row, Some(_), _) => {
                format!("{rows} of the counted records, the most that one unit has by your word")
            }
        };
        let change = match neighbours {
            Neighbours::AddRemove => "added or removed",
            Neighbours::Substitute => "replaced",
        };
        format!("{whose}, {change}")
    }

    /// Fails if the table cannot be opened or has other columns, before anything is said of a plan. A pipe can be opened only once:
    /// there [`read`](Self::read) finds out.
    pub fn check_table(&self, source: &Source) -> Result<(), Failure> {
        let Source::File(path) = source else { return Ok(()) };
        if path.exists() && !path.is_file() && !path.is_dir() {
            return Ok(());
        }
        self.open(source, &Progress::new(true)).map(|_| ())
    }

    /// Opens the table and finds its columns.
    fn open(&self, source: &Source, progress: &Progress) -> Result<Table, Failure> {
        let opened = source.table(&self.columns(), progress);
        let table = opened.map_err(|failure| match self.unit.is_like_row() {
            true => failure.advising(MEANT_ROW),
            false => failure,
        })?;
        if self.unit == Unit::Row && table.names().iter().any(|name| name == ROW) {
            return Err(Failure::refused(
                format_args!(
                    "--unit row: {source} has a column called \"row\", and it is not clear which of the two is meant"
                ),
                "rename the column if each record is a unit of its own, or if the column is to tell units apart",
            ));
        }
        Ok(table)
    }

    /// Shows `add` each row of a whole table, or fails at the first that is malformed or that `add` has no room for.
    pub fn read(
        &self,
        keys: &Keys,
        source: &Source,
        progress: &Progress,
        mut add: impl FnMut(&Record) -> Result<(), String>,
    ) -> Result<Contents, Failure> {
        let table = self.open(source, progress)?;
        let width = keys.columns().len();
        let whole_up_to = self.count.as_ref().and_then(|_| table.whole_up_to(width));
        let mut contents = Contents::default();
        table.for_each(|place, cells| {
            let (cells, other) = cells.split_at(width);
            let fingerprint = keys.fingerprint(cells).map_err(|error| no_key(place, keys, &error))?;
            let (count, unit) = match (&self.count, &self.unit) {
                (Some(column), _) => {
                    (count(other[0], whole_up_to).map_err(|fault| no_count(place, column, fault))?, None)
                }
                (None, Unit::Column(column)) => (1, Some(unit(place, column, other[0])?)),
                (None, Unit::Row) => (1, None),
            };
            contents.rows += 1;
            // No overflow: what is added is checked against 2^50.
            contents.records = contents.records.saturating_add(count.unsigned_abs());
            add(&Record { cells, fingerprint, count, unit }).map_err(|fault| too_many(place, &fault))
        })?;
        Ok(contents)
    }
}

/// Rows, counted by key.
pub enum Tally {
    /// All of them. Memory for each distinct key.
    Histogram(HistogramBuilder),
    /// At most L of each unit. Memory for each unit.
    Bound(ContributionBound),
}

impl Tally {
    /// Of none yet.
    pub fn new(records: &Records, rows_per_unit: u32, keys: &Keys) -> Self {
        if !records.unit.bounded() {
            return Self::Histogram(Histogram::builder());
        }
        // Cannot fail: a plan is for at least one row.
        Self::Bound(ContributionBound::new(rows_per_unit, *keys.fingerprint_key()).expect("a positive bound"))
    }

    /// Counts a row, or says why there is no room for it.
    pub fn add(&mut self, record: &Record) -> Result<(), String> {
        match self {
            Self::Histogram(builder) => {
                builder.add(record.fingerprint, record.count).map(drop).map_err(|error| error.to_string())
            }
            Self::Bound(bound) => {
                bound.add(&Element::bytes(record.unit.unwrap_or_default().as_bytes()), record.fingerprint);
                Ok(())
            }
        }
    }

    /// The histogram. Rows that were dropped are taken from `contents`.
    pub fn finish(self, source: &Source, contents: &mut Contents) -> Result<Histogram, Failure> {
        match self {
            Self::Histogram(mut builder) => Ok(builder.build()),
            Self::Bound(bound) => {
                contents.dropped = bound.dropped();
                contents.records -= contents.dropped;
                bound.histogram().map_err(|error| too_many(source, &error.to_string()))
            }
        }
    }
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
    Failure::input(
        format_args!("{place}: the cell in column {}: {error}", quoted(keys.columns())),
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

pub fn too_many(place: impl Display, fault: &str) -> Failure {
    Failure::input(format_args!("{place}: {fault}"), "release the table in parts, each with a budget of its own")
}
