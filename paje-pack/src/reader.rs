//! Reads a packed trace, segment by segment.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};

use crate::column_reader::columns;
use crate::decode::decode;
use crate::format::{
    END, Error, ErrorKind, HEADER, LARGEST_PAGE, LARGEST_SEGMENT, LARGEST_SUMMARY, Page, kind,
    read_exact, take_number,
};
use crate::index::{Index, OTHER_PAGES, TRAILER, header};
use crate::segment::{EncodedSegment, STREAMS};
use crate::times::Scale;
use paje_parser::columns::{Hole, Lines, Wanted};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) length: usize,
    lines: u64,
    scale: Scale,
    which: u64,
    checksum: u32,
}

impl Head {
    fn parse(page: &[u8]) -> Option<Head> {
        let mut left = page;
        let mut next = || take_number(&mut left);
        let (length, lines, after, zeros, which) = (next()?, next()?, next()?, next()?, next()?);
        let checksum = u32::from_le_bytes(left.try_into().ok()?);
        let length =
            usize::try_from(length).ok().filter(|length| (1..=LARGEST_SEGMENT).contains(length))?;
        let scale = Scale { after: after.try_into().ok()?, zeros: zeros.try_into().ok()? };
        let whole = 1 << (2 * STREAMS);
        let fits =
            (1..=length as u64).contains(&lines) && scale.zeros <= scale.after && scale.after <= 18;
        (fits && which <= whole).then_some(Head { length, lines, scale, which, checksum })
    }
}

/// A segment whose text is still packed.
pub struct Packed {
    at: u64,
    head: Head,
    encoded: EncodedSegment,
    /// The text, if it is stored without encoding.
    whole: Option<Vec<u8>>,
    /// For each kind of page, the total size of such pages in the file.
    sizes: [u64; KINDS],
}

/// Maximum size of the head of a segment, which has five numbers and a checksum.
const LARGEST_HEAD: u64 = 5 * 10 + 4;

pub(crate) const KINDS: usize = kind::SUMMARY as usize + 1;

/// Names of the kinds of pages, in the order of [`Packed::sizes`].
pub const KIND_NAMES: [&str; KINDS] = [
    "header and end",
    "heads",
    "lines",
    "names",
    "times",
    "times, texts",
    "values",
    "values, texts",
    "keys",
    "keys, texts",
    "text",
    "index",
    "summaries",
];

impl Packed {
    /// Returns the number of lines.
    #[must_use]
    pub const fn line_count(&self) -> u64 {
        self.head.lines
    }

    /// Returns the size of the text.
    #[must_use]
    pub const fn text_len(&self) -> u64 {
        self.head.length as u64
    }

    /// Returns, for each [kind](KIND_NAMES) of page, the total size of such pages in the file,
    /// including their heads.
    #[must_use]
    pub const fn sizes(&self) -> [u64; KINDS] {
        self.sizes
    }

    /// Reads the lines as columns. Writes only the lines with text and the requested values to
    /// `text`, at their offsets in the segment's text. All other bytes of `text` are unspecified.
    /// Passes the first line of each step to `judge`, which chooses how the other lines of the step
    /// are read. This choice does not apply to [lines with
    /// text](paje_parser::columns::ColumnLine::has_text).
    ///
    /// Returns `false` if the whole text is needed, because it may contain a definition, its last
    /// line may lack a newline, or a field may consist of several words. The contents of `lines`
    /// are then unspecified.
    ///
    /// Checks the checksums of the pages, but not the checksum of the text.
    pub fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        self.whole.is_none() && columns(&self.encoded, self.head.length, text, lines, judge)
    }

    /// Decodes the text.
    ///
    /// # Errors
    /// The pages are invalid, or the decoded text differs from the packed text.
    pub fn unpack(&self) -> Result<Vec<u8>, Error> {
        let text = self.unchecked()?;
        if text.len() == self.head.length && crc32fast::hash(&text) == self.head.checksum {
            Ok(text)
        } else {
            Err(self.failed("the text of the segment has another checksum"))
        }
    }

    /// Decodes the text without checking its checksum.
    ///
    /// # Errors
    /// The pages are invalid.
    pub fn unchecked(&self) -> Result<Vec<u8>, Error> {
        match &self.whole {
            Some(text) => Ok(text.clone()),
            None => decode(&self.encoded, self.head.length)
                .map_err(|()| self.failed("the segment does not encode its lines")),
        }
    }

    /// Returns the error for a segment of several lines that ends within a line although other
    /// segments follow.
    #[must_use]
    pub const fn cuts_a_line(&self) -> Error {
        self.failed("a segment of several lines ends within one")
    }

    const fn failed(&self, content: &'static str) -> Error {
        Error { at: self.at, kind: ErrorKind::Content(content) }
    }
}

