//! Sources of traces, as users of the library name them.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use splitter::{Folders, Input};

/// The source of a trace.
#[derive(Debug)]
pub struct Source<'r> {
    pub(crate) from: From<'r>,
    pub(crate) files: Option<Root>,
    pub(crate) further: Vec<PathBuf>,
}

/// The files that the trace names are to be read.
#[derive(Debug)]
pub(crate) struct Root {
    /// The trace itself; none for standard input and the like.
    pub(crate) path: Option<PathBuf>,
    /// Where they may lie.
    pub(crate) folders: Folders,
}

pub(crate) enum From<'r> {
    /// Each worker reads its own blocks.
    Input(Box<Input>),
    /// One worker at a time reads a block.
    Stream(Box<dyn Read + Send + 'r>),
}

impl fmt::Debug for From<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Input(input) => input.fmt(f),
            From::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl<'r> Source<'r> {
    /// Anything that gives bytes.
    pub fn stream(input: impl Read + Send + 'r) -> Self {
        Source { from: From::Stream(Box::new(input)), files: None, further: Vec::new() }
    }

    /// The same, and the files that the trace names (PajeTraceFile, and the Filename of
    /// PajeCreateContainer) are part of it: `docs/files.md` has the rules. Their names count from the
    /// folder that `path`, the trace itself, is in; from the current one if there is none. They must be
    /// regular files below `folders`: lines of them may come to be shown in messages, and whoever wrote
    /// the trace may not have the rights of this process.
    ///
    /// Without this they are not read, and there is a warning for each.
    #[must_use]
    pub fn reading_files(mut self, path: Option<PathBuf>, folders: Folders) -> Self {
        self.files = Some(Root { path, folders });
        self
    }

    /// These files as well, as if the trace named them before any other: pieces that were cut from one
    /// trace, for example. They may be files of any kind, anywhere: it is not the trace that names them. Which
    /// of them are the same is found out only after [`Source::reading_files`].
    #[must_use]
    pub fn followed_by(mut self, files: Vec<PathBuf>) -> Self {
        self.further = files;
        self
    }
}

impl std::convert::From<Input> for Source<'static> {
    fn from(input: Input) -> Self {
        Source { from: From::Input(Box::new(input)), files: None, further: Vec::new() }
    }
}
