//! Comma-separated values for Pipit (`pipit.Trace.from_csv`).
//!
//! Columns are `Timestamp (ns)`, `Event Type`, `Name`, `Process` (a number) and `Thread`, which
//! separates overlapping states of a process. Pipit sorts by time and pairs each `Leave` with the
//! last `Enter` of the same name, process and thread. Variables and links are not converted.

use std::collections::HashMap;

use paje_console::Quotes;
use paje_decimal::write_u64;
use paje_sim::{
    Annotations, ContainerId, Name, Selected, Side, Trace, TypeId, TypeNature, ValueId,
};

use crate::encoder::{Encoder, FlowEnd, Slice, Track};
use crate::texts::{Texts, ValueTexts, shown};

#[derive(Debug)]
pub(crate) struct Pipit {
    quotes: Quotes,
    values: ValueTexts,
    types: Texts,
    containers: Texts,
    processes: HashMap<ContainerId, u64>,
}

impl Pipit {
    pub(crate) fn new(quotes: Quotes) -> Self {
        Pipit {
            quotes,
            values: ValueTexts::default(),
            types: Texts::default(),
            containers: Texts::default(),
            processes: HashMap::new(),
        }
    }

    fn process(&mut self, id: ContainerId) -> u64 {
        let next = self.processes.len() as u64;
        *self.processes.entry(id).or_insert(next)
    }

    #[inline]
    fn put_row(&self, at: i64, what: &[u8], track: Track, value: ValueId, out: &mut Vec<u8>) {
        if at < 0 {
            out.push(b'-');
        }
        write_u64(out, at.unsigned_abs());
        out.extend_from_slice(what);
        out.extend_from_slice(self.values.get(track.type_, value));
        out.push(b',');
        write_u64(out, track.number);
        out.push(b',');
        write_u64(out, u64::from(track.type_.0));
        for text in
            [self.containers.get(track.container.index()), self.types.get(track.type_.index())]
        {
            out.push(b',');
            out.extend_from_slice(text);
        }
        out.push(b'\n');
    }
}

fn put_name(quotes: Quotes, name: Name<'_>, out: &mut Vec<u8>) {
    let bare = shown(quotes, name);
    let quoted = bare.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n' | b' '));
    let first = out.len();
    out.extend_from_slice(String::from_utf8_lossy(&bare).as_bytes());
    let mut at = first;
    while let Some(found) = out[at..].iter().position(|byte| matches!(byte, b'"' | 0)) {
        at += found;
        // Readers written in C stop at a zero byte.
        let instead: &[u8] = if out[at] == 0 { "\u{fffd}".as_bytes() } else { b"\"\"" };
        out.splice(at..=at, instead.iter().copied());
        at += instead.len();
    }
    if quoted {
        out.insert(first, b'"');
        out.push(b'"');
    }
}

impl Encoder for Pipit {
    const EARLIEST: i64 = -crate::clock::LATEST;
    const WRITES_BEGINNINGS: bool = true;

    fn head(&mut self, out: &mut Vec<u8>) {
        let names = b"Timestamp (ns),Event Type,Name,Process,Thread,Container,Type\n";
        out.extend_from_slice(names);
    }

    fn define(&mut self, trace: &Trace, selected: &Selected, _: &mut Vec<u8>) {
        let (quotes, types, containers) = (self.quotes, trace.types(), trace.containers());
        self.values.extend(trace, selected, |name, out| put_name(quotes, name, out));
        for type_ in types.ids().skip(self.types.len()) {
            self.types.push(|out| put_name(quotes, types.name(type_), out));
        }
        let known = self.containers.len();
        for id in containers.ids().skip(known) {
            self.containers.push(|out| put_name(quotes, containers.name(id), out));
        }
        let mut acts = vec![false; types.len()];
        for type_ in types.ids().skip(1).filter(|type_| selected.wants_type(*type_)) {
            if matches!(types.nature(type_), TypeNature::State | TypeNature::Event) {
                acts[types.parent(type_).index()] = true;
            }
        }
        for id in containers.ids().skip(known.max(1)) {
            if acts[containers.type_of(id).index()] {
                self.process(id);
            }
        }
    }

    fn track(&mut self, _: &Trace, container: ContainerId, _: TypeId, _: &mut Vec<u8>) -> u64 {
        self.process(container)
    }

    fn known_track(&self, container: ContainerId, _: TypeId) -> Option<u64> {
        self.processes.get(&container).copied()
    }

    fn fields(&self, _: &Annotations<'_>, _: usize, _: Side, _: &mut Vec<u8>) {}

    fn begin(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        self.put_row(slice.start, b",Enter,", slice.track, slice.value, out);
    }

    fn end(&self, slice: &Slice<'_>, out: &mut Vec<u8>) {
        self.put_row(slice.end, b",Leave,", slice.track, slice.value, out);
    }

    fn counter(&self, _: Track, _: i64, _: f64, _: &[u8], _: &mut Vec<u8>) -> bool {
        true
    }

    fn instant(&self, track: Track, at: i64, value: ValueId, _: &[u8], out: &mut Vec<u8>) {
        self.put_row(at, b",Instant,", track, value, out);
    }

    fn flow(&self, _: &FlowEnd, _: &mut Vec<u8>) {}
}
