//! Why an archive cannot be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paje_parser::error::shown_path;

use crate::bytes::Damage;

/// Why an archive cannot be read.
#[derive(Clone, Debug)]
pub struct Error {
    file: PathBuf,
    why: Why,
}

#[derive(Clone, Debug)]
enum Why {
    Io(Arc<io::Error>),
    Damaged(Damage),
    Other(String),
    /// Several faults, as text.
    Several(String),
}

impl Error {
    pub(crate) fn io(file: &Path, error: io::Error) -> Self {
        Error { file: file.to_owned(), why: Why::Io(Arc::new(error)) }
    }

    pub(crate) fn damaged(file: &Path, damage: Damage) -> Self {
        Error { file: file.to_owned(), why: Why::Damaged(damage) }
    }

    pub(crate) fn other(file: &Path, why: impl Into<String>) -> Self {
        Error { file: file.to_owned(), why: Why::Other(why.into()) }
    }

    /// Combines faults, of which at most `most` are listed. Returns `None` without faults.
    pub(crate) fn of_all(faults: &[Error], most: usize) -> Option<Self> {
        let first = faults.first()?;
        let listed: Vec<String> = faults.iter().take(most).map(Error::to_string).collect();
        let mut all = listed.join(", ");
        if faults.len() > most {
            all.push_str(&format!(", and {} more faults", faults.len() - most));
        }
        Some(Error { file: first.file.clone(), why: Why::Several(all) })
    }

    /// Returns the file of the archive.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns whether the archive is wrong, rather than the machine or the file system.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match &self.why {
            Why::Io(error) => error.kind() == io::ErrorKind::NotFound,
            _ => true,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = shown_path(&self.file);
        match &self.why {
            Why::Io(error) => write!(f, "{file}: {error}"),
            Why::Damaged(Damage { at, what }) => write!(f, "{file}, byte {at}: {what}"),
            Why::Other(what) => write!(f, "{file}: {what}"),
            Why::Several(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Why::Io(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error.why {
            Why::Io(inner) => inner.kind(),
            _ => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, error)
    }
}
