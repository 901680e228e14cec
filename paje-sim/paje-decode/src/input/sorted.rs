//! A trace in the order of its times. Its lines may be in any order.
//!
//! ```text
//! text ──pieces──▶ lines with times, sorted ──parts──▶ lines in order ──blocks──▶ as from a sorted file
//! ```
//!
//! The text is read into memory. Each worker takes pieces of the text, finds the times of their lines (`times`) and
//! sorts the lines. Then each worker takes ranges of times, and merges the lines of all pieces in each range (`order`).
//! A worker that reads a block collects the lines of the block. The replay reads and checks the trace in sorted order.
//! Messages show the original positions.

mod order;
mod text;
mod times;

use std::ops::Range;

use memchr::memchr_iter;
use paje_parser::{ByteOffset, DefTable, Position};
use paje_workers::Workers;
use splitter::{BYTE_ORDER_MARK, Block, Limits};

use crate::input::source::SourceKind;
use paje_model::names::error::Error;
use paje_model::names::options::Options;
use paje_model::names::progress::{Phase, Progress};

/// The lines of a trace in the order of their replay.
pub struct TimeSorted {
    text: Vec<u8>,
    /// Offset of each piece of the text, and the number of lines before the piece.
    pieces: Vec<(usize, u64)>,
    parts: Vec<Part>,
    blocks: Vec<Cut>,
    /// Number of newlines added to the text: one if the last line lacks its newline, otherwise zero.
    added: u64,
    names_files: bool,
    was_marked: bool,
}

/// Start and length of a line, with its newline. Both are packed into one word to save memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line(u64);

impl Line {
    const LEN_BITS: u32 = 20;
    /// Lines of this length or more do not fit. The end of such a line must be searched for.
    const LONG: usize = (1 << Line::LEN_BITS) - 1;
    /// Largest text whose lines all fit into [`Line`]: 16 TiB.
    const MOST_TEXT: u64 = 1 << (u64::BITS - Line::LEN_BITS);

    #[inline]
    fn new(range: Range<usize>) -> Self {
        let len = range.len().min(Line::LONG);
        Line((range.start as u64) << Line::LEN_BITS | len as u64)
    }

    #[inline]
    const fn start(self) -> usize {
        (self.0 >> Line::LEN_BITS) as usize
    }

    #[inline]
    fn range(self, text: &[u8]) -> Range<usize> {
        let (start, len) = (self.start(), self.0 as usize & Line::LONG);
        if len < Line::LONG {
            return start..start + len;
        }
        let newline = memchr::memchr(b'\n', &text[start..]);
        start..newline.map_or(text.len(), |at| start + at + 1)
    }
}

struct Part(Vec<Line>);

struct Cut {
    part: usize,
    lines: Range<usize>,
    /// Offset of the block in the sorted trace.
    start: u64,
    len: usize,
}

