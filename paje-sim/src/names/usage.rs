//! The part of its definitions that a trace uses.

use crate::names::ids::{TypeId, ValueId};

/// The part of its definitions that a trace uses, and whether it is written in one way throughout: what a replay knows beside
/// rows, for who tells what is doubtful in a sound trace. Kept if [`Options::usage`](crate::Options::usage) asks for it.
///
/// The trace is in one file: of others that it names, nothing is told here.
#[derive(Clone, Debug)]
pub struct Usage {
    events: Vec<bool>,
    /// For each type, a bit for each value.
    values: Vec<Vec<u64>>,
    pub(crate) first_time: f64,
    pub(crate) definitions_to: u64,
    definitions: u64,
    pub(crate) open_states: u64,
    pub(crate) ends_with_newline: bool,
    pub(crate) is_doubtful: bool,
}

impl Default for Usage {
    fn default() -> Self {
        Usage {
            events: Vec::new(),
            values: Vec::new(),
            first_time: f64::INFINITY,
            definitions_to: 0,
            definitions: 0,
            open_states: 0,
            ends_with_newline: true,
            is_doubtful: false,
        }
    }
}

impl Usage {
    /// Tells whether any line has the number of an event definition, given by its index in [`Trace::defs`](crate::Trace::defs).
    #[must_use]
    pub fn is_event_used(&self, def: usize) -> bool {
        self.events.get(def).is_some_and(|used| *used)
    }

    /// Tells whether any event has a value.
    #[must_use]
    pub fn is_value_used(&self, type_: TypeId, value: ValueId) -> bool {
        let (word, bit) = (value.index() / 64, value.index() % 64);
        let words = self.values.get(type_.index());
        words.and_then(|words| words.get(word)).is_some_and(|word| word >> bit & 1 != 0)
    }

    /// The earliest time of any line, in seconds; `None` if no line has one. Minus zero comes before zero.
    #[must_use]
    pub fn first_time(&self) -> Option<f64> {
        self.first_time.is_finite().then_some(self.first_time)
    }

    /// The byte of the trace up to which definitions go, of events, types and values: where the last line
    /// begins that is one or a part of one, and one byte more; 0 if there is none.
    #[must_use]
    pub fn definitions_to(&self) -> u64 {
        self.definitions_to
    }

    /// The number of lines that define types and values.
    #[must_use]
    pub fn definitions(&self) -> u64 {
        self.definitions
    }

    /// The number of states that are open at the end, in containers that no event has destroyed.
    #[must_use]
    pub fn open_states(&self) -> u64 {
        self.open_states
    }

    /// Tells whether the last line ends with a newline.
    #[must_use]
    pub fn ends_with_newline(&self) -> bool {
        self.ends_with_newline
    }

    /// Tells whether there may be anything that a replay passes over: a [warning](crate::Trace::warnings); a type, a
    /// container or a value that is written with quotes here and without there; a line that ends inside quotes; where a
    /// trace is shown in portions, a link with the key of one that was completed before. If not, there is none of
    /// these.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    pub(crate) fn use_event(&mut self, def: u32) {
        let def = def as usize;
        if self.events.len() <= def {
            self.events.resize(def + 1, false);
        }
        self.events[def] = true;
    }

    pub(crate) fn use_value(&mut self, type_: TypeId, value: ValueId) {
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

    /// A line of the definition of an event begins at this byte.
    pub(crate) fn define_event(&mut self, at: u64) {
        self.definitions_to = self.definitions_to.max(at + 1);
    }

    /// The line that begins at this byte defines a type or a value.
    pub(crate) fn define(&mut self, at: u64) {
        self.define_event(at);
        self.definitions += 1;
    }

    pub(crate) fn note_time(&mut self, time: f64) {
        if time.total_cmp(&self.first_time).is_lt() {
            self.first_time = time;
        }
    }
}
