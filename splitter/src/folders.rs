//! Folders where the files may lie that a trace names.
//!
//! A trace is read for its owner, perhaps with rights that whoever wrote it has not, and lines of what it
//! names may come to be shown. So it may not name whatever it likes.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use paje_parser::error::shown_path;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The folders below which a trace may name files, and what of these it may name: regular files. Links are
/// followed first; it is what they lead to that must be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Without links. That of the first trace comes first.
    all: Vec<PathBuf>,
}

impl Folders {
    /// The folders that these traces are in, with all that is below them. `-`, which is standard input, counts as
    /// in the current folder, and so does no trace at all.
    ///
    /// They hold for all files of a trace, however deep they are named: pieces may lie beside one another,
    /// and name one another, as long as all are below what its owner has unpacked.
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

    /// These, and some further ones.
    ///
    /// # Errors
    /// One of them cannot be found: its name, and why.
    pub fn and_all(self, further: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        further.iter().try_fold(self, |folders, folder| {
            folders.and(folder).map_err(|error| (folder.clone(), error))
        })
    }

    /// Whoever cannot find a folder finds no file in it either.
    fn extend(&mut self, folder: &Path) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let found = folder.canonicalize();
        self.all.extend(found.ok().filter(|found| !self.all.contains(found)));
    }

    /// These folders, and another one.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn and(mut self, folder: &Path) -> io::Result<Self> {
        let found = folder.canonicalize()?;
        if !found.is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        self.all.push(found);
        Ok(self)
    }

    /// The file that `path` leads to, without links. Nothing is opened: to open a device may do
    /// something.
    ///
    /// # Errors
    /// There is none, or it may not be named ([`Refusal::of`]).
    pub fn find(&self, path: &Path) -> io::Result<PathBuf> {
        let found = path.canonicalize()?;
        self.above(&found)?;
        check(&found, &fs::symlink_metadata(&found)?)?;
        Ok(found)
    }

    /// Opens a file that [`Folders::find`] has found. If anything on the way to it has become a link since
    /// then, or is no regular file any more, that is an error.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(&self, found: &Path) -> io::Result<File> {
        // From folder to folder, so that nobody can put a link between a look and the opening.
        const STEP: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        // Nobody may make us wait at the other end of a pipe.
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

    /// The folder that a file is below, and its path from there.
    fn above<'f>(&self, found: &'f Path) -> io::Result<(&Path, &'f Path)> {
        let below = |folder: &PathBuf| found.strip_prefix(folder).is_ok();
        let folder = self.all.iter().find(|folder| below(folder));
        let split = folder.and_then(|folder| Some((&**folder, found.strip_prefix(folder).ok()?)));
        split.ok_or_else(|| Refusal { file: found.to_owned(), why: Why::Elsewhere }.into())
    }
}

/// Folders that may be passed but not listed can be opened for that.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

/// Tells whether a file may be read that a trace names.
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

/// Why a file is not read that could be: a trace may not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    file: PathBuf,
    why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// It is not below the folders.
    Elsewhere,
    /// It is this instead of a regular file.
    Special(&'static str),
}

impl Refusal {
    /// Refusal in an error of [`Folders`]; `None` if the error is the system's.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }

    /// The folder that would have to be allowed.
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

    /// A folder with `in/a/file` and `out/file`, without links in its name.
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
    fn below_the_folder_and_nowhere_else() {
        let (_folder, path) = world();
        let trace = path.join("in/trace");
        let folders = Folders::of([&*trace]);
        assert_eq!(folders.find(&path.join("in/../in/a/file")).unwrap(), path.join("in/a/file"));
        assert!(refused(folders.find(&path.join("in/../out/file"))));
        // A name that begins alike is another folder.
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

    /// Between the look and the opening.
    #[test]
    fn what_is_put_in_the_place_of_a_file() {
        let (_folder, path) = world();
        let folders = Folders::of([&*path.join("in/trace")]);
        let found = folders.find(&path.join("in/a/file")).unwrap();
        assert!(folders.open(&found).is_ok());
        fs::rename(path.join("in/a"), path.join("in/b")).unwrap();
        symlink("../out", path.join("in/a")).unwrap();
        assert!(folders.open(&found).is_err(), "a link on the way");
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
        assert!(refused(folders.open(&found)), "a pipe that nobody writes to");
    }
}
