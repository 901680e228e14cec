//! From blocks of lines to a replayed trace.
//!
//! ```text
//! block ──decode──▶ events by strand, first uses ──resolve──▶ numbers ──replay──▶ columns
//! ```
//!
//! Only three things in a trace depend on the order of the whole file: definitions of events, of
//! types, values and containers, and the ends of containers. They are rare. Everything else belongs
//! to one lane (a container and a type), and lanes do not influence one another. So each block is
//! decoded by itself, what it names is resolved in file order, and each lane replays its slices: all
//! workers decode and replay at the same time, and one of them resolves in between (`window`).
//! Problems carry byte positions only; the first in file order wins, and its line is counted then:
//! the result does not depend on the number of workers, nor on where blocks begin.
//!
//! A trace that is to be sorted by time is sorted before all this (`sorted`): its blocks hold the
//! lines in their new order, and "file order" is that order here.

pub(crate) mod decode;
mod feed;
pub(crate) mod lanes;
pub(crate) mod merge;
pub(crate) mod portions;
mod problems;
pub(crate) mod resolve;
pub(crate) mod shard;
mod sorted;
pub(crate) mod strand;
pub(crate) mod symbols;
pub(crate) mod window;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paje_parser::{DefTable, FaultKind};
use splitter::ReadError;
use workers::Workers;

use crate::error::{Error, Problem};
use crate::ledger::{Follower, Ledger};
use crate::model::{Effects, Ending, Model};
use crate::options::Options;
use crate::progress::{Progress, Times, Watch};
use crate::trace::{Counted, Trace};
use decode::{Decoder, Strands};
use feed::Feed;
pub use feed::Source;
use lanes::Lanes;
use portions::Portions;
use problems::{Found, Warnings, earliest, earliest_byte};
use resolve::{Maps, Resolver, Stop, Where, line_problem, resolve};
use window::{DecodedBlock, Desk, FreeBlocks, Round, Tasks, Window};

/// Replays the trace that `source` gives.
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
        let feed = Feed::new(source, options, workers)?;
        let mut rounds = Duration::ZERO;
        watch.lap(&mut rounds);
        // More workers than blocks would cost more than they do.
        let blocks = feed.most_blocks().and_then(|most| usize::try_from(most).ok());
        let team = blocks.unwrap_or(usize::MAX).clamp(1, workers.threads());
        let mut engine = Engine::new(options, workers, team, progress, portions, ledger.is_some());
        engine.follower = ledger.map(Follower::new);
        let replayed = engine.replay(&feed, began, rounds);
        replayed.map_err(|error| error.moved(|position| feed.original(position)))
    })
}

struct Engine<'o> {
    options: &'o Options,
    workers: &'o Workers,
    progress: &'o Progress,
    /// The definitions up to the end of the window at hand.
    defs: Arc<DefTable>,
    model: Model,
    /// One for each worker that takes part.
    desks: Vec<Mutex<Desk>>,
    free: FreeBlocks,
    /// What the symbols of each decoder stand for.
    maps: Vec<Maps>,
    /// Maps of decoders that are no more, which only the window at hand needs.
    retired: Vec<usize>,
    lanes: Lanes,
    effects: Effects,
    warnings: Warnings,
    /// The first problem that decoding and resolving came to.
    first: Option<Found>,
    /// How many blocks the next window may have, and the most that one may have.
    quota: usize,
    full_quota: usize,
    /// Lines and bytes up to the end of the window at hand.
    lines: u64,
    bytes: u64,
    last_time: f64,
    events: u64,
    /// If the trace is shown in portions, the one at hand.
    portions: Option<Portions<'o>>,
    /// The byte up to which the window at hand has been replayed already.
    from: u64,
    /// Who learns whose each line is.
    follower: Option<Follower<'o>>,
}

/// Blocks of a window for each worker: enough that a round is long beside what its end costs, few
/// enough that what was decoded is still in the cache when it is replayed.
const BLOCKS_PER_WORKER: usize = 4;

impl<'o> Engine<'o> {
    fn new(
        options: &'o Options,
        workers: &'o Workers,
        team: usize,
        progress: &'o Progress,
        portions: Option<Portions<'o>>,
        follows: bool,
    ) -> Self {
        let spread = Strands::for_workers(team);
        let desk = |worker| Mutex::new(Desk::new(Decoder::new(options, spread, follows), worker));
        Engine {
            options,
            workers,
            progress,
            defs: Arc::new(DefTable::new(options.field_names)),
            model: Model::new(options.value_names),
            desks: (0..team).map(desk).collect(),
            free: FreeBlocks::default(),
            maps: (0..team).map(|_| Maps::default()).collect(),
            retired: Vec::new(),
            lanes: Lanes::new(options, spread, portions.is_some()),
            effects: Effects::default(),
            warnings: Warnings::default(),
            first: None,
            // The head of a trace has its definitions, and is decoded alone.
            quota: 1,
            full_quota: if team == 1 { 1 } else { team * BLOCKS_PER_WORKER },
            lines: 0,
            bytes: 0,
            last_time: f64::NEG_INFINITY,
            events: 0,
            portions,
            from: 0,
            follower: None,
        }
    }

