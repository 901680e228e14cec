//! Moves completed links from shards to the rows of their lanes: one merger at a time, or in ranges if a merger has
//! many links.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Lanes;
use crate::replay::completion::merger_of;
use crate::replay::link_merger::LinkMerger;
use crate::replay::link_ranges::RangePart;
use crate::replay::shard::Shard;
use paje_decode::decode::block::BoxedBlock;

/// Average number of links in a range. In smaller ranges, partly empty last chunks would take too much memory.
const RANGE: usize = 8192;

const LINK: usize = 40;

/// Links of a wave to merge, in independent parts.
#[derive(Debug)]
pub struct Merges {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Home(usize),
    Range(Arc<Shared>, usize),
}

#[derive(Debug)]
struct Shared {
    home: usize,
    blocks: Vec<Range<usize>>,
    made: Vec<Mutex<Option<RangePart>>>,
    left: AtomicUsize,
}

impl Merges {
    pub fn len(&self) -> usize {
        self.parts.len()
    }
}

impl Lanes {
    /// Hands the links that a shard completed to the mergers of their lanes.
    pub fn hand_over(&self, shard: &mut Shard) {
        if shard.has_reuse_candidates {
            self.has_reuse_candidates.store(true, Ordering::Relaxed);
        }
        for (home, completed) in self.homes.iter().zip(&mut shard.output.completed) {
            if !completed.is_empty()
                && let Ok(mut home) = home.write()
            {
                home.take(completed);
            }
        }
    }

    /// Rebuilds the scattered key filters of a shard. Called before the shard is replayed, when all its completed links
    /// have been merged.
    pub fn gather(&self, number: usize, shard: &mut Shard) {
        for strand in shard.gather_own() {
            let home = merger_of(shard.strands[strand as usize].lane, self.homes.len());
            if let Ok(home) = self.homes[home].read() {
                home.gather(shard, number, strand);
            }
        }
    }

    /// Divides the links of a wave into parts. All shards must have handed over their links.
    pub fn plan_merges(&self, blocks: &[BoxedBlock]) -> Merges {
        let mut parts = Vec::new();
        for (number, home) in self.homes.iter().enumerate() {
            let Ok(home) = home.read() else { continue };
            let ranges = (home.pending() / RANGE).clamp(1, blocks.len().max(1));
            if home.pending() < RANGE || !self.may_share(&home) {
                parts.extend((home.pending() > 0).then_some(Part::Home(number)));
                continue;
            }
            let bound = |range| range * blocks.len() / ranges;
            let shared = Arc::new(Shared {
                home: number,
                blocks: (0..ranges).map(|range| bound(range)..bound(range + 1)).collect(),
                made: (0..ranges).map(|_| Mutex::default()).collect(),
                left: AtomicUsize::new(ranges),
            });
            parts.extend((0..ranges).map(|range| Part::Range(Arc::clone(&shared), range)));
        }
        Merges { parts }
    }

    /// Returns whether several workers may store links of the same merger. This is not possible if rows have extra
    /// columns, are dropped after each portion, or go to a file.
    fn may_share(&self, home: &LinkMerger) -> bool {
        let overflow = self.overflow.as_ref();
        self.workers > 1
            && !self.forgets
            && !self.keeps.anything()
            && home.refusals.is_none()
            && overflow.is_none_or(|overflow| !overflow.is_needed(home.pending() * LINK))
    }

    pub fn merge(&self, merges: &Merges, part: usize, blocks: &[BoxedBlock]) {
        match &merges.parts[part] {
            Part::Home(number) => {
                let Ok(mut home) = self.homes[*number].write() else { return };
                home.merge(self.keeps.anything());
            }
            Part::Range(shared, range) => {
                if let Ok(home) = self.homes[shared.home].read() {
                    let blocks = blocks[shared.blocks[*range].clone()].iter().map(|block| {
                        let start = block.text.start().0;
                        start..start + block.text.text_len() as u64
                    });
                    let part = home.range(blocks, self.overflow.clone());
                    *shared.made[*range].lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(part);
                }
                if shared.left.fetch_sub(1, Ordering::AcqRel) > 1 {
                    return;
                }
                let Ok(mut home) = self.homes[shared.home].write() else { return };
                let parts = shared.made.iter();
                home.append(
                    parts.filter_map(|part| {
                        part.lock().unwrap_or_else(PoisonError::into_inner).take()
                    }),
                );
            }
        }
    }
}
