//! Selection of a trace's rows.

mod glob;

use std::fmt;

use paje_parser::TypeNature;

use super::time_range::TimeRange;
pub use glob::{Glob, ParseGlobError};

/// The wanted rows of a trace: of these natures and types, in these containers and this window of time.
/// By default, all.
///
/// As [`Options::selection`](crate::names::options::Options::selection), it spares a replay keeping other rows. Whoever shows
/// a trace asks what `Trace::select` gives, which rows to show.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// The natures of rows.
    pub natures: Natures,
    /// A row's type has a name or an alias that matches one of these; all do if there are none. The row of a
    /// container is of the container's type.
    pub types: Vec<Glob>,
    /// A row's container, or one that it is in, has a name or an alias that matches one of these; all do
    /// if there are none. The row of a container is in that container.
    pub containers: Vec<Glob>,
    /// The times of rows; those of containers are wanted whenever they are.
    pub window: TimeRange,
}

/// Some natures of rows; by default, all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Natures(u8);

impl Natures {
    /// All five.
    pub const ALL: Natures = Natures(0b1_1111);

    /// Tells whether this one is among them.
    #[must_use]
    pub const fn contains(self, nature: TypeNature) -> bool {
        self.0 & 1 << nature as u8 != 0
    }
}

impl Default for Natures {
    fn default() -> Self {
        Natures::ALL
    }
}

impl FromIterator<TypeNature> for Natures {
    fn from_iter<I: IntoIterator<Item = TypeNature>>(natures: I) -> Self {
        Natures(natures.into_iter().fold(0, |all, nature| all | 1 << nature as u8))
    }
}

impl fmt::Debug for Natures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use TypeNature::{Container, Event, Link, State, Variable};
        let all = [Container, State, Variable, Event, Link].into_iter();
        f.debug_set().entries(all.filter(|nature| self.contains(*nature))).finish()
    }
}

impl Selection {
    /// Tells whether every row is wanted that is in the window.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.natures == Natures::ALL && self.types.is_empty() && self.containers.is_empty()
    }
}
