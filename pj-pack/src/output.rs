//! Output to standard output, or to a file that appears when it is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use paje_console::Failure;
use paje_console::aside::Aside;
use paje_console::output::standard_output;

#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    aside: Option<Aside>,
    path: Option<PathBuf>,
}

impl Output {
    /// Opens an output. `None` and `-` are standard output. Pipes and devices are written directly.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let file = standard_output().map_err(Failure::Output)?;
            return Ok(Output { file, aside: None, path: None });
        };
        let open = || -> io::Result<(File, Option<Aside>)> {
            if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
                return Ok((File::options().write(true).open(path)?, None));
            }
            let aside = Aside::at(path)?;
            Ok((aside.file().try_clone()?, Some(aside)))
        };
        let (file, aside) = open().map_err(|error| Failure::File(path.to_owned(), error))?;
        Ok(Output { file, aside, path: Some(path.to_owned()) })
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Returns the failure for a write error. It contains the file name if the output is a file.
    pub(crate) fn failed(&self, error: io::Error) -> Failure {
        match &self.path {
            Some(path) => Failure::File(path.clone(), error),
            None => Failure::Output(error),
        }
    }

    /// Makes the file appear at its path.
    ///
    /// # Errors
    /// The file cannot be written. It then does not appear.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Some(aside) = self.aside else { return Ok(()) };
        let appear = aside.sync().and_then(|()| aside.take_place());
        appear.map_err(|error| Failure::File(self.path.unwrap_or_default(), error))
    }
}
