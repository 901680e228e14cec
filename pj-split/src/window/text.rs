//! Text of the lines of a window.

use std::fmt::Display;
use std::io::Write;

use paje_parser::TypeNature;
use paje_sim::{ContainerId, Trace, TypeId, ValueId};

use crate::mend::spell;

/// All event definitions. Lines below use their numbers.
const EVENTS: [(u8, &str, &str); 17] = [
    (1, "DefineContainerType", "Alias Type Name"),
    (2, "DefineStateType", "Alias Type Name"),
    (3, "DefineVariableType", "Alias Type Name"),
    (4, "DefineEventType", "Alias Type Name"),
    (5, "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
    (6, "DefineEntityValue", "Alias Type Name"),
    (7, "DefineEntityValue", "Alias Type Name Color"),
    (8, "CreateContainer", "Time Alias Type Container Name"),
    (9, "DestroyContainer", "Time Name Type"),
    (10, "PushState", "Time Type Container Value"),
    (11, "PopState", "Time Type Container"),
    (12, "SetVariable", "Time Type Container Value"),
    (13, "AddVariable", "Time Type Container Value"),
    (14, "NewEvent", "Time Type Container Value"),
    (15, "StartLink", "Time Type Container StartContainer Value Key"),
    (16, "EndLink", "Time Type Container EndContainer Value Key"),
    (17, "DefineEventType", "Time Name Type"),
];

#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) container: ContainerId,
    pub(super) type_: TypeId,
}

fn put(out: &mut Vec<u8>, what: impl Display) {
    let _ = write!(out, "{what}");
}

fn begin(out: &mut Vec<u8>, number: u8, time: f64) {
    put(out, format_args!("{number} {time}"));
}

fn type_(out: &mut Vec<u8>, trace: &Trace, type_: TypeId) {
    out.push(b' ');
    spell(trace.types().identifier(type_), out);
}

fn container(out: &mut Vec<u8>, trace: &Trace, container: ContainerId) {
    out.push(b' ');
    spell(trace.containers().identifier(container), out);
}

fn value(out: &mut Vec<u8>, trace: &Trace, type_: TypeId, value: ValueId) {
    out.push(b' ');
    spell(trace.types().value_identifier(type_, value), out);
}

fn start(out: &mut Vec<u8>, trace: &Trace, number: u8, time: f64, of: Of) {
    begin(out, number, time);
    type_(out, trace, of.type_);
    container(out, trace, of.container);
}

pub(super) fn head(out: &mut Vec<u8>, trace: &Trace, used: &[Vec<bool>]) {
    for (number, name, fields) in EVENTS {
        put(out, format_args!("%EventDef Paje{name} {number}\n"));
        for field in fields.split(' ') {
            let kind = match field {
                "Time" => "date",
                "Color" => "color",
                _ => "string",
            };
            put(out, format_args!("% {field} {kind}\n"));
        }
        out.extend_from_slice(b"%EndEventDef\n");
    }
    let types = trace.types();
    for id in types.ids().skip(1) {
        let number = match types.nature(id) {
            TypeNature::Container => 1,
            TypeNature::State => 2,
            TypeNature::Variable => 3,
            TypeNature::Event => 4,
            TypeNature::Link => 5,
        };
        put(out, number);
        type_(out, trace, id);
        type_(out, trace, types.parent(id));
        if let Some((start, end)) = types.link_ends(id) {
            type_(out, trace, start);
            type_(out, trace, end);
        }
        out.push(b' ');
        spell(types.name(id), out);
        out.push(b'\n');
    }
    for (id, used) in types.ids().zip(used) {
        let used = (0..).zip(used).filter(|(_, used)| **used);
        for number in used.map(|(number, _)| ValueId(number)) {
            let color = types.value_color(id, number);
            put(out, if color.is_some() { 7 } else { 6 });
            value(out, trace, id, number);
            type_(out, trace, id);
            out.push(b' ');
            spell(types.value_name(id, number), out);
            if let Some(color) = color {
                let [red, green, blue, alpha] = color.0;
                put(out, format_args!(" \"{red} {green} {blue} {alpha}\""));
            }
            out.push(b'\n');
        }
    }
}

