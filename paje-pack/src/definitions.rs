//! Event definitions that precede a point in a trace.

use crate::template::{Roles, header_lines};

/// The event definitions that precede a point in a trace.
///
/// They determine which fields are times, containers and keys. Events without a definition are also
/// packed, but compress less well.
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

    pub(crate) const fn are_none(&self) -> bool {
        self.roles.are_none()
    }
}
