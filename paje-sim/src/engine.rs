//! Replays a trace from blocks of lines.
//!
//! ```text
//! block ──decode──▶ events by strand, first uses ──resolve──▶ numbers ──replay──▶ columns
//! ```
//!
//! Only three kinds of lines depend on the order of the whole file: event definitions, definitions of types, values and
//! containers, and the ends of containers. They are rare. Each other line belongs to a lane (a container and a type),
//! and lanes are independent. So blocks are decoded separately, their names are resolved in file order, and each lane
//! replays its events. All workers decode and replay at the same time ([`round`]), and one thread resolves names
//! between two rounds ([`resolving`]). Problems carry byte offsets, and the first problem in file order is reported.
//! The result therefore does not depend on the number of workers or the size of blocks.
//!
//! With [`Options::sort`], lines are sorted first, and "file order" means the sorted order.

mod diagnostics;
pub(crate) mod lane_events;
pub(crate) mod ledger;
pub(crate) mod portions;
mod reading;
mod resolving;
pub(crate) mod round;
#[cfg(test)]
mod rounds;
mod state;
mod sync;
mod tasks;
mod world;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paje_workers::{Workers, exclusive};

use crate::engine::ledger::{Ledger, LedgerSink};
use crate::engine::portions::Portions;
use crate::engine::reading::Reading;
use crate::engine::resolving::resolve_wave;
use crate::engine::round::{Round, Wave};
use crate::engine::state::{Job, Team};
use crate::engine::tasks::Tasks;
use crate::engine::world::World;
use crate::trace::{Counted, Trace};
use paje_decode::decode::partitioning::Partitioning;
use paje_decode::input::feed::{BlockBudget, Feed};
use paje_decode::input::files::Files;
use paje_decode::input::source::Source;
use paje_model::names::error::{Error, Problem};
use paje_model::names::options::Options;
use paje_model::names::progress::{Progress, Times, Watch};
use paje_model::names::recovered::{Recovery, Remedy};
use paje_replay::problems::tally::ProblemTally;
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
        // More workers than blocks would have nothing to do.
        let more = files.are_wanted() || files.any();
        let blocks = feed.most_blocks(workers.threads(), more);
        let blocks = blocks.and_then(|most| usize::try_from(most).ok());
        let team = blocks.unwrap_or(usize::MAX).clamp(1, workers.threads());
        let job = Job { options, workers, progress };
        let mut engine = Engine::new(job, team, portions, files, ledger.map(LedgerSink::new));
        let files = &engine.read.files;
        if files.any() || files.are_wanted() && feed.names_files_in_order() {
            // Events of further files may be earlier than other events, but sorting may put the lines that refer to
            // these files last.
            engine.world.lanes.cuts.named_from = Some(0);
        }
        engine.world.lanes.is_sound = !files.any() && feed.is_of_window();
        let replayed = engine.replay(&feed, began, rounds);
        replayed.map_err(|error| error.moved(|file, position| feed.original(file, position)))
    })
}

struct Engine<'o> {
    world: World<'o>,
    read: Reading,
    team: Team,
}

impl<'o> Engine<'o> {
    fn new(
        job: Job<'o>,
        team: usize,
        portions: Option<Portions<'o>>,
        files: Files,
        follower: Option<LedgerSink<'o>>,
    ) -> Self {
        let spread = Partitioning::for_workers(team);
        let team = Team::new(team, job, spread, follower.is_some());
        let read = Reading::new(files, job.options);
        Engine { world: World::new(job, spread, portions, follower), read, team }
    }

    /// Replays the blocks of `feed`. `rounds` is the time that rounds have already taken.
    fn replay(
        mut self,
        feed: &Feed<'_>,
        began: Instant,
        mut rounds: Duration,
    ) -> Result<Trace, Error> {
        match self.read(feed, &mut rounds) {
            Ok(()) => self.finish(feed, began, rounds),
            Err(error) => Err(match feed.damage(&error) {
                Some((file, error)) => self.read.files.unreadable(file, error),
                None => error,
            }),
        }
    }

    fn read(&mut self, feed: &Feed<'_>, rounds: &mut Duration) -> Result<(), Error> {
        let mut wave = Wave::default();
        loop {
            self.show_portions(&wave)?;
            self.read.definitions.save_for_children(&self.read.files);
            self.prepare(feed);
            let mut watch = Watch::start();
            let first = self.world.findings.first.as_ref();
            let budget = match first {
                Some(_) => BlockBudget::none(),
                None => feed.wave_budget(self.team.quota, self.team.desks.len()),
            };
            let limit = first.map_or(u64::MAX, Error::at);
            self.round(&wave, limit, Some(feed), budget);
            watch.lap(rounds);
            self.world.settle(&wave, &self.read.definitions)?;
            if self.world.follower.as_ref().is_some_and(LedgerSink::has_refused) {
                return Err(Error::stopped());
            }
            for maps in self.team.retired.drain(..) {
                self.team.maps[maps] = SymbolMap::default();
            }
            self.team.free.give_back(wave.blocks);
            wave = Wave::collect(&mut self.team.desks);
            if self.world.job.progress.is_stopped() {
                return Err(Error::stopped());
            }
            if wave.blocks.is_empty() && !feed.has_more() {
                return Ok(());
            }
            resolve_wave(&mut wave, &mut self.read, &mut self.world, &mut self.team);
            self.team.free.take_resolved(&mut wave);
            feed.enqueue(self.read.files.take_queue());
            self.team.restart_crowded_decoders();
        }
    }

