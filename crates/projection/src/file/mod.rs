//! The release file: one Parquet file that any tool opens.
//!
//! # What is in it
//! A column `value` of 64-bit integers, one a row of the release, in order: all of them noisy. With
//! [heavy keys](crate::heavy) there is a column `key` before it, unsigned and null in those rows; below them follow the heavy
//! keys, sorted: `key` is the fingerprint, `value` the noisy count. Then the first T values are what the sketch answers from,
//! Y − S(c̃), so that nobody else need know how to sketch. Everything else that whoever asks must know is text, in the key-value
//! metadata of the footer, under names that start with `tamis.`:
//!
//! | name | what |
//! | ---- | ---- |
//! | `format` | the version of all this: 1 |
//! | `written_by` | which program wrote it |
//! | `mechanism` | `projection` |
//! | `privacy` | the promise, in a sentence. For people: it is not read back |
//! | `epsilon`, `delta` | what the release spends: exact decimals or fractions |
//! | `neighbours` | `add-remove` or `substitute` |
//! | `unit` | whose privacy it is: `row`, `record` (of a table that was counted) or `column`: see [`Unit`] |
//! | `unit_column` | only with `column`: the column whose values tell units apart |
//! | `rows_per_unit` | L: how many rows of the table, or counted records, a unit has at most |
//! | `signs` | `sparse` or `dense`: see [`family`](crate::family) |
//! | `width`, `nonzeros`, `independence` | T, s (not with dense signs: it would be T), r |
//! | `family`, `seed` | version of the [family](crate::family), 1, and its seed: 64 hexadecimal digits |
//! | `noise` | `laplace` or `gaussian`: discrete, on each row |
//! | `noise_scale`, `noise_variance` | the one of that noise, exact: a scale, or a parameter σ² |
//! | `sketch_epsilon`, `sketch_delta` | only with heavy keys: what the sketch spends of the whole |
//! | `heavy_epsilon`, `heavy_delta` | only with heavy keys: what their counts spend |
//! | `heavy_scale`, `heavy_threshold` | only with heavy keys: scale of the noise on counts, least noisy count that is released |
//! | `key_columns` | which columns are the key: a JSON array of texts |
//! | `key_kind`, `key_bits` | [`text` or `bits`](tamis_queries::keys); of bits the names, a JSON array, lowest bit first |
//! | `fingerprint`, `fingerprint_key` | `SipHash-2-4`, and its key: 32 hexadecimal digits |
//! | `stated_…` | what was stated to plan by: `records`, `key_multiplicity`, `support`, `queries`, `beta` |
//! | `records` | n, if it was to be published: only under `substitute`, with L = 1 and no `unit_column` |
//!
//! Nothing else is accepted.
//!
//! # Opening it elsewhere
//! ```python
//! import pandas, pyarrow.parquet                             # pandas
//! values = pandas.read_parquet("release.tamis", dtype_backend="pyarrow")["value"]   # without it keys become floats
//! about = pyarrow.parquet.read_metadata("release.tamis").metadata   # {b"tamis.epsilon": b"1", …}
//!
//! import polars                                              # polars
//! values = polars.read_parquet("release.tamis")["value"]
//! about = polars.read_parquet_metadata("release.tamis")      # {"tamis.epsilon": "1", …}
//!
//! import duckdb                                              # DuckDB
//! values = duckdb.sql("SELECT value FROM read_parquet('release.tamis')")
//! about = duckdb.sql("SELECT decode(key), decode(value) FROM parquet_kv_metadata('release.tamis')")
//! ```
//!
//! # Damage
//! The 16 bytes before the footer, where Parquet looks for nothing, are SipHash-2-4-128 of all other bytes, under the key
//! `Tamis: checksum.`: so they are in every version. A file of which a byte has changed is refused. That is no protection
//! against forgery: whoever can write a file can write a checksum. A reader trusts whom it has the file from, but for this: a
//! file that promises more privacy than its noise gives is refused as far as that can be told
//! from what it says.
//!
//! # Files of strangers
//! Reading takes 8 bytes a row in memory and as much again while it is decoded (dense signs: up to 20 in all), and 32 a heavy
//! key. The latter is in proportion to the file, of which a heavy key takes 4 bytes at least; the former is not, since values
//! without noise, at a very large ε, compress to nothing: a file of 150 kB may have 2²⁶ rows, and take a gigabyte. Time is
//! bounded by seconds, for the rows and for the [signs of heavy keys](crate::heavy#answers). A forged page may say that it
//! unpacks to 2 GiB. Who reads files of strangers on a small machine does so in a process of its own.
//!
//! # Size
//! The values are nearly incompressible, by their noise. Up to 256 different ones are written as a byte each and compressed to
//! within 2 % of their entropy, which no encoding of integers that Parquet has comes near by itself: at the default (2²⁰ rows,
//! scale 1, a million records) a file has 369 kB, of which 360 are entropy, while bit-packed indices would take 465, deltas 514,
//! split bytes 537 and plain integers 581, compressed as much. More different values are written as deltas or with their bytes split, whichever
//! is less: about 1.3 bits a value above entropy. A heavy key takes 9 or 10 bytes. [`Plan::file_bytes`](crate::Plan::file_bytes)
//! says it beforehand.
//!
//! The same release gives the same bytes, from the same version of this crate.

