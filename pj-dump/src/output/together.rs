//! Files that appear together, when all of them are complete.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;

use paje_console::aside::Aside;
use tempfile::TempDir;

use crate::signals::Held;

/// Stack of a thread that waits for the disk.
const STACK: usize = 1 << 16;

/// Files that take their places together, when all of them are complete.
#[derive(Debug, Default)]
pub(crate) struct Together {
    files: Vec<(PathBuf, Aside)>,
    new: Option<NewFolder>,
}

/// A folder that is to appear with the files in it.
#[derive(Debug)]
struct NewFolder {
    path: PathBuf,
    /// The innermost folder around it that is there.
    around: PathBuf,
}

impl Together {
    /// Files in a folder. If it is not there yet, nothing of it is until the files are complete.
    ///
    /// # Errors
    /// Something is there that is no folder, or cannot be looked at.
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
            return Err(io::Error::other("there is a file of that name"));
        }
        let new = (!is_there).then(|| NewFolder { path: folder.to_owned(), around });
        Ok(Together { files: Vec::new(), new })
    }

    /// One more file, for this place.
    ///
    /// # Errors
    /// As [`Aside::at`]; with the place.
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

    /// Files to be written to, each with its place, in the order in which they were added.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &File)> {
        self.files.iter().map(|(place, aside)| (place.as_path(), aside.file()))
    }

    /// All files take their places. Who tells the program to stop meanwhile is heard afterwards.
    ///
    /// # Errors
    /// The disk fails, before any has taken its place if it is full; with the place.
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

    /// Makes sure that all that was written is on the disk. A file waits for the disk, not for a core: all wait together.
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
                // No room for one more thread.
                _ => aside.sync(),
            })
            .collect()
        });
        let mut both = self.files.iter().zip(outcomes);
        both.try_for_each(|((place, _), outcome)| outcome.map_err(|error| (place.clone(), error)))
    }
}

impl NewFolder {
    /// Appears, with these files and at once.
    fn appear(&self, files: Vec<(PathBuf, Aside)>) -> io::Result<()> {
        let parent = or_here(self.path.parent().unwrap_or(Path::new("")));
        let made = Made::folder(parent)?;
        let partial = tempfile::Builder::new()
            .prefix(".")
            .suffix(".part")
            // Less what the user's mask takes away, as for any folder.
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(parent)?;
        for (place, aside) in files {
            let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            aside.take(partial.path().join(name))?;
        }
        fs::rename(partial.path(), &self.path)?;
        let _ = TempDir::keep(partial);
        made.stays();
        Ok(())
    }
}

/// Folders that were made, which go again if what they were made for does not come.
struct Made(Vec<PathBuf>);

impl Made {
    /// Makes a folder, and those that it is in.
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
        // The innermost first; a folder that others use by now stays.
        self.0.iter().all(|folder| fs::remove_dir(folder).is_ok());
    }
}

/// The folder of this path, which is the current one if the path is empty.
fn or_here(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}
