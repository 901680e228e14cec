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

mod court;
mod endings;
pub(crate) mod page;
pub(crate) mod portions;
pub(crate) mod recover;
pub(crate) mod round;
mod tasks;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paje_parser::{ByteOffset, DefTable, FaultKind, Line, LineDecoder};
use splitter::ReadError;
use workers::{Workers, exclusive};

use crate::decode::Decoder;
use crate::decode::block::DecodedBlock;
use crate::decode::definitions::Tables;
use crate::decode::strands::Strands;
use crate::engine::page::{Follower, Ledger};
use crate::engine::portions::Portions;
use crate::engine::round::{Desk, FreeBlocks, Round, Window};
use crate::engine::tasks::Tasks;
use crate::input::feed::Feed;
use crate::input::files::{Files, Origin};
use crate::input::source::Source;
use crate::model::{Effects, Ending, Model};
use crate::names::error::{Error, Problem, WarningKind};
use crate::names::options::Options;
use crate::names::progress::{Progress, Times, Watch};
use crate::names::recovered::{Recovery, Remedy};
use crate::problems::found::{Found, Stop};
use crate::problems::tally::{Told, code_of};
use crate::problems::warnings::Warnings;
use crate::replay::lanes::Lanes;
use crate::replay::maps::Maps;
use crate::resolve::{Counter, Deferred, Resolver, resolve};
use crate::trace::{Counted, Trace};

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
        let Source { from, files, further } = source;
        let (root, folders) = files.map(|root| (root.path, root.folders)).unzip();
        let mut files = Files::new(root.flatten().as_deref(), folders);
        further.iter().try_for_each(|path| files.add(path, progress))?;
        let feed = Feed::new(from, options, progress, workers)?;
        feed.enqueue(files.take_queue());
        let mut rounds = Duration::ZERO;
        watch.lap(&mut rounds);
        // More workers than blocks would cost more than they do.
        let more = files.are_wanted() || files.any();
        let blocks = feed.most_blocks(workers.threads(), more);
        let blocks = blocks.and_then(|most| usize::try_from(most).ok());
        let team = blocks.unwrap_or(usize::MAX).clamp(1, workers.threads());
        let mut engine =
            Engine::new(options, workers, team, progress, portions, files, ledger.is_some());
        engine.follower = ledger.map(Follower::new);
        if engine.files.any() || engine.files.are_wanted() && feed.names_files_in_order() {
            // What the files hold did not happen after all others; the lines that name files may come
            // last if they are sorted.
            engine.lanes.cuts.named_from = Some(0);
        }
        let replayed = engine.replay(&feed, began, rounds);
        replayed.map_err(|error| error.moved(|file, position| feed.original(file, position)))
    })
}

struct Engine<'o> {
    options: &'o Options,
    workers: &'o Workers,
    progress: &'o Progress,
    files: Files,
    /// The definitions up to the end of the window at hand.
    tables: Tables,
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
    /// If the replay goes on after problems, those so far.
    told: Option<Told>,
    /// How many blocks the next window may have, and the most that one may have.
    quota: usize,
    full_quota: usize,
    /// Lines and bytes up to the end of the window at hand, and lines of the files before the last one.
    lines: u64,
    lines_of_others: u64,
    bytes: u64,
    last_time: f64,
    /// What the trace begins with: see [`Trace::comments`].
    comments: Vec<u8>,
    /// The times of all lines, if they are asked for.
    times: Option<Vec<f64>>,
    /// Destructions whose lanes end when everything has been read.
    deferred: Vec<Deferred>,
    events: u64,
    /// If the trace is shown in portions, the one at hand.
    portions: Option<Portions<'o>>,
    /// The byte up to which the window at hand has been replayed already.
    from: u64,
    /// Who learns whose each line is.
    follower: Option<Follower<'o>>,
    /// No line of the file at hand has made sense so far, and it may be none of the trace's: see
    /// [`Engine::shown_from`].
    is_foreign: bool,
}

/// Blocks of a window for each worker: enough that a round is long beside what its end costs, few
/// enough that what was decoded is still in the cache when it is replayed.
const BLOCKS_PER_WORKER: usize = 4;

/// Bytes of the trace in which its first comments are looked for.
const MOST_COMMENTS: usize = 1 << 13;

