//! From the name of a trace to its replay.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use paje_sim::{Error, Source};
use splitter::Input;

use crate::{Failure, Voice};

/// A trace that is open and has not been read: a file, or standard input; plain or compressed.
#[derive(Debug)]
pub struct Opened {
    /// The bytes.
    pub input: Input,
    /// Where it lies, unless it is standard input.
    pub file: Option<PathBuf>,
}

impl Opened {
    /// Opens the file at `path`; standard input if there is none, or if it is `-`. Who is to type the trace at
    /// a terminal is told so: more often something was forgotten.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: Option<&Path>, voice: Voice) -> Result<Self, Failure> {
        let file = path.filter(|path| *path != Path::new("-")).map(Path::to_owned);
        let name = file.as_deref().unwrap_or(Path::new("<stdin>"));
        let input = Input::open(path).map_err(|error| Failure::File(name.to_owned(), error))?;
        if file.is_none() && io::stdin().is_terminal() {
            voice.say(format_args!("reading the trace from the terminal; --help tells more"));
        }
        Ok(Opened { input, file })
    }

    /// What messages call it: its path, or `<stdin>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.input.name()
    }

    /// What `read` makes of it.
    ///
    /// # Errors
    /// The trace is invalid or damaged, or cannot be read.
    pub fn read<T>(self, read: impl FnOnce(Source<'_>) -> Result<T, Error>) -> Result<T, Failure> {
        let name = self.name().to_owned();
        read(Source::from(self.input)).map_err(|error| Failure::Trace(name, error))
    }
}
