//! From arguments to checked parameters. Nothing here reads data.

use super::{Arguments, Variant};
use crate::arguments::{beta, budget, hits, neighbours, number, parameter, queries, whole, wrong};
use crate::failure::Failure;
use crate::input::{Columns, Place, Row, Source, decimal};
use std::io::{self, IsTerminal};
use std::path::Path;
use tamis::noise::sparse_vector::{Plan, PlanError, Setting};
use tamis::noise::{Beta, Queries, Rational, Sensitivity, StreamKind};
use tamis::queries::Grid;

/// What was asked for, checked.
#[derive(Debug)]
pub struct Request {
    pub setting: Setting,
    pub grid: Grid,
    /// In grid units, like every value.
    pub threshold: i64,
    pub queries: Queries,
    pub beta: Beta,
    pub variant: Variant,
    pub numeric: bool,
    pub rows_per_unit: Option<u64>,
    /// The wanted error in grid units, for `--explain`.
    pub error: Option<u64>,
    pub columns: Columns,
}

impl Request {
    pub fn check(arguments: &Arguments) -> Result<Self, Failure> {
        let kind: StreamKind = parameter("kind", &arguments.kind, "give counts or values")?;
        let neighbours = neighbours(&arguments.neighbours)?;
        let grid = grid(kind, arguments.grid.as_deref())?;
        let budget = budget(&arguments.epsilon, &arguments.delta)?;
        let columns = Columns { value: arguments.column.clone(), label: arguments.label.clone() };
        if columns.value.is_some() && columns.value == columns.label {
            return Err(Failure::refused(
                "--label names the watched column, and labels are printed as they are",
                "label the alerts with a column that is public, such as a date",
            ));
        }
        Ok(Self {
            setting: Setting {
                hits: hits("alerts", "alerts", &arguments.alerts, "for example --alerts 2")?,
                budget,
                sensitivity: sensitivity(kind, grid, &arguments.sensitivity)?,
                neighbours,
                kind,
            },
            grid,
            threshold: threshold(kind, grid, &arguments.threshold)?,
            queries: queries(&arguments.queries, "for example --queries 1000")?,
            beta: beta(&arguments.beta)?,
            variant: arguments.variant,
            numeric: arguments.numeric,
            rows_per_unit: arguments.rows_per_unit.as_deref().map(rows_per_unit).transpose()?,
            error: arguments.error.as_deref().map(|text| wanted_error(grid, text)).transpose()?,
            columns,
        })
    }

    /// The plan for a variant: every constant of the run, from public numbers alone.
    pub fn plan(&self, variant: Variant) -> Result<Plan, Failure> {
        self.plan_within(&self.setting, variant).map_err(|error| {
            let help = match variant {
                Variant::Book => "use --variant tight, which composes exactly, or a smaller --epsilon",
                Variant::Tight => "change --epsilon, --alerts, --sensitivity or --grid",
            };
            Failure::refused(error, help)
        })
    }

    /// The plan for another setting, everything else as asked for.
    pub fn plan_within(&self, setting: &Setting, variant: Variant) -> Result<Plan, PlanError> {
        match (variant, self.numeric) {
            (Variant::Book, false) => Plan::sparse(setting),
            (Variant::Book, true) => Plan::numeric_sparse(setting),
            (Variant::Tight, false) => Plan::tight(setting, self.queries, self.beta),
            (Variant::Tight, true) => Plan::tight(setting, self.queries, self.beta)?.with_gap(),
        }
    }

    /// Where the data come from. Standard input is taken by default, unless somebody sits there.
    pub fn source(&self, file: Option<&Path>) -> Result<Source, Failure> {
        match file {
            Some(path) => Ok(Source::of(path)),
            None if io::stdin().is_terminal() => Err(Failure::input(
                "there is nothing to watch",
                "give a CSV or Parquet file, or `-` to type numbers; `tamis monitor --help` has examples",
            )),
            _ => Ok(Source::Stdin),
        }
    }

