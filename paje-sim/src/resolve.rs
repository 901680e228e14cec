//! Symbols to things, in file order.
//!
//! One light pass over what a block's decoder noted: structural events, and first uses of lanes,
//! values and link ends. Everything else in the block needs no look: the maps only grow.

mod mend;

use memchr::memchr_iter;
use paje_parser::number::parse_time;
use paje_parser::{DefTable, Event, Field, FieldName, RawEvent};

use crate::decode::Decoder;
use crate::decode::block::DecodedBlock;
use crate::decode::context::{split_end_context, split_lane_context};
use crate::decode::decoded::{Noted, Structure};
use crate::decode::symbols::Symbol;
use crate::decode::values::value_type;
use crate::input::files::Files;
use crate::memory::LineNumber;
use crate::model::{AwaitedValue, Effects, Failed, Model};
use crate::names::error::{Place, WarningKind};
use crate::names::ids::{ContainerId, TypeId, ValueId};
use crate::names::ledger::LineOf;
use crate::names::options::Keeps;
use crate::names::progress::Progress;
use crate::problems::found::{Stop, Where, column_of, place};
use crate::problems::tally::Told;
use crate::problems::warnings::Warnings;
use crate::replay::lanes::Lanes;
use crate::replay::maps::{Maps, Pending};

/// Resolves what a block's decoder noted.
///
/// # Errors
/// The first problem in file order; nothing after it has been applied.
pub(crate) fn resolve(
    block: &DecodedBlock,
    decoder: &Decoder,
    defs: &DefTable,
    state: &mut Resolver<'_>,
) -> Result<(), Stop> {
    state.expect_values(block, decoder);
    for (line, noted) in &block.decoded.noted {
        let failed = |failed| Stop::at_field(*line, failed);
        match noted {
            Noted::Structural(number) => {
                let structure = block.decoded.structures[*number as usize];
                let applied = state.structural(block, decoder, *line, structure, defs);
                let whose = match (applied, &mut state.told) {
                    (Ok(whose), None) => whose,
                    (Err(stop), None) => return Err(stop),
                    (applied, Some(_)) => {
                        let (whose, stop) = match applied {
                            Ok(whose) => (whose, None),
                            Err(stop) => (LineOf::Nobody, Some(stop)),
                        };
                        state.mend_structural(block, *line, stop);
                        whose
                    }
                };
                if let Some(structural) = &mut state.structural {
                    structural.push(whose);
                }
            }
            Noted::Lane(symbol) => {
                let (container, context) = decoder.symbols.lanes.get(*symbol);
                let (type_, nature) = split_lane_context(context);
                let type_name = decoder.symbols.types.get(type_).0.text;
                let names = (container.text, type_name);
                let lane = match state.told {
                    None => state.model.lane(names.0, names.1, nature).map_err(failed)?,
                    Some(_) => match state.mended_lane(block, *line, names, nature) {
                        Ok(lane) => lane,
                        Err(failed) => {
                            let followed = state.structural.is_some();
                            state.maps.doom(decoder.shards_of(*symbol).len(), &failed, followed);
                            continue;
                        }
                    },
                };
                if lane.index() == state.lanes.len() {
                    let shards = decoder.shards_of(*symbol);
                    let container = state.model.lanes[lane.index()].container;
                    let ended_at = state.model.containers.ended_at(container);
                    state.lanes.push(lane, state.model, ended_at, shards);
                } else {
                    state.maps.again += 1;
                }
                let strands = state.lanes.strands(lane);
                if state.structural.is_some() {
                    let owner = (lane, state.model.lanes[lane.index()].container);
                    state.maps.owners.extend(strands.iter().map(|_| owner));
                }
                state.maps.strands.extend(strands.iter().map(|place| place.local));
            }
            Noted::Value(symbol, hash) => {
                let (name, context) = decoder.symbols.values.get(*symbol);
                let type_ = value_type(context);
                match (state.type_of(decoder, type_), &state.told) {
                    (Ok(type_), _) => {
                        let value = state.model.value(type_, name, *hash);
                        state.maps.set_value(*symbol, value);
                    }
                    (Err(problem), None) => return Err(failed(problem)),
                    (Err(_), Some(_)) => {
                        let type_name = decoder.symbols.types.get(type_).0.text;
                        let value = AwaitedValue::new(name, *hash);
                        state.model.await_value(type_name, value.clone());
                        let (symbol, type_name) = (*symbol, type_name.to_vec());
                        state.maps.pending.push(Pending { symbol, type_name, value });
                        state.maps.set_value(symbol, ValueId(0));
                    }
                }
            }
            Noted::LinkEnd(symbol) => {
                let (name, context) = decoder.symbols.link_ends.get(*symbol);
                let (type_, end) = split_end_context(context);
                let type_name = decoder.symbols.types.get(type_).0.text;
                let container = match state.told {
                    None => state.model.link_end(type_name, name.text, end).map_err(failed)?,
                    Some(_) => {
                        state.mended_end(block, *line, (type_name, name.text), (*symbol, end))
                    }
                };
                state.maps.link_ends.push(container);
            }
        }
    }
    Ok(())
}

