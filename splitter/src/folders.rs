//! Limits the files to which a trace may refer.
//!
//! Messages may show lines of these files, and the author of a trace may have fewer rights than the
//! user who reads the trace. So a trace may not refer to arbitrary files.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use paje_parser::error::shown_path;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Folders that contain the files to which a trace may refer. The files must be regular. Symbolic
/// links are followed first, so their targets must be below the folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Canonical paths. The folder of the first trace comes first.
    all: Vec<PathBuf>,
}

impl Folders {
    /// Returns the folders of these traces. The current folder is used for `-`, which means
    /// standard input, and if there are no traces.
    ///
    /// The folders apply to all files of a trace, even if another file than the trace itself refers
    /// to them.
    pub fn of<'p>(traces: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut folders = Folders::default();
        for trace in traces {
            folders.extend(trace.parent().unwrap_or(Path::new("")));
        }
        if folders.all.is_empty() {
            folders.extend(Path::new(""));
        }
        folders
    }

    /// Adds folders.
    ///
    /// # Errors
    /// Returns the folder that cannot be found, and the error.
    pub fn and_all(self, further: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        further.iter().try_fold(self, |folders, folder| {
            folders.and(folder).map_err(|error| (folder.clone(), error))
        })
    }

    fn extend(&mut self, folder: &Path) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let found = folder.canonicalize();
        self.all.extend(found.ok().filter(|found| !self.all.contains(found)));
    }

    /// Adds a folder.
    ///
    /// # Errors
    /// The path does not exist or is not a folder.
    pub fn and(mut self, folder: &Path) -> io::Result<Self> {
        let found = folder.canonicalize()?;
        if !found.is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        self.all.push(found);
        Ok(self)
    }

    /// Returns the canonical path of a file. Does not open the file, because opening a device may
    /// have effects.
    ///
    /// # Errors
    /// The file does not exist, or the trace may not refer to it ([`Refusal::of`]).
    pub fn find(&self, path: &Path) -> io::Result<PathBuf> {
        let found = path.canonicalize()?;
        self.above(&found)?;
        check(&found, &fs::symlink_metadata(&found)?)?;
        Ok(found)
    }

    /// Opens a file that [`Folders::find`] has returned.
    ///
    /// # Errors
    /// The file cannot be opened, is no longer a regular file, or a part of its path has become a
    /// link.
    pub fn open(&self, found: &Path) -> io::Result<File> {
        // The path is opened folder by folder, so that no link can be inserted after the check.
        const STEP: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        // Opening a pipe must not wait for its other end.
        const LAST: OFlags =
            OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
        let (folder, names) = self.above(found)?;
        let mut at = rustix::fs::open(folder, STEP.union(SEARCH), Mode::empty())?;
        let mut names = names.iter().peekable();
        while let Some(name) = names.next() {
            let how = if names.peek().is_some() { STEP.union(SEARCH) } else { LAST };
            at = rustix::fs::openat(&at, name, how, Mode::empty())?;
        }
        let file = File::from(at);
        check(found, &file.metadata()?)?;
        Ok(file)
    }

    /// Returns the folder that contains a file at any depth, and the file's path relative to that
    /// folder.
    fn above<'f>(&self, found: &'f Path) -> io::Result<(&Path, &'f Path)> {
        let below = |folder: &PathBuf| found.strip_prefix(folder).is_ok();
        let folder = self.all.iter().find(|folder| below(folder));
        let split = folder.and_then(|folder| Some((&**folder, found.strip_prefix(folder).ok()?)));
        split.ok_or_else(|| Refusal { file: found.to_owned(), why: Why::Elsewhere }.into())
    }
}

/// With this flag, folders can be opened even if they may only be traversed.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

fn check(file: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    let what = match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "no regular file",
    };
    Err(Refusal { file: file.to_owned(), why: Why::Special(what) }.into())
}

/// The reason why a trace may not refer to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    file: PathBuf,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The file is not below the allowed folders.
    Elsewhere,
    /// The file is not a regular file. The text says what it is.
    Special(&'static str),
}

impl Refusal {
    /// Returns the refusal in an error of [`Folders`], or `None` for an error of the system.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }

