//! A folder that is not complete: removed whatever ends the program, or by the next run.
//!
//! It has a file that says so, `.partial`, which is locked while the program runs. The system takes the lock
//! back when the program ends, however that comes: a mark that can be locked is one that a killed program
//! left behind. A complete folder has no mark.

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

/// The file that says that a folder is not complete.
const MARK: &CStr = c".partial";

/// A folder that is not complete, and its mark, locked.
#[derive(Debug)]
pub(crate) struct Partial {
    folder: OwnedFd,
    /// Folder that it is in.
    parent: OwnedFd,
    name: CString,
    /// `None` where files cannot be locked.
    mark: Option<OwnedFd>,
}

impl Partial {
    /// Makes a folder in `parent`, whose name begins with `prefix`; returns its path.
    ///
    /// # Errors
    /// Nothing can be made there.
    pub(crate) fn create(parent: &Path, prefix: &OsStr) -> io::Result<(Self, PathBuf)> {
        loop {
            let made = tempfile::Builder::new()
                .prefix(prefix)
                // Less what the user's mask takes away, as for any folder.
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
                .tempdir_in(parent)?;
            let mut partial = Partial::open(parent, made.path())?;
            if partial.mark()? {
                return Ok((partial, made.keep()));
            }
            // Somebody took it for left behind, in the instant before it was locked, and removes it.
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

    /// Marks a new folder; returns whether it is still there.
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
            // No locks there: it must not look as if nobody had it.
            Err(_) => unlinkat(&self.folder, MARK, AtFlags::empty())?,
        }
        Ok(true)
    }

    /// The folder is complete.
    pub(crate) fn unmark(&self) -> io::Result<()> {
        match &self.mark {
            Some(_) => Ok(unlinkat(&self.folder, MARK, AtFlags::empty())?),
            None => Ok(()),
        }
    }

    /// Removes the folder and all files in it. Takes no memory: there may be none.
    pub(crate) fn remove(&self) {
        for _ in 0..100 {
            self.empty();
            // The mark last: what cannot be removed at once is left to the next run.
            let unlinked = unlinkat(&self.folder, MARK, AtFlags::empty());
            let removed = unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
            if removed.is_ok() || unlinked == Err(Errno::ACCESS) {
                return;
            }
            // Workers may still make files.
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn empty(&self) {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 4096];
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A new view of it, which begins at the beginning.
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

/// Removes folders that killed programs left in `parent`, whose names begin with `prefix`; returns their
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

/// A folder whose mark nobody has locked, if it is one.
fn left_behind(parent: &Path, path: &Path) -> io::Result<Option<Partial>> {
    let mut partial = Partial::open(parent, path)?;
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mark = openat(&partial.folder, MARK, flags, Mode::empty())?;
    flock(&mark, FlockOperation::NonBlockingLockExclusive)?;
    // Its program may have completed it meanwhile.
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

/// A folder, until somebody removes or completes it.
pub(crate) type Shared = Arc<Mutex<Option<Partial>>>;

/// All folders that are being written, for whoever ends the program.
static WRITTEN: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

/// Notes a folder that is being written.
pub(crate) fn enlist(partial: &Shared) {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written.retain(|shared| Arc::strong_count(shared) > 1);
    written.push(Arc::clone(partial));
}

/// Removes all folders that are being written: the program ends, for want of memory. Takes none.
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
