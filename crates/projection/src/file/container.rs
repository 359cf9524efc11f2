//! From texts and integers to the bytes of a Parquet file, and back.

use super::{FileError, dictionary, metadata::PREFIX};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tamis_queries::Fingerprint;

/// The first and the last bytes of every Parquet file.
const MAGIC: &[u8] = b"PAR1";
const CHECKSUM: usize = 16;
const CHECKSUM_KEY: &[u8; 16] = b"Tamis: checksum.";
/// What distinguishes releases from other tables.
const FORMAT: &[u8] = b"tamis.format";

/// Sorted, n random 64-bit numbers are told by n·(64 − log₂ n) bits at least: by more than four bytes each, up to n = 2³².
pub(super) fn check_heavy(heavy: u64, bytes: u64) -> Result<(), FileError> {
    if heavy <= bytes / 4 { Ok(()) } else { Err(FileError::HeavyBytes(heavy)) }
}

/// Nothing is written that the library could not write: into memory, a schema of its own.
fn internal(error: ParquetError) -> FileError {
    FileError::Io(std::io::Error::other(error))
}

/// A column chunk, as it will stand in a file.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// A heavy key and its count.
type Heavy = (Fingerprint, i64);

/// The bytes of a file with these values, and with a column of keys or without.
pub(super) fn to_bytes(
    metadata: &[(&'static str, String)],
    values: &[i64],
    heavy: Option<&[Heavy]>,
) -> Result<Vec<u8>, FileError> {
    let program = concat!("tamis-projection ", env!("CARGO_PKG_VERSION")).to_owned();
    let said = metadata.iter().cloned().chain([("written_by", program)]);
    let said = said.map(|(name, text)| KeyValue::new(format!("{PREFIX}{name}"), text)).collect();
    let properties = WriterProperties::builder()
        .set_created_by(concat!("tamis version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(said));
    let parquet = in_parquet(properties.build(), values, heavy).map_err(internal)?;
    Ok(with_checksum(&parquet))
}

fn in_parquet(properties: WriterProperties, values: &[i64], heavy: Option<&[Heavy]>) -> Result<Vec<u8>, ParquetError> {
    let mut file = SerializedFileWriter::new(Vec::new(), schema(heavy.is_some())?, Arc::new(properties))?;
    write_rows(&mut file, &[], values)?;
    if let Some(heavy) = heavy.filter(|heavy| !heavy.is_empty()) {
        let (keys, counts): (Vec<_>, Vec<_>) =
            heavy.iter().map(|&(key, count)| (key.get().cast_signed(), count)).unzip();
        write_rows(&mut file, &keys, &counts)?;
    }
    file.into_inner()
}

/// Rows with these values, and these keys or none.
fn write_rows(file: &mut SerializedFileWriter<Vec<u8>>, keys: &[i64], values: &[i64]) -> Result<(), ParquetError> {
    let columns = file.schema_descr().columns().to_vec();
    let mut rows = file.next_row_group()?;
    for column in &columns {
        let chunk = if column.max_def_level() == 0 {
            smallest(column, values)?
        } else {
            let levels = vec![i16::from(!keys.is_empty()); values.len()];
            encoded(column, keys, Some(&levels), Encoding::DELTA_BINARY_PACKED)?
        };
        rows.append_column(&chunk.bytes, chunk.close)?;
    }
    rows.close()?;
    Ok(())
}

fn schema(has_keys: bool) -> Result<TypePtr, ParquetError> {
    let column = |name| Type::primitive_type_builder(name, PhysicalType::INT64);
    let unsigned = LogicalType::integer(64, false);
    let key = column("key").with_repetition(Repetition::OPTIONAL).with_logical_type(Some(unsigned)).build()?;
    let value = column("value").with_repetition(Repetition::REQUIRED).build()?;
    let columns = if has_keys { vec![key, value] } else { vec![value] };
    let columns = columns.into_iter().map(Arc::new).collect();
    Ok(Arc::new(Type::group_type_builder("release").with_fields(columns).build()?))
}

/// The values in the encoding that makes least of them.
fn smallest(column: &ColumnDescPtr, values: &[i64]) -> Result<Chunk, ParquetError> {
    if let Some(chunk) = dictionary::chunk(column, values)? {
        return Ok(chunk);
    }
    let deltas = encoded(column, values, None, Encoding::DELTA_BINARY_PACKED)?;
    let split = encoded(column, values, None, Encoding::BYTE_STREAM_SPLIT)?;
    Ok(if split.bytes.len() < deltas.bytes.len() { split } else { deltas })
}

fn encoded(
    column: &ColumnDescPtr,
    values: &[i64],
    levels: Option<&[i16]>,
    encoding: Encoding,
) -> Result<Chunk, ParquetError> {
    // Of split bytes those of the signs repeat, far apart; what deltas leave is noise, whoever searches.
    let level = if encoding == Encoding::BYTE_STREAM_SPLIT { 19 } else { 3 };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_dictionary_enabled(false)
        .set_encoding(encoding)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        // One page, so that split bytes lie together.
        .set_data_page_size_limit(usize::MAX)
        .set_data_page_row_count_limit(usize::MAX);
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let ColumnWriter::Int64ColumnWriter(mut writer) =
        get_column_writer(column.clone(), Arc::new(properties.build()), pages)
    else {
        return Err(ParquetError::General("the column is of integers".to_owned()));
    };
    writer.write_batch(values, levels, None)?;
    let close = writer.close()?;
    Ok(Chunk { bytes: sink.into_inner()?.into(), close })
}

/// Puts the checksum before the footer. Nothing in a footer counts bytes from the end.
fn with_checksum(parquet: &[u8]) -> Vec<u8> {
    // Cannot fail: the library wrote it.
    let footer = footer_start(parquet).expect("a Parquet file");
    let (body, footer) = parquet.split_at(footer);
    [body, &checksum(body, footer), footer].concat()
}

fn checksum(body: &[u8], footer: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = SipHasher24::new_with_key(CHECKSUM_KEY);
    hasher.write(body);
    hasher.write(footer);
    hasher.finish128().as_bytes()
}

/// Where the footer starts, if there is one.
fn footer_start(bytes: &[u8]) -> Option<usize> {
    let (rest, magic) = bytes.split_last_chunk::<4>()?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    (magic == MAGIC).then_some(())?;
    rest.len().checked_sub(u32::from_le_bytes(*length) as usize)
}

/// A file whose checksum holds.
pub(super) struct Container {
    reader: SerializedFileReader<Bytes>,
    has_keys: bool,
    /// How many there are.
    bytes: u64,
}

impl Container {
    /// Takes the bytes of a whole file.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, FileError> {
        if !bytes.starts_with(MAGIC) {
            return Err(FileError::NotParquet);
        }
        let footer = footer_start(&bytes).ok_or(FileError::CutShort)?;
        let is_ours = bytes[footer..].windows(FORMAT.len()).any(|window| window == FORMAT);
        if !is_ours {
            return Err(FileError::Foreign);
        }
        let (body, footer) = bytes.split_at(footer);
        let holds = body.split_last_chunk().is_some_and(|(body, found)| *found == checksum(body, footer));
        if !holds {
            return Err(FileError::Damaged);
        }
        let bytes = Bytes::from(bytes);
        let of = |has_keys| guarded(|| reader_of(&bytes, has_keys)).map(|reader| (reader, has_keys));
        let (reader, has_keys) = of(false).or_else(|_| of(true))?;
        Ok(Self { reader, has_keys, bytes: bytes.len() as u64 })
    }

    /// What is said of the values.
    pub(super) fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let said = self.reader.metadata().file_metadata().key_value_metadata();
        said.into_iter().flatten().map(|entry| (entry.key.as_str(), entry.value.as_deref().unwrap_or_default()))
    }

    /// The columns: so many values, and heavy keys below them or not.
    pub(super) fn table(&self, rows: u32, has_keys: bool) -> Result<(Vec<i64>, Vec<Heavy>), FileError> {
        let metadata = self.reader.metadata();
        if self.has_keys != has_keys {
            let columns = if has_keys { "key and value" } else { "value alone" };
            return Err(FileError::Contents(format!("the columns must be {columns}, as this program writes them")));
        }
        let lengths: Vec<i64> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
        let heavy = match lengths[..] {
            [values] if values == i64::from(rows) => 0,
            [values, heavy] if values == i64::from(rows) && has_keys && heavy > 0 => {
                check_heavy(heavy.cast_unsigned(), self.bytes)?;
                heavy as usize
            }
            _ => return Err(FileError::Contents(format!("{rows} values are wanted, got groups of {lengths:?}"))),
        };
        let column_of_values = usize::from(has_keys);
        let values = self.column(0, column_of_values, rows as usize)?;
        if has_keys {
            self.column(0, 0, 0)?;
        }
        if heavy == 0 {
            return Ok((values, Vec::new()));
        }
        let keys = self.column(1, 0, heavy)?.into_iter().map(|key| Fingerprint::raw(key.cast_unsigned()));
        let counts = self.column(1, column_of_values, heavy)?;
        Ok((values, keys.zip(counts).collect()))
    }

    /// A column of a row group, of which so many cells are not null.
    fn column(&self, group: usize, column: usize, number: usize) -> Result<Vec<i64>, FileError> {
        let mut values = Vec::new();
        let (rows, read) = guarded(|| {
            let group = self.reader.get_row_group(group)?;
            let ColumnReader::Int64ColumnReader(mut reader) = group.get_column_reader(column)? else {
                return Err(ParquetError::General("the column is of integers".to_owned()));
            };
            let rows = group.metadata().num_rows() as usize;
            Ok((rows, reader.read_records(rows, Some(&mut Vec::new()), None, &mut values)?.0))
        })?;
        if read != rows || values.len() != number {
            return Err(FileError::Contents(format!(
                "{number} of {rows} cells are wanted, got {} of {read}",
                values.len()
            )));
        }
        Ok(values)
    }
}

/// A reader that takes the schema of a release for granted, whatever the file says: of a forged one the library would believe
/// how many columns there are, and reserve memory for 2³¹ of them. It is an error if rows have other columns than this.
fn reader_of(bytes: &Bytes, has_keys: bool) -> Result<SerializedFileReader<Bytes>, ParquetError> {
    let schema = Arc::new(SchemaDescriptor::new(schema(has_keys)?));
    let options = ReadOptionsBuilder::new().with_parquet_schema(schema).build();
    SerializedFileReader::new_with_options(bytes.clone(), options)
}

/// The library panics on some files that were made to be wrong, where an error would do.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, FileError> {
    let unreadable = |_| FileError::Contents("its columns cannot be decoded".to_owned());
    std::panic::catch_unwind(AssertUnwindSafe(step))
        .unwrap_or_else(|_| Err(ParquetError::General(String::new())))
        .map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::super::{ReleaseFile, metadata};
    use super::*;
    use crate::HeavyKeys;

    fn written(file: &ReleaseFile) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        bytes
    }

    /// The same bytes under a checksum that holds.
    fn forged(mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(footer) = footer_start(&bytes).filter(|&footer| footer >= CHECKSUM) {
            let sum = checksum(&bytes[..footer - CHECKSUM], &bytes[footer..]);
            bytes[footer - CHECKSUM..footer].copy_from_slice(&sum);
        }
        bytes
    }

    #[test]
    fn forged_files_are_refused_or_read_and_nothing_worse() {
        let original = written(&example(HeavyKeys::On, 1, |builder| builder));
        assert!(ReleaseFile::read(&forged(original.clone())[..]).is_ok());
        for position in 0..original.len() {
            for change in [1, 0x80] {
                let mut bytes = original.clone();
                bytes[position] ^= change;
                // Either will do.
                let _ = ReleaseFile::read(&forged(bytes)[..]);
            }
        }
    }

    /// The library would reserve 16 GiB for so many columns.
    #[test]
    fn what_a_footer_says_of_its_schema_is_not_believed() {
        let original = written(&example(HeavyKeys::Off, 1, |builder| builder));
        let root = b"release\x15\x02";
        let end = original.windows(root.len()).position(|window| window == root).unwrap() + root.len();
        // 2³¹ − 1 columns, which take four bytes more to say.
        let mut many = [&original[..end - 1], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &original[end..]].concat();
        let length = many.len() - 8..many.len() - 4;
        let footer = 4 + u32::from_le_bytes(many[length.clone()].try_into().unwrap());
        many[length].copy_from_slice(&footer.to_le_bytes());
        assert!(ReleaseFile::read(&forged(many)[..]).is_ok());
    }

    /// They would take memory out of proportion to the file.
    #[test]
    fn heavy_keys_that_compress_to_nothing_are_refused() {
        let file = example(HeavyKeys::On, 1, |builder| builder);
        let counts: Vec<_> = (0..1 << 17).map(|key| (Fingerprint::raw(key), 100)).collect();
        let bytes = to_bytes(&metadata::of(&file), &[0; 64], Some(&counts)).unwrap();
        assert!(bytes.len() < 20_000, "{}", bytes.len());
        assert!(matches!(ReleaseFile::read(&bytes[..]), Err(FileError::HeavyBytes(131_072))));
        let (plan, seed) = (file.release.plan().clone(), file.release.family().seed());
        let release = crate::ProjectionRelease::restore(plan, seed, vec![0; 64], counts).unwrap();
        let file = ReleaseFile { release, ..file };
        assert!(matches!(file.write(&mut Vec::new()), Err(FileError::HeavyBytes(131_072))));
        // As many as a forged footer may say.
        assert!(check_heavy(1 << 62, 0).unwrap_err().to_string().starts_with("4611686018427387904 heavy keys take"));
    }

    #[test]
    fn other_columns_and_rows_are_refused() {
        let [plain, heavy] = [HeavyKeys::Off, HeavyKeys::On].map(|heavy| example(heavy, 1, |builder| builder));
        let values = |number: usize| vec![0; number];
        let refused = |file: &ReleaseFile, values: Vec<i64>, heavy: Option<&[(u64, i64)]>| {
            let heavy = heavy.map(|heavy| heavy.iter().map(|&(key, count)| (Fingerprint::raw(key), count)).collect());
            let heavy: Option<Vec<Heavy>> = heavy;
            let bytes = to_bytes(&metadata::of(file), &values, heavy.as_deref()).unwrap();
            ReleaseFile::read(&bytes[..]).unwrap_err().to_string()
        };
        for number in [1, 63, 65] {
            let reason = refused(&plain, values(number), None);
            assert!(reason.ends_with(&format!("64 values are wanted, got groups of [{number}]")), "{reason}");
        }
        let reason = refused(&plain, values(64), Some(&[]));
        assert!(reason.contains("the columns must be value alone"), "{reason}");
        let reason = refused(&heavy, values(64), None);
        assert!(reason.contains("the columns must be key and value"), "{reason}");
        for (counts, wanted) in [
            (vec![(5, 100), (4, 100)], "sorted by fingerprint"),
            (vec![(5, 100), (5, 100)], "sorted by fingerprint"),
            (vec![(5, 3)], "at least the threshold"),
            (vec![(5, i64::MAX), (6, i64::MAX)], "at most 2^54 together"),
        ] {
            let reason = refused(&heavy, values(64), Some(&counts));
            assert!(reason.contains(wanted), "{reason}");
        }
        for value in [i64::MIN, i64::MAX, (1 << 54) + 1] {
            for file in [&plain, &heavy] {
                let heavy = file.release.plan().heavy().map(|_| &[(5, 100)][..]);
                let reason = refused(file, [vec![value], values(63)].concat(), heavy);
                assert!(reason.contains("must be within ±2^54"), "{reason}");
            }
        }
    }
}