    /// Returns the folder that would have to be allowed.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.file.parent().filter(|_| self.why == Why::Elsewhere)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            Why::Elsewhere => {
                write!(f, "{} is not below the trace's folder", shown_path(&self.file))
            }
            Why::Special(what) => write!(f, "it is {what}; a trace may name regular files only"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        io::Error::new(io::ErrorKind::PermissionDenied, refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a folder with `in/a/file` and `out/file`, without links in its path.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for name in ["in/a", "out"] {
            fs::create_dir_all(path.join(name)).unwrap();
            fs::write(path.join(name).join("file"), name).unwrap();
        }
        (folder, path)
    }

    fn refused(result: io::Result<impl fmt::Debug>) -> bool {
        Refusal::of(&result.unwrap_err()).is_some()
    }

    #[test]
    fn only_files_below_the_folder_are_found() {
        let (_folder, path) = world();
        let trace = path.join("in/trace");
        let folders = Folders::of([&*trace]);
        assert_eq!(folders.find(&path.join("in/../in/a/file")).unwrap(), path.join("in/a/file"));
        assert!(refused(folders.find(&path.join("in/../out/file"))));
        // A folder whose name only starts with the same letters is not allowed.
        fs::create_dir(path.join("in2")).unwrap();
        fs::write(path.join("in2/file"), "").unwrap();
        assert!(refused(folders.find(&path.join("in2/file"))));
        assert_eq!(
            folders.find(&path.join("in/a")).unwrap_err().to_string(),
            "Is a directory (os error 21)"
        );
        let more = folders.and(&path.join("out")).unwrap();
        assert!(
            more.find(&path.join("out/file")).is_ok() && more.find(&path.join("in/a/file")).is_ok()
        );
        let error = Folders::of([&*trace]).find(&path.join("out/file")).unwrap_err();
        assert_eq!(Refusal::of(&error).and_then(Refusal::folder), Some(&*path.join("out")));
        assert!(Folders::of([Path::new("-")]).find(Path::new("Cargo.toml")).is_ok());
        assert!(Folders::of([Path::new("trace")]).find(Path::new("src/../Cargo.toml")).is_ok());
        assert!(refused(Folders::of([]).find(Path::new("/etc/passwd"))));
    }

    #[test]
    fn refusals_say_why() {
        let (_folder, path) = world();
        let trace = path.join("in/trace");
        let folders = || Folders::of([&*trace]);
        let elsewhere = path.join("out/file");
        let expected = format!("{} is not below the trace's folder", elsewhere.display());
        assert_eq!(folders().find(&elsewhere).unwrap_err().to_string(), expected);
        let _socket = std::os::unix::net::UnixListener::bind(path.join("in/socket")).unwrap();
        let expected = "it is a socket; a trace may name regular files only";
        assert_eq!(folders().find(&path.join("in/socket")).unwrap_err().to_string(), expected);
        // All further folders must exist.
        let (out, file) = (path.join("out"), path.join("in/a/file"));
        assert!(folders().and_all(std::slice::from_ref(&out)).unwrap().find(&elsewhere).is_ok());
        assert_eq!(folders().and_all(&[out.clone(), file.clone()]).unwrap_err().0, file);
        let missing = path.join("missing");
        assert_eq!(folders().and_all(&[out, missing.clone()]).unwrap_err().0, missing);
    }

    /// The folder is replaced after the check and before the file is opened.
    #[test]
    fn a_replaced_file_is_not_opened() {
        let (_folder, path) = world();
        let folders = Folders::of([&*path.join("in/trace")]);
        let found = folders.find(&path.join("in/a/file")).unwrap();
        assert!(folders.open(&found).is_ok());
        fs::rename(path.join("in/a"), path.join("in/b")).unwrap();
        symlink("../out", path.join("in/a")).unwrap();
        assert!(folders.open(&found).is_err(), "a folder was replaced by a link");
        fs::remove_file(path.join("in/a")).unwrap();
        fs::create_dir(path.join("in/a")).unwrap();
        symlink("../../out/file", &found).unwrap();
        assert!(folders.open(&found).is_err(), "a link");
        fs::remove_file(&found).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &found,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert!(refused(folders.open(&found)), "a pipe without a writer");
    }
}
