//! The piece of a line around an offending text, and how it is shown.

pub use paje_problems::excerpt::{Excerpt, Shown, line_with_carets};

use super::error::{ErrorKind, Place};

/// The offending line with carets below the offending text, as `pj_validate` shows them; nothing for
/// a line that is too long to be read.
#[must_use]
pub fn lines_below(place: &Place, kind: &ErrorKind) -> String {
    let problem = match kind {
        ErrorKind::Invalid(problem) => Some(problem),
        _ => None,
    };
    line_with_carets(&place.text, place.position, problem)
}
