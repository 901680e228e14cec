//! Symbols to things: what resolving fills in, and replaying looks up.

use rustc_hash::FxHashMap;

use crate::decode::block::DecodedBlock;
use crate::decode::decoded::{Op, StrandSymbol};
use crate::decode::symbols::Symbol;
use crate::model::{AwaitedValue, Failed, Model, UNKNOWN, has_values};
use crate::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::names::recovered::Remedy;
use crate::problems::tally::ProblemTally;

/// Meanings of a decoder's symbols.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    /// The number, in its shard, of each strand.
    pub(crate) strands: Vec<u32>,
    /// The lane of each strand, and its container: only for a ledger.
    pub(crate) owners: Vec<(LaneId, ContainerId)>,
    /// Types that values have been looked up in.
    pub(crate) types: Vec<Option<TypeId>>,
    pub(crate) values: Vec<ValueId>,
    /// Of symbols of values, the type of those that are not in quotes as they were when they were met first: only if
    /// somebody asks. Empty if there are none.
    pub(crate) other_quoting: Vec<Option<TypeId>>,
    pub(crate) link_ends: Vec<ContainerId>,
    /// Number of lanes that were in the trace before the decoder met them.
    pub(crate) lanes_known_before: usize,
    /// Partitioning that no lane has, and why: only of a damaged trace.
    pub(crate) strands_without_lane: FxHashMap<StrandSymbol, Failed>,
    /// Ends of links with something wrong, and what was made of it.
    pub(crate) mismatched_ends: FxHashMap<Symbol, (Failed, Remedy)>,
    /// Values whose types were not known. They hold their names: decoders come and go.
    pub(crate) pending: Vec<Pending>,
}

/// A value whose type was not known when a line named it.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) symbol: Symbol,
    pub(crate) type_name: Vec<u8>,
    pub(crate) value: AwaitedValue,
}

/// In place of a strand's number: there is no such strand.
pub(crate) const NO_STRAND: u32 = u32::MAX;

impl Maps {
    /// The number of a strand in its shard, if it has been resolved.
    #[inline]
    pub(crate) fn strand(&self, symbol: StrandSymbol) -> Option<u32> {
        self.strands.get(symbol as usize).copied()
    }

    /// Sets what a value's symbol stands for.
    pub(crate) fn set_value(&mut self, symbol: Symbol, value: ValueId) {
        let index = symbol as usize;
        if index >= self.values.len() {
            self.values.resize(index + 1, value);
        }
        self.values[index] = value;
    }

    /// Resolves the values whose types were not known, if they are now.
    pub(crate) fn resolve_pending(&mut self, model: &mut Model) {
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

    /// The next strands, so many, are those of a lane that there is not; the ledger asks for it if they are
    /// `followed`.
    pub(crate) fn mark_unresolved(&mut self, count: usize, failed: &Failed, followed: bool) {
        for _ in 0..count {
            self.strands_without_lane.insert(self.strands.len() as u32, failed.clone());
            self.strands.push(NO_STRAND);
            if followed {
                self.owners.push((LaneId(NO_STRAND), UNKNOWN));
            }
        }
    }

    /// Counts the lines whose lanes or ends of links are not what they should be.
    pub(crate) fn tell_lines(&self, block: &DecodedBlock, tally: &mut ProblemTally) {
        let decoded = &block.decoded;
        if !self.strands_without_lane.is_empty() {
            let mut first = 0;
            for (strand, count) in &decoded.strands {
                if let Some(failed) = self.strands_without_lane.get(strand) {
                    let line = decoded.events[first as usize].at;
                    let count = u64::from(*count);
                    tally.add_failed(block, (line, count), failed.clone(), Remedy::Skipped);
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
                    tally.add_failed(block, (event.at, 1), failed.clone(), *remedy);
                }
            }
        }
    }
}
