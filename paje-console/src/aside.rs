//! Writes files that appear only when they are complete.
//!
//! On Linux, the new file has no name until it is complete, so a killed program leaves nothing
//! behind. When it replaces an existing file, it has a temporary name for an instant. On other
//! systems, and on file systems without unnamed files, the new file has a temporary name
//! throughout, and is removed if writing fails.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::output::buffered;

/// Writes a file. An existing file is replaced. Pipes, terminals and other special files are
/// written directly.
///
/// # Errors
/// The folder or the file cannot be written. An existing file is then unchanged.
pub fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    write_with(path, |out| out.write_all(text))
}

/// Writes a file with the function `write`. The file appears as described for [`write_whole`].
pub fn write_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return buffered(&File::options().write(true).open(path)?, write);
    }
    let aside = Aside::at(path)?;
    buffered(&aside.file, write)?;
    aside.sync()?;
    aside.take_place()
}

/// A temporary file that will replace a file in the same folder. Dropping an `Aside` removes the
/// file.
#[derive(Debug)]
pub struct Aside {
    file: File,
    /// Temporary path, for systems where the file needs a name.
    path: PathBuf,
    /// Whether the file exists under the temporary path, and must be removed if writing fails.
    named: bool,
    place: PathBuf,
}

impl Aside {
    /// Creates a temporary file that will become the file `place`, which may exist already.
    ///
    /// # Errors
    /// The folder cannot be written, or `place` is not a regular file.
    pub fn at(place: &Path) -> io::Result<Self> {
        match fs::metadata(place) {
            Ok(metadata) if !metadata.is_file() => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, "not a regular file"))
            }
            Ok(metadata) => Aside::new(place, Some(metadata.permissions())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Aside::new(place, None),
            Err(error) => Err(error),
        }
    }

    /// Returns the file to write to.
    #[must_use]
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Flushes the file to the disk. Without this, the name could survive a power failure although
    /// the contents do not.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Renames the file to its final path.
    pub fn take_place(mut self) -> io::Result<()> {
        self.appear()
    }

    /// Renames the file to `place`, which must be on the same disk.
    pub fn take(mut self, place: PathBuf) -> io::Result<()> {
        self.place = place;
        self.appear()
    }

    fn appear(&mut self) -> io::Result<()> {
        if !self.named && give_name(&self.file, &self.place).is_ok() {
            return Ok(());
        }
        self.name()?;
        fs::rename(&self.path, &self.place)?;
        self.named = false;
        Ok(())
    }

    /// Creates a temporary file for `place`, with the permissions of the replaced file.
    fn new(place: &Path, old: Option<fs::Permissions>) -> io::Result<Self> {
        // A symbolic link is kept, and its target is replaced.
        let place = if old.is_some() { fs::canonicalize(place)? } else { place.to_owned() };
        let folder = match place.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let aside = Aside::within(&folder, place)?;
        if let Some(permissions) = old {
            aside.file.set_permissions(permissions)?;
        }
        Ok(aside)
    }

    /// Creates a temporary file in `folder` for a new file elsewhere on the same disk.
    pub fn within(folder: &Path, place: PathBuf) -> io::Result<Self> {
        let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut aside = OsString::from(".");
        aside.push(name);
        aside.push(format!(".{}.part", std::process::id()));
        let path = folder.join(aside);
        if let Some(file) = nameless(folder) {
            return Ok(Aside { file, path, named: false, place });
        }
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Aside { file, path, named: true, place })
    }

    fn name(&mut self) -> io::Result<()> {
        if !self.named {
            give_name(&self.file, &self.path)?;
            self.named = true;
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.named {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let mode = Mode::from_raw_mode(0o666);
    let file = open(folder, OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, mode).ok()?;
    // Without `/proc`, the file could never get a name.
    Path::new("/proc/self/fd").is_dir().then(|| File::from(file))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, from, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("readable").file_name();
        let mut all: Vec<_> = entries.map(|e| name(e).to_string_lossy().into_owned()).collect();
        all.sort();
        all
    }

    #[test]
    fn new_files_are_created_and_old_ones_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        for text in ["first", "second, and longer", ""] {
            write_whole(&path, text.as_bytes()).expect("writable");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
            assert_eq!(names(folder.path()), ["t.csv"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_whole(&file, b"old").expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
        std::os::unix::fs::symlink("file", &link).expect("a link");
        write_whole(&link, b"new").expect("writable");
        assert_eq!(fs::read(&file).expect("it is there"), b"new");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file", "link"]);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = write_whole(&folder.path().join("no/file"), b"").expect_err("no folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(write_whole(folder.path(), b"").is_err());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
