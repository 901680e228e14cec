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
