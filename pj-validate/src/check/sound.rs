//! Reports on a trace that the replay has found valid.
//!
//! [`crate::sound`] has read the whole trace, counted the objects, and found which definitions are
//! used. The rest of the report consists of positions of definitions. It needs only the lines that
//! define something (value definitions only if a value is unused) and the first line with a value
//! in other quotes.

use std::io::{self, Read};

use paje_parser::{EventKind, Field, FieldName, RawEvent};
use paje_sim::OtherQuoting;

use super::*;
use crate::summary::ContainerSummary;

/// Facts about a valid trace in one file. Its lines have no warnings except about values in other
/// quotes.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) lines: u64,
    /// Number of bytes, without the last newline.
    pub(crate) bytes: u64,
    /// Offset of the second byte of the last line that defines something, or 0 if there is no such
    /// line. If all values are used, lines that define values do not count.
    pub(crate) definitions_to: u64,
    pub(crate) times: Option<(f64, f64)>,
    pub(crate) events: Vec<bool>,
    /// Types in the order of their definitions, the root first.
    pub(crate) types: Vec<KnownType>,
    /// Lines with values in other quotes than at the first use, with the index of the type.
    pub(crate) other_quoting: Vec<(usize, OtherQuoting)>,
    /// Containers in the order of creation, the root first.
    pub(crate) containers: Vec<ContainerSummary>,
    pub(crate) states: u64,
    pub(crate) variables: u64,
    pub(crate) point_events: u64,
    pub(crate) links: u64,
}

#[derive(Debug, Default)]
pub(crate) struct KnownType {
    pub(crate) is_used: bool,
    pub(crate) objects: u64,
    pub(crate) values: u64,
    pub(crate) unused: Vec<Vec<u8>>,
}

/// Returns the report on a trace with these facts. Returns `None` if there is more to report, or if
/// the lines contradict the facts because the file has changed. `again` is true if the input can be
/// read again.
pub(crate) fn report(
    input: impl Read,
    path: &Path,
    again: bool,
    known: Known,
    options: &Options,
) -> io::Result<Option<Report>> {
    let mut checker = Checker::new(options);
    checker.model.world.files = Files::of(path, again, None);
    let mut others = known.other_quoting.clone();
    others.sort_by_key(|(_, lines)| lines.first);
    let Some(others) = checker.definitions_to(known.definitions_to, &others, input)? else {
        return Ok(None);
    };
    Ok(checker.complete(known, others))
}

impl Checker {
    /// Checks the lines before an offset that define something, and makes findings of the first
    /// lines with other quotes. Only counts the other lines. Returns `None` if a line contradicts
    /// the facts.
    fn definitions_to(
        &mut self,
        end: u64,
        others: &[(usize, OtherQuoting)],
        input: impl Read,
    ) -> io::Result<Option<Vec<Finding>>> {
        let mut lines = Lines::new(input, self.options.longest_line);
        let mut others = others.iter().peekable();
        let mut found = Vec::new();
        while self.bytes < end || others.peek().is_some() {
            let at = self.bytes;
            let mut here = std::iter::from_fn(|| others.next_if(|(_, lines)| lines.first <= at));
            match (here.next(), lines.next()?) {
                (Some((type_, quoting)), Piece::Line(line)) if quoting.first == at => {
                    found.push(self.other_quoting(line, *type_, *quoting));
                    self.skip(line.len() as u64);
                }
                (None, Piece::Line(line)) if self.defines(line) => self.line(line),
                (None, Piece::Line(line)) => self.skip(line.len() as u64),
                (None, Piece::TooLong(bytes)) => self.skip(bytes),
                (None, Piece::End) if others.peek().is_none() => break,
                _ => return Ok(None),
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Returns the finding about a value in other quotes, with the number of later such lines.
    /// Returns `None` if the quotes do not differ.
    fn other_quoting(&mut self, line: &[u8], type_: usize, lines: OtherQuoting) -> Option<Finding> {
        let mut words = Vec::new();
        let end = token::fields(line, 0, &mut words);
        let text = &line[..end];
        let here = Here { line: self.lines + 1, ..self.here(text) };
        let defs = self.header.defs();
        let index = defs.find(words.first()?.of(text).bare())?;
        let event = RawEvent::new(&defs.defs()[index], text, &words).ok()?;
        let types = &mut self.model.world.things.types;
        let id = types.find(event.field(FieldName::Type)?.bare())?;
        let value = event.field(FieldName::Value)?;
        if id as usize != type_ {
            return None;
        }
        types.expect_value(id, value);
        let (def, rules) = (self.header.number(index), self.options.rules);
        let mut findings = Findings::new(&Options::default());
        let source =
            &mut Source { here: &here, event: &event, def, rules, findings: &mut findings };
        types.value(id, value, source);
        let finding = findings.listed().findings.pop()?;
        Some(Finding { count: lines.count, last_line: lines.last_line, ..finding })
    }

    const fn skip(&mut self, bytes: u64) {
        self.lines += 1;
        self.bytes += bytes + 1;
    }

    /// Returns whether a line is part of a definition, or is unexpected.
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

    /// Returns the report, if the definitions agree with the facts and have no problems.
    fn complete(mut self, known: Known, others: Vec<Finding>) -> Option<Report> {
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
        others.into_iter().for_each(|finding| {
            self.findings.add(finding, None);
        });
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
