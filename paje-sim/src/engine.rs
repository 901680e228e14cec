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
//! workers decode and replay at the same time, and one of them resolves in between (`wave`).
//! Problems carry byte positions only; the first in file order wins, and its line is counted then:
//! the result does not depend on the number of workers, nor on where blocks begin.
//!
//! A trace that is to be sorted by time is sorted before all this (`sorted`): its blocks hold the
//! lines in their new order, and "file order" is that order here.

mod court;
mod endings;
mod expected;
mod finish;
pub(crate) mod lane_events;
pub(crate) mod page;
pub(crate) mod portions;
pub(crate) mod recover;
mod resolving;
pub(crate) mod round;
#[cfg(test)]
mod rounds;
mod suspects;
mod sync;
mod tasks;
mod usage;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use paje_parser::DefTable;
use paje_workers::Workers;

use crate::decode::Decoder;
use crate::decode::definitions::DefinitionsByFile;
use crate::decode::shared::SharedLanes;
use crate::decode::strands::Strands;
use crate::engine::page::{Follower, Ledger};
use crate::engine::portions::Portions;
use crate::engine::round::{Desk, FreeBlocks, Round, Wave};
use crate::engine::tasks::Tasks;
use crate::input::feed::{Feed, Rations};
use crate::input::files::Files;
use crate::input::source::Source;
use crate::model::{Effects, Model};
use crate::names::error::Error;
use crate::names::options::Options;
use crate::names::progress::{Progress, Watch};
use crate::names::recovered::Remedy;
use crate::names::tasks::{Began, TaskKind, TaskLog};
use crate::names::usage::Usage;
use crate::problems::found::earliest;
use crate::problems::tally::ProblemTally;
use crate::problems::warnings::Warnings;
use crate::replay::lanes::Lanes;
use crate::replay::maps::Maps;
use crate::resolve::Deferred;
use crate::trace::Trace;

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
        let log = TaskLog::new(options.keep_tasks, 0);
        let between = Between { since: log.begin(), log, rounds: 0 };
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
        let job = Job { options, workers, progress };
        let mut engine =
            Engine::new(job, team, portions, files, ledger.map(Follower::new), between);
        if engine.files.any() || engine.files.are_wanted() && feed.names_files_in_order() {
            // The events of the files did not happen after all others; the lines that name files may come
            // last if they are sorted.
            engine.lanes.cuts.named_from = Some(0);
        }
        engine.lanes.is_sound = !engine.files.any() && feed.is_of_window();
        let replayed = engine.replay(&feed, began, rounds);
        replayed.map_err(|error| error.moved(|file, position| feed.original(file, position)))
    })
}

/// A replay, between its rounds.
struct Engine<'o> {
    job: Job<'o>,
    files: Files,
    /// The definitions up to the end of the wave at hand.
    definitions: DefinitionsByFile,
    model: Model,
    effects: Effects,
    /// Destructions whose lanes end when everything has been read.
    deferred: Vec<Deferred>,
    team: Team,
    lanes: Lanes,
    findings: Findings,
    read: SoFar,
    /// If the trace is shown in portions, the one at hand.
    portions: Option<Portions<'o>>,
    /// Who learns whose each line is.
    follower: Option<Follower<'o>>,
    /// No line of the file at hand has made sense so far, and it may be none of the trace's: see
    /// [`Engine::shown_from`].
    is_foreign: bool,
    between: Between,
}

/// Record of what is between the rounds, for who wants to know each task.
struct Between {
    log: TaskLog,
    /// Number of rounds so far, and when the last one ended.
    rounds: u32,
    since: Began,
}

impl Between {
    /// A round begins, or there are no more.
    fn end(&mut self, workers: &Workers) -> u32 {
        let round = self.rounds;
        self.log.enter(round);
        let shared = workers.take_laps();
        self.log.end_without(&shared, self.since);
        for (number, lap) in shared.into_iter().enumerate() {
            self.log.note(TaskKind::Shared, number, lap, 0);
        }
        self.rounds += 1;
        round
    }
}

/// The options of a replay, and its workers.
#[derive(Clone, Copy)]
struct Job<'o> {
    options: &'o Options,
    workers: &'o Workers,
    progress: &'o Progress,
}

/// With so many, workers make their decoders side by side; else to wake them takes longer.
const MANY_DESKS: usize = 8;

/// The decoders of the workers that take part.
struct Team {
    /// One for each worker.
    desks: Vec<Mutex<Desk>>,
    free: FreeBlocks,
    /// The meaning of each decoder's symbols.
    maps: Vec<Maps>,
    /// Maps of decoders that are no more, which only the wave at hand needs.
    retired: Vec<usize>,
    /// The lanes that all decoders know. It only grows, between two rounds.
    shared: Arc<SharedLanes>,
    /// Parts of blocks that the next wave may have, and the most that one may have.
    quota: usize,
    full_quota: usize,
}

/// Errors and doubts so far.
#[derive(Default)]
struct Findings {
    warnings: Warnings,
    /// The first problem that decoding and resolving came to.
    first: Option<Error>,
    /// If the replay goes on after problems, those so far.
    tally: Option<ProblemTally>,
}

impl Findings {
    /// Takes so many errors of a kind, the first of which is this: for the trace's error, if none comes before it; or,
    /// where the replay goes on after problems, into the tally.
    fn judge(&mut self, remedy: Remedy, count: u64, error: Error) {
        match &mut self.tally {
            None => self.first = earliest(self.first.take(), Some(error)),
            Some(tally) => tally.add_error(remedy, count, error),
        }
    }

