//! The Pajé lines of events.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::definitions::Definitions;
use crate::events::{Event, event, is_message};
use crate::fields::Fields;
use crate::model::Model;
use crate::record::{Entry, UNDEFINED, Values};
use crate::table::{EVENTS, Record, Reference, Type};
use crate::text::{Count, Sink, TimeBytes, name_or_id};

/// Numbers of the lines, as the header defines them.
pub(crate) mod line {
    pub(crate) const PUSH: u8 = 7;
    pub(crate) const POP: u8 = 8;
    pub(crate) const SET: u8 = 9;
    pub(crate) const EVENT: u8 = 11;
    pub(crate) const START_LINK: u8 = 12;
    pub(crate) const END_LINK: u8 = 13;
    /// Lines of archives that were made from a Pajé trace.
    pub(crate) const DESTROY: u8 = 10;
    pub(crate) const END: u8 = 14;
    pub(crate) const VALUE: u8 = 16;
    /// Lines with a field for attributes.
    pub(crate) const PUSH_MORE: u8 = 17;
    pub(crate) const POP_MORE: u8 = 18;
    pub(crate) const SET_MORE: u8 = 19;
    /// Lines with a field for the request.
    pub(crate) const START_LINK_MORE: u8 = 22;
    pub(crate) const END_LINK_MORE: u8 = 23;
}

/// Types and values that the lines of a location use.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// Bits for the numbers of lines. Lines of messages do not count.
    pub(crate) lines: u32,
    /// State types.
    pub(crate) states: FxHashSet<u32>,
    /// Types of containers that have a variable, and its metric member.
    pub(crate) variables: FxHashSet<(u32, u64)>,
    /// State types and regions.
    pub(crate) regions: FxHashSet<(u32, u64)>,
    /// Types of containers that have events of a parameter, and this parameter.
    pub(crate) parameters: FxHashSet<(u32, u64)>,
    /// Kinds of records that are events, and their container's type. Without messages.
    pub(crate) kinds: FxHashSet<(u32, u8)>,
}

/// Writes the lines of a location's events.
#[derive(Debug)]
pub(crate) struct Lines<'m> {
    model: &'m Model,
    all: &'m Definitions,
    location: u64,
    /// Index of its container, index of the container's type, and index of the type of its states.
    own: u32,
    type_: u32,
    state: u32,
    /// Number of regions that have been entered and not left.
    pub(crate) depth: u64,
    tick: u64,
    /// Types and values used so far, if they are collected.
    pub(crate) used: Option<Box<Used>>,
    /// Kinds of records that the collected lines use.
    is_used: [bool; 256],
    /// Size of a time, in bytes.
    time_bytes: TimeBytes,
    /// Bytes of the line that enters each region, and of the one that leaves a region, without
    /// their times.
    pushes: FxHashMap<u64, u64>,
    pop: Option<u64>,
    /// Bytes of the line of each kind of records, without the time and the values of its fields.
    records: [Option<u64>; 256],
    /// For each kind of message, rank and communicator: the bytes of the line without the time and
    /// other fields, and the container of the process of the rank.
    ends: FxHashMap<(u64, u64), (u64, Option<u32>)>,
    /// Values of fields and attributes.
    pub(crate) fields: Fields<'m>,
}

impl<'m> Lines<'m> {
    pub(crate) fn new(model: &'m Model, all: &'m Definitions, location: u64, depth: u64) -> Self {
        let (own, state) = model.location(location);
        let type_ = model.containers[own as usize].type_;
        Lines {
            model,
            all,
            location,
            own,
            type_,
            state,
            depth,
            tick: 0,
            used: None,
            is_used: [false; 256],
            time_bytes: TimeBytes::default(),
            pushes: FxHashMap::default(),
            pop: None,
            records: [None; 256],
            ends: FxHashMap::default(),
            fields: Fields::new(model, all, location),
        }
    }

