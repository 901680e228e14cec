//! A decoder for one line at a time, for callers that do not need speed.

use crate::definition::{DefTable, FieldNames};
use crate::error::{Fault, FaultKind};
use crate::event::RawEvent;
use crate::token::{self, Span};

/// A line by its kind.
#[derive(Debug)]
pub enum Line<'a> {
    /// An empty line, or a line with only a comment.
    Blank,
    /// Part of an event definition.
    Header,
    /// An event.
    Event(RawEvent<'a>),
}

/// Decodes a trace line by line, and keeps the definitions that it reads.
#[derive(Clone, Debug)]
pub struct LineDecoder {
    defs: DefTable,
    words: Vec<Span>,
}

impl LineDecoder {
    /// Creates a decoder without definitions.
    #[must_use]
    pub fn new(names: FieldNames) -> Self {
        LineDecoder::after(DefTable::new(names))
    }

    /// Creates a decoder that starts with these definitions.
    #[must_use]
    pub const fn after(defs: DefTable) -> Self {
        LineDecoder { defs, words: Vec::new() }
    }

    /// Returns the definitions read so far.
    #[must_use]
    pub const fn defs(&self) -> &DefTable {
        &self.defs
    }

    /// Decodes the next line. The text ends at its first newline, if any.
    ///
    /// # Errors
    /// Fails on a malformed definition, an event inside a definition, an unknown event number, or a
    /// line that lacks a required field. The decoder can continue with the next line.
    pub fn line<'a>(&'a mut self, text: &'a [u8]) -> Result<Line<'a>, Fault> {
        self.words.clear();
        let end = token::fields(text, 0, &mut self.words);
        let Some(number) = self.words.first() else {
            return Ok(Line::Blank);
        };
        if text[number.start as usize] == b'%' {
            self.defs.header_line(&text[..end])?;
            return Ok(Line::Header);
        }
        let fault = |kind| Fault { at: number.start, kind };
        if self.defs.is_open() {
            return Err(fault(FaultKind::UnfinishedDefinition));
        }
        let index = self.defs.find(number.of(text).bare());
        let def = &self.defs.defs()[index.ok_or(fault(FaultKind::UnknownId))?];
        RawEvent::new(def, text, &self.words).map(Line::Event)
    }

    /// Checks the end of the trace.
    ///
    /// # Errors
    /// Fails if the last definition is not finished.
    pub const fn finish(&self) -> Result<(), FaultKind> {
        if self.defs.is_open() {
            return Err(FaultKind::UnfinishedDefinition);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventKind, FieldName};

    fn fault(line: Result<Line<'_>, Fault>) -> (u32, FaultKind) {
        let fault = line.expect_err("the line is wrong");
        (fault.at, fault.kind)
    }

    /// Returns a decoder and the fields of lines for events of a kind, whose number is 7.
    fn decoder(kind: EventKind) -> (LineDecoder, Vec<FieldName>) {
        let mut decoder = LineDecoder::new(FieldNames::Strict);
        let fields = [kind.obligatory(), kind.optional()].concat();
        let head = format!("%EventDef {} 7", kind.name());
        let lines = fields.iter().map(|field| format!("% {} string", field.name()));
        for line in [head].into_iter().chain(lines).chain(["%EndEventDef".into()]) {
            assert!(matches!(decoder.line(line.as_bytes()), Ok(Line::Header)));
        }
        (decoder, fields)
    }

    #[test]
    fn every_kind_of_event_is_decoded() {
        for kind in EventKind::ALL {
            let (mut decoder, fields) = decoder(kind);
            let word = |field: &FieldName| match field {
                FieldName::Time => "1.5",
                FieldName::Color => "\"1 0 0\"",
                other => other.name(),
            };
            let mut line = String::from("7");
            for field in &fields {
                let missing = fault(decoder.line(line.as_bytes()));
                assert_eq!(missing, (line.len() as u32, FaultKind::MissingField(*field)));
                line = format!("{line} {}", word(field));
            }
            let Ok(Line::Event(event)) = decoder.line(line.as_bytes()) else { panic!("{line}") };
            for field in &fields {
                assert_eq!(
                    event.field(*field).map(|field| field.raw()),
                    Some(word(field).as_bytes())
                );
            }
            assert_eq!((event.def().kind(), event.surplus()), (kind, 0));
            let time = fields.contains(&FieldName::Time).then_some(1.5);
            assert_eq!(event.decode().expect("valid").time(), time);
            for (field, fault) in
                [(FieldName::Time, FaultKind::BadTime), (FieldName::Color, FaultKind::BadColor)]
            {
                let Some(at) = line.find(word(&field)).filter(|_| fields.contains(&field)) else {
                    continue;
                };
                let wrong = line.replace(word(&field), "red");
                let Ok(Line::Event(event)) = decoder.line(wrong.as_bytes()) else { panic!() };
                assert_eq!(event.decode(), Err(Fault { at: at as u32, kind: fault }), "{wrong}");
            }
        }
    }

    #[test]
    fn lines_depend_on_the_definitions_before_them() {
        let (mut decoder, _) = decoder(EventKind::TraceFile);
        assert!(matches!(decoder.line(b" # a comment\n7 C T F"), Ok(Line::Blank)));
        assert_eq!(fault(decoder.line(b"  07 C T F")), (2, FaultKind::UnknownId));
        assert_eq!(decoder.finish(), Ok(()));
        assert!(matches!(decoder.line(b"%EventDef PajePopState 8"), Ok(Line::Header)));
        assert_eq!(fault(decoder.line(b" 7 C T F")), (1, FaultKind::UnfinishedDefinition));
        assert_eq!(decoder.finish(), Err(FaultKind::UnfinishedDefinition));
        // A decoder that starts here also has an unfinished definition.
        let mut later = LineDecoder::after(decoder.defs().clone());
        assert_eq!(fault(later.line(b"7 C T F")), (0, FaultKind::UnfinishedDefinition));
    }
}
