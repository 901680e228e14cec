use std::collections::BTreeMap;

use crate::names::ids::{TypeId, ValueId};

/// Definitions that a trace uses, and inconsistent spellings of names. They show doubtful parts of a valid trace.
/// Recorded if [`Options::usage`](crate::names::options::Options::usage) is set.
///
/// Only uses in the trace's main file are recorded, not those in other files.
#[derive(Clone, Debug)]
pub struct Usage {
    events: Vec<bool>,
    /// For each type, a bit for each value.
    values: Vec<Vec<u64>>,
    pub(crate) first_time: f64,
    pub(crate) definitions_to: u64,
    definitions: u64,
    values_to: u64,
    other_quoting: BTreeMap<TypeId, OtherQuoting>,
    pub open_states: u64,
    pub ends_with_newline: bool,
    pub is_doubtful: bool,
    pub has_open_spellings: bool,
}

/// Events whose value is quoted although the value was not quoted at its first use, or vice versa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherQuoting {
    /// Number of these events.
    pub count: u64,
    /// Byte offset of the line with the first of these events.
    pub first: u64,
    /// Line number of the last of these events, counted from 1.
    pub last_line: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Usage {
            events: Vec::new(),
            values: Vec::new(),
            first_time: f64::INFINITY,
            definitions_to: 0,
            definitions: 0,
            values_to: 0,
            other_quoting: BTreeMap::new(),
            open_states: 0,
            ends_with_newline: true,
            is_doubtful: false,
            has_open_spellings: false,
        }
    }
}

impl Usage {
    /// Returns whether any line uses the event definition with this index in `Trace::defs`.
    #[must_use]
    pub fn is_event_used(&self, def: usize) -> bool {
        self.events.get(def).is_some_and(|used| *used)
    }

    /// Returns whether any event has a value.
    #[must_use]
    pub fn is_value_used(&self, type_: TypeId, value: ValueId) -> bool {
        let (word, bit) = (value.index() / 64, value.index() % 64);
        let words = self.values.get(type_.index());
        words.and_then(|words| words.get(word)).is_some_and(|word| word >> bit & 1 != 0)
    }

    /// Returns the earliest time of any line in seconds, or `None` if no line has a time. Minus zero counts as earlier
    /// than zero.
    #[must_use]
    pub fn first_time(&self) -> Option<f64> {
        self.first_time.is_finite().then_some(self.first_time)
    }

    /// Returns the offset, plus one, of the last line that defines a type or is part of an event definition. Returns 0
    /// if there is no such line.
    #[must_use]
    pub fn definitions_to(&self) -> u64 {
        self.definitions_to
    }

    /// Returns the number of lines that define types.
    #[must_use]
    pub fn definitions(&self) -> u64 {
        self.definitions
    }

    /// Returns the offset, plus one, of the last line that defines a value. Returns 0 if there is no such line.
    #[must_use]
    pub fn values_to(&self) -> u64 {
        self.values_to
    }

    /// Returns the number of states that are open at the end, in containers that no event has destroyed.
    #[must_use]
    pub fn open_states(&self) -> u64 {
        self.open_states
    }

    /// Returns whether the last line ends with a newline.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        self.ends_with_newline
    }

    /// Returns the types whose values are written both with and without quotes. For each type, also returns the events
    /// that differ from the first use.
    pub fn other_quoting(&self) -> impl ExactSizeIterator<Item = (TypeId, OtherQuoting)> {
        self.other_quoting.iter().map(|(type_, events)| (*type_, *events))
    }

    /// Returns whether anything else is doubtful: warnings, types or containers that are written both with and without
    /// quotes, lines that end inside quotes and, in portions, links with the key of a completed link.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Returns whether a value without a definition is written both with and without quotes. The value has the quotes
    /// of its first use, which a part of the trace may not have.
    #[must_use]
    pub fn has_open_spellings(&self) -> bool {
        self.has_open_spellings
    }

    pub fn use_event(&mut self, def: u32) {
        let def = def as usize;
        if self.events.len() <= def {
            self.events.resize(def + 1, false);
        }
        self.events[def] = true;
    }

    pub fn use_value(&mut self, type_: TypeId, value: ValueId) {
        if self.values.len() <= type_.index() {
            self.values.resize(type_.index() + 1, Vec::new());
        }
        let words = &mut self.values[type_.index()];
        let (word, bit) = (value.index() / 64, value.index() % 64);
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << bit;
    }

    /// Adds events that quote a type's values differently. They must be later than all events that were added before.
    pub fn use_other_quoting(&mut self, type_: TypeId, events: OtherQuoting) {
        let known = self.other_quoting.entry(type_);
        let known = known.or_insert(OtherQuoting { count: 0, ..events });
        known.count += events.count;
        known.last_line = events.last_line;
    }

    pub fn define_event(&mut self, at: u64) {
        self.definitions_to = self.definitions_to.max(at + 1);
    }

    pub fn define_type(&mut self, at: u64) {
        self.define_event(at);
        self.definitions += 1;
    }

    pub fn define_value(&mut self, at: u64) {
        self.values_to = self.values_to.max(at + 1);
    }

    pub fn note_time(&mut self, time: f64) {
        if time.total_cmp(&self.first_time).is_lt() {
            self.first_time = time;
        }
    }
}