mod container;
mod dictionary;
mod metadata;
pub(crate) mod size;

use crate::{ProjectionError, ProjectionRelease};
use container::Container;
use metadata::Metadata;
use std::io::{Read, Write};
use tamis_noise::Neighbours;
use tamis_queries::{ConjunctionError, KeyError, Keys};

/// A release as it is published: all that whoever asks must know.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Budget, Epsilon, Neighbours};
/// use tamis_projection::{ProjectionRelease, ReleaseFile, Unit};
/// use tamis_queries::{FingerprintKey, Histogram, KeyKind, Keys, SparseQuery};
///
/// let keys = Keys::new(["email"], KeyKind::Text, FingerprintKey::new([7; 16]))?; // a fresh one in earnest
/// let mut table = Histogram::builder();
/// table.add(keys.fingerprint(&["ann@example.org"])?, 1)?;
/// let plan = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0)?), Neighbours::AddRemove, 1).width(1024).build()?;
/// let release = plan.release(&table.build(), &mut StdRng::seed_from_u64(1))?; // from the operating system in earnest
///
/// let mut bytes = Vec::new();
/// ReleaseFile { release, keys, unit: Unit::Row, records: None }.write(&mut bytes)?;
///
/// let file = ReleaseFile::read(&bytes[..])?;
/// assert!(file.describe().contains(&("epsilon", "1".to_owned())));
/// let ann = SparseQuery::count([file.keys.fingerprint(&["ann@example.org"])?]);
/// assert!(file.release.answer(&ann).interval(0.999)?.upper > 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReleaseFile {
    /// Plan, seed and noisy values.
    pub release: ProjectionRelease,
    /// How to name keys as the release does.
    pub keys: Keys,
    /// Whose privacy it is.
    pub unit: Unit,
    /// n, if it is to be published. It may be only where it is the same in all neighbours: if each unit is exactly one row or
    /// counted record (L = 1, and no column that tells units apart: one of those may have no row) and is replaced. Nobody's
    /// presence is hidden then.
    pub records: Option<u64>,
}

/// What is added, removed or replaced between neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many rows of the table, at the word of whoever released it.
    Row,
    /// So many of the records that the rows of the table count, at the same word. It is not a row, which may count thousands.
    Record,
    /// All rows with the same value in this column: those beyond L were dropped.
    Column(String),
}

impl Unit {
    /// Whether each unit is exactly one row or counted record, where it has at most so many: with L = 1, unless a column tells
    /// units apart, of which one may have no row. Then the number of records is the same in all substitute neighbours.
    ///
    /// ```
    /// use tamis_projection::Unit;
    /// assert!(Unit::Record.is_one_record(1) && !Unit::Record.is_one_record(2));
    /// assert!(!Unit::Column("person".to_owned()).is_one_record(1));
    /// ```
    pub fn is_one_record(&self, rows_per_unit: u32) -> bool {
        rows_per_unit == 1 && !matches!(self, Self::Column(_))
    }