    /// Replays what `feed` gives; `rounds` is how long all workers have been at work for it.
    fn replay(
        mut self,
        feed: &Feed<'_>,
        began: Instant,
        mut rounds: Duration,
    ) -> Result<Trace, Error> {
        let mut window = Window::default();
        let mut ended = false;
        loop {
            self.show_portions(&window)?;
            let mut watch = Watch::start();
            let quota = if ended || self.first.is_some() { 0 } else { self.quota };
            let limit = self.first.as_ref().map_or(u64::MAX, |found| found.at);
            ended |= self.round(&window, limit, Some(feed), quota);
            watch.lap(&mut rounds);
            self.settle(&window)?;
            if self.follower.as_ref().is_some_and(Follower::has_refused) {
                return Err(Error::stopped());
            }
            for maps in self.retired.drain(..) {
                self.maps[maps] = Maps::default();
            }
            self.free.give_back(window.blocks);
            window = Window::collect(&mut self.desks);
            if window.blocks.is_empty() {
                return self.finish(feed, began, rounds);
            }
            self.resolve(&mut window);
            self.relieve();
        }
    }

    /// Replays the window's events before byte `limit`.
    fn replay_to(&mut self, window: &Window, limit: u64) {
        self.round(window, limit, None, 0);
    }

    /// Replays the window's events before byte `limit`, and decodes so many blocks; returns whether the
    /// feed has ended.
    fn round(
        &mut self,
        window: &Window,
        limit: u64,
        feed: Option<&Feed<'_>>,
        quota: usize,
    ) -> bool {
        let shards = if window.blocks.is_empty() { 0 } else { self.lanes.shards().len() };
        let round = Round {
            lanes: &self.lanes,
            maps: &self.maps,
            window,
            from: self.from,
            limit,
            feed,
            defs: &self.defs,
            desks: &self.desks,
            free: &self.free,
            progress: self.progress,
            // Parts of a window that are replayed by themselves are not told.
            follower: self.follower.as_ref().filter(|_| feed.is_some()),
            quota: AtomicUsize::new(quota),
            tasks: Tasks::new(shards),
        };
        round.run(self.workers)
    }

    /// Resolves what the window's blocks name, in file order, up to the first problem.
    fn resolve(&mut self, window: &mut Window) {
        self.quota = (self.quota * 4).min(self.full_quota);
        // Blocks behind a definition were decoded without it, and are decoded again.
        let mut changed = false;
        for index in 0..window.blocks.len() {
            if changed {
                let block = &mut window.blocks[index];
                alone(&mut self.desks[block.worker]).decode(block, &self.defs);
            }
            let block = &mut window.blocks[index];
            block.lines_before = self.lines;
            self.first = self.resolve_block(block);
            self.lines += block.decoded.lines;
            self.bytes += block.text.text().len() as u64;
            let defs = block.decoded.defs.take();
            if let Some(defs) = &defs {
                self.quota = 1;
                self.defs = Arc::clone(defs);
            }
            if self.first.is_some() {
                window.blocks.truncate(index + 1);
                return;
            }
            if defs.is_some() && !std::mem::replace(&mut changed, true) {
                self.forget(&window.blocks[index + 1..]);
            }
        }
    }

    /// Gives crowded decoders' desks new ones.
    fn relieve(&mut self) {
        for worker in 0..self.desks.len() {
            let desk = alone(&mut self.desks[worker]);
            if desk.decoder.is_crowded() {
                self.retired.push(desk.maps);
                self.renew(worker);
            }
        }
    }

    /// Gives the desks of these blocks new decoders: theirs know symbols from lines that do not count.
    fn forget(&mut self, blocks: &[DecodedBlock]) {
        for block in blocks {
            if alone(&mut self.desks[block.worker]).maps == block.maps {
                self.renew(block.worker);
            }
        }
    }

    /// Gives a worker's desk a decoder that knows nothing yet, whose symbols have maps of their own.
    fn renew(&mut self, worker: usize) {
        let follows = self.follower.is_some();
        let decoder = Decoder::new(self.options, self.lanes.spread, follows);
        alone(&mut self.desks[worker]).renew(decoder, self.maps.len());
        self.maps.push(Maps::default());
    }

