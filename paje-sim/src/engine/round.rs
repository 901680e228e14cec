//! Rounds: all workers replay one wave of blocks, shard by shard, and decode the next wave, block by block.
//!
//! Between two rounds, the engine resolves the decoded wave in file order.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use paje_parser::DefTable;
use paje_workers::{Workers, exclusive};

use crate::engine::ledger::{BlockLines, LedgerSink};
use crate::engine::tasks::Tasks;
use crate::trace::selected::Selected;
use paje_decode::decode::Decoder;
use paje_decode::decode::block::{BoxedBlock, DecodedBlock};
use paje_decode::decode::columns::LaneFilter;
use paje_decode::decode::definitions::DefinitionsByFile;
use paje_decode::input::feed::{BlockBudget, Feed, NextBlock};
use paje_model::model::Model;
use paje_model::names::progress::{Progress, Watch, WorkerTimes};
use paje_replay::replay::lanes::{Lanes, Merges};
use paje_replay::replay::symbol_map::SymbolMap;

/// A worker's decoder and buffers. They stay with the worker, so that its memory is local.
#[derive(Debug)]
pub(crate) struct WorkerState {
    pub(crate) decoder: Decoder,
    /// Index of the maps that resolve the decoder's symbols.
    pub(crate) maps: usize,
    filled: Vec<BoxedBlock>,
    pub(crate) times: WorkerTimes,
    file: Option<u32>,
    /// Selection of the wanted rows, or `None` if all rows are wanted.
    selected: Option<Selected>,
}

impl WorkerState {
    pub(crate) fn new(decoder: Decoder, maps: usize, selected: Option<Selected>) -> Self {
        let times = WorkerTimes::default();
        WorkerState { decoder, maps, filled: Vec::new(), times, file: None, selected }
    }

    /// Restarts the decoder. Its symbols then use the maps at index `maps`.
    pub(crate) fn restart(&mut self, lanes_known_before: usize, maps: usize) {
        self.decoder.restart(lanes_known_before);
        self.maps = maps;
        self.file = None;
    }

    /// Decodes a block, given the definitions before it. If the trace is known to be valid, `sound` is the model of
    /// everything before the block, and lines of unwanted lanes may be left out.
    pub(crate) fn decode(
        &mut self,
        block: &mut DecodedBlock,
        defs: &Arc<DefTable>,
        sound: Option<&Model>,
    ) {
        block.maps = self.maps;
        let is_first = self.file.replace(block.origin.file) != Some(block.origin.file);
        let wants_rows = self.selected.as_mut().zip(sound).map(|(selected, model)| {
            selected.extend_by(&model.types, &model.containers);
            let selected = &*selected;
            |container: &[u8], type_: &[u8]| {
                let container = model.containers.find(container)?;
                Some(selected.wants_rows(container, model.types.find(type_)?))
            }
        });
        let filter = wants_rows.as_ref().map(|wants| wants as LaneFilter<'_>);
        let DecodedBlock { text, decoded, failure, .. } = block;
        if let Err(error) = self.decoder.decode(text, defs, is_first, filter, decoded) {
            *failure = Some(error);
        }
        block.assumed = Some(Arc::clone(defs));
    }
}

#[derive(Debug, Default)]
pub(crate) struct Wave {
    pub(crate) blocks: Vec<BoxedBlock>,
}

impl Wave {
    pub(crate) fn collect(desks: &mut [Mutex<WorkerState>]) -> Self {
        let desks = desks.iter_mut().map(exclusive);
        let mut blocks: Vec<_> = desks.flat_map(|desk| desk.filled.drain(..)).collect();
        blocks.sort_unstable_by_key(|block| block.number);
        Wave { blocks }
    }

    pub(crate) fn block_of(&self, at: u64) -> Option<&DecodedBlock> {
        let after = self.blocks.partition_point(|block| block.text.start().0 <= at);
        after.checked_sub(1).map(|index| &*self.blocks[index])
    }
}

/// Blocks that can be filled again, each with the worker that last used it.
#[derive(Debug, Default)]
pub(crate) struct FreeBlocks(Mutex<Vec<(usize, BoxedBlock)>>);

impl FreeBlocks {
    /// Returns a block for a worker. Prefers blocks that the worker has used, because their memory is local, and blocks
    /// that have had this number of parts, because their memory is large enough.
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

