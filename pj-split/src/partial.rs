//! Incomplete folders, which are removed when the program ends, or by the next run.
//!
//! An incomplete folder has a file `.partial`, which is locked while the program runs. The system
//! releases the lock when the program ends in any way, so the folder of a killed program has an
//! unlocked file. A complete folder has no such file.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, RawDir};
use rustix::fs::{flock, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

const MARK: &CStr = c".partial";

#[derive(Debug)]
pub(crate) struct Partial {
    folder: OwnedFd,
    parent: OwnedFd,
    name: CString,
    /// File `.partial`, or `None` if files cannot be locked.
    mark: Option<OwnedFd>,
}

impl Partial {
    /// Creates a folder in `parent` whose name begins with `prefix`. Returns its path.
    pub(crate) fn create(parent: &Path, prefix: &OsStr) -> io::Result<(Self, PathBuf)> {
        loop {
            let made = tempfile::Builder::new()
                .prefix(prefix)
                // The user's umask applies, as for any folder.
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
                .tempdir_in(parent)?;
            let mut partial = Partial::open(parent, made.path())?;
            if partial.mark()? {
                return Ok((partial, made.keep()));
            }
            // Before the file was locked, another run mistook the folder for a leftover, and now
            // removes it.
        }
    }

    fn open(parent: &Path, path: &Path) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default();
        let name = CString::new(name.as_bytes())?;
        let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat(CWD, parent, folder, Mode::empty())?;
        let folder = openat(&parent, &name, folder | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Partial { folder, parent, name, mark: None })
    }

    /// Marks a new folder as incomplete. Returns whether the folder still exists.
    fn mark(&mut self) -> io::Result<bool> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let mark = openat(&self.folder, MARK, flags, Mode::RUSR | Mode::WUSR)?;
        match flock(&mark, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                if fstat(&mark)?.st_nlink == 0 {
                    return Ok(false);
                }
                self.mark = Some(mark);
            }
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(_) => unlinkat(&self.folder, MARK, AtFlags::empty())?,
        }
        Ok(true)
    }

    pub(crate) fn unmark(&self) -> io::Result<()> {
        match &self.mark {
            Some(_) => Ok(unlinkat(&self.folder, MARK, AtFlags::empty())?),
            None => Ok(()),
        }
    }

    /// Removes the folder with its files. Does not allocate, because memory may be exhausted.
    pub(crate) fn remove(&self) {
        for _ in 0..100 {
            self.empty();
            // The mark is removed last, so that the next run can finish an interrupted removal.
            let unlinked = unlinkat(&self.folder, MARK, AtFlags::empty());
            let removed = unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
            if removed.is_ok() || unlinked == Err(Errno::ACCESS) {
                return;
            }
            // Workers may still create files.
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn empty(&self) {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A new descriptor reads the entries from the first one on.
        let Ok(folder) = openat(&self.folder, c".", flags, Mode::empty()) else { return };
        let mut entries = RawDir::new(folder, &mut buffer);
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name();
            if name != MARK {
                let _ = unlinkat(&self.folder, name, AtFlags::empty());
            }
        }
    }
}

/// Removes folders of killed programs in `parent` whose names begin with `prefix`. Returns their
/// paths.
pub(crate) fn clear(parent: &Path, prefix: &OsStr) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()));
    let mut cleared: Vec<PathBuf> = ours
        .map(|entry| entry.path())
        .filter(|path| {
            matches!(left_behind(parent, path), Ok(Some(partial)) if {
                partial.remove();
                true
            })
        })
        .collect();
    cleared.sort();
    cleared
}

fn left_behind(parent: &Path, path: &Path) -> io::Result<Option<Partial>> {
    let mut partial = Partial::open(parent, path)?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mark = openat(&partial.folder, MARK, flags, Mode::empty())?;
    flock(&mark, FlockOperation::NonBlockingLockExclusive)?;
    // The program that owns the folder may have completed it meanwhile.
    let (folder, there) = (
        fstat(&partial.folder)?,
        statat(&partial.parent, &partial.name, AtFlags::SYMLINK_NOFOLLOW)?,
    );
    let same = (folder.st_dev, folder.st_ino) == (there.st_dev, there.st_ino);
    if !same || fstat(&mark)?.st_nlink == 0 {
        return Ok(None);
    }
    partial.mark = Some(mark);
    Ok(Some(partial))
}

pub(crate) type Shared = Arc<Mutex<Option<Partial>>>;

/// All incomplete folders. They are removed when the program ends.
static WRITTEN: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

pub(crate) fn enlist(partial: &Shared) {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written.retain(|shared| Arc::strong_count(shared) > 1);
    written.push(Arc::clone(partial));
}

/// Removes all incomplete folders, after an allocation has failed. Does not allocate.
pub fn remove_all() {
    let Ok(written) = WRITTEN.try_lock() else { return };
    for shared in &*written {
        if let Ok(partial) = shared.try_lock()
            && let Some(partial) = &*partial
        {
            partial.remove();
        }
    }
}
