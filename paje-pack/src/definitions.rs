//! Definitions of events that come before a place of a trace.

use crate::template::{Roles, header_lines};

/// The definitions of events that come before a place of a trace.
///
/// They say which fields are times, containers and keys. Events that are not defined are packed too, but not as well.
#[derive(Clone, Debug)]
pub struct Definitions {
    pub(crate) roles: Roles,
}

impl Default for Definitions {
    fn default() -> Self {
        Definitions { roles: Roles::new() }
    }
}

impl Definitions {
    /// Adds the definitions in a text.
    pub fn learn(&mut self, text: &[u8]) {
        header_lines(text).for_each(|line| self.roles.learn(line));
    }

    /// Returns true if nothing is defined yet.
    pub(crate) const fn are_none(&self) -> bool {
        self.roles.are_none()
    }
}
