//! Parts of the engine's state.

use std::sync::Mutex;

use paje_workers::{Workers, exclusive};

use super::round::{FreeBlocks, Wave, WorkerState};
use crate::trace::selected::Selected;
use paje_decode::decode::Decoder;
use paje_decode::decode::block::BoxedBlock;
use paje_decode::decode::definitions::DefinitionsByFile;
use paje_decode::decode::partitioning::Partitioning;
use paje_decode::input::feed::BlockBudget;
use paje_model::names::error::{Error, WarningKind};
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;
use paje_model::names::recovered::Remedy;
use paje_replay::problems::found::earliest;
use paje_replay::problems::tally::ProblemTally;
use paje_replay::problems::warnings::Warnings;
use paje_replay::replay::lanes::Lanes;
use paje_replay::replay::symbol_map::SymbolMap;

#[derive(Clone, Copy)]
pub(super) struct Job<'o> {
    pub(super) options: &'o Options,
    pub(super) workers: &'o Workers,
    pub(super) progress: &'o Progress,
}

const MANY_WORKERS: usize = 8;

/// The participating workers, with their blocks and decoders.
pub(super) struct Team {
    pub(super) desks: Vec<Mutex<WorkerState>>,
    pub(super) free: FreeBlocks,
    /// Maps that translate the decoders' symbols.
    pub(super) maps: Vec<SymbolMap>,
    /// Indices of the maps of restarted decoders. Only the current wave still needs these maps.
    pub(super) retired: Vec<usize>,
    /// Size of the next wave in parts of blocks. It grows up to `full_quota`.
    pub(super) quota: usize,
    pub(super) full_quota: usize,
}

#[derive(Default)]
pub(super) struct Findings {
    pub(super) warnings: Warnings,
    /// First problem that decoding or resolving found.
    pub(super) first: Option<Error>,
    pub(super) tally: Option<ProblemTally>,
}

impl Findings {
    /// Records `count` errors of a kind. `error` is the first of them. During recovery, adds them to the tally.
    /// Otherwise, keeps the first error in file order.
    pub(super) fn judge(&mut self, remedy: Remedy, count: u64, error: Error) {
        match &mut self.tally {
            None => self.first = earliest(self.first.take(), Some(error)),
            Some(tally) => tally.add_error(remedy, count, error),
        }
    }

    pub(super) fn cut_off(&mut self, error: Error) {
        if let Some(tally) = &mut self.tally {
            tally.is_cut = true;
        }
        self.judge(Remedy::Ended, 1, error);
    }

    pub(super) fn warn(&mut self, wave: &Wave, definitions: &DefinitionsByFile, lanes: &mut Lanes) {
        for block in &wave.blocks {
            for line in &block.decoded.doubtful {
                let kind = if line.surplus {
                    WarningKind::SurplusWords
                } else {
                    WarningKind::MissingExtras
                };
                let number = definitions.all()[line.def as usize].id().to_vec();
                self.warnings.add(block, kind, number, line.at);
            }
        }
        for at in lanes.take_ignored() {
            if let Some(block) = wave.block_of(at) {
                let line = (at - block.text.start().0) as u32;
                self.warnings.add_line(block, WarningKind::AfterDestroy, line);
            }
        }
    }

    /// If a file could not be read to its end, removes the blocks of that file from the wave, starting with block
    /// `first`.
    pub(super) fn leave_out_broken(&self, wave: &mut Wave, first: usize) {
        let Some(broken) = self.tally.as_ref().and_then(|tally| tally.broken) else { return };
        let mut index = 0;
        wave.blocks.retain(|block| {
            index += 1;
            index <= first || block.origin.file != broken
        });
    }
}

impl Team {
    /// Creates `team` workers. If `follows` is true, blocks list the owner of each line.
    pub(super) fn new(team: usize, job: Job<'_>, spread: Partitioning, follows: bool) -> Self {
        let options = job.options;
        let desk = |worker| {
            let decoder = Decoder::new(options, spread, follows);
            Mutex::new(WorkerState::new(decoder, worker, Selected::of(options)))
        };
        Team {
            desks: match team {
                ..MANY_WORKERS => (0..team).map(desk).collect(),
                _ => job.workers.map(team, desk),
            },
            free: FreeBlocks::default(),
            maps: (0..team).map(|_| SymbolMap::default()).collect(),
            retired: Vec::new(),
            quota: BlockBudget::of_head(team),
            full_quota: BlockBudget::of_full_wave(team),
        }
    }

    pub(super) fn restart_crowded_decoders(&mut self) {
        for worker in 0..self.desks.len() {
            let desk = exclusive(&mut self.desks[worker]);
            if desk.decoder.is_crowded() {
                self.retired.push(desk.maps);
                self.restart_decoder(worker);
            }
        }
    }

    /// Restarts the decoders of these blocks. They have interned names of lines that are discarded.
    pub(super) fn restart_decoders_of(&mut self, blocks: &[BoxedBlock]) {
        for block in blocks {
            if exclusive(&mut self.desks[block.worker]).maps == block.maps {
                self.restart_decoder(block.worker);
            }
        }
    }

    fn restart_decoder(&mut self, worker: usize) {
        let desk = exclusive(&mut self.desks[worker]);
        desk.restart(self.maps[desk.maps].lanes_known_before, self.maps.len());
        self.maps.push(SymbolMap::default());
    }
}
