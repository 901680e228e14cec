use std::collections::BTreeMap;
use std::sync::Arc;

use paje_parser::definition::Sequence;
use paje_parser::{DefTable, EventDef};

use crate::decode::block::DecodedBlock;
use crate::input::files::{Files, Origin};

#[derive(Debug)]
pub struct DefinitionsByFile {
    file: u32,
    /// Definitions of the file so far. The table also lists all definitions of the trace.
    current: Arc<DefTable>,
    /// Definitions that apply at the beginning of a file, by the number of the file that refers to it.
    inherited: BTreeMap<u32, Arc<DefTable>>,
    /// Definitions of the current file when `inherited` was last updated.
    saved: Option<Arc<DefTable>>,
}

impl DefinitionsByFile {
    pub fn new(first: DefTable) -> Self {
        let current = Arc::new(first);
        DefinitionsByFile { file: 0, current, inherited: BTreeMap::new(), saved: None }
    }

    pub const fn file(&self) -> u32 {
        self.file
    }

    pub fn current(&self) -> &Arc<DefTable> {
        &self.current
    }

    pub fn all(&self) -> &Sequence<Arc<EventDef>> {
        self.current.defs()
    }

    /// Returns the definitions for the next block to read. Blocks that are not resolved yet may still change these
    /// definitions.
    pub fn of(&self, origin: &Origin) -> &Arc<DefTable> {
        if origin.file == self.file {
            return &self.current;
        }
        self.inherited.get(&origin.parent).unwrap_or(&self.current)
    }

    pub fn change(&mut self, to: &Arc<DefTable>) {
        let before = std::mem::replace(&mut self.current, Arc::clone(to));
        if to.defs().len() < before.defs().len() {
            Arc::make_mut(&mut self.current).learn(before.defs());
        } else if to.defs().len() > before.defs().len() {
            for table in self.inherited.values_mut() {
                Arc::make_mut(table).learn(self.current.defs());
            }
        }
    }

    pub fn save_for_children(&mut self, files: &Files) {
        if !files.has_children(self.file) {
            return;
        }
        let now = &self.current;
        if self.saved.as_ref().is_none_or(|last| !Arc::ptr_eq(last, now)) {
            self.saved = Some(Arc::clone(now));
            self.inherited.insert(self.file, Arc::new(now.inherit()));
        }
    }

    pub fn turn_to(&mut self, origin: &Origin, files: &Files) {
        self.save_for_children(files);
        // Each table lists all definitions.
        self.current = Arc::clone(self.of(origin));
        self.saved = None;
        self.file = origin.file;
        // Files are read in the order of the files that refer to them.
        self.inherited = self.inherited.split_off(&origin.parent);
    }

    /// Returns whether the block would be decoded in the same way with the current definitions.
    pub fn still_valid_for(&self, block: &DecodedBlock) -> bool {
        let Some(assumed) = &block.assumed else { return false };
        let table = &*self.current;
        if Arc::ptr_eq(assumed, &self.current) {
            return true;
        }
        // Lines that are invalid according to one table may be valid according to the other.
        if assumed.is_midway() || table.is_midway() || block.decoded.has_faults() {
            return false;
        }
        let known = |def: &u32| {
            let index = *def as usize;
            table.defs().get(index).is_some_and(|def| table.find(def.id()) == Some(index))
        };
        // The meaning of a `%` line also depends on whether inherited definitions still apply, on the event numbers in
        // use, and on the length of the list.
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
