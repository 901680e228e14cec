//! Symbols to things, in file order.
//!
//! One light pass over what a block's decoder noted: structural events, and first uses of lanes,
//! values and link ends. Everything else in the block needs no look: the maps only grow.

use paje_parser::{DefTable, Event, FieldName, RawEvent};
use splitter::Block;

use super::decode::{Decoder, Noted, Structure, split_end_context, split_lane_context, value_type};
use super::lanes::Lanes;
use super::problems::Warnings;
use super::symbols::Symbol;
use super::window::DecodedBlock;
use crate::error::{Problem, WarningKind};
use crate::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::ledger::LineOf;
use crate::model::{Effects, Failed, Model};

/// What the symbols of a decoder stand for.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    /// The number, in its shard, of each strand.
    pub(crate) strands: Vec<u32>,
    /// The lane of each strand, and its container.
    pub(crate) owners: Vec<(LaneId, ContainerId)>,
    /// Types that values have been looked up in.
    types: Vec<Option<TypeId>>,
    pub(crate) values: Vec<ValueId>,
    pub(crate) link_ends: Vec<ContainerId>,
}

/// A problem in a block, and where in its text.
#[derive(Debug)]
pub(crate) struct Stop {
    /// Where the line begins.
    pub(crate) line: u32,
    /// What in the line is wrong.
    pub(crate) what: Where,
    pub(crate) problem: Problem,
}

/// Which part of a line a problem is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// The byte at this place of the block.
    Byte(u32),
    /// A field of the event.
    Field(FieldName),
}

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
        let failed = |(field, problem)| Stop { line: *line, what: Where::Field(field), problem };
        match noted {
            Noted::Structural(number) => {
                let structure = block.decoded.structures[*number as usize];
                let whose = state.structural(block, decoder, *line, structure, defs)?;
                if let Some(structural) = &mut state.structural {
                    structural.push(whose);
                }
            }
            Noted::Lane(symbol) => {
                let (container, context) = decoder.lanes.get(*symbol);
                let (type_, nature) = split_lane_context(context);
                let type_name = decoder.types.get(type_).0.text;
                let lane = state.model.lane(container.text, type_name, nature).map_err(failed)?;
                if lane.index() == state.lanes.len() {
                    let shards = decoder.shards_of(*symbol);
                    let new = state.model.lanes[lane.index()];
                    let ended_at = state.model.containers.ended_at(new.container);
                    state.lanes.push(lane, &new, ended_at, shards);
                }
                let strands = state.lanes.strands(lane);
                let owner = (lane, state.model.lanes[lane.index()].container);
                state.maps.owners.extend(strands.iter().map(|_| owner));
                state.maps.strands.extend(strands.iter().map(|place| place.local));
            }
            Noted::Value(symbol, hash) => {
                let (name, context) = decoder.values.get(*symbol);
                let type_ = value_type(context);
                let type_ = state.type_of(decoder, type_).map_err(failed)?;
                let value = state.model.value(type_, name, *hash);
                state.maps.values.push(value);
            }
            Noted::LinkEnd(symbol) => {
                let (name, context) = decoder.link_ends.get(*symbol);
                let (type_, end) = split_end_context(context);
                let type_name = decoder.types.get(type_).0.text;
                let container = state.model.link_end(type_name, name.text, end).map_err(failed)?;
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
    /// The latest time of a structural event.
    pub(crate) last_time: f64,
    pub(crate) stop_at: f64,
    pub(crate) user_defined: bool,
    pub(crate) warnings: &'a mut Warnings,
    /// If that is asked for: what the block's structural lines are about.
    pub(crate) structural: Option<Vec<LineOf>>,
}

impl Resolver<'_> {
    /// Fetches what resolving the block's values will look at.
    fn expect_values(&self, block: &DecodedBlock, decoder: &Decoder) {
        let types = &self.model.types;
        let decoded = &block.decoded;
        let value = |(_, noted): &(u32, Noted)| match noted {
            Noted::Value(symbol, hash) => {
                let type_ = value_type(decoder.values.get(*symbol).1) as usize;
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
        let type_ = self.model.type_(decoder.types.get(symbol).0.text, FieldName::Type)?;
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
                self.model.define_value(type_, name(value.name), alias, value.color)?;
                Ok(self.last_value(type_))
            });
            let what = |(field, problem)| Stop { line, what: Where::Field(field), problem };
            return defined.map_err(what);
        }
        let stop = |fault: paje_parser::Fault| Stop {
            line,
            what: Where::Byte(fault.at),
            problem: line_problem(text, &fault),
        };
        let raw = RawEvent::new(&defs.defs()[def as usize], text.text(), words).map_err(stop)?;
        let event = raw.decode().map_err(stop)?;
        if let Some(time) = event.time() {
            if time > self.stop_at {
                return Ok(LineOf::Nobody);
            }
            self.last_time = self.last_time.max(time);
        }
        self.effects.ignored = false;
        self.effects.names_file = false;
        let containers = self.model.containers.len();
        let endings = self.effects.endings.len();
        let at = text.start().0 + u64::from(line);
        let applied: Result<(), Failed> = self.model.apply(&event, at, self.effects);
        applied.map_err(|(field, problem)| Stop { line, what: Where::Field(field), problem })?;
        self.lanes.end(&self.effects.endings[endings..], self.model);
        let has_extras = raw.def().extras().next().is_some();
        if self.user_defined && has_extras && self.model.containers.len() > containers {
            let mut kept = Vec::new();
            for (_, field) in raw.extras() {
                kept.extend_from_slice(field.map_or(&[], |field| field.raw()));
                kept.push(b'\n');
            }
            self.model.containers.keep_extras(def, &kept);
        }
        if self.effects.ignored {
            self.warnings.add_line(block, WarningKind::AfterDestroy, line);
        }
        if self.effects.names_file {
            self.warnings.add_line(block, WarningKind::FileNotRead, line);
        }
        Ok(self.line_of(&event))
    }

    /// The value that has just been defined.
    fn last_value(&self, type_: TypeId) -> LineOf {
        LineOf::Value(type_, ValueId(self.model.types.value_count(type_) as u32 - 1))
    }

    /// What a structural event that has just been applied is about.
    fn line_of(&self, event: &Event<'_>) -> LineOf {
        let containers = &self.model.containers;
        match event {
            Event::DefineValue { type_, .. } => {
                let type_ = self.model.types.find(type_.bare());
                type_.map_or(LineOf::Nobody, |type_| self.last_value(type_))
            }
            Event::CreateContainer { .. } => {
                LineOf::Creation(ContainerId(containers.len() as u32 - 1))
            }
            Event::DestroyContainer { name, .. } => {
                containers.find(name.bare()).map_or(LineOf::Nobody, LineOf::Destruction)
            }
            Event::TraceFile { .. } => LineOf::File,
            _ => LineOf::Type,
        }
    }
}

/// A fault of the parser with the word that it is about.
pub(crate) fn line_problem(block: &Block, fault: &paje_parser::Fault) -> Problem {
    let text = block.text();
    let word = fault.word(text).of(text).bare().to_vec();
    Problem::Line { fault: fault.kind, word }
}
