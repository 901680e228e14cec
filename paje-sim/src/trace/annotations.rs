//! User-defined fields of events, and their lines.

use paje_parser::EventDef;

use crate::trace::Trace;
use paje_model::memory::{ExtraPair, Extras, KeyPlace, LineNumber};

/// User-defined fields of the objects of a slice, and their lines; there are none unless the options ask for
/// them.
#[derive(Clone, Copy, Debug)]
pub struct Annotations<'t> {
    trace: &'t Trace,
    pairs: Option<&'t [u64]>,
    kept: Kept<'t>,
}

/// Where user-defined fields are kept.
#[derive(Clone, Copy, Debug)]
enum Kept<'t> {
    No,
    Here(&'t Extras),
    /// Where the keys of the objects are.
    ByKey(&'t [u64]),
}

impl<'t> Annotations<'t> {
    /// By object: the numbers of what its events say, in `extras` if anything is kept.
    pub(crate) fn new(
        trace: &'t Trace,
        extras: Option<&'t Extras>,
        pairs: impl FnOnce() -> &'t [u64],
    ) -> Self {
        let kept = extras.map_or(Kept::No, Kept::Here);
        Annotations { trace, pairs: extras.map(|_| pairs()), kept }
    }

    /// The same where the objects are links: it is kept where their keys are.
    pub(crate) fn of_links(self, keys: &'t [u64]) -> Self {
        Annotations { kept: Kept::ByKey(keys), ..self }
    }

    /// Tells whether they were kept.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.pairs.is_some()
    }

    /// Tells whether object `i` of the slice has no fields, and no lines.
    #[must_use]
    #[inline]
    pub fn are_none_of(&self, i: usize) -> bool {
        self.pairs.is_none_or(|pairs| ExtraPair::from_word(pairs[i]) == ExtraPair::default())
    }

    /// The fields of object `i` of the slice: those of the event that opened it, then those of the
    /// one that closed it, each with its name and as it was written.
    pub fn of(&self, i: usize) -> impl Iterator<Item = (&'t str, &'t [u8])> + use<'t> {
        let trace = self.trace;
        self.events_of(i).flat_map(move |(_, fields)| {
            let def: &'t EventDef = &trace.defs()[fields.def()];
            def.extras().map(|(name, _)| name).zip(fields.texts())
        })
    }

    /// The same event by event: whether it opened the object or closed it, and its fields.
    pub fn events_of(&self, i: usize) -> impl Iterator<Item = (Side, EventFields<'t>)> + use<'t> {
        let pair = ExtraPair::from_word(self.pairs.map_or(0, |pairs| pairs[i]));
        let extras = self.kept_of(i);
        let both = [(Side::Opening, pair.opening), (Side::Closing, pair.closing)].into_iter();
        both.filter_map(move |(side, number)| {
            let (def, text) = extras?.fields(number)?;
            Some((side, EventFields::new(def, text)))
        })
    }

    /// The line of the event that opened object `i` of the slice, if [lines](crate::Options::keep_lines)
    /// were kept.
    #[must_use]
    pub fn line(&self, i: usize) -> Option<LineNumber> {
        let pair = ExtraPair::from_word(self.pairs?[i]);
        self.kept_of(i)?.line(pair.opening)
    }

    /// Where the fields of object `i` of the slice are kept.
    fn kept_of(&self, i: usize) -> Option<&'t Extras> {
        match self.kept {
            Kept::No => None,
            Kept::Here(extras) => Some(extras),
            Kept::ByKey(keys) => self.trace.rows.extras_of_link(KeyPlace::from_word(keys[i])),
        }
    }
}

/// Which of the two events of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Side {
    Opening,
    Closing,
}

/// The user-defined fields of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFields<'t> {
    def: u32,
    text: &'t [u8],
}

impl<'t> EventFields<'t> {
    pub(crate) const fn new(def: u32, text: &'t [u8]) -> Self {
        EventFields { def, text }
    }

    /// The place of the event's definition among the [trace's](Trace::defs).
    #[must_use]
    pub const fn def(self) -> usize {
        self.def as usize
    }

    /// The texts as they were written, in the order of [`EventDef::extras`]; a line that is too short has
    /// fewer.
    pub fn texts(self) -> impl Iterator<Item = &'t [u8]> {
        self.text.split(|byte| *byte == b'\n')
    }
}
