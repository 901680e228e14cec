//! Definitions of events before a place in a trace.

use crate::template::{Roles, header_lines};

/// Definitions of events before a place in a trace.
///
/// They determine which fields are times, containers and keys. Undefined events are packed too, but less well.
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
