mod glob;

use std::fmt;

use paje_parser::TypeNature;

use super::time_range::TimeRange;
pub use glob::{Glob, ParseGlobError};

/// Wanted rows of a trace, by nature, type, container and time window. The default is all rows.
///
/// In `TraceReader::select`, it limits the rows that a replay keeps. `Trace::select` applies it to a trace.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// Natures of rows.
    pub natures: Natures,
    /// Patterns for types. The name or the alias of a row's type must match a pattern. Without patterns, all types
    /// match. The row of a container has the container's type.
    pub types: Vec<Glob>,
    /// Patterns for containers. The name or the alias of a row's container, or of an ancestor, must match a pattern.
    /// Without patterns, all containers match. The row of a container belongs to that container.
    pub containers: Vec<Glob>,
    /// Time window of the rows. Containers are wanted at all times.
    pub window: TimeRange,
}

/// A set of natures. The default is all natures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Natures(u8);

impl Natures {
    pub const ALL: Natures = Natures(0b1_1111);

    /// Returns whether this nature is wanted.
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
    /// Wants only rows of these natures.
    #[must_use]
    pub fn of_natures(mut self, natures: impl IntoIterator<Item = TypeNature>) -> Self {
        self.natures = natures.into_iter().collect();
        self
    }

    /// Also wants rows of the types that match this pattern. Without patterns, all types are wanted.
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn of_type(mut self, pattern: &str) -> Result<Self, ParseGlobError> {
        self.types.push(pattern.parse()?);
        Ok(self)
    }

    /// Also wants rows inside the containers that match this pattern. Without patterns, all containers are wanted.
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn inside(mut self, pattern: &str) -> Result<Self, ParseGlobError> {
        self.containers.push(pattern.parse()?);
        Ok(self)
    }

    /// Wants only rows that overlap these times.
    #[must_use]
    pub fn within(mut self, window: impl Into<TimeRange>) -> Self {
        self.window = window.into();
        self
    }

    /// Returns whether all rows in the window are wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.natures == Natures::ALL && self.types.is_empty() && self.containers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_parser::TypeNature::{Container, Event, Link, State, Variable};

    #[test]
    fn selections_want_what_they_name() -> Result<(), ParseGlobError> {
        let natures: Natures = [State, Link, State].into_iter().collect();
        assert_eq!(format!("{natures:?}"), "{State, Link}");
        let wanted = [Container, State, Variable, Event, Link].map(|it| natures.contains(it));
        assert_eq!(wanted, [false, true, false, false, true]);
        let all = Selection::default();
        assert!(all.is_everything());
        let window = TimeRange::from(1.0..=2.0);
        assert_eq!(all.clone().within(window).window, window);
        let some = [all.clone().of_natures([State]), all.clone().of_type("a")?, all.inside("b")?];
        for selection in &some {
            assert!(!selection.is_everything());
            assert_eq!(some.iter().filter(|other| *other == selection).count(), 1);
        }
        assert!("a".parse::<Glob>()? == "a".parse()? && "a".parse::<Glob>()? != "b".parse()?);
        Ok(())
    }
}
