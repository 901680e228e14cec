//! Waves: some blocks that are decoded side by side, and then replayed side by side.
//!
//! While one wave is replayed, shard by shard, the next one is decoded, block by block, by the same
//! workers; what is between the two, in file order, is the business of the engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use paje_parser::DefTable;
use paje_workers::{Workers, exclusive};
use splitter::Block;

use crate::decode::Decoder;
use crate::decode::block::{BoxedBlock, DecodedBlock};
use crate::decode::definitions::DefinitionsByFile;
use crate::decode::shared::SharedLanes;
use crate::engine::page::{Follower, Page};
use crate::engine::tasks::Tasks;
use crate::input::feed::{Feed, Next, Rations};
use crate::input::files::Origin;
use crate::model::Model;
use crate::names::progress::{Progress, Watch, WorkerTimes};
use crate::replay::lanes::{Lanes, Merges};
use crate::replay::symbol_map::SymbolMap;

/// A worker's decoder and its buffers. They stay with its worker, so that memory does.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) decoder: Decoder,
    /// The number of the maps that tell what the decoder's symbols stand for.
    pub(crate) maps: usize,
    filled: Vec<BoxedBlock>,
    pub(crate) times: WorkerTimes,
    /// The file whose block was decoded last.
    file: Option<u32>,
}

impl Desk {
    pub(crate) fn new(decoder: Decoder, maps: usize) -> Self {
        let times = WorkerTimes::default();
        Desk { decoder, maps, filled: Vec::new(), times, file: None }
    }

    /// The desk with another decoder, whose symbols have other maps.
    pub(crate) fn renew(&mut self, decoder: Decoder, maps: usize) {
        self.decoder = decoder;
        self.maps = maps;
        self.file = None;
    }

    /// Decodes a block with these definitions; the model is that before its wave, or a later one.
    pub(crate) fn decode(&mut self, block: &mut DecodedBlock, defs: &Arc<DefTable>, model: &Model) {
        block.maps = self.maps;
        let is_first = self.file.replace(block.origin.file) != Some(block.origin.file);
        self.decoder.decode(&block.text, defs, is_first, &mut block.decoded);
        self.decoder.foresee(model, &mut block.decoded);
        block.assumed = Some(Arc::clone(defs));
    }
}

/// Blocks in the order of the trace.
#[derive(Debug, Default)]
pub(crate) struct Wave {
    pub(crate) blocks: Vec<BoxedBlock>,
}

impl Wave {
    /// The desks' filled blocks.
    pub(crate) fn collect(desks: &mut [Mutex<Desk>]) -> Self {
        let desks = desks.iter_mut().map(exclusive);
        let mut blocks: Vec<_> = desks.flat_map(|desk| desk.filled.drain(..)).collect();
        blocks.sort_unstable_by_key(|block| block.number);
        Wave { blocks }
    }

    /// The block that holds a byte of the trace.
    pub(crate) fn block_of(&self, at: u64) -> Option<&DecodedBlock> {
        let after = self.blocks.partition_point(|block| block.text.start().0 <= at);
        after.checked_sub(1).map(|index| &*self.blocks[index])
    }
}

/// Blocks to be filled again, each beside the worker that had it.
#[derive(Debug, Default)]
pub(crate) struct FreeBlocks(Mutex<Vec<(usize, BoxedBlock)>>);

impl FreeBlocks {
    /// A block of so many parts for a worker: one that it had before, for its memory is near it, if there is any; and one that has had
    /// as many, for then it has that memory.
    fn take(&self, worker: usize, parts: usize) -> BoxedBlock {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let misfit =
            |(of, block): &(usize, BoxedBlock)| (*of != worker, block.parts.abs_diff(parts));
        let index = (0..blocks.len()).rev().min_by_key(|index| misfit(&blocks[*index]));
        let block = index.map(|index| blocks.swap_remove(index).1);
        let mut block = block.unwrap_or_default();
        block.parts = block.parts.max(parts);
        block
    }

    pub(crate) fn give_back(&mut self, blocks: impl IntoIterator<Item = BoxedBlock>) {
        exclusive(&mut self.0).extend(blocks.into_iter().map(|block| (block.worker, block)));
    }

    /// The blocks of a wave have been resolved: blocks that are filled next take their notes' memory, which would else be
    /// there twice. Where structural lines are many, it is several times as much as their text.
    pub(crate) fn take_resolved(&mut self, wave: &mut Wave) {
        let free = exclusive(&mut self.0).iter_mut();
        for ((_, free), block) in free.zip(&mut wave.blocks) {
            free.decoded.take_resolved(&mut block.decoded);
        }
    }
}

