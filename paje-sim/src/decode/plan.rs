//! What to do with the words of an event, worked out once per definition.

use paje_parser::Numbering;
use paje_parser::{EventDef, EventKind, FieldName};

use crate::decode::decoded::Op;
use crate::decode::symbols::WordTable;

/// Most words of a line that is decoded in a batch.
pub(super) const WORDS: usize = 8;

/// Where an event's words are and what to do with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) action: Action,
    /// How many words a line must have, and how many it has if all is well.
    pub(super) needed: usize,
    pub(super) expected: usize,
    pub(super) time: usize,
    pub(super) type_: usize,
    pub(super) container: usize,
    pub(super) value: usize,
    pub(super) end: usize,
    pub(super) key: usize,
    /// The type's and the container's words stand side by side, from this one on.
    pub(super) pair: Option<usize>,
    /// Short lines of the event can be decoded in batches.
    pub(super) fits_batch: bool,
    /// The event has user-defined fields, and they are kept.
    pub(super) keeps_extras: bool,
}

/// The plans for all definitions.
#[derive(Debug, Default)]
pub(super) struct Plans {
    pub(super) all: Vec<Plan>,
    /// By the texts of their numbers, as these were in this table: see [`short`](super::short).
    pub(super) by_id: WordTable,
    pub(super) numbering: Option<Numbering>,
    /// Which definitions the lines at hand have used, and a list of them.
    pub(super) used: Vec<bool>,
    pub(super) used_list: Vec<u32>,
    pub(super) keeps_extras: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Structural,
    /// An event of a lane.
    Replayed(Op),
}

impl Plan {
    pub(super) fn new(def: &EventDef, extras: bool) -> Self {
        use EventKind as E;
        let action = match def.kind() {
            E::NewEvent => Action::Replayed(Op::Event),
            E::SetState => Action::Replayed(Op::SetState),
            E::PushState => Action::Replayed(Op::PushState),
            E::PopState => Action::Replayed(Op::PopState),
            E::ResetState => Action::Replayed(Op::ResetState),
            E::SetVariable => Action::Replayed(Op::SetVariable),
            E::AddVariable => Action::Replayed(Op::AddVariable),
            E::SubVariable => Action::Replayed(Op::SubVariable),
            E::StartLink => Action::Replayed(Op::StartLink),
            E::EndLink => Action::Replayed(Op::EndLink),
            E::DefineContainerType
            | E::DefineEventType
            | E::DefineStateType
            | E::DefineVariableType
            | E::DefineLinkType
            | E::DefineEntityValue
            | E::CreateContainer
            | E::DestroyContainer
            | E::TraceFile => Action::Structural,
        };
        // Fields that the action does not use point at the event's number, which is always there.
        let word = |field| def.word_of(field).unwrap_or(0);
        let end = match def.kind() {
            E::StartLink => FieldName::StartContainer,
            _ => FieldName::EndContainer,
        };
        let (type_, container) = (word(FieldName::Type), word(FieldName::Container));
        let pair = (type_.abs_diff(container) == 1).then_some(type_.min(container));
        let keeps_extras = extras && def.extras().next().is_some();
        let fits_batch = matches!(action, Action::Replayed(_))
            && pair.is_some()
            && def.fields().len() < WORDS
            && !keeps_extras;
        Plan {
            action,
            needed: def.needed_words(),
            expected: def.fields().len() + 1,
            time: word(FieldName::Time),
            type_,
            container,
            value: word(FieldName::Value),
            end: word(end),
            key: word(FieldName::Key),
            pair,
            fits_batch,
            keeps_extras,
        }
    }

    /// Whether a link's key is the last word that the event needs.
    pub(super) fn ends_with_key(&self) -> bool {
        let is_link = matches!(self.action, Action::Replayed(Op::StartLink | Op::EndLink));
        is_link && self.key + 1 == self.needed
    }

    /// What the texts of a type and a container stand for depends on their order, and on the nature
    /// that the event takes the type for.
    #[inline(always)]
    pub(super) fn pair_context(&self, len: usize) -> u64 {
        let nature = match self.action {
            Action::Structural => 0,
            Action::Replayed(op) => op.nature() as u64,
        };
        (len as u64) << 8 | nature << 1 | u64::from(self.type_ < self.container)
    }
}
