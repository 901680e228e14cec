//! Dictionary columns. The library's writer would hash the name of each row. Here, each row already
//! has a code, and a table maps each code to an entry of the file's dictionary.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, DictionaryArray, StringArray};
use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, PageType, Type};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::PAGE_ROWS;
use super::hybrid::{self, width};
use crate::tables::Error;

pub(super) struct DictionaryChunk {
    bytes: Bytes,
    close: ColumnCloseResult,
}

impl DictionaryChunk {
    pub(super) fn encode(
        column: &ColumnDescPtr,
        array: &DictionaryArray<Int32Type>,
        compressor: &mut Compressor<'static>,
    ) -> Result<Self, Error> {
        let names = array.values().as_string();
        let (texts, entries) = renumber(names, array.keys().values());
        let mut pages = Pages { compressor, out: TrackedWrite::new(Vec::new()), uncompressed: 0 };
        let mut body = Vec::new();
        for text in &texts {
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        pages.add_dictionary(&body, texts.len())?;
        let dictionary = pages.out.bytes_written();

        let mut offsets = OffsetIndexBuilder::new();
        let mut index = ColumnIndexBuilder::new(Type::BYTE_ARRAY);
        let (mut ascending, mut descending) = (true, true);
        let mut previous = None;
        let width = width(texts.len());
        for entries in entries.chunks(PAGE_ROWS) {
            body.clear();
            body.push(width as u8);
            hybrid::encode(entries, width, &mut body);
            let (offset, size) = pages.add_data(&body, entries.len())?;
            offsets.append_row_count(entries.len() as i64);
            offsets.append_offset_and_size(offset as i64, size as i32);
            offsets.append_unencoded_byte_array_data_bytes(None);
            // The dictionary is sorted, so the least entry has the least text.
            let least = entries.iter().copied().fold(u32::MAX, u32::min);
            let greatest = entries.iter().copied().fold(0, u32::max);
            let bytes = |entry: u32| texts[entry as usize].as_bytes().to_vec();
            index.append(false, bytes(least), bytes(greatest), 0, None);
            let (last_least, last_greatest) = previous.unwrap_or((least, greatest));
            ascending &= last_least <= least && last_greatest <= greatest;
            descending &= last_least >= least && last_greatest >= greatest;
            previous = Some((least, greatest));
        }
        index.set_boundary_order(match (ascending, descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });

        let bound =
            |text: Option<&&str>| text.map(|text| ByteArray::from(text.as_bytes().to_vec()));
        let (least, greatest) = (bound(texts.first()), bound(texts.last()));
        let stats = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        let data_pages = entries.len().div_ceil(PAGE_ROWS) as i32;
        let size = pages.out.bytes_written();
        let metadata = ColumnChunkMetaData::builder(ColumnDescPtr::clone(column))
            .set_compression(Compression::ZSTD(Default::default()))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, data_pages),
            ])
            .set_total_compressed_size(size as i64)
            .set_total_uncompressed_size(pages.uncompressed as i64)
            .set_num_values(entries.len() as i64)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(dictionary as i64)
            .set_statistics(Statistics::byte_array(least, greatest, None, Some(0), false))
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: size as u64,
            rows_written: entries.len() as u64,
            metadata,
            bloom_filter: None,
            column_index: Some(index.build()?),
            offset_index: Some(offsets.build()),
        };
        Ok(DictionaryChunk { bytes: Bytes::from(pages.out.into_inner()?), close })
    }

    pub(super) fn append_to_row_group<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), Error> {
        Ok(group.append_column(&self.bytes, self.close)?)
    }
}

/// Returns the used names, sorted, and the position of each code's name in them.
fn renumber<'a>(names: &'a StringArray, codes: &[i32]) -> (Vec<&'a str>, Vec<u32>) {
    let mut entry_of = vec![u32::MAX; names.len()];
    codes.iter().for_each(|code| entry_of[*code as usize] = 0);
    let mut used: Vec<_> = (0..names.len()).filter(|code| entry_of[*code] == 0).collect();
    used.sort_unstable_by_key(|code| names.value(*code));
    for (entry, code) in used.iter().enumerate() {
        entry_of[*code] = entry as u32;
    }
    let entries = codes.iter().map(|code| entry_of[*code as usize]).collect();
    (used.into_iter().map(|code| names.value(code)).collect(), entries)
}

struct Pages<'a> {
    compressor: &'a mut Compressor<'static>,
    out: TrackedWrite<Vec<u8>>,
    uncompressed: usize,
}

impl Pages<'_> {
    fn add_dictionary(&mut self, body: &[u8], entries: usize) -> Result<(), Error> {
        let page = Page::DictionaryPage {
            buf: self.compressor.compress(body)?.into(),
            num_values: entries as u32,
            encoding: Encoding::PLAIN,
            is_sorted: true,
        };
        self.add(page, body.len()).map(drop)
    }

    fn add_data(&mut self, body: &[u8], rows: usize) -> Result<(u64, u64), Error> {
        let page = Page::DataPage {
            buf: self.compressor.compress(body)?.into(),
            num_values: rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.add(page, body.len())
    }

    fn add(&mut self, page: Page, uncompressed: usize) -> Result<(u64, u64), Error> {
        let page = CompressedPage::new(page, uncompressed);
        let spec = SerializedPageWriter::new(&mut self.out).write_page(page)?;
        self.uncompressed += spec.uncompressed_size;
        Ok((spec.offset, spec.bytes_written))
    }
}
