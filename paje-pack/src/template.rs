//! Splits lines into actions and the contents of their holes.

use std::ops::Range;

use paje_parser::definition::FieldDef;
use paje_parser::token::{self, Span, next_field};
use paje_parser::{DefTable, EventDef, EventKind, FieldName, FieldNames};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lines::holes;

/// Maximum number of holes of a line. Lines with more holes are stored as they are.
const FIELDS: usize = 64;

/// Maximum number of different values of an event that are parts of actions.
const FEW: usize = 32;

/// The event definitions that precede a point in a trace.
///
/// They determine which fields are times, containers and keys. Events without a definition are also
/// packed, but compress less well.
#[derive(Clone, Debug)]
pub struct Definitions {
    table: DefTable,
    /// Number of definitions that have been added to `events`.
    known: usize,
    events: Vec<Known>,
    /// Indices in `events` by event number.
    by_code: FxHashMap<Box<[u8]>, usize>,
}

/// For each field of an event, the kind of its hole, or 0 if the field is part of the action.
#[derive(Clone, Debug)]
struct Known {
    holes: Box<[u8]>,
    time: Option<usize>,
    /// The value, if it may be part of the action or a hole.
    value: Option<usize>,
}

/// Returns the kind of hole for a field, or 0 if the field is part of the action.
fn role(kind: EventKind, field: Option<FieldName>) -> u8 {
    use EventKind as E;
    use FieldName as F;
    let Some(field) = field else { return holes::VALUE };
    match (kind, field) {
        (_, F::Time) => holes::TIME,
        (E::DestroyContainer, F::Name) | (E::CreateContainer, F::Container) => holes::LANE,
        (E::CreateContainer, F::Name | F::Alias | F::Filename) => holes::VALUE,
        (E::StartLink, F::StartContainer) | (E::EndLink, F::EndContainer) => holes::LANE,
        (E::StartLink, F::Key) => holes::START,
        (E::EndLink, F::Key) => holes::END,
        (E::StartLink | E::EndLink, F::Value) => holes::VALUE,
        (E::SetVariable | E::AddVariable | E::SubVariable, F::Value) => holes::VALUE,
        (E::StartLink | E::EndLink, _) => 0,
        // Values may have different colours, and some traces define thousands of values.
        (E::DefineEntityValue, _) => holes::VALUE,
        (_, F::Container) => holes::LANE,
        _ => 0,
    }
}

fn roles(def: &EventDef) -> Box<[u8]> {
    let mut lane = false;
    let one = |field: &FieldDef| {
        let role = role(def.kind(), field.known);
        // A line has only one lane.
        let again = role == holes::LANE && std::mem::replace(&mut lane, true);
        if again { holes::VALUE } else { role }
    };
    def.fields().iter().map(one).collect()
}

impl Default for Definitions {
    fn default() -> Self {
        Definitions {
            table: DefTable::new(FieldNames::Old),
            known: 0,
            events: Vec::new(),
            by_code: FxHashMap::default(),
        }
    }
}

impl Definitions {
    /// Adds the definitions in a text.
    pub fn learn(&mut self, text: &[u8]) {
        header_lines(text).for_each(|line| self.learn_line(line));
    }

    /// Reads a line that may be part of a definition.
    pub(crate) fn learn_line(&mut self, line: &[u8]) {
        // A replay will report the faulty line.
        if self.table.header_line(line).is_err() {
            return;
        }
        let defs = self.table.defs();
        for def in defs.since(self.known) {
            let (code, place): (&[u8], _) = (def.id(), self.events.len());
            let holes = roles(def);
            let time = holes.iter().position(|role| *role == holes::TIME);
            let is_either = matches!(
                def.kind(),
                EventKind::NewEvent | EventKind::StartLink | EventKind::EndLink
            );
            let is_value = |field: &FieldDef| field.known == Some(FieldName::Value);
            let value = def.fields().iter().position(|field| is_either && is_value(field));
            self.events.push(Known { holes, time, value });
            self.by_code.insert(code.into(), place);
        }
        self.known = defs.len();
    }

    pub(crate) const fn are_none(&self) -> bool {
        self.known == 0
    }

    /// Returns the holes of an event, given its event number.
    pub(crate) fn holes(&self, code: &[u8]) -> Option<&[u8]> {
        Some(&self.events[*self.by_code.get(code)?].holes)
    }

