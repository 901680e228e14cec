use std::collections::BTreeMap;
use std::path::Path;

use paje_parser::{ByteOffset, Position};

use super::found::{event_of, number_of};
use paje_decode::decode::block::DecodedBlock;
use paje_model::names::error::{Warning, WarningKind};

#[derive(Debug, Default)]
pub struct Warnings(BTreeMap<(WarningKind, Vec<u8>), Warning>);

impl Warnings {
    pub fn add_line(&mut self, block: &DecodedBlock, kind: WarningKind, line: u32) {
        self.add(block, kind, number_of(block, line), line);
    }

    pub fn add(&mut self, block: &DecodedBlock, kind: WarningKind, number: Vec<u8>, line: u32) {
        if let Some(known) = self.0.get_mut(&(kind, number.clone())) {
            known.count += 1;
            return;
        }
        let event = if number.is_empty() { None } else { event_of(block, line) };
        let text = &block.text;
        let first = block.lines_before + 1;
        let first = Position::within(text.text(), line as usize, text.start(), first);
        let warning = Warning {
            kind,
            event,
            file: block.origin.path.clone(),
            file_number: block.origin.file,
            first_line: first.line,
            count: 1,
        };
        self.0.insert((kind, number), warning);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all warnings. `original` returns the position that a line had before sorting.
    pub fn into_list(self, original: impl Fn(Option<&Path>, Position) -> Position) -> Vec<Warning> {
        let placed = |warning: Warning| {
            let position = Position { byte: ByteOffset(0), line: warning.first_line, column: 1 };
            Warning { first_line: original(warning.file.as_deref(), position).line, ..warning }
        };
        self.0.into_values().map(placed).collect()
    }
}