    /// Sorts the next file, if files are to be sorted and the previous file has ended.
    fn prepare(&mut self, feed: &Feed<'_>) {
        let Engine { world, read, .. } = self;
        if world.findings.first.is_some() {
            return;
        }
        let prepared =
            feed.prepare(world.job.workers, |origin| read.definitions.of(origin).as_ref().clone());
        if let Err((origin, error)) = prepared {
            let error = read.files.explain(&origin, error);
            world.findings.judge(Remedy::Ended, 1, error.of_line_at(read.bytes));
        }
    }

    /// Replays the wave's events before byte `limit`, and decodes the next wave from `feed`.
    fn round(&mut self, wave: &Wave, limit: u64, feed: Option<&Feed<'_>>, budget: BlockBudget) {
        let Engine { world, read, team } = self;
        let shards = if wave.blocks.is_empty() { 0 } else { world.lanes.shards().len() };
        let round = Round {
            model: &world.model,
            lanes: &world.lanes,
            maps: &team.maps,
            wave,
            from: read.replayed_to,
            limit,
            feed,
            tables: &read.definitions,
            desks: &team.desks,
            free: &team.free,
            progress: world.job.progress,
            // The ledger must receive each wave only once, not once for each portion.
            follower: world.follower.as_ref().filter(|_| feed.is_some()),
            ahead: 2 * budget.left().div_ceil(BlockBudget::PER_BLOCK),
            budget,
            tasks: Tasks::new(shards),
            merges: OnceLock::new(),
        };
        round.run(world.job.workers);
    }

    /// Replays and shows the portions that end in this wave, before its first problem.
    fn show_portions(&mut self, wave: &Wave) -> Result<(), Error> {
        let first = self.world.findings.first.as_ref();
        let known = first.map_or(self.read.bytes, |error| error.at().min(self.read.bytes));
        while let Some(portions) = &self.world.portions
            && portions.end <= known
        {
            let end = portions.end;
            self.round(wave, end, None, BlockBudget::none());
            self.world.settle_to(wave, end)?;
            self.read.replayed_to = end;
            self.world.show_portion(&mut self.read)?;
        }
        Ok(())
    }

    fn finish(self, feed: &Feed<'_>, began: Instant, rounds: Duration) -> Result<Trace, Error> {
        let Engine { mut world, mut read, mut team } = self;
        if read.bytes == 0 {
            return Err(Error::invalid(Problem::EmptyTrace, None));
        }
        if let Some((error, count)) = world.reused_in(None) {
            world.findings.judge(Remedy::Kept, count, error);
        }
        if let Some(error) = read.unfinished() {
            world.findings.cut_off(error);
        }
        if let Some(first) = world.findings.first.take() {
            return Err(first);
        }
        world.end_deferred()?;
        let (open_states, open_count) = world.open_states();
        if let Some(usage) = &mut read.usage {
            world.settle_usage(usage, true);
            usage.open_states = world.count_open_states();
        }
        // As in PajeNG 1.3.6, a trace without times begins and ends at 0.
        let last = if read.last_time.is_finite() { read.last_time } else { 0.0 };
        let time = world.job.options.stop_at.unwrap_or(last);
        world.end_all(time, read.bytes)?;
        let problems = world.findings.tally.take().map(ProblemTally::into_list);
        let problems = problems.unwrap_or_default();
        let mut recovery = Recovery { problems, open_states, open_count };
        for problem in &mut recovery.problems {
            problem.move_to(|file, position| feed.original(file, position));
        }
        let wall = began.elapsed();
        let mut workers: Vec<_> =
            team.desks.iter_mut().map(exclusive).map(|desk| desk.times).collect();
        workers.resize_with(world.job.workers.threads(), Default::default);
        let counted = Counted {
            bytes: read.bytes - feed.added(),
            lines: read.lines,
            events: read.events,
            times: Times { wall, serial: wall.saturating_sub(rounds), workers },
        };
        let warnings =
            world.findings.warnings.into_list(|file, position| feed.original(file, position));
        // Frees memory for the last portion.
        drop(team);
        let link_halves = world.lanes.take_link_halves();
        let rows = world.lanes.finish();
        let defs = Arc::clone(read.definitions.current());
        let mut trace = Trace::new(world.model, rows, defs, time);
        trace.warnings = warnings;
        trace.times_of_lines = read.times.unwrap_or_default();
        trace.read = counted;
        trace.recovery = recovery;
        trace.link_halves = link_halves;
        trace.files = read.files.paths();
        trace.comments = read.comments;
        trace.usage = read.usage;
        trace.time_unit = world.job.options.time_unit;
        if let Some(mut portions) = world.portions {
            portions.show(&trace)?;
        }
        Ok(trace)
    }
}
