//! From blocks of lines to a replayed trace.
//!
//! ```text
//! block ──decode──▶ events by lane, first uses ──resolve──▶ numbers ──replay──▶ columns
//! ```
//!
//! Only three things in a trace depend on the order of the whole file: definitions of events, of
//! types, values and containers, and the ends of containers. They are rare. Everything else belongs
//! to one lane (a container and a type), and lanes do not influence one another. So a block is
//! decoded by itself, what it names is resolved in file order, and each lane replays its slice.
//! Problems carry byte positions only; the first in file order wins, and its line is counted then.

pub(crate) mod decode;
pub(crate) mod lanes;
pub(crate) mod resolve;
pub(crate) mod symbols;

use std::collections::BTreeMap;
use std::io::Read;

use paje_parser::{ByteOffset, DefTable, FaultKind, FieldName, Position, Span, token};
use splitter::{Block, Blocks, ReadError};

use crate::error::{Error, Place, Problem, Warning, WarningKind};
use crate::ids::LaneId;
use crate::model::{Effects, Ending, Model};
use crate::options::Options;
use crate::trace::Trace;
use decode::{Decoded, Decoder};
use lanes::{Lanes, RefusedEvent, Slice, explain};
use resolve::{Maps, Resolver, Stop, Where, line_problem, resolve};

/// Replays the trace that `input` gives.
pub(crate) fn replay(input: impl Read, options: &Options) -> Result<Trace, Error> {
    let mut engine = Engine::new(options);
    let mut blocks = Blocks::new(input, options.limits);
    let mut block = Block::default();
    loop {
        match blocks.read(&mut block) {
            Ok(true) => engine.block(&block)?,
            Ok(false) => return engine.finish(blocks.position()),
            Err(ReadError::Io(error)) => return Err(error.into()),
            Err(ReadError::LineTooLong { start, limit }) => {
                let place = Place {
                    position: Position { byte: start, line: engine.lines + 1, column: 1 },
                    text: Vec::new(),
                };
                let bytes = limit as u64;
                return Err(Error::invalid(Problem::LineTooLong { bytes }, Some(place)));
            }
            Err(error) => return Err(std::io::Error::other(error).into()),
        }
    }
}

/// A problem, and the byte where its line begins.
struct Found {
    at: u64,
    error: Error,
}

fn earliest(one: Option<Found>, other: Option<Found>) -> Option<Found> {
    one.into_iter().chain(other).min_by_key(|found| found.at)
}

struct Engine<'o> {
    options: &'o Options,
    defs: DefTable,
    model: Model,
    decoder: Decoder,
    decoded: Decoded,
    maps: Maps,
    lanes: Lanes,
    effects: Effects,
    ignored: Vec<u32>,
    warnings: BTreeMap<(WarningKind, Vec<u8>), Warning>,
    /// Lines before the block at hand.
    lines: u64,
    last_time: f64,
    events: u64,
}

impl<'o> Engine<'o> {
    fn new(options: &'o Options) -> Self {
        Engine {
            options,
            defs: DefTable::new(options.field_names),
            model: Model::new(options.value_names),
            decoder: Decoder::new(options),
            decoded: Decoded::default(),
            maps: Maps::default(),
            lanes: Lanes::new(options),
            effects: Effects::default(),
            ignored: Vec::new(),
            warnings: BTreeMap::new(),
            lines: 0,
            last_time: f64::NEG_INFINITY,
            events: 0,
        }
    }

    fn block(&mut self, block: &Block) -> Result<(), Error> {
        self.decoder.decode(block, &mut self.defs, &mut self.decoded);
        self.last_time = self.last_time.max(self.decoded.last_time);
        self.events += self.decoded.event_count;
        let mut first = self.decoded.fault.map(|(line, fault)| Stop {
            line,
            what: Where::Byte(fault.at),
            problem: line_problem(block, &fault),
        });
        if let Err(stop) = self.resolve(block) {
            first = Some(stop);
        }
        let limit = first.as_ref().map_or(u32::MAX, |stop| stop.line);
        let mut found = first.map(|stop| self.found(block, stop));
        found = earliest(found, self.replay(block, limit));
        if found.is_some() {
            found = earliest(found, self.first_reused(self.model.lane_ids()));
        }
        if let Some(found) = found {
            return Err(found.error);
        }
        self.warn(block);
        self.lines += memchr::memchr_iter(b'\n', block.text()).count() as u64;
        Ok(())
    }