/// Writes the end of the trace as a definition of an unused type, because the time of any line
/// counts.
pub(super) fn end(out: &mut Vec<u8>, trace: &Trace, time: f64) {
    let name = crate::root::end_type(trace);
    put(out, format_args!("17 {time} {name} 0\n"));
}

pub(super) fn create(out: &mut Vec<u8>, trace: &Trace, id: ContainerId, time: f64) {
    let containers = trace.containers();
    begin(out, 8, time);
    container(out, trace, id);
    type_(out, trace, containers.type_of(id));
    container(out, trace, containers.parent(id));
    out.push(b' ');
    spell(containers.name(id), out);
}

pub(super) fn destroy(out: &mut Vec<u8>, trace: &Trace, id: ContainerId, time: f64) {
    begin(out, 9, time);
    container(out, trace, id);
    type_(out, trace, trace.containers().type_of(id));
}

pub(super) fn push(out: &mut Vec<u8>, trace: &Trace, of: Of, time: f64, state: ValueId) {
    start(out, trace, 10, time, of);
    value(out, trace, of.type_, state);
}

pub(super) fn pop(out: &mut Vec<u8>, trace: &Trace, of: Of, time: f64) {
    start(out, trace, 11, time, of);
}

pub(super) fn change(
    out: &mut Vec<u8>,
    trace: &Trace,
    of: Of,
    time: f64,
    sets: bool,
    number: &str,
) {
    start(out, trace, if sets { 12 } else { 13 }, time, of);
    put(out, format_args!(" {number}"));
}

pub(super) fn event(out: &mut Vec<u8>, trace: &Trace, of: Of, time: f64, event: ValueId) {
    start(out, trace, 14, time, of);
    value(out, trace, of.type_, event);
}

pub(super) struct LinkHalf<'k> {
    pub(super) starts: bool,
    pub(super) at: ContainerId,
    pub(super) key: &'k [u8],
}

pub(super) fn link(
    out: &mut Vec<u8>,
    trace: &Trace,
    of: Of,
    time: f64,
    link: ValueId,
    half: LinkHalf<'_>,
) {
    start(out, trace, if half.starts { 15 } else { 16 }, time, of);
    container(out, trace, half.at);
    value(out, trace, of.type_, link);
    out.push(b' ');
    out.extend_from_slice(half.key);
}

/// Returns numbers that add up to the value. If `single` is true, each of them is exact in single
/// precision, because PajeNG reads numbers in single precision and adds them in double precision.
pub(super) fn parts(value: f64, single: bool) -> Vec<String> {
    let whole = || vec![value.to_string()];
    if !single || !value.is_finite() {
        return whole();
    }
    if f64::from(value as f32) == value {
        // This is the shortest text, which is usually the same as in the trace.
        return vec![(value as f32).to_string()];
    }
    let (mut parts, mut rest) = (Vec::new(), value);
    while rest != 0.0 {
        let part = f64::from((rest as f32).clamp(f32::MIN, f32::MAX));
        // The value is too small or too large to be the sum of a few parts.
        if part == 0.0 || parts.len() == MOST_PARTS {
            return whole();
        }
        parts.push(part.to_string());
        rest -= part;
    }
    parts
}

/// Three parts have all digits of any number that single precision can represent.
const MOST_PARTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sums_of_single_precision_parts() {
        let read = |value: f64| -> Vec<f64> {
            parts(value, true).iter().map(|part| part.parse().expect("a number")).collect()
        };
        for value in [0.0, -1.5, 0.1, 1e9 / 3.0, -1e-9 / 7.0, 6e38, 16_777_217.0, 1e300] {
            let parts = read(value);
            assert_eq!(parts.iter().sum::<f64>(), value);
            assert!(value == 1e300 || parts.iter().all(|part| f64::from(*part as f32) == *part));
        }
        assert_eq!(parts(f64::from(0.1_f32), true), ["0.1"]);
        assert_eq!(parts(0.1, false), ["0.1"]);
        assert_eq!(parts(0.5, true), ["0.5"]);
        assert_eq!(parts(f64::NAN, true), ["NaN"]);
    }
}