    /// What a unit is, in a sentence for people, where each has at most L rows.
    ///
    /// ```
    /// use tamis_projection::Unit;
    /// assert_eq!(Unit::Row.in_words(1), "A unit is a row of the table.");
    /// ```
    pub fn in_words(&self, rows_per_unit: u32) -> String {
        match (self, rows_per_unit) {
            (Self::Row, 1) => "A unit is a row of the table.".to_owned(),
            (Self::Row, most) => {
                format!("That a unit has at most {most} rows of the table is the word of whoever released it.")
            }
            (Self::Record, 1) => {
                "A unit is one of the records that the table counts, not a row of the table, which may count many."
                    .to_owned()
            }
            (Self::Record, most) => format!(
                "Rows are here the records that the table counts, not its own rows, which may count many; that a unit has at \
                 most {most} is the word of whoever released it."
            ),
            (Self::Column(name), most) => format!(
                "A unit is all rows with the same {name:?}; those beyond {most} were dropped and are not counted."
            ),
        }
    }
}

/// A file that cannot be written, or that is no release, or not one that this version can use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// More bytes than any release has.
    #[error("a release file has at most {} bytes, and this has more", ReleaseFile::MAX_BYTES)]
    TooLong,
    /// Something else altogether.
    #[error("this is no release file: it does not start as a Parquet file does")]
    NotParquet,
    /// The end is missing.
    #[error("the file was cut short: it does not end as a Parquet file does; copy it anew")]
    CutShort,
    /// Another table.
    #[error("this is a Parquet file, but no release: nothing in it is called tamis.format")]
    Foreign,
    /// Other bytes than were written.
    #[error("the release is damaged, or another program rewrote it: its checksum does not hold; copy it anew")]
    Damaged,
    /// A format that this version does not know.
    #[error("the release has format {0:?}, and this version of tamis reads format 1: use a newer version")]
    Format(String),
    /// Nothing under a name.
    #[error("the release says nothing under {0}")]
    Missing(String),
    /// Two texts under one name.
    #[error("the release says two things under {0:?}")]
    Twice(String),
    /// A name that this format does not have.
    #[error("the release says something under {0:?}, which format 1 does not know")]
    Unknown(String),
    /// A text that is not what it should be.
    #[error("the release says {text:?} under {name}, which should be {wanted}")]
    Entry {
        /// Under which name.
        name: String,
        /// At most the first 80 characters.
        text: String,
        /// What would be right.
        wanted: String,
    },
    /// A number of records that is not public.
    #[error(
        "the number of records may be published only under substitute neighbours, with units of exactly one row or counted record"
    )]
    Records,
    /// Heavy keys that were not made by hashing.
    #[error("{0} heavy keys take {least} bytes and more, since fingerprints are random; this file has fewer", least = .0.saturating_mul(4))]
    HeavyBytes(u64),
    /// Other columns or rows.
    #[error("the release does not hold what it says it does: {0}")]
    Contents(String),
    /// A plan that cannot be, or values that are not its.
    #[error(transparent)]
    Plan(#[from] ProjectionError),
    /// Columns that make no key.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// Names that packed booleans cannot have.
    #[error(transparent)]
    Bits(#[from] ConjunctionError),
}

impl ReleaseFile {
    /// Longer files are neither written nor read. 2²⁶ rows of 8 bytes are half of that.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Writes the file, all at once: `to` is given nothing before all is known. A failure may leave a part of it behind, so
    /// write to a new file and rename it.
    ///
    /// Cost: the file twice in memory; 30 ms a million values if they are few different ones, else some seconds.
    ///
    /// # Errors
    /// If `to` fails, or the file would be longer than [`MAX_BYTES`](Self::MAX_BYTES): there are too many heavy keys. If they take
    /// fewer than 4 bytes each, which fingerprints do not. If [`records`](Self::records) is given where it is not public.
    pub fn write<W: Write>(&self, mut to: W) -> Result<(), FileError> {
        self.check_records()?;
        let (values, heavy) = (self.release.residual(), self.release.plan().heavy().map(|_| self.release.heavy()));
        let bytes = container::to_bytes(&metadata::of(self), values, heavy)?;
        container::check_heavy(self.release.heavy().len() as u64, bytes.len() as u64)?;
        if bytes.len() as u64 > Self::MAX_BYTES {
            return Err(FileError::TooLong);
        }
        to.write_all(&bytes)?;
        Ok(to.flush()?)
    }

    /// Reads a file that was [written](Self::write), by this or an earlier version.
    ///
    /// # Errors
    /// If it cannot be read, is no release, was damaged, comes from a newer version, or says what cannot be: the error says
    /// which, and what to do. Texts in errors are from the file, which is public.
    pub fn read<R: Read>(from: R) -> Result<Self, FileError> {
        let mut bytes = Vec::new();
        from.take(Self::MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > Self::MAX_BYTES {
            return Err(FileError::TooLong);
        }
        let file = Container::open(bytes)?;
        let Metadata { plan, seed, keys, unit, records } = Metadata::read(file.metadata())?;
        let (residual, heavy) = file.table(plan.shape().width(), plan.heavy().is_some())?;
        let release = ProjectionRelease::restore_residual(plan, seed, residual, heavy)?;
        let file = Self { release, keys, unit, records };
        file.check_records()?;
        Ok(file)
    }

    fn check_records(&self) -> Result<(), FileError> {
        let plan = self.release.plan();
        let is_public = plan.neighbours() == Neighbours::Substitute && self.unit.is_one_record(plan.rows_per_unit());
        if self.records.is_none() || is_public { Ok(()) } else { Err(FileError::Records) }
    }

    /// What is promised, and to whom, in words: [`Plan::privacy`](crate::Plan::privacy) and [`Unit::in_words`].
    pub fn privacy(&self) -> String {
        let plan = self.release.plan();
        format!("{} {}", plan.privacy(), self.unit.in_words(plan.rows_per_unit()))
    }

    /// All that the file says, name by name, as the table in the [module](self) has them, but for the program that wrote it.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        metadata::of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeavyKeys, Plan, Seed};
    use tamis_noise::{Budget, Neighbours};
    use tamis_queries::{Fingerprint, FingerprintKey, KeyKind};

    /// A release of nothing at ε = 1, δ = 10⁻⁹, L = 1, of 64 rows, with three heavy keys or none.
    pub(super) fn example(
        heavy: HeavyKeys,
        nonzeros: u32,
        choose: fn(crate::Builder) -> crate::Builder,
    ) -> ReleaseFile {
        let budget = Budget::approximate("1".parse().unwrap(), "1e-9".parse().unwrap());
        let builder = ProjectionRelease::builder(budget, Neighbours::AddRemove, 1).width(64).nonzeros(nonzeros);
        let plan: Plan = choose(builder.heavy(heavy)).build().unwrap();
        let counts = plan.heavy().map_or(Vec::new(), |threshold| {
            [3, 1 << 40, u64::MAX].map(|key| (Fingerprint::raw(key), threshold.threshold() + 5)).to_vec()
        });
        let values = (0..64).map(|row| row % 7 - 3).collect();
        let release = ProjectionRelease::restore(plan, Seed([5; 32]), values, counts).unwrap();
        let keys = Keys::new(["name"], KeyKind::Text, FingerprintKey::new([7; 16])).unwrap();
        ReleaseFile { release, keys, unit: Unit::Row, records: None }
    }

    /// Exactly where all neighbours have as many.
    #[test]
    fn the_number_of_records_is_published_only_where_it_is_public() {
        let column = Unit::Column("person".to_owned());
        for (neighbours, rows_per_unit, unit, is_public) in [
            (Neighbours::Substitute, 1, Unit::Row, true),
            (Neighbours::Substitute, 1, Unit::Record, true),
            (Neighbours::Substitute, 1, column, false),
            (Neighbours::Substitute, 2, Unit::Row, false),
            (Neighbours::AddRemove, 1, Unit::Row, false),
            (Neighbours::AddRemove, 1, Unit::Record, false),
        ] {
            let builder = ProjectionRelease::builder(Budget::pure("1".parse().unwrap()), neighbours, rows_per_unit);
            let plan = builder.width(64).build().unwrap();
            let release = ProjectionRelease::restore(plan, Seed([5; 32]), vec![0; 64], Vec::new()).unwrap();
            let keys = Keys::new(["name"], KeyKind::Text, FingerprintKey::new([7; 16])).unwrap();
            let file = ReleaseFile { release, keys, unit, records: Some(123_456) };
            let mut bytes = Vec::new();
            let case = format!("{neighbours} {rows_per_unit} {:?}", file.unit);
            match file.write(&mut bytes) {
                Ok(()) => assert!(is_public, "{case}"),
                Err(error) => assert!(!is_public && matches!(error, FileError::Records), "{case}"),
            }
            // A file that another program made.
            let forged = container::to_bytes(&metadata::of(&file), file.release.values(), None).unwrap();
            match ReleaseFile::read(&forged[..]) {
                Ok(read) => assert!(is_public && read.records == Some(123_456), "{case}"),
                Err(error) => assert!(!is_public && matches!(error, FileError::Records), "{case}"),
            }
        }
    }
}
