//! Event definitions, and recovery after a faulty one.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use paje_parser::definition::keyword_of;
use paje_parser::{DefTable, Fault, FaultKind, FieldNames, Span, token};
use paje_sim::error::{EventName, Problem};

use super::definitions::Definitions;
use super::findings::{FindingIndex, Findings, Group, fault_finding};
use super::place::{Here, Place};

const END: &[u8] = b"%EndEventDef";

/// Event definitions in effect in the current file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    names: FieldNames,
    defs: DefTable,
    /// Number of each definition among the definitions of all files, in the same order.
    numbers: Vec<u32>,
    /// Whether the definitions were inherited from the file that refers to this one. The first
    /// definition of the
    /// current file replaces them.
    inherited: bool,
    /// The unfinished definition, where it begins, and the length of its first line.
    open: Option<(Vec<u8>, Place, u64)>,
    skipping: bool,
    /// Dropped definitions by event number, each with the finding that explains why.
    dropped: HashMap<Vec<u8>, FindingIndex, RandomState>,
}

impl Header {
    pub(crate) fn new(names: FieldNames) -> Self {
        Header {
            names,
            defs: DefTable::new(names),
            numbers: Vec::new(),
            inherited: false,
            open: None,
            skipping: false,
            dropped: HashMap::default(),
        }
    }

    pub(crate) const fn defs(&self) -> &DefTable {
        &self.defs
    }

    pub(crate) fn take(&mut self) -> Header {
        let names = self.names;
        std::mem::replace(self, Header::new(names))
    }

    /// Returns the definitions with which a named file starts.
    pub(crate) fn inherit(&self, all: &mut Definitions) -> Header {
        let mut header = self.clone();
        header.end_early(None, all);
        (header.inherited, header.skipping) = (true, false);
        header
    }

    #[inline]
    pub(crate) fn number(&self, def: usize) -> u32 {
        self.numbers[def]
    }

    /// Processes a `%` line. Returns whether it is correct.
    pub(crate) fn line(
        &mut self,
        here: &Here<'_>,
        all: &mut Definitions,
        findings: &mut Findings,
    ) -> bool {
        let words = words(here.text);
        let word = |index: usize| words.get(index).map(|span| span.of(here.text).bare());
        let keyword = keyword_of(here.text);
        if self.skipping && keyword != b"EventDef" {
            self.skipping = keyword != b"EndEventDef";
            return false;
        }
        self.skipping = false;
        if self.inherited && keyword == b"EventDef" {
            // The file's own definitions replace inherited ones.
            *self = Header::new(self.names);
        }
        let taken = self.take_in(here, word(2), all);
        if let Err(fault) = taken {
            let told = findings.add(fault_finding(here, fault), None);
            self.recover(here, &words, fault, told, all);
        }
        taken.is_ok()
    }

    fn take_in(
        &mut self,
        here: &Here<'_>,
        id: Option<&[u8]>,
        all: &mut Definitions,
    ) -> Result<(), Fault> {
        let was_open = self.defs.is_open();
        self.defs.header_line(here.text)?;
        if self.defs.is_open() && !was_open {
            let text = here.text.trim_ascii_end();
            let start = memchr::memchr(b'%', text).unwrap_or(0);
            let (place, width) = (here.place(start as u32), (text.len() - start) as u64);
            self.open = Some((id.unwrap_or_default().to_vec(), place, width));
        }
        self.settle(all);
        Ok(())
    }

    /// Recovers from a fault, so that the following lines are correct if possible.
    fn recover(
        &mut self,
        here: &Here<'_>,
        words: &[Span],
        fault: Fault,
        told: FindingIndex,
        all: &mut Definitions,
    ) {
        let word = |index: usize| words.get(index).map(|span| span.of(here.text).bare());
        match fault.kind {
            FaultKind::NestedDefinition => {
                self.end_early(told, all);
                // Another fault of the same line is not reported.
                self.skipping = self.take_in(here, word(2), all).is_err();
            }
            FaultKind::UnknownEvent => {
                self.skipping = true;
                self.drop_id(word(2).map(<[u8]>::to_vec), told);
            }
            FaultKind::RedefinedId => self.skipping = true,
            FaultKind::ExpectedEventDef if keyword_of(here.text) == b"EventDef" => {
                self.end_early(told, all);
                self.skipping = true;
                self.drop_id(word(2).or(word(1)).map(<[u8]>::to_vec), told);
            }
            FaultKind::UnnamedField
            | FaultKind::MissingFieldType
            | FaultKind::UnknownFieldType
            | FaultKind::RepeatedField => self.defs.keep_place(here.text),
            FaultKind::MissingObligatory(..) => {
                let id = self.open.take().map(|(id, ..)| id);
                self.drop_id(id, told);
            }
            _ => {}
        }
    }

    #[cold]
    pub(crate) fn interrupted(
        &mut self,
        here: &Here<'_>,
        number: Span,
        all: &mut Definitions,
        findings: &mut Findings,
    ) {
        let fault = Fault { at: number.start, kind: FaultKind::UnfinishedDefinition };
        let told = findings.add(fault_finding(here, fault), None);
        let note = self.begun();
        findings.note(told, || note.unwrap_or_default());
        self.end_early(told, all);
    }

    fn begun(&self) -> Option<String> {
        let kind = self.defs.open_event()?;
        let (number, place, _) = self.open.as_ref()?;
        let event = EventName { kind, number: number.clone() };
        let line = place.position.line;
        Some(format!("the definition of {event} begins in line {line}"))
    }

    fn end_early(&mut self, told: FindingIndex, all: &mut Definitions) {
        if !self.defs.is_open() {
            return;
        }
        if self.defs.header_line(END).is_ok() {
            self.settle(all);
        } else {
            let id = self.open.take().map(|(id, ..)| id);
            self.drop_id(id, told);
        }
    }

    fn settle(&mut self, all: &mut Definitions) {
        if let Some(def) = self.defs.defs().get(self.numbers.len()) {
            let (_, place, width) = self.open.take().expect("a completed definition was open");
            self.numbers.push(all.add(def, place, width));
        }
    }

    fn drop_id(&mut self, id: Option<Vec<u8>>, told: FindingIndex) {
        if let Some(id) = id {
            self.dropped.entry(id).or_insert(told);
        }
    }

    #[cold]
    pub(crate) fn unknown_id(&self, here: &Here<'_>, number: Span, findings: &mut Findings) {
        let id = number.of(here.text).bare();
        if let Some(told) = self.dropped.get(id) {
            return findings.consequence(*told);
        }
        let undefined = self.defs.defs().is_empty();
        let group = if undefined {
            Group::ids("unknown-id", 0, 0)
        } else {
            Group::named("unknown-id", 1, id)
        };
        let fault = Fault { at: number.start, kind: FaultKind::UnknownId };
        let told = findings.add(fault_finding(here, fault), Some(group));
        if undefined {
            findings.note(told, || "no event is defined yet; is this a Pajé trace?".into());
        }
    }

    pub(crate) fn finish(&mut self, file: u32, findings: &mut Findings) {
        if self.defs.is_open() {
            let (fault, word) = (FaultKind::UnfinishedDefinition, Vec::new());
            let problem = Problem::Line { fault, word, event: None };
            findings.at_end_of(file, problem, self.begun());
        }
    }
}

fn words(text: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    token::fields(text, 0, &mut spans);
    // The percent sign may be a separate word, or part of the first word.
    match spans.first_mut() {
        Some(first) if first.end - first.start > 1 => first.start += 1,
        Some(_) => {
            spans.remove(0);
        }
        None => {}
    }
    spans
}