    fn resolve_block(&mut self, block: &mut DecodedBlock) -> Option<Found> {
        self.last_time = self.last_time.max(block.decoded.last_time);
        self.events += block.decoded.event_count;
        let mut resolver = Resolver {
            model: &mut self.model,
            lanes: &mut self.lanes,
            maps: &mut self.maps[block.maps],
            effects: &mut self.effects,
            last_time: self.last_time,
            stop_at: self.options.stop_at.unwrap_or(f64::INFINITY),
            user_defined: self.options.user_defined,
            warnings: &mut self.warnings,
            structural: self.follower.is_some().then(|| std::mem::take(&mut block.structural)),
        };
        if let Some(structural) = &mut resolver.structural {
            structural.clear();
        }
        let defs = block.decoded.defs.as_deref().unwrap_or(&self.defs);
        let decoder = &alone(&mut self.desks[block.worker]).decoder;
        let resolved = resolve(block, decoder, defs, &mut resolver);
        self.last_time = resolver.last_time;
        block.structural = resolver.structural.unwrap_or_default();
        let fault = || {
            let (line, fault) = block.decoded.fault?;
            let problem = line_problem(&block.text, &fault);
            Some(Stop { line, what: Where::Byte(fault.at), problem })
        };
        match resolved.err().or_else(fault) {
            Some(stop) => Some(Found::in_block(block, defs, stop)),
            None => block.failure.take().map(|error| self.failed(block, error)),
        }
    }

    /// The text after the block's could not be read.
    fn failed(&self, block: &DecodedBlock, error: ReadError) -> Found {
        let error = match error {
            ReadError::LineTooLong { start, limit } => {
                return Found::line_too_long(start, limit, self.lines + block.decoded.lines + 1);
            }
            ReadError::Io(error) => error,
            other => std::io::Error::other(other),
        };
        Found { at: self.bytes + block.text.text().len() as u64, error: error.into() }
    }

    /// What remains to be done for a window when all its lanes have been replayed.
    ///
    /// # Errors
    /// The first problem of the trace, if it has come up.
    fn settle(&mut self, window: &Window) -> Result<(), Error> {
        self.settle_to(window, u64::MAX)?;
        if let Some(first) = self.first.take() {
            let found = earliest(Some(first), self.reused_in(None));
            return found.map_or(Ok(()), |found| Err(found.error));
        }
        self.warn(window);
        Ok(())
    }

    /// What remains to be done for the part of a window that comes before byte `limit`.
    fn settle_to(&mut self, window: &Window, limit: u64) -> Result<(), Error> {
        let mut found = self.refused(window);
        let first = earliest_byte(&[&found, &self.first]).min(limit);
        self.place_suspects(window);
        let mut endings = std::mem::take(&mut self.effects.endings);
        let now = endings.partition_point(|ending| ending.at < first);
        for ending in endings.drain(..now) {
            found = earliest(found, self.reused_in(Some(&ending)));
            let ended = self.lanes.end_container(&self.model, self.options, &ending);
            if let Err((field, problem)) = ended {
                found = earliest(found, self.found_at(window, ending.at, field, problem));
                break;
            }
            if let Some(portions) = &mut self.portions {
                portions.ended(ending.container);
            }
        }
        self.effects.endings = endings;
        if found.is_some() {
            found = earliest(found, self.first.take());
            found = earliest(found, self.reused_in(None));
        }
        found.map_or(Ok(()), |found| Err(found.error))
    }

    fn finish(mut self, feed: &Feed<'_>, began: Instant, rounds: Duration) -> Result<Trace, Error> {
        if self.bytes == 0 {
            return Err(Error::invalid(Problem::EmptyTrace, None));
        }
        if let Some(found) = self.reused_in(None) {
            return Err(found.error);
        }
        if self.defs.is_open() {
            let problem =
                Problem::Line { fault: FaultKind::UnfinishedDefinition, word: Vec::new() };
            return Err(Error::invalid(problem, None));
        }
        // A trace without a single time begins and ends at 0: PajeNG 1.3.6 behaviour.
        let last = if self.last_time.is_finite() { self.last_time } else { 0.0 };
        let time = self.options.stop_at.unwrap_or(last);
        for container in self.model.containers.ids() {
            if self.model.containers.is_destroyed(container) {
                continue;
            }
            self.model.containers.set_end(container, time, None);
            let ending = Ending { container, time, at: self.bytes, named: false };
            let ended = self.lanes.end_container(&self.model, self.options, &ending);
            ended.map_err(|(_, problem)| Error::invalid(problem, None))?;
            if let Some(portions) = &mut self.portions {
                portions.ended(container);
            }
        }
        let wall = began.elapsed();
        let desks = self.desks.iter_mut().map(alone);
        let mut workers: Vec<_> = desks.map(|desk| desk.times).collect();
        workers.resize_with(self.workers.threads(), Default::default);
        let read = Counted {
            bytes: self.bytes - feed.added(),
            lines: self.lines,
            events: self.events,
            times: Times { wall, serial: wall.saturating_sub(rounds), workers },
        };
        let warnings = self.warnings.into_list(feed);
        let lanes = self.lanes.lend();
        let trace = Trace::new(self.model, lanes, self.defs, warnings, time, read);
        if let Some(portions) = self.portions {
            portions.finish(&trace)?;
        }
        Ok(trace)
    }
}

/// What nobody else can have at the time.
fn alone<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}