    /// A row's value in grid units.
    pub fn units(&self, row: &Row) -> Result<i64, Failure> {
        let counts = self.setting.kind == StreamKind::Counts;
        let cell = row.cell.trim_matches([' ', '\t']);
        let fault = match decimal(cell) {
            None if cell.is_empty() => "is empty".to_owned(),
            None => "is not a decimal number".to_owned(),
            Some(value) if counts && !self.grid.holds(&value) => "is not a whole number".to_owned(),
            Some(value) if counts && value < Rational::ZERO => "is negative".to_owned(),
            Some(value) if counts && row.whole_up_to.is_some_and(|limit| value > Rational::from(limit)) => {
                "is beyond what its floating-point type counts to, so that it may have been rounded".to_owned()
            }
            Some(value) => match self.grid.round(&value) {
                Ok(units) => return Ok(units),
                Err(_) if counts => "is beyond 2^60".to_owned(),
                Err(_) => format!("is beyond ±2^60 units of the grid 2^-{}", self.grid.bits()),
            },
        };
        let cell = match &self.columns.value {
            Some(column) => format!("{}: the cell in column {column:?}", row.place),
            None => format!("{}: the value", row.place),
        };
        let header =
            self.columns.value.is_none() && matches!(row.place, Place::Line(1)) && decimal(row.cell.trim()).is_none();
        let help = if header {
            "is the first line a header? then choose a column with --column; without one, every line is a number"
        } else if row.cell.trim().is_empty() {
            "no row can be skipped: fill the cell, or leave the row out of the input"
        } else if counts {
            "counts are whole numbers from 0, such as 42; watch other numbers with --kind values --grid BITS"
        } else {
            "write every value as a decimal number, such as -0.5 or 2.5e3; rows cannot be skipped"
        };
        Err(Failure::input(format_args!("{cell} {fault}"), help))
    }

    /// What is watched, in a sentence.
    pub fn subject(&self) -> &str {
        self.columns.value.as_deref().unwrap_or("the value")
    }
}

fn too_large(flag: &str, grid: Grid, text: &str, help: &str) -> Failure {
    let units = if grid == Grid::WHOLE { "" } else { " units of the grid" };
    wrong(flag, format_args!("it must be within ±2^60{units}, got {text}"), help)
}

fn grid(kind: StreamKind, bits: Option<&str>) -> Result<Grid, Failure> {
    const HELP: &str = "for example --grid 10 for multiples of 1/1024; the grid must not depend on the data";
    match (kind, bits) {
        (StreamKind::Counts, None) => Ok(Grid::WHOLE),
        (StreamKind::Counts, Some(_)) => Err(Failure::input(
            "--grid: counts are whole numbers and need no grid",
            "leave it out, or use --kind values",
        )),
        (StreamKind::Values, None) => {
            Err(Failure::input("--kind values needs --grid BITS: values are rounded to multiples of 2^-BITS", HELP))
        }
        (StreamKind::Values, Some(text)) => {
            let bits = text
                .parse()
                .map_err(|_| wrong("grid", format_args!("it must be a whole number from 0 to 30, got {text}"), HELP))?;
            Grid::new(bits).map_err(|error| wrong("grid", error, HELP))
        }
    }
}

fn sensitivity(kind: StreamKind, grid: Grid, text: &str) -> Result<Sensitivity, Failure> {
    const HELP: &str = "it is by how much one privacy unit can change one value at most, for example --sensitivity 1";
    let exact = number("sensitivity", text, HELP)?;
    if exact <= Rational::ZERO {
        return Err(wrong("sensitivity", format_args!("it must be above 0, got {text}"), HELP));
    }
    if kind == StreamKind::Counts && !grid.holds(&exact) {
        return Err(wrong("sensitivity", format_args!("that of counts is a whole number, got {text}"), HELP));
    }
    let units = grid.sensitivity(&exact).map_err(|_| too_large("sensitivity", grid, text, HELP))?;
    Sensitivity::new(units).map_err(|error| wrong("sensitivity", error, HELP))
}

fn threshold(kind: StreamKind, grid: Grid, text: &str) -> Result<i64, Failure> {
    const HELP: &str = "for example --threshold 265";
    let exact = number("threshold", text, HELP)?;
    if kind == StreamKind::Counts && !grid.holds(&exact) {
        return Err(wrong("threshold", format_args!("that of counts is a whole number, got {text}"), HELP));
    }
    grid.round(&exact).map_err(|_| too_large("threshold", grid, text, HELP))
}

fn rows_per_unit(text: &str) -> Result<u64, Failure> {
    const HELP: &str = "for example --rows-per-unit 1 if a unit is in one row only";
    match whole("rows-per-unit", text, HELP)? {
        0 => Err(wrong("rows-per-unit", "it must be a whole number of at least 1, got 0", HELP)),
        rows => Ok(rows),
    }
}

fn wanted_error(grid: Grid, text: &str) -> Result<u64, Failure> {
    const HELP: &str = "for example --error 25";
    let exact = number("error", text, HELP)?;
    // Rounded down to the grid: the error reached is at most the one asked for.
    let units = (exact * Rational::from(1u64 << grid.bits())).floor();
    u64::try_from(units)
        .ok()
        .filter(|units| *units >= 1)
        .ok_or_else(|| wrong("error", format_args!("it must be at least one unit of the grid, got {text}"), HELP))
}
