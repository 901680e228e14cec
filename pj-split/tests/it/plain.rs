//! A simple model of the pieces, which works line by line and keeps everything in memory.

use std::collections::{BTreeMap, BTreeSet};

use paje_parser::{EntityOp, Event, FieldNames, Line, LineDecoder, LinkEnd};

use crate::splitting::Split;

/// Owner of a line. The text of a container or a value identifies it.
#[derive(Clone, Debug, PartialEq)]
enum About {
    Nothing,
    Everybody,
    Value(String, String),
    Creation(String),
    Destruction(String),
    Event(String),
}

pub(crate) struct Plain<'t> {
    lines: Vec<(&'t [u8], About)>,
    parents: BTreeMap<String, String>,
    /// Type and value of each event, with the event's container.
    values: BTreeSet<(String, (String, String))>,
    /// Containers at the ends of links, with the link's container.
    ends: BTreeSet<(String, String)>,
    pub(crate) bytes: BTreeMap<String, usize>,
    pub(crate) types: BTreeMap<String, String>,
    last_time: f64,
    /// Number and fields of the plain definition of PajeDestroyContainer.
    numbers: BTreeSet<String>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<'t> Plain<'t> {
    pub(crate) fn new(trace: &'t [u8]) -> Self {
        let mut decoder = LineDecoder::new(FieldNames::Old);
        let mut plain = Plain {
            lines: Vec::new(),
            parents: BTreeMap::new(),
            values: BTreeSet::new(),
            ends: BTreeSet::new(),
            bytes: BTreeMap::new(),
            types: BTreeMap::from([("0".into(), "0".into())]),
            last_time: f64::NEG_INFINITY,
            numbers: BTreeSet::new(),
        };
        for line in trace.split_inclusive(|byte| *byte == b'\n') {
            let bare = line.strip_suffix(b"\n").unwrap_or(line);
            let about = match decoder.line(bare).expect("a valid trace") {
                Line::Blank => About::Nothing,
                Line::Header => About::Everybody,
                Line::Event(event) => plain.event(event.decode().expect("a valid trace"), line),
            };
            plain.lines.push((line, about));
        }
        for def in decoder.defs().defs().iter() {
            plain.numbers.insert(text(def.id()));
        }
        plain
    }

    fn event(&mut self, event: Event<'_>, line: &[u8]) -> About {
        if let Some(time) = event.time() {
            self.last_time = self.last_time.max(time);
        }
        match event {
            Event::DefineValue { name, alias, type_, .. } => {
                About::Value(text(type_.bare()), text(alias.unwrap_or(name).bare()))
            }
            Event::CreateContainer { name, alias, parent, type_, .. } => {
                let name = text(alias.unwrap_or(name).bare());
                self.parents.insert(name.clone(), text(parent.bare()));
                self.types.insert(name.clone(), text(type_.bare()));
                About::Creation(name)
            }
            Event::DestroyContainer { name, .. } => About::Destruction(text(name.bare())),
            Event::Entity { op, type_, container, value, .. } => {
                let container = text(container.bare());
                let named =
                    matches!(op, EntityOp::Event | EntityOp::SetState | EntityOp::PushState);
                if let Some(value) = value.filter(|_| named) {
                    let value = (text(type_.bare()), text(value.bare()));
                    self.values.insert((container.clone(), value));
                }
                *self.bytes.entry(container.clone()).or_default() += line.len();
                About::Event(container)
            }
            Event::Link { type_, container, value, at, end, .. } => {
                let _: LinkEnd = end;
                let container = text(container.bare());
                self.values.insert((container.clone(), (text(type_.bare()), text(value.bare()))));
                self.ends.insert((container.clone(), text(at.bare())));
                *self.bytes.entry(container.clone()).or_default() += line.len();
                About::Event(container)
            }
            _ => About::Everybody,
        }
    }

    fn with_ancestors(&self, containers: BTreeSet<String>) -> BTreeSet<String> {
        let mut all = containers.clone();
        for mut container in containers {
            while let Some(parent) = self.parents.get(&container) {
                all.insert(parent.clone());
                container.clone_from(parent);
            }
        }
        all
    }

    pub(crate) fn is_in(&self, container: &str, above: &str) -> bool {
        self.with_ancestors(BTreeSet::from([container.to_owned()])).contains(above)
    }

    pub(crate) fn created(&self, own: &BTreeSet<String>) -> BTreeSet<String> {
        let ends = self.ends.iter().filter(|(container, _)| own.contains(container));
        let ends = ends.map(|(_, end)| end.clone());
        self.with_ancestors(own.iter().cloned().chain(ends).collect())
    }

    fn head(&self) -> String {
        let (names, ends) = (self.free(0), self.free(1));
        format!(
            "%EventDef PajeTraceFile {names}\n% Container string\n% Type string\n% Filename string\n\
             %EndEventDef\n%EventDef PajeTraceFile {ends}\n% Time date\n% Container string\n\
             % Type string\n% Filename string\n%EndEventDef\n"
        )
    }

    fn tail(&self) -> String {
        let time = if self.last_time.is_finite() { self.last_time } else { 0.0 };
        format!("{} {time} 0 0 \"\"\n", self.free(1))
    }

    /// Returns the `which`-th unused event number.
    fn free(&self, which: usize) -> u64 {
        let mut free = (1..).filter(|number: &u64| !self.numbers.contains(&number.to_string()));
        free.nth(which).expect("an unused number")
    }

    pub(crate) fn piece(&self, own: &BTreeSet<String>) -> Vec<u8> {
        let created = self.created(own);
        let values: BTreeSet<&(String, String)> = self
            .values
            .iter()
            .filter(|(container, _)| own.contains(container))
            .map(|(_, value)| value)
            .collect();
        let mut piece = self.head().into_bytes();
        for (line, about) in &self.lines {
            let wanted = match about {
                About::Nothing => false,
                About::Everybody => true,
                About::Value(type_, value) => values.contains(&(type_.clone(), value.clone())),
                About::Creation(name) | About::Destruction(name) => created.contains(name),
                About::Event(name) => own.contains(name),
            };
            if wanted {
                push_line(&mut piece, line);
            }
        }
        piece.extend(self.tail().into_bytes());
        piece
    }

    pub(crate) fn root(&self, owns: &[BTreeSet<String>]) -> Vec<u8> {
        let number = self.free(0);
        let mut root = self.head().into_bytes();
        let name = |container: &str, root: &mut Vec<u8>| {
            let piece = owns.iter().position(|own| own.contains(container));
            if let Some(piece) = piece
                && (container != "0" || self.bytes.contains_key(container))
            {
                let word = |text: &str| {
                    let quoted = text.is_empty() || text.contains([' ', '\t', '#']);
                    if quoted { format!("\"{text}\"") } else { text.to_owned() }
                };
                let (container, type_) = (word(container), word(&self.types[container]));
                let line = format!("{number} {container} {type_} \"piece-{piece:03}.trace\"\n");
                root.extend(line.into_bytes());
            }
        };
        name("0", &mut root);
        for (line, about) in &self.lines {
            if !matches!(about, About::Nothing | About::Event(_)) {
                push_line(&mut root, line);
            }
            if let About::Creation(container) = about {
                name(container, &mut root);
            }
        }
        root
    }

    pub(crate) fn owns(&self, split: &Split) -> Vec<BTreeSet<String>> {
        let mut owns = vec![BTreeSet::new(); split.pieces.len()];
        let mut decoder = LineDecoder::new(FieldNames::Old);
        for line in split.root.split(|byte| *byte == b'\n') {
            if let Line::Event(event) = decoder.line(line).expect("a valid root")
                && let Event::TraceFile { container, file, .. } = event.decode().expect("valid")
            {
                let file = text(file.bare());
                let number =
                    file.strip_prefix("piece-").and_then(|rest| rest.strip_suffix(".trace"));
                let number: usize = number.expect("a piece").parse().expect("its number");
                assert!(owns[number].insert(text(container.bare())), "named once");
            }
        }
        assert!(owns.iter().all(|own| !own.is_empty()) || owns.len() == 1, "an empty piece");
        owns
    }
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.push(b'\n');
    }
}