/// What resolving changes.
pub(crate) struct Resolver<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) lanes: &'a mut Lanes,
    pub(crate) maps: &'a mut Maps,
    pub(crate) effects: &'a mut Effects,
    pub(crate) clock: Clock<'a>,
    pub(crate) keeps: Keeps,
    pub(crate) warnings: &'a mut Warnings,
    pub(crate) files: &'a mut Files,
    pub(crate) progress: &'a Progress,
    /// Destructions whose lanes end when everything has been read.
    pub(crate) deferred: &'a mut Vec<Deferred>,
    pub(crate) counter: Counter,
    /// If that is asked for: what the block's structural lines are about.
    pub(crate) structural: Option<Vec<LineOf>>,
    /// If the replay goes on after problems, those so far.
    pub(crate) told: Option<&'a mut Told>,
}

/// The times of structural events.
pub(crate) struct Clock<'a> {
    /// The latest.
    pub(crate) last: f64,
    /// Events that are later do not count.
    pub(crate) stop_at: f64,
    /// All of them, if they are kept.
    pub(crate) kept: Option<&'a mut Vec<f64>>,
}

/// Where the line of a destruction is that is not looked into before the end.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// The byte where the line begins.
    pub(crate) at: u64,
    /// The place of the container's name.
    pub(crate) place: Place,
    /// The column of the time, in bytes from 1.
    pub(crate) time_column: u64,
}

/// Counts the lines of a block as far as somebody asks for them, in file order.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    at: usize,
    lines: u64,
}

impl Counter {
    /// The number in its file of the line that begins at `line`.
    fn number(&mut self, block: &DecodedBlock, line: u32) -> u64 {
        let between = &block.text.text()[self.at..line as usize];
        self.lines += memchr_iter(b'\n', between).count() as u64;
        self.at = line as usize;
        block.lines_before + 1 + self.lines
    }
}

