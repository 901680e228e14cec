//! Completed links on their way from shards to the rows of their lanes: whole homes, or ranges of those that have many.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Lanes;
use crate::decode::block::BoxedBlock;
use crate::replay::completion::home_of;
use crate::replay::link_homes::LinkHome;
use crate::replay::link_ranges::RangePart;
use crate::replay::shard::Shard;

/// Links that a worker merges at a time. Half as many may end up in a range; fewer leave too much room in their last chunk.
const RANGE: usize = 8192;

/// Bytes of a link's row.
const LINK: usize = 40;

/// The links of a wave that are to be merged, in parts that no worker need wait for.
#[derive(Debug)]
pub(crate) struct Merges {
    parts: Vec<Part>,
}

/// Part of the links to merge.
#[derive(Debug)]
enum Part {
    /// All of a home.
    Home(usize),
    /// A range of a home that is shared out, by its number.
    Range(Arc<Shared>, usize),
}

/// A home whose links are merged by several workers.
#[derive(Debug)]
struct Shared {
    home: usize,
    /// Blocks of each range.
    blocks: Vec<Range<usize>>,
    /// Links of each, once they are in order, and the number of ranges that are not.
    made: Vec<Mutex<Option<RangePart>>>,
    left: AtomicUsize,
}

impl Merges {
    /// Number of parts.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }
}

impl Lanes {
    /// Hands the links that a shard completed to the homes of their lanes.
    pub(crate) fn hand_over(&self, shard: &mut Shard) {
        if shard.has_reuse_candidates {
            self.has_reuse_candidates.store(true, Ordering::Relaxed);
        }
        for (home, completed) in self.homes.iter().zip(&mut shard.left.completed) {
            if !completed.is_empty()
                && let Ok(mut home) = home.write()
            {
                home.take(completed);
            }
        }
    }

    /// Gathers the filters of a shard's strands that want to be, before the shard is replayed: what it has completed before
    /// is merged then.
    pub(crate) fn gather(&self, number: usize, shard: &mut Shard) {
        for strand in shard.gather_own() {
            let home = home_of(shard.strands[strand as usize].lane, self.homes.len());
            if let Ok(home) = self.homes[home].read() {
                home.gather(shard, number, strand);
            }
        }
    }

    /// The links of a wave, of which all shards have handed over theirs.
    pub(crate) fn plan_merges(&self, blocks: &[BoxedBlock]) -> Merges {
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

    /// Tells whether several workers may make chunks of a home's links. Not where what they need is not there to be looked
    /// at, nor where pages are used again, or are those of a file.
    fn may_share(&self, home: &LinkHome) -> bool {
        let overflow = self.overflow.as_ref();
        self.workers > 1
            && !self.forgets
            && !self.keeps.anything()
            && home.refusals.is_none()
            && overflow.is_none_or(|overflow| !overflow.is_needed(home.pending() * LINK))
    }

    /// Merges a part of the links of these blocks, as one of the workers.
    pub(crate) fn merge(&self, merges: &Merges, part: usize, blocks: &[BoxedBlock]) {
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
