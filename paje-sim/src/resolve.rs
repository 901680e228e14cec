//! Symbols to things, in file order.
//!
//! One light pass over what a block's decoder noted: structural events, and first uses of lanes,
//! values and link ends. Everything else in the block needs no look: the maps only grow.

pub(crate) mod expected;
mod lifetime;
mod mend;
mod structural;
mod usage;

use memchr::memchr_iter;
use paje_parser::{DefTable, FieldName};

use crate::decode::Decoder;
use crate::decode::block::DecodedBlock;
use crate::decode::context::{split_end_context, split_lane_context};
use crate::decode::decoded::{Foreseen, Noted};
use crate::decode::symbols::Symbol;
use crate::decode::values::value_type;
use crate::input::files::Files;
use crate::model::{AwaitedValue, Effects, Failed, Model, Owner};
use crate::names::error::{Error, Place};
use crate::names::hash::hash_bytes;
use crate::names::ids::{TypeId, ValueId};
use crate::names::ledger::LineOf;
use crate::names::options::Keeps;
use crate::names::progress::Progress;
use crate::names::usage::Usage;
use crate::problems::found::error_at_field;
use crate::problems::tally::ProblemTally;
use crate::problems::warnings::Warnings;
use crate::replay::lanes::Lanes;
use crate::replay::symbol_map::{Pending, SymbolMap};

/// Lines whose values are fetched together: they are still in the nearest cache when they are looked up.
const AHEAD: usize = 64;

