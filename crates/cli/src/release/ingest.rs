//! The rows of a table, counted by key: streamed into a sketch where that is enough, else as a histogram.

use super::request::Request;
use crate::failure::Failure;
use crate::input::Source;
use crate::progress::Progress;
use crate::records::{Contents, Record, too_many};
use tamis::projection::{SignFamily, Sketch};
use tamis::queries::{ContributionBound, Element, Fingerprint, Histogram, HistogramBuilder, Keys};

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
    Sketch { sketch: Sketch, waiting: Vec<(Fingerprint, i64)> },
    /// Memory for each distinct key.
    Histogram(HistogramBuilder),
    /// Memory for each unit.
    Bound(ContributionBound),
}

impl Tally {
    fn new(request: &Request, keys: &Keys, family: &SignFamily) -> Self {
        if request.records.unit.bounded() {
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

/// Reads the whole table, or fails at its first malformed row.
pub fn read(
    request: &Request,
    keys: &Keys,
    family: &SignFamily,
    source: &Source,
    progress: &Progress,
) -> Result<(Data, Contents), Failure> {
    let mut tally = Tally::new(request, keys, family);
    let add = |record: &Record| tally.add(record.fingerprint, record.count, record.unit);
    let mut contents = request.records.read(keys, source, progress, add)?;
    let (data, dropped) = tally.finish().map_err(|fault| too_many(source, &fault))?;
    contents.dropped = dropped;
    contents.records -= dropped;
    Ok((data, contents))
}
