//! Definitions of events, as they come.

use paje_parser::{DefTable, FieldNames};

use crate::template::{Roles, header_lines};

/// The definitions of events that stand before a place of a trace.
///
/// They say which fields are times, containers and keys. What is not defined is packed all the same, but not as well.
#[derive(Clone, Debug)]
pub struct Definitions {
    pub(crate) roles: Roles,
    /// The same for who replays, by the names of fields that the format has today.
    strict: DefTable,
}

impl Default for Definitions {
    fn default() -> Self {
        Definitions { roles: Roles::new(), strict: DefTable::new(FieldNames::Strict) }
    }
}

impl Definitions {
    /// Takes in the definitions that are in a text.
    pub fn learn(&mut self, text: &[u8]) {
        for line in header_lines(text) {
            self.roles.learn(line);
            // Faulty ones are the business of those who replay.
            let _ = self.strict.header_line(line);
        }
    }

    /// Nothing is defined yet.
    pub(crate) const fn are_none(&self) -> bool {
        self.roles.are_none()
    }

    pub(crate) const fn strict(&self) -> &DefTable {
        &self.strict
    }
}
