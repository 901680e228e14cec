//! The folder of the pieces, which appears when they are complete, or not at all.
//!
//! They are written to a folder beside it whose name says that it is partial. It is renamed at the end,
//! and removed if the program fails or is told to stop. What a program leaves behind that is killed
//! without a word, the next one removes ([`partial`](crate::partial)).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

use paje_console::Failure;
use paje_console::signals::heeded;
use paje_parser::error::shown_path;

use crate::partial::{self, Partial, Shared};
use crate::report::VOICE;

/// A folder that is not complete.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Who wants to rename or to remove it holds the lock.
    partial: Shared,
    signals: Option<Handle>,
    path: PathBuf,
    target: PathBuf,
    /// Paths that killed programs had left behind.
    cleared: Vec<PathBuf>,
}

impl Folder {
    /// Makes a folder beside `target`, which must not be there, or be empty. If `ends_at_signals`, one that
    /// tells the program to stop removes it first.
    ///
    /// # Errors
    /// `target` is there, or nothing can be made beside it.
    pub(crate) fn create(target: &Path, ends_at_signals: bool) -> Result<Self, Failure> {
        let place = free_place(target).map_err(|error| Failure::File(target.to_owned(), error))?;
        Folder::beside(target, place, ends_at_signals)
    }

    /// Makes a folder beside a file that is to be made, or replaced.
    ///
    /// # Errors
    /// `target` is a folder, or nothing can be made beside it.
    pub(crate) fn beside_file(target: &Path, ends_at_signals: bool) -> Result<Self, Failure> {
        let place = match fs::metadata(target) {
            Ok(there) if !there.is_file() => Err(io::Error::other("this is no regular file")),
            // A link stays, and what it leads to is written.
            Ok(_) => fs::canonicalize(target),
            Err(_) => std::path::absolute(target),
        };
        let place = place.map_err(|error| Failure::File(target.to_owned(), error))?;
        Folder::beside(target, place, ends_at_signals)
    }

    fn beside(target: &Path, place: PathBuf, ends_at_signals: bool) -> Result<Self, Failure> {
        let failed = |error| Failure::File(target.to_owned(), error);
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(failed(io::Error::other("a folder cannot be made there")));
        };
        let mut prefix = name.to_owned();
        prefix.push(".partial-");
        let partial = Shared::default();
        partial::enlist(&partial);
        let signals = ends_at_signals.then(|| remove_at_signals(&partial));
        let signals = signals.transpose().map_err(failed)?;
        let cleared = partial::clear(parent, &prefix);
        let path = {
            let mut shared = partial.lock().unwrap_or_else(PoisonError::into_inner);
            let (made, path) = Partial::create(parent, &prefix)
                .map_err(|error| Failure::File(parent.to_owned(), unwrapped(error)))?;
            *shared = Some(made);
            path
        };
        Ok(Folder { partial, signals, path, target: place, cleared })
    }

    /// Says what killed programs had left behind and is gone now.
    pub(crate) fn tell_cleared(&self, quiet: bool) {
        for path in self.cleared.iter().filter(|_| !quiet) {
            VOICE.say(format_args!(
                "{}: removed; a run that was killed had left it behind",
                shown_path(path)
            ));
        }
    }

    /// Path of the folder that pieces are written to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file without a name, on the disk of the pieces.
    pub(crate) fn temporary(&self) -> Result<File, Failure> {
        let file = tempfile::tempfile_in(&self.path);
        file.map_err(|error| self.failed(unwrapped(error)))
    }

    /// The failure of a file of [`Folder::temporary`].
    pub(crate) fn failed(&self, error: io::Error) -> Failure {
        Failure::File(self.path.join("(temporary file)"), error)
    }

    /// The pieces are complete.
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut shared = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(partial) = &*shared else { return Ok(()) };
        // Takes the place of an empty folder, and of nothing else.
        let renamed = partial.unmark().and_then(|()| fs::rename(&self.path, &self.target));
        renamed.map_err(|error| Failure::File(self.target.clone(), error))?;
        *shared = None;
        Ok(())
    }
}

impl Folder {
    /// A file of the folder is complete, and takes its place; the rest goes.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub(crate) fn finish_file(self, path: &Path) -> Result<(), Failure> {
        fs::rename(path, &self.target).map_err(|error| Failure::File(self.target.clone(), error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Where a signal's thread has the lock, it does not give it back: the program ends there.
        let partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(partial) = partial {
            partial.remove();
        }
        if let Some(signals) = &self.signals {
            signals.close();
        }
    }
}

/// The absolute path of `target`, if a folder can be renamed to it.
fn free_place(target: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(target),
        Err(error) => Err(error),
        Ok(_) => {
            let place = fs::canonicalize(target)?;
            if !fs::metadata(&place)?.is_dir() {
                return Err(io::Error::other("there is a file of that name"));
            }
            if fs::read_dir(&place)?.next().is_some() {
                return Err(io::Error::other("the folder is there, and is not empty"));
            }
            if std::env::current_dir().is_ok_and(|here| here.starts_with(&place)) {
                return Err(io::Error::other(
                    "the pieces cannot take the place of the current folder",
                ));
            }
            Ok(place)
        }
    }
}

/// Error of the system, without the path that `tempfile` adds.
fn unwrapped(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(error, io::Error::from_raw_os_error)
}

/// Removes the folder when the program is told to stop, and then stops it.
fn remove_at_signals(partial: &Shared) -> io::Result<Handle> {
    // A file that becomes too large is an error of the write, not the end of the program.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let mut signals = Signals::new(heeded([SIGHUP, SIGINT, SIGTERM]))?;
    let handle = signals.handle();
    let partial = Arc::clone(partial);
    thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let mut shared = partial.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(partial) = shared.take() {
                partial.remove();
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(handle)
}
