use paje_parser::Numbering;
use paje_parser::{EventDef, EventKind, FieldName, TypeNature};

use crate::decode::decoded::Op;
use crate::decode::symbols::WordTable;

pub(super) const WORDS: usize = 8;

/// Indices of words in the usual order: number, time, type and container in any order, value, and a link's other end
/// and key.
pub(super) mod usual {
    pub(crate) const TIME: usize = 1;
    pub(crate) const PAIR: usize = 2;
    pub(crate) const VALUE: usize = 4;
    pub(crate) const END: usize = 5;
    pub(crate) const KEY: usize = 6;
}

/// How to decode the lines of an event, computed once per definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) action: Action,
    /// Number of words that a line must have. A complete line has `complete` words.
    pub(super) needed: usize,
    pub(super) expected: usize,
    pub(super) time: usize,
    pub(super) type_: usize,
    pub(super) container: usize,
    pub(super) value: usize,
    pub(super) end: usize,
    pub(super) key: usize,
    /// Index of the first word of the type and the container, if the two are adjacent.
    pub(super) pair: Option<usize>,
    pub(super) fits_batch: bool,
    /// Whether the fields are also in the [usual] order.
    pub(super) is_usual: bool,
    /// Number of words in the usual order up to the last word that is needed. `None` if other words are needed as well.
    pub(super) head: Option<u32>,
    pub(super) keeps_extras: bool,
    without_len: u64,
}

#[derive(Debug, Default)]
pub(super) struct Plans {
    pub(super) all: Vec<Plan>,
    /// Plans by event number. See [`short`](super::short).
    pub(super) by_id: WordTable,
    pub(super) short_ids: ShortIds,
    pub(super) numbering: Option<Numbering>,
    pub(super) used: Vec<bool>,
    pub(super) used_list: Vec<u32>,
    pub(super) keeps_extras: bool,
    /// See [`needed_fields`](paje_model::names::options::Options::needed_fields).
    pub(super) needed: &'static [&'static str],
}

impl Plans {
    /// Returns whether the fields of a definition's events are kept, if it has any.
    pub(super) fn keeps_extras_of(&self, def: &EventDef) -> bool {
        let is_needed = |(name, _): (&str, _)| self.needed.contains(&name);
        self.keeps_extras && (self.needed.is_empty() || def.extras().any(is_needed))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Structural,
    Replayed(Op),
}

/// Maps short event numbers to batches of usual lines. If two numbers collide, one of them is only in [`Plans::by_id`].
#[derive(Debug)]
pub(super) struct ShortIds {
    /// For event numbers of one or two bytes: `(batch + 1) << 2 | id_len`, indexed by the first two bytes of a line.
    /// The entry is 0 if there is no batch.
    pairs: Box<[u16; 1 << 16]>,
    slots: Box<[(u64, u32); 1 << ShortIds::BITS]>,
    /// Events that need only their [head](Plan::head). The keys are those of `slots`. See [`ShortIds::head`].
    heads: Vec<(u64, Head)>,
}

/// Batch of long lines that need only their head decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) batch: u32,
    /// Number of fields of the head. The whole line has `all` fields.
    pub(super) fields: u32,
    pub(super) all: u32,
}

impl Default for ShortIds {
    fn default() -> Self {
        let pairs = vec![0; 1 << 16].into_boxed_slice();
        ShortIds {
            pairs: pairs.try_into().expect("same length"),
            // Keys of texts never equal this key of an empty slot.
            slots: Box::new([(u64::MAX, 0); 1 << ShortIds::BITS]),
            heads: Vec::new(),
        }
    }
}

impl ShortIds {
    const BITS: u32 = 9;

    /// The constants were found by a search. No two numbers below 100 share a slot.
    const SPREAD: u64 = 0xf499_2272_a268_fadb;

    /// Returns a key made of the first `len` of eight bytes and `len`, which is at most seven.
    #[inline(always)]
    const fn key(bytes: u64, len: usize) -> u64 {
        bytes & ((1 << (8 * (len & 7))) - 1) | (len as u64) << 56
    }

    #[inline(always)]
    const fn slot(key: u64) -> usize {
        (key.wrapping_mul(ShortIds::SPREAD) >> (64 - ShortIds::BITS)) as usize
    }

