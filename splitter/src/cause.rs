//! The system's words for what failed.

use std::io;

/// Why a file cannot be read or written, without the number that Rust puts behind it: the words are what people
/// search for.
///
/// ```
/// let error = std::fs::read("/nowhere").unwrap_err();
/// assert_eq!(splitter::cause(&error), "No such file or directory");
/// ```
#[must_use]
pub fn cause(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.find(" (os error") {
        text.truncate(at);
    }
    text
}
