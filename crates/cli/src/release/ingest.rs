//! The rows of a table, counted by key: streamed into a sketch where that is enough, else as a histogram.

use super::request::Request;
use crate::failure::Failure;
use crate::input::Source;
use crate::progress::Progress;
use crate::records::{self, Contents, Record, too_many};
use tamis::projection::{SignFamily, Sketch};
use tamis::queries::{Fingerprint, Histogram, Keys};

/// What the noise is added to.
pub enum Data {
    Sketch(Sketch),
    Histogram(Histogram),
}

/// Rows handed to a sketch at a time.
pub const BATCH: usize = 1 << 17;

/// Where rows go.
enum Tally {
    /// Memory does not grow with the data.
    Sketch {
        sketch: Sketch,
        waiting: Vec<(Fingerprint, i64)>,
    },
    Counted(records::Tally),
}

impl Tally {
    fn new(request: &Request, keys: &Keys, family: &SignFamily) -> Self {
        if request.records.unit.bounded() || request.plan.heavy().is_some() {
            return Self::Counted(records::Tally::new(&request.records, request.plan.rows_per_unit(), keys));
        }
        Self::Sketch { sketch: Sketch::empty(family), waiting: Vec::with_capacity(BATCH) }
    }

    fn add(&mut self, record: &Record) -> Result<(), String> {
        match self {
            Self::Sketch { sketch, waiting } => {
                waiting.push((record.fingerprint, record.count));
                if waiting.len() == BATCH {
                    sketch.add_all(waiting).map_err(|error| error.to_string())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::Counted(tally) => tally.add(record),
        }
    }

    /// All of it. Rows that were dropped are taken from `contents`.
    fn finish(self, source: &Source, contents: &mut Contents) -> Result<Data, Failure> {
        match self {
            Self::Sketch { mut sketch, waiting } => {
                sketch.add_all(&waiting).map_err(|error| too_many(source, &error.to_string()))?;
                Ok(Data::Sketch(sketch))
            }
            Self::Counted(tally) => Ok(Data::Histogram(tally.finish(source, contents)?)),
        }
    }
}

/// Reads the whole table, or fails at its first malformed row.
pub fn read(
    request: &Request,
    keys: &Keys,
    family: &SignFamily,
    source: &Source,
    progress: &Progress,
) -> Result<(Data, Contents), Failure> {
    let mut tally = Tally::new(request, keys, family);
    let mut contents = request.records.read(keys, source, progress, |record| tally.add(record))?;
    let data = tally.finish(source, &mut contents)?;
    Ok((data, contents))
}
