//! Folder of the pieces. It appears when all pieces are complete, or not at all.
//!
//! Pieces are written to a temporary folder in the same parent folder. At the end, the temporary
//! folder is renamed. If the program fails or a signal ends it, the temporary folder is removed. If
//! the program is killed, its next run removes the folder ([`partial`](crate::partial)).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

use paje_console::Failure;
use paje_console::options::Talk;
use paje_console::signals::heeded;
use paje_parser::error::shown_path;

use crate::partial::{self, Partial, Shared};
use crate::report::VOICE;

#[derive(Debug)]
pub(crate) struct Folder {
    /// The lock is held while the folder is renamed or removed.
    partial: Shared,
    signals: Option<Handle>,
    path: PathBuf,
    target: PathBuf,
    cleared: Vec<PathBuf>,
}

impl Folder {
    /// Creates a temporary folder in the parent folder of `target`. `target` must not exist, or
    /// must be an empty folder. If `ends_at_signals` is true, a terminating signal removes the
    /// temporary folder before the program ends.
    pub(crate) fn create(target: &Path, ends_at_signals: bool) -> Result<Self, Failure> {
        let place = free_place(target).map_err(|error| Failure::File(target.to_owned(), error))?;
        Folder::beside(target, place, ends_at_signals)
    }

    /// Creates a temporary folder in the folder of a file that is to be created or replaced.
    pub(crate) fn beside_file(target: &Path, ends_at_signals: bool) -> Result<Self, Failure> {
        let place = match fs::metadata(target) {
            Ok(there) if !there.is_file() => Err(io::Error::other("not a regular file")),
            // A symbolic link is kept, and its target is replaced.
            Ok(_) => fs::canonicalize(target),
            Err(_) => std::path::absolute(target),
        };
        let place = place.map_err(|error| Failure::File(target.to_owned(), error))?;
        Folder::beside(target, place, ends_at_signals)
    }

    fn beside(target: &Path, place: PathBuf, ends_at_signals: bool) -> Result<Self, Failure> {
        let failed = |error| Failure::File(target.to_owned(), error);
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(failed(io::Error::other("cannot create a folder there")));
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

    pub(crate) fn report_cleared(&self, talk: Talk) {
        for path in self.cleared.iter().filter(|_| !talk.warnings.no_warnings) {
            VOICE.say(format_args!("{}: removed a leftover of a killed run", shown_path(path)));
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn temporary(&self) -> Result<File, Failure> {
        let file = tempfile::tempfile_in(&self.path);
        file.map_err(|error| self.failed(unwrapped(error)))
    }

    pub(crate) fn failed(&self, error: io::Error) -> Failure {
        Failure::File(self.path.join("(temporary file)"), error)
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut shared = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(partial) = &*shared else { return Ok(()) };
        // The rename can only replace an empty folder.
        let renamed = partial.unmark().and_then(|()| fs::rename(&self.path, &self.target));
        renamed.map_err(|error| Failure::File(self.target.clone(), error))?;
        *shared = None;
        Ok(())
    }

    /// Renames a complete file of the folder to its final name, and removes the rest.
    pub(crate) fn finish_file(self, path: &Path) -> Result<(), Failure> {
        fs::rename(path, &self.target).map_err(|error| Failure::File(self.target.clone(), error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If the signal thread holds the lock, this waits until that thread ends the program.
        let partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(partial) = partial {
            partial.remove();
        }
        if let Some(signals) = &self.signals {
            signals.close();
        }
    }
}

/// Returns the absolute path of `target`. Fails if no folder can be renamed to it.
fn free_place(target: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(target),
        Err(error) => Err(error),
        Ok(_) => {
            let place = fs::canonicalize(target)?;
            if !fs::metadata(&place)?.is_dir() {
                return Err(io::Error::other("a file of this name exists"));
            }
            if fs::read_dir(&place)?.next().is_some() {
                return Err(io::Error::other("the folder exists and is not empty"));
            }
            if std::env::current_dir().is_ok_and(|here| here.starts_with(&place)) {
                return Err(io::Error::other("the pieces cannot replace the current folder"));
            }
            Ok(place)
        }
    }
}

/// Returns the system's error, without the path that `tempfile` adds.
fn unwrapped(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(error, io::Error::from_raw_os_error)
}

/// Removes the folder when a signal arrives, then lets the signal end the program.
fn remove_at_signals(partial: &Shared) -> io::Result<Handle> {
    // Exceeding the file size limit should be a write error instead of ending the program.
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
