//! Some strands of all lanes, replayed by one worker at a time.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::decode::block::BoxedBlock;
use crate::decode::decoded::StrandSymbol;
use crate::decode::shared::SharedLanes;
use crate::lanes::links::ReuseCandidate;
use crate::lanes::refusal::{Refusal, Refusals};
use crate::memory::Store;
use crate::model::Model;
use crate::names::options::Keeps;
use crate::replay::cuts::Cuts;
use crate::replay::maps::Maps;
use crate::replay::slice::Slice;
use crate::replay::strand::{Left, Objects, Strand};
use crate::replay::strand_pages::StrandPages;

/// From so many strands on, they do not stay in a core's caches from block to block.
pub(super) const MANY: usize = 1000;

/// With so many to close, they are looked at first.
const FEW: usize = 8;

/// The strands of a shard, their objects, and what the wave at hand left.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) store: Store,
    pub(crate) strands: StrandPages,
    /// Number of those of links.
    pub(crate) link_strands: usize,
    pub(crate) left: Left,
    /// The first event of the wave that one of its lanes refused.
    pub(crate) refused: Option<Refusal>,
    /// Link strands whose filters want to be gathered.
    pub(crate) scattered: Vec<u32>,
    /// Whether any strand has links whose keys may have been used before.
    pub(crate) has_reuse_candidates: bool,
    /// Strands whose containers have ended, and when: they are yet to be closed.
    pub(super) closing: Vec<(u32, f64)>,
    /// The ends of rows that are hidden while a portion is shown, strand by strand.
    hidden: Vec<f64>,
    recovers: bool,
    /// The numbers here of the strands of the block at hand, [`NOWHERE`] of those that have none: each is looked up somewhere
    /// in memory.
    locals: Vec<u32>,
}

/// In place of the number of a strand.
const NOWHERE: u32 = u32::MAX;

impl Shard {
    /// If it `recovers`, the replay goes on after events that lanes refuse, which are `listed` or not.
    pub(crate) fn new(store: Store, homes: usize, recovers: bool, listed: bool) -> Self {
        let completed = (0..homes).map(|_| Vec::new()).collect();
        Shard {
            store,
            strands: StrandPages::default(),
            link_strands: 0,
            left: Left {
                ignored: Vec::new(),
                completed,
                opened: Vec::new(),
                refusals: Refusals::new(listed),
                latest: FxHashMap::default(),
            },
            closing: Vec::new(),
            hidden: Vec::new(),
            recovers,
            locals: Vec::new(),
            refused: None,
            scattered: Vec::new(),
            has_reuse_candidates: false,
        }
    }

    /// Gathers the filters of strands that want to be, if all keys are those of the only link strand; returns the others.
    pub(super) fn gather_own(&mut self) -> Vec<u32> {
        let Shard { store, strands, .. } = self;
        if self.link_strands != 1 {
            return std::mem::take(&mut self.scattered);
        }
        for strand in self.scattered.drain(..) {
            if let Objects::Link(links) = &mut strands[strand as usize].objects {
                links.filter.gather(store.keys.all_hashes());
            }
        }
        Vec::new()
    }

    /// Finds these strands, and looks at what replaying them will need. Where strands are many, each is somewhere in
    /// memory that nothing has looked at for long: looked at one after the other without a dependency
    /// between them, they are fetched side by side.
    fn find(&mut self, strands: &[(StrandSymbol, u32)], maps: &Maps, shared: &SharedLanes) {
        self.locals.clear();
        let locals = strands.iter().map(|(symbol, _)| maps.strand(*symbol, shared));
        self.locals.extend(locals.map(|local| local.unwrap_or(NOWHERE)));
        if self.strands.len() < MANY {
            return;
        }
        let known = || self.locals.iter().filter_map(|local| self.strands.get(*local as usize));
        // First the strands themselves: what comes next depends on them.
        std::hint::black_box(known().fold(0, |all, strand| all ^ strand.look()));
        std::hint::black_box(known().fold(0, |all, strand| all ^ strand.touch(&self.store)));
    }

    /// The container of a strand has ended.
    pub(super) fn close(&mut self, strand: u32, time: f64) {
        self.closing.push((strand, time));
    }

    /// Closes the strands whose containers have ended.
    pub(super) fn close_ended(&mut self) {
        if self.closing.len() > FEW {
            let strands = self.closing.iter().map(|(strand, _)| &self.strands[*strand as usize]);
            let looks = strands.map(|strand| strand.touch(&self.store));
            std::hint::black_box(looks.fold(0, |all, look| all ^ look));
        }
        for (strand, time) in self.closing.drain(..) {
            self.strands[strand as usize].close(&mut self.store, time);
        }
    }

    /// Replays what a wave holds for this shard in some of the trace's bytes.
    #[inline(never)]
    pub(crate) fn replay(
        &mut self,
        number: usize,
        wave: &[BoxedBlock],
        (maps, shared): (&[Maps], &SharedLanes),
        (model, cuts): (&Model, &Cuts),
        mut bytes: Range<u64>,
    ) {
        if self.strands.len() == 0 {
            return;
        }
        let is_far = wave.len() > 1;
        for block in wave {
            let decoded = &block.decoded;
            let maps = &maps[block.maps];
            let (first, mut event) = decoded.shards[number];
            let (end, _) = decoded.shards[number + 1];
            let strands = &decoded.strands[first as usize..end as usize];
            self.find(strands, maps, shared);
            let (recovers, shard) = (self.recovers, number as u8);
            let bytes_now = bytes.clone();
            let mut slice =
                Slice { block, maps, model, cuts, bytes: bytes_now, recovers, shard, is_far };
            for ((_, count), local) in strands.iter().zip(&self.locals) {
                let local = *local;
                let events = &decoded.events[event as usize..(event + count) as usize];
                event += count;
                // A strand whose lane could not be resolved begins at or after the limit, or it is of a damaged trace: there
                // is no such lane.
                let Some(strand) = self.strands.get_mut(local as usize) else {
                    continue;
                };
                let replayed = strand.replay(events, &slice, &mut self.store, &mut self.left);
                if let Err(refused) = replayed {
                    bytes.end = refused.at;
                    slice.bytes.end = refused.at;
                    self.refused = Some(refused);
                }
                if let Objects::Link(links) = &strand.objects {
                    self.has_reuse_candidates |= !links.reuse_candidates.is_empty();
                    if links.filter.is_scattered() && !self.scattered.contains(&local) {
                        self.scattered.push(local);
                    }
                }
            }
        }
    }
}

impl Shard {
    /// Lets the rows of what is open not be seen, until they are carried over.
    pub(crate) fn hide_open(&mut self) {
        for strand in self.strands.iter_mut() {
            strand.hide_open(&mut self.store, &mut self.hidden);
        }
    }

    /// Forgets all rows, and carries what is open, and was hidden, over to new memory.
    pub(crate) fn start_afresh(&mut self, keeps: Keeps) {
        let mut old = std::mem::replace(&mut self.store, Store::new(keeps, None));
        let mut ends = std::mem::take(&mut self.hidden).into_iter();
        for strand in self.strands.iter_mut() {
            strand.start_afresh((&old, &mut self.store), &mut ends);
        }
        for (arena, old) in self.store.arenas_mut().zip(old.arenas_mut()) {
            arena.reuse(old);
        }
    }
}

impl Strand {
    /// Links whose keys may have been used before.
    pub(crate) fn reuse_candidates(&self) -> &[ReuseCandidate] {
        match &self.objects {
            Objects::Link(links) => &links.reuse_candidates,
            _ => &[],
        }
    }
}
