//! Reading of the text of a packed trace, segment by segment.

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

/// Head of a segment.
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

/// A segment as it was read, its text still packed.
pub struct Packed {
    /// Byte of the file where it begins.
    at: u64,
    head: Head,
    encoded: EncodedSegment,
    /// Its text as it is, if that was smaller.
    whole: Option<Vec<u8>>,
    /// Bytes of its pages in the file, by kind.
    sizes: [u64; KINDS],
}

/// Bytes of the head of a segment, at most: five numbers and a checksum.
const LARGEST_HEAD: u64 = 5 * 10 + 4;

/// Kinds of pages.
pub(crate) const KINDS: usize = kind::SUMMARY as usize + 1;

/// Names of the kinds of pages, in the order of [`Packed::sizes`].
pub const KIND_NAMES: [&str; KINDS] = [
    "header and end",
    "heads",
    "lines",
    "names",
    "times",
    "times, odd ones",
    "values",
    "values, texts",
    "keys",
    "keys, texts",
    "kept as text",
    "index",
    "summaries",
];

impl Packed {
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.whole.as_deref()
    }

    /// Returns the stream of lines, the number of lines, and the bytes of the text.
    pub(crate) fn lines(&self) -> (&[Vec<u8>; 2], u64, usize) {
        (&self.encoded.streams[0], self.head.lines, self.head.length)
    }

    /// Number of its lines.
    #[must_use]
    pub const fn line_count(&self) -> u64 {
        self.head.lines
    }

    /// Bytes of its text.
    #[must_use]
    pub const fn text_len(&self) -> u64 {
        self.head.length as u64
    }

    /// Bytes of its pages, with their heads, in the file, by [kind](KIND_NAMES).
    #[must_use]
    pub const fn sizes(&self) -> [u64; KINDS] {
        self.sizes
    }

    /// The lines as columns, and in `text` the bytes of those that have their texts, and of what was asked for, each where it is in the
    /// text of the segment; what the other bytes are means nothing. `judge` is shown the first line of each step, and tells what is
    /// wanted of the others. Requests do not apply where a [line has its text](paje_parser::columns::ColumnLine::has_text).
    ///
    /// False if no less than all of the text is needed: there may be a definition in it, its last line does not end, or something
    /// is written in a way that cannot be told otherwise. What is in `lines` then means nothing.
    ///
    /// The checksum of the text is not looked at: those of the pages are.
    pub fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        self.whole.is_none() && columns(&self.encoded, self.head.length, text, lines, judge)
    }

    /// The text.
    ///
    /// # Errors
    /// The pages do not encode a text, or encode another one than was packed.
    pub fn unpack(&self) -> Result<Vec<u8>, Error> {
        let text = self.unchecked()?;
        if text.len() == self.head.length && crc32fast::hash(&text) == self.head.checksum {
            Ok(text)
        } else {
            Err(self.failed("the segment tells another text than that which was packed"))
        }
    }

    /// The text, of which the checksum is not looked at.
    ///
    /// # Errors
    /// The pages do not encode a text.
    pub fn unchecked(&self) -> Result<Vec<u8>, Error> {
        match &self.whole {
            Some(text) => Ok(text.clone()),
            None => decode(&self.encoded, self.head.length)
                .map_err(|()| self.failed("the segment does not tell its lines")),
        }
    }

    /// The error that a segment of several lines ends within one, and others follow.
    #[must_use]
    pub const fn cuts_a_line(&self) -> Error {
        self.failed("a segment of several lines ends within one")
    }

    const fn failed(&self, content: &'static str) -> Error {
        Error { at: self.at, kind: ErrorKind::Content(content) }
    }
}

/// Reads the segments of a packed trace one after the other, to its end.
pub struct Reader<R> {
    from: R,
    at: u64,
    pages: u32,
    /// Of the segments that were read.
    index: Vec<[u64; 4]>,
    /// Bytes of the summaries that were.
    summaries: Vec<u64>,
    index_size: u64,
    /// Segments that are still to be read, if it is not all of them: those with these entries in the index.
    only: Option<VecDeque<[u64; 4]>>,
    begun: bool,
    ended: bool,
    failed: bool,
}

impl<R> Reader<R> {
    /// Bytes of the file that have been read, 0 before the first segment: all of them at the end. Where these are not all segments,
    /// those before them count.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }
}

impl<R: Read + Seek> Reader<BufReader<Take<R>>> {
    /// Reads the segments next of which the index says this, the first of them at byte `at` of the file, behind so many pages. There may be none
    /// left of those before.
    pub(crate) fn turn(
        &mut self,
        at: u64,
        pages: u32,
        segments: Vec<[u64; 4]>,
    ) -> Result<(), Error> {
        let bytes = segments.iter().map(|entry| entry[0]).fold(0, u64::saturating_add);
        // All that was read ahead has been given: no more than the segments have.
        let medium = self.from.get_mut();
        medium.set_limit(bytes);
        let found = medium.get_mut().seek(SeekFrom::Start(at));
        found.map_err(|error| Error { at, kind: ErrorKind::Io(error) })?;
        (self.at, self.pages, self.only, self.ended) = (at, pages, Some(segments.into()), false);
        Ok(())
    }
}

impl<R: Read> Reader<R> {
    /// Reads what `from` gives, from its header on.
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

    /// Reads no segment until [`turn`](Reader::turn) says which.
    pub(crate) fn of_some(from: R) -> Self {
        Reader { only: Some(VecDeque::new()), begun: true, ..Reader::new(from) }
    }

    /// The next segment; none at the end.
    ///
    /// # Errors
    /// The file is damaged, or no packed trace, or of another version.
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
        let expected = self.only.as_mut().map(VecDeque::pop_front);
        if expected == Some(None) {
            self.ended = true;
            return Ok(None);
        }
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
            self.at += len;
            self.pages += 1;
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
        self.passed(&page);
        let head = Head::parse(&page.content(LARGEST_HEAD)?);
        let head = head.ok_or(ErrorKind::Content("the head of the segment makes no sense"))?;
        let mut encoded =
            EncodedSegment { lines: head.lines, scale: head.scale, streams: Default::default() };
        let mut whole = None;
        // Proportion to the text: a line takes some bytes in each column, and may have but one itself.
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
            self.at += len;
            self.pages += 1;
        }
        let read = [self.at - start, (self.pages - pages).into(), head.length as u64, head.lines];
        if expected.flatten().is_some_and(|expected| expected != read) {
            return Err(ErrorKind::Content(OTHER_PAGES));
        }
        self.index.push(read);
        Ok(Some(Packed { at: start, head, encoded, whole, sizes }))
    }

    /// Bytes of the pages that are of no segment, with their heads, by [kind](KIND_NAMES): at the end, when they have
    /// been read.
    #[must_use]
    pub fn other_sizes(&self) -> [u64; KINDS] {
        let mut sizes = [0; KINDS];
        sizes[usize::from(kind::INDEX)] = self.index_size;
        sizes[usize::from(kind::SUMMARY)] = self.summaries.iter().sum();
        sizes
    }

    fn passed(&mut self, page: &Page) {
        self.at += page.len();
        self.pages += 1;
    }

    /// The index says what was read, and nothing follows.
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

/// The text of a packed trace.
pub struct Text<R> {
    reader: Reader<R>,
    text: Vec<u8>,
    given: usize,
}

impl<R: Read> Text<R> {
    /// The text of what `from` gives, from its header on.
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
        let left = &self.text[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}
