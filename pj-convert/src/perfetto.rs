//! Perfetto's traces: messages of track events, in one sequence of packets.
//!
//! The messages are described by the comments of `protos/perfetto/trace` in Perfetto's repository:
//! `trace_packet.proto`, `track_event/track_event.proto`, `track_event/track_descriptor.proto`,
//! `interned_data/interned_data.proto`. Readers sort packets by time, and leave those of one time in the order of
//! the file.

mod uuids;
mod wire;

use paje_sim::{Annotations, ContainerId, Selected, Side, Trace, TypeId, TypeNature, ValueId};

use crate::encoder::{Encoder, FlowEnd, Slice, Track, new_containers};
use crate::texts::has_values;
use paje_console::Quotes;
use uuids::Uuids;
use wire::{Packet, put_bytes, put_message, put_text_field, put_uint};

/// Interned names come in packets of some such size.
const NAMES: usize = 32 << 10;

// Kinds of track events.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Writes Perfetto's packets.
#[derive(Debug)]
pub(crate) struct Perfetto {
    quotes: Quotes,
    uuids: Uuids,
    /// By type, and by value: the numbers of interned names.
    values: Vec<Vec<u32>>,
    next_name: u32,
    /// By event definition: the number of the interned name of its first user-defined field's annotation. Each
    /// field has two, for the events that open and close.
    annotations: Vec<u32>,
    next_annotation: u32,
    /// The numbers of containers, types and event definitions that were looked at.
    containers: usize,
    types: usize,
    has_begun: bool,
}

impl Perfetto {
    pub(crate) fn new(quotes: Quotes) -> Self {
        Perfetto {
            quotes,
            uuids: Uuids::default(),
            values: Vec::new(),
            next_name: 1,
            annotations: Vec::new(),
            next_annotation: 1,
            containers: 0,
            types: 0,
            has_begun: false,
        }
    }

    /// Writes a packet of interned data.
    fn put_interned(&mut self, data: &[u8], out: &mut Vec<u8>) {
        // From the first packet of a sequence on, readers know all that was interned.
        let flags = if self.has_begun { 2 } else { 1 };
        self.has_begun = true;
        put_message(1, out, |packet| {
            put_uint(10, 1, packet);
            put_uint(13, flags, packet);
            put_bytes(12, data, packet);
        });
    }

    /// Makes sure that a container, and all that it is in, has a track.
    fn put_container(&mut self, trace: &Trace, mut id: ContainerId, out: &mut Vec<u8>) -> u64 {
        let mut climbed = Vec::new();
        while id != ContainerId::ROOT && self.uuids.container(id).is_none() {
            climbed.push(id);
            id = trace.containers().parent(id);
        }
        let mut parent = self.uuids.container(id).unwrap_or(0);
        while let Some(id) = climbed.pop() {
            let all = trace.containers();
            let type_ = trace.types().name(all.type_of(id)).text;
            let uuid = self.uuids.add_container(id, parent, type_, all.identifier(id).text);
            let name = shown(self.quotes, all.name(id));
            put_track(uuid, parent, &name, u64::from(id.0), out, |track| {
                let mut about = Vec::new();
                for (field, text) in trace.container_fields(id) {
                    about.extend_from_slice(field.as_bytes());
                    about.extend_from_slice(b": ");
                    about.extend_from_slice(paje_parser::Field::new(text).bare());
                    about.push(b'\n');
                }
                if !about.is_empty() {
                    put_text_field(14, about.trim_ascii_end(), track);
                }
            });
            parent = uuid;
        }
        parent
    }
}

/// A name as it is shown.
fn shown(quotes: Quotes, name: paje_sim::Name<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    match quotes {
        Quotes::Keep => name.write_raw(&mut text),
        Quotes::Auto | Quotes::Strip => text.extend_from_slice(name.text),
    }
    text
}

/// The packet that describes a track.
fn put_track(
    uuid: u64,
    parent: u64,
    name: &[u8],
    rank: u64,
    out: &mut Vec<u8>,
    more: impl FnOnce(&mut Vec<u8>),
) {
    const EXPLICIT: u64 = 3;
    const NEVER_MERGE: u64 = 2;
    put_message(1, out, |packet| {
        put_uint(10, 1, packet);
        put_message(60, packet, |track| {
            put_uint(1, uuid, track);
            put_text_field(2, name, track);
            if parent != 0 {
                put_uint(5, parent, track);
            }
            put_uint(11, EXPLICIT, track);
            put_uint(12, rank.min(i32::MAX as u64), track);
            put_uint(15, NEVER_MERGE, track);
            more(track);
        });
    });
}

/// The beginning of a track event's packet.
#[inline]
fn event(at: i64, kind: Option<u64>, track: Track) -> Packet {
    let mut packet = Packet::new();
    packet.uint(8, at as u64);
    packet.uint(10, 1);
    // Interned data is needed.
    packet.uint(13, 2);
    packet.begin(11);
    if let Some(kind) = kind {
        packet.uint(9, kind);
    }
    packet.uint(11, track.number);
    packet
}

impl Perfetto {
    #[inline]
    fn name(&self, type_: TypeId, value: ValueId) -> u64 {
        u64::from(self.values[type_.index()][value.index()])
    }

