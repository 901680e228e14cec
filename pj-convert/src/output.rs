//! Output to a file or folder that appears once it is complete, or to standard output.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use paje_console::aside::Aside;
use paje_console::output::standard_output;
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Output {
    sink: Sink,
    aside: Option<Aside>,
}

#[derive(Debug)]
enum Sink {
    Plain(File),
    Gzip(Box<GzEncoder<File>>),
}

impl Output {
    /// Opens an output. A regular file appears once it is complete. Pipes are written directly.
    pub(crate) fn open(path: &Path, compresses: bool) -> io::Result<Self> {
        let (file, aside) = if path == Path::new("-") {
            (standard_output()?, None)
        } else if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            (File::options().write(true).open(path)?, None)
        } else {
            let aside = Aside::at(path)?;
            (aside.file().try_clone()?, Some(aside))
        };
        let sink = match compresses {
            true => Sink::Gzip(Box::new(GzEncoder::new(file, Compression::new(6)))),
            false => Sink::Plain(file),
        };
        Ok(Output { sink, aside })
    }

    /// Completes the output. If that fails, no file is left.
    pub(crate) fn finish(self) -> io::Result<()> {
        if let Sink::Gzip(encoder) = self.sink {
            encoder.finish()?;
        }
        match self.aside {
            Some(aside) => {
                aside.sync()?;
                aside.take_place()
            }
            None => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Plain(file) => file.write(buffer),
            Sink::Gzip(encoder) => encoder.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
        }
    }
}

/// A new folder that appears once it is complete.
#[derive(Debug)]
pub(crate) struct NewFolder {
    partial: TempDir,
    place: PathBuf,
}

impl NewFolder {
    /// Creates a folder beside `place` with another name.
    pub(crate) fn open(place: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(place).is_ok() {
            let why = "it exists already; name a new folder";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let parent = place.parent().filter(|parent| *parent != Path::new(""));
        let partial = tempfile::Builder::new()
            .prefix(".")
            .suffix(".part")
            // The user's umask applies, as for any folder.
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent.unwrap_or(Path::new(".")))?;
        Ok(NewFolder { partial, place: place.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        self.partial.path()
    }

    /// Renames the folder to its final path. If that fails, no folder is left.
    pub(crate) fn finish(self) -> io::Result<()> {
        fs::rename(self.partial.path(), &self.place)?;
        let _ = TempDir::keep(self.partial);
        Ok(())
    }
}
