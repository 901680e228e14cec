//! Writes the contents of the files.

use super::cutter::{Cutter, ROOT, Role};
use super::lines::{Event, Line, bare};
use super::{Piece, Style, TraceFiles};

impl Cutter<'_> {
    pub(super) fn cut(&self) -> TraceFiles {
        let pieces = (0..self.pieces).map(|piece| {
            let bytes = match self.style {
                Style::Full => self.full(piece),
                Style::Bare | Style::Filename => self.events_only(piece),
            };
            Piece { name: name(piece), bytes }
        });
        TraceFiles { root: self.root(), pieces: pieces.collect() }
    }

    fn root(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let by_line = self.style != Style::Filename;
        if by_line {
            let fields = "% Container string\n% Type string\n% Filename string\n";
            let naming = &self.naming;
            out.extend(format!("%EventDef PajeTraceFile {naming}\n{fields}%EndEventDef\n").bytes());
        } else {
            let numbers: Vec<&[u8]> = self.lines.defs.iter().map(|def| def.number).collect();
            self.header(&mut out, &numbers, b"CreateContainer");
        }
        // A reference to a file may be anywhere, so its position varies.
        let early = self.style == Style::Full;
        if early {
            self.name(&mut out, b"0", b"0", ROOT);
        }
        for line in &self.lines.list {
            match line {
                Line::Percent(_) if !by_line => {}
                Line::Percent(text) | Line::Other(text) => put(&mut out, text),
                Line::Event(event) => match self.role(event) {
                    Role::Creation(container) if !by_line => {
                        self.creation(&mut out, event, container);
                    }
                    Role::Creation(container) => {
                        put(&mut out, event.text);
                        let def = &self.lines.defs[event.def];
                        let word = |name| Some(event.words[def.index(name)? + 1]);
                        let alias = word("Alias").filter(|alias| !bare(alias).is_empty());
                        if let (Some(name), Some(type_)) = (alias.or(word("Name")), word("Type")) {
                            self.name(&mut out, name, type_, container);
                        }
                    }
                    Role::Of(_) if self.pieces > 0 => {}
                    _ => put(&mut out, event.text),
                },
            }
        }
        if by_line && !early {
            self.name(&mut out, b"0", b"0", ROOT);
        }
        out
    }

    fn name(&self, out: &mut Vec<u8>, container: &[u8], type_: &[u8], id: usize) {
        let file = format!("\"{}\"", name(self.piece_of(id)));
        put(out, &[self.naming.as_bytes(), container, type_, file.as_bytes()].join(&b' '));
    }

    fn creation(&self, out: &mut Vec<u8>, event: &Event<'_>, container: usize) {
        let def = &self.lines.defs[event.def];
        let mut words = event.words.clone();
        words.resize(def.fields.len() + 1, b"\"\"");
        let file = name(self.piece_of(container));
        match def.index("Filename") {
            Some(index) => words[index + 1] = file.as_bytes(),
            None => words.push(file.as_bytes()),
        }
        put(out, &words.join(&b' '));
    }

    /// Writes all event definitions with these numbers. Adds a `Filename` to the definitions of the
    /// event `with_file`.
    fn header(&self, out: &mut Vec<u8>, numbers: &[&[u8]], with_file: &[u8]) {
        for (def, number) in self.lines.defs.iter().zip(numbers) {
            put(out, &[b"%EventDef Paje", def.event, b" ", number].concat());
            for (name, type_) in &def.fields {
                put(out, &[b"% ", *name, b" ", type_].concat());
            }
            if def.event == with_file && def.index("Filename").is_none() {
                put(out, b"% Filename string");
            }
            put(out, b"%EndEventDef");
        }
    }

    fn full(&self, piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let (number, fields) = &self.ending;
        if self.lines.defs.iter().all(|def| def.number != number.as_bytes()) {
            put(&mut out, format!("%EventDef PajeDestroyContainer {number}").as_bytes());
            fields.iter().for_each(|field| put(&mut out, format!("% {field} string").as_bytes()));
            put(&mut out, b"%EndEventDef");
        }
        for line in &self.lines.list {
            match line {
                Line::Percent(text) => put(&mut out, text),
                Line::Event(event) if self.belongs(event, piece, true) => put(&mut out, event.text),
                _ => {}
            }
        }
        let mut last = number.as_bytes().to_vec();
        for field in fields {
            last.push(b' ');
            last.extend(if *field == "Time" { self.end } else { b"0" });
        }
        put(&mut out, &last);
        out
    }

    fn events_only(&self, piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let defs = &self.lines.defs;
        // Each file gives the numbers different meanings.
        let turn = if self.style == Style::Filename { piece + 1 } else { 0 };
        let numbers: Vec<&[u8]> =
            (0..defs.len()).map(|def| defs[(def + turn) % defs.len()].number).collect();
        if self.style == Style::Filename {
            self.header(&mut out, &numbers, b"");
        }
        for event in self.events().filter(|event| self.belongs(event, piece, false)) {
            let start = event.text.iter().position(|byte| event.words[0].first() == Some(byte));
            let rest = &event.text[start.unwrap_or(0) + event.words[0].len()..];
            put(&mut out, &[numbers[event.def], rest].concat());
        }
        out
    }
}

fn name(piece: usize) -> String {
    format!("piece-{piece:03}.trace")
}

fn put(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}
