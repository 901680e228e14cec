//! Records which definitions a trace uses, and how the trace spells names.

use paje_parser::{DefTable, EventKind, FieldName, RawEvent};

use super::{Counter, Resolver};
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::{Op, Structure};
use paje_decode::decode::symbols::Symbol;
use paje_decode::decode::usage_notes::is_quoted;
use paje_model::names::ids::{TypeId, ValueId};
use paje_model::names::text::Name;
use paje_model::names::usage::OtherQuoting;

impl Resolver<'_> {
    pub(super) fn note_structural(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        structure: Structure,
        defs: &DefTable,
    ) {
        let Some(usage) = &mut self.usage else { return };
        let Structure { def, words: (first, count), .. } = structure;
        let (def, at) = (&defs.defs()[def as usize], block.text.start().0 + u64::from(line));
        let container = match def.kind() {
            EventKind::CreateContainer => Some(FieldName::Container),
            EventKind::DestroyContainer => Some(FieldName::Name),
            EventKind::DefineEntityValue => {
                usage.define_value(at);
                None
            }
            kind => {
                // A trace in several files counts as doubtful.
                usage.is_doubtful |= kind == EventKind::TraceFile;
                return usage.define_type(at);
            }
        };
        let words = &block.decoded.words[first as usize..(first + count) as usize];
        let Ok(event) = RawEvent::new(def, block.text.text(), words) else { return };
        let name = |field| event.field(field).map(Name::from);
        let (type_, container) = (name(FieldName::Type), container.and_then(name));
        type_.into_iter().for_each(|type_| self.note_type_use(type_));
        container.into_iter().for_each(|container| self.note_container_use(container));
    }

    /// Records that a container was used, in a spelling that is new to the decoder.
    #[inline]
    pub(super) fn note_container_use(&mut self, name: Name<'_>) {
        let Some(usage) = &mut self.usage else { return };
        let containers = &self.model.containers;
        let known = containers.find(name.text).map(|known| containers.identifier(known).quoting);
        usage.is_doubtful |= known.is_some_and(|known| is_quoted(known) != is_quoted(name.quoting));
    }

    pub(super) fn note_type_use(&mut self, name: Name<'_>) {
        let Some(usage) = &mut self.usage else { return };
        let types = &self.model.types;
        let known = types.find(name.text).map(|known| types.identifier(known).quoting);
        usage.is_doubtful |= known.is_some_and(|known| is_quoted(known) != is_quoted(name.quoting));
    }

    /// Records that a value was used, in a spelling that is new to the decoder.
    #[inline]
    pub(super) fn note_value_use(
        &mut self,
        type_: TypeId,
        value: ValueId,
        symbol: Symbol,
        name: Name<'_>,
    ) {
        let Some(usage) = &mut self.usage else { return };
        let symbol = symbol as usize;
        let known = self.model.types.value_identifier(type_, value).quoting;
        usage.use_value(type_, value);
        if is_quoted(known) != is_quoted(name.quoting) {
            // The value's first use decides on its quotes, unless the value has a definition. Only
            // definitions give colours.
            usage.has_open_spellings |= self.model.types.value_color(type_, value).is_none();
            let all = &mut self.maps.other_quoting;
            all.resize(all.len().max(symbol + 1), None);
            all[symbol] = Some(type_);
        }
    }

    /// Counts the block's events whose values are quoted differently than at their first use. The
    /// block's values must be resolved.
    pub(super) fn count_other_quoting(&mut self, block: &DecodedBlock) {
        let Some(usage) = &mut self.usage else { return };
        let decoded = &block.decoded;
        // For each type, the number of events, and the offsets of the first and the last line.
        let mut found: Vec<(TypeId, u64, u32, u32)> = Vec::new();
        for event in decoded.lane_events() {
            let symbol = match event.op() {
                Op::Event | Op::SetState | Op::PushState => event.argument as usize,
                Op::StartLink | Op::EndLink => {
                    decoded.links[event.argument as usize].value as usize
                }
                _ => continue,
            };
            let Some(Some(type_)) = self.maps.other_quoting.get(symbol) else { continue };
            match found.iter_mut().find(|of| of.0 == *type_) {
                Some((_, count, first, last)) => {
                    *count += 1;
                    (*first, *last) = ((*first).min(event.at), (*last).max(event.at));
                }
                None => found.push((*type_, 1, event.at, event.at)),
            }
        }
        found.sort_unstable_by_key(|of| of.3);
        let mut counter = Counter::default();
        for (type_, count, first, last) in found {
            let (first, last_line) =
                (block.text.start().0 + u64::from(first), counter.number(block, last));
            usage.use_other_quoting(type_, OtherQuoting { count, first, last_line });
        }
    }
}
