//! From blocks of lines to a replayed trace.
//!
//! ```text
//! block ──decode──▶ events by strand, first uses ──resolve──▶ numbers ──replay──▶ columns
//! ```
//!
//! Only three kinds of lines depend on the order of the whole file: event definitions, definitions of types, values and
//! containers, and the ends of containers. They are rare. All other lines belong to one lane (a container and a type),
//! and lanes are independent. So blocks are decoded separately, their names are resolved in file order, and each lane
//! replays its events. All workers decode and replay at the same time ([`round`]), and one thread resolves names
//! between two rounds ([`resolving`]). Problems carry byte offsets, and the first in file order is reported. So the
//! result does not depend on the number of workers or the size of blocks.
//!
//! With [`Options::sort`], lines are sorted first, and "file order" means the sorted order.

mod diagnostics;
mod endings;
mod finish;
pub(crate) mod lane_events;
pub(crate) mod ledger;
pub(crate) mod portions;
pub(crate) mod recover;
mod resolving;
pub(crate) mod round;
#[cfg(test)]
mod rounds;
mod state;
mod sync;
mod tasks;
mod usage;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paje_parser::DefTable;
use paje_workers::Workers;

use crate::engine::ledger::{Ledger, LedgerSink};
use crate::engine::portions::Portions;
use crate::engine::round::{Round, Wave};
use crate::engine::state::{Findings, Job, SoFar, Team};
use crate::engine::tasks::Tasks;
use crate::resolve::Deferred;
use crate::trace::selected::Selected;
use crate::trace::{Counted, Trace};
use paje_decode::decode::definitions::DefinitionsByFile;
use paje_decode::decode::partitioning::Partitioning;
use paje_decode::input::feed::{BlockBudget, Feed};
use paje_decode::input::files::Files;
use paje_decode::input::source::Source;
use paje_model::model::{Effects, Ending, Model};
use paje_model::names::error::{Error, Problem};
use paje_model::names::options::Options;
use paje_model::names::progress::{Progress, Watch};
use paje_replay::problems::tally::ProblemTally;
use paje_replay::replay::lanes::Lanes;
use paje_replay::replay::symbol_map::SymbolMap;

pub(crate) fn replay<'o>(
    source: Source<'_>,
    options: &'o Options,
    workers: &'o Workers,
    progress: &'o Progress,
    portions: Option<Portions<'o>>,
    ledger: Option<&'o dyn Ledger>,
) -> Result<Trace, Error> {
    workers.run(|| {
        let began = Instant::now();
        let mut watch = Watch::start();
        let Source { kind, files, further } = source;
        let (root, folders) = files.map(|root| (root.path, root.folders)).unzip();
        let mut files = Files::new(root.flatten().as_deref(), folders);
        further.iter().try_for_each(|path| files.add(path, progress))?;
        let feed = Feed::new(kind, options, progress, workers)?;
        feed.enqueue(files.take_queue());
        let mut rounds = Duration::ZERO;
        watch.lap(&mut rounds);
        // More workers than blocks would only take time.
        let more = files.are_wanted() || files.any();
        let blocks = feed.most_blocks(workers.threads(), more);
        let blocks = blocks.and_then(|most| usize::try_from(most).ok());
        let team = blocks.unwrap_or(usize::MAX).clamp(1, workers.threads());
        let job = Job { options, workers, progress };
        let mut engine = Engine::new(job, team, portions, files, ledger.map(LedgerSink::new));
        if engine.files.any() || engine.files.are_wanted() && feed.names_files_in_order() {
            // Events of named files may come before other events, and sorting may put the lines that name files last.
            engine.lanes.cuts.named_from = Some(0);
        }
        engine.lanes.is_sound = !engine.files.any() && feed.is_of_window();
        let replayed = engine.replay(&feed, began, rounds);
        replayed.map_err(|error| error.moved(|file, position| feed.original(file, position)))
    })
}

/// State of a replay between two rounds.
struct Engine<'o> {
    job: Job<'o>,
    files: Files,
    /// Event definitions up to the end of the current wave.
    definitions: DefinitionsByFile,
    model: Model,
    effects: Effects,
    /// Destructions whose lanes end after all files have been read.
    deferred: Vec<Deferred>,
    team: Team,
    lanes: Lanes,
    /// Rows to keep; `None` if all are kept.
    selected: Option<Selected>,
    findings: Findings,
    read: SoFar,
    /// Current portion, if the trace is shown in portions.
    portions: Option<Portions<'o>>,
    follower: Option<LedgerSink<'o>>,
    /// Whether no line of the current file has been valid so far. The file may then not belong to a
    /// trace; see [`Engine::shown_from`].
    is_foreign: bool,
}

impl<'o> Engine<'o> {
    fn new(
        job: Job<'o>,
        team: usize,
        portions: Option<Portions<'o>>,
        files: Files,
        follower: Option<LedgerSink<'o>>,
    ) -> Self {
        let (options, follows) = (job.options, follower.is_some());
        let spread = Partitioning::for_workers(team);
        let mut model = Model::new(options.value_names);
        model.made_up = options.recover.then(Default::default);
        Engine {
            job,
            files,
            definitions: DefinitionsByFile::new(DefTable::new(options.field_names)),
            model,
            effects: Effects::default(),
            deferred: Vec::new(),
            team: Team::new(team, job, spread, follows),
            lanes: Lanes::new(options, spread, portions.is_some(), follows),
            selected: Selected::of(options),
            findings: Findings {
                tally: options.recover.then(ProblemTally::default),
                ..Findings::default()
            },
            read: SoFar::new(options),
            portions,
            follower,
            is_foreign: false,
        }
    }

