//! Prints the structure of each container as events, sequences and loops, without times.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::Read;

use paje_pack::{Error, Packed, Reader};
use paje_parser::columns::{Lines, Wanted};
use paje_parser::error::shown;
use paje_parser::{EventKind, FieldName, FieldNames, Line, LineDecoder};
use rustc_hash::FxHashMap;

use crate::grammar::{Structure, Token};

/// A container and its structure so far.
struct Lane {
    structure: Structure,
    numbers: FxHashMap<String, u32>,
    events: Vec<(String, u64)>,
    open: Vec<String>,
}

impl Lane {
    fn new(longest: usize) -> Lane {
        Lane {
            structure: Structure::new(longest),
            numbers: FxHashMap::default(),
            events: Vec::new(),
            open: Vec::new(),
        }
    }

    fn event(&mut self, name: String) -> u32 {
        let next = self.events.len() as u32;
        let number = *self.numbers.entry(name).or_insert_with_key(|name| {
            self.events.push((name.clone(), 0));
            next
        });
        self.events[number as usize].1 += 1;
        number
    }

    fn add(&mut self, kind: EventKind, words: &str) {
        match kind {
            EventKind::PushState => {
                let event = self.event(format!("Push {words}"));
                self.open.push(words.to_owned());
                self.structure.enter(event);
            }
            EventKind::PopState => {
                // The line does not contain the value of the ending state.
                let ended = self.open.pop().unwrap_or_else(|| words.to_owned());
                let event = self.event(format!("Pop  {ended}"));
                self.structure.leave(event);
            }
            kind => {
                let name = kind.name().trim_start_matches("Paje");
                let event = self.event(format!("{name} {words}"));
                self.structure.event(event);
            }
        }
    }

    /// Returns the printed structure without the name of the container.
    fn text(&self) -> String {
        let mut text = String::new();
        let structure = &self.structure;
        let mut line = |line: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{line}");
        };
        line(format_args!("  {} events: {}", structure.events(), spelt(structure.root())));
        line(format_args!("  events {}", self.events.len()));
        for (number, (name, count)) in self.events.iter().enumerate() {
            line(format_args!("    {:<4} {count:>10}  {name}", format!("E{number:x}")));
        }
        line(format_args!("  sequences {}", structure.sequences().len()));
        for (number, tokens) in structure.sequences().iter().enumerate() {
            line(format_args!("    {:<4} {}", format!("S{}", number + 1), spelt(tokens)));
        }
        line(format_args!("  loops {}", structure.loops().len()));
        for (number, looped) in structure.loops().iter().enumerate() {
            let counts: Vec<_> = looped.counts.iter().map(u64::to_string).collect();
            line(format_args!(
                "    {:<4} ({}) * {}",
                format!("L{number}"),
                counts.join(", "),
                spelt(&[looped.body])
            ));
        }
        text
    }
}

/// Returns tokens as text. Sequences are numbered from 1, because HTF gives number 0 to the whole.
fn spelt(tokens: &[Token]) -> String {
    let spell = |token: &Token| match token {
        Token::Event(number) => format!("E{number:x}"),
        Token::Sequence(number) => format!("S{}", number + 1),
        Token::Loop(number) => format!("L{number}"),
    };
    tokens.iter().map(spell).collect::<Vec<_>>().join(" ")
}

fn is_event(kind: EventKind) -> bool {
    use EventKind as E;
    matches!(
        kind,
        E::NewEvent
            | E::SetState
            | E::PushState
            | E::PopState
            | E::ResetState
            | E::StartLink
            | E::EndLink
    )
}

/// Returns an escaped name for printing, without quotes around it.
fn bare(name: &[u8]) -> String {
    shown(name).trim_matches('\'').to_owned()
}

/// An event of a container, without its time and its numbers.
struct LaneEvent {
    lane: usize,
    kind: EventKind,
    /// Names in the line, except for the container's name.
    words: String,
}

