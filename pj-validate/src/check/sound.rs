//! Report on a trace that somebody else has found sound.
//!
//! A sound trace needs no careful look at each of its lines. Whoever has read it all (see [`crate::sound`]) says what
//! its events use and what there is of everything; what a report says beyond that is where definitions stand, so only
//! lines that define something are checked here.

use std::io::{self, Read};

use paje_parser::{EventKind, Field};

use super::*;
use crate::summary::ContainerSummary;

/// Facts about a trace in one file that is sound, and in which no line by itself deserves a warning.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Lines, blank ones and comments included.
    pub(crate) lines: u64,
    /// Bytes, the last newline not counted.
    pub(crate) bytes: u64,
    /// Offset of the last line that defines something, and a byte more; 0 if none does.
    pub(crate) definitions_to: u64,
    /// Earliest and latest time, in seconds.
    pub(crate) times: Option<(f64, f64)>,
    /// For each event definition, in file order, whether a line has its number.
    pub(crate) events: Vec<bool>,
    /// In the order of their definitions, the root's first.
    pub(crate) types: Vec<KnownType>,
    /// In the order of their creations, the root first.
    pub(crate) containers: Vec<ContainerSummary>,
    /// Objects of all types of a nature.
    pub(crate) states: u64,
    pub(crate) variables: u64,
    pub(crate) point_events: u64,
    pub(crate) links: u64,
}

/// Facts about a type.
#[derive(Debug, Default)]
pub(crate) struct KnownType {
    /// True if an event is for it.
    pub(crate) is_used: bool,
    pub(crate) objects: u64,
    /// The number of values that it has, defined or only used.
    pub(crate) values: u64,
    /// The identifiers of values that are defined and that no event has, in file order.
    pub(crate) unused: Vec<Vec<u8>>,
}

/// The report on a trace of which this is `known`; `None` if that is not what its lines say: the file is another by
/// now, or there is more to tell. `again` tells whether it can be read again.
///
/// # Errors
/// The input cannot be read.
pub(crate) fn report(
    input: impl Read,
    path: &Path,
    again: bool,
    known: Known,
    options: &Options,
) -> io::Result<Option<Report>> {
    let mut checker = Checker::new(options);
    checker.model.world.files = Files::of(path, again, None);
    checker.definitions_to(known.definitions_to, input)?;
    Ok(checker.complete(known))
}

impl Checker {
    /// Checks the lines that define something, and begin before a byte; the others are only counted.
    fn definitions_to(&mut self, end: u64, input: impl Read) -> io::Result<()> {
        let mut lines = Lines::new(input, self.options.longest_line);
        while self.bytes < end {
            match lines.next()? {
                Piece::Line(line) if self.defines(line) => self.line(line),
                Piece::Line(line) => self.pass_over(line.len() as u64),
                Piece::TooLong(bytes) => self.pass_over(bytes),
                Piece::End => break,
            }
        }
        Ok(())
    }

    const fn pass_over(&mut self, bytes: u64) {
        self.lines += 1;
        self.bytes += bytes + 1;
    }

    /// Tells whether a line defines something, or is a part of what does; or is none that is to be expected.
    fn defines(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii_start();
        if text.is_empty() || text[0] == b'#' {
            return false;
        }
        if text[0] == b'%' || self.header.defs().is_open() {
            return true;
        }
        let Some(number) = token::next_field(line, 0) else { return false };
        let defs = self.header.defs();
        let index = defs.find(Field::new(&line[number]).bare());
        index.is_none_or(|index| is_definition(defs.defs()[index].kind()))
    }

    /// Report, if the definitions are those that are known, and nothing is wrong with them.
    fn complete(mut self, known: Known) -> Option<Report> {
        let Known { events, types, .. } = known;
        let is_other = !self.findings.is_empty()
            || self.header.defs().is_open()
            || self.definitions.len() != events.len()
            || self.model.world.things.types.list.len() != types.len();
        if is_other {
            return None;
        }
        let used = events.iter().enumerate().filter(|(_, used)| **used);
        used.for_each(|(index, _)| self.definitions.used(self.header.number(index)));
        for (type_, known) in self.model.world.things.types.list.iter_mut().zip(&types) {
            (type_.used, type_.objects) = (known.is_used, known.objects);
            let mut unused = known.unused.iter().peekable();
            for value in &mut type_.values {
                value.used = unused.next_if(|name| ***name == *value.identifier).is_none();
            }
            if unused.next().is_some() {
                return None;
            }
        }
        let model = &mut self.model;
        model.times = known.times;
        model.unused_types(&mut self.findings);
        model.unused_values(&mut self.findings);
        self.definitions.report_unused(&mut self.findings);
        if let Some(file) = model.world.files.read.first_mut() {
            (file.lines, file.bytes) = (known.lines, known.bytes);
        }
        let mut report = self.report();
        let summary = &mut report.summary;
        summary.containers = known.containers;
        (summary.states, summary.variables) = (known.states, known.variables);
        (summary.events, summary.links) = (known.point_events, known.links);
        for (summary, known) in summary.types.iter_mut().zip(&types) {
            summary.values = known.values;
        }
        summary.values = types.iter().map(|type_| type_.values).sum();
        Some(report)
    }
}

/// Tells whether an event defines a type or a value.
const fn is_definition(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::DefineContainerType
            | EventKind::DefineEventType
            | EventKind::DefineStateType
            | EventKind::DefineVariableType
            | EventKind::DefineLinkType
            | EventKind::DefineEntityValue
    )
}
