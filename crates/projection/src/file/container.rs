//! From texts and integers to the bytes of a Parquet file, and back.

use super::{FileError, dictionary, metadata::PREFIX};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The first and the last bytes of every Parquet file.
const MAGIC: &[u8] = b"PAR1";
const CHECKSUM: usize = 16;
const CHECKSUM_KEY: &[u8; 16] = b"Tamis: checksum.";
/// What distinguishes releases from other tables.
const FORMAT: &[u8] = b"tamis.format";

/// Nothing is written that the library could not write: into memory, a schema of its own.
fn internal(error: ParquetError) -> FileError {
    FileError::Io(std::io::Error::other(error))
}

/// A column chunk, as it will stand in a file.
pub(super) struct Chunk {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// The bytes of the file.
pub(super) fn to_bytes(metadata: &[(&'static str, String)], values: &[i64]) -> Result<Vec<u8>, FileError> {
    let program = concat!("tamis-projection ", env!("CARGO_PKG_VERSION")).to_owned();
    let said = metadata.iter().cloned().chain([("written_by", program)]);
    let said = said.map(|(name, text)| KeyValue::new(format!("{PREFIX}{name}"), text)).collect();
    let properties = WriterProperties::builder()
        .set_created_by(concat!("tamis version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(said));
    let parquet = in_parquet(properties.build(), values).map_err(internal)?;
    Ok(with_checksum(&parquet))
}

fn in_parquet(properties: WriterProperties, values: &[i64]) -> Result<Vec<u8>, ParquetError> {
    let mut file = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(properties))?;
    let column = file.schema_descr().column(0);
    let chunk = smallest(&column, values)?;
    let mut rows = file.next_row_group()?;
    rows.append_column(&chunk.bytes, chunk.close)?;
    rows.close()?;
    file.into_inner()
}

fn schema() -> Result<TypePtr, ParquetError> {
    let value =
        Type::primitive_type_builder("value", PhysicalType::INT64).with_repetition(Repetition::REQUIRED).build()?;
    Ok(Arc::new(Type::group_type_builder("release").with_fields(vec![Arc::new(value)]).build()?))
}

/// The values in the encoding that makes least of them.
fn smallest(column: &ColumnDescPtr, values: &[i64]) -> Result<Chunk, ParquetError> {
    if let Some(chunk) = dictionary::chunk(column, values)? {
        return Ok(chunk);
    }
    let deltas = encoded(column, values, Encoding::DELTA_BINARY_PACKED)?;
    let split = encoded(column, values, Encoding::BYTE_STREAM_SPLIT)?;
    Ok(if split.bytes.len() < deltas.bytes.len() { split } else { deltas })
}

fn encoded(column: &ColumnDescPtr, values: &[i64], encoding: Encoding) -> Result<Chunk, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(19)?))
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
    writer.write_batch(values, None, None)?;
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
        let reader = guarded(|| SerializedFileReader::new(Bytes::from(bytes)))?;
        Ok(Self { reader })
    }

    /// What is said of the values.
    pub(super) fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let said = self.reader.metadata().file_metadata().key_value_metadata();
        said.into_iter().flatten().map(|entry| (entry.key.as_str(), entry.value.as_deref().unwrap_or_default()))
    }

    /// The values, which are to be so many.
    pub(super) fn values(&self, rows: u32) -> Result<Vec<i64>, FileError> {
        let metadata = self.reader.metadata();
        let columns = metadata.file_metadata().schema();
        if schema().map_err(internal)?.get_fields() != columns.get_fields() {
            return Err(FileError::Contents(
                "one column is wanted, `value`, of 64-bit integers without nulls".to_owned(),
            ));
        }
        let number = metadata.file_metadata().num_rows();
        if number != i64::from(rows) || metadata.num_row_groups() != 1 {
            return Err(FileError::Contents(format!(
                "{rows} values are wanted, in one row group, and it has {number}"
            )));
        }
        let mut values = Vec::with_capacity(rows as usize);
        let read = guarded(|| {
            let ColumnReader::Int64ColumnReader(mut column) = self.reader.get_row_group(0)?.get_column_reader(0)?
            else {
                return Err(ParquetError::General("the column is of integers".to_owned()));
            };
            column.read_records(rows as usize, None, None, &mut values)
        })?;
        if read.0 != rows as usize || values.len() != rows as usize {
            return Err(FileError::Contents(format!("{rows} values are wanted, and it has {}", values.len())));
        }
        Ok(values)
    }
}

/// The library panics on some files that were made to be wrong, where an error would do.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, FileError> {
    let unreadable = |_| FileError::Contents("its columns cannot be decoded".to_owned());
    std::panic::catch_unwind(AssertUnwindSafe(step))
        .unwrap_or_else(|_| Err(ParquetError::General(String::new())))
        .map_err(unreadable)
}
