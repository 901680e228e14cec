//! Source files are short.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of lines of a file, not counting unit tests in separate files.
const MOST_LINES: usize = 400;

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    find_long(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut long);
    assert!(long.is_empty(), "more than {MOST_LINES} lines: {long:?}");
}

fn find_long(folder: &Path, long: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() && name != "target" && name != "tests" && !name.starts_with('.') {
            find_long(&path, long);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = fs::read_to_string(&path).expect("a source file");
            if text.lines().count() > MOST_LINES {
                long.push(path);
            }
        }
    }
}
