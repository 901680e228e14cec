//! Some strands of all lanes, replayed by one worker at a time.

use std::ops::Range;

use super::resolve::Maps;
use super::strand::{Left, Objects, Refusal, Slice, Strand};
use super::window::DecodedBlock;
use crate::ids::LaneId;
use crate::links::Suspect;
use crate::model::Model;
use crate::store::{NewLink, Store};

/// A link that has both its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// The byte and the time of the event that completed it.
    pub(crate) at: u64,
    pub(crate) time: f64,
    pub(crate) lane: LaneId,
    pub(crate) link: NewLink,
}

/// The strands of a shard, their objects, and what the window at hand left.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) store: Store,
    pub(crate) strands: Vec<Strand>,
    pub(crate) left: Left,
    /// The first event of the window that one of its lanes refused.
    pub(crate) refused: Option<Refusal>,
    /// Link strands whose filters want to be gathered.
    pub(crate) scattered: Vec<u32>,
    /// Suspects of the window: strand, and number among its suspects.
    pub(crate) suspected: Vec<(u32, usize)>,
}

impl Shard {
    pub(crate) fn new(user_defined: bool, homes: usize) -> Self {
        let completed = (0..homes).map(|_| Vec::new()).collect();
        Shard {
            store: Store::new(user_defined),
            strands: Vec::new(),
            left: Left { ignored: Vec::new(), completed },
            refused: None,
            scattered: Vec::new(),
            suspected: Vec::new(),
        }
    }

    /// Replays what a window holds for this shard in some of the trace's bytes.
    pub(crate) fn replay(
        &mut self,
        number: usize,
        window: &[DecodedBlock],
        maps: &[Maps],
        model: &Model,
        mut bytes: Range<u64>,
    ) {
        for block in window {
            let decoded = &block.decoded;
            let maps = &maps[block.maps];
            let (first, mut event) = decoded.shards[number];
            let (end, _) = decoded.shards[number + 1];
            for (symbol, count) in &decoded.strands[first as usize..end as usize] {
                let events = &decoded.events[event as usize..(event + count) as usize];
                event += count;
                // A strand whose lane could not be resolved begins at or after the limit.
                let Some(local) = maps.strands.get(*symbol as usize) else {
                    continue;
                };
                let strand = &mut self.strands[*local as usize];
                let container = model.lanes[strand.lane.index()].container;
                let ended_at = model.containers.ended_at(container);
                let slice = Slice { block, maps, ended_at, bytes: bytes.clone() };
                let suspects = strand.suspects().len();
                let replayed = strand.replay(events, &slice, &mut self.store, &mut self.left);
                if let Err(refused) = replayed {
                    bytes.end = refused.at;
                    self.refused = Some(refused);
                }
                let now = strand.suspects().len();
                self.suspected.extend((suspects..now).map(|i| (*local, i)));
                if let Objects::Link(links) = &strand.objects
                    && links.filter.is_scattered()
                    && !self.scattered.contains(local)
                {
                    self.scattered.push(*local);
                }
            }
        }
    }
}

impl Strand {
    /// Links whose keys may have been used before.
    pub(crate) fn suspects(&self) -> &[Suspect] {
        match &self.objects {
            Objects::Link(links) => &links.suspects,
            _ => &[],
        }
    }
}

/// Where a strand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrandPlace {
    pub(crate) shard: u32,
    /// Its number in the shard.
    pub(crate) local: u32,
}
