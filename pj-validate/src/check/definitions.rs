//! The event definitions of all files of a trace.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use paje_parser::definition::FieldType;
use paje_parser::{EventDef, EventKind};
use paje_sim::error::{EventName, Problem};

use super::findings::Findings;
use super::place::Place;
use crate::finding::Caution;

/// Definitions of all files. Equal definitions count once, since files may repeat them.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    list: Vec<Definition>,
    numbers: HashMap<Definition, u32, RandomState>,
    /// For each definition: where it first occurs, the length of its first line, and whether an
    /// event used it.
    places: Vec<(Place, u64, bool)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Definition {
    id: Vec<u8>,
    kind: EventKind,
    fields: Vec<(String, FieldType)>,
}

impl Definitions {
    pub(crate) fn add(&mut self, def: &EventDef, place: Place, width: u64) -> u32 {
        let fields = def.fields().iter().map(|field| (field.name.clone(), field.kind));
        let def = Definition { id: def.id().to_vec(), kind: def.kind(), fields: fields.collect() };
        if let Some(number) = self.numbers.get(&def) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(def.clone());
        self.places.push((place, width, false));
        self.numbers.insert(def, number);
        number
    }

    pub(crate) fn used(&mut self, number: u32) {
        self.places[number as usize].2 = true;
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn report_unused(&self, findings: &mut Findings) {
        let all = self.places.iter().zip(&self.list);
        let unused = || all.clone().filter(|((_, _, used), _)| !used);
        let Some(((place, width, _), _)) = unused().next() else {
            return;
        };
        let events = unused().take(Problem::LISTED);
        let events = events.map(|(_, def)| EventName { kind: def.kind, number: def.id.clone() });
        let count = unused().count() as u64;
        let caution = Caution::UnusedEvents { events: events.collect(), count };
        findings.afterwards(caution, Some(*place), *width);
    }
}