impl<'o> Engine<'o> {
    fn new(
        options: &'o Options,
        workers: &'o Workers,
        team: usize,
        progress: &'o Progress,
        portions: Option<Portions<'o>>,
        files: Files,
        follows: bool,
    ) -> Self {
        let spread = Strands::for_workers(team);
        let desk = |worker| Mutex::new(Desk::new(Decoder::new(options, spread, follows), worker));
        let mut model = Model::new(options.value_names);
        model.mended = options.recover.then(Default::default);
        Engine {
            options,
            workers,
            progress,
            files,
            tables: Tables::new(DefTable::new(options.field_names)),
            model,
            desks: (0..team).map(desk).collect(),
            free: FreeBlocks::default(),
            maps: (0..team).map(|_| Maps::default()).collect(),
            retired: Vec::new(),
            lanes: Lanes::new(options, spread, portions.is_some(), follows),
            effects: Effects::default(),
            warnings: Warnings::default(),
            first: None,
            told: options.recover.then(Told::default),
            // The head of a trace has its definitions, and is decoded alone.
            quota: 1,
            full_quota: if team == 1 { 1 } else { team * BLOCKS_PER_WORKER },
            lines: 0,
            lines_of_others: 0,
            comments: Vec::new(),
            bytes: 0,
            last_time: f64::NEG_INFINITY,
            times: options.keep_times.then(Vec::new),
            deferred: Vec::new(),
            events: 0,
            portions,
            from: 0,
            follower: None,
            is_foreign: false,
        }
    }