    fn resolve(&mut self, block: &Block) -> Result<(), Stop> {
        let mut resolver = Resolver {
            model: &mut self.model,
            maps: &mut self.maps,
            effects: &mut self.effects,
            last_time: self.last_time,
            stop_at: self.options.stop_at.unwrap_or(f64::INFINITY),
            user_defined: self.options.user_defined,
            words: Vec::new(),
            ignored: Vec::new(),
            naming_files: Vec::new(),
        };
        let result = resolve(block, &self.decoded, &self.decoder, &self.defs, &mut resolver);
        self.last_time = resolver.last_time;
        let Resolver { ignored, naming_files, .. } = resolver;
        self.ignored.extend(ignored);
        self.warn_each(block, WarningKind::FileNotRead, &naming_files);
        self.lanes.extend(&self.model, self.options);
        result
    }

    /// Replays every lane's slice of the block, and ends the containers that ended in it. Returns the
    /// first problem, if one comes before `limit`.
    fn replay(&mut self, block: &Block, mut limit: u32) -> Option<Found> {
        let mut first: Option<(RefusedEvent, LaneId)> = None;
        let mut start = 0;
        let mut slice =
            Slice { block, decoded: &self.decoded, maps: &self.maps, ended_at: u64::MAX, limit };
        for (symbol, count) in &self.decoded.lanes {
            let events = &self.decoded.events[start..start + *count as usize];
            start += *count as usize;
            // A lane whose first use could not be resolved begins at or after the limit.
            let Some(lane) = self.maps.lanes.get(*symbol as usize).copied() else {
                continue;
            };
            slice.ended_at =
                self.model.containers.ended_at(self.model.lanes[lane.index()].container);
            slice.limit = limit;
            let Lanes { store, replays } = &mut self.lanes;
            let replayed = replays[lane.index()].replay(events, &slice, store, &mut self.ignored);
            if let Err(refused) = replayed {
                limit = refused.event.at;
                first = Some((refused, lane));
            }
        }
        let stop = first.map(|(refused, lane)| {
            let lane = self.model.lanes[lane.index()];
            let (field, problem) =
                explain(&refused, &self.model, lane.container, lane.type_, &slice);
            Stop { line: limit, what: Where::Field(field), problem }
        });
        let mut found = stop.map(|stop| self.found(block, stop));
        self.place_suspects(block);
        for ending in std::mem::take(&mut self.effects.endings) {
            let line = (ending.at - block.start().0) as u32;
            if line >= limit {
                break;
            }
            found = earliest(found, self.first_reused(self.model.lanes_of(ending.container)));
            let ended = self.lanes.end_container(&self.model, self.options, &ending);
            if let Err((field, problem)) = ended {
                let stop = Stop { line, what: Where::Field(field), problem };
                found = earliest(found, Some(self.found(block, stop)));
                break;
            }
        }
        found
    }

    /// Finds the places of the block's links whose keys may have been used before, while the block is
    /// at hand.
    fn place_suspects(&mut self, block: &Block) {
        let mut suspects: Vec<(u32, LaneId, usize)> = Vec::new();
        for (symbol, _) in &self.decoded.lanes {
            if let Some(lane) = self.maps.lanes.get(*symbol as usize) {
                let new = self.lanes.new_suspects(*lane);
                suspects.extend(new.map(|(i, at)| ((at - block.start().0) as u32, *lane, i)));
            }
        }
        suspects.sort_unstable_by_key(|(line, ..)| *line);
        let (mut counted, mut lines) = (0, self.lines + 1);
        for (line, lane, i) in suspects {
            lines +=
                memchr::memchr_iter(b'\n', &block.text()[counted..line as usize]).count() as u64;
            counted = line as usize;
            let place = self.place(block, line, Where::Field(FieldName::Key), lines);
            self.lanes.place_suspect(lane, i, place);
        }
    }

