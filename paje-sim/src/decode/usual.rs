//! Lines on their way to batches: almost all are short and written as usual, and a loop by itself goes through them, so
//! that all that it needs is at hand.

use std::ops::Range;

use paje_parser::scan::{PlainLines, ShortLines};
use paje_parser::token::is_white;

use crate::decode::plan::ShortIds;
use crate::decode::wide::Loop;

/// A line that waits to be decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Its start in the block.
    pub(super) start: u32,
    /// Number of lines with words that come before it.
    pub(super) ordinal: u32,
    /// Its fields: their ends (of a long line, those of its [head](crate::decode::plan::Plan::head)) or, in other batches than the
    /// usual ones, the edges of a [`ShortLine`](paje_parser::scan::ShortLine). None of any other line that is not short.
    pub(super) fields: u64,
}

/// The batch for short lines of a plan: the usual ones, or all others.
pub(super) const fn batch_of(plan: u32, is_usual: bool) -> u32 {
    2 * plan + !is_usual as u32
}

/// Lines that wait to be decoded: short ones by their plans, and all others.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// See [`batch_of`].
    pub(super) batches: Vec<Vec<Waiting>>,
    /// Those that are not empty. Others have no memory.
    pub(super) filled: Vec<u32>,
    /// Their memory.
    spare: Vec<Vec<Waiting>>,
    pub(super) rest: Vec<Waiting>,
    /// Number of lines with words that the block at hand has so far.
    pub(super) lines: u32,
}

impl Batches {
    #[inline(always)]
    pub(super) fn push(&mut self, index: u32, line: Waiting) {
        let batch = &mut self.batches[index as usize];
        if batch.len() == batch.capacity() {
            make_room(batch, index, &mut self.filled, &mut self.spare);
        }
        batch.push(line);
    }

    /// Takes a batch out.
    pub(super) fn take(&mut self, index: u32) -> Vec<Waiting> {
        std::mem::take(&mut self.batches[index as usize])
    }

    /// Gives the memory of one back.
    pub(super) fn give_back(&mut self, mut batch: Vec<Waiting>) {
        batch.clear();
        self.spare.push(batch);
    }
}

/// Room for one more in a batch that is full, or has no memory.
#[cold]
#[inline(never)]
fn make_room(
    batch: &mut Vec<Waiting>,
    index: u32,
    filled: &mut Vec<u32>,
    spare: &mut Vec<Vec<Waiting>>,
) {
    if batch.is_empty() {
        filled.push(index);
        *batch = spare.pop().unwrap_or_default();
    }
    batch.reserve(FEWEST);
}

/// Lines that a batch has room for at least.
const FEWEST: usize = 256;

/// Lines from which on some may stand as usual, and where they go.
pub(super) struct UsualLines<'a> {
    pub(super) lines: ShortLines<'a>,
    pub(super) ids: &'a ShortIds,
    pub(super) padded: &'a [u8],
    pub(super) range: Range<usize>,
    /// Number of lines with words that come before.
    pub(super) ordinal: u32,
    pub(super) waiting: &'a mut Batches,
}

impl Loop for UsualLines<'_> {
    type Result = (usize, u32);

    /// Sorts out lines up to the first whose fields do not stand as usual. Returns where that one begins, and how many lines
    /// come before it.
    #[inline(always)]
    fn run(mut self) -> (usize, u32) {
        let lines = self.lines;
        match lines.plain() {
            None => self.sort_out(|start| lines.usual(start)),
            Some(plain) if plain.are_single() => loop {
                self.sort_out(|start| plain.single(start));
                if !self.longer(plain) {
                    break;
                }
            },
            Some(plain) => loop {
                self.sort_out(|start| plain.usual(start));
                if !self.longer(plain) {
                    break;
                }
            },
        }
        (self.range.start, self.ordinal)
    }
}

impl UsualLines<'_> {
    #[inline(always)]
    fn sort_out(&mut self, usual: impl Fn(usize) -> Option<(u64, u32)>) {
        let UsualLines { ids, padded, range, ordinal: next, waiting, .. } = self;
        let Batches { batches, filled, spare, .. } = &mut **waiting;
        let (batches, mut start, mut ordinal) = (&mut batches[..], range.start as u32, *next);
        while (start as usize) < range.end {
            let at = start as usize;
            let Some((ends, len)) = usual(at) else { break };
            let Some(bytes) = padded.get(at..at + 8).and_then(<[u8]>::first_chunk) else { break };
            let id_len = ends.trailing_zeros() as usize;
            // There is no batch before the first.
            let index = ids.behind(u64::from_le_bytes(*bytes), id_len).wrapping_sub(1);
            let Some(batch) = batches.get_mut(index as usize) else { break };
            if batch.len() == batch.capacity() {
                make_room(batch, index, filled, spare);
            }
            batch.push(Waiting { start, ordinal, fields: ends });
            ordinal += 1;
            start += len + 1;
        }
        (range.start, *next) = (start as usize, ordinal);
    }

    /// Takes the next line if it is usual, but longer than most, or an event's that is long. Apart from the others, so
    /// that what these need stays in registers.
    #[inline(never)]
    fn longer(&mut self, plain: PlainLines<'_>) -> bool {
        let start = self.range.start;
        let Some(bytes) = self.padded.get(start..start + 8).and_then(<[u8]>::first_chunk) else {
            return false;
        };
        if start >= self.range.end || bytes[0] == b'%' || is_white(bytes[0]) {
            return false;
        }
        let Some((ends, len)) = plain.longer(start) else { return false };
        let id = (u64::from_le_bytes(*bytes), ends.trailing_zeros() as usize);
        let (at, start, ordinal) = (start, start as u32, self.ordinal);
        if len >= 64 {
            let head = self.ids.head(id.0, id.1).filter(|head| plain.fields(at) == Some(head.all));
            match head.and_then(|head| Some((head.batch, head_of(ends, head.fields)?))) {
                Some((batch, fields)) => {
                    self.waiting.push(batch, Waiting { start, ordinal, fields });
                }
                None => self.waiting.rest.push(Waiting { start, ordinal, fields: 0 }),
            }
        } else {
            let Some(batch) = self.ids.find(id.0, id.1) else { return false };
            self.waiting.push(batch, Waiting { start, ordinal, fields: ends });
        }
        self.ordinal += 1;
        self.range.start += len as usize + 1;
        true
    }
}

/// The first ends of a line, if it has so many.
fn head_of(ends: u64, count: u32) -> Option<u64> {
    let behind = (0..count).fold(ends, |ends, _| ends & ends.wrapping_sub(1));
    (ends.count_ones() >= count).then_some(ends ^ behind)
}
