//! Lines, cut into what they do and what differs from one to the next.

use std::ops::Range;

use paje_parser::{DefTable, EventDef, EventKind, FieldName, FieldNames, token};
use rustc_hash::FxHashMap;

use crate::lines::holes;
use crate::texts::{Key, SHORT};

/// Fields of a line that may differ; lines with more are kept as they are.
const FIELDS: usize = 64;

/// Events by their codes.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    table: DefTable,
    /// Which table `by_code` was made from.
    known: usize,
    events: Vec<Known>,
    /// Places in `events`; codes of a few bytes by their keys, too.
    by_code: FxHashMap<Box<[u8]>, usize>,
    by_key: FxHashMap<Key, usize>,
}

/// An event: its kind, and a hole or nothing for each of its fields.
#[derive(Clone, Debug)]
struct Known {
    kind: EventKind,
    holes: Box<[u8]>,
    /// Field of its time, if it has one.
    time: Option<usize>,
}

/// Role of a field of an event; 0 if it is part of the action.
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
        // Some traces have thousands of them, each with a colour of its own.
        (E::DefineEntityValue, _) => holes::VALUE,
        (_, F::Container) => holes::LANE,
        _ => 0,
    }
}

fn roles(def: &EventDef) -> Box<[u8]> {
    let mut lane = false;
    let one = |field: &paje_parser::definition::FieldDef| {
        let role = role(def.kind(), field.known);
        // One lane only.
        let again = role == holes::LANE && std::mem::replace(&mut lane, true);
        if again { holes::VALUE } else { role }
    };
    def.fields().iter().map(one).collect()
}

impl Roles {
    pub(crate) fn new() -> Self {
        Roles {
            table: DefTable::new(FieldNames::Old),
            known: 0,
            events: Vec::new(),
            by_code: FxHashMap::default(),
            by_key: FxHashMap::default(),
        }
    }

    /// Takes in a line that may be part of a definition.
    pub(crate) fn learn(&mut self, line: &[u8]) {
        // A replay reports faulty ones.
        if self.table.header_line(line).is_err() {
            return;
        }
        let defs = self.table.defs();
        for def in defs.since(self.known) {
            let (code, place): (&[u8], _) = (def.id(), self.events.len());
            let holes = roles(def);
            let time = holes.iter().position(|role| *role == holes::TIME);
            self.events.push(Known { kind: def.kind(), holes, time });
            self.by_code.insert(code.into(), place);
            if code.len() <= SHORT {
                self.by_key.insert(Key::of(code), place);
            }
        }
        self.known = defs.len();
    }

    /// No event is known.
    pub(crate) const fn are_none(&self) -> bool {
        self.known == 0
    }

    /// Returns the kind of event of a code.
    pub(crate) fn kind(&self, code: &[u8]) -> Option<EventKind> {
        self.by_code.get(code).map(|place| self.events[*place].kind)
    }

    /// Returns the holes of the event of a short code.
    pub(crate) fn holes(&self, code: Key) -> Option<&[u8]> {
        Some(&self.events[*self.by_key.get(&code)?].holes)
    }

    /// The time of a line, if it is known which field that is.
    pub(crate) fn time<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        let code = next_field(line, 0)?;
        let before = self.events[*self.by_code.get(&line[code.clone()])?].time?;
        let mut field = next_field(line, code.end)?;
        for _ in 0..before {
            field = next_field(line, field.end)?;
        }
        Some(&line[field])
    }

    /// Takes in the definitions of a text.
    pub(crate) fn learn_all(&mut self, text: &[u8]) {
        header_lines(text).for_each(|line| self.learn(line));
    }
}

/// Lines of a text that are part of a definition.
pub(crate) fn header_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    let lines = std::iter::from_fn(move || {
        let percent = at + memchr::memchr(b'%', &text[at..])?;
        let start = memchr::memrchr(b'\n', &text[..percent]).map_or(0, |newline| newline + 1);
        at = memchr::memchr(b'\n', &text[percent..]).map_or(text.len(), |len| percent + len);
        Some(&text[start..at])
    });
    lines.filter(|line| is_header(line))
}

/// It is part of a definition.
pub(crate) fn is_header(line: &[u8]) -> bool {
    line.iter().find(|byte| !token::is_white(**byte)) == Some(&b'%')
}

/// Bytes that end a field.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        ends[byte] = token::is_white(byte as u8) || byte as u8 == b'#';
        byte += 1;
    }
    ends
};

/// The next field from byte `at` on, as [`token::next_field`] has it, but sooner.
#[inline]
fn next_field(line: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = line.get(at..)?;
    let first = at + rest.iter().position(|byte| !token::is_white(*byte))?;
    let field = &line[first..];
    let len = match field[0] {
        b'#' => return None,
        b'"' => memchr::memchr(b'"', &field[1..]).map_or(field.len(), |closing| closing + 2),
        _ => field.iter().position(|byte| ENDS[usize::from(*byte)]).unwrap_or(field.len()),
    };
    Some(first..first + len)
}

/// A line in parts.
#[derive(Default)]
pub(crate) struct Cut {
    /// Its text, with holes.
    pub(crate) action: Vec<u8>,
    /// Contents of the holes, as ranges of the line.
    pub(crate) fields: Vec<Range<usize>>,
    pub(crate) lane: Range<usize>,
}

impl Cut {
    /// Cuts a line; false if it is to be kept as it is.
    pub(crate) fn cut(&mut self, line: &[u8], roles: &Roles) -> bool {
        self.action.clear();
        self.fields.clear();
        self.lane = 0..0;
        let Some(code) = next_field(line, 0) else { return false };
        let Some(place) = roles.by_code.get(&line[code.clone()]) else { return false };
        let known = &roles.events[*place];
        let (mut at, mut copied) = (code.end, 0);
        let mut given = known.holes.iter().copied();
        while let Some(field) = next_field(line, at) {
            at = field.end;
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
        // Bytes for holes cannot be in the text.
        let holes = self.action.iter().filter(|byte| in_the_way(byte)).count();
        holes == self.fields.len() && !self.fields.is_empty() && self.fields.len() <= FIELDS
    }
}
