//! OTF2 archives.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Input;

#[cfg(not(feature = "otf2"))]
#[path = "archive/without.rs"]
mod open;
#[cfg(feature = "otf2")]
mod open;

pub use open::is_damaged_archive;
pub(super) use open::{OpenArchive, text};

impl Input {
    /// Reads the intact part of a damaged OTF2 archive. The damage is an error at the end of the
    /// trace. Does nothing to other inputs.
    pub fn recover(&self) {
        if let Some(archive) = &self.archive {
            archive.recover();
        }
    }

    /// Returns the faults of an OTF2 archive as messages. Reads all of it.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.archive.iter().flat_map(|archive| archive.faults()).collect()
    }
}

/// Returns the path of the only anchor file of an archive in a folder, or the path itself if it is
/// no folder.
pub(super) fn find(path: &Path) -> io::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut anchors = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "otf2") {
            anchors.push(file);
        }
    }
    match &anchors[..] {
        [] => Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "this is a folder, and has no anchor file of an OTF2 archive (NAME.otf2)",
        )),
        [anchor] => Ok(anchor.clone()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this folder has several OTF2 archives; name the anchor file of one (NAME.otf2)",
        )),
    }
}