/// Resolves what a block's decoder noted.
///
/// # Errors
/// The first problem in file order; nothing after it has been applied.
pub(crate) fn resolve(
    block: &DecodedBlock,
    decoder: &Decoder,
    defs: &DefTable,
    state: &mut Resolver<'_>,
) -> Result<(), Error> {
    state.expect_containers(block, decoder);
    let mut foreseen = block.decoded.foreseen.iter();
    for (index, (line, noted)) in block.decoded.noted.iter().enumerate() {
        if index % AHEAD == 0 {
            state.fetch_values(block, decoder, &block.decoded.noted[index..]);
        }
        let failed = |failed| error_at_field(block, *line, failed);
        match noted {
            Noted::Structural(number) => {
                let structure = block.decoded.structures[*number as usize];
                state.watch_structural(block, *line, structure, defs);
                let whose = state.structural(block, decoder, *line, structure, defs)?;
                if state.tally.is_some() {
                    state.mend_structural(block, *line);
                }
                if let Some(structural) = &mut state.structural {
                    structural.push(whose);
                }
            }
            Noted::Lane(symbol, hash) => {
                let context = decoder.symbols.lanes.context(*symbol);
                let (type_, nature) = split_lane_context(context);
                // Texts lie somewhere in memory that most lines can do without.
                let container = || decoder.symbols.lanes.get(*symbol).0;
                let type_name = || decoder.symbols.types.get(type_).0;
                state.watch_lane(container, type_name);
                let foreseen = foreseen.next().copied().unwrap_or(Foreseen::Nothing);
                let lane = match state.tally {
                    None => {
                        let owner = match foreseen {
                            Foreseen::Container(container) => Owner::Known(container),
                            _ => Owner::Named(container().text, *hash),
                        };
                        let lane = match foreseen {
                            Foreseen::Lane(lane) => Ok(lane),
                            _ => state
                                .type_of(decoder, type_)
                                .and_then(|type_| state.model.lane_of(owner, type_, nature)),
                        };
                        lane.map_err(failed)?
                    }
                    Some(_) => match state.mended_lane(
                        block,
                        *line,
                        (container().text, type_name().text),
                        nature,
                    ) {
                        Ok(lane) => lane,
                        Err(failed) => {
                            let followed = state.structural.is_some();
                            state.maps.mark_unresolved(
                                decoder.shards_of(*symbol).len(),
                                &failed,
                                followed,
                            );
                            continue;
                        }
                    },
                };
                if lane.index() == state.lanes.len() {
                    let shards = decoder.shards_of(*symbol);
                    state.lanes.push(lane, state.model, shards);
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
                let type_ = value_type(decoder.symbols.values.context(*symbol));
                let name = || decoder.symbols.values.get(*symbol, block.text.at_hand()).0;
                match (state.type_of(decoder, type_), &state.tally) {
                    (Ok(type_), _) => {
                        let known = state.model.types.value_count(type_);
                        let value = state.model.value(type_, name, *hash);
                        state.maps.new_values += usize::from(value.index() == known);
                        state.watch_value(type_, value, *symbol, name);
                        state.maps.set_value(*symbol, value);
                    }
                    (Err(problem), None) => return Err(failed(problem)),
                    (Err(_), Some(_)) => {
                        let type_name = decoder.symbols.types.get(type_).0.text;
                        let value = AwaitedValue::new(name(), *hash);
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
                state.watch_container(name);
                let type_name = decoder.symbols.types.get(type_).0.text;
                let container = match state.tally {
                    None => state.model.link_end(type_name, name.text, end).map_err(failed)?,
                    Some(_) => {
                        state.mended_end(block, *line, (type_name, name.text), (*symbol, end))
                    }
                };
                state.maps.link_ends.push(container);
            }
        }
    }
    state.watch_events(block);
    Ok(())
}

/// The state that resolving changes.
pub(crate) struct Resolver<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) lanes: &'a mut Lanes,
    pub(crate) maps: &'a mut SymbolMap,
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
    /// If that is kept: what the trace uses so far.
    pub(crate) usage: Option<&'a mut Usage>,
    /// If the replay goes on after problems, those so far.
    pub(crate) tally: Option<&'a mut ProblemTally>,
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
    pub(super) fn number(&mut self, block: &DecodedBlock, line: u32) -> u64 {
        let between = &block.text.text()[self.at..line as usize];
        self.lines += memchr_iter(b'\n', between).count() as u64;
        self.at = line as usize;
        block.lines_before + 1 + self.lines
    }
}

impl Resolver<'_> {
    /// Fetches what resolving the block's lanes and ends of containers will look at.
    fn expect_containers(&self, block: &DecodedBlock, decoder: &Decoder) {
        let decoded = &block.decoded;
        let mut foreseen = decoded.foreseen.iter();
        let hashes = decoded.noted.iter().filter_map(|(_, noted)| match noted {
            Noted::Lane(_, hash) => match foreseen.next() {
                None | Some(Foreseen::Nothing) => Some(*hash),
                Some(_) => None,
            },
            Noted::LinkEnd(symbol) => {
                Some(hash_bytes(decoder.symbols.link_ends.get(*symbol).0.text))
            }
            Noted::Structural(number) => {
                let structure = decoded.structures[*number as usize];
                decoded.lifetime_of(structure).map(|lifetime| lifetime.hash)
            }
            Noted::Value(..) => None,
        });
        let known = decoded.foreseen.iter().filter_map(|foreseen| match foreseen {
            Foreseen::Container(container) => Some(*container),
            _ => None,
        });
        self.model.expect(hashes, known);
    }

    /// Fetches what resolving will look at for the values of the first of these notes, unless workers have looked it up.
    fn fetch_values(&mut self, block: &DecodedBlock, decoder: &Decoder, noted: &[(u32, Noted)]) {
        if !self.model.types.looks_values_up() {
            return;
        }
        let decoded = &block.decoded;
        for (_, noted) in noted.iter().take(AHEAD) {
            let (type_, hash) = match *noted {
                Noted::Value(symbol, hash) => {
                    (value_type(decoder.symbols.values.context(symbol)), hash)
                }
                Noted::Structural(number) => {
                    match decoded.value_of(decoded.structures[number as usize]) {
                        Some(value) => (value.type_, value.hash),
                        None => continue,
                    }
                }
                _ => continue,
            };
            if let Some(Some(type_)) = self.maps.types.get(type_ as usize) {
                self.model.types.look_for_value(*type_, hash);
            }
        }
        self.model.types.look();
    }

    /// The type that a decoder's symbol stands for.
    pub(super) fn type_of(&mut self, decoder: &Decoder, symbol: Symbol) -> Result<TypeId, Failed> {
        if let Some(Some(known)) = self.maps.types.get(symbol as usize) {
            return Ok(*known);
        }
        let type_ = self.model.type_(decoder.symbols.types.get(symbol).0.text, FieldName::Type)?;
        let types = &mut self.maps.types;
        types.resize(types.len().max(symbol as usize + 1), None);
        types[symbol as usize] = Some(type_);
        Ok(type_)
    }
}