/// The containers in the order of their first events, and their structures.
struct Lanes {
    all: Vec<(Vec<u8>, Lane)>,
    places: FxHashMap<Vec<u8>, usize>,
    decoder: LineDecoder,
    longest: usize,
}

impl Lanes {
    /// Decodes a line. Returns `None` if it is not an event that the structure shows.
    fn decode(&mut self, line: &[u8]) -> Option<LaneEvent> {
        let Ok(Line::Event(event)) = self.decoder.line(line) else { return None };
        let kind = event.def().kind();
        let (container, is_link) = match kind {
            EventKind::StartLink => (FieldName::StartContainer, true),
            EventKind::EndLink => (FieldName::EndContainer, true),
            _ => (FieldName::Container, false),
        };
        if !is_event(kind) {
            return None;
        }
        let differs = |field| match field {
            FieldName::Time => true,
            FieldName::Key | FieldName::Value => is_link,
            field => field == container,
        };
        let fields = event.def().fields().iter().filter_map(|field| field.known);
        let names = fields.filter(|field| !differs(*field)).filter_map(|field| event.field(field));
        let words = names.map(|name| bare(name.raw())).collect::<Vec<_>>().join(" ");
        let name = event.field(container)?.raw();
        let lane = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_vec(), self.all.len());
            self.all.push((name.to_vec(), Lane::new(self.longest)));
            self.all.len() - 1
        });
        Some(LaneEvent { lane, kind, words })
    }

    fn add(&mut self, event: Option<&LaneEvent>) {
        if let Some(LaneEvent { lane, kind, words }) = event {
            self.all[*lane].1.add(*kind, words);
        }
    }

    /// Adds the lines of a segment. Only the first line of each step is read as text.
    fn add_segment(
        &mut self,
        segment: &Packed,
        columns: &mut Lines,
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if !segment.columns(text, columns, &mut |_, _| Wanted::Columns(None)) {
            let text = segment.unpack()?;
            for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n') {
                let event = self.decode(line);
                self.add(event.as_ref());
            }
            return Ok(());
        }
        // The event of each step, because all lines of a step are the same event.
        let mut events: Vec<Option<LaneEvent>> = Vec::new();
        events.resize_with(columns.counts.len(), || None);
        let mut contents = columns.contents.iter().peekable();
        for (number, line) in (0..).zip(&columns.lines) {
            let content = contents.next_if(|content| content.line == number);
            if !line.has_text() {
                self.add(events.get(line.step as usize).and_then(Option::as_ref));
                continue;
            }
            let line = &text[line.start as usize..];
            let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
            let event = self.decode(&line[..end]);
            self.add(event.as_ref());
            if let Some(of_step) = content.and_then(|it| events.get_mut(it.step as usize)) {
                *of_step = event;
            }
        }
        Ok(())
    }
}

/// Returns the structure of each container in a packed trace. Containers with the same structure
/// are listed together. The body of a loop has at most `longest` tokens.
pub(crate) fn structure(from: impl Read, longest: usize) -> Result<impl Display, Error> {
    let mut lanes = Lanes {
        all: Vec::new(),
        places: FxHashMap::default(),
        decoder: LineDecoder::new(FieldNames::Old),
        longest,
    };
    let mut reader = Reader::new(from);
    let (mut columns, mut text) = (Lines::default(), Vec::new());
    while let Some(segment) = reader.next_segment()? {
        lanes.add_segment(&segment, &mut columns, &mut text)?;
    }
    let mut same: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    let mut firsts: FxHashMap<String, usize> = FxHashMap::default();
    for (place, (name, mut lane)) in lanes.all.into_iter().enumerate() {
        lane.structure.finish();
        let text = lane.text();
        let first = *firsts.entry(text.clone()).or_insert(place);
        same.entry((first, text)).or_default().push(bare(&name));
    }
    let mut text = String::new();
    for ((_, structure), names) in same {
        let _ = write!(text, "{}\n{structure}", names.join(", "));
    }
    Ok(text)
}