    /// Returns the time of a line if its event is defined and has a time.
    pub(crate) fn time<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        self.field(line, |event| event.time).map(|(_, time)| time)
    }

    /// Returns the index of a line's event and one of the line's fields.
    fn field<'t>(
        &self,
        line: &'t [u8],
        which: impl Fn(&Known) -> Option<usize>,
    ) -> Option<(usize, &'t [u8])> {
        let code = next_field(line, 0)?;
        let event = *self.by_code.get(&line[code.clone()])?;
        let before = which(&self.events[event])?;
        let mut field = next_field(line, code.end)?;
        for _ in 0..before {
            field = next_field(line, field.end)?;
        }
        Some((event, &line[field]))
    }

    /// Makes the values of links and events parts of actions if there are only a few different
    /// values among these lines, and otherwise holes.
    pub(crate) fn settle<'t>(&mut self, lines: impl Iterator<Item = &'t [u8]>) {
        let mut values: FxHashMap<usize, FxHashSet<&[u8]>> = FxHashMap::default();
        for (event, value) in lines.filter_map(|line| self.field(line, |event| event.value)) {
            values.entry(event).or_default().insert(value);
        }
        for (event, values) in values {
            let known = &mut self.events[event];
            if let Some(hole) = known.value.and_then(|value| known.holes.get_mut(value)) {
                *hole = if values.len() > FEW { holes::VALUE } else { 0 };
            }
        }
    }
}

/// Returns a few lines at each of several offsets of a text, without definitions.
pub(crate) fn sample(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const PLACES: usize = 16;
    const LINES: usize = 128;
    let places = (0..PLACES).map(|place| &text[text.len() / PLACES * place..]);
    places.enumerate().flat_map(|(place, text)| {
        // All offsets except the first may be inside a line.
        let lines = text.split(|byte| *byte == b'\n').skip(usize::from(place > 0));
        lines.filter(|line| !is_header(line)).take(LINES)
    })
}

/// Returns the lines of a text that are part of definitions.
fn header_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    let lines = std::iter::from_fn(move || {
        let percent = at + memchr::memchr(b'%', &text[at..])?;
        let start = memchr::memrchr(b'\n', &text[..percent]).map_or(0, |newline| newline + 1);
        at = memchr::memchr(b'\n', &text[percent..]).map_or(text.len(), |len| percent + len);
        Some(&text[start..at])
    });
    lines.filter(|line| is_header(line))
}

/// Returns the length of the definitions at the start of a text, including comments and empty lines
/// between them.
pub(crate) fn header_len(text: &[u8]) -> usize {
    let (mut at, mut len) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        match line.iter().find(|byte| !token::is_white(**byte)) {
            Some(b'%') if line.ends_with(b"\n") => len = at,
            None | Some(b'#') => {}
            _ => break,
        }
    }
    len
}

pub(crate) fn is_header(line: &[u8]) -> bool {
    line.iter().find(|byte| !token::is_white(**byte)) == Some(&b'%')
}

#[derive(Default)]
pub(crate) struct Cut {
    pub(crate) action: Vec<u8>,
    pub(crate) fields: Vec<Range<usize>>,
    pub(crate) lane: Range<usize>,
}

impl Cut {
    /// Splits a line, given its fields. Their offsets are counted from `base` bytes before the
    /// line. Returns `false` if the line must be stored as it is.
    pub(crate) fn cut(
        &mut self,
        line: &[u8],
        spans: &[Span],
        base: usize,
        roles: &Definitions,
    ) -> bool {
        self.action.clear();
        self.fields.clear();
        self.lane = 0..0;
        let mut fields =
            spans.iter().map(|span| span.start as usize - base..span.end as usize - base);
        let Some(code) = fields.next() else { return false };
        let Some(place) = roles.by_code.get(&line[code]) else { return false };
        let known = &roles.events[*place];
        let mut copied = 0;
        let mut given = known.holes.iter().copied();
        for field in fields {
            let role = given.next().unwrap_or(holes::VALUE);
            if role == 0 {
                continue;
            }
            self.action.extend_from_slice(&line[copied..field.start]);
            self.action.push(role);
            copied = field.end;
            if role == holes::LANE {
                self.lane = field.clone();
            }
            self.fields.push(field);
        }
        let in_the_way = |byte: &u8| (holes::LANE..=holes::VALUE).contains(byte);
        let literal = &line[copied..];
        self.action.extend_from_slice(literal);
        // The text must not contain bytes that would look like holes.
        let holes = self.action.iter().filter(|byte| in_the_way(byte)).count();
        holes == self.fields.len() && !self.fields.is_empty() && self.fields.len() <= FIELDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_holes_if_there_are_many() {
        let mut roles = Definitions::default();
        let fields = "%Time date\n%Type string\n%Container string\n%Value string\n%EndEventDef\n";
        roles.learn(format!("%EventDef PajeNewEvent 1\n{fields}").as_bytes());
        for (count, hole) in [(FEW, 0), (FEW + 1, holes::VALUE), (1, 0)] {
            let lines: Vec<_> = (0..count).map(|value| format!("1 0.5 E c {value}")).collect();
            roles.settle(lines.iter().map(String::as_bytes));
            assert_eq!(roles.events[0].holes[3], hole, "{count}");
        }
    }
}
