//! An event with its line, for findings.

use paje_parser::{Field, FieldName, Quoting, RawEvent, Span};
use paje_sim::error::{EventName, WarningKind};

use super::findings::{Findings, Group};
use super::options::Rules;
use super::place::{Here, Place};
use crate::finding::{Cause, Caution, Finding, Severity};

#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) here: &'a Here<'a>,
    pub(crate) event: &'a RawEvent<'a>,
    /// Number of its event definition. Equal definitions of several files have the same number.
    pub(crate) def: u32,
    pub(crate) rules: Rules,
    pub(crate) findings: &'a mut Findings,
}

impl Source<'_> {
    pub(crate) fn event_name(&self) -> EventName {
        let def = self.event.def();
        EventName { kind: def.kind(), number: def.id().to_vec() }
    }

    pub(crate) fn finding(&self, severity: Severity, cause: Cause, span: Span) -> Finding {
        let event = Some(self.event_name());
        Finding { event, ..self.here.finding(severity, cause, span) }
    }

    #[cold]
    pub(crate) fn warn(&mut self, field: FieldName, caution: Caution, group: Group) {
        let span = self.event.span(field).unwrap_or_default();
        let finding = self.finding(Severity::Warning, Cause::Caution(caution), span);
        self.findings.add(finding, Some(group));
    }

    #[cold]
    pub(crate) fn warn_as_replay(&mut self, field: FieldName, kind: WarningKind) {
        let group = Group::ids(kind.code(), self.def, 0);
        let event = self.event_name();
        self.warn(field, Caution::Replay { kind, event: Some(event) }, group);
    }

    pub(crate) fn place(&self, field: FieldName) -> Place {
        let span = self.event.span(field).unwrap_or_default();
        self.here.place(span.start)
    }

    /// Reports a line with too many words, or with too few for its optional fields.
    #[cold]
    pub(crate) fn word_count(&mut self, words: &[Span]) {
        let end = words.last().map_or(0, |word| word.end);
        let surplus = words.get(self.event.def().fields().len() + 1);
        let (kind, severity) = match (surplus, self.rules) {
            (Some(_), _) => (WarningKind::SurplusWords, Severity::Warning),
            (None, Rules::Format) => (WarningKind::MissingExtras, Severity::Error),
            (None, Rules::Replay) => (WarningKind::MissingExtras, Severity::Warning),
        };
        let span = Span { start: surplus.map_or(end, |word| word.start), end };
        let cause = Cause::Caution(Caution::Replay { kind, event: Some(self.event_name()) });
        let group = Group::ids(kind.code(), self.def, 0);
        self.findings.add(self.finding(severity, cause, span), Some(group));
    }

    #[cold]
    pub(crate) fn unclosed_quote(&mut self, last: Span) {
        let cause = Cause::Caution(Caution::UnclosedQuote);
        let finding = self.finding(Severity::Warning, cause, last);
        self.findings.add(finding, Some(Group::ids("unclosed-quote", self.def, 0)));
    }
}

pub(crate) fn quoted(field: Field<'_>) -> bool {
    field.quoting() != Quoting::Bare
}
