//! Structure of each container, without times: events, sequences, loops.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::Read;

use paje_pack::{Error, Outline, OutlinedLine, Reader, Structure, Token};
use paje_parser::EventKind;
use paje_parser::error::shown;
use rustc_hash::FxHashMap;

/// Lane of a container: its structure so far.
struct Lane {
    structure: Structure,
    /// The numbers of its events, and the names and counts of these.
    numbers: FxHashMap<String, u32>,
    events: Vec<(String, u64)>,
    /// The values of the states that are open.
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

    fn take(&mut self, kind: EventKind, words: String) {
        match kind {
            EventKind::PushState => {
                let event = self.event(format!("Push {words}"));
                self.open.push(words);
                self.structure.enter(event);
            }
            EventKind::PopState => {
                // Its line does not say which state ends.
                let ended = self.open.pop().unwrap_or(words);
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

    /// All but the name of the container.
    fn told(&self) -> String {
        let mut told = String::new();
        let structure = &self.structure;
        let mut line = |line: std::fmt::Arguments<'_>| {
            let _ = writeln!(told, "{line}");
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
        told
    }
}

/// Sequences are counted from 1, as the whole is HTF's sequence 0.
fn spelt(tokens: &[Token]) -> String {
    let spell = |token: &Token| match token {
        Token::Event(number) => format!("E{number:x}"),
        Token::Sequence(number) => format!("S{}", number + 1),
        Token::Loop(number) => format!("L{number}"),
    };
    tokens.iter().map(spell).collect::<Vec<_>>().join(" ")
}

/// True for events of a container that may be part of a structure.
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

/// A name as it is printed here: without quotes around it, but escaped.
fn bare(name: &[u8]) -> String {
    shown(name).trim_matches('\'').to_owned()
}

/// The words of a line that are names; its number and what differs from line to line are left out.
fn words(line: &OutlinedLine<'_>) -> String {
    let words =
        line.action.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let names = words.skip(1).filter(|word| !matches!(word, [1..=5]));
    names.map(bare).collect::<Vec<_>>().join(" ")
}

/// The structure of each container in the packed trace that `from` gives, those that are the same together. Loops
/// repeat `longest` tokens at most. No time is read, and no number.
pub(crate) fn structure(from: impl Read, longest: usize) -> Result<impl Display, Error> {
    let mut lanes: Vec<(Vec<u8>, Lane)> = Vec::new();
    let mut places: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
    let mut reader = Reader::new(from);
    let mut outline = Outline::default();
    while let Some(segment) = reader.next_segment()? {
        outline.visit(&segment, |line| {
            let Some(kind) = line.kind.filter(|kind| is_event(*kind)) else { return };
            let place = places.get(line.lane).copied().unwrap_or_else(|| {
                places.insert(line.lane.to_vec(), lanes.len());
                lanes.push((line.lane.to_vec(), Lane::new(longest)));
                lanes.len() - 1
            });
            lanes[place].1.take(kind, words(&line));
        })?;
    }
    let mut same: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    let mut firsts: FxHashMap<String, usize> = FxHashMap::default();
    for (place, (name, mut lane)) in lanes.into_iter().enumerate() {
        lane.structure.finish();
        let told = lane.told();
        let first = *firsts.entry(told.clone()).or_insert(place);
        same.entry((first, told)).or_default().push(bare(&name));
    }
    let mut text = String::new();
    for ((_, told), names) in same {
        let _ = write!(text, "{}\n{told}", names.join(", "));
    }
    Ok(text)
}
