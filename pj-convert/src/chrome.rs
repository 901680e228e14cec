//! Chrome's trace events, in JSON.
//!
//! The format is described in "Trace Event Format" by the Catapult project. Each container becomes
//! a process, and each of its types a thread. Times are microseconds with up to three decimals.

use std::collections::HashMap;
use std::fmt::Arguments;

use paje_console::Quotes;
use paje_decimal::write_u64;
use paje_sim::{Annotations, ContainerId, Name, Selected, Side, Trace, TypeId, ValueId};

use crate::encoder::{Encoder, FlowEnd, Slice, Track, new_containers};
use crate::json::put_string;
use crate::texts::{Texts, ValueTexts, shown};

#[derive(Debug)]
pub(crate) struct Chrome {
    quotes: Quotes,
    values: ValueTexts,
    types: Texts,
    tracks: HashMap<(ContainerId, TypeId), u64>,
    named: Vec<bool>,
    /// For each event definition, the text `,"Field":` of each user-defined field, for opening and
    /// for closing events.
    fields: Vec<[Texts; 2]>,
    containers: usize,
}

impl Chrome {
    pub(crate) fn new(quotes: Quotes) -> Self {
        Chrome {
            quotes,
            values: ValueTexts::default(),
            types: Texts::default(),
            tracks: HashMap::new(),
            named: Vec::new(),
            fields: Vec::new(),
            containers: 0,
        }
    }

    fn name_container(&mut self, trace: &Trace, id: ContainerId, out: &mut Vec<u8>) {
        if self.named.len() <= id.index() {
            self.named.resize(id.index() + 1, false);
        }
        if std::mem::replace(&mut self.named[id.index()], true) {
            return;
        }
        let all = trace.containers();
        let mut path = vec![id];
        let mut at = all.parent(id);
        while at != ContainerId::ROOT {
            path.push(at);
            at = all.parent(at);
        }
        let mut name = Vec::new();
        for id in path.into_iter().rev() {
            if !name.is_empty() {
                name.extend_from_slice(b" / ");
            }
            name.extend_from_slice(&shown(self.quotes, all.name(id)));
        }
        let mut quoted = Vec::new();
        put_string(&name, &mut quoted);
        put_metadata("process", format_args!("{}", pid(id)), &quoted, pid(id), out);
    }

    #[inline]
    fn put_head(&self, kind: u8, track: Track, at: i64, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\n{\"ph\":\"");
        out.extend_from_slice(&[kind, b'"']);
        out.extend_from_slice(b",\"pid\":");
        write_u64(out, pid(track.container));
        out.extend_from_slice(b",\"tid\":");
        write_u64(out, track.number);
        out.extend_from_slice(b",\"ts\":");
        put_microseconds(at, out);
    }

    #[inline]
    fn put_value(&self, type_: TypeId, value: ValueId, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"name\":");
        out.extend_from_slice(self.values.get(type_, value));
    }
}

/// Returns the process number of a container. Some viewers reserve process 0 for the system.
fn pid(id: ContainerId) -> u64 {
    u64::from(id.0) + 1
}

/// Appends the name, in quotes, and the place in the order of a process or thread.
fn put_metadata(what: &str, whose: Arguments<'_>, name: &[u8], rank: u64, out: &mut Vec<u8>) {
    let head = format!(",\n{{\"ph\":\"M\",\"pid\":{whose},\"name\":\"{what}");
    for part in [head.as_bytes(), b"_name\",\"args\":{\"name\":", name, b"}}"] {
        out.extend_from_slice(part);
    }
    let rank = format!("{head}_sort_index\",\"args\":{{\"sort_index\":{rank}}}}}");
    out.extend_from_slice(rank.as_bytes());
}

fn put_microseconds(nanoseconds: i64, out: &mut Vec<u8>) {
    if nanoseconds < 0 {
        out.push(b'-');
    }
    let nanoseconds = nanoseconds.unsigned_abs();
    write_u64(out, nanoseconds / 1000);
    let part = nanoseconds % 1000;
    if part != 0 {
        let digit = |unit| b'0' + (part / unit % 10) as u8;
        out.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
    }
}

/// Appends `args`. Each field in `opening` and `closing` begins with a comma.
fn put_args(opening: &[u8], closing: &[u8], out: &mut Vec<u8>) {
    if opening.is_empty() && closing.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"args\":{");
    let first = out.len();
    out.extend_from_slice(opening);
    out.extend_from_slice(closing);
    out.remove(first);
    out.push(b'}');
}

