//! Temporary folders.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Creates a folder with these files, whose names may contain folders.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("writable");
        fs::write(path, bytes).expect("writable");
    }
    folder
}

/// Returns the sorted names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = entries.map(|entry| name(entry.expect("readable"))).collect();
    names.sort();
    names
}

/// Returns the text of a file.
pub fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Creates a named pipe.
pub fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo starts").success(), "{}", path.display());
}
