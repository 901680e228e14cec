//! Cuts a trace by container into files, plainly: one line after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use paje_parser::{Event, FieldNames, Line, LineDecoder};

/// How a trace is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Pieces that are traces by themselves: definitions, types, values, the containers they need.
    Whole,
    /// Pieces without a header or any definition: events of lanes and nothing else.
    Bare,
    /// Pieces named where a container is created, with event numbers of their own.
    Renumbered,
}

/// The numbers of definitions that the cuts add.
const FILE: &str = "987654321";
const CREATE: &str = "987654322";
const DESTROY: &str = "987654323";

/// A line, and what of it matters here.
struct Cut<'t> {
    text: &'t [u8],
    what: What,
}

enum What {
    Header,
    /// Types and values.
    Shared,
    Create {
        id: Vec<u8>,
        type_: Vec<u8>,
        parent: Vec<u8>,
    },
    Destroy(Vec<u8>),
    /// An event of this container's lanes; the end of a link at another.
    Event(Vec<u8>, Option<Vec<u8>>),
}

/// The lines, and a decoder that knows all definitions.
fn read(trace: &[u8]) -> (Vec<Cut<'_>>, LineDecoder) {
    let mut decoder = LineDecoder::new(FieldNames::Strict);
    let mut lines = Vec::new();
    for text in trace.split_inclusive(|byte| *byte == b'\n') {
        let what = match decoder.line(text).expect("a valid trace") {
            Line::Blank => continue,
            Line::Header => What::Header,
            Line::Event(raw) => match raw.decode().expect("a valid trace") {
                Event::CreateContainer { name, alias, type_, parent, .. } => What::Create {
                    id: alias.unwrap_or(name).bare().to_vec(),
                    type_: type_.bare().to_vec(),
                    parent: parent.bare().to_vec(),
                },
                Event::DestroyContainer { name, .. } => What::Destroy(name.bare().to_vec()),
                Event::Entity { container, .. } => What::Event(container.bare().to_vec(), None),
                Event::Link { container, at, .. } => {
                    What::Event(container.bare().to_vec(), Some(at.bare().to_vec()))
                }
                _ => What::Shared,
            },
        };
        lines.push(Cut { text, what });
    }
    (lines, decoder)
}

fn definition(event: &str, number: &str, fields: &str) -> String {
    let fields: String = fields.split(' ').map(|field| format!("% {field} string\n")).collect();
    format!("%EventDef Paje{event} {number}\n{fields}%EndEventDef\n")
}

/// The line's text with a newline behind it.
fn whole(text: &[u8]) -> Vec<u8> {
    let newline = if text.ends_with(b"\n") { &b""[..] } else { b"\n" };
    [text, newline].concat()
}

/// A word as a trace has to spell it.
fn spelled(word: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(word))
}

/// The line with this in place of its number.
fn renumbered(text: &[u8], piece: usize) -> Vec<u8> {
    let words = paje_parser::token::next_field(text, 0).expect("an event has words");
    let (before, after) = (&text[..words.start], &text[words.end..]);
    let id = String::from_utf8_lossy(&text[words]).replace('"', "");
    whole(&[before, format!("n{piece}x{id}").as_bytes(), after].concat())
}

/// A `%EventDef` line with another number, any other line as it is.
fn renumbered_header(text: &[u8], piece: usize) -> Vec<u8> {
    let line = String::from_utf8_lossy(text).into_owned();
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.iter().position(|word| word.ends_with("EventDef") && !word.contains("End")) {
        Some(at) if words.len() > at + 2 => {
            let id = words[at + 2].replace('"', "");
            format!("%EventDef {} n{piece}x{id}\n", words[at + 1]).into_bytes()
        }
        _ => whole(text),
    }
}

