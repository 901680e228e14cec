//! Parallel merging of links: each worker sorts the links of some blocks into new chunks, which are then appended to
//! their lanes in order.
//!
//! Sorting does not compare the links of a block. The byte offset of a completing line determines the index of its
//! link.

use std::ops::Range;
use std::sync::Arc;

use crate::lanes::refusal::Refusal;
use crate::replay::completion::Completion;
use paje_model::memory::{Arena, LARGEST, LinkChunk, LinkRoom, Overflow, Rows, Width, push_link};
use paje_model::names::ids::LaneId;

/// Number of links below which a lane's links are added one by one, because a range would leave its last chunk partly
/// empty.
const FEW: usize = 4 * LARGEST;

#[derive(Debug)]
pub struct RangePart {
    pub arena: Arena,
    pub lanes: Vec<LanePart>,
}

#[derive(Debug)]
pub enum LanePart {
    /// Links that must be added one by one.
    Single(Vec<Completion>),
    Chunks {
        lane: LaneId,
        first: Completion,
        /// First link of the range that completes earlier than the previous link.
        late: Option<Refusal>,
        last: (f64, f64),
        chunks: Vec<Rows>,
    },
}

impl RangePart {
    /// Stores sorted links. `is_large` returns whether the next chunk of a lane has the largest size.
    pub(crate) fn new(
        mut links: Vec<&Completion>,
        is_large: impl Fn(LaneId) -> bool,
        overflow: Option<Arc<Overflow>>,
    ) -> Self {
        if !links.is_sorted_by_key(|link| link.lane) {
            // The sort is stable, so that the links of a lane stay in order.
            links.sort_by_key(|link| link.lane);
        }
        let mut arena = Arena::new(overflow);
        let of_lanes = links.chunk_by(|a, b| a.lane == b.lane);
        let lanes = of_lanes.filter_map(|links| {
            let first = **links.first()?;
            Some(match links.len() >= FEW && is_large(first.lane) {
                true => LanePart::new(links, first, chunks(links, &mut arena)),
                false => LanePart::Single(links.iter().copied().copied().collect()),
            })
        });
        RangePart { lanes: lanes.collect(), arena }
    }
}

impl LanePart {
    fn new(links: &[&Completion], first: Completion, chunks: Vec<Rows>) -> Self {
        let ends = |link: &Completion| (link.link.start, link.link.end);
        let mut pairs = links.iter().zip(&links[1..]);
        let late = pairs.find_map(|(before, link)| {
            link.is_before(Some(ends(before))).map(|last| link.refused(last))
        });
        let last = links.last().map_or(ends(&first), |last| ends(last));
        LanePart::Chunks { lane: first.lane, first, late, last, chunks }
    }
}

fn chunks(links: &[&Completion], arena: &mut Arena) -> Vec<Rows> {
    let is_narrow = links.iter().all(|link| link.link.width() == Width::Narrow);
    let width = if is_narrow { Width::Narrow } else { Width::Wide };
    let words = LinkChunk::words(LARGEST, width, false);
    let place = arena.take(words * links.len().div_ceil(LARGEST));
    let chunks = links.chunks(LARGEST).enumerate().map(|(number, links)| {
        let mut rows = Rows::in_largest(place.after(number * words), width);
        let pushed = LinkRoom::of(&mut rows, arena)
            .map_or(0, |mut room| links.iter().take_while(|link| room.push(&link.link)).count());
        for link in &links[pushed..] {
            push_link(arena, &mut rows, &link.link, false);
        }
        rows
    });
    chunks.collect()
}

/// Smallest size in bytes of a link's line, which has an event number, a time, a type, a container, a value and a key.
const LINE: u64 = 8;

/// Largest number of slots for the lines of a block. The links of a block with a very long line would need more slots,
/// so they are sorted by comparison.
const MOST_SLOTS: usize = (4 << 20) / LINE as usize;

/// Returns the links of `blocks` in the order of their lines. `runs` are in the order of blocks,
/// and `blocks` are adjacent ranges of bytes.
pub(crate) fn ordered(
    runs: &[Vec<Completion>],
    blocks: impl Iterator<Item = Range<u64>> + Clone,
) -> Vec<&Completion> {
    let Some(start) = blocks.clone().next().map(|block| block.start) else { return Vec::new() };
    let runs = runs.iter().map(|run| &run[run.partition_point(|link| link.at < start)..]);
    let mut rest: Vec<&[Completion]> = runs.collect();
    let mut all: Vec<&Completion> = Vec::new();
    let slots = |block: &Range<u64>| ((block.end - block.start) / LINE) as usize;
    let most = blocks.clone().map(|block| slots(&block)).filter(|slots| *slots <= MOST_SLOTS).max();
    // `taken` has a bit for each line. For each word of bits, `earlier` has the number of bits set in earlier words.
    let mut taken = vec![0_u64; most.unwrap_or(0).div_ceil(64)];
    let mut earlier = vec![0_u32; taken.len()];
    let mut of_block: Vec<&Completion> = Vec::new();
    for block in blocks {
        let now = rest.iter_mut().flat_map(|run| {
            let count = run.iter().take_while(|link| link.at < block.end).count();
            run.split_off(..count).unwrap_or_default()
        });
        let from = all.len();
        if slots(&block) > 64 * taken.len() {
            all.extend(now);
            all[from..].sort_unstable_by_key(|link| link.at);
            continue;
        }
        all.extend(now);
        of_block.clear();
        of_block.extend_from_slice(&all[from..]);
        let slot = |link: &Completion| {
            let slot = ((link.at - block.start) / LINE) as usize;
            (slot / 64, 1 << (slot % 64))
        };
        for link in &of_block {
            let (word, bit) = slot(link);
            debug_assert!(taken[word] & bit == 0, "a line has room for the next");
            taken[word] |= bit;
        }
        let mut sum = from as u32;
        for (word, earlier) in taken.iter().zip(&mut earlier) {
            *earlier = sum;
            sum += word.count_ones();
        }
        for link in &of_block {
            let (word, bit) = slot(link);
            let place = earlier[word] + (taken[word] & (bit - 1)).count_ones();
            all[place as usize] = link;
        }
        taken.fill(0);
    }
    all
}

#[cfg(test)]
mod tests;