    /// Does the same as [`ShortIds::find`], but numbers batches from 1 and returns 0 if there is no batch. It is
    /// fastest for event numbers of one or two bytes.
    #[inline(always)]
    pub(super) fn find_plus_one(&self, bytes: u64, len: usize) -> u32 {
        let pair = u32::from(self.pairs[usize::from(bytes as u16)]);
        match (pair & 3) as usize == len {
            true => pair >> 2,
            false => self.find(bytes, len).map_or(0, |batch| batch + 1),
        }
    }

    /// Returns the batch for ordinary lines of an event. The event number consists of the first `len` of the eight
    /// bytes.
    #[inline(always)]
    pub(super) fn find(&self, bytes: u64, len: usize) -> Option<u32> {
        let key = ShortIds::key(bytes, len);
        let (known, batch) = self.slots[ShortIds::slot(key)];
        (known == key).then_some(batch)
    }

    /// Returns the batch for long lines of an event. The event number is given as in [`ShortIds::find`].
    pub(super) fn head(&self, bytes: u64, len: usize) -> Option<Head> {
        let key = ShortIds::key(bytes, len);
        self.heads.iter().find(|(known, _)| *known == key).map(|(_, head)| *head)
    }

    /// Adds a head for an event number. Does nothing if there are already many heads, because they are searched one by
    /// one.
    pub(super) fn insert_head(&mut self, id: &[u8], head: Head) {
        const MOST: usize = 16;
        if let Some(key) = ShortIds::key_of(id)
            && self.heads.len() < MOST
            && self.heads.iter().all(|(known, _)| *known != key)
        {
            self.heads.push((key, head));
        }
    }

    fn key_of(id: &[u8]) -> Option<u64> {
        // A line that begins with `%` is part of a definition.
        if id.is_empty() || id.len() > 7 || id[0] == b'%' {
            return None;
        }
        let mut bytes = [0; 8];
        bytes[..id.len()].copy_from_slice(id);
        Some(ShortIds::key(u64::from_le_bytes(bytes), id.len()))
    }

    pub(super) fn insert(&mut self, id: &[u8], batch: u32) {
        let Some(key) = ShortIds::key_of(id) else { return };
        let slot = &mut self.slots[ShortIds::slot(key)];
        if slot.0 == u64::MAX {
            *slot = (key, batch);
        }
        let seconds = match id {
            [_] => &b" \t"[..],
            [_, second] => std::slice::from_ref(second),
            _ => return,
        };
        let Ok(next) = u16::try_from((batch + 1) << 2 | id.len() as u32) else { return };
        for second in seconds {
            let pair = &mut self.pairs[usize::from(u16::from_le_bytes([id[0], *second]))];
            if *pair == 0 {
                *pair = next;
            }
        }
    }
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
        // Fields that the action does not use refer to the event's number, which always exists.
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
        let (time, value) = (word(FieldName::Time), word(FieldName::Value));
        let (end, key) = (word(end), word(FieldName::Key));
        let stand_as = |words: &[usize], count: usize| {
            let usual = [usual::TIME, usual::VALUE, usual::END, usual::KEY];
            let stand =
                time == usual[0] && pair == Some(usual::PAIR) && *words == usual[1..=words.len()];
            stand.then_some(count)
        };
        let head = match action {
            Action::Structural => None,
            Action::Replayed(op) => match op {
                Op::PopState | Op::ResetState => stand_as(&[], usual::VALUE),
                Op::StartLink | Op::EndLink => stand_as(&[value, end, key], usual::KEY + 1),
                _ => stand_as(&[value], usual::VALUE + 1),
            },
        };
        let expected = def.fields().len() + 1;
        let nature = match action {
            Action::Structural => TypeNature::Container,
            Action::Replayed(op) => op.nature(),
        };
        Plan {
            action,
            needed: def.needed_words(),
            expected,
            time,
            type_,
            container,
            value,
            end,
            key,
            pair,
            fits_batch,
            is_usual: head == Some(expected) && fits_batch,
            head: head.filter(|words| *words < expected && !keeps_extras).map(|words| words as u32),
            keeps_extras,
            without_len: (nature as u64) << 1 | u64::from(type_ < container),
        }
    }

    pub(super) fn ends_with_key(&self) -> bool {
        let is_link = matches!(self.action, Action::Replayed(Op::StartLink | Op::EndLink));
        is_link && self.key + 1 == self.needed
    }

    /// Returns the context in which the text of a type and a container is looked up: its length, the nature of the
    /// event, and whether the type comes first.
    #[inline(always)]
    pub(super) fn pair_context(&self, len: usize) -> u64 {
        (len as u64) << 4 | self.without_len
    }
}
