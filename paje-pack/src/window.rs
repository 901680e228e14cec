//! Reads a time window of a packed trace, and skips the segments outside of the window.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufReader, Read, Seek, Take};
use std::ops::Range;

use self::plan::{Gap, Headers, OpenRows, Run, Windows};
use crate::format::{Error, ErrorKind, LARGEST_SUMMARY};
use crate::index::{Summaries, whole_lines};
use crate::reader::{Packed, Reader};

mod plan;
mod write;

pub use write::{Border, TextLine, WindowIndex};

/// Name of the summary that holds the times of the segments, and the lines that every window needs.
pub(crate) const WINDOWS: &str = "windows";
/// Name of the summaries that follow it. Each of them describes a boundary between two segments.
pub(crate) const BORDER: &str = "border";
pub(crate) const VERSION: u64 = 3;

const NO_SENSE: ErrorKind =
    ErrorKind::Content("the states that are open between segments are missing or wrong");

/// A part of a valid trace that is itself a valid trace.
///
/// The rows that overlap the window, and all rows of containers, are the same as in the whole
/// trace, in the same order. The part has the same end time as the trace. Segments outside the
/// window are replaced by a few of their lines: definitions, lines that create and destroy
/// containers, and lines that open and close rows across a boundary.
pub struct Window<R> {
    parts: VecDeque<Part>,
    reader: Reader<BufReader<Take<R>>>,
}

/// A piece of the text of a window.
pub enum Piece {
    /// Whole lines.
    Lines(Vec<u8>),
    /// A segment.
    Segment(Box<Packed>),
}

#[derive(Clone)]
enum Part {
    Lines(Vec<u8>),
    /// Consecutive segments: the offset and the page number where they begin, and their entries in
    /// the index.
    Segments(u64, u32, Vec<[u64; 4]>),
}

impl<R> fmt::Debug for Window<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Window")
    }
}

impl<R: Read + Seek> Window<R> {
    fn new(from: R, parts: VecDeque<Part>) -> Self {
        let reader = Reader::of_some(BufReader::new(from.take(0)));
        Window { parts, reader }
    }

    /// Returns the same window for another reader. Nothing may have been read from this window.
    pub fn again<Q: Read + Seek>(&self, from: Q) -> Window<Q> {
        Window::new(from, self.parts.clone())
    }

    /// Returns the number of pieces if each of them has at most `most` bytes of text and consists
    /// of whole lines; see [`Summaries::whole_lines`]. Nothing may have been read from the window.
    #[must_use]
    pub fn whole_lines(&self, most: u64) -> Option<usize> {
        let numbered = self.parts.iter().zip(1..);
        let pieces = numbered.map(|(part, number)| match part {
            Part::Lines(lines) => (lines.len() as u64 <= most).then_some(1),
            Part::Segments(.., segments) => {
                whole_lines(segments.iter(), most, number == self.parts.len())
            }
        });
        pieces.sum()
    }

    /// Returns the size of the text in bytes. Nothing may have been read from the window.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let bytes = self.parts.iter().map(|part| match part {
            Part::Lines(lines) => lines.len() as u64,
            Part::Segments(.., segments) => sum(segments, 2),
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the parts of the file that have the segments: the offset and the size of each.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Lines(_) => None,
            Part::Segments(at, _, segments) => Some((*at, sum(segments, 0))),
        })
    }

    /// Returns the next piece of the text, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn next_piece(&mut self) -> Result<Option<Piece>, Error> {
        loop {
            if let Some(packed) = self.reader.next_segment()? {
                return Ok(Some(Piece::Segment(packed.into())));
            }
            match self.parts.pop_front() {
                Some(Part::Lines(lines)) => return Ok(Some(Piece::Lines(lines))),
                // The reader does not read beyond these segments.
                Some(Part::Segments(at, pages, segments)) => {
                    self.reader.turn(at, pages, segments)?;
                }
                None => return Ok(None),
            }
        }
    }
}

/// Consecutive segments of a packed trace that are only read together: their times and sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentInfo {
    /// Earliest time, or positive infinity if the segments have no times.
    pub first: f64,
    /// Latest time, or negative infinity if the segments have no times.
    pub last: f64,
    /// Size in the file, in bytes.
    pub bytes: u64,
    /// Size of the text, in bytes.
    pub text_bytes: u64,
    /// Number of lines.
    pub lines: u64,
}

