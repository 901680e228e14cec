//! Index of the pages of a packed trace, and the trace's summaries. Both can be read without the
//! segments.

use std::io::{Read, Seek, SeekFrom};

use crate::format::{
    END, Error, ErrorKind, HEAD, HEADER, LARGEST_SUMMARY, MAGIC, Page, VERSION, kind, put_number,
    read_exact, take_number,
};

/// Size of the trailer, which consists of the offset of the index and the end mark.
pub(crate) const TRAILER: u64 = 16;

/// The index belongs to another file.
pub(crate) const OTHER_PAGES: &str = "the index lists other pages than the file has";

/// Maximum length of a summary's name in bytes.
pub(crate) const LONGEST_NAME: usize = 255;

/// Segments and summaries of a file, in the order of their pages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// For each segment, its size in the file, its number of pages, the size of its text, and its
    /// number of lines.
    pub(crate) segments: Vec<[u64; 4]>,
    pub(crate) summaries: Vec<Entry>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) len: u64,
    pub(crate) version: u64,
    pub(crate) name: Vec<u8>,
}

impl Entry {
    fn is(&self, name: &str, version: u64) -> bool {
        self.version == version && self.name == name.as_bytes()
    }
}

impl Index {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(self.segments.len() as u64, &mut bytes);
        for number in self.segments.iter().flatten() {
            put_number(*number, &mut bytes);
        }
        put_number(self.summaries.len() as u64, &mut bytes);
        for summary in &self.summaries {
            for number in [summary.len, summary.version, summary.name.len() as u64] {
                put_number(number, &mut bytes);
            }
            bytes.extend_from_slice(&summary.name);
        }
        bytes
    }

    /// Decodes an index. Returns `None` if it is invalid. Time and memory are proportional to the
    /// size of the page.
    pub(crate) fn parse(mut page: &[u8]) -> Option<Index> {
        let mut index = Index::default();
        for _ in 0..take_number(&mut page)? {
            let mut segment = [0; 4];
            for number in &mut segment {
                *number = take_number(&mut page)?;
            }
            index.segments.push(segment);
        }
        for _ in 0..take_number(&mut page)? {
            let (len, version) = (take_number(&mut page)?, take_number(&mut page)?);
            let name = usize::try_from(take_number(&mut page)?).ok()?;
            let name = page.split_off(..name).filter(|name| name.len() <= LONGEST_NAME)?;
            index.summaries.push(Entry { len, version, name: name.to_owned() });
        }
        page.is_empty().then_some(index)
    }

    /// Returns the number of bytes and the number of pages before the index. A number is `None` if
    /// it is impossible.
    fn sizes(&self) -> (Option<u64>, Option<u32>) {
        let segments = self.segments.iter().map(|[bytes, pages, ..]| (*bytes, *pages));
        let summaries = self.summaries.iter().map(|summary| (summary.len, 1));
        let all = segments.chain(summaries);
        let add = |sum: u64, number: u64| sum.checked_add(number);
        let pages = all.clone().map(|(_, pages)| pages).try_fold(0, add);
        let bytes = all.map(|(bytes, _)| bytes).try_fold(0, add);
        (bytes, pages.and_then(|pages| u32::try_from(pages).ok()))
    }
}

/// Reader of the summaries of a packed trace.
///
/// It starts at the end of the file, and only reads the pages that are requested.
#[derive(Debug)]
pub struct Summaries<R> {
    pub(crate) from: R,
    len: u64,
    at: u64,
    read: u64,
    index: Index,
}

impl<R: Read + Seek> Summaries<R> {
    /// Reads the header and the index of a packed trace.
    ///
    /// # Errors
    /// The file is damaged, is not a packed trace, or has another version.
    pub fn new(from: R) -> Result<Self, Error> {
        let index = Index::default();
        let mut summaries = Summaries { from, len: 0, at: 0, read: 0, index };
        summaries.find_index().map_err(|kind| Error { at: summaries.at, kind })?;
        Ok(summaries)
    }

    fn find_index(&mut self) -> Result<(), ErrorKind> {
        self.len = self.from.seek(SeekFrom::End(0)).map_err(ErrorKind::Io)?;
        self.seek(0)?;
        header(&mut self.from)?;
        self.read += HEADER;
        let no_place =
            ErrorKind::Content("the end of the file does not give the position of its index");
        let end = self.len.checked_sub(TRAILER).ok_or(ErrorKind::Truncated)?;
        self.seek(end)?;
        let mut trailer = [0; TRAILER as usize];
        read_exact(&mut self.from, &mut trailer)?;
        self.read += TRAILER;
        let (place, mark) = trailer.split_at(8);
        if mark != END {
            return Err(ErrorKind::Truncated);
        }
        let place = place.iter().rev().fold(0, |place, byte| place << 8 | u64::from(*byte));
        if place < HEADER || place > end.saturating_sub(HEAD as u64) {
            return Err(no_place);
        }
        self.seek(place)?;
        let (page, checksum) = Page::take(&mut self.from)?;
        self.read += page.len();
        if page.kind != kind::INDEX {
            return Err(ErrorKind::Page(page.kind));
        }
        if place + page.len() != end {
            return Err(no_place);
        }
        let index = Index::parse(page.plain_content()?).filter(|index| {
            let (bytes, _) = index.sizes();
            bytes.and_then(|bytes| bytes.checked_add(HEADER)) == Some(place)
        });
        let index = index.ok_or(ErrorKind::Content(OTHER_PAGES))?;
        let (_, pages) = index.sizes();
        if pages.is_none_or(|pages| page.checksum(pages) != checksum) {
            return Err(ErrorKind::Checksum);
        }
        self.index = index;
        Ok(())
    }

