//! Perfetto traces: track events in one sequence of packets.
//!
//! `protos/perfetto/trace` in Perfetto's repository describes the format, mainly in
//! `trace_packet.proto`, `track_event/*.proto` and `interned_data/interned_data.proto`. Readers
//! sort packets by time. Packets with the same time keep their order.

mod uuids;
mod wire;

use paje_sim::{Annotations, ContainerId, Selected, Side, Trace, TypeId, TypeNature, ValueId};

use crate::encoder::{Encoder, FlowEnd, Slice, Track, new_containers};
use crate::texts::{has_values, shown};
use paje_console::Quotes;
use uuids::Uuids;
use wire::{put_bytes, put_double, put_message, put_text_field, put_uint};

/// Size of a packet of interned names in bytes.
const NAMES: usize = 32 << 10;

// Kinds of track events.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

#[derive(Debug)]
pub(crate) struct Perfetto {
    quotes: Quotes,
    uuids: Uuids,
    /// Ids of interned names, by type and value.
    values: Vec<Vec<u32>>,
    next_name: u32,
    /// For each event definition, the id of the interned name of its first user-defined field. Each
    /// field has two names: one for opening events and one for closing events.
    annotations: Vec<u32>,
    next_annotation: u32,
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

    fn put_interned(&mut self, data: &[u8], out: &mut Vec<u8>) {
        // SEQ_INCREMENTAL_STATE_CLEARED, then SEQ_NEEDS_INCREMENTAL_STATE
        let flags = if self.has_begun { 2 } else { 1 };
        self.has_begun = true;
        put_message(1, out, |packet| {
            put_uint(10, 1, packet);
            put_uint(13, flags, packet);
            put_bytes(12, data, packet);
        });
    }

    /// Appends the missing tracks of a container and its ancestors. Returns the container's track.
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

/// Appends a packet with a track event. The event has the fields that `more` appends, followed by
/// `fields`.
#[inline]
fn put_event(
    at: i64,
    kind: Option<u64>,
    track: Track,
    fields: &[u8],
    out: &mut Vec<u8>,
    more: impl FnOnce(&mut Vec<u8>),
) {
    put_message(1, out, |packet| {
        put_uint(8, at as u64, packet);
        put_uint(10, 1, packet);
        // SEQ_NEEDS_INCREMENTAL_STATE
        put_uint(13, 2, packet);
        put_message(11, packet, |event| {
            if let Some(kind) = kind {
                put_uint(9, kind, event);
            }
            put_uint(11, track.number, event);
            more(event);
            event.extend_from_slice(fields);
        });
    });
}

impl Perfetto {
    #[inline]
    fn name(&self, type_: TypeId, value: ValueId) -> u64 {
        u64::from(self.values[type_.index()][value.index()])
    }

    fn put_names(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>) {
        let types = trace.types();
        let mut data = Vec::new();
        // Types of links are categories.
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
        let name = self.name(slice.track.type_, slice.value);
        let Slice { track, start, opening, .. } = *slice;
        put_event(start, Some(SLICE_BEGIN), track, opening, out, |event| put_uint(10, name, event));
    }

    #[inline]
    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        put_event(slice.end, Some(SLICE_END), slice.track, slice.closing, out, |_| ());
    }

    #[inline]
    fn counter(&self, track: Track, at: i64, value: f64, fields: &[u8], out: &mut Vec<u8>) -> bool {
        put_event(at, Some(COUNTER), track, fields, out, |event| put_double(44, value, event));
        true
    }

    #[inline]
    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>) {
        let name = self.name(track.type_, value);
        put_event(at, Some(INSTANT), track, fields, out, |event| put_uint(10, name, event));
    }

    #[inline]
    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>) {
        // Legacy flow events attach to the slice at their time on their track.
        put_event(end.at, None, end.track, &[], out, |event| {
            put_uint(3, u64::from(end.type_.0) + 1, event);
            put_uint(10, self.name(end.type_, end.value), event);
            put_message(6, event, |legacy| {
                put_uint(2, u64::from(if end.is_first { b's' } else { b'f' }), legacy);
                put_uint(6, end.link, legacy);
                put_uint(12, 1, legacy);
            });
        });
    }
}
