//! Perfetto's packets, read by a simple reader that works like Perfetto's trace processor. It sorts
//! packets by time and keeps a stack of slices for each track.

use std::collections::{BTreeMap, HashMap};

use paje_sim::{Trace, TypeNature};
use pj_convert::{Format, Losses};

use crate::rows::Shown;
use crate::traces::{all, converted, converted_with, each_annotated, options};

#[derive(Clone, Debug)]
pub(crate) enum Field<'m> {
    Number(u64),
    Eight([u8; 8]),
    Bytes(&'m [u8]),
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Returns the fields of a message, or `None` if it is malformed.
pub(crate) fn fields(mut message: &[u8]) -> Option<Vec<(u64, Field<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut message)?),
            1 => {
                let (eight, rest) = message.split_first_chunk::<8>()?;
                message = rest;
                Field::Eight(*eight)
            }
            2 => {
                let len = varint(&mut message)? as usize;
                let (bytes, rest) = message.split_at_checked(len)?;
                message = rest;
                Field::Bytes(bytes)
            }
            _ => return None,
        };
        fields.push((tag >> 3, field));
    }
    Some(fields)
}

#[derive(Clone, Debug, Default)]
struct Message<'m>(BTreeMap<u64, Vec<Field<'m>>>);

impl<'m> Message<'m> {
    fn read(bytes: &'m [u8]) -> Self {
        let mut message = Message::default();
        for (number, field) in fields(bytes).expect("a message") {
            message.0.entry(number).or_default().push(field);
        }
        message
    }

    fn number(&self, field: u64) -> Option<u64> {
        match self.0.get(&field)?.first()? {
            Field::Number(number) => Some(*number),
            _ => panic!("field {field} is no number"),
        }
    }

    fn all(&self, field: u64) -> impl Iterator<Item = &'m [u8]> + '_ {
        self.0.get(&field).into_iter().flatten().map(|field| match field {
            Field::Bytes(bytes) => *bytes,
            _ => panic!("a number"),
        })
    }

    fn text(&self, field: u64) -> Option<String> {
        self.all(field).next().map(|text| String::from_utf8(text.to_vec()).expect("UTF-8"))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) shown: Shown,
    /// For each flow, its name and the values of the slices at its ends.
    pub(crate) flows: Vec<(String, String, String)>,
    /// For each annotation, the value of its slice, its name and its text.
    pub(crate) annotations: Vec<(String, String, String)>,
    pub(crate) tracks: Vec<String>,
    /// Number of empty slices that were added for ends of links.
    pub(crate) added: u64,
}

#[derive(Clone, Debug)]
struct Track {
    name: String,
    parent: Option<u64>,
    is_counter: bool,
}

