//! Files that are there whole or not at all.
//!
//! A file is written aside and takes its name when all of it is there. On Linux it has no name until
//! then, so that nothing is left behind even if the program is killed (but for one that takes the place of
//! another: for an instant it has both a name aside and all its text). Elsewhere, and on file systems
//! that know no files without names, it has a name that shows what it is, and goes if writing fails.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file, in the place of one that may be there. What is no regular file (a pipe, a terminal) is
/// written to as it is.
///
/// # Errors
/// The folder or the file cannot be written; a file that was there before is as it was.
pub fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return fs::write(path, text),
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A link stays, and what it leads to is written.
    let path = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let mut aside = Aside::new(&path)?;
    aside.file.write_all(text)?;
    if let Some(permissions) = old {
        aside.file.set_permissions(permissions)?;
    }
    // Else the name might outlive a power failure, and the text not.
    aside.file.sync_all()?;
    if !aside.named && give_name(&aside.file, &path).is_ok() {
        return Ok(());
    }
    aside.name()?;
    fs::rename(&aside.path, &path)?;
    aside.named = false;
    Ok(())
}

/// A file in the folder of another, to take its place.
struct Aside {
    file: File,
    path: PathBuf,
    /// Whether the file has this name, and is to lose it if writing fails.
    named: bool,
}

impl Aside {
    fn new(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut aside = OsString::from(".");
        aside.push(name);
        aside.push(format!(".{}.part", std::process::id()));
        let path = folder.join(aside);
        if let Some(file) = nameless(folder) {
            return Ok(Aside { file, path, named: false });
        }
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Aside { file, path, named: true })
    }

    /// Gives the file its name for the time being.
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

/// A file without a name in this folder, where there can be one.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let mode = Mode::from_raw_mode(0o666);
    let file = open(folder, OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, mode).ok()?;
    // Without this folder it could never have a name.
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
    fn new_ones_and_those_in_the_place_of_others() {
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
    fn links_and_permissions_stay() {
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
    fn a_folder_that_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = write_whole(&folder.path().join("no/file"), b"").expect_err("no folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(write_whole(folder.path(), b"").is_err());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
