use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::lanes::links::ReuseCandidate;
use crate::lanes::refusal::{Refusal, Refusals};
use crate::replay::repeated_destructions::RepeatedDestructions;
use crate::replay::slice::Slice;
use crate::replay::strand::{Objects, ShardOutput, Strand};
use crate::replay::strand_pages::StrandPages;
use crate::replay::symbol_map::{NO_STRAND, SymbolMap};
use paje_decode::decode::block::BoxedBlock;
use paje_decode::decode::decoded::StrandSymbol;
use paje_model::memory::Store;
use paje_model::model::Model;
use paje_model::names::options::Keeps;
use paje_model::names::prefetch::prefetch;

/// Minimum number of strands for which prefetching pays off. Fewer strands stay in a core's caches.
pub(super) const MANY: usize = 1000;

/// Number of strands to close from which prefetching pays off.
const FEW: usize = 8;

/// Strands that are replayed by one worker at a time, their rows, and the results of the current wave.
#[derive(Debug)]
pub struct Shard {
    pub(crate) store: Store,
    pub(crate) strands: StrandPages,
    pub(crate) link_strands: usize,
    pub(crate) output: ShardOutput,
    pub(crate) refused: Option<Refusal>,
    /// Local numbers of link strands whose key filters have too many parts.
    pub(crate) scattered: Vec<u32>,
    pub(crate) has_reuse_candidates: bool,
    /// Local numbers of strands to close, and the times at which their containers ended.
    pub(super) closing: Vec<(u32, f64)>,
    /// Ends of the rows that are hidden while a portion is shown, strand by strand.
    hidden: Vec<f64>,
    recovers: bool,
    /// Local numbers of the current block's strands, or [`NO_STRAND`] for strands without a number.
    locals: Vec<u32>,
}

impl Shard {
    /// Creates a shard. If `recovers` is true, the replay continues after refused events.
    pub fn new(store: Store, homes: usize, recovers: bool) -> Self {
        let completed = (0..homes).map(|_| Vec::new()).collect();
        Shard {
            store,
            strands: StrandPages::default(),
            link_strands: 0,
            output: ShardOutput {
                ignored: Vec::new(),
                completed,
                opened: Vec::new(),
                refusals: Refusals::default(),
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

    /// Rebuilds scattered key filters, if all keys of the shard belong to the same strand. Otherwise returns the
    /// strands whose filters need rebuilding.
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

    /// Finds the local numbers of these strands. If there are many strands, most of them have left the caches, so this
    /// also prefetches what replaying them needs. Independent loads run in parallel.
    fn find(&mut self, strands: &[(StrandSymbol, u32)], maps: &SymbolMap) {
        self.locals.clear();
        let locals = strands.iter().map(|(symbol, _)| maps.strands.get(*symbol as usize).copied());
        self.locals.extend(locals.map(|local| local.unwrap_or(NO_STRAND)));
        if self.strands.len() < MANY {
            return;
        }
        let known = || self.locals.iter().filter_map(|local| self.strands.get(*local as usize));
        // The strands are loaded first, because they hold the addresses of their rows.
        prefetch(known().map(Strand::prefetch));
        prefetch(known().map(|strand| strand.prefetch_rows(&self.store)));
    }

    pub(super) fn close(&mut self, strand: u32, time: f64) {
        self.closing.push((strand, time));
    }

    pub(super) fn close_ended(&mut self) {
        if self.closing.len() > FEW {
            let strands = self.closing.iter().map(|(strand, _)| &self.strands[*strand as usize]);
            prefetch(strands.map(|strand| strand.prefetch_rows(&self.store)));
        }
        for (strand, time) in self.closing.drain(..) {
            self.strands[strand as usize].close(&mut self.store, time);
        }
    }

    #[inline(never)]
    pub fn replay(
        &mut self,
        number: usize,
        wave: &[BoxedBlock],
        maps: &[SymbolMap],
        model: &Model,
        cuts: &RepeatedDestructions,
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
                // There is no strand if its lane begins after the limit, or if the trace is
                // damaged.
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
    pub fn hide_open(&mut self) {
        for strand in self.strands.iter_mut() {
            strand.hide_open(&mut self.store, &mut self.hidden);
        }
    }

    /// Forgets all rows except those of open states, which move to new memory.
    pub fn forget_rows(&mut self, keeps: Keeps) {
        let mut old = std::mem::replace(&mut self.store, Store::new(keeps, None));
        let mut ends = std::mem::take(&mut self.hidden).into_iter();
        for strand in self.strands.iter_mut() {
            strand.forget_rows(&old, &mut self.store, &mut ends);
        }
        for (arena, old) in self.store.arenas_mut().zip(old.arenas_mut()) {
            arena.reuse(old);
        }
    }
}

impl Strand {
    pub fn reuse_candidates(&self) -> &[ReuseCandidate] {
        match &self.objects {
            Objects::Link(links) => &links.reuse_candidates,
            _ => &[],
        }
    }
}
