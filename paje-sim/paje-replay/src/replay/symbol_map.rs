//! Maps a decoder's symbols to model numbers. Resolving fills the map, and the replay reads it.

use rustc_hash::FxHashMap;

use crate::problems::tally::ProblemTally;
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::{Op, StrandSymbol};
use paje_decode::decode::symbols::Symbol;
use paje_model::model::{AwaitedValue, Failed, Model, UNKNOWN, has_values};
use paje_model::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use paje_model::names::recovered::Remedy;

#[derive(Debug, Default)]
pub struct SymbolMap {
    pub strands: Vec<u32>,
    /// Lane and container of each strand. Filled only for a ledger.
    pub owners: Vec<(LaneId, ContainerId)>,
    /// For each symbol of a type, the type, or `None` until it has been looked up.
    pub types: Vec<Option<TypeId>>,
    pub values: Vec<ValueId>,
    /// For each symbol of a value whose quotes differ from its definition, the value's type. Only used with
    /// `Options::usage`, and empty if no quotes differ.
    pub other_quoting: Vec<Option<TypeId>>,
    pub link_ends: Vec<ContainerId>,
    /// Number of lanes that already existed when the decoder first used them.
    pub lanes_known_before: usize,
    /// Strands that have no lane, and the reasons. Only in damaged traces.
    pub(crate) strands_without_lane: FxHashMap<StrandSymbol, Failed>,
    /// Link ends with problems, and the remedies for them.
    pub mismatched_ends: FxHashMap<Symbol, (Failed, Remedy)>,
    /// Values whose types are not known yet. Their names are copied, because the decoder may forget them.
    pub pending: Vec<Pending>,
}

#[derive(Debug)]
pub struct Pending {
    pub symbol: Symbol,
    pub type_name: Vec<u8>,
    pub value: AwaitedValue,
}

pub const NO_STRAND: u32 = u32::MAX;

impl SymbolMap {
    pub fn set_value(&mut self, symbol: Symbol, value: ValueId) {
        let index = symbol as usize;
        if index >= self.values.len() {
            self.values.resize(index + 1, value);
        }
        self.values[index] = value;
    }

    pub fn resolve_pending(&mut self, model: &mut Model) {
        for pending in std::mem::take(&mut self.pending) {
            match model.types.find(&pending.type_name) {
                Some(type_) if has_values(model.types.nature(type_)) => {
                    let value = model.awaited_value(type_, &pending.value);
                    self.set_value(pending.symbol, value);
                }
                Some(_) => {}
                None => self.pending.push(pending),
            }
        }
    }

    /// Marks the next `count` strands as unresolved. If `followed` is true, they get an unknown owner.
    pub fn mark_unresolved(&mut self, count: usize, failed: &Failed, followed: bool) {
        for _ in 0..count {
            self.strands_without_lane.insert(self.strands.len() as u32, failed.clone());
            self.strands.push(NO_STRAND);
            if followed {
                self.owners.push((LaneId(NO_STRAND), UNKNOWN));
            }
        }
    }

    /// Counts lines with unresolved lanes or mismatched link ends.
    pub fn count_lines(&self, block: &DecodedBlock, tally: &mut ProblemTally) {
        let decoded = &block.decoded;
        if !self.strands_without_lane.is_empty() {
            let mut first = 0;
            for (strand, count) in &decoded.strands {
                if let Some(failed) = self.strands_without_lane.get(strand) {
                    let line = decoded.events[first as usize].at;
                    let count = u64::from(*count);
                    tally.add_failed(block, line, count, failed.clone(), Remedy::Skipped);
                }
                first += count;
            }
        }
        if !self.mismatched_ends.is_empty() {
            for event in decoded.lane_events() {
                if !matches!(event.op(), Op::StartLink | Op::EndLink) {
                    continue;
                }
                let end = decoded.links[event.argument as usize].end;
                if let Some((failed, remedy)) = self.mismatched_ends.get(&end) {
                    tally.add_failed(block, event.at, 1, failed.clone(), *remedy);
                }
            }
        }
    }
}
