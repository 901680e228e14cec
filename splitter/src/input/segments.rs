//! Segments of packed traces, as blocks of whole lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paje_otf2::Trace;
use paje_pack::{Error, Packed, Piece, Reader, Summaries, Window};
use paje_parser::ByteOffset;
use paje_parser::columns::{Hole, Lines, Wanted};

use super::archive::ArchivePiece;
use super::compression::{Compression, explain};
use super::foreign;
use super::medium::Placed;
use crate::blocks::{Block, ColumnSegment, ReadError, Segment};

/// The segments of a packed trace or of a time window, one after the other.
pub struct Segments {
    source: SegmentSource,
    position: u64,
    left: usize,
}

enum SegmentSource {
    All(Box<Reader<BufReader<Placed>>>),
    /// Lines between the segments of a window count as segments.
    Window(Box<Window<Placed>>),
    /// Their number is that of the next one.
    Archive(Arc<Trace>, usize),
}

struct PackedSegment {
    packed: Packed,
    is_last: bool,
}

impl ColumnSegment for PackedSegment {
    fn text_len(&self) -> usize {
        self.packed.text_len() as usize
    }

    fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        self.packed.columns(text, lines, judge)
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let text = self.packed.unpack().map_err(damaged)?;
        if self.is_last || text.ends_with(b"\n") {
            Ok(text)
        } else {
            Err(damaged(self.packed.cuts_a_line()))
        }
    }

    fn unchecked_text(&self) -> Vec<u8> {
        self.packed.unchecked().unwrap_or_default()
    }
}

struct PlainLines(Vec<u8>);

impl ColumnSegment for PlainLines {
    fn text_len(&self) -> usize {
        self.0.len()
    }

    fn unchecked_text(&self) -> Vec<u8> {
        self.0.clone()
    }
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Segments")
    }
}

impl Segments {
    /// Creates the segments. Returns `None` if a segment is longer than `longest`, or may end
    /// within a line.
    pub(super) fn new(
        file: File,
        taken: Arc<AtomicU64>,
        longest: usize,
    ) -> Result<Option<Segments>, Error> {
        let medium = |file| Placed { file, place: 0, taken: Arc::clone(&taken) };
        let Ok(again) = file.try_clone() else { return Ok(None) };
        let left = Summaries::new(medium(again))?.whole_lines(longest as u64);
        let source = SegmentSource::All(Box::new(Reader::new(BufReader::new(medium(file)))));
        Ok(left.map(|left| Segments { source, position: 0, left }))
    }

    pub(super) fn within(window: Window<Placed>, longest: usize) -> Option<Segments> {
        let left = window.whole_lines(longest as u64)?;
        Some(Segments { source: SegmentSource::Window(Box::new(window)), position: 0, left })
    }

    pub(super) fn of_archive(trace: Arc<Trace>, longest: usize) -> Option<Segments> {
        let left = trace.pieces();
        let is_short = (0..left).all(|piece| trace.bytes(piece) <= longest as u64);
        let source = SegmentSource::Archive(trace, 0);
        is_short.then_some(Segments { source, position: 0, left })
    }

    /// Returns whether the segments belong to a time window. Only valid traces have such windows.
    #[must_use]
    pub const fn is_window(&self) -> bool {
        matches!(self.source, SegmentSource::Window(_))
    }

    /// Returns the offset in the text where the next segment begins.
    #[must_use]
    pub const fn position(&self) -> ByteOffset {
        ByteOffset(self.position)
    }

    /// Returns the next segment, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn next_segment(&mut self) -> io::Result<Option<Segment>> {
        let piece = match &mut self.source {
            SegmentSource::Archive(trace, next) => {
                let (trace, number) = (Arc::clone(trace), *next);
                *next += 1;
                if number >= trace.pieces() {
                    return trace.damage().map_or(Ok(None), |damage| Err(damage.into()));
                }
                return Ok(Some(self.advance(Arc::new(ArchivePiece { trace, number }))));
            }
            SegmentSource::All(reader) => {
                reader.next_segment().map(|packed| packed.map(|it| Piece::Segment(Box::new(it))))
            }
            SegmentSource::Window(window) => window.next_piece(),
        };
        let Some(piece) = piece.map_err(damaged)? else { return Ok(None) };
        let is_last = self.left <= 1;
        let lines: Arc<dyn ColumnSegment> = match piece {
            Piece::Lines(lines) => Arc::new(PlainLines(lines)),
            Piece::Segment(packed) => Arc::new(PackedSegment { packed: *packed, is_last }),
        };
        Ok(Some(self.advance(lines)))
    }

    fn advance(&mut self, lines: Arc<dyn ColumnSegment>) -> Segment {
        let start = self.position();
        self.left = self.left.saturating_sub(1);
        self.position += lines.text_len() as u64;
        Segment { lines, start, is_last: self.left == 0 }
    }

    /// Skips segments up to this byte of the text, or up to the end of the text.
    ///
    /// # Errors
    /// The file cannot be read up to there, or is damaged.
    pub fn pass_to(&mut self, byte: ByteOffset) -> io::Result<()> {
        while self.position < byte.0
            && let Some(segment) = self.next_segment()?
        {
            segment.lines.text()?;
        }
        Ok(())
    }
}

fn damaged(error: Error) -> io::Error {
    explain(Compression::Packed, error.into())
}

impl Block {
    /// Fills the block with the text of a file's first segment. Checks that the text may be a
    /// trace.
    ///
    /// # Errors
    /// The text is not a trace or is damaged. The block is then empty.
    pub fn unpack_first(&mut self, segment: Segment) -> Result<(), ReadError> {
        self.set_segment(segment);
        self.unpack()?;
        let head = &self.text()[..self.text().len().min(foreign::HEAD)];
        let checked = foreign::check(head, Some(Compression::Packed));
        if checked.is_err() {
            self.set(self.start(), 0..0);
        }
        Ok(checked?)
    }
}
