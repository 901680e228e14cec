//! Writes the head of each file of a damaged trace: event definitions and types as the replay knows
//! them.

use paje_parser::{EventDef, EventKind, FieldName, Quoting};
use paje_sim::{Name, Trace, TypeId, TypeNature};

use super::{Mending, Place};
use crate::root::{plain, word};

/// Writes all definitions. `number` yields unused event numbers.
pub(super) fn write(
    mending: &Mending<'_>,
    places: &[Place],
    old_names: bool,
    number: &mut impl FnMut() -> String,
) -> Vec<u8> {
    let trace = mending.trace;
    let mut out = Vec::new();
    for def in trace.defs().iter() {
        define(def, def.kind(), def.id(), old_names, &mut out);
        if let Some(setter) = mending.setters.get(def.id()) {
            define(def, EventKind::SetVariable, setter.as_bytes(), old_names, &mut out);
        }
    }
    let creation = [("Time", "date"), ("Name", "string"), ("Alias", "string"), ("Type", "string")];
    let creation = [&creation[..], &[("Container", "string")]].concat();
    own(EventKind::CreateContainer, &mending.creation, &creation, &mut out);
    types(trace, places, number, &mut out);
    out
}

fn own(kind: EventKind, number: &str, fields: &[(&str, &str)], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("%EventDef {} {number}\n", kind.name()).as_bytes());
    for (name, type_) in fields {
        out.extend_from_slice(format!("% {name} {type_}\n").as_bytes());
    }
    out.extend_from_slice(b"%EndEventDef\n");
}

/// Writes a definition of the trace, perhaps with another kind of event.
fn define(def: &EventDef, kind: EventKind, number: &[u8], old_names: bool, out: &mut Vec<u8>) {
    let quoted = |text: &[u8], out: &mut Vec<u8>| {
        // Inside an unquoted word, a quote is an ordinary character. Inside quotes, it would end
        // the word.
        let can_have_none = plain(text) || text.contains(&b'"');
        let needs_none = can_have_none && !matches!(text, b"EventDef" | b"EndEventDef");
        let quote: &[u8] = if needs_none { b"" } else { b"\"" };
        [quote, text, quote].iter().for_each(|part| out.extend_from_slice(part));
    };
    out.extend_from_slice(format!("%EventDef {} ", kind.name()).as_bytes());
    quoted(number, out);
    out.push(b'\n');
    for (index, field) in def.fields().iter().enumerate() {
        let mut name = field.name.clone();
        if field.known.is_none() && is_known(&name, old_names) {
            // The definition repeats a known field. The second one counts as user-defined.
            name = format!("{name}-{index}");
        }
        if name.is_empty() {
            // No valid definition can contain this name.
            name = format!("Field-{index}");
        }
        // A leading quote is an ordinary character only if it directly follows the percent sign.
        out.extend_from_slice(if name.starts_with('"') { b"%" } else { b"% " });
        quoted(name.as_bytes(), out);
        out.extend_from_slice(format!(" {}\n", field.kind.word()).as_bytes());
    }
    out.extend_from_slice(b"%EndEventDef\n");
}

fn is_known(name: &str, old_names: bool) -> bool {
    let old = ["ContainerType", "EntityType", "SourceContainerType", "DestContainerType"];
    let old = [&old[..], &["SourceContainer", "DestContainer"]].concat();
    FieldName::ALL.iter().any(|known| known.name() == name) || old_names && old.contains(&name)
}

/// Writes all types, starting with container types, each after its parent.
fn types(trace: &Trace, places: &[Place], number: &mut impl FnMut() -> String, out: &mut Vec<u8>) {
    let all = trace.types();
    let plain = [("Name", "string"), ("Alias", "string"), ("Type", "string")];
    let ends = [("StartContainerType", "string"), ("EndContainerType", "string")];
    let mut numbers = Vec::new();
    for (nature, kind) in [
        (TypeNature::Container, EventKind::DefineContainerType),
        (TypeNature::State, EventKind::DefineStateType),
        (TypeNature::Variable, EventKind::DefineVariableType),
        (TypeNature::Event, EventKind::DefineEventType),
        (TypeNature::Link, EventKind::DefineLinkType),
    ] {
        let number = number();
        let fields = match kind {
            EventKind::DefineLinkType => [&plain[..], &ends[..]].concat(),
            _ => plain.to_vec(),
        };
        own(kind, &number, &fields, out);
        numbers.push((nature, number));
    }
    let parent = |type_: TypeId| match places[type_.index()] {
        Place::In(parent) | Place::Link(parent, ..) => parent,
        Place::SeveralParents | Place::SeveralEnds => all.parent(type_),
    };
    let is_container = |type_: &TypeId| all.nature(*type_) == TypeNature::Container;
    let mut inside = vec![Vec::new(); all.len()];
    for type_ in all.ids().skip(1).filter(is_container) {
        inside[parent(type_).index()].push(type_);
    }
    let mut order = vec![TypeId::ROOT];
    let mut next = 0;
    while let Some(type_) = order.get(next).copied() {
        order.append(&mut inside[type_.index()]);
        next += 1;
    }
    let others = all.ids().skip(1).filter(|type_| !is_container(type_));
    for type_ in order.into_iter().skip(1).chain(others) {
        let Some((_, number)) = numbers.iter().find(|(nature, _)| *nature == all.nature(type_))
        else {
            continue;
        };
        out.extend_from_slice(number.as_bytes());
        for name in [all.name(type_), all.identifier(type_), all.identifier(parent(type_))] {
            out.push(b' ');
            spell(name, out);
        }
        if all.nature(type_) == TypeNature::Link {
            let defined = all.link_ends(type_).unwrap_or((parent(type_), parent(type_)));
            let (start, end) = match places[type_.index()] {
                Place::Link(_, start, end) => (start, end),
                _ => defined,
            };
            for end in [start, end] {
                out.push(b' ');
                spell(all.identifier(end), out);
            }
        }
        out.push(b'\n');
    }
}

/// Appends a name as the trace spells it, or in quotes if that spelling would not be a single
/// field.
pub(super) fn spell(name: Name<'_>, out: &mut Vec<u8>) {
    if name.quoting == Quoting::Bare {
        return word(name, out);
    }
    out.push(b'"');
    out.extend_from_slice(name.text);
    out.push(b'"');
}