impl<R: Read + Seek> Summaries<R> {
    /// Returns the times and sizes of the segments that windows have or lack. Returns `None` if the trace has no index for
    /// windows.
    ///
    /// # Errors
    /// The page with the times is damaged.
    pub fn segment_infos(&mut self) -> Result<Option<Vec<SegmentInfo>>, Error> {
        let Some(page) = self.get(WINDOWS, VERSION)? else { return Ok(None) };
        let windows = Windows::parse(&page, self.segments().len());
        let windows = windows.ok_or_else(|| self.failed(NO_SENSE))?;
        let infos = windows.units().map(|(segments, first, last)| {
            let [bytes, _, text_bytes, lines] =
                [0, 1, 2, 3].map(|column| sum(&self.segments()[segments.clone()], column));
            SegmentInfo { first, last, bytes, text_bytes, lines }
        });
        Ok(Some(infos.collect()))
    }

    /// Returns the part of the trace that has all rows between two times. Returns `None` if the
    /// trace has no index for windows.
    ///
    /// # Errors
    /// One of the required pages is damaged.
    pub fn window(mut self, from: f64, to: f64) -> Result<Option<Window<R>>, Error> {
        let Some(number) = self.find(WINDOWS, VERSION) else { return Ok(None) };
        let page = self.content(number)?;
        let count = self.segments().len();
        let windows = Windows::parse(&page, count).ok_or_else(|| self.failed(NO_SENSE))?;
        let (mut headers, mut lines) = (Headers::new(windows.fixed), windows.lines().peekable());
        let (mut parts, mut behind, mut room) = (VecDeque::new(), 0, LARGEST_SUMMARY);
        let border = |segment: usize| number + segment / windows.step;
        for Run { segments, is_outside } in windows.runs(from, to) {
            let first = behind;
            behind = sum(&self.segments()[segments.clone()], 2).saturating_add(first);
            let is_at_end = segments.start == 0 || segments.end == count;
            let borders = [border(segments.start), border(segments.end)];
            if is_outside && (is_at_end || self.is_worth_a_gap(borders, &segments)) {
                let pages = (
                    self.border(borders[0], segments.start)?,
                    self.border(borders[1], segments.end)?,
                );
                let borders = (OpenRows::parse(&pages.0), OpenRows::parse(&pages.1));
                let (Some(begin), Some(end)) = borders else { return Err(self.failed(NO_SENSE)) };
                let gap = Gap { begin, end, lines: first..behind };
                // If the gap reaches the end of the trace, no states can follow inside a state that
                // is still open.
                if segments.end == count || gap.is_sound(&mut headers) == Some(true) {
                    while lines.next_if(|(number, _)| *number < first).is_some() {}
                    let next = || lines.next_if(|(number, _)| *number < behind);
                    let text = gap.text(std::iter::from_fn(next));
                    let bytes = if is_at_end { 0 } else { text.len() as u64 };
                    if bytes <= room {
                        room -= bytes;
                        put_lines(text, &mut parts);
                        continue;
                    }
                }
            }
            let (at, pages) = self.behind(segments.start);
            put_segments(at, pages, &self.segments()[segments], &mut parts);
        }
        Ok(Some(Window::new(self.from, parts)))
    }

    /// Returns whether skipping segments saves reading: the pages of the two boundaries must be
    /// smaller than the segments.
    fn is_worth_a_gap(&self, borders: [usize; 2], segments: &Range<usize>) -> bool {
        let bytes = borders.map(|border| self.summary_len(border));
        bytes[0].saturating_add(bytes[1]) < sum(&self.segments()[segments.clone()], 0)
    }

    /// Returns the page of the boundary before a segment, given the number of its summary. It is
    /// empty at both ends of the trace.
    fn border(&mut self, number: usize, segment: usize) -> Result<Vec<u8>, Error> {
        match segment {
            0 => Ok(Vec::new()),
            _ if segment == self.segments().len() => Ok(Vec::new()),
            _ if self.has(number, BORDER, VERSION) => self.content(number),
            _ => Err(self.failed(NO_SENSE)),
        }
    }
}

fn sum(segments: &[[u64; 4]], column: usize) -> u64 {
    segments.iter().map(|entry| entry[column]).fold(0, u64::saturating_add)
}

fn put_lines(lines: Vec<u8>, parts: &mut VecDeque<Part>) {
    match parts.back_mut() {
        _ if lines.is_empty() => {}
        Some(Part::Lines(before)) => before.extend(lines),
        _ => parts.push_back(Part::Lines(lines)),
    }
}

fn put_segments(at: u64, pages: u32, segments: &[[u64; 4]], parts: &mut VecDeque<Part>) {
    match parts.back_mut() {
        // The gap may have no lines.
        Some(Part::Segments(start, _, before)) if *start + sum(before, 0) == at => {
            before.extend(segments);
        }
        _ => parts.push_back(Part::Segments(at, pages, segments.into())),
    }
}
