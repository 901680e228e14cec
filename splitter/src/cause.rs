//! Messages of the system.

use std::io;

/// Returns the system's message for an error, without the error number that Rust adds.
///
/// ```
/// let error = std::fs::read("/nowhere").unwrap_err();
/// assert_eq!(splitter::cause(&error), "No such file or directory");
/// ```
#[must_use]
pub fn cause(error: &io::Error) -> String {
    let mut text = error.to_string();
    while let Some(at) = text.find(" (os error") {
        let end = text[at..].find(')').map_or(text.len(), |end| at + end + 1);
        text.drain(at..end);
        // The path that `tempfile` adds names a temporary file.
        if text[at..].starts_with(" at path ") {
            text.truncate(at);
        }
    }
    text
}
