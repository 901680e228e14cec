//! Writes segments and files.

use std::io::{self, Read, Write};

use crate::format::{
    END, HEADER, HIGH, LARGEST_SEGMENT, LARGEST_SUMMARY, MAGIC, Page, SHORT, SUMMARIES, THOROUGH,
    VERSION, kind, put_number,
};
use crate::index::{Entry, Index, LONGEST_NAME};
use crate::segment::{EncodedSegment, STREAMS, encode};
use crate::template::{Definitions, header_len};
use crate::window::{BORDER, VERSION as WINDOW_VERSION, WINDOWS, WindowIndex};

/// Settings of packing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Size of a segment's text in bytes, at most 64 MiB.
    pub segment: usize,
    /// Compression level of zstd for columns. Traces below 1 MiB use at least level 15.
    pub level: i32,
}

impl Default for Settings {
    fn default() -> Self {
        // Larger segments compress a few percent better, but fewer threads can then work at a time.
        Settings { segment: 4 << 20, level: 3 }
    }
}

/// If at least this number of bytes follow the event definitions at the start of a text, the
/// definitions get a separate segment. Lines in the same segment as definitions cannot be read as
/// columns. Shorter texts compress better in one segment.
const LONG: usize = 4 * SHORT;

/// Cuts a text into segments. Each segment ends with a line, unless the line is longer than a
/// segment.
pub struct Segments<R> {
    reader: R,
    size: usize,
    rest: Vec<u8>,
    spare: Option<Vec<u8>>,
    begun: bool,
    ended: bool,
}

impl<R: Read> Segments<R> {
    /// Creates the segments of a reader's text.
    pub fn new(reader: R, settings: Settings) -> Self {
        let size = settings.segment.clamp(1, LARGEST_SEGMENT);
        Segments { reader, size, rest: Vec::new(), spare: None, begun: false, ended: false }
    }

    /// Returns the next segment, or `None` at the end.
    ///
    /// # Errors
    /// The reader fails.
    pub fn next_text(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut text = self.spare.take().unwrap_or_default();
        text.clear();
        text.append(&mut self.rest);
        if !self.ended {
            let missing = self.size.saturating_sub(text.len());
            text.reserve_exact(missing);
            self.reader.by_ref().take(missing as u64).read_to_end(&mut text)?;
            self.ended = text.len() < self.size;
        }
        let end = match std::mem::replace(&mut self.begun, true) {
            false => Some(header_len(&text)).filter(|len| text.len() - len >= LONG),
            true => None,
        };
        let newline = || memchr::memrchr(b'\n', &text).map(|newline| newline + 1);
        let end = end.or_else(|| if self.ended { None } else { newline() });
        if let Some(end) = end.filter(|end| *end > 0) {
            self.rest = text.split_off(end);
        }
        Ok((!text.is_empty()).then_some(text))
    }

    /// Keeps the memory of a text for a later segment.
    pub fn give_back(&mut self, text: Vec<u8>) {
        self.spare = Some(text);
    }
}

/// A packed segment.
pub struct Segment {
    text: u64,
    lines: u64,
    pages: Vec<Page>,
}

impl Segment {
    /// Packs a text of at most 64 MiB that follows these definitions.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub fn pack(text: &[u8], definitions: &Definitions, settings: Settings) -> io::Result<Segment> {
        debug_assert!(text.len() <= LARGEST_SEGMENT);
        // High levels are useful for short traces, where they take little time. A short segment at
        // the end of a long trace uses the usual level.
        let is_first = definitions.are_none();
        let is_below = |most: usize| is_first && text.len() < most.min(settings.segment / 2);
        let level = if is_below(4 * SHORT) { settings.level.max(THOROUGH) } else { settings.level };
        let encoded = encode(text, definitions, level)?;
        let lines = encoded.lines;
        let mut pages = pages_of(&encoded, text, level)?;
        let size = |pages: &[Page]| pages.iter().map(|page| page.kept.len()).sum::<usize>();
        // Short texts, and texts that are not traces, may be smaller without encoding.
        let is_good = size(&pages) * if is_below(SHORT) { 16 } else { 4 } < text.len();
        if !is_good {
            let whole = Page::compressed(kind::TEXT, text.to_vec(), level.max(HIGH))?;
            if whole.kept.len() < size(&pages) {
                pages = vec![
                    Page::plain(kind::HEAD, head(text, lines, &encoded, 1 << (2 * STREAMS))),
                    whole,
                ];
            }
        }
        Ok(Segment { text: text.len() as u64, lines, pages })
    }
}

/// Encodes the head of a segment. Each set bit of `which` announces a page.
fn head(text: &[u8], lines: u64, encoded: &EncodedSegment, which: u64) -> Vec<u8> {
    let mut head = Vec::new();
    for number in
        [text.len() as u64, lines, encoded.scale.after.into(), encoded.scale.zeros.into(), which]
    {
        put_number(number, &mut head);
    }
    head.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
    head
}

