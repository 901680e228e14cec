//! Files that appear together when all are complete.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use paje_console::aside::Aside;
use tempfile::TempDir;

use crate::signals::Held;

/// Stack size of a thread that waits for the disk, in bytes.
const STACK: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Together {
    files: Vec<(PathBuf, Aside)>,
    new: Option<NewFolder>,
}

#[derive(Debug)]
struct NewFolder {
    path: PathBuf,
    /// Innermost existing folder above the new one.
    around: PathBuf,
}

impl Together {
    /// Prepares files in a folder. A new folder appears only when its files are complete.
    #[cfg(feature = "tables")]
    pub(crate) fn in_folder(folder: &Path) -> io::Result<Self> {
        let mut around = folder;
        while let Err(error) = fs::symlink_metadata(or_here(around)) {
            around = match around.parent() {
                Some(parent) if error.kind() == io::ErrorKind::NotFound => parent,
                _ => return Err(error),
            };
        }
        let is_there = around == folder;
        let around = or_here(around).to_owned();
        if !fs::metadata(&around)?.is_dir() {
            return Err(io::Error::other("a file of this name exists"));
        }
        let new = (!is_there).then(|| NewFolder { path: folder.to_owned(), around });
        Ok(Together { files: Vec::new(), new })
    }

    /// Returns whether the folder does not exist yet.
    #[cfg(feature = "tables")]
    pub(crate) const fn is_new(&self) -> bool {
        self.new.is_some()
    }

    pub(crate) fn add(&mut self, place: PathBuf) -> Result<(), (PathBuf, io::Error)> {
        let aside = match &self.new {
            Some(folder) => Aside::within(&folder.around, place.clone()),
            None => Aside::at(&place),
        };
        match aside {
            Ok(aside) => self.files.push((place, aside)),
            Err(error) => return Err((place, error)),
        }
        Ok(())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &File)> {
        self.files.iter().map(|(place, aside)| (place.as_path(), aside.file()))
    }

    /// Renames all files to their final paths. Signals are handled afterwards.
    pub(crate) fn take_places(self) -> Result<(), (PathBuf, io::Error)> {
        self.sync()?;
        let _held = Held::new();
        match self.new {
            Some(folder) => folder.appear(self.files).map_err(|error| (folder.path.clone(), error)),
            None => {
                let mut files = self.files.into_iter();
                files.try_for_each(|(place, aside)| aside.take_place().map_err(|e| (place, e)))
            }
        }
    }

    /// Flushes all files to the disk in parallel, since flushing waits for the disk and not for a
    /// core.
    fn sync(&self) -> Result<(), (PathBuf, io::Error)> {
        let outcomes: Vec<_> = thread::scope(|scope| {
            let wait = |aside| {
                let thread = thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, move || Aside::sync(aside))
            };
            let waiting: Vec<_> = self.files.iter().map(|(_, aside)| wait(aside)).collect();
            let both = waiting.into_iter().zip(&self.files);
            both.map(|(waiting, (_, aside))| match waiting.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(outcome)) => outcome,
                _ => aside.sync(),
            })
            .collect()
        });
        let mut both = self.files.iter().zip(outcomes);
        both.try_for_each(|((place, _), outcome)| outcome.map_err(|error| (place.clone(), error)))
    }
}

impl NewFolder {
    /// Renames the folder, so that all files appear at once.
    fn appear(&self, files: Vec<(PathBuf, Aside)>) -> io::Result<()> {
        let parent = or_here(self.path.parent().unwrap_or(Path::new("")));
        let made = Made::folder(parent)?;
        let partial = tempfile::Builder::new()
            .prefix(".")
            .suffix(".part")
            // The user's umask applies, as for any folder.
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)?;
        for (place, aside) in files {
            let name = place.strip_prefix(&self.path).map_err(io::Error::other)?;
            let place = partial.path().join(name);
            fs::create_dir_all(place.parent().unwrap_or(partial.path()))?;
            aside.take(place)?;
        }
        fs::rename(partial.path(), &self.path)?;
        let _ = TempDir::keep(partial);
        made.stays();
        Ok(())
    }
}

/// New folders, which are removed when this is dropped, unless they are needed.
struct Made(Vec<PathBuf>);

impl Made {
    fn folder(folder: &Path) -> io::Result<Self> {
        let missing = folder.ancestors().take_while(|folder| {
            *folder != Path::new("") && matches!(folder.try_exists(), Ok(false))
        });
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        fs::create_dir_all(folder)?;
        Ok(Made(missing))
    }

    fn stays(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // Removes the innermost folder first. A folder that is no longer empty stays.
        self.0.iter().all(|folder| fs::remove_dir(folder).is_ok());
    }
}

fn or_here(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}
