//! Overflow file for rows beyond the memory limit.
//!
//! Beyond the limit, new pieces of arenas are mappings of a temporary file. Their pages are dropped from memory when
//! the next piece is begun and while rows are written, so they are not part of the memory in use. The file has no name,
//! so it disappears with the process. Disk space is reserved before it is used, so that a full disk causes an error
//! instead of a signal.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::{MmapMut, MmapOptions};

use crate::memory::Arena;
use crate::names::options::MemoryLimit;

#[derive(Debug)]
pub struct Overflow {
    limit: u64,
    folder: PathBuf,
    /// The file and its length. `None` until the first piece is needed.
    file: Mutex<Option<(File, u64)>>,
    spilled: AtomicU64,
    failure: Mutex<Option<io::Error>>,
    /// `/proc/self/statm`. It stays open, because it is read often.
    statm: OnceLock<Option<File>>,
}

impl Overflow {
    pub fn new(limit: &MemoryLimit) -> Self {
        Overflow {
            // Leaves room for growth between two checks.
            limit: limit.bytes - limit.bytes / 8,
            folder: limit.folder.clone(),
            file: Mutex::default(),
            spilled: AtomicU64::new(0),
            failure: Mutex::default(),
            statm: OnceLock::new(),
        }
    }

    /// Returns whether the limit would be exceeded by using `bytes` more bytes.
    pub fn is_needed(&self, bytes: usize) -> bool {
        self.resident().is_some_and(|resident| resident + bytes as u64 > self.limit)
    }

    fn resident(&self) -> Option<u64> {
        let file = self.statm.get_or_init(|| File::open("/proc/self/statm").ok()).as_ref()?;
        let mut text = [0; 128];
        let len = file.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..len]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Returns whether the limit is exceeded although some rows are in the file.
    pub fn is_exceeded(&self) -> bool {
        self.spilled() > 0 && self.is_needed(0)
    }

    /// Drops file pages from memory if the limit is exceeded: first the pages of the last pieces of the arenas, and
    /// then all pages if necessary.
    pub fn relieve<'a, I: Iterator<Item = &'a Arena>>(&self, arenas: impl Fn() -> I) {
        for last in [2, usize::MAX] {
            if !self.is_exceeded() {
                return;
            }
            arenas().for_each(|arena| arena.drop_pages(last));
        }
    }

    pub fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// Maps `bytes` zero bytes of the file. On failure, returns `None` and stores the error, which
    /// [`Overflow::failure`] returns.
    pub(crate) fn map(&self, bytes: usize) -> Option<MmapMut> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match self.extend(&mut file, bytes as u64) {
            Ok(map) => Some(map),
            Err(error) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                None
            }
        }
    }

    fn extend(&self, file: &mut Option<(File, u64)>, bytes: u64) -> io::Result<MmapMut> {
        let (file, len) = match file {
            Some(file) => file,
            None => file.insert((tempfile::tempfile_in(&self.folder)?, 0)),
        };
        reserve(file, *len, bytes)?;
        // SAFETY: the file has no name and no other user, so nothing else changes or truncates it. Each range is mapped
        // once.
        #[allow(unsafe_code)]
        let map = unsafe { MmapOptions::new().offset(*len).len(bytes as usize).map_mut(&*file) }?;
        *len += bytes;
        self.spilled.fetch_add(bytes, Ordering::Relaxed);
        Ok(map)
    }

    pub fn failure(&self) -> Option<io::Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map(|error| {
            let text =
                format!("cannot keep objects in a temporary file in {:?}: {error}", self.folder);
            io::Error::new(error.kind(), text)
        })
    }
}

/// Drops the pages of a mapping from memory. Their contents stay in the file.
pub(crate) fn drop_pages(map: &MmapMut) {
    // SAFETY: the mapping is shared, so its contents stay in the file and are read again from there.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}

fn reserve(file: &File, len: u64, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        match fallocate(file, FallocateFlags::empty(), len, bytes) {
            Err(Errno::OPNOTSUPP) => {}
            done => return Ok(done?),
        }
    }
    let zeros = vec![0; 1 << 20];
    for start in (len..len + bytes).step_by(zeros.len()) {
        let count = (len + bytes - start).min(zeros.len() as u64) as usize;
        file.write_all_at(&zeros[..count], start)?;
    }
    Ok(())
}
