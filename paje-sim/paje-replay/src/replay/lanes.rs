mod endings;
mod merging;
mod reused_keys;

pub use endings::LinkHalf;
pub use merging::Merges;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use paje_parser::TypeNature;
use paje_workers::exclusive;

use crate::lanes::links::KeyMemory;
use crate::lanes::refusal::{Refusal, Refusals};
use crate::replay::completion::merger_of;
use crate::replay::link_merger::LinkMerger;
use crate::replay::places::{StrandPlace, StrandPlaces};
use crate::replay::repeated_destructions::RepeatedDestructions;
use crate::replay::shard::Shard;
use crate::replay::strand::{Objects, Strand};
use paje_decode::decode::partitioning::Partitioning;
use paje_model::memory::finished::{FinishedLane, FinishedRows, Memory};
use paje_model::memory::{Overflow, Store};
use paje_model::model::{Ending, Model};
use paje_model::names::ids::{ContainerId, LaneId};
use paje_model::names::options::{Keeps, Options};

/// Lanes of a trace during and after its replay: strands in shards, and rows of links in mergers.
#[derive(Debug)]
pub struct Lanes {
    shards: Vec<Mutex<Shard>>,
    homes: Vec<RwLock<LinkMerger>>,
    places: StrandPlaces,
    has_reuse_candidates: AtomicBool,
    pub cuts: RepeatedDestructions,
    keeps: Keeps,
    no_imbrication: bool,
    forgets: bool,
    keys: KeyMemory,
    overflow: Option<Arc<Overflow>>,
    workers: u32,
    /// Whether the trace is known to be valid. Lines of unwanted lanes may then be missing, so these lanes are not
    /// checked.
    pub is_sound: bool,
    ending: Vec<LaneId>,
    link_halves: Vec<LinkHalf>,
}

/// Largest number of mergers. More are not needed, because several workers can share a large merger.
const MOST_HOMES: u32 = 32;

