//! Several columns of a table, row after row, as cells that are borrowed for a moment.

use super::{Place, Source, csv::Csv, lines::Lines, parquet};
use crate::failure::Failure;
use std::fs::File;
use std::io::BufRead;

/// What the cells of a column are for. A text file need not know; of Parquet, other types are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// They name something: text, whole numbers, decimals, dates.
    Name,
    /// They are numbers.
    Number,
}

/// Some columns of a table, opened and found.
pub struct Table {
    source: Source,
    reader: Reader,
}

enum Reader {
    Csv { csv: Csv, positions: Vec<usize> },
    Parquet(parquet::Table),
}

impl Table {
    pub fn of_text(text: Box<dyn BufRead>, source: &Source, columns: &[(&str, Role)]) -> Result<Self, Failure> {
        let csv = Csv::open(Lines::new(text, source.clone()))?;
        let positions = columns.iter().map(|(name, _)| csv.position(name)).collect::<Result<_, _>>()?;
        Ok(Self { source: source.clone(), reader: Reader::Csv { csv, positions } })
    }

    pub fn of_parquet(file: File, source: &Source, columns: &[(&str, Role)]) -> Result<Self, Failure> {
        let reader = Reader::Parquet(parquet::Table::open(file, source, columns)?);
        Ok(Self { source: source.clone(), reader })
    }

    /// The names of all columns.
    pub fn names(&self) -> &[String] {
        match &self.reader {
            Reader::Csv { csv, .. } => csv.names(),
            Reader::Parquet(table) => table.names(),
        }
    }

    /// Up to where the column asked for in this place holds every whole number, if it holds floating-point numbers.
    pub fn whole_up_to(&self, column: usize) -> Option<u64> {
        match &self.reader {
            Reader::Csv { .. } => None,
            Reader::Parquet(table) => table.whole_up_to(column),
        }
    }

    /// Shows `visit` every row: its place, and its cells in the order in which the columns were asked for.
    ///
    /// Fails at the first row that is malformed or that `visit` refuses, and if there is none.
    pub fn for_each(self, mut visit: impl FnMut(Place, &[&str]) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut any = false;
        let mut visit = |place, cells: &[&str]| {
            any = true;
            visit(place, cells)
        };
        match self.reader {
            Reader::Csv { mut csv, positions } => {
                while let Some((number, record)) = csv.next()? {
                    let cells: Vec<&str> = positions.iter().map(|&position| &record[position]).collect();
                    visit(Place::Line(number), &cells)?;
                }
            }
            Reader::Parquet(table) => table.for_each(visit)?,
        }
        if any {
            return Ok(());
        }
        Err(Failure::input(format_args!("{} has no rows", self.source), "give a table with at least one row"))
    }
}
