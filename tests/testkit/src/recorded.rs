//! Compares texts with recorded texts.

use std::path::Path;

/// Compares a text with the text recorded in `path`, section by section (`\n=== `).
///
/// With `PAJE_BLESS=1` in the environment, the record is updated. Review the changes.
pub fn assert_recorded(text: &str, path: &Path) {
    if std::env::var_os("PAJE_BLESS").is_some() {
        std::fs::write(path, text).expect("the record can be written");
    }
    let wanted = std::fs::read_to_string(path).expect("there is a record");
    for (found, wanted) in text.split("\n=== ").zip(wanted.split("\n=== ")) {
        assert_eq!(found, wanted);
    }
    assert_eq!(text.len(), wanted.len());
}