/// Reads the segments of a packed trace in order.
pub struct Reader<R> {
    from: R,
    at: u64,
    pages: u32,
    index: Vec<[u64; 4]>,
    summaries: Vec<u64>,
    index_size: u64,
    /// Index entries of the segments that are still to be read, or `None` to read all segments.
    only: Option<VecDeque<[u64; 4]>>,
    begun: bool,
    ended: bool,
    failed: bool,
}

impl<R> Reader<R> {
    /// Returns the position in the file up to which segments have been read, or 0 before the first
    /// segment.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }
}

impl<R: Read + Seek> Reader<BufReader<Take<R>>> {
    /// Selects the segments to read next, given their entries in the index. The first of them
    /// begins at byte `at`, after `pages` pages. All segments of previous calls must have been
    /// read.
    pub(crate) fn turn(
        &mut self,
        at: u64,
        pages: u32,
        segments: Vec<[u64; 4]>,
    ) -> Result<(), Error> {
        let bytes = segments.iter().map(|entry| entry[0]).fold(0, u64::saturating_add);
        // This loses no needed bytes, because the bytes that were read ahead belong to the previous
        // segments.
        let medium = self.from.get_mut();
        medium.set_limit(bytes);
        let found = medium.get_mut().seek(SeekFrom::Start(at));
        found.map_err(|error| Error { at, kind: ErrorKind::Io(error) })?;
        (self.at, self.pages, self.only, self.ended) = (at, pages, Some(segments.into()), false);
        Ok(())
    }
}

impl<R: Read> Reader<R> {
    /// Creates a reader that begins at the header.
    pub const fn new(from: R) -> Self {
        Reader {
            from,
            at: 0,
            pages: 0,
            index: Vec::new(),
            summaries: Vec::new(),
            index_size: 0,
            only: None,
            begun: false,
            ended: false,
            failed: false,
        }
    }

    /// Creates a reader that has no segments until [`turn`](Reader::turn) selects some.
    pub(crate) fn of_some(from: R) -> Self {
        Reader { only: Some(VecDeque::new()), begun: true, ..Reader::new(from) }
    }

    /// Returns the next segment, or `None` at the end.
    ///
    /// # Errors
    /// The file is damaged, is not a packed trace, or has another version.
    pub fn next_segment(&mut self) -> Result<Option<Packed>, Error> {
        if self.ended {
            return Ok(None);
        }
        let at = self.at;
        if self.failed {
            return Err(Error { at, kind: ErrorKind::Content("it could not be read up to here") });
        }
        self.next().map_err(|kind| {
            self.failed = true;
            Error { at: self.at, kind }
        })
    }