    /// The first link, of these lanes, whose key was used before.
    fn first_reused(&self, lanes: impl Iterator<Item = LaneId>) -> Option<Found> {
        let reused = lanes.filter_map(|lane| self.lanes.reused(lane));
        reused.min_by_key(|(suspect, _)| suspect.at).map(|(suspect, key)| Found {
            at: suspect.at,
            error: Error::invalid(Problem::KeyReused { key }, suspect.place.clone()),
        })
    }

    fn finish(mut self, end: ByteOffset) -> Result<Trace, Error> {
        if end.0 == 0 {
            return Err(Error::invalid(Problem::EmptyTrace, None));
        }
        if let Some(found) = self.first_reused(self.model.lane_ids()) {
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
            let ending = Ending { container, time, at: end.0, named: false };
            let ended = self.lanes.end_container(&self.model, self.options, &ending);
            ended.map_err(|(_, problem)| Error::invalid(problem, None))?;
        }
        let warnings = self.warnings.into_values().collect();
        Ok(Trace::new(self.model, self.lanes, self.defs, warnings, time, self.events))
    }

    /// Takes note of the block's doubtful lines.
    fn warn(&mut self, block: &Block) {
        let doubtful = std::mem::take(&mut self.decoded.doubtful);
        for line in &doubtful {
            let kind =
                if line.surplus { WarningKind::SurplusWords } else { WarningKind::MissingExtras };
            let event = self.defs.defs()[line.def as usize].id().to_vec();
            self.warn_line(block, kind, event, line.at);
        }
        self.decoded.doubtful = doubtful;
        let mut ignored = std::mem::take(&mut self.ignored);
        ignored.sort_unstable();
        self.warn_each(block, WarningKind::AfterDestroy, &ignored);
    }

    fn warn_each(&mut self, block: &Block, kind: WarningKind, lines: &[u32]) {
        for line in lines {
            let words = words_of(block, *line);
            let event = words.first().map_or(&[][..], |word| word.of(block.text()).bare()).to_vec();
            self.warn_line(block, kind, event, *line);
        }
    }

    fn warn_line(&mut self, block: &Block, kind: WarningKind, event: Vec<u8>, line: u32) {
        let known = self.warnings.entry((kind, event)).or_insert_with_key(|(kind, event)| {
            let position =
                Position::within(block.text(), line as usize, block.start(), self.lines + 1);
            Warning { kind: *kind, event: event.clone(), first_line: position.line, count: 0 }
        });
        known.count += 1;
    }

    fn found(&self, block: &Block, stop: Stop) -> Found {
        let before = &block.text()[..stop.line as usize];
        let lines = self.lines + 1 + memchr::memchr_iter(b'\n', before).count() as u64;
        let place = self.place(block, stop.line, stop.what, lines);
        let at = block.start().0 + u64::from(stop.line);
        Found { at, error: Error::invalid(stop.problem, Some(place)) }
    }

    /// The place of something in the line that begins at `line` and is the trace's `number`th.
    fn place(&self, block: &Block, line: u32, what: Where, number: u64) -> Place {
        let at = match what {
            Where::Byte(at) => at,
            Where::Field(field) => {
                self.field_of_line(block, line, field).map_or(line, |span| span.start)
            }
        };
        let text = &block.text()[line as usize..];
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let position = Position {
            byte: ByteOffset(block.start().0 + u64::from(at)),
            line: number,
            column: u64::from(at - line) + 1,
        };
        Place { position, text: text[..end].to_vec() }
    }

    fn field_of_line(&self, block: &Block, line: u32, field: FieldName) -> Option<Span> {
        let words = words_of(block, line);
        let def = self.defs.find(words.first()?.of(block.text()).bare())?;
        let word = self.defs.defs()[def].word_of(field)?;
        words.get(word).copied()
    }
}

fn words_of(block: &Block, line: u32) -> Vec<Span> {
    let mut words = Vec::new();
    token::fields(block.text(), line as usize, &mut words);
    words
}
