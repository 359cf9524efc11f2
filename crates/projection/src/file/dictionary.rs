//! Few different values, a byte each: a dictionary and indices of *eight* bits.
//!
//! The library would take as few bits as hold an index, five for 28 values. Those straddle bytes, and no compressor sees
//! through that. A reader takes the width from the page, whatever it is. Bytes compress to within 2 % of their entropy.

use super::container::Chunk;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::BTreeSet;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, Strategy};

/// As many as a byte can tell apart.
const MOST: usize = 256;

/// The values, or none if more than 256 are different.
pub(super) fn chunk(column: &ColumnDescPtr, values: &[i64]) -> Result<Option<Chunk>, ParquetError> {
    let Some(different) = different(values) else { return Ok(None) };
    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut sink);
    let dictionary: Vec<u8> = different.iter().flat_map(|value| value.to_le_bytes()).collect();
    let first = write(&mut pages, &dictionary, |buf| Page::DictionaryPage {
        buf,
        num_values: different.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: true,
    })?;
    let second = write(&mut pages, &indices(&different, values), |buf| Page::DataPage {
        buf,
        num_values: values.len() as u32,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    })?;
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_num_values(values.len() as i64)
        .set_dictionary_page_offset(Some(first.offset as i64))
        .set_data_page_offset(second.offset as i64)
        .set_total_compressed_size((first.compressed_size + second.compressed_size) as i64)
        .set_total_uncompressed_size((first.uncompressed_size + second.uncompressed_size) as i64)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: first.bytes_written + second.bytes_written,
        rows_written: values.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok(Some(Chunk { bytes: sink.into_inner()?.into(), close }))
}

/// The values there are, in order, if they are not too many.
fn different(values: &[i64]) -> Option<Vec<i64>> {
    let mut different = BTreeSet::new();
    for &value in values {
        different.insert(value);
        if different.len() > MOST {
            return None;
        }
    }
    Some(different.into_iter().collect())
}

/// The width of an index in bits, and one run of indices, in groups of eight.
fn indices(different: &[i64], values: &[i64]) -> Vec<u8> {
    let mut bytes = vec![8];
    let mut run = values.len().div_ceil(8) << 1 | 1;
    while run >= 128 {
        bytes.push(run as u8 | 128);
        run >>= 7;
    }
    bytes.push(run as u8);
    // Cannot fail: all values are in the dictionary.
    bytes.extend(values.iter().map(|value| different.binary_search(value).expect("a known value") as u8));
    bytes.resize(bytes.len() + values.len().next_multiple_of(8) - values.len(), 0);
    bytes
}

fn write<W: std::io::Write + Send>(
    pages: &mut SerializedPageWriter<W>,
    content: &[u8],
    page: impl FnOnce(bytes::Bytes) -> Page,
) -> Result<PageWriteSpec, ParquetError> {
    pages.write_page(CompressedPage::new(page(compressed(content)?.into()), content.len()))
}

/// Noise has no repetitions worth a search, only some bytes more often than others: so the search is as short as can be. That
/// is twenty times as fast as level 19, and not larger.
fn compressed(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = Compressor::new(0)?;
    let settings = [
        CParameter::Strategy(Strategy::ZSTD_btopt),
        CParameter::WindowLog(17),
        CParameter::HashLog(6),
        CParameter::ChainLog(6),
        CParameter::SearchLog(1),
        CParameter::MinMatch(7),
        CParameter::TargetLength(16),
    ];
    settings.into_iter().try_for_each(|setting| compressor.set_parameter(setting))?;
    compressor.compress(content)
}