    /// Returns the summary with this name and version, if it exists.
    ///
    /// # Errors
    /// The page of the summary is damaged.
    pub fn get(&mut self, name: &str, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.find(name, version).map(|number| self.content(number)).transpose()
    }

    /// Returns the index of the first summary with this name and version, if it exists.
    pub(crate) fn find(&self, name: &str, version: u64) -> Option<usize> {
        self.index.summaries.iter().position(|entry| entry.is(name, version))
    }

    pub(crate) fn has(&self, number: usize, name: &str, version: u64) -> bool {
        self.index.summaries.get(number).is_some_and(|entry| entry.is(name, version))
    }

    /// Returns the size of a summary in the file, or 0 if there is no such summary.
    pub(crate) fn summary_len(&self, number: usize) -> u64 {
        self.index.summaries.get(number).map_or(0, |entry| entry.len)
    }

    /// Reads a summary, which must exist.
    pub(crate) fn content(&mut self, number: usize) -> Result<Vec<u8>, Error> {
        self.read_page(number).map_err(|kind| self.failed(kind))
    }

    /// Returns an error at the current position.
    pub(crate) const fn failed(&self, kind: ErrorKind) -> Error {
        Error { at: self.at, kind }
    }

    fn read_page(&mut self, number: usize) -> Result<Vec<u8>, ErrorKind> {
        let (at, pages) = self.behind(self.segments().len());
        let before = self.index.summaries[..number].iter();
        let at = before.fold(at, |at, entry| at + entry.len);
        let len = self.index.summaries[number].len;
        self.seek(at)?;
        let page = Page::read(&mut self.from, pages + number as u32)?;
        self.read += page.len();
        if page.kind != kind::SUMMARY || page.len() != len {
            return Err(ErrorKind::Page(page.kind));
        }
        page.content(LARGEST_SUMMARY)
    }

    /// Returns the number of segments if each of them has at most `most` bytes of text and consists
    /// of whole lines. A segment with several lines always consists of whole lines, unless it is
    /// [damaged](crate::Packed::cuts_a_line).
    #[must_use]
    pub fn whole_lines(&self, most: u64) -> Option<usize> {
        if self.segments().is_empty() {
            return None;
        }
        whole_lines(self.segments().iter(), most, true)
    }

    pub(crate) fn segments(&self) -> &[[u64; 4]] {
        &self.index.segments
    }

    /// Returns the position in the file and the number of pages after the first `segments`
    /// segments. The sums cannot overflow, because the index was checked.
    pub(crate) fn behind(&self, segments: usize) -> (u64, u32) {
        let before = self.index.segments[..segments].iter();
        let (at, pages) =
            before.fold((HEADER, 0), |(at, pages), entry| (at + entry[0], pages + entry[1]));
        (at, pages as u32)
    }

    /// Returns the size of the file, and how many bytes have been read.
    #[must_use]
    pub const fn bytes(&self) -> (u64, u64) {
        (self.len, self.read)
    }

    pub(crate) fn seek(&mut self, at: u64) -> Result<(), ErrorKind> {
        self.at = at;
        self.from.seek(SeekFrom::Start(at)).map_err(ErrorKind::Io)?;
        Ok(())
    }
}

/// Reads the header and checks the version.
pub(crate) fn header(from: &mut impl Read) -> Result<(), ErrorKind> {
    let mut header = [0; HEADER as usize];
    read_exact(from, &mut header)?;
    let (magic, version) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(ErrorKind::NoMagic);
    }
    let version = version.iter().rev().fold(0, |version, byte| version << 8 | u32::from(*byte));
    if version != VERSION {
        return Err(ErrorKind::Version(version));
    }
    Ok(())
}

/// Returns the number of segments if, according to the index, each of them has at most `most` bytes
/// of text and consists of whole lines. If `is_end`, the last segment need not consist of whole
/// lines.
pub(crate) fn whole_lines<'s>(
    segments: impl ExactSizeIterator<Item = &'s [u64; 4]>,
    most: u64,
    is_end: bool,
) -> Option<usize> {
    let (count, mut numbers) = (segments.len(), 1..);
    let fits = |[_, _, text, lines]: &[u64; 4]| {
        let is_last = numbers.next() == Some(count);
        *text <= most && (*lines > 1 || is_end && is_last)
    };
    segments.into_iter().all(fits).then_some(count)
}
