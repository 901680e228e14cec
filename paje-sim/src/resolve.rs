//! Resolves symbols in file order.
//!
//! This is a short pass over structural events and the first uses of lanes, values and link ends. Other lines need no
//! pass, because decoders remember their symbols.

mod lifetime;
mod mend;
mod structural;
mod usage;

use memchr::memchr_iter;
use paje_parser::{DefTable, FieldName};

use crate::trace::selected::Selected;
use paje_decode::decode::Decoder;
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::context::{split_end_context, split_lane_context, value_type};
use paje_decode::decode::decoded::OrderedItem;
use paje_decode::decode::symbols::Symbol;
use paje_decode::input::files::Files;
use paje_model::model::{AwaitedValue, Effects, Failed, Model};
use paje_model::names::error::{Error, Place};
use paje_model::names::ids::{LaneId, TypeId, ValueId};
use paje_model::names::ledger::LineOf;
use paje_model::names::options::Keeps;
use paje_model::names::progress::Progress;
use paje_model::names::usage::Usage;
use paje_replay::problems::found::error_at_field;
use paje_replay::problems::tally::ProblemTally;
use paje_replay::problems::warnings::Warnings;
use paje_replay::replay::lanes::Lanes;
use paje_replay::replay::symbol_map::{Pending, SymbolMap};

/// Resolves the names that a block's decoder has listed.
///
/// # Errors
/// Returns the first problem in file order. Nothing after it has been applied.
pub(crate) fn resolve(
    block: &DecodedBlock,
    decoder: &Decoder,
    defs: &DefTable,
    state: &mut Resolver<'_>,
) -> Result<(), Error> {
    state.prefetch_containers(block);
    for (line, item) in &block.decoded.ordered {
        let failed = |failed| error_at_field(block, *line, failed);
        match item {
            OrderedItem::Structural(number) => {
                let structure = block.decoded.structures[*number as usize];
                if state.usage.is_some() {
                    state.note_structural(block, *line, structure, defs);
                }
                let whose = state.structural(block, decoder, *line, structure, defs)?;
                if state.tally.is_some() {
                    state.mend_structural(block, *line);
                }
                if let Some(structural) = &mut state.structural {
                    structural.push(whose);
                }
            }
            OrderedItem::Lane(symbol, hash) => {
                let context = decoder.symbols.lanes.context(*symbol);
                let (type_, nature) = split_lane_context(context);
                // Most items do not need their text, and reading it costs a cache miss. So texts are looked up on
                // demand.
                let container = || decoder.symbols.lanes.get(*symbol).0;
                let type_name = || decoder.symbols.types.get(type_).0;
                if state.usage.is_some() {
                    state.note_container_use(container());
                    state.note_type_use(type_name());
                }
                let lane = match state.tally {
                    None => {
                        let type_ = state.type_of(decoder, type_).map_err(failed)?;
                        let lane = state.model.lane_of(container().text, *hash, type_, nature);
                        lane.map_err(failed)?
                    }
                    Some(_) => match state.mended_lane(
                        block,
                        *line,
                        container().text,
                        type_name().text,
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
                    let wanted = state.wants_rows(lane);
                    state.lanes.push(lane, state.model, shards, wanted);
                } else {
                    state.maps.lanes_known_before += 1;
                }
                let strands = state.lanes.strands(lane);
                if state.structural.is_some() {
                    let owner = (lane, state.model.lanes[lane.index()].container);
                    state.maps.owners.extend(strands.iter().map(|_| owner));
                }
                state.maps.strands.extend(strands.iter().map(|place| place.local));
            }
            OrderedItem::Value(symbol, hash) => {
                let type_ = value_type(decoder.symbols.values.context(*symbol));
                let name = decoder.symbols.value_name(*symbol, &block.text);
                match (state.type_of(decoder, type_), &state.tally) {
                    (Ok(type_), _) => {
                        let value = state.model.value(type_, name, *hash);
                        state.note_value_use(type_, value, *symbol, name);
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
            OrderedItem::LinkEnd(symbol) => {
                let (name, context) = decoder.symbols.link_ends.get(*symbol);
                let (type_, end) = split_end_context(context);
                state.note_container_use(name);
                let type_name = decoder.symbols.types.get(type_).0.text;
                let container = match state.tally {
                    None => state.model.link_end(type_name, name.text, end).map_err(failed)?,
                    Some(_) => state.mended_end(block, *line, type_name, name.text, *symbol, end),
                };
                state.maps.link_ends.push(container);
            }
        }
    }
    if state.usage.is_some() && !state.maps.other_quoting.is_empty() {
        state.count_other_quoting(block);
    }
    Ok(())
}

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
    /// Destructions of containers whose lanes only end when all files have been read.
    pub(crate) deferred: &'a mut Vec<Deferred>,
    pub(crate) counter: Counter,
    pub(crate) selected: Option<&'a mut Selected>,
    /// Subjects of the block's structural lines, for a ledger.
    pub(crate) structural: Option<Vec<LineOf>>,
    pub(crate) usage: Option<&'a mut Usage>,
    pub(crate) tally: Option<&'a mut ProblemTally>,
}

pub(crate) struct Clock<'a> {
    pub(crate) last: f64,
    pub(crate) stop_at: f64,
    pub(crate) kept: Option<&'a mut Vec<f64>>,
}

/// A destruction that is checked after the last file.
#[derive(Debug)]
pub(crate) struct Deferred {
    pub(crate) at: u64,
    pub(crate) place: Place,
    /// Column of the time field, in bytes, counted from 1.
    pub(crate) time_column: u64,
}

/// Counts the lines of a block on demand, in file order.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    at: usize,
    lines: u64,
}

impl Counter {
    /// Returns the number, within its file, of the line that begins at `line`.
    pub(super) fn number(&mut self, block: &DecodedBlock, line: u32) -> u64 {
        let between = &block.text.text()[self.at..line as usize];
        self.lines += memchr_iter(b'\n', between).count() as u64;
        self.at = line as usize;
        block.lines_before + 1 + self.lines
    }
}

impl Resolver<'_> {
    fn wants_rows(&mut self, lane: LaneId) -> bool {
        let Some(selected) = &mut self.selected else { return true };
        let Model { types, containers, lanes, .. } = &*self.model;
        selected.extend_by(types, containers);
        let lane = &lanes[lane.index()];
        selected.wants_rows(lane.container, lane.type_)
    }

    /// Prefetches the memory that is read when the block's new lanes and container ends are
    /// resolved.
    fn prefetch_containers(&self, block: &DecodedBlock) {
        let decoded = &block.decoded;
        let hashes = decoded.ordered.iter().filter_map(|(_, item)| match item {
            OrderedItem::Lane(_, hash) => Some(*hash),
            OrderedItem::Structural(number) => {
                let structure = decoded.structures[*number as usize];
                decoded.lifetime_of(structure).map(|lifetime| lifetime.hash)
            }
            OrderedItem::Value(..) | OrderedItem::LinkEnd(_) => None,
        });
        self.model.prefetch_containers(hashes);
    }

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
