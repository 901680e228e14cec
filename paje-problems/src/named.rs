//! Names of the things of a trace in messages: their own, and those that events call them by.

use std::fmt;

use paje_parser::EventKind;
use paje_parser::error::shown;

use crate::Word;

/// A type, a container or a value: `'rank-1' (33)` is called `rank-1` in rows, and `33` in events.
///
/// Events and their users know a thing by different names. A message that has only one of them
/// sends its reader through the definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named(Box<Names>);

/// Apart, since problems have several and pass through many hands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    name: Word,
    alias: Option<Word>,
}

impl Named {
    /// A thing of this name and alias.
    #[must_use]
    pub fn new(name: &[u8], alias: Option<&[u8]>) -> Self {
        Named(Box::new(Names { name: name.to_vec(), alias: alias.map(<[u8]>::to_vec) }))
    }

    /// The name, which rows print.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.0.name
    }

    /// The alias, if the definition gave one: then this is what events call it.
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

/// An event by the definition that its lines begin with: `PajePopState (13)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// Kind of the event.
    pub kind: EventKind,
    /// The number that lines call it by; it may be any word.
    pub number: Word,
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind.name(), unquoted(&self.number))
    }
}

/// The word as messages show it, without the quotes.
fn unquoted(word: &[u8]) -> String {
    let shown = shown(word);
    shown[1..shown.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_told_once() {
        assert_eq!(Named::new(b"rank-1", Some(b"33")).to_string(), "'rank-1' (33)");
        assert_eq!(Named::new(b"rank-1", Some(b"rank-1")).to_string(), "'rank-1'");
        assert_eq!(Named::new(b"rank-1", None).to_string(), "'rank-1'");
        assert_eq!(Named::new(b"", Some(b"\x1b[2J")).to_string(), "'' (\\u{1b}[2J)");
        let event = EventName { kind: EventKind::PopState, number: b"13".to_vec() };
        assert_eq!(event.to_string(), "PajePopState (13)");
    }
}