    /// Sets the time of the next lines.
    pub(crate) const fn turn_to(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Returns a time in units of its last decimal, if it is exact as a double.
    #[inline]
    pub(crate) fn exact_units(&self, tick: u64) -> Option<i64> {
        self.model.seconds.exact_units(tick)
    }

    /// Returns the number of bytes of a time.
    #[inline]
    pub(crate) fn time_bytes(&mut self, tick: u64) -> u64 {
        self.model.seconds.bytes(tick, &mut self.time_bytes)
    }

    /// Returns whether an event enters or leaves a region and has exactly one line, without
    /// attributes.
    #[inline]
    pub(crate) fn is_state(&self, event: Event, values: &Values) -> bool {
        let is_state = event.kind == event::ENTER || event.kind == event::LEAVE && self.depth > 0;
        is_state && values.attributes.is_empty()
    }

    /// Skips an event that [is a state](Lines::is_state). Returns the number of bytes of its line.
    #[inline]
    pub(crate) fn pass_state(&mut self, event: Event, values: &Values) -> u64 {
        let time = self.time_bytes(event.time);
        let is_push = event.kind == event::ENTER;
        let rest = if is_push { self.pushes.get(&values.fields[0]).copied() } else { self.pop };
        let Some(rest) = rest else {
            let mut count = Count::default();
            self.write(event, values, &mut count);
            if is_push {
                self.pushes.insert(values.fields[0], count.0 - time);
            } else {
                self.pop = Some(count.0 - time);
            }
            return count.0;
        };
        self.depth = if is_push { self.depth + 1 } else { self.depth - 1 };
        rest + time
    }

    /// Writes the lines of an event. Returns the number of lines.
    pub(crate) fn write(&mut self, event: Event, values: &Values, sink: &mut impl Sink) -> u64 {
        self.turn_to(event.time);
        match event.kind {
            event::ENTER => self.push(Some(values.fields[0]), values, sink),
            event::CALLING_CONTEXT_ENTER => {
                let context = self.all.get(Reference::CallingContext, values.fields[0]);
                self.push(context.map(|it| it.fields[1]), values, sink);
            }
            event::LEAVE | event::CALLING_CONTEXT_LEAVE if self.depth > 0 => {
                self.depth -= 1;
                let has_more = !values.attributes.is_empty();
                self.start(if has_more { line::POP_MORE } else { line::POP }, self.own, sink);
                sink.alias(b" S", self.state.into());
                self.attributes(values, sink);
            }
            event::METRIC => return self.metric(values, sink),
            event::PARAMETER_STRING if self.is_value(event, values) => {
                let [parameter, value, ..] = values.fields;
                self.start(line::VALUE, self.own, sink);
                if let Some(used) = &mut self.used {
                    used.parameters.insert((self.type_, parameter));
                }
                sink.alias(b" P", self.type_.into());
                sink.alias(b"_", parameter);
                sink.plain(b" \"");
                sink.name(self.all.string(value).unwrap_or_default());
                sink.plain(b"\"\n");
            }
            _ => self.record(event, values, sink),
        }
        1
    }

    /// Returns whether an event is the value of an event type of a Pajé trace.
    pub(crate) fn is_value(&self, event: Event, values: &Values) -> bool {
        let is_value = self.model.is_paje && event.kind == event::PARAMETER_STRING;
        is_value && self.all.get(Reference::Parameter, values.fields[0]).is_some()
    }

    /// Returns the index of the container's type.
    pub(crate) const fn type_(&self) -> u32 {
        self.type_
    }

    /// Writes the beginning of a line: its number, time and container.
    fn start(&mut self, line: u8, container: u32, sink: &mut impl Sink) {
        if let Some(used) = &mut self.used {
            used.lines |= 1 << line;
        }
        sink.number(line.into());
        sink.plain(b" ");
        if let Some(count) = sink.count() {
            *count += self.time_bytes(self.tick);
        } else {
            self.model.seconds.write(self.model.seconds.units(self.tick), sink);
        }
        sink.plain(b" ");
        let container = &self.model.containers[container as usize];
        sink.alias(container.letter, container.id);
    }

    fn push(&mut self, region: Option<u64>, values: &Values, sink: &mut impl Sink) {
        self.depth += 1;
        let has_more = !values.attributes.is_empty();
        self.start(if has_more { line::PUSH_MORE } else { line::PUSH }, self.own, sink);
        sink.alias(b" S", self.state.into());
        if let Some(used) = &mut self.used {
            used.states.insert(self.state);
        }
        match region.map(|id| (id, self.model.region(id))) {
            Some((_, Some(first))) => {
                if let Some(used) = &mut self.used {
                    used.regions.insert((self.state, first));
                }
                sink.alias(b" R", first);
            }
            Some((id, None)) if id != UNDEFINED => {
                sink.alias(b" \"undefined region ", id);
                sink.plain(b"\"");
            }
            _ => sink.plain(b" \"undefined region\""),
        }
        self.attributes(values, sink);
    }

    fn metric(&mut self, values: &Values, sink: &mut impl Sink) -> u64 {
        let mut count = 0;
        for (member, entry) in self.members(values).zip(&values.list) {
            self.variable(member, entry, values, sink);
            count += 1;
        }
        if count < values.list.len() as u64 {
            // The metric has no class, or too few members.
            self.record(Event { kind: event::METRIC, time: self.tick }, values, sink);
            count += 1;
        }
        count
    }

    /// Returns the members of the metric of an event.
    pub(crate) fn members(&self, values: &Values) -> impl Iterator<Item = u64> + use<'m> {
        self.model.members(self.all, values.fields[0])
    }

