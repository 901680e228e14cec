//! Event definitions of each file.

use std::collections::BTreeMap;
use std::sync::Arc;

use paje_parser::definition::Sequence;
use paje_parser::{DefTable, EventDef};

use crate::decode::block::DecodedBlock;
use crate::input::files::{Files, Origin};

/// The event definitions of the files that are being read.
#[derive(Debug)]
pub(crate) struct DefinitionsByFile {
    /// The file whose lines are being resolved.
    file: u32,
    /// Its definitions so far, with all definitions of the trace.
    at_hand: Arc<DefTable>,
    /// Definitions that files begin with, by the number of the file that names them.
    inherited: BTreeMap<u32, Arc<DefTable>>,
    /// The definitions of the current file when `inherited` was last updated.
    saved: Option<Arc<DefTable>>,
}

impl DefinitionsByFile {
    pub(crate) fn new(first: DefTable) -> Self {
        let at_hand = Arc::new(first);
        DefinitionsByFile { file: 0, at_hand, inherited: BTreeMap::new(), saved: None }
    }

    /// Returns the file whose lines are being resolved.
    pub(crate) const fn file(&self) -> u32 {
        self.file
    }

    /// Returns its definitions so far.
    pub(crate) fn at_hand(&self) -> &Arc<DefTable> {
        &self.at_hand
    }

    /// Returns all definitions of the trace so far.
    pub(crate) fn all(&self) -> &Sequence<Arc<EventDef>> {
        self.at_hand.defs()
    }

    /// Returns the definitions for a block that is read next, as far as they are known.
    pub(crate) fn of(&self, origin: &Origin) -> &Arc<DefTable> {
        if origin.file == self.file {
            return &self.at_hand;
        }
        self.inherited.get(&origin.parent).unwrap_or(&self.at_hand)
    }

    /// Sets the definitions of the current file from here on.
    pub(crate) fn change(&mut self, to: &Arc<DefTable>) {
        let before = std::mem::replace(&mut self.at_hand, Arc::clone(to));
        if to.defs().len() < before.defs().len() {
            Arc::make_mut(&mut self.at_hand).learn(before.defs());
        } else if to.defs().len() > before.defs().len() {
            for table in self.inherited.values_mut() {
                Arc::make_mut(table).learn(self.at_hand.defs());
            }
        }
    }

    /// Saves the definitions for the files that the current one has named so far.
    pub(crate) fn save_for_children(&mut self, files: &Files) {
        if !files.has_children(self.file) {
            return;
        }
        let now = &self.at_hand;
        if self.saved.as_ref().is_none_or(|last| !Arc::ptr_eq(last, now)) {
            self.saved = Some(Arc::clone(now));
            self.inherited.insert(self.file, Arc::new(now.inherit()));
        }
    }

    /// Turns to the next file that has lines. Returns whether the one before did not end within a definition.
    pub(crate) fn turn_to(&mut self, origin: &Origin, files: &Files) -> bool {
        let ended = !self.at_hand.is_open();
        self.save_for_children(files);
        // Each table lists all definitions.
        self.at_hand = Arc::clone(self.of(origin));
        self.saved = None;
        self.file = origin.file;
        // Files are read in the order of the files that name them.
        self.inherited = self.inherited.split_off(&origin.parent);
        ended
    }

    /// Whether a block that was decoded with other definitions than the current ones means the same.
    pub(crate) fn still_valid_for(&self, block: &DecodedBlock) -> bool {
        let Some(assumed) = &block.assumed else { return false };
        let table = &*self.at_hand;
        if Arc::ptr_eq(assumed, &self.at_hand) {
            return true;
        }
        // Lines that are invalid with one may be valid with the other.
        if assumed.is_midway() || table.is_midway() || block.decoded.has_faults() {
            return false;
        }
        let known = |def: &u32| {
            let index = *def as usize;
            table.defs().get(index).is_some_and(|def| table.find(def.id()) == Some(index))
        };
        // What a definition's line does also depends on whether definitions are put away, on taken numbers
        // and on the end of the list.
        let same_header = |after: &Arc<DefTable>| {
            (match (assumed.is_inherited(), table.is_inherited()) {
                (true, true) => true,
                (false, false) => assumed.same_numbers(table),
                _ => false,
            }) && (after.defs().len() == assumed.defs().len()
                || assumed.defs().len() == table.defs().len())
        };
        block.decoded.used.iter().all(known) && block.decoded.defs.as_ref().is_none_or(same_header)
    }
}
