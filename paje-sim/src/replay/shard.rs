//! A shard: strands that one worker replays at a time.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::decode::block::BoxedBlock;
use crate::decode::decoded::StrandSymbol;
use crate::lanes::links::ReuseCandidate;
use crate::lanes::refusal::{Refusal, Refusals};
use crate::memory::Store;
use crate::model::Model;
use crate::names::options::Keeps;
use crate::names::prefetch::prefetch;
use crate::replay::repeated_destructions::RepeatedDestructions;
use crate::replay::slice::Slice;
use crate::replay::strand::{Objects, ShardOutput, Strand};
use crate::replay::strand_pages::StrandPages;
use crate::replay::symbol_map::SymbolMap;

/// Fewest strands that are prefetched: fewer stay in a core's caches.
pub(super) const MANY: usize = 1000;

/// Fewest strands that are prefetched before they are closed.
const FEW: usize = 8;

/// Strands, their rows, and the results of the current wave.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) store: Store,
    pub(crate) strands: StrandPages,
    /// Number of link strands.
    pub(crate) link_strands: usize,
    pub(crate) output: ShardOutput,
    /// First event of the wave that a lane refused.
    pub(crate) refused: Option<Refusal>,
    /// Link strands whose key filters have too many parts.
    pub(crate) scattered: Vec<u32>,
    /// Whether any strand has links whose keys may have been used before.
    pub(crate) has_reuse_candidates: bool,
    /// Strands to close, and when their containers ended.
    pub(super) closing: Vec<(u32, f64)>,
    /// Ends of the rows that are hidden while a portion is shown, strand by strand.
    hidden: Vec<f64>,
    recovers: bool,
    /// Local numbers of the current block's strands; [`NOWHERE`] for strands without one.
    locals: Vec<u32>,
}

/// Stands for a strand without a number.
const NOWHERE: u32 = u32::MAX;

impl Shard {
    /// If it `recovers`, the replay continues after refused events, and lists all of them if they are `listed`.
    pub(crate) fn new(store: Store, homes: usize, recovers: bool, listed: bool) -> Self {
        let completed = (0..homes).map(|_| Vec::new()).collect();
        Shard {
            store,
            strands: StrandPages::default(),
            link_strands: 0,
            output: ShardOutput {
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

    /// Rebuilds scattered key filters, if all keys of the shard belong to one strand; otherwise returns the strands
    /// that need it.
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
    fn find(&mut self, strands: &[(StrandSymbol, u32)], maps: &SymbolMap) {
        self.locals.clear();
        let locals = strands.iter().map(|(symbol, _)| maps.strand(*symbol));
        self.locals.extend(locals.map(|local| local.unwrap_or(NOWHERE)));
        if self.strands.len() < MANY {
            return;
        }
        let known = || self.locals.iter().filter_map(|local| self.strands.get(*local as usize));
        // The strands first: their rows depend on them.
        prefetch(known().map(Strand::prefetch));
        prefetch(known().map(|strand| strand.prefetch_rows(&self.store)));
    }

    /// Notes that the container of a strand has ended.
    pub(super) fn close(&mut self, strand: u32, time: f64) {
        self.closing.push((strand, time));
    }

    /// Closes the strands whose containers have ended.
    pub(super) fn close_ended(&mut self) {
        if self.closing.len() > FEW {
            let strands = self.closing.iter().map(|(strand, _)| &self.strands[*strand as usize]);
            prefetch(strands.map(|strand| strand.prefetch_rows(&self.store)));
        }
        for (strand, time) in self.closing.drain(..) {
            self.strands[strand as usize].close(&mut self.store, time);
        }
    }

    /// Replays the events of a wave that are for this shard and lie in a range of bytes.
    #[inline(never)]
    pub(crate) fn replay(
        &mut self,
        number: usize,
        wave: &[BoxedBlock],
        maps: &[SymbolMap],
        (model, cuts): (&Model, &RepeatedDestructions),
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
            self.find(strands, maps);
            let (recovers, shard) = (self.recovers, number as u8);
            let bytes_now = bytes.clone();
            let mut slice =
                Slice { block, maps, model, cuts, bytes: bytes_now, recovers, shard, is_far };
            for ((_, count), local) in strands.iter().zip(&self.locals) {
                let local = *local;
                let events = &decoded.events[event as usize..(event + count) as usize];
                event += count;
                // No strand: its lane begins behind the limit, or the trace is damaged.
                let Some(strand) = self.strands.get_mut(local as usize) else {
                    continue;
                };
                let replayed = strand.replay(events, &slice, &mut self.store, &mut self.output);
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
    /// Hides the rows of open states until they are carried over.
    pub(crate) fn hide_open(&mut self) {
        for strand in self.strands.iter_mut() {
            strand.hide_open(&mut self.store, &mut self.hidden);
        }
    }

    /// Forgets all rows, and carries open ones over to new memory.
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
    /// Returns the links whose keys may have been used before.
    pub(crate) fn reuse_candidates(&self) -> &[ReuseCandidate] {
        match &self.objects {
            Objects::Link(links) => &links.reuse_candidates,
            _ => &[],
        }
    }
}