pub(crate) fn read(file: &[u8], links: &[String]) -> Read {
    let mut read = Read::default();
    let (mut names, mut categories, mut keys) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut tracks: HashMap<u64, Track> = HashMap::new();
    let mut events = Vec::new();
    for (number, packet) in fields(file).expect("a trace") {
        let Field::Bytes(packet) = packet else { panic!("no packet") };
        assert_eq!(number, 1);
        let packet = Message::read(packet);
        assert_eq!(packet.number(10), Some(1), "one sequence");
        for data in packet.all(12) {
            let data = Message::read(data);
            for (field, table) in [(1, &mut categories), (2, &mut names), (3, &mut keys)] {
                for name in data.all(field) {
                    let name = Message::read(name);
                    let text = name.text(2).expect("a name");
                    assert!(table.insert(name.number(1).expect("a number"), text).is_none());
                }
            }
        }
        for track in packet.all(60) {
            let track = Message::read(track);
            let uuid = track.number(1).expect("a number");
            let parent = track.number(5);
            assert!(parent.is_none_or(|parent| tracks.contains_key(&parent)));
            let name = track.text(2).expect("a name");
            let is_counter = track.0.contains_key(&8);
            assert!(tracks.insert(uuid, Track { name, parent, is_counter }).is_none());
        }
        for event in packet.all(11) {
            events.push((packet.number(8).expect("a time") as i64, Message::read(event)));
        }
    }
    let path = |uuid: u64| {
        let mut path = Vec::new();
        let mut at = Some(uuid);
        while let Some(uuid) = at {
            path.push(tracks[&uuid].name.clone());
            at = tracks[&uuid].parent;
        }
        path.reverse();
        path
    };
    read.tracks = tracks.keys().map(|uuid| path(*uuid).join("/")).collect();
    read.tracks.sort();
    let container = |uuid: u64| match tracks[&uuid].parent {
        Some(parent) => tracks[&parent].name.clone(),
        None => "0".into(),
    };
    events.sort_by_key(|(at, _)| *at);
    let mut stacks: HashMap<u64, Vec<(String, i64)>> = HashMap::new();
    let mut flows: HashMap<u64, String> = HashMap::new();
    for (at, event) in events {
        let uuid = event.number(11).expect("a track");
        let track = &tracks[&uuid];
        let name = event.number(10).map(|iid| names[&iid].clone());
        let stack = stacks.entry(uuid).or_default();
        let mut slice = name.clone();
        match event.number(9) {
            Some(1) => stack.push((name.expect("a name"), at)),
            Some(2) => {
                let (value, start) = stack.pop().expect("a slice");
                slice = Some(value.clone());
                if links.contains(&track.name) {
                    assert_eq!(at, start);
                    read.added += 1;
                } else {
                    let key = (track.name.clone(), value);
                    let (count, sum) = read.shown.states.entry(key).or_default();
                    *count += 1;
                    *sum += at - start;
                }
            }
            Some(3) => {
                let value = name.expect("a name");
                read.shown.events.push((container(uuid), track.name.clone(), at, value));
            }
            Some(4) => {
                assert!(track.is_counter);
                let Some([Field::Eight(value)]) = event.0.get(&44).map(Vec::as_slice) else {
                    panic!("no value")
                };
                let value = f64::from_le_bytes(*value);
                read.shown.variables.push((container(uuid), track.name.clone(), at, value));
            }
            Some(_) => panic!("no such event"),
            None => {
                let flow = Message::read(event.all(6).next().expect("a flow"));
                let (holder, _) = stack.last().expect("a slice at the end of the link");
                let id = flow.number(6).expect("a number");
                assert!(categories.contains_key(&event.number(3).expect("a category")));
                match flow.number(2).map(|phase| phase as u8) {
                    Some(b's') => assert!(flows.insert(id, holder.clone()).is_none()),
                    Some(b'f') => {
                        let first = flows.remove(&id).expect("the first end precedes the second");
                        read.flows.push((name.expect("a name"), first, holder.clone()));
                        read.shown.links += 1;
                    }
                    _ => panic!("no such phase"),
                }
            }
        }
        for annotation in event.all(4) {
            let annotation = Message::read(annotation);
            let key: String = keys[&annotation.number(1).expect("a name")].clone();
            let text = annotation.text(6).expect("a text");
            read.annotations.push((slice.clone().unwrap_or_default(), key, text));
        }
    }
    assert!(flows.is_empty());
    assert!(stacks.values().all(Vec::is_empty));
    read.shown = read.shown.in_order();
    read
}

pub(crate) fn links(trace: &Trace) -> Vec<String> {
    let types = trace.types();
    let links = types.ids().filter(|id| types.nature(*id) == paje_sim::TypeNature::Link);
    links.map(|id| types.name(id).to_string()).collect()
}