/// Cuts `trace`, which ends at `end`, into `root.trace` and so many pieces; returns the path of the
/// first. No container of the trace may have a quote in its name.
pub(crate) fn cut(folder: &Path, trace: &[u8], end: &str, pieces: usize, style: Style) -> PathBuf {
    let (lines, mut decoder) = read(trace);
    let mut piece_of = BTreeMap::from([(b"0".to_vec(), 0)]);
    let mut parents = BTreeMap::new();
    for line in &lines {
        if let What::Create { id, parent, .. } = &line.what {
            let next = piece_of.len() % pieces;
            piece_of.entry(id.clone()).or_insert(next);
            parents.insert(id.clone(), parent.clone());
        }
    }
    // The containers that each piece speaks of, with all that they are in.
    let mut known = vec![BTreeSet::new(); pieces];
    let mut know = |piece: usize, id: &[u8]| {
        let mut next = Some(id.to_vec());
        while let Some(id) = next {
            next = parents.get(&id).cloned();
            known[piece].insert(id);
        }
    };
    for line in &lines {
        match &line.what {
            What::Create { id, .. } => know(piece_of[id], id),
            What::Event(container, Some(at)) => know(piece_of[container], at),
            _ => {}
        }
    }
    let name = |piece: usize| format!("pieces/piece-{piece:03}.trace");
    let mut root = definition("TraceFile", FILE, "Container Type Filename").into_bytes();
    root.extend(
        definition("CreateContainer", CREATE, "Time Name Type Container Alias Filename").bytes(),
    );
    let names_root = format!("{FILE} 0 0 {}\n", name(0));
    let mut texts = vec![Vec::new(); pieces];
    let mut named_root = false;
    for Cut { text, what } in &lines {
        let text = &whole(text)[..];
        if !named_root && !matches!(what, What::Header) {
            named_root = true;
            root.extend(names_root.bytes());
        }
        let own = |id: &[u8]| known.iter().map(|known| known.contains(id)).collect::<Vec<_>>();
        let to = match what {
            What::Header | What::Shared => vec![true; pieces],
            What::Create { id, .. } | What::Destroy(id) => own(id),
            What::Event(id, _) => (0..pieces).map(|piece| piece == piece_of[id]).collect(),
        };
        for (piece, text_of) in texts.iter_mut().enumerate().filter(|(piece, _)| to[*piece]) {
            match (style, what) {
                (Style::Whole, _) | (Style::Bare, What::Event(..)) => text_of.extend(text),
                (Style::Renumbered, What::Header) => text_of.extend(renumbered_header(text, piece)),
                (Style::Renumbered, What::Event(..)) => text_of.extend(renumbered(text, piece)),
                _ => {}
            }
        }
        match what {
            What::Event(..) => {}
            What::Create { id, type_, .. } => {
                let piece = piece_of[id];
                root.extend(text);
                if style == Style::Renumbered {
                    // The last word: what the other cuts have in a line of its own.
                    root.truncate(root.len() - text.len());
                    root.extend(with_file(text, &mut decoder, &name(piece)));
                } else {
                    let (id, type_) = (spelled(id), spelled(type_));
                    root.extend(format!("{FILE} {id} {type_} {}\n", name(piece)).bytes());
                }
            }
            _ => root.extend(text),
        }
    }
    if style == Style::Whole {
        for text in &mut texts {
            text.extend(definition("DestroyContainer", DESTROY, "Time Type Name").bytes());
            text.extend(format!("{DESTROY} {end} 0 0\n").bytes());
        }
    }
    fs::create_dir_all(folder.join("pieces")).expect("the folder is writable");
    for (piece, text) in texts.iter().enumerate() {
        fs::write(folder.join(name(piece)), text).expect("the folder is writable");
    }
    let path = folder.join("root.trace");
    fs::write(&path, root).expect("the folder is writable");
    path
}

/// A creation that also names a file.
fn with_file(text: &[u8], decoder: &mut LineDecoder, file: &str) -> Vec<u8> {
    let Ok(Line::Event(raw)) = decoder.line(text) else { panic!("a valid trace") };
    let field = |name| {
        let field = raw.field(name).map_or(&b""[..], |field| field.bare());
        spelled(field)
    };
    use paje_parser::FieldName as F;
    let fields = [F::Time, F::Name, F::Type, F::Container, F::Alias].map(field).join(" ");
    format!("{CREATE} {fields} {file}\n").into_bytes()
}