fn pages_of(encoded: &EncodedSegment, text: &[u8], level: i32) -> io::Result<Vec<Page>> {
    let parts = encoded.streams.iter().flatten().enumerate().filter(|(_, part)| !part.is_empty());
    let which = parts.clone().fold(0, |which, (number, _)| which | 1 << number);
    let mut pages = vec![Page::plain(kind::HEAD, head(text, encoded.lines, encoded, which))];
    for (number, part) in parts {
        let kind = kind::STREAMS + number as u8;
        pages.push(match number % 2 {
            0 => Page::plain(kind, part.clone()),
            _ => Page::compressed(kind, part.clone(), level)?,
        });
    }
    Ok(pages)
}

/// Writes a packed trace, segment by segment.
pub struct Writer<W> {
    out: W,
    at: u64,
    pages: u32,
    index: Index,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Writing fails.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        Ok(Writer { out, at: HEADER, pages: 0, index: Index::default() })
    }

    /// Appends a segment. Summaries must come after all segments.
    ///
    /// # Errors
    /// Writing fails.
    pub fn put(&mut self, segment: &Segment) -> io::Result<()> {
        let start = self.at;
        for page in &segment.pages {
            self.page(page)?;
        }
        let pages = segment.pages.len() as u64;
        self.index.segments.push([self.at - start, pages, segment.text, segment.lines]);
        Ok(())
    }

    /// Stores a summary, which programs find by its name. All segments must have been written
    /// before. Returns `false` and writes nothing if the name exceeds 255 bytes, the content
    /// exceeds 16 MiB, or the page takes more than `most` bytes of the file.
    ///
    /// # Errors
    /// Writing fails, or zstd runs out of memory.
    pub fn put_summary(
        &mut self,
        name: &str,
        version: u64,
        content: Vec<u8>,
        most: u64,
    ) -> io::Result<bool> {
        let Some(page) = summary(name, content)? else { return Ok(false) };
        if page.len() > most {
            return Ok(false);
        }
        self.summary(name, version, &page)?;
        Ok(true)
    }

    /// Writes the pages that [`Window`](crate::Window) needs, after all segments. Returns `false`
    /// and writes nothing if there are fewer than two segments, or if the pages take too many bytes
    /// of the file: `most`, or an eighth of it if some boundaries are left out.
    ///
    /// # Errors
    /// Writing fails, or zstd runs out of memory.
    pub fn put_windows(&mut self, windows: &WindowIndex, most: u64) -> io::Result<bool> {
        let count = self.index.segments.len();
        if count < 2 || windows.times.len() != count || windows.borders.len() + 1 != count {
            return Ok(false);
        }
        let (mut step, mut borders) = (windows.step.max(1), Vec::new());
        for (number, border) in (1..).zip(&windows.borders).filter(|(it, _)| it % step == 0) {
            let Some(page) = summary(BORDER, border.to_bytes())? else { return Ok(false) };
            borders.push((number, page));
        }
        while !borders.is_empty() {
            let Some(first) = summary(WINDOWS, windows.to_bytes(step))? else { return Ok(false) };
            let bytes = borders.iter().map(|(_, page)| page.len()).sum::<u64>() + first.len();
            if bytes <= if step == 1 { most } else { most / 8 } {
                self.summary(WINDOWS, WINDOW_VERSION, &first)?;
                for (_, page) in &borders {
                    self.summary(BORDER, WINDOW_VERSION, page)?;
                }
                return Ok(true);
            }
            step *= 2;
            borders.retain(|(number, _): &(usize, Page)| number % step == 0);
        }
        Ok(false)
    }

    fn summary(&mut self, name: &str, version: u64, page: &Page) -> io::Result<()> {
        self.page(page)?;
        let name = name.as_bytes().to_owned();
        self.index.summaries.push(Entry { len: page.len(), version, name });
        Ok(())
    }

    /// Returns the number of bytes written.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.at
    }

    fn page(&mut self, page: &Page) -> io::Result<()> {
        self.out.write_all(&page.head(self.pages))?;
        self.out.write_all(&page.kept)?;
        self.pages += 1;
        self.at += page.len();
        Ok(())
    }

    /// Writes the index. A file without it is incomplete.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        let at = self.at;
        self.page(&Page::plain(kind::INDEX, self.index.to_bytes()))?;
        self.out.write_all(&at.to_le_bytes())?;
        self.out.write_all(END)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn summary(name: &str, content: Vec<u8>) -> io::Result<Option<Page>> {
    if content.len() as u64 > LARGEST_SUMMARY || name.len() > LONGEST_NAME {
        return Ok(None);
    }
    Page::of_level(kind::SUMMARY, content, SUMMARIES).map(Some)
}

/// Packs a text with one thread.
///
/// # Errors
/// Reading or writing fails.
pub fn pack<W: Write>(text: impl Read, out: W, settings: Settings) -> io::Result<W> {
    let mut segments = Segments::new(text, settings);
    let mut definitions = Definitions::default();
    let mut writer = Writer::new(out)?;
    while let Some(text) = segments.next_text()? {
        writer.put(&Segment::pack(&text, &definitions, settings)?)?;
        definitions.learn(&text);
    }
    writer.finish()
}