/// Returns the merger in a lock that no other thread uses.
fn own(home: &mut RwLock<LinkMerger>) -> &mut LinkMerger {
    home.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Lanes {
    /// Creates the lanes. If `forgets` is true, rows are shown in portions and keys of completed links are not
    /// remembered.
    pub fn new(options: &Options, spread: Partitioning, forgets: bool) -> Self {
        // Rows that are soon forgotten need no file.
        let limit = options.memory.as_ref().filter(|_| !forgets);
        let overflow = limit.map(|limit| Arc::new(Overflow::new(limit)));
        let store = |_| Store::new(options.keeps(), overflow.clone());
        let (homes, recovers) = (spread.shards.min(MOST_HOMES), options.recover);
        let shard = |number| Mutex::new(Shard::new(store(number), homes as usize, recovers));
        let home = |_| RwLock::new(LinkMerger::new(overflow.clone(), recovers));
        Lanes {
            is_sound: false,
            shards: (0..spread.shards).map(shard).collect(),
            homes: (0..homes).map(home).collect(),
            has_reuse_candidates: AtomicBool::new(false),
            places: StrandPlaces::default(),
            cuts: RepeatedDestructions::default(),
            keeps: options.keeps(),
            no_imbrication: options.no_imbrication,
            forgets,
            keys: match forgets {
                true if options.keeps_usage() => KeyMemory::Hashes,
                true => KeyMemory::Nothing,
                false => KeyMemory::Keys,
            },
            overflow,
            workers: spread.workers(),
            ending: Vec::new(),
            link_halves: Vec::new(),
        }
    }

    /// Drops file-backed pages from memory if the limit is exceeded.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn relieve(&mut self) -> std::io::Result<()> {
        let Some(overflow) = &self.overflow else { return Ok(()) };
        if let Some(error) = overflow.failure() {
            return Err(error);
        }
        let shards: Vec<&Shard> = self.shards.iter_mut().map(|shard| &*exclusive(shard)).collect();
        let homes: Vec<&LinkMerger> = self.homes.iter_mut().map(|home| &*own(home)).collect();
        overflow.relieve(|| {
            let shards = shards.iter().flat_map(|shard| shard.store.arenas());
            shards.chain(homes.iter().map(|home| &home.arena))
        });
        let shards = self.shards.iter_mut().flat_map(|shard| exclusive(shard).store.arenas_mut());
        let homes = self.homes.iter_mut().map(own);
        for arena in shards.chain(homes.map(|home| &mut home.arena)) {
            while overflow.is_exceeded() && arena.evict(overflow) {}
        }
        Ok(())
    }

    pub fn shards(&self) -> &[Mutex<Shard>] {
        &self.shards
    }

    pub fn take_refused(&mut self) -> Option<Refusal> {
        let by_strands = self.shards.iter_mut().map(|shard| exclusive(shard).refused.take());
        let by_lanes = self.homes.iter_mut().map(|home| own(home).refused.take());
        by_strands.chain(by_lanes).flatten().min_by_key(|refused| refused.at)
    }

    pub fn take_refusals(&mut self) -> Refusals {
        let mut all = Refusals::default();
        for shard in &mut self.shards {
            all.take(&mut exclusive(shard).output.refusals);
        }
        let homes = self.homes.iter_mut().map(own);
        homes.filter_map(|home| home.refusals.as_mut()).for_each(|refusals| all.take(refusals));
        all
    }

    /// Returns the byte offsets of the wave's events that came after their container's end, in file order, and clears
    /// the list.
    pub fn take_ignored(&mut self) -> Vec<u64> {
        let shards = self.shards.iter_mut().map(exclusive);
        let mut ignored: Vec<u64> =
            shards.flat_map(|shard| shard.output.ignored.drain(..)).collect();
        ignored.sort_unstable();
        ignored
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Creates the strands of a new lane in the given shards. The lane's container may have ended already. If `wanted`
    /// is false, the lane keeps no rows.
    pub fn push(&mut self, id: LaneId, model: &Model, shards: &[u8], wanted: bool) {
        let (lane, nature) = (&model.lanes[id.index()], model.nature(id));
        let is_ignored = !wanted && self.is_sound;
        if !wanted && nature == TypeNature::Link {
            let number = merger_of(id, self.homes.len());
            own(&mut self.homes[number]).keep_no_rows(id, self.forgets);
        }
        self.cuts.learn(id, lane.container);
        let has_ended = model.containers.is_destroyed(lane.container);
        let flat = self.no_imbrication && lane.container != ContainerId::ROOT;
        let mut places = [StrandPlace::default(); Partitioning::MOST_PARTS as usize];
        for (number, place) in shards.iter().zip(&mut places) {
            let number = u32::from(*number);
            let shard = exclusive(&mut self.shards[number as usize]);
            *place = StrandPlace { shard: number, local: shard.strands.len() as u32 };
            shard.link_strands += usize::from(nature == TypeNature::Link && !is_ignored);
            let mut strand = Strand::new(id, nature, flat, self.keys);
            if has_ended {
                strand.end();
            }
            shard.strands.push(match wanted {
                true => strand,
                false if is_ignored => strand.ignored(),
                false => strand.unwanted(),
            });
        }
        self.places.push(&places[..shards.len()]);
    }

    pub fn end(&mut self, endings: &[Ending], model: &Model) {
        for ending in endings {
            for lane in model.lanes_of(ending.container) {
                for place in self.places.of(lane) {
                    let shard = exclusive(&mut self.shards[place.shard as usize]);
                    shard.strands[place.local as usize].end();
                }
            }
        }
    }

    pub fn strands(&self, lane: LaneId) -> &[StrandPlace] {
        self.places.of(lane)
    }

    pub fn lend(&mut self) -> FinishedRows {
        self.lend_of(self.places.len())
    }

    fn lend_of(&mut self, lanes: usize) -> FinishedRows {
        let mut finished =
            FinishedRows { overflow: self.overflow.clone(), ..FinishedRows::default() };
        finished.lanes.resize_with(lanes, FinishedLane::default);
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let shard = exclusive(shard);
            finished.stores.push(std::mem::take(&mut shard.store));
            for strand in shard.strands.iter_mut() {
                // The rows of links are in the mergers.
                if !matches!(strand.objects, Objects::Link(_)) {
                    let (rows, memory) =
                        (std::mem::take(&mut strand.rows), Memory::Store(number as u16));
                    finished.lanes[strand.lane.index()] = FinishedLane { rows, memory };
                }
                if let Some(since) = strand.variable_since() {
                    finished.open_variables.insert(strand.lane, since);
                }
            }
        }
        for (number, home) in self.homes.iter_mut().map(own).enumerate() {
            finished.links.push(std::mem::take(&mut home.arena));
            for (lane, rows) in home.take_rows() {
                finished.lanes[lane.index()] =
                    FinishedLane { rows, memory: Memory::Links(number as u16) };
            }
        }
        finished
    }

    pub fn finish(mut self) -> FinishedRows {
        // Memory use peaks here, and the places are no longer needed, so they are freed.
        let places = std::mem::take(&mut self.places);
        let lanes = places.len();
        drop(places);
        self.lend_of(lanes)
    }

    /// Takes back the rows that were lent, except rows of links, which are not needed any more.
    pub fn take_back(&mut self, mut lent: FinishedRows) {
        for (shard, store) in self.shards.iter_mut().zip(lent.stores) {
            let shard = exclusive(shard);
            shard.store = store;
            for strand in shard.strands.iter_mut() {
                if !matches!(strand.objects, Objects::Link(_)) {
                    strand.rows = std::mem::take(&mut lent.lanes[strand.lane.index()].rows);
                }
            }
        }
    }

    pub fn hide_open(&mut self) {
        self.shards.iter_mut().map(exclusive).for_each(Shard::hide_open);
    }

    /// After rows were lent and taken back, forgets all rows except those of open states, which move to new memory.
    pub fn forget_rows(&mut self) {
        self.shards.iter_mut().map(exclusive).for_each(|shard| shard.forget_rows(self.keeps));
    }
}
