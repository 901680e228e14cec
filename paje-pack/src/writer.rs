//! Writing: text to segments, one by one or many at once, and those to a file, in order.

use std::io::{self, Read, Write};

use crate::definitions::Definitions;
use crate::format::{
    BORDERS, END, HEADER, HIGH, LARGEST_SEGMENT, LARGEST_SUMMARY, MAGIC, Page, SHORT, THOROUGH,
    VERSION, kind, put_number,
};
use crate::index::{Entry, Index, LONGEST_NAME};
use crate::segment::{EncodedSegment, STREAMS, encode};
use crate::window::{BORDER, VERSION as WINDOW_VERSION, WINDOWS, WindowIndex};

/// Settings of packing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Bytes of text that are packed by themselves: 1 to 64 MiB.
    pub segment: usize,
    /// zstd's level for columns; what is short beside a segment, and below 1 MiB, has at least 15.
    pub level: i32,
}

impl Default for Settings {
    fn default() -> Self {
        // Larger segments are some hundredths smaller, and fewer threads work on them.
        Settings { segment: 4 << 20, level: 3 }
    }
}

/// Bytes that are made room for at first; twice as many each time that more come.
const FIRST: usize = 1 << 16;

/// A text in segments, each of which ends with a line if lines are shorter than a segment.
pub struct Segments<R> {
    reader: R,
    size: usize,
    rest: Vec<u8>,
    /// Room of texts that were given back.
    spare: Option<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Segments<R> {
    /// The segments of what a reader gives.
    pub fn new(reader: R, settings: Settings) -> Self {
        let size = settings.segment.clamp(1, LARGEST_SEGMENT);
        Segments { reader, size, rest: Vec::new(), spare: None, ended: false }
    }

    /// The next segment; none at the end.
    ///
    /// # Errors
    /// The reader fails.
    pub fn next_text(&mut self) -> io::Result<Option<Vec<u8>>> {
        // Bytes of a text that was are written over: only those that are new are cleared.
        let mut text = self.spare.take().unwrap_or_default();
        let mut filled = self.rest.len();
        text.resize(filled.max(text.len().min(self.size)), 0);
        text[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        while !self.ended && filled < self.size {
            if filled == text.len() {
                text.resize((2 * filled).clamp(FIRST, self.size.max(FIRST)).min(self.size), 0);
            }
            match self.reader.read(&mut text[filled..]) {
                Ok(more) => {
                    self.ended = more == 0;
                    filled += more;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if !self.ended
            && let Some(newline) = memchr::memrchr(b'\n', &text[..filled])
        {
            self.rest.extend_from_slice(&text[newline + 1..filled]);
            filled = newline + 1;
        }
        text.truncate(filled);
        Ok((filled > 0).then_some(text))
    }

    /// Gives back a text that is needed no longer: its memory is used for one of those to come.
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
    /// Packs a text of at most 64 MiB, which comes after these definitions.
    ///
    /// # Errors
    /// zstd lacks memory.
    pub fn pack(text: &[u8], definitions: &Definitions, settings: Settings) -> io::Result<Segment> {
        debug_assert!(text.len() <= LARGEST_SEGMENT);
        // Short texts cost little time and have little to learn from; but long ones that are cut into short segments are long, and so
        // are those that end with a short one.
        let is_first = definitions.are_none();
        let is_below = |most: usize| is_first && text.len() < most.min(settings.segment / 2);
        let level = if is_below(4 * SHORT) { settings.level.max(THOROUGH) } else { settings.level };
        let encoded = encode(text, definitions, level)?;
        let lines = encoded.lines;
        let mut pages = pages_of(&encoded, text, level)?;
        let size = |pages: &[Page]| pages.iter().map(|page| page.kept.len()).sum::<usize>();
        // Texts that are no trace, or hardly any, may be better off without all this, and short ones, too.
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

/// Head of a segment, as bytes; `which` has a bit for each of the pages that follow.
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

    /// Appends a segment; summaries come behind all segments.
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

    /// Keeps something with the trace, behind its segments, that programs find by its name: at most 255 bytes of name,
    /// and 16 MiB of content. It is left out if it is larger, or takes more than `most` bytes of the file.
    ///
    /// # Errors
    /// Writing fails, or zstd lacks memory.
    pub fn put_summary(
        &mut self,
        name: &str,
        version: u64,
        content: Vec<u8>,
        most: u64,
    ) -> io::Result<bool> {
        let high = |content| Page::compressed(kind::SUMMARY, content, HIGH);
        let Some(page) = summary(name, content, high)? else { return Ok(false) };
        if page.len() > most {
            return Ok(false);
        }
        self.summary(name, version, &page)?;
        Ok(true)
    }

    /// Writes what [`Window`](crate::Window) needs, behind all segments. Returns false, and writes nothing, if
    /// there are fewer than two segments or if it takes more than `most` bytes of the file.
    ///
    /// # Errors
    /// Writing fails, or zstd lacks memory.
    pub fn put_windows(&mut self, windows: &WindowIndex, most: u64) -> io::Result<bool> {
        let count = self.index.segments.len();
        if count < 2 || windows.times.len() != count || windows.borders.len() + 1 != count {
            return Ok(false);
        }
        let (mut pages, mut left) = (Vec::new(), most);
        let borders = windows.borders.iter().map(|border| (BORDER, border.to_bytes()));
        for (name, content) in std::iter::once((WINDOWS, windows.to_bytes())).chain(borders) {
            let Some(page) =
                summary(name, content, |content| Page::of_level(kind::SUMMARY, content, BORDERS))?
            else {
                return Ok(false);
            };
            let Some(rest) = left.checked_sub(page.len()) else { return Ok(false) };
            left = rest;
            pages.push((name, page));
        }
        for (name, page) in &pages {
            self.summary(name, WINDOW_VERSION, page)?;
        }
        Ok(true)
    }

    fn summary(&mut self, name: &str, version: u64, page: &Page) -> io::Result<()> {
        self.page(page)?;
        let name = name.as_bytes().to_owned();
        self.index.summaries.push(Entry { len: page.len(), version, name });
        Ok(())
    }

    /// Bytes of the file so far.
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

    /// Writes where the segments are. Without this, the trace is not whole.
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

/// Page of a summary; none if it is too large.
fn summary(
    name: &str,
    content: Vec<u8>,
    page: impl Fn(Vec<u8>) -> io::Result<Page>,
) -> io::Result<Option<Page>> {
    if content.len() as u64 > LARGEST_SUMMARY || name.len() > LONGEST_NAME {
        return Ok(None);
    }
    page(content).map(Some)
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