    /// Writes the line of a member of a metric.
    pub(crate) fn variable(
        &mut self,
        member: u64,
        entry: &Entry,
        values: &Values,
        sink: &mut impl Sink,
    ) {
        let place = self.model.place(values.fields[0], self.location, self.own);
        let type_ = self.model.containers[place as usize].type_;
        let has_more = !values.attributes.is_empty();
        self.start(if has_more { line::SET_MORE } else { line::SET }, place, sink);
        if let Some(used) = &mut self.used {
            used.variables.insert((type_, member));
        }
        sink.alias(b" V", type_.into());
        sink.alias(b"_", member);
        sink.plain(b" ");
        self.fields.value(entry, sink);
        self.attributes(values, sink);
    }

    /// Returns the number of bytes of the lines of an event that is not a state.
    pub(crate) fn count(&mut self, event: Event, values: &Values) -> u64 {
        let is_record = !matches!(
            event.kind,
            event::METRIC | event::CALLING_CONTEXT_ENTER | event::CALLING_CONTEXT_LEAVE
        ) && !self.is_value(event, values);
        let is_usual = is_record && values.attributes.is_empty();
        let record = EVENTS.get(event.kind).filter(|_| is_usual);
        let known = self.records[usize::from(event.kind)];
        let mut count = Count::default();
        let (Some(record), Some(known)) = (record, known) else {
            self.write(event, values, &mut count);
            if let Some(record) = record {
                let mut fields = Count::default();
                self.count_fields(record, values, &mut fields);
                let rest = count.0 - fields.0 - self.time_bytes(event.time);
                self.records[usize::from(event.kind)] = Some(rest);
            }
            return count.0;
        };
        self.count_fields(record, values, &mut count);
        known + count.0 + self.time_bytes(event.time)
    }

    /// Returns the size in bytes of the line for one end of a message, and the index of the
    /// container of the process at the other end.
    pub(crate) fn count_message(&mut self, event: Event, values: &Values) -> (u64, Option<u32>) {
        let [rank, comm, tag, length, request, ..] = values.fields;
        let key = (u64::from(event.kind) << u32::BITS | rank, comm);
        let mut rest = Count(self.time_bytes(event.time));
        rest.number(tag);
        rest.number(length);
        if matches!(event.kind, event::ISEND | event::IRECV) {
            rest.number(request);
        }
        let is_usual = values.attributes.is_empty();
        if let Some((bytes, process)) = self.ends.get(&key).copied().filter(|_| is_usual) {
            return (bytes + rest.0, process);
        }
        let bytes = self.count(event, values);
        let location = self.fields.location_of(comm, rank);
        let process = location.and_then(|location| self.model.process(location));
        if is_usual {
            self.ends.insert(key, (bytes - rest.0, process));
        }
        (bytes, process)
    }

    fn count_fields(&mut self, record: &Record, values: &Values, count: &mut Count) {
        for (number, field) in record.fields.iter().enumerate() {
            if matches!(field.type_, Type::Word | Type::Long) {
                count.number(values.fields[number]);
                continue;
            }
            self.fields.field(record, field, number, values, count);
        }
    }

    /// Writes the line of a record that is neither a state nor a variable.
    pub(crate) fn record(&mut self, event: Event, values: &Values, sink: &mut impl Sink) {
        self.start(line::EVENT, self.own, sink);
        sink.alias(b" E", self.type_.into());
        if let Some(used) = &mut self.used
            && !is_message(event.kind)
            && !std::mem::replace(&mut self.is_used[usize::from(event.kind)], true)
        {
            used.kinds.insert((self.type_, event.kind));
        }
        let record = EVENTS.get(event.kind);
        match record {
            Some(_) => sink.alias(b" K", event.kind.into()),
            None => sink.plain(b" Unknown"),
        }
        sink.plain(b" \"");
        let mut is_first = true;
        if let Some(record) = record {
            for (number, field) in record.fields.iter().enumerate() {
                separate(&mut is_first, sink);
                sink.plain(field.label.as_bytes());
                sink.plain(b"=");
                self.fields.field(record, field, number, values, sink);
            }
        }
        self.entries(&values.attributes, is_first, sink);
        sink.plain(b"\"\n");
    }

    /// Ends a line, with its attributes if it has any.
    fn attributes(&mut self, values: &Values, sink: &mut impl Sink) {
        if !values.attributes.is_empty() {
            sink.plain(b" \"");
            self.entries(&values.attributes, true, sink);
            sink.plain(b"\"");
        }
        sink.plain(b"\n");
    }

    fn entries(&mut self, attributes: &[Entry], mut is_first: bool, sink: &mut impl Sink) {
        for entry in attributes {
            separate(&mut is_first, sink);
            let name = self.fields.name(Reference::Attribute, entry.tag);
            name_or_id(name, entry.tag, sink);
            sink.plain(b"=");
            self.fields.value(entry, sink);
        }
    }
}

fn separate(is_first: &mut bool, sink: &mut impl Sink) {
    if !std::mem::take(is_first) {
        sink.plain(b"; ");
    }
}