    /// Replays the blocks of `feed`. `rounds` is the time that all workers have spent so far.
    fn replay(
        mut self,
        feed: &Feed<'_>,
        began: Instant,
        mut rounds: Duration,
    ) -> Result<Trace, Error> {
        match self.read(feed, &mut rounds) {
            Ok(()) => self.finish(feed, began, rounds),
            Err(error) => Err(match feed.damage(&error) {
                Some((file, error)) => self.files.unreadable(file, error),
                None => error,
            }),
        }
    }

    fn read(&mut self, feed: &Feed<'_>, rounds: &mut Duration) -> Result<(), Error> {
        let mut wave = Wave::default();
        loop {
            self.show_portions(&wave)?;
            self.definitions.save_for_children(&self.files);
            self.prepare(feed);
            let mut watch = Watch::start();
            let budget = match self.findings.first {
                Some(_) => BlockBudget::none(),
                None => feed.wave_budget(self.team.quota, self.team.desks.len()),
            };
            let limit = self.findings.first.as_ref().map_or(u64::MAX, Error::at);
            self.round(&wave, limit, Some(feed), budget);
            watch.lap(rounds);
            self.settle(&wave)?;
            if self.follower.as_ref().is_some_and(LedgerSink::has_refused) {
                return Err(Error::stopped());
            }
            for maps in self.team.retired.drain(..) {
                self.team.maps[maps] = SymbolMap::default();
            }
            self.team.free.give_back(wave.blocks);
            wave = Wave::collect(&mut self.team.desks);
            if self.job.progress.is_stopped() {
                return Err(Error::stopped());
            }
            if wave.blocks.is_empty() && !feed.has_more() {
                return Ok(());
            }
            self.resolve(&mut wave);
            self.team.free.take_resolved(&mut wave);
            feed.enqueue(self.files.take_queue());
            self.restart_crowded_decoders();
        }
    }

    fn replay_to(&mut self, wave: &Wave, limit: u64) {
        self.round(wave, limit, None, BlockBudget::none());
    }

    /// Replays the wave's events before byte `limit`, and decodes the next wave.
    fn round(&mut self, wave: &Wave, limit: u64, feed: Option<&Feed<'_>>, budget: BlockBudget) {
        let shards = if wave.blocks.is_empty() { 0 } else { self.lanes.shards().len() };
        let round = Round {
            model: &self.model,
            lanes: &self.lanes,
            maps: &self.team.maps,
            wave,
            from: self.read.replayed_to,
            limit,
            feed,
            tables: &self.definitions,
            desks: &self.team.desks,
            free: &self.team.free,
            progress: self.job.progress,
            // The ledger receives a wave once, not for each portion.
            follower: self.follower.as_ref().filter(|_| feed.is_some()),
            ahead: 2 * budget.left().div_ceil(BlockBudget::PER_BLOCK),
            budget,
            tasks: Tasks::new(shards),
            merges: OnceLock::new(),
        };
        round.run(self.job.workers);
    }

    /// Replays and shows the portions that end in this wave, before its first problem.
    fn show_portions(&mut self, wave: &Wave) -> Result<(), Error> {
        let known = self
            .findings
            .first
            .as_ref()
            .map_or(self.read.bytes, |error| error.at().min(self.read.bytes));
        while let Some(portions) = &self.portions
            && portions.end <= known
        {
            let end = portions.end;
            self.replay_to(wave, end);
            self.settle_to(wave, end)?;
            self.read.replayed_to = end;
            self.show_portion()?;
        }
        Ok(())
    }

    fn show_portion(&mut self) -> Result<(), Error> {
        let Some(mut portions) = self.portions.take() else { return Ok(()) };
        self.lanes.hide_open();
        let model = std::mem::replace(&mut self.model, Model::new(self.job.options.value_names));
        let (rows, defs) = (self.lanes.lend(), Arc::clone(self.definitions.current()));
        self.settle_usage(false);
        let mut trace = Trace::new(
            model,
            rows,
            defs,
            Vec::new(),
            self.read.last_time,
            Vec::new(),
            Counted::default(),
        );
        trace.usage = self.read.usage.take();
        let shown = portions.show(&trace);
        let Trace { model, rows, usage, .. } = trace;
        self.read.usage = usage;
        self.model = model;
        self.lanes.take_back(rows);
        self.lanes.forget_rows();
        portions.end += portions.size;
        self.portions = Some(portions);
        shown
    }

    /// Returns the first link whose key was used before, and the number of such links. Searches all
    /// lanes, or those of a container that ends.
    fn reused_in(&mut self, ending: Option<&Ending>) -> Option<(Error, u64)> {
        let found = match ending {
            Some(ending) => {
                let lanes = self.model.lanes_of(ending.container);
                self.lanes.first_reused(lanes, self.job.workers)
            }
            None => {
                let lanes = self.model.lane_ids().take(self.lanes.len());
                self.lanes.first_reused(lanes, self.job.workers)
            }
        };
        let (candidate, key, count) = found?;
        let (mut place, later) = candidate.written;
        if let Some(later) = later {
            place.text = later.text();
        }
        let error = Error::invalid(Problem::KeyReused { key }, Some(place));
        Some((error.of_line_at(candidate.at), count))
    }
}
