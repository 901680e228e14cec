use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use splitter::{Folders, Input};

/// Where a trace is read from.
#[derive(Debug)]
pub struct Source<'r> {
    pub kind: SourceKind<'r>,
    pub files: Option<Root>,
    pub further: Vec<PathBuf>,
}

#[derive(Debug)]
pub struct Root {
    pub path: Option<PathBuf>,
    pub folders: Folders,
}

pub enum SourceKind<'r> {
    /// An input from which each worker can read its own blocks.
    Input(Box<Input>),
    /// A stream. One worker at a time reads from it.
    Stream(Box<dyn Read + Send + 'r>),
}

impl fmt::Debug for SourceKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceKind::Input(input) => input.fmt(f),
            SourceKind::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl<'r> Source<'r> {
    pub fn stream(input: impl Read + Send + 'r) -> Self {
        Source { kind: SourceKind::Stream(Box::new(input)), files: None, further: Vec::new() }
    }

    /// Also reads the files to which the trace refers (with PajeTraceFile, or the Filename of
    /// PajeCreateContainer), as `docs/files.md` describes. Their names are relative to the folder
    /// of the trace's `path`, or to the current folder. The files must be regular files below
    /// `folders`: messages may show lines of them, and the trace's author may have fewer rights
    /// than this process.
    ///
    /// Without this, such files are not read, and each of them causes a warning.
    #[must_use]
    pub fn reading_files(mut self, path: Option<PathBuf>, folders: Folders) -> Self {
        self.files = Some(Root { path, folders });
        self
    }

    /// Also reads these files, for example pieces of one trace. They are read as if the trace
    /// referred to them before all other files. They may be anywhere and of any kind. Duplicates
    /// are only detected if this is called after [`Source::reading_files`].
    #[must_use]
    pub fn followed_by(mut self, files: Vec<PathBuf>) -> Self {
        self.further = files;
        self
    }
}

impl From<Input> for Source<'static> {
    fn from(input: Input) -> Self {
        Source { kind: SourceKind::Input(Box::new(input)), files: None, further: Vec::new() }
    }
}
