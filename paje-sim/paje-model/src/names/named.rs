//! Names of types, containers, values and events in messages.

use std::fmt;

use paje_parser::EventKind;
use paje_parser::error::shown;

pub type Word = Vec<u8>;

/// The name and the alias of a type, a container or a value, such as `'rank-1' (33)`.
///
/// Rows show the name, and events use the alias. Messages show both, so that the reader need not look them up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named(Box<Names>);

/// Boxed, because a problem has several of these texts and is moved often.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    name: Word,
    alias: Option<Word>,
}

impl Named {
    #[must_use]
    pub fn new(name: &[u8], alias: Option<&[u8]>) -> Self {
        Named(Box::new(Names { name: name.to_vec(), alias: alias.map(<[u8]>::to_vec) }))
    }

    /// Returns the name, which rows show.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.0.name
    }

    /// Returns the alias if the definition has one. Events use the alias.
    #[must_use]
    pub fn alias(&self) -> Option<&[u8]> {
        self.0.alias.as_deref()
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.name()))?;
        match self.alias() {
            Some(alias) if alias != self.name() => write!(f, " ({})", unquoted(alias)),
            _ => Ok(()),
        }
    }
}

/// The definition of an event, such as `PajePopState (13)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    pub kind: EventKind,
    /// Number of the definition, as at the beginning of the event's lines. It may be any word.
    pub number: Word,
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind.name(), unquoted(&self.number))
    }
}

fn unquoted(word: &[u8]) -> String {
    let shown = shown(word);
    shown[1..shown.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_name_and_alias_are_shown_once() {
        assert_eq!(Named::new(b"rank-1", Some(b"33")).to_string(), "'rank-1' (33)");
        assert_eq!(Named::new(b"rank-1", Some(b"rank-1")).to_string(), "'rank-1'");
        assert_eq!(Named::new(b"rank-1", None).to_string(), "'rank-1'");
        assert_eq!(Named::new(b"", Some(b"\x1b[2J")).to_string(), "'' (\\u{1b}[2J)");
        let event = EventName { kind: EventKind::PopState, number: b"13".to_vec() };
        assert_eq!(event.to_string(), "PajePopState (13)");
    }
}