    /// The interned names of values and of annotations that came up since.
    fn put_names(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>) {
        let types = trace.types();
        let mut data = Vec::new();
        // The names of types of links are their categories.
        for type_ in types.ids().skip(self.types) {
            if types.nature(type_) == TypeNature::Link {
                put_name(
                    1,
                    u64::from(type_.0) + 1,
                    &shown(self.quotes, types.name(type_)),
                    &mut data,
                );
            }
        }
        self.types = types.len();
        self.values.resize(types.len(), Vec::new());
        for type_ in types.ids() {
            if !has_values(types.nature(type_)) || !selected.wants_type(type_) {
                continue;
            }
            for value in self.values[type_.index()].len()..types.value_count(type_) {
                let name = shown(self.quotes, types.value_name(type_, ValueId(value as u32)));
                put_name(2, u64::from(self.next_name), &name, &mut data);
                self.values[type_.index()].push(self.next_name);
                self.next_name += 1;
                if data.len() >= NAMES {
                    self.put_interned(&data, out);
                    data.clear();
                }
            }
        }
        if trace.has_user_defined() {
            for number in self.annotations.len()..trace.defs().len() {
                self.annotations.push(self.next_annotation);
                for (field, _) in trace.defs()[number].extras() {
                    for ending in ["", " (end)"] {
                        let name = [field, ending].concat();
                        put_name(3, u64::from(self.next_annotation), name.as_bytes(), &mut data);
                        self.next_annotation += 1;
                    }
                }
            }
        }
        if !data.is_empty() || !self.has_begun {
            self.put_interned(&data, out);
        }
    }
}

/// An interned name of a kind.
fn put_name(kind: u32, number: u64, name: &[u8], out: &mut Vec<u8>) {
    put_message(kind, out, |interned| {
        put_uint(1, number, interned);
        put_text_field(2, name, interned);
    });
}

impl Encoder for Perfetto {
    const EARLIEST: i64 = 0;
    const WRITES_BEGINNINGS: bool = true;

    fn define(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>) {
        self.put_names(trace, selected, out);
        for id in new_containers(trace, selected, &mut self.containers) {
            self.put_container(trace, id, out);
        }
    }

    fn track(
        &mut self,
        trace: &Trace,
        container: ContainerId,
        type_: TypeId,
        out: &mut Vec<u8>,
    ) -> u64 {
        if let Some(uuid) = self.uuids.track(container, type_) {
            return uuid;
        }
        let parent = self.put_container(trace, container, out);
        let types = trace.types();
        let uuid = self.uuids.add_track(container, type_, parent, types.identifier(type_).text);
        let name = shown(self.quotes, types.name(type_));
        put_track(uuid, parent, &name, u64::from(type_.0), out, |track| {
            if types.nature(type_) == TypeNature::Variable {
                put_bytes(8, &[], track);
            }
        });
        uuid
    }

    fn known_track(&self, container: ContainerId, type_: TypeId) -> Option<u64> {
        self.uuids.track(container, type_)
    }

    fn fields(&self, all: &Annotations<'_>, i: usize, side: Side, out: &mut Vec<u8>) {
        // No event has any.
        if self.next_annotation == 1 {
            return;
        }
        for (_, fields) in all.events_of(i).filter(|(of, _)| *of == side) {
            let first = self.annotations[fields.def()];
            let last = self.annotations.get(fields.def() + 1).copied();
            let count = (last.unwrap_or(self.next_annotation) - first) / 2;
            for (index, text) in (0..count).zip(fields.texts()) {
                put_message(4, out, |annotation| {
                    let name = first + 2 * index + u32::from(side == Side::Closing);
                    put_uint(1, u64::from(name), annotation);
                    put_text_field(6, paje_parser::Field::new(text).bare(), annotation);
                });
            }
        }
    }

    #[inline]
    fn begin(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        let mut event = event(slice.start, Some(SLICE_BEGIN), slice.track);
        event.uint(10, self.name(slice.track.type_, slice.value));
        event.finish(slice.opening, out);
    }

    #[inline]
    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        event(slice.end, Some(SLICE_END), slice.track).finish(slice.closing, out);
    }

    #[inline]
    fn counter(&self, track: Track, at: i64, value: f64, fields: &[u8], out: &mut Vec<u8>) -> bool {
        let mut event = event(at, Some(COUNTER), track);
        event.double(44, value);
        event.finish(fields, out);
        true
    }

    #[inline]
    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>) {
        let mut event = event(at, Some(INSTANT), track);
        event.uint(10, self.name(track.type_, value));
        event.finish(fields, out);
    }

    #[inline]
    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>) {
        // Flows of the older kind: what is said of them on a track at a time binds to the slice there.
        let mut event = event(end.at, None, end.track);
        event.uint(3, u64::from(end.type_.0) + 1);
        event.uint(10, self.name(end.type_, end.value));
        event.inner(6, |legacy| {
            legacy.uint(2, u64::from(if end.is_first { b's' } else { b'f' }));
            legacy.uint(6, end.link);
            legacy.uint(12, 1);
        });
        event.finish(&[], out);
    }
}