/// One round of all workers: the replay of one wave, and the decoding of the next.
pub(crate) struct Round<'a, 'r> {
    pub(crate) model: &'a Model,
    pub(crate) lanes: &'a Lanes,
    pub(crate) maps: &'a [SymbolMap],
    pub(crate) shared: &'a SharedLanes,
    pub(crate) wave: &'a Wave,
    /// Events that begin before this byte have been replayed already.
    pub(crate) from: u64,
    /// Events that begin here or later are not replayed.
    pub(crate) limit: u64,
    /// Where the blocks to decode come from.
    pub(crate) feed: Option<&'a Feed<'r>>,
    pub(crate) tables: &'a DefinitionsByFile,
    pub(crate) desks: &'a [Mutex<Desk>],
    pub(crate) free: &'a FreeBlocks,
    pub(crate) progress: &'a Progress,
    /// Who learns whose the wave's lines are.
    pub(crate) follower: Option<&'a Follower<'a>>,
    /// Blocks that may still be decoded.
    pub(crate) rations: Rations,
    /// Number of blocks that may be read ahead.
    pub(crate) ahead: usize,
    pub(crate) tasks: Tasks,
    /// Links to merge, once all shards are replayed.
    pub(crate) merges: OnceLock<Merges>,
}

impl Round<'_, '_> {
    /// Runs the round.
    pub(crate) fn run(self, workers: &Workers) {
        let team = self.desks.len();
        workers.on_first(team, |worker| {
            let Ok(mut desk) = self.desks[worker].lock() else { return };
            let mut watch = Watch::start();
            if let Some(feed) = self.feed
                && team > 1
            {
                feed.read_ahead(self.ahead);
                watch.lap(&mut desk.times.read);
            }
            self.replay(worker, team);
            self.enter(worker);
            watch.lap(&mut desk.times.replay);
            self.decode(worker, &mut desk, &mut watch);
            if let Some(feed) = self.feed {
                feed.help();
            }
            self.tasks.wait();
            let mut watch = Watch::start();
            self.merge();
            watch.lap(&mut desk.times.replay);
        });
    }

    /// Replays shards: first the worker's own, for their memory is near it, then what others have not
    /// come to.
    fn replay(&self, worker: usize, workers: usize) {
        let count = self.tasks.len();
        let own = (0..count).filter(|shard| shard % workers == worker);
        let others = (0..count).filter(|shard| shard % workers != worker);
        for number in own.chain(others) {
            let Some(_taken) = self.tasks.take(number) else { continue };
            if let Ok(mut shard) = self.lanes.shards()[number].lock() {
                let bytes = self.from..self.limit;
                let meanings = (self.maps, self.shared);
                let blocks = &self.wave.blocks;
                self.lanes.gather(number, &mut shard);
                let world = (self.model, &self.lanes.cuts);
                shard.replay(number, blocks, meanings, world, bytes);
                self.lanes.hand_over(&mut shard);
            }
        }
    }

    /// Decodes blocks of the next wave while there are any, and merges when it is time to.
    fn decode(&self, worker: usize, desk: &mut Desk, watch: &mut Watch) {
        let Some(feed) = self.feed else { return };
        while let Some(parts) = self.rations.take() {
            let mut block = self.free.take(worker, parts);
            let unpack = |segment, text: &mut Block, origin: &Origin| {
                let sound = self.lanes.is_sound.then_some(self.model);
                desk.decoder.unpack(segment, text, self.tables.of(origin), sound)
            };
            let Some(next) = feed.next(&mut block.text, parts, unpack) else {
                self.rations.stop();
                return;
            };
            let Next { number, origin, is_last, is_marked, read } = next;
            block.number = number;
            block.origin = origin;
            block.is_last = is_last;
            block.is_marked = is_marked;
            block.worker = worker;
            block.failure = read.err();
            watch.lap(&mut desk.times.read);
            // A file gives the lines before one that is too long.
            let defs = self.tables.of(&block.origin);
            desk.decode(&mut block, defs, self.model);
            self.progress.add(block.text.text_len() as u64, block.decoded.event_count);
            watch.lap(&mut desk.times.decode);
            // Lines after a definition, or after something wrong, will be decoded when that is settled.
            if block.failure.is_some()
                || (block.decoded.changes && !block.is_last)
                || block.decoded.fault.is_some()
            {
                self.rations.stop();
            }
            desk.filled.push(block);
            if self.tasks.all_replayed() {
                self.merge();
                watch.lap(&mut desk.times.replay);
            }
        }
    }

    /// Tells the follower about blocks of the wave that nobody has taken on yet.
    fn enter(&self, worker: usize) {
        let Some(follower) = self.follower else { return };
        loop {
            let Some(block) = self.wave.blocks.get(self.tasks.next_page()) else { return };
            follower.enter(worker, &Page::new(block, &self.maps[block.maps]));
        }
    }

    /// Merges links that nobody has taken on yet.
    fn merge(&self) {
        let blocks = &self.wave.blocks;
        let merges = self.merges.get_or_init(|| self.lanes.plan_merges(blocks));
        loop {
            let number = self.tasks.next_merge();
            if number >= merges.len() {
                return;
            }
            self.lanes.merge(merges, number, blocks);
        }
    }
}
