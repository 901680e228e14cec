//! A window of time of a packed trace, of which no more is read than it takes.

use std::cmp::Ordering;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use crate::excerpt::Excerpt;
use crate::format::{Error, ErrorKind, take_number};
use crate::index::{Summaries, whole_lines};
use crate::reader::Reader;

/// Name of the summary that has the times of segments, and the lines that every window needs.
pub(crate) const WINDOWS: &str = "windows";
/// Name of those that follow, one for each border between segments.
pub(crate) const BORDER: &str = "border";
/// The version of both.
pub(crate) const VERSION: u64 = 1;

/// A part of a sound trace, which is a sound trace itself.
///
/// Its rows that overlap the window, and those of all its containers, are those that the whole trace has there, in the same order; it ends when that does.
/// Its text is `before`, then that of the segments, then `after`.
pub struct Window<R> {
    /// Definitions and containers, and lines that open what is open where the segments begin.
    pub before: Vec<u8>,
    /// The segments in the window.
    pub segments: Reader<R>,
    /// Lines that close what is open where these end, and what else is defined.
    pub after: Vec<u8>,
}

impl<R> fmt::Debug for Window<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Window")
    }
}

impl<R> Window<R> {
    /// Number of its segments, if each has so many bytes of text at most, and is of whole lines, as [`Summaries::whole_lines`] tells of
    /// all; nothing may have been read.
    #[must_use]
    pub fn whole_lines(&self, most: u64) -> Option<usize> {
        whole_lines(self.segments.left(), most, self.after.is_empty())
    }

    /// Bytes of the file that its segments take; nothing may have been read.
    #[must_use]
    pub fn packed_bytes(&self) -> u64 {
        self.segments.left().map(|entry| entry[0]).fold(0, u64::saturating_add)
    }

    /// Bytes of its text; nothing may have been read.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let lines = (self.before.len() + self.after.len()) as u64;
        self.segments.left().map(|entry| entry[2]).fold(lines, u64::saturating_add)
    }

    /// The same part, which is read by itself; nothing may have been read of this one.
    ///
    /// # Errors
    /// `from` cannot be set to where the segments are.
    pub fn again<Q: Read + Seek>(&self, mut from: Q) -> io::Result<Window<Q>> {
        from.seek(SeekFrom::Start(self.segments.position()))?;
        let segments = self.segments.again(from);
        Ok(Window { before: self.before.clone(), segments, after: self.after.clone() })
    }
}

/// Segments, and lines of others, by number.
struct Windows<'p> {
    times: Vec<(f64, f64)>,
    fixed: Excerpt<'p>,
    latest: Excerpt<'p>,
}

impl<'p> Windows<'p> {
    fn parse(mut page: &'p [u8], segments: usize) -> Option<Windows<'p>> {
        if take_number(&mut page)? != segments as u64 {
            return None;
        }
        let mut time = || page.split_off(..8)?.try_into().ok().map(f64::from_le_bytes);
        let mut times = Vec::new();
        for _ in 0..segments {
            times.push((time()?, time()?));
        }
        let (fixed, latest) = (Excerpt::take(&mut page)?, Excerpt::take(&mut page)?);
        page.is_empty().then_some(Windows { times, fixed, latest })
    }

    /// The first segment in the window, and the first behind it: the same if there is none.
    fn segments(&self, from: f64, to: f64) -> (usize, usize) {
        let last = self.times.iter().rposition(|(first, _)| *first <= to);
        let end = last.map_or(0, |last| last + 1);
        let start = self.times.iter().position(|(_, last)| *last >= from);
        (start.unwrap_or(end).min(end), end)
    }
}

impl<R: Read + Seek> Summaries<R> {
    /// The part of the trace that has all rows from one time to another; none where nothing was kept for this.
    ///
    /// # Errors
    /// A page is damaged that was read for it.
    pub fn window(mut self, from: f64, to: f64) -> Result<Option<Window<R>>, Error> {
        let Some(number) = self.find(WINDOWS, VERSION) else { return Ok(None) };
        let page = self.content(number)?;
        let count = self.segments().len();
        let windows = Windows::parse(&page, count).ok_or_else(|| self.failed(NO_SENSE))?;
        let (start, end) = windows.segments(from, to);
        let mut border = |segment: usize| match segment {
            0 => Ok(Vec::new()),
            _ if segment == count => Ok(Vec::new()),
            _ if self.has(number + segment, BORDER, VERSION) => self.content(number + segment),
            _ => Err(self.failed(NO_SENSE)),
        };
        let pages = (border(start)?, border(end)?);
        let borders = (Border::parse(&pages.0), Border::parse(&pages.1));
        let (Some(first), Some(last)) = borders else { return Err(self.failed(NO_SENSE)) };
        let lines_before = |segment: usize| {
            let lines = self.segments()[..segment].iter().map(|entry| entry[3]);
            lines.fold(0, u64::saturating_add)
        };
        let (begin, behind) = (lines_before(start), lines_before(end));
        let before = |(number, _): &(u64, _)| *number < begin;
        let after = |(number, _): &(u64, _)| *number >= behind;
        let (at, pages) = self.behind(start);
        self.seek(at).map_err(|kind| self.failed(kind))?;
        let entries = self.segments()[start..end].to_vec();
        Ok(Some(Window {
            // The latest line is there only if the window is behind it.
            before: text(
                windows.fixed.filter(before),
                merge(first.openers.filter(before), windows.latest.filter(before)),
            ),
            after: text(
                windows.fixed.filter(after),
                merge(last.closers.filter(after), windows.latest.filter(after)),
            ),
            segments: Reader::of_some(self.from, at, pages, entries),
        }))
    }
}

/// Fault of a page that has no such lines as it should.
const NO_SENSE: ErrorKind = ErrorKind::Content("it does not tell what is open between segments");

/// Lines that open and close what is open between two segments.
#[derive(Default)]
struct Border<'p> {
    openers: Excerpt<'p>,
    closers: Excerpt<'p>,
}

impl<'p> Border<'p> {
    fn parse(mut page: &'p [u8]) -> Option<Border<'p>> {
        if page.is_empty() {
            return Some(Border::default());
        }
        let border =
            Border { openers: Excerpt::take(&mut page)?, closers: Excerpt::take(&mut page)? };
        page.is_empty().then_some(border)
    }
}

/// The lines of both, in order, each once.
fn merge<'p>(
    one: impl Iterator<Item = (u64, &'p [u8])>,
    other: impl Iterator<Item = (u64, &'p [u8])>,
) -> impl Iterator<Item = (u64, &'p [u8])> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((left, _)), Some((right, _))) => match left.cmp(right) {
            Ordering::Less => one.next(),
            Ordering::Greater => other.next(),
            Ordering::Equal => {
                one.next();
                other.next()
            }
        },
        (Some(_), None) => one.next(),
        (None, _) => other.next(),
    })
}

/// Text of the lines of both, in order.
fn text<'p>(
    one: impl Iterator<Item = (u64, &'p [u8])>,
    other: impl Iterator<Item = (u64, &'p [u8])>,
) -> Vec<u8> {
    let mut text = Vec::new();
    for (_, line) in merge(one, other) {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text
}
