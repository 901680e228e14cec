//! Uses that a trace makes of its definitions, and spellings of its names: noted for those who ask.

use paje_parser::{DefTable, EventKind, FieldName, RawEvent};

use super::Resolver;
use crate::decode::block::DecodedBlock;
use crate::decode::decoded::Structure;
use crate::decode::watched::is_quoted;
use crate::names::ids::{TypeId, ValueId};
use crate::names::text::Name;

impl Resolver<'_> {
    /// A structural line, before it is applied.
    #[inline]
    pub(super) fn watch_structural(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        structure: Structure,
        defs: &DefTable,
    ) {
        if self.usage.is_some() {
            self.note_structural(block, line, structure, defs);
        }
    }

    fn note_structural(
        &mut self,
        block: &DecodedBlock,
        line: u32,
        structure: Structure,
        defs: &DefTable,
    ) {
        let Some(usage) = &mut self.usage else { return };
        let Structure { def, words: (first, count), .. } = structure;
        let (def, at) = (&defs.defs()[def as usize], block.text.start().0 + u64::from(line));
        let is_lifetime =
            matches!(def.kind(), EventKind::CreateContainer | EventKind::DestroyContainer);
        if !is_lifetime {
            // There is more to tell of a trace file's line if files are read.
            usage.is_doubtful |= def.kind() == EventKind::TraceFile;
            return usage.define(at);
        }
        let words = &block.decoded.words[first as usize..(first + count) as usize];
        let Ok(event) = RawEvent::new(def, block.text.text(), words) else { return };
        let name = |field| event.field(field).map(Name::from);
        let container = match def.kind() {
            EventKind::CreateContainer => FieldName::Container,
            _ => FieldName::Name,
        };
        let (type_, container) = (name(FieldName::Type), name(container));
        type_.into_iter().for_each(|type_| self.watch_type(type_));
        container.into_iter().for_each(|container| self.watch_container(container));
    }

    /// The first use of a lane.
    #[inline]
    pub(super) fn watch_lane(&mut self, container: Name<'_>, type_: Name<'_>) {
        if self.usage.is_some() {
            self.watch_container(container);
            self.watch_type(type_);
        }
    }

    /// The use of a container, in a way of writing its name that the decoder has not met yet.
    #[inline]
    pub(super) fn watch_container(&mut self, name: Name<'_>) {
        let Some(usage) = &mut self.usage else { return };
        let containers = &self.model.containers;
        let known = containers.find(name.text).map(|known| containers.identifier(known).quoting);
        usage.is_doubtful |= known.is_some_and(|known| is_quoted(known) != is_quoted(name.quoting));
    }

    fn watch_type(&mut self, name: Name<'_>) {
        let Some(usage) = &mut self.usage else { return };
        let types = &self.model.types;
        let known = types.find(name.text).map(|known| types.identifier(known).quoting);
        usage.is_doubtful |= known.is_some_and(|known| is_quoted(known) != is_quoted(name.quoting));
    }

    /// The use of a value.
    #[inline]
    pub(super) fn watch_value(&mut self, type_: TypeId, value: ValueId, name: Name<'_>) {
        let Some(usage) = &mut self.usage else { return };
        let known = self.model.types.value_identifier(type_, value).quoting;
        usage.is_doubtful |= is_quoted(known) != is_quoted(name.quoting);
        usage.use_value(type_, value);
    }
}
