use super::named::EventName;

/// Kind of a warning. A replay gives at most one warning for each kind and event definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// Lines with more words than their definition has fields. The extra words are ignored.
    SurplusWords,
    /// Lines that end before a user-defined field. Such a field is treated as empty.
    MissingExtras,
    /// Events of a container after its destruction. They are ignored.
    AfterDestroy,
    /// A byte order mark at the beginning of a file. It is skipped.
    ByteOrderMark,
    /// A file named in PajeTraceFile or in the Filename of a container, if such files are not read.
    FileNotRead,
}

impl WarningKind {
    /// Returns a short name for programs, which stays the same in later releases.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            WarningKind::SurplusWords => "surplus-words",
            WarningKind::MissingExtras => "missing-extras",
            WarningKind::AfterDestroy => "after-destroy",
            WarningKind::ByteOrderMark => "byte-order-mark",
            WarningKind::FileNotRead => "file-not-read",
        }
    }

    /// Returns a sentence that says what is doubtful about lines of this event, and how the replay treats such lines.
    #[must_use]
    pub fn sentence(self, event: Option<&EventName>) -> String {
        let event = event.map_or("an event".into(), ToString::to_string);
        match self {
            WarningKind::SurplusWords => format!(
                "more words than the definition of {event} has fields; the extra ones are ignored"
            ),
            WarningKind::MissingExtras => format!(
                "the line of {event} ends before its last user-defined fields; they are empty"
            ),
            WarningKind::AfterDestroy => {
                format!("{event} for a container that was destroyed before; it is ignored")
            }
            WarningKind::FileNotRead => {
                format!("the trace file that {event} names here is not read")
            }
            WarningKind::ByteOrderMark => {
                "the file begins with a byte order mark, which is not part of the format; it is ignored".into()
            }
        }
    }
}