impl Resolver<'_> {
    /// Fetches what resolving the block's values will look at.
    fn expect_values(&self, block: &DecodedBlock, decoder: &Decoder) {
        let types = &self.model.types;
        let decoded = &block.decoded;
        let value = |(_, noted): &(u32, Noted)| match noted {
            Noted::Value(symbol, hash) => {
                let type_ = value_type(decoder.symbols.values.get(*symbol).1) as usize;
                Some((self.maps.types.get(type_).copied().flatten()?, *hash))
            }
            Noted::Structural(number) => {
                let value = decoded.structures[*number as usize].value?;
                Some((self.maps.types.get(value.type_ as usize).copied().flatten()?, value.hash))
            }
            _ => None,
        };
        types.expect_values(decoded.noted.iter().filter_map(value));
    }

    /// The type that a decoder's symbol stands for.
    fn type_of(&mut self, decoder: &Decoder, symbol: Symbol) -> Result<TypeId, Failed> {
        if let Some(Some(known)) = self.maps.types.get(symbol as usize) {
            return Ok(*known);
        }
        let type_ = self.model.type_(decoder.symbols.types.get(symbol).0.text, FieldName::Type)?;
        let types = &mut self.maps.types;
        types.resize(types.len().max(symbol as usize + 1), None);
        types[symbol as usize] = Some(type_);
        Ok(type_)
    }

    /// Applies a structural line; returns what it is about.
    fn structural(
        &mut self,
        block: &DecodedBlock,
        decoder: &Decoder,
        line: u32,
        structure: Structure,
        defs: &DefTable,
    ) -> Result<LineOf, Stop> {
        let Structure { def, words: (first, count), .. } = structure;
        let words = &block.decoded.words[first as usize..(first + count) as usize];
        let text = &block.text;
        if let Some(value) = structure.value {
            let name = |word: u32| words[word as usize].of(text.text()).into();
            let type_ = self.type_of(decoder, value.type_);
            let defined = type_.and_then(|type_| {
                let alias = value.alias.map(name);
                let before = self.model.types.value_count(type_);
                self.model.define_value(type_, name(value.name), alias, value.color)?;
                Ok(self.value_since(type_, before))
            });
            let time = defs.defs()[def as usize].word_of(FieldName::Time);
            if let Some(word) = time.and_then(|word| words.get(word)) {
                self.note_time(parse_time(word.of(text.text()).bare()));
            }
            return defined.map_err(|failed| Stop::at_field(line, failed));
        }
        let stop = |fault: paje_parser::Fault| Stop::at_fault(text, line, &fault);
        let raw = RawEvent::new(&defs.defs()[def as usize], text.text(), words).map_err(stop)?;
        let event = raw.decode().map_err(stop)?;
        let other = || raw.field(FieldName::Time).and_then(|time| parse_time(time.bare()));
        self.note_time(event.time().or_else(other));
        if event.time().is_some_and(|time| time > self.clock.stop_at) {
            if let Event::CreateContainer { name, alias, file, .. } = event {
                self.model.leave_out(alias.unwrap_or(name).bare());
                self.name_file(block, line, file)?;
            }
            return Ok(LineOf::Nobody);
        }
        self.effects.ignored = false;
        self.effects.repeated = None;
        let containers = self.model.containers.len();
        let known = self.known(&event);
        let endings = self.effects.endings.len();
        let at = text.start().0 + u64::from(line);
        let applied: Result<(), Failed> = self.model.apply(&event, at, self.effects);
        if let Err(failed) = applied {
            let stop = Stop::at_field(line, failed);
            // The file is part of the trace all the same.
            if let (Event::CreateContainer { file, .. }, true) = (event, self.told.is_some()) {
                self.mend_structural(block, line, Some(stop));
                self.name_file(block, line, file)?;
                return Ok(LineOf::Nobody);
            }
            return Err(stop);
        }
        if let Some(container) = self.effects.repeated {
            let start = block.origin.start;
            self.effects.ignored = !self.lanes.cuts.repeat(self.model, container, start, at);
            if !self.effects.ignored {
                self.model.end_newborn(container, at, self.effects);
                if self.effects.endings.len() > endings {
                    self.lanes.cuts.join(at, self.model.containers.ended_at(container));
                }
            }
        }
        self.lanes.end(&self.effects.endings[endings..], self.model);
        if self.effects.endings.len() > endings && self.lanes.cuts.named_from.is_some() {
            let number = self.counter.number(block, line);
            let time_column = column_of(block, line, FieldName::Time);
            let place = place(block, line, Where::Field(FieldName::Name), number);
            self.deferred.push(Deferred { at, place, time_column });
        }
        if self.keeps.anything() && self.model.containers.len() > containers {
            let line = if self.keeps.lines { block.line_of(line) } else { LineNumber::default() };
            let mut kept = Vec::new();
            for (_, field) in raw.extras() {
                kept.extend_from_slice(field.map_or(&[], |field| field.raw()));
                kept.push(b'\n');
            }
            if self.keeps.fields && !kept.is_empty() {
                self.model.containers.keep_extras(Some((def, &kept)), line);
            } else if self.keeps.lines {
                self.model.containers.keep_extras(None, line);
            }
        }
        if self.effects.ignored {
            self.warnings.add_line(block, WarningKind::AfterDestroy, line);
        }
        match event {
            Event::CreateContainer { file, .. } => self.name_file(block, line, file)?,
            Event::TraceFile { container, type_, file } => {
                if self.files.are_wanted()
                    && let Err(failed) = self.model.check_named(container.bare(), type_.bare())
                {
                    let stop = Stop::at_field(line, failed);
                    match self.told {
                        None => return Err(stop),
                        Some(_) => self.mend_structural(block, line, Some(stop)),
                    }
                }
                self.name_file(block, line, Some(file))?;
            }
            _ => {}
        }
        Ok(self.line_of(&event, known))
    }

    /// Sees to it that a file will be read that the line names, if it does.
    fn name_file(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        file: Option<Field<'_>>,
    ) -> Result<(), Stop> {
        let Some(file) = file.filter(|file| !file.bare().is_empty()) else { return Ok(()) };
        if !self.files.are_wanted() {
            self.warnings.add_line(block, WarningKind::FileNotRead, line);
            return Ok(());
        }
        let what = Where::Field(FieldName::Filename);
        let counter = &mut self.counter;
        let named_at = || place(block, line, what, counter.number(block, line));
        let named = self.files.name(block.origin.file, file.bare(), self.progress, named_at);
        if self.files.any() {
            let at = block.text.start().0 + u64::from(line);
            self.lanes.cuts.named_from.get_or_insert(at);
        }
        named.map_err(|why| Stop { line, what, why })
    }

    /// A time of a line counts for the end of the trace, whatever the line says: PajeNG 1.3.6 behaviour.
    fn note_time(&mut self, time: Option<f64>) {
        let Some(time) = time.filter(|time| *time <= self.clock.stop_at) else { return };
        self.clock.last = self.clock.last.max(time);
        if let Some(times) = &mut self.clock.kept {
            // As the times of lanes: no minus zero.
            times.push(time + 0.0);
        }
    }

    /// What has just been defined, if the type had so many values before: nothing if it was there.
    fn value_since(&self, type_: TypeId, before: usize) -> LineOf {
        match self.model.types.value_count(type_) > before {
            true => LineOf::Value(type_, ValueId(before as u32)),
            false => LineOf::Nobody,
        }
    }

    /// How many there are of what an event may define.
    fn known(&self, event: &Event<'_>) -> usize {
        let types = &self.model.types;
        match event {
            Event::CreateContainer { .. } => self.model.containers.len(),
            Event::DefineType { .. } | Event::DefineLinkType { .. } => types.len(),
            Event::DefineValue { type_, .. } => {
                types.find(type_.bare()).map_or(0, |type_| types.value_count(type_))
            }
            _ => 0,
        }
    }

    /// What an event is about that has just been applied, if so many were known before.
    fn line_of(&self, event: &Event<'_>, before: usize) -> LineOf {
        let Model { types, containers, .. } = &*self.model;
        match event {
            Event::DefineValue { type_, .. } => {
                let type_ = types.find(type_.bare());
                type_.map_or(LineOf::Nobody, |type_| self.value_since(type_, before))
            }
            Event::CreateContainer { .. } if containers.len() > before => {
                LineOf::Creation(ContainerId(before as u32))
            }
            Event::DestroyContainer { name, .. } => {
                containers.find(name.bare()).map_or(LineOf::Nobody, LineOf::Destruction)
            }
            Event::DefineType { .. } | Event::DefineLinkType { .. } if types.len() > before => {
                LineOf::Type
            }
            Event::TraceFile { .. } => LineOf::File,
            _ => LineOf::Nobody,
        }
    }
}