impl TimeSorted {
    /// Reads a trace or one of its files, and sorts the lines. `defs` are the definitions at the beginning of the file.
    ///
    /// # Errors
    /// The trace cannot be read, or has a line that is too long.
    pub fn new(
        source: SourceKind<'_>,
        defs: DefTable,
        options: &Options,
        progress: &Progress,
        workers: &Workers,
    ) -> Result<Self, Error> {
        let limits = options.limits;
        progress.enter(Phase::Reading, 0);
        let mut text = text::read(source, limits, workers)?;
        let was_marked = text.starts_with(BYTE_ORDER_MARK);
        if was_marked {
            text[..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        let added = text.last().is_some_and(|last| *last != b'\n');
        if added {
            text.push(b'\n');
        }
        let all = pieces(&text, limits, workers.threads());
        let clocks = times::Clocks::new(&text, &all, defs, options.recover, workers);
        // As in other sources, a line that fits in a block is never too long.
        let too_long = limits.line.saturating_add(1).max(limits.block);
        progress.enter(Phase::Sorting, text.len() as u64);
        let found = workers.map(all.len(), |piece| {
            let found = clocks.classify(&text, all[piece].clone(), too_long);
            let bytes = all[piece].len() as u64;
            progress.advance(bytes - merging(bytes));
            found
        });
        let mut lines = 0;
        let mut pieces = Vec::with_capacity(all.len());
        for (piece, found) in all.iter().zip(&found) {
            pieces.push((piece.start, lines));
            lines += found.lines;
            if let Some(start) = found.too_long {
                let start = ByteOffset(start as u64);
                return Err(Error::line_too_long(start, limits.line, lines + 1));
            }
        }
        let naming = found.iter().any(|found| !found.naming.is_empty());
        let names_files = naming || clocks.creations_name_files();
        let parts =
            order::parts(found, |lines| progress.advance(merging(bytes_of(&text, lines))), workers);
        let cut = workers.map(parts.len(), |part| cut(&text, &parts[part].0, part, limits.block));
        let mut blocks: Vec<Cut> = cut.into_iter().flatten().collect();
        let mut start = 0;
        for block in &mut blocks {
            block.start = start;
            start += block.len as u64;
        }
        progress.enter(Phase::Replaying, text.len() as u64);
        Ok(TimeSorted {
            text,
            pieces,
            parts,
            blocks,
            added: u64::from(added),
            names_files,
            was_marked,
        })
    }

    pub const fn names_files(&self) -> bool {
        self.names_files
    }

    /// Returns whether the text began with a byte order mark. Blanks have replaced it.
    pub const fn was_marked(&self) -> bool {
        self.was_marked
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub fn read(&self, number: usize, block: &mut Block) {
        let cut = &self.blocks[number];
        let lines = &self.parts[cut.part].0[cut.lines.clone()];
        // Adjacent lines of the text are copied together.
        let runs = lines.chunk_by(|line, next| line.range(&self.text).end == next.start());
        let texts = runs.map(|run| {
            let end = run.last().map_or(0, |last| last.range(&self.text).end);
            &self.text[run.first().map_or(end, |first| first.start())..end]
        });
        block.fill(ByteOffset(cut.start), cut.len, texts);
    }

    pub const fn block_count(&self) -> usize {
        self.blocks.len()
    }

    pub const fn added(&self) -> u64 {
        self.added
    }

    /// Translates a position in the sorted trace to a position in the original trace.
    pub fn original(&self, position: Position) -> Position {
        let Some(start) = self.start_of_line(position.line) else { return position };
        let piece = self.pieces.partition_point(|(first, _)| *first <= start).saturating_sub(1);
        let (first, lines) = self.pieces[piece];
        let before = memchr_iter(b'\n', &self.text[first..start]).count() as u64;
        Position {
            byte: ByteOffset(start as u64 + position.column - 1),
            line: lines + before + 1,
            column: position.column,
        }
    }

    /// Returns the offset in the text of line `number` of the sorted trace, counted from 1.
    fn start_of_line(&self, number: u64) -> Option<usize> {
        let mut index = usize::try_from(number).ok()?.checked_sub(1)?;
        for Part(lines) in &self.parts {
            if let Some(line) = lines.get(index) {
                return Some(line.start());
            }
            index -= lines.len();
        }
        None
    }
}

/// Cuts a text into pieces of whole lines. There are enough pieces to keep all workers busy.
fn pieces(text: &[u8], limits: Limits, threads: usize) -> Vec<Range<usize>> {
    // The limits matter only for tests and for lines of gigabytes.
    let least = limits.block.saturating_mul(8).max(1);
    let size = (text.len() / (threads * 16)).clamp(least, least.saturating_mul(64));
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let least_end = start.saturating_add(size).min(text.len());
        let end = memchr::memchr(b'\n', &text[least_end - 1..]);
        let end = end.map_or(text.len(), |newline| least_end + newline);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// Returns the part of the progress that merging accounts for. Reading the times of the lines is most of the work.
const fn merging(bytes: u64) -> u64 {
    bytes / 8
}

fn bytes_of(text: &[u8], lines: &[Line]) -> u64 {
    lines.iter().map(|line| line.range(text).len() as u64).sum()
}

/// Cuts a part into blocks of at most `most` bytes. A longer line becomes a block by itself. The starts of the blocks
/// are set later.
fn cut(text: &[u8], lines: &[Line], part: usize, most: usize) -> Vec<Cut> {
    let mut blocks = Vec::new();
    let (mut first, mut len) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let line_len = line.range(text).len();
        if len > 0 && len + line_len > most {
            blocks.push(Cut { part, lines: first..index, start: 0, len });
            (first, len) = (index, 0);
        }
        len += line_len;
    }
    if len > 0 {
        blocks.push(Cut { part, lines: first..lines.len(), start: 0, len });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length() {
        let lengths = [1, 2, Line::LONG - 1, Line::LONG, Line::LONG + 1, 3 * Line::LONG, 7];
        let mut text = Vec::new();
        let mut lines = Vec::new();
        for len in lengths {
            let start = text.len();
            text.resize(start + len - 1, b'x');
            text.push(b'\n');
            lines.push(start..text.len());
        }
        for range in lines {
            let line = Line::new(range.clone());
            assert_eq!((line.start(), line.range(&text)), (range.start, range));
        }
    }

    #[test]
    fn pieces_are_whole_lines() {
        let text = b"one\ntwo\n\n\na longer line than a piece\nlast\n";
        for block in 0..10 {
            let limits = Limits { block, ..Limits::default() };
            let pieces = pieces(text, limits, 2);
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, text.len()));
            assert!(pieces.windows(2).all(|two| two[0].end == two[1].start));
            assert!(pieces.iter().all(|piece| text[piece.clone()].ends_with(b"\n")));
        }
        assert!(pieces(b"", Limits::default(), 1).is_empty());
    }
}
