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
//! | `unit` | whose privacy it is: `row`, or the column whose values are the units |
//! | `rows_per_unit` | L: how many rows of the table a unit has at most |
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
//! | `records` | n, only if it is public |
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

use crate::{ProjectionError, ProjectionRelease, SignFamily, heavy};
use container::Container;
use metadata::Metadata;
use std::io::{Read, Write};
use tamis_queries::{ConjunctionError, KeyError, Keys};

/// A release as it is published: all that whoever asks must know.
///
/// ```
/// use rand::{SeedableRng, rngs::StdRng};
/// use tamis_noise::{Budget, Epsilon, Neighbours};
/// use tamis_projection::{ProjectionRelease, ReleaseFile};
/// use tamis_queries::{FingerprintKey, Histogram, KeyKind, Keys, SparseQuery};
///
/// let keys = Keys::new(["email"], KeyKind::Text, FingerprintKey::new([7; 16]))?; // a fresh one in earnest
/// let mut table = Histogram::builder();
/// table.add(keys.fingerprint(&["ann@example.org"])?, 1)?;
/// let plan = ProjectionRelease::builder(Budget::pure(Epsilon::new(1.0)?), Neighbours::AddRemove, 1).width(1024).build()?;
/// let release = plan.release(&table.build(), &mut StdRng::seed_from_u64(1))?; // from the operating system in earnest
///
/// let mut bytes = Vec::new();
/// ReleaseFile { release, keys, unit: "row".to_owned(), records: None }.write(&mut bytes)?;
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
    /// Whose privacy it is: `row`, or the name of the column whose values are the units.
    pub unit: String,
    /// n, only if it is public: as a rule it is not under add-remove neighbours.
    pub records: Option<u64>,
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
    #[error("the release has format {0}, and this version of tamis reads format 1: use a newer version")]
    Format(String),
    /// Nothing under a name.
    #[error("the release says nothing under {0}")]
    Missing(String),
    /// Two texts under one name.
    #[error("the release says two things under {0}")]
    Twice(String),
    /// A name that this format does not have.
    #[error("the release says something under {0}, which format 1 does not know")]
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
    /// If `to` fails, or the file would be longer than [`MAX_BYTES`](Self::MAX_BYTES): there are too many heavy keys.
    pub fn write<W: Write>(&self, mut to: W) -> Result<(), FileError> {
        let (values, heavy) = (self.release.residual(), self.release.plan().heavy().map(|_| self.release.heavy()));
        let bytes = container::to_bytes(&metadata::of(self), values, heavy)?;
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
        let (mut values, heavy) = file.table(plan.shape().width(), plan.heavy().is_some())?;
        // Before the sum, so that it cannot overflow; below, a sum that would is out of range, too.
        heavy::check(plan.heavy(), &heavy)?;
        if !heavy.is_empty() {
            let sketch = SignFamily::new(plan.shape(), seed).sum(&heavy);
            values.iter_mut().zip(sketch).for_each(|(value, sum)| *value = value.saturating_add(sum));
        }
        Ok(Self { release: ProjectionRelease::restore(plan, seed, values, heavy)?, keys, unit, records })
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
        ReleaseFile { release, keys, unit: "row".to_owned(), records: None }
    }
}
