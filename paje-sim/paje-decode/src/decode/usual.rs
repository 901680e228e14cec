//! Assigns lines to batches. A separate loop handles short and usual lines, which are almost all lines.

use std::ops::Range;

use paje_parser::scan::{PlainLines, ShortLines};
use paje_parser::token::is_white;

use crate::decode::plan::ShortIds;
use crate::decode::wide::Loop;

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) start: u32,
    pub(super) ordinal: u32,
    /// Ends of the line's fields, or of the fields of a long line's [head](crate::decode::plan::Plan::head). In batches
    /// of unusual lines, the [edges](paje_parser::scan::ShortLine::edges) of the fields. 0 for all other lines.
    pub(super) fields: u64,
}

/// Returns the number of a plan's batch for usual short lines, or of its batch for other short lines.
pub(super) const fn batch_of(plan: u32, is_usual: bool) -> u32 {
    2 * plan + !is_usual as u32
}

/// Lines to be decoded: short lines in batches by their plans, and all other lines.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// Batches by the number that [`batch_of`] returns.
    pub(super) batches: Vec<Vec<Waiting>>,
    /// Indices of the batches that are not empty. Empty batches have no memory.
    pub(super) filled: Vec<u32>,
    spare: Vec<Vec<Waiting>>,
    pub(super) rest: Vec<Waiting>,
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

    pub(super) fn take(&mut self, index: u32) -> Vec<Waiting> {
        std::mem::take(&mut self.batches[index as usize])
    }

    pub(super) fn give_back(&mut self, mut batch: Vec<Waiting>) {
        batch.clear();
        self.spare.push(batch);
    }
}

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

const FEWEST: usize = 256;

pub(super) struct UsualLines<'a> {
    pub(super) lines: ShortLines<'a>,
    pub(super) ids: &'a ShortIds,
    pub(super) padded: &'a [u8],
    pub(super) range: Range<usize>,
    pub(super) ordinal: u32,
    pub(super) waiting: &'a mut Batches,
}

impl Loop for UsualLines<'_> {
    type Result = (usize, u32);

    /// Assigns lines to batches, up to the first line that is not usual. Returns the start of that line and the number
    /// of lines before it.
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
            // Here, batches are numbered from 1.
            let index = ids.find_plus_one(u64::from_le_bytes(*bytes), id_len).wrapping_sub(1);
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

    /// Takes the next line if it is longer than most lines, and either is usual or has a usual head. This is not
    /// inlined, so that the loop's values stay in registers.
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

/// Returns the first `count` ends of fields of a line, if the line has that many fields.
fn head_of(ends: u64, count: u32) -> Option<u64> {
    let behind = (0..count).fold(ends, |ends, _| ends & ends.wrapping_sub(1));
    (ends.count_ones() >= count).then_some(ends ^ behind)
}
