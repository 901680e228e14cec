//! Ends definitions of a damaged trace that lack their `%EndEventDef`.

use std::sync::Arc;

use paje_parser::{DefTable, Fault, FaultKind, token};

use super::Decoder;
use super::decoded::Decoded;

impl Decoder {
    /// Returns whether the next line with words, at or after `start`, is an event. Such a line ends
    /// the unfinished definition.
    pub(super) fn interrupts(&self, text: &[u8], mut start: usize) -> bool {
        let mut words = Vec::new();
        while start < text.len() {
            let end = self.lexing.scanner.line_end(text, start);
            token::fields(&text[start..end], 0, &mut words);
            if let Some(first) = words.first() {
                return text[start + first.start as usize] != b'%';
            }
            start = end + 1;
        }
        false
    }

    #[cold]
    pub(super) fn interrupt(
        &mut self,
        text: &[u8],
        mut start: usize,
        changed: Option<Arc<DefTable>>,
        defs: &DefTable,
        decoded: &mut Decoded,
    ) {
        let mut words = Vec::new();
        let first = loop {
            let end = self.lexing.scanner.line_end(text, start);
            token::fields(&text[start..end], 0, &mut words);
            match words.first() {
                Some(first) => break first.start,
                None => start = end + 1,
            }
        };
        decoded.defs = changed;
        self.change(start, defs, decoded).end_early();
        let at = start as u32 + first;
        self.note_fault(start as u32, Fault { at, kind: FaultKind::UnfinishedDefinition }, decoded);
    }
}