    /// Replays what `feed` gives; `rounds` is how long all workers have been at work for it.
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
        let mut window = Window::default();
        loop {
            self.show_portions(&window)?;
            self.tables.bequeath(&self.files);
            self.prepare(feed);
            let mut watch = Watch::start();
            let quota = if self.first.is_some() { 0 } else { self.quota };
            let limit = self.first.as_ref().map_or(u64::MAX, |found| found.at);
            self.round(&window, limit, Some(feed), quota);
            watch.lap(rounds);
            self.settle(&window)?;
            if self.follower.as_ref().is_some_and(Follower::has_refused) {
                return Err(Error::stopped());
            }
            for maps in self.retired.drain(..) {
                self.maps[maps] = Maps::default();
            }
            self.free.give_back(window.blocks);
            window = Window::collect(&mut self.desks);
            if self.progress.is_stopped() {
                return Err(Error::stopped());
            }
            if window.blocks.is_empty() && !feed.has_more() {
                return Ok(());
            }
            self.resolve(&mut window);
            feed.enqueue(self.files.take_queue());
            self.relieve();
        }
    }

    /// Replays the window's events before byte `limit`.
    fn replay_to(&mut self, window: &Window, limit: u64) {
        self.round(window, limit, None, 0);
    }

    /// Replays the window's events before byte `limit`, and decodes so many blocks.
    fn round(&mut self, window: &Window, limit: u64, feed: Option<&Feed<'_>>, quota: usize) {
        let shards = if window.blocks.is_empty() { 0 } else { self.lanes.shards().len() };
        let round = Round {
            lanes: &self.lanes,
            maps: &self.maps,
            window,
            from: self.from,
            limit,
            feed,
            tables: &self.tables,
            desks: &self.desks,
            free: &self.free,
            progress: self.progress,
            // Parts of a window that are replayed by themselves are not told.
            follower: self.follower.as_ref().filter(|_| feed.is_some()),
            quota: AtomicUsize::new(quota),
            tasks: Tasks::new(shards),
        };
        round.run(self.workers);
    }

    /// Resolves what the window's blocks name, in file order, up to the first problem.
    fn resolve(&mut self, window: &mut Window) {
        self.quota = (self.quota * 4).min(self.full_quota);
        // Blocks behind a definition were decoded without it, and are decoded again.
        let mut changed = false;
        let mut index = 0;
        self.leave_out_broken(window, index);
        while index < window.blocks.len() {
            if window.blocks[index].origin.file != self.tables.file() {
                self.first = self.turn_to(&window.blocks[index].origin);
                if self.first.is_some() {
                    window.blocks.truncate(index);
                    return;
                }
            }
            if !changed && !self.tables.suit(&window.blocks[index]) {
                changed = true;
                self.forget(&window.blocks[index..]);
            }
            let block = &mut window.blocks[index];
            if changed {
                exclusive(&mut self.desks[block.worker]).decode(block, self.tables.at_hand());
            }
            if self.lines == 0 {
                self.comments = comments(block.text.text());
            }
            block.lines_before = self.lines - self.lines_of_others;
            block.shown_from = self.shown_from(block.text.text());
            if block.is_marked {
                self.warnings.add_file(block, WarningKind::ByteOrderMark);
            }
            self.first = self.resolve_block(block);
            self.lines += block.decoded.lines;
            self.bytes += block.text.text().len() as u64;
            if self.told.is_some() {
                // Lines that are too long are in no block.
                let end = block.text.start().0 + block.text.text().len() as u64;
                self.bytes = self.bytes.max(end);
            }
            if let Some(defs) = &block.decoded.defs {
                self.tables.change(defs);
            }
            if block.decoded.changes && !block.is_last {
                self.quota = 1;
            }
            if self.first.is_some() {
                window.blocks.truncate(index + 1);
                return;
            }
            index += 1;
            self.leave_out_broken(window, index);
        }
        if self.told.is_some() {
            self.resolve_awaited();
        }
    }

    /// The first byte of a block's text of which something may be shown. A trace may name any file, if only by
    /// mistake, and what is in that may be nobody's business: nothing of it is shown before a line of it is
    /// right by itself, be it part of a definition or an event with all that it needs.
    fn shown_from(&mut self, text: &[u8]) -> u32 {
        if !self.is_foreign {
            return 0;
        }
        let mut decoder = LineDecoder::after(self.tables.at_hand().as_ref().clone());
        let mut at = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let makes_sense = match decoder.line(line) {
                Ok(Line::Blank) | Err(_) => false,
                Ok(Line::Header) => true,
                Ok(Line::Event(event)) => event.decode().is_ok(),
            };
            if makes_sense {
                self.is_foreign = false;
                return at;
            }
            at += line.len() as u32;
        }
        u32::MAX
    }

    /// Leaves out what blocks of a file, from the `first` on, come behind a place that cannot be read.
    fn leave_out_broken(&self, window: &mut Window, first: usize) {
        let Some(broken) = self.told.as_ref().and_then(|told| told.broken) else { return };
        let mut index = 0;
        window.blocks.retain(|block| {
            index += 1;
            index <= first || block.origin.file != broken
        });
    }

    /// Turns to another file, whose first block is the next; returns what is wrong with the one before.
    fn turn_to(&mut self, origin: &Origin) -> Option<Found> {
        let before = self.files.path(self.tables.file());
        let ended = self.tables.turn_to(origin, &self.files);
        self.lines_of_others = self.lines;
        self.model.turn_to(origin.file, origin.start);
        self.is_foreign = self.files.is_named(origin.file);
        if ended {
            return None;
        }
        let (at, error) = (self.bytes, unfinished_definition().in_file(before.as_ref()));
        if self.told.is_some() {
            self.tell_unfinished(at, error);
            return None;
        }
        Some(Found { at, error })
    }

    /// Sorts the next file, if files are to be sorted and it is time to.
    fn prepare(&mut self, feed: &Feed<'_>) {
        if self.first.is_some() {
            return;
        }
        let prepared = feed.prepare(self.workers, |origin| self.tables.of(origin).as_ref().clone());
        if let Err((origin, error)) = prepared {
            let error = self.files.explain(&origin, error);
            match &mut self.told {
                None => self.first = Some(Found { at: self.bytes, error }),
                Some(told) => {
                    let code = code_of(error.kind());
                    told.add(code, Remedy::Ended, (self.bytes, 1), || error);
                }
            }
        }
    }

    /// Gives crowded decoders' desks new ones.
    fn relieve(&mut self) {
        for worker in 0..self.desks.len() {
            let desk = exclusive(&mut self.desks[worker]);
            if desk.decoder.is_crowded() {
                self.retired.push(desk.maps);
                self.renew(worker);
            }
        }
    }

    /// Gives the desks of these blocks new decoders: theirs know symbols from lines that do not count.
    fn forget(&mut self, blocks: &[DecodedBlock]) {
        for block in blocks {
            if exclusive(&mut self.desks[block.worker]).maps == block.maps {
                self.renew(block.worker);
            }
        }
    }

    /// Gives a worker's desk a decoder that knows nothing yet, whose symbols have maps of their own.
    fn renew(&mut self, worker: usize) {
        let desk = exclusive(&mut self.desks[worker]);
        let decoder = desk.decoder.successor(self.options, self.maps[desk.maps].again);
        desk.renew(decoder, self.maps.len());
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
            keeps: self.options.keeps(),
            warnings: &mut self.warnings,
            files: &mut self.files,
            progress: self.progress,
            deferred: &mut self.deferred,
            times: self.times.as_mut(),
            counter: Counter::default(),
            structural: self.follower.is_some().then(|| std::mem::take(&mut block.structural)),
            told: self.told.as_mut(),
        };
        if let Some(structural) = &mut resolver.structural {
            structural.clear();
        }
        let defs = block.decoded.defs.as_deref().unwrap_or(self.tables.at_hand());
        let decoder = &exclusive(&mut self.desks[block.worker]).decoder;
        let resolved = resolve(block, decoder, defs, &mut resolver);
        self.last_time = resolver.last_time;
        block.structural = resolver.structural.unwrap_or_default();
        if let Some(times) = &mut self.times {
            // No minus zero: it would be another time, and is none for PajeNG.
            times.extend(block.decoded.lane_events().iter().map(|event| event.time + 0.0));
            times.sort_by(f64::total_cmp);
            times.dedup();
        }
        if let Some(told) = &mut self.told {
            told.add_faults(block);
            self.maps[block.maps].tell_lines(block, told);
            if let Some(error) = block.failure.take() {
                self.tell_unread(block, error);
            }
            return None;
        }
        let fault = || {
            let (line, fault) = block.decoded.fault?;
            Some(Stop::at_fault(&block.text, line, &fault))
        };
        match resolved.err().or_else(fault) {
            Some(stop) => Some(Found::in_block(block, stop)),
            None => block.failure.take().map(|error| self.failed(block, error)),
        }
    }

    /// The text after the block's could not be read.
    fn failed(&self, block: &DecodedBlock, error: ReadError) -> Found {
        let origin = &block.origin;
        let error = match error {
            ReadError::LineTooLong { start, limit } => {
                let lines = block.lines_before + block.decoded.lines;
                let in_file = ByteOffset(start.0 - origin.start);
                let error = Error::line_too_long(in_file, limit, lines + 1);
                return Found { at: start.0, error: error.in_file(origin.path.as_ref()) };
            }
            ReadError::Io(error) => error,
            other => std::io::Error::other(other),
        };
        let at = self.bytes + block.text.text().len() as u64;
        Found { at, error: self.files.unreadable(origin.file, error) }
    }

    fn finish(mut self, feed: &Feed<'_>, began: Instant, rounds: Duration) -> Result<Trace, Error> {
        if self.bytes == 0 {
            return Err(Error::invalid(Problem::EmptyTrace, None));
        }
        if self.told.is_some() {
            self.tell_reused(None);
        } else if let Some((found, _)) = self.reused_in(None) {
            return Err(found.error);
        }
        if self.tables.at_hand().is_open() {
            let file = self.files.path(self.tables.file());
            let error = unfinished_definition().in_file(file.as_ref());
            if self.told.is_none() {
                return Err(error);
            }
            self.tell_unfinished(self.bytes, error);
        }
        self.end_deferred()?;
        let (open_states, open_count) = self.open_states();
        // A trace without a single time begins and ends at 0: PajeNG 1.3.6 behaviour.
        let last = if self.last_time.is_finite() { self.last_time } else { 0.0 };
        let time = self.options.stop_at.unwrap_or(last);
        for container in self.model.containers.ids() {
            if self.model.containers.is_destroyed(container) {
                continue;
            }
            self.model.containers.set_end(container, time, None);
            let ending = Ending { container, time, at: self.bytes, named: false };
            if self.told.is_some() {
                self.end_damaged(&ending, |_, (_, problem)| Some(Error::invalid(problem, None)));
                continue;
            }
            let ended = self.lanes.end_container(&self.model, self.options, &ending);
            ended.map_err(|(_, problem)| Error::invalid(problem, None))?;
            if let Some(portions) = &mut self.portions {
                portions.ended(container);
            }
        }
        let mut recovery = Recovery { open_states, open_count, ..self.recovery() };
        for problem in &mut recovery.problems {
            problem.move_to(|file, position| feed.original(file, position));
        }
        let wall = began.elapsed();
        let desks = self.desks.iter_mut().map(exclusive);
        let mut workers: Vec<_> = desks.map(|desk| desk.times).collect();
        workers.resize_with(self.workers.threads(), Default::default);
        let read = Counted {
            bytes: self.bytes - feed.added(),
            lines: self.lines,
            events: self.events,
            times: Times { wall, serial: wall.saturating_sub(rounds), workers },
        };
        let warnings = self.warnings.into_list(feed);
        // The last portion is yet to be shown, which needs memory too.
        drop((self.desks, self.maps, self.free));
        let rows = self.lanes.finish();
        let defs = Arc::clone(self.tables.at_hand());
        let times = self.times.unwrap_or_default();
        let mut trace = Trace::new(self.model, rows, defs, warnings, time, times, read);
        trace.recovery = recovery;
        trace.files = self.files.paths();
        trace.comments = self.comments;
        if let Some(portions) = self.portions {
            portions.finish(&trace)?;
        }
        Ok(trace)
    }
}

/// The comments that a text begins with.
fn comments(text: &[u8]) -> Vec<u8> {
    let head = &text[..text.len().min(MOST_COMMENTS)];
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with(b"#"));
    let comments: Vec<&[u8]> =
        lines.filter_map(|line| Some(line.strip_prefix(b"#")?.trim_ascii())).collect();
    comments.join(&b'\n')
}

fn unfinished_definition() -> Error {
    let (fault, word) = (FaultKind::UnfinishedDefinition, Vec::new());
    let problem = Problem::Line { fault, word, event: None };
    Error::invalid(problem, None)
}