#[test]
fn every_row_is_written() {
    let mut held = 0;
    for (name, text) in all() {
        let trace = Trace::read(&text[..], &options()).expect("valid");
        let expected = Shown::of(&trace);
        let links = links(&trace);
        let named_alike = |id: &String| expected.states.keys().any(|(type_, _)| type_ == id);
        if links.iter().any(named_alike) {
            continue;
        }
        let (file, losses) = converted_with(&text, Format::Perfetto, options(), 1);
        let read = read(&file, &links);
        if losses == Losses::default() {
            assert_eq!(read.shown, expected, "{name}");
        } else {
            assert_eq!(read.shown.links, expected.links, "{name}");
            assert_eq!(read.shown.events.len(), expected.events.len(), "{name}");
        }
        held += read.shown.links * 2 - read.added;
    }
    assert!(held > 100, "only {held} ends of links are in states");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let text = datasets::generate(datasets::Shape::Mpi, 3_000_000, 1);
    for format in [Format::Perfetto, Format::Chrome, Format::Pipit, Format::Paje] {
        let expected = converted(&text, format);
        for threads in [2, 5] {
            let (file, _) = converted_with(&text, format, options(), threads);
            assert!(file == expected, "{format:?} with {threads} threads");
        }
    }
}

#[test]
fn states_and_links_may_span_portions() {
    let text = datasets::generate(datasets::Shape::Mpi, 30_000_000, 3);
    let trace = Trace::read(&text[..], &options()).expect("valid");
    let file = converted(&text, Format::Perfetto);
    let read = read(&file, &links(&trace));
    assert_eq!(read.shown, Shown::of(&trace));
}

#[test]
fn messages_attach_to_the_states_that_send_and_receive_them() {
    let text = include_bytes!("../../../datasets/examples/mpi.trace");
    let trace = Trace::read(&text[..], &options()).expect("valid");
    let file = converted(text, Format::Perfetto);
    let read = read(&file, &links(&trace));
    assert_eq!(read.added, 0, "every message is sent and received in a state");
    assert!(read.tracks.iter().any(|track| track == "rank-0/MPI_STATE"), "{:?}", read.tracks);
    assert!(read.tracks.iter().any(|track| track == "rank-0"), "{:?}", read.tracks);
}

#[test]
fn user_defined_fields_are_annotations() {
    let text = include_bytes!("../../../datasets/examples/user-fields.trace");
    let trace = Trace::read(&text[..], &options()).expect("valid");
    let read = read(&converted(text, Format::Perfetto), &links(&trace));
    assert!(!read.annotations.is_empty());
    let mut rows = Vec::new();
    each_annotated(&trace, |lane, _, value, all, i| {
        if lane.nature() == TypeNature::Link {
            return;
        }
        let value = value.map_or(String::new(), |value| lane.value_name(value).to_string());
        for (side, fields) in all.events_of(i) {
            let ending = if side == paje_sim::Side::Closing { " (end)" } else { "" };
            let names = trace.defs()[fields.def()].extras().map(|(name, _)| name.to_owned());
            for (name, text) in names.zip(fields.texts()) {
                let text = String::from_utf8_lossy(paje_parser::Field::new(text).bare());
                rows.push((value.clone(), name + ending, text.into_owned()));
            }
        }
    });
    let mut found = read.annotations;
    rows.sort();
    found.sort();
    assert_eq!(found, rows);
}

#[test]
fn only_states_in_the_window_are_written() {
    let text = include_bytes!("../../../datasets/examples/mpi.trace");
    let trace = Trace::read(&text[..], &options()).expect("valid");
    let (from, to) = (trace.end() * 0.4, trace.end() * 0.5);
    let mut wanted = options();
    wanted.selection.window = paje_sim::TimeRange { from, to };
    let (file, _) = converted_with(text, Format::Perfetto, wanted, 1);
    let read = read(&file, &links(&trace));
    let states = trace.states().filter(|state| state.start <= to && state.end >= from).count();
    let shown: u64 = read.shown.states.values().map(|(count, _)| count).sum();
    assert!(states > 5 && shown == states as u64, "{shown} of {states}");
}