impl Encoder for Chrome {
    const EARLIEST: i64 = -crate::clock::LATEST;
    const WRITES_BEGINNINGS: bool = false;
    const SEPARATOR: &'static [u8] = b",\n";

    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    }

    fn define(&mut self, trace: &Trace, selected: &Selected, out: &mut Vec<u8>) {
        let (quotes, types) = (self.quotes, trace.types());
        let write = |name: Name<'_>, out: &mut Vec<u8>| put_string(&shown(quotes, name), out);
        self.values.extend(trace, selected, write);
        for type_ in types.ids().skip(self.types.len()) {
            self.types.push(|out| write(types.name(type_), out));
        }
        for def in trace.defs().iter().skip(self.fields.len()) {
            let mut both = [Texts::default(), Texts::default()];
            for (field, _) in def.extras() {
                for (texts, ending) in both.iter_mut().zip(["", " (end)"]) {
                    texts.push(|out| {
                        out.push(b',');
                        put_string([field, ending].concat().as_bytes(), out);
                        out.push(b':');
                    });
                }
            }
            self.fields.push(both);
        }
        for id in new_containers(trace, selected, &mut self.containers) {
            self.name_container(trace, id, out);
        }
    }

    fn track(
        &mut self,
        trace: &Trace,
        container: ContainerId,
        type_: TypeId,
        out: &mut Vec<u8>,
    ) -> u64 {
        let next = self.tracks.len() as u64 + 1;
        let number = *self.tracks.entry((container, type_)).or_insert(next);
        if number == next {
            self.name_container(trace, container, out);
            let (name, rank) = (self.types.get(type_.index()), u64::from(type_.0));
            let whose = format_args!("{},\"tid\":{number}", pid(container));
            put_metadata("thread", whose, name, rank, out);
        }
        number
    }

    fn known_track(&self, container: ContainerId, type_: TypeId) -> Option<u64> {
        self.tracks.get(&(container, type_)).copied()
    }

    fn fields(&self, all: &Annotations<'_>, i: usize, side: Side, out: &mut Vec<u8>) {
        for (_, fields) in all.events_of(i).filter(|(of, _)| *of == side) {
            let keys = &self.fields[fields.def()][usize::from(side == Side::Closing)];
            for (at, text) in (0..keys.len()).zip(fields.texts()) {
                out.extend_from_slice(keys.get(at));
                put_string(paje_parser::Field::new(text).bare(), out);
            }
        }
    }

    fn begin(&self, _: &Slice<'_>, _: &mut Vec<u8>) {}

    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        self.put_head(b'X', slice.track, slice.start, out);
        out.extend_from_slice(b",\"dur\":");
        put_microseconds(slice.end - slice.start, out);
        self.put_value(slice.track.type_, slice.value, out);
        put_args(slice.opening, slice.closing, out);
        out.push(b'}');
    }

    fn counter(&self, track: Track, at: i64, value: f64, _: &[u8], out: &mut Vec<u8>) -> bool {
        // JSON has no infinities and no NaN.
        if !value.is_finite() {
            return false;
        }
        self.put_head(b'C', track, at, out);
        out.extend_from_slice(b",\"name\":");
        out.extend_from_slice(self.types.get(track.type_.index()));
        out.extend_from_slice(format!(",\"args\":{{\"value\":{value:?}}}}}").as_bytes());
        true
    }

    fn instant(&self, track: Track, at: i64, value: ValueId, fields: &[u8], out: &mut Vec<u8>) {
        self.put_head(b'i', track, at, out);
        self.put_value(track.type_, value, out);
        out.extend_from_slice(b",\"s\":\"t\"");
        put_args(fields, &[], out);
        out.push(b'}');
    }

    fn flow(&self, end: &FlowEnd, out: &mut Vec<u8>) {
        self.put_head(if end.is_first { b's' } else { b'f' }, end.track, end.at, out);
        out.extend_from_slice(b",\"id\":");
        write_u64(out, end.link);
        self.put_value(end.type_, end.value, out);
        out.extend_from_slice(b",\"cat\":");
        out.extend_from_slice(self.types.get(end.type_.index()));
        out.extend_from_slice(if end.is_first { b"}" } else { b",\"bp\":\"e\"}" });
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n]}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_written_as_microseconds() {
        for (nanoseconds, expected) in
            [(0, "0"), (1, "0.001"), (1_230, "1.230"), (-1, "-0.001"), (5_000_000_000, "5000000")]
        {
            let mut out = Vec::new();
            put_microseconds(nanoseconds, &mut out);
            assert_eq!(String::from_utf8(out).expect("text"), expected);
        }
    }
}
