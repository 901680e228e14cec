//! A column of a row group: its pages, where they are, and what is known of them.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::buf::{Chain, Reader};
use bytes::{Buf, Bytes};
use parquet::basic::{BoundaryOrder, Compression, Encoding, PageType, Type};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::frame::Frames;
use crate::Error;

/// Value of a column, as bounds are.
pub(super) trait Value: Clone + PartialOrd {
    /// Its type in files.
    const TYPE: Type;

    /// Its bytes in files.
    fn to_bytes(&self) -> Vec<u8>;

    /// Statistics of values between these bounds, and of so many that are no numbers.
    fn statistics(bounds: Option<(Self, Self)>, nans: u64) -> Statistics;
}

/// The pages of a column while they are made.
pub(super) struct Chunk<V> {
    out: TrackedWrite<Vec<u8>>,
    uncompressed: usize,
    rows: usize,
    encodings: Vec<Encoding>,
    pages: Vec<PageEncodingStats>,
    offsets: OffsetIndexBuilder,
    index: ColumnIndexBuilder,
    bounds: Option<(V, V)>,
    last: Option<(V, V)>,
    ascending: bool,
    descending: bool,
    nans: u64,
}

/// The bounds of a page's values, if they have any, and how many are no numbers, if they could be such.
pub(super) struct Bounds<V> {
    pub(super) both: Option<(V, V)>,
    pub(super) nans: Option<u64>,
}

impl<V: Value> Default for Chunk<V> {
    fn default() -> Self {
        Chunk {
            out: TrackedWrite::new(Vec::new()),
            uncompressed: 0,
            rows: 0,
            encodings: vec![Encoding::RLE],
            pages: Vec::new(),
            offsets: OffsetIndexBuilder::new(),
            index: ColumnIndexBuilder::new(V::TYPE),
            bounds: None,
            last: None,
            ascending: true,
            descending: true,
            nans: 0,
        }
    }
}

impl<V: Value> Chunk<V> {
    /// Begins the column: its pages are going to be in this room.
    pub(super) fn begin(&mut self, room: Vec<u8>) {
        self.out = TrackedWrite::new(room);
    }

    /// Tells whether there are pages of an encoding.
    pub(super) fn has(&self, encoding: Encoding) -> bool {
        self.encodings.contains(&encoding)
    }

    /// Adds a page of these rows, whose body had so many bytes before it was put in this frame.
    pub(super) fn page(
        &mut self,
        frame: &Arc<Vec<u8>>,
        size: usize,
        rows: usize,
        encoding: Encoding,
        bounds: Bounds<V>,
    ) -> Result<(), Error> {
        let page = Page::DataPage {
            buf: Bytes::from_owner(Shared(Arc::clone(frame))),
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let (offset, bytes) = self.put(page, size, encoding)?;
        self.offsets.append_row_count(rows as i64);
        self.offsets.append_offset_and_size(offset as i64, bytes as i32);
        self.offsets.append_unencoded_byte_array_data_bytes(None);
        self.rows += rows;
        self.see(bounds);
        Ok(())
    }

    /// Notes the bounds of the next page.
    fn see(&mut self, bounds: Bounds<V>) {
        self.nans += bounds.nans.unwrap_or(0);
        let Some((least, greatest)) = bounds.both else {
            // The format has no words for a page whose values are all no numbers.
            self.index.to_invalid();
            return;
        };
        let nans = bounds.nans.map(|nans| nans as i64);
        self.index.append(false, least.to_bytes(), greatest.to_bytes(), 0, nans);
        if let Some((last_least, last_greatest)) = &self.last {
            self.ascending &= *last_least <= least && *last_greatest <= greatest;
            self.descending &= *last_least >= least && *last_greatest >= greatest;
        }
        self.bounds = Some(match self.bounds.take() {
            None => (least.clone(), greatest.clone()),
            Some((low, high)) => (
                if least < low { least.clone() } else { low },
                if greatest > high { greatest.clone() } else { high },
            ),
        });
        self.last = Some((least, greatest));
    }

    /// Puts a page behind the others; returns where it is, and how long.
    fn put(&mut self, page: Page, size: usize, encoding: Encoding) -> Result<(u64, u64), Error> {
        let kind = page.page_type();
        let page = CompressedPage::new(page, size);
        let spec = SerializedPageWriter::new(&mut self.out).write_page(page)?;
        self.uncompressed += spec.uncompressed_size;
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        match self.pages.iter_mut().find(|some| some.page_type == kind && some.encoding == encoding)
        {
            Some(some) => some.count += 1,
            None => self.pages.push(PageEncodingStats { page_type: kind, encoding, count: 1 }),
        }
        Ok((spec.offset, spec.bytes_written))
    }

    /// The column, with a dictionary of so many values if there is one.
    pub(super) fn finish(
        mut self,
        column: &ColumnDescPtr,
        dictionary: Option<(&[u8], usize)>,
        frames: &mut Frames,
    ) -> Result<Encoded, Error> {
        let data = self.out.bytes_written();
        if let Some((body, count)) = dictionary {
            let mut frame = Vec::new();
            frames.whole(body, true, &mut frame)?;
            let page = Page::DictionaryPage {
                buf: Bytes::from(frame),
                num_values: count as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            self.put(page, body.len(), Encoding::PLAIN)?;
            // Readers may take the first that is said for the first that is there.
            self.pages.sort_by_key(|pages| pages.page_type != PageType::DICTIONARY_PAGE);
        }
        let size = self.out.bytes_written();
        let metadata = ColumnChunkMetaData::builder(ColumnDescPtr::clone(column))
            .set_compression(Compression::ZSTD(Default::default()))
            .set_encodings(self.encodings)
            .set_page_encoding_stats(self.pages)
            .set_total_compressed_size(size as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(0)
            .set_statistics(V::statistics(self.bounds, self.nans))
            .build()?;
        self.index.set_boundary_order(match (self.ascending, self.descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        });
        let close = ColumnCloseResult {
            bytes_written: size as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: self.index.valid().then(|| self.index.build()).transpose()?,
            offset_index: Some(self.offsets.build()),
        };
        // Dictionaries are known last, and come first.
        let close = close.update_dictionary_location(size - data)?;
        Ok(Encoded { bytes: Arc::new(self.out.into_inner()?), dictionary: data..size, close })
    }
}

/// The bytes of a column, and what files say of it.
pub(super) struct Encoded {
    bytes: Arc<Vec<u8>>,
    /// Where the dictionary is, behind all pages.
    dictionary: Range<usize>,
    close: ColumnCloseResult,
}

impl Encoded {
    /// Writes the column as the next of a row group; returns the room that it took.
    pub(super) fn append<W: io::Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<Vec<u8>, Error> {
        let bytes = Turned { bytes: self.bytes, second: self.dictionary };
        group.append_column(&bytes, self.close)?;
        let mut room = Arc::into_inner(bytes.bytes).unwrap_or_default();
        room.clear();
        Ok(room)
    }
}

/// Two pieces, of which the second is read first.
struct Turned {
    bytes: Arc<Vec<u8>>,
    second: Range<usize>,
}

/// Bytes that are shared while they are read.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Length for Turned {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl ChunkReader for Turned {
    type T = Reader<Chain<Bytes, Bytes>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut first = Bytes::from_owner(Shared(Arc::clone(&self.bytes)));
        let second = first.slice(self.second.clone());
        first.truncate(self.second.start);
        let mut both = second.chain(first);
        both.advance(start as usize);
        Ok(both.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut both = self.get_read(start)?.into_inner();
        Ok(both.copy_to_bytes(length))
    }
}
