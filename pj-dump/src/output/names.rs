//! Names of a trace as rows print them.

use std::sync::OnceLock;

use paje_sim::{ContainerId, Containers, Name, Trace, TypeId, Types, ValueId};

use super::Quotes;
use super::printed::{Printed, Short, Text, short};

/// Number of names of each kind that are prepared for all rows. Other names are looked up for each
/// row: if there are many names, most are printed only once or twice, and all workers would have to
/// wait until they are prepared.
pub(super) const READY: usize = 1 << 14;

#[derive(Debug)]
pub(crate) struct Names {
    containers: OnceLock<Printed>,
    values: Vec<OnceLock<Printed>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'t> {
    /// All prepared names. `first` has copies of the first ones, if they are short.
    ready: &'t Printed,
    first: &'t [Short],
    all: All<'t>,
    quotes: Quotes,
}

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
    #[inline(always)]
    pub(super) fn short(self, number: usize) -> Option<(&'t Short, usize)> {
        short(self.first, number)
    }

    /// Returns a text that needs no quotes.
    pub(super) fn plain(self, number: usize) -> Option<&'t [u8]> {
        match self.ready.text(number) {
            Some(text) => Some(text.bytes()),
            None => self.quotes.as_it_is(self.all.get(number)),
        }
    }

    /// Returns any text. Uses `room` if the text is not prepared.
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
    pub(crate) fn new(trace: &Trace) -> Self {
        let values = trace.types().ids().map(|_| OnceLock::new()).collect();
        Names { containers: OnceLock::new(), values }
    }

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