    fn next(&mut self) -> Result<Option<Packed>, ErrorKind> {
        if self.only.as_ref().is_some_and(VecDeque::is_empty) {
            self.ended = true;
            return Ok(None);
        }
        let expected = self.only.as_mut().and_then(VecDeque::pop_front);
        if !self.begun {
            header(&mut self.from)?;
            (self.at, self.begun) = (HEADER, true);
        }
        let (start, pages) = (self.at, self.pages);
        let mut page = Page::read(&mut self.from, self.pages)?;
        while page.kind == kind::SUMMARY {
            let len = page.len();
            page.content(LARGEST_SUMMARY)?;
            self.summaries.push(len);
            self.passed(len);
            page = Page::read(&mut self.from, self.pages)?;
            if ![kind::SUMMARY, kind::INDEX].contains(&page.kind) {
                return Err(ErrorKind::Page(page.kind));
            }
        }
        if page.kind == kind::INDEX {
            self.end(&page)?;
            return Ok(None);
        }
        if page.kind != kind::HEAD {
            return Err(ErrorKind::Page(page.kind));
        }
        let mut sizes = [0; KINDS];
        sizes[usize::from(kind::HEAD)] = page.len();
        self.passed(page.len());
        let head = Head::parse(&page.content(LARGEST_HEAD)?);
        let head = head.ok_or(ErrorKind::Content("the head of the segment makes no sense"))?;
        let mut encoded =
            EncodedSegment { lines: head.lines, scale: head.scale, streams: Default::default() };
        let mut whole = None;
        // Columns may be larger than the text, because a line of one byte can take several bytes in
        // each column.
        let most = LARGEST_PAGE.min(64 * head.length as u64 + 4096);
        for number in (0..=2 * STREAMS).filter(|number| head.which >> number & 1 == 1) {
            let page = Page::read(&mut self.from, self.pages)?;
            if page.kind != kind::STREAMS + number as u8 {
                return Err(ErrorKind::Page(page.kind));
            }
            let len = page.len();
            sizes[usize::from(page.kind)] = len;
            let content = page.content(most)?;
            match encoded.streams.as_flattened_mut().get_mut(number) {
                Some(stream) => *stream = content,
                None => whole = Some(content),
            }
            self.passed(len);
        }
        let read = [self.at - start, (self.pages - pages).into(), head.length as u64, head.lines];
        if expected.is_some_and(|expected| expected != read) {
            return Err(ErrorKind::Content(OTHER_PAGES));
        }
        self.index.push(read);
        Ok(Some(Packed { at: start, head, encoded, whole, sizes }))
    }

    /// Returns, for each [kind](KIND_NAMES) of page, the total size of such pages outside of
    /// segments, including their heads. The sizes are complete when all segments have been read.
    #[must_use]
    pub fn other_sizes(&self) -> [u64; KINDS] {
        let mut sizes = [0; KINDS];
        sizes[usize::from(kind::INDEX)] = self.index_size;
        sizes[usize::from(kind::SUMMARY)] = self.summaries.iter().sum();
        sizes
    }

    const fn passed(&mut self, len: u64) {
        self.at += len;
        self.pages += 1;
    }

    /// Checks that the index agrees with the pages, and that the file ends after it.
    fn end(&mut self, page: &Page) -> Result<(), ErrorKind> {
        let (at, len) = (self.at, page.len());
        let index = Index::parse(page.plain_content()?);
        let same = index.is_some_and(|index| {
            let summaries = index.summaries.iter().map(|summary| summary.len);
            index.segments == self.index && summaries.eq(self.summaries.iter().copied())
        });
        if !same {
            return Err(ErrorKind::Content(OTHER_PAGES));
        }
        self.at += len;
        self.index_size = len;
        let mut trailer = [0; TRAILER as usize];
        read_exact(&mut self.from, &mut trailer)?;
        if trailer[..8] != at.to_le_bytes() || trailer[8..] != *END {
            return Err(ErrorKind::Content(
                "the end of the file does not give the position of its index",
            ));
        }
        self.at += TRAILER;
        let mut more = [0];
        if self.from.read(&mut more).map_err(ErrorKind::Io)? > 0 {
            return Err(ErrorKind::Trailing);
        }
        self.ended = true;
        Ok(())
    }
}

/// The unpacked text of a packed trace, as a reader.
pub struct Text<R> {
    reader: Reader<R>,
    text: Vec<u8>,
    given: usize,
}

impl<R: Read> Text<R> {
    /// Creates a reader of the text. The header of the packed trace has not been read yet.
    pub const fn new(from: R) -> Self {
        Text { reader: Reader::new(from), text: Vec::new(), given: 0 }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.given == self.text.len() {
            let Some(packed) = self.reader.next_segment()? else { return Ok(0) };
            (self.text, self.given) = (packed.unpack()?, 0);
        }
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}
