//! User-defined fields and lines of events.

use paje_parser::EventDef;

use crate::trace::Trace;
use paje_model::memory::{ExtraPair, Extras, KeyPlace, LineNumber};

/// User-defined fields and lines of the objects of a slice. Empty unless the options keep them.
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
    /// Creates the annotations of objects. `pairs` returns the numbers of their entries in `extras`, if any are kept.
    pub(crate) fn new(
        trace: &'t Trace,
        extras: Option<&'t Extras>,
        pairs: impl FnOnce() -> &'t [u64],
    ) -> Self {
        let kept = extras.map_or(Kept::No, Kept::Here);
        Annotations { trace, pairs: extras.map(|_| pairs()), kept }
    }

    /// Returns the annotations of links. The fields and lines of links are stored with the links' keys.
    pub(crate) fn of_links(self, keys: &'t [u64]) -> Self {
        Annotations { kept: Kept::ByKey(keys), ..self }
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
    pub fn events_of(&self, i: usize) -> impl Iterator<Item = (Side, EventFields<'t>)> + use<'t> {
        let pair = ExtraPair::from_word(self.pairs.map_or(0, |pairs| pairs[i]));
        let extras = self.kept_of(i);
        let both = [(Side::Opening, pair.opening), (Side::Closing, pair.closing)].into_iter();
        both.filter_map(move |(side, number)| {
            let (def, text) = extras?.fields(number)?;
            Some((side, EventFields::new(def, text)))
        })
    }

    /// Returns the line of the event that opened object `i` of the slice, if
    /// [lines](crate::Options::keep_lines) were kept.
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
    pub const fn def(self) -> usize {
        self.def as usize
    }

    /// Returns the texts as written, in the order of [`EventDef::extras`]. If a line is too short, the last fields are
    /// missing.
    pub fn texts(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(|byte| *byte == b'\n')
    }
}
