//! A Pajé trace that says the same as another one, in the order of time.
//!
//! Each event has one definition (and one more for each set of user-defined fields that it comes with), aliases are
//! as short as can be, every value is defined, with its colour, and states are pushed and popped. What a trace
//! says of time decides the order of its lines, unless lines would come before what they need: the creation of their
//! containers. All lines are made before the first is written.

mod aliases;
mod definitions;
mod lines;
mod times;

use std::io::{self, Write};

use paje_sim::{
    ContainerId, LaneView, Name, NameOrder, Quoting, Selected, Trace, TypeId, TypeNature, ValueId,
};

use aliases::Aliases;
use definitions::{Definitions, Line};
use lines::Lines;
pub use times::{AsRecorded, Times};

/// Writes what is selected of a trace, at these times; rows come in this order of names where their times are the same.
///
/// # Errors
/// The output fails.
pub fn write(
    trace: &Trace,
    selected: &Selected,
    order: NameOrder,
    times: &impl Times,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut definitions = Definitions::default();
    let mut head = Vec::new();
    let aliases = Aliases::new(trace);
    put_types(trace, &aliases, &mut definitions, &mut head);
    let lanes = || trace.walk(order).filter_map(|step| wanted_lane(trace, selected, step));
    let needed = needed_containers(trace, selected, lanes());
    let mut lines = Lines::new(trace, &aliases, &mut definitions, selected.window(), times);
    for id in trace.containers().ids().skip(1).filter(|id| needed[id.index()]) {
        lines.add_container(id);
    }
    for lane in lanes() {
        lines.add_lane(lane);
    }
    let lines = lines.in_order();
    let end = definitions.id(Line::End, None);
    let mut first = Vec::new();
    for line in trace.comments().split_inclusive(|byte| *byte == b'\n') {
        first.extend_from_slice(b"# ");
        first.extend_from_slice(line);
    }
    if first.last().is_some_and(|byte| *byte != b'\n') {
        first.push(b'\n');
    }
    definitions.write(trace, &mut first);
    out.write_all(&first)?;
    out.write_all(&head)?;
    let mut buffer = Vec::new();
    for line in lines.iter() {
        buffer.extend_from_slice(line);
        if buffer.len() > 1 << 16 {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    // A trace ends at the latest time that any line has; this one names no file.
    writeln!(buffer, "{end} {:?} 0 0 \"\"", times.end(trace))?;
    out.write_all(&buffer)
}

fn wanted_lane<'t>(
    trace: &'t Trace,
    selected: &Selected,
    step: paje_sim::Step,
) -> Option<LaneView<'t>> {
    let paje_sim::Step::Type(container, type_) = step else { return None };
    if !selected.wants_step(step) {
        return None;
    }
    trace.lane(container, type_).filter(|lane| !lane.is_empty())
}

/// Those that rows are wanted of, that links lead from or to, and all that these are in.
fn needed_containers<'t>(
    trace: &'t Trace,
    selected: &Selected,
    lanes: impl Iterator<Item = LaneView<'t>>,
) -> Vec<bool> {
    let containers = trace.containers();
    let mut needed = vec![selected.is_everything(); containers.len()];
    needed[0] = true;
    if selected.is_everything() {
        return needed;
    }
    let mut mark = |mut id: ContainerId| {
        while !std::mem::replace(&mut needed[id.index()], true) {
            id = containers.parent(id);
        }
    };
    containers.ids().filter(|id| selected.wants_container(*id)).for_each(&mut mark);
    for lane in lanes {
        mark(lane.container());
        for link in lane.links() {
            mark(link.from);
            mark(link.to);
        }
    }
    needed
}

/// Defines types and values.
fn put_types(trace: &Trace, aliases: &Aliases, definitions: &mut Definitions, out: &mut Vec<u8>) {
    let types = trace.types();
    for id in types.ids().skip(1) {
        let event = match types.nature(id) {
            TypeNature::Container => Line::DefineContainer,
            TypeNature::State => Line::DefineState,
            TypeNature::Variable => Line::DefineVariable,
            TypeNature::Event => Line::DefineEvent,
            TypeNature::Link => Line::DefineLink,
        };
        put_words(
            out,
            definitions.id(event, None),
            &[aliases.type_(id), aliases.type_(types.parent(id))],
        );
        for end in types.link_ends(id).into_iter().flat_map(|(from, to)| [from, to]) {
            out.push(b' ');
            out.extend_from_slice(aliases.type_(end).as_bytes());
        }
        put_name(types.name(id), out);
        out.push(b'\n');
    }
    for type_ in types.ids().skip(1) {
        for value in 0..types.value_count(type_) as u32 {
            put_value(trace, aliases, definitions, type_, ValueId(value), out);
        }
    }
}

fn put_value(
    trace: &Trace,
    aliases: &Aliases,
    definitions: &mut Definitions,
    type_: TypeId,
    value: ValueId,
    out: &mut Vec<u8>,
) {
    let types = trace.types();
    let color = types.value_color(type_, value);
    let event = if color.is_some() { Line::ColoredValue } else { Line::Value };
    let alias = aliases::short(u64::from(value.0));
    put_words(out, definitions.id(event, None), &[&alias, aliases.type_(type_)]);
    put_name(types.value_name(type_, value), out);
    if let Some(paje_parser::color::Color([red, green, blue, opacity])) = color {
        let text = match opacity {
            1.0 => format!(" \"{red} {green} {blue}\""),
            _ => format!(" \"{red} {green} {blue} {opacity}\""),
        };
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'\n');
}

/// Begins a line: the event's number, and these words.
fn put_words(out: &mut Vec<u8>, id: usize, words: &[&str]) {
    put_number(id as u64, out);
    for word in words {
        out.push(b' ');
        out.extend_from_slice(word.as_bytes());
    }
}

/// Appends a name as a word, as it was written; an open quote is closed.
fn put_name(name: Name<'_>, out: &mut Vec<u8>) {
    out.push(b' ');
    let quoting = match name.quoting {
        Quoting::Bare if !name.text.is_empty() => Quoting::Bare,
        _ => Quoting::Quoted,
    };
    Name { quoting, ..name }.write_raw(out);
}

/// Appends digits.
fn put_number(number: u64, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("memory can be written to");
}
