//! The names of a trace, as rows print them.

use std::sync::OnceLock;

use paje_sim::{ContainerId, Containers, Name, Trace, TypeId, Types, ValueId};

use super::Quotes;
use super::printed::{Printed, Short, Text, short};

/// Number of names of a kind that are prepared once for all rows; the others are looked up for each row. With more names,
/// most are printed once or twice, and the worker that prints the first would prepare all while the others wait.
pub(super) const READY: usize = 1 << 14;

/// The names of a trace as they are printed, prepared once for all workers.
#[derive(Debug)]
pub(crate) struct Names {
    containers: OnceLock<Printed>,
    values: Vec<OnceLock<Printed>>,
}

/// Some of the names of a trace, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'t> {
    /// The first ones; and those of them that are side by side.
    ready: &'t Printed,
    first: &'t [Short],
    all: All<'t>,
    quotes: Quotes,
}

/// All names of a kind.
#[derive(Clone, Copy, Debug)]
enum All<'t> {
    Containers(&'t Containers),
    Values(&'t Types, TypeId),
}

impl<'t> All<'t> {
    fn len(self) -> usize {
        match self {
            All::Containers(containers) => containers.len(),
            All::Values(types, type_) => types.value_count(type_),
        }
    }

    fn get(self, number: usize) -> Name<'t> {
        match self {
            All::Containers(containers) => containers.name(ContainerId(number as u32)),
            All::Values(types, type_) => types.value_name(type_, ValueId(number as u32)),
        }
    }

    /// Makes more of the first ones ready, as far as they are there.
    fn prepare(self, quotes: Quotes, ready: &mut Printed) {
        let more = ready.len()..self.len().min(READY);
        ready.extend(quotes, more.map(|number| self.get(number)));
    }

    fn printed(self, quotes: Quotes) -> Printed {
        let mut ready = Printed::default();
        self.prepare(quotes, &mut ready);
        ready
    }
}

impl<'t> Texts<'t> {
    /// A text that is short and ready, and its length.
    #[inline(always)]
    pub(super) fn short(self, number: usize) -> Option<(&'t Short, usize)> {
        short(self.first, number)
    }

    /// A text that needs no quotes.
    pub(super) fn plain(self, number: usize) -> Option<&'t [u8]> {
        match self.ready.text(number) {
            Some(text) => Some(text.bytes()),
            None => self.quotes.as_it_is(self.all.get(number)),
        }
    }

    /// Any text, which may be written to `room` for that.
    pub(super) fn get<'r>(self, number: usize, room: &'r mut Vec<u8>) -> Text<'r>
    where
        't: 'r,
    {
        self.ready.text(number).unwrap_or_else(|| {
            room.clear();
            self.quotes.write(self.all.get(number), room);
            Text::new(room)
        })
    }
}

impl Names {
    /// For the names of this trace; each kind is made ready when it is first needed.
    pub(crate) fn new(trace: &Trace) -> Self {
        let values = trace.types().ids().map(|_| OnceLock::new()).collect();
        Names { containers: OnceLock::new(), values }
    }

    /// Makes the names that came up since ready.
    pub(crate) fn extend(&mut self, trace: &Trace, quotes: Quotes) {
        if let Some(ready) = self.containers.get_mut() {
            All::Containers(trace.containers()).prepare(quotes, ready);
        }
        let types = trace.types();
        self.values.resize_with(types.len(), OnceLock::new);
        for (type_, ready) in types.ids().zip(&mut self.values) {
            if let Some(ready) = ready.get_mut() {
                All::Values(types, type_).prepare(quotes, ready);
            }
        }
    }

    pub(super) fn containers<'t>(&'t self, trace: &'t Trace, quotes: Quotes) -> Texts<'t> {
        let all = All::Containers(trace.containers());
        let ready = self.containers.get_or_init(|| all.printed(quotes));
        Texts { ready, first: ready.first(), all, quotes }
    }

    pub(super) fn values<'t>(
        &'t self,
        trace: &'t Trace,
        quotes: Quotes,
        type_: TypeId,
    ) -> Texts<'t> {
        let all = All::Values(trace.types(), type_);
        let ready = self.values[type_.index()].get_or_init(|| all.printed(quotes));
        Texts { ready, first: ready.first(), all, quotes }
    }
}
