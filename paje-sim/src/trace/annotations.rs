//! User-defined fields and lines of events.

use std::ops::Range;

use paje_parser::{EventDef, TypeNature};

use crate::trace::Trace;
use crate::trace::lane::Lane;
use crate::trace::rows::Place;
use paje_model::memory::{
    Chunk, EventChunk, ExtraPair, Extras, KeyPlace, LineNumber, LinkChunk, StateChunk,
    VariableChunk,
};

/// User-defined fields and lines of the objects of a slice. Empty unless the replay kept them.
#[derive(Clone, Copy, Debug)]
pub struct Annotations<'t> {
    trace: &'t Trace,
    pairs: Option<&'t [u64]>,
    kept: Kept<'t>,
}

#[derive(Clone, Copy, Debug)]
enum Kept<'t> {
    No,
    Here(&'t Extras),
    ByKey(&'t [u64]),
}

impl<'t> Annotations<'t> {
    /// Returns the annotations of some of the objects.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let kept = match self.kept {
            Kept::ByKey(keys) => Kept::ByKey(&keys[range.clone()]),
            kept => kept,
        };
        Annotations { pairs: self.pairs.map(|pairs| &pairs[range]), kept, ..*self }
    }

    /// Returns whether fields or lines were kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.pairs.is_some()
    }

    /// Returns whether object `i` of the slice has neither fields nor lines.
    #[must_use]
    #[inline]
    pub fn are_none_of(&self, i: usize) -> bool {
        self.pairs.is_none_or(|pairs| ExtraPair::from_word(pairs[i]) == ExtraPair::default())
    }

    /// Returns the fields of object `i` of the slice, each with its name and its text as written. The fields of the
    /// event that opened the object come first, then those of the closing event.
    pub fn of(&self, i: usize) -> impl Iterator<Item = (&'t str, &'t [u8])> + use<'t> {
        let trace = self.trace;
        self.events_of(i).flat_map(move |(_, fields)| {
            let def: &'t EventDef = &trace.defs()[fields.def()];
            def.extras().map(|(name, _)| name).zip(fields.texts())
        })
    }

    /// Returns the fields of object `i` of the slice, grouped by event. For each event, also returns whether it opened
    /// or closed the object.
    #[doc(hidden)]
    pub fn events_of(&self, i: usize) -> impl Iterator<Item = (Side, EventFields<'t>)> + use<'t> {
        let pair = ExtraPair::from_word(self.pairs.map_or(0, |pairs| pairs[i]));
        let extras = self.kept_of(i);
        let both = [(Side::Opening, pair.opening), (Side::Closing, pair.closing)].into_iter();
        both.filter_map(move |(side, number)| {
            let (def, text) = extras?.fields(number)?;
            Some((side, EventFields::new(def, text)))
        })
    }

    /// Returns the line of the event that opened object `i` of the slice, if the replay kept lines
    /// (`TraceReader::lines`).
    #[must_use]
    pub fn line(&self, i: usize) -> Option<LineNumber> {
        let pair = ExtraPair::from_word(self.pairs?[i]);
        self.kept_of(i)?.line(pair.opening)
    }

    fn kept_of(&self, i: usize) -> Option<&'t Extras> {
        match self.kept {
            Kept::No => None,
            Kept::Here(extras) => Some(extras),
            Kept::ByKey(keys) => self.trace.rows.extras_of_link(KeyPlace::from_word(keys[i])),
        }
    }
}

impl<'t> Lane<'t> {
    /// Returns the annotations of a chunk. Those of links are stored with the links' keys.
    pub(crate) fn annotations(self, chunk: &Chunk) -> Annotations<'t> {
        let trace = self.trace();
        let Some(extras) = trace.rows.extras(self.id()) else {
            return Annotations { trace, pairs: None, kept: Kept::No };
        };
        let words = |column| self.arena().words(chunk.place, column, chunk.count());
        let (column, kept) = match self.nature() {
            TypeNature::Link => {
                (LinkChunk::extras(chunk), Kept::ByKey(words(LinkChunk::key(chunk))))
            }
            TypeNature::Variable => (VariableChunk::extras(chunk), Kept::Here(extras)),
            TypeNature::Event => (EventChunk::extras(chunk), Kept::Here(extras)),
            TypeNature::State | TypeNature::Container => {
                (StateChunk::extras(chunk), Kept::Here(extras))
            }
        };
        Annotations { trace, pairs: Some(words(column)), kept }
    }

    /// Returns the annotations of a row's chunk, and the row's index there.
    pub(super) fn annotations_at(self, place: Place) -> (Annotations<'t>, usize) {
        let rows = self.trace().rows.rows(self.id());
        let chunk = rows.chunks_from(self.arena(), place.chunk as usize).next();
        let chunk = chunk.expect("the row was read from this chunk");
        (self.annotations(&chunk), place.index as usize)
    }
}

/// Whether an event opened or closed an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Side {
    Opening,
    Closing,
}

/// User-defined fields of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFields<'t> {
    def: u32,
    text: &'t [u8],
}

impl<'t> EventFields<'t> {
    pub(crate) const fn new(def: u32, text: &'t [u8]) -> Self {
        EventFields { def, text }
    }

    /// Returns the index of the event's definition in [`Trace::defs`].
    #[must_use]
    #[doc(hidden)]
    pub const fn def(self) -> usize {
        self.def as usize
    }

    /// Returns the texts as written, in the order of [`EventDef::extras`]. If a line is too short, the last fields are
    /// missing.
    #[doc(hidden)]
    pub fn texts(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(|byte| *byte == b'\n')
    }
}