    /// Moves the memory that only resolving needs from a resolved wave's blocks to free blocks. For structural lines,
    /// this memory is several times as large as the text.
    pub(crate) fn take_resolved(&mut self, wave: &mut Wave) {
        let free = exclusive(&mut self.0).iter_mut();
        for ((_, free), block) in free.zip(&mut wave.blocks) {
            free.decoded.take_resolved(&mut block.decoded);
        }
    }
}

/// A round of all workers: the replay of one wave and the decoding of the next.
pub(crate) struct Round<'a, 'r> {
    pub(crate) model: &'a Model,
    pub(crate) lanes: &'a Lanes,
    pub(crate) maps: &'a [SymbolMap],
    pub(crate) wave: &'a Wave,
    /// Events before this byte have been replayed.
    pub(crate) from: u64,
    /// Events from this byte on are not replayed.
    pub(crate) limit: u64,
    pub(crate) feed: Option<&'a Feed<'r>>,
    pub(crate) tables: &'a DefinitionsByFile,
    pub(crate) desks: &'a [Mutex<WorkerState>],
    pub(crate) free: &'a FreeBlocks,
    pub(crate) progress: &'a Progress,
    pub(crate) follower: Option<&'a LedgerSink<'a>>,
    /// Amount of text in the next wave.
    pub(crate) budget: BlockBudget,
    /// Number of blocks that may be read ahead.
    pub(crate) ahead: usize,
    pub(crate) tasks: Tasks,
    /// Links to merge, set once all shards are replayed.
    pub(crate) merges: OnceLock<Merges>,
}

impl Round<'_, '_> {
    pub(crate) fn run(self, workers: &Workers) {
        let team = self.desks.len();
        workers.on_first(team, |worker| {
            let Ok(mut desk) = self.desks[worker].lock() else { return };
            let mut watch = Watch::start();
            if let Some(feed) = self.feed
                && team > 1
            {
                feed.read_ahead(self.ahead, || self.budget.left() > 0);
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

    /// Replays shards. First come the worker's own shards, because their memory is near the worker. Then come shards
    /// that no worker has started.
    fn replay(&self, worker: usize, workers: usize) {
        let count = self.tasks.len();
        let own = (0..count).filter(|shard| shard % workers == worker);
        let others = (0..count).filter(|shard| shard % workers != worker);
        for number in own.chain(others) {
            let Some(_taken) = self.tasks.take(number) else { continue };
            if let Ok(mut shard) = self.lanes.shards()[number].lock() {
                let bytes = self.from..self.limit;
                let blocks = &self.wave.blocks;
                self.lanes.gather(number, &mut shard);
                let cuts = &self.lanes.cuts;
                shard.replay(number, blocks, self.maps, self.model, cuts, bytes);
                self.lanes.hand_over(&mut shard);
            }
        }
    }

    /// Decodes blocks of the next wave, and merges links as soon as all shards are replayed.
    fn decode(&self, worker: usize, desk: &mut WorkerState, watch: &mut Watch) {
        let Some(feed) = self.feed else { return };
        while let Some(parts) = self.budget.take() {
            let mut block = self.free.take(worker, parts);
            let Some(next) = feed.next(&mut block.text, parts) else {
                self.budget.stop();
                return;
            };
            let NextBlock { number, origin, is_last, is_marked, read } = next;
            block.number = number;
            block.origin = origin;
            block.is_last = is_last;
            block.is_marked = is_marked;
            block.worker = worker;
            block.failure = read.err();
            watch.lap(&mut desk.times.read);
            // Decodes even after a failed read, because other lines may precede a line that is too
            // long.
            let defs = self.tables.of(&block.origin);
            let was_read = block.failure.is_none();
            desk.decode(&mut block, defs, self.lanes.is_sound.then_some(self.model));
            if let (true, Some(error)) = (was_read, &block.failure) {
                feed.note_failure(&block.origin, error);
            }
            self.progress.add(block.text.text_len() as u64, block.decoded.event_count);
            watch.lap(&mut desk.times.decode);
            // Lines after a definition or an error are decoded after the definition or error has been resolved.
            if block.failure.is_some()
                || (block.decoded.changes && !block.is_last)
                || block.decoded.fault.is_some()
            {
                self.budget.stop();
            }
            desk.filled.push(block);
            if self.tasks.all_replayed() {
                self.merge();
                watch.lap(&mut desk.times.replay);
            }
        }
    }

    fn enter(&self, worker: usize) {
        let Some(follower) = self.follower else { return };
        loop {
            let Some(block) = self.wave.blocks.get(self.tasks.next_block()) else { return };
            follower.enter(worker, &BlockLines::new(block, &self.maps[block.maps]));
        }
    }

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