    /// The trace, or one of its files, ends where it should not.
    fn cut_off(&mut self, error: Error) {
        if let Some(tally) = &mut self.tally {
            tally.is_cut = true;
        }
        self.judge(Remedy::Ended, 1, error);
    }
}

/// Counts of all that has been read up to the end of the wave at hand.
struct SoFar {
    lines: u64,
    /// Lines of the files before the last one.
    lines_of_others: u64,
    bytes: u64,
    events: u64,
    last_time: f64,
    /// The byte up to which the wave at hand has been replayed already.
    replayed_to: u64,
    /// The comments that the trace begins with: see [`Trace::comments`].
    comments: Vec<u8>,
    /// The times of all lines, if they are asked for.
    times: Option<Vec<f64>>,
    /// Use that the trace makes of its definitions, if that is asked for.
    usage: Option<Box<Usage>>,
}

impl Team {
    /// So many workers, whose lanes are spread so; if somebody `follows`, they tell whose each line is.
    fn new(team: usize, job: Job<'_>, spread: Strands, follows: bool) -> Self {
        let options = job.options;
        let desk = |worker| {
            let log = TaskLog::new(options.keep_tasks, worker);
            Mutex::new(Desk::new(Decoder::new(options, spread, follows), worker, log))
        };
        Team {
            desks: match team {
                ..MANY_DESKS => (0..team).map(desk).collect(),
                _ => job.workers.map(team, desk),
            },
            free: FreeBlocks::default(),
            maps: (0..team).map(|_| Maps::default()).collect(),
            retired: Vec::new(),
            shared: Arc::default(),
            quota: Rations::of_head(team),
            full_quota: Rations::of_full_wave(team),
        }
    }
}

impl SoFar {
    fn new(options: &Options) -> Self {
        SoFar {
            lines: 0,
            lines_of_others: 0,
            bytes: 0,
            events: 0,
            last_time: f64::NEG_INFINITY,
            replayed_to: 0,
            comments: Vec::new(),
            times: options.keep_times.then(Vec::new),
            usage: options.keeps_usage().then(Box::default),
        }
    }
}

impl<'o> Engine<'o> {
    fn new(
        job: Job<'o>,
        team: usize,
        portions: Option<Portions<'o>>,
        files: Files,
        follower: Option<Follower<'o>>,
        between: Between,
    ) -> Self {
        let (options, follows) = (job.options, follower.is_some());
        let spread = Strands::for_workers(team);
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
            findings: Findings {
                tally: options.recover.then(ProblemTally::default),
                ..Findings::default()
            },
            read: SoFar::new(options),
            portions,
            follower,
            is_foreign: false,
            between,
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
        let mut wave = Wave::default();
        loop {
            self.show_portions(&wave)?;
            self.definitions.save_for_children(&self.files);
            self.prepare(feed);
            let mut watch = Watch::start();
            let rations = match self.findings.first {
                Some(_) => Rations::none(),
                None => feed.rations_of_wave(self.team.quota, self.team.desks.len()),
            };
            let limit = self.findings.first.as_ref().map_or(u64::MAX, Error::at);
            self.round(&wave, limit, Some(feed), rations);
            watch.lap(rounds);
            self.settle(&wave)?;
            if self.follower.as_ref().is_some_and(Follower::has_refused) {
                return Err(Error::stopped());
            }
            for maps in self.team.retired.drain(..) {
                self.team.maps[maps] = Maps::default();
            }
            self.team.free.give_back(wave.blocks);
            wave = Wave::collect(&mut self.team.desks);
            if self.job.progress.is_stopped() {
                return Err(Error::stopped());
            }
            if wave.blocks.is_empty() && !feed.has_more() {
                return Ok(());
            }
            let mut watch = Watch::start();
            self.expect_values(&wave);
            watch.lap(rounds);
            self.resolve(&mut wave);
            self.team.free.take_resolved(&mut wave);
            self.model.types.stop_expecting();
            feed.enqueue(self.files.take_queue());
            self.relieve();
        }
    }

    /// Replays the wave's events before byte `limit`.
    fn replay_to(&mut self, wave: &Wave, limit: u64) {
        self.round(wave, limit, None, Rations::none());
    }

    /// Replays the wave's events before byte `limit`, and decodes so much.
    fn round(&mut self, wave: &Wave, limit: u64, feed: Option<&Feed<'_>>, rations: Rations) {
        let number = self.between.end(self.job.workers);
        let takes_turns = self.job.workers.take_turns();
        let share = takes_turns.then(|| rations.left().div_ceil(self.team.desks.len()));
        let shards = if wave.blocks.is_empty() { 0 } else { self.lanes.shards().len() };
        let round = Round {
            model: &self.model,
            lanes: &self.lanes,
            maps: &self.team.maps,
            shared: &self.team.shared,
            wave,
            from: self.read.replayed_to,
            limit,
            feed,
            tables: &self.definitions,
            desks: &self.team.desks,
            free: &self.team.free,
            progress: self.job.progress,
            // Parts of a wave that are replayed by themselves are not told.
            follower: self.follower.as_ref().filter(|_| feed.is_some()),
            ahead: 2 * rations.left().div_ceil(Rations::PER_BLOCK),
            share: share.unwrap_or(usize::MAX),
            rations,
            brings_near: self.job.options.keep_tasks && takes_turns,
            number,
            tasks: Tasks::new(shards),
            merges: OnceLock::new(),
            suspects: OnceLock::new(),
        };
        if let Some(suspects) = round.run(self.job.workers) {
            suspects.tell(&mut self.lanes);
        }
        // Laps of the round are in its tasks.
        drop(self.job.workers.take_laps());
        self.between.since = self.between.log.begin();
    }
}
