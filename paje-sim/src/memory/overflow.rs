//! Where objects go that memory has no room for.
//!
//! From the limit on, memory for objects is that of a temporary file, mapped: it is read and written as
//! any other, and the system keeps of it what it has room for. We let go of what was written when the
//! next piece is begun, so that it does not count as ours, and of what was read while rows are
//! written. The file has no name, so that it is gone however the program ends. Its room on the disk is
//! reserved before it is used: a full disk is an error here, and not a signal when a page is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::{MmapMut, MmapOptions};

use crate::memory::Arena;
use crate::names::options::MemoryLimit;

/// Objects beyond a limit of memory.
#[derive(Debug)]
pub(crate) struct Overflow {
    /// In bytes: from here on, objects go to the file.
    limit: u64,
    folder: PathBuf,
    /// The file, once there is one, and how long it is.
    file: Mutex<Option<(File, u64)>>,
    /// Bytes of the file.
    spilled: AtomicU64,
    /// Why there is no file, or no room in it.
    failure: Mutex<Option<io::Error>>,
    /// File in which the system tells the process's memory, once somebody has asked. It stays open: memory is asked for
    /// often.
    statm: OnceLock<Option<File>>,
}

impl Overflow {
    pub(crate) fn new(limit: &MemoryLimit) -> Self {
        Overflow {
            // Room for what comes between two looks at what the process takes.
            limit: limit.bytes - limit.bytes / 8,
            folder: limit.folder.clone(),
            file: Mutex::default(),
            spilled: AtomicU64::new(0),
            failure: Mutex::default(),
            statm: OnceLock::new(),
        }
    }

    /// Tells whether so many bytes more are too many.
    pub(crate) fn is_needed(&self, bytes: usize) -> bool {
        self.resident().is_some_and(|resident| resident + bytes as u64 > self.limit)
    }

    /// Bytes of memory that the process takes, if the system tells.
    fn resident(&self) -> Option<u64> {
        let file = self.statm.get_or_init(|| File::open("/proc/self/statm").ok()).as_ref()?;
        let mut text = [0; 128];
        let len = file.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..len]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Tells whether objects that went to the file were not enough.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.spilled() > 0 && self.is_needed(0)
    }

    /// Lets go of what memory has of the file, if it is too much: of the pieces of these arenas that
    /// were written last, and if that is not enough, of all.
    pub(crate) fn relieve<'a, I: Iterator<Item = &'a Arena>>(&self, arenas: impl Fn() -> I) {
        for last in [2, usize::MAX] {
            if !self.is_exceeded() {
                return;
            }
            arenas().for_each(|arena| arena.let_go(last));
        }
    }

    /// Number of bytes of the file.
    pub(crate) fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// So many zeros of the file; `None` if that fails, which [`Overflow::failure`] then tells.
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
        // SAFETY: the file has no name and nobody else has it, so that nobody changes or cuts what is
        // mapped; each range of it is mapped once.
        #[allow(unsafe_code)]
        let map = unsafe { MmapOptions::new().offset(*len).len(bytes as usize).map_mut(&*file) }?;
        *len += bytes;
        self.spilled.fetch_add(bytes, Ordering::Relaxed);
        Ok(map)
    }

    /// Why something could not be put into the file, if that has happened.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map(|error| {
            let text =
                format!("cannot keep objects in a temporary file in {:?}: {error}", self.folder);
            io::Error::new(error.kind(), text)
        })
    }
}

/// Lets go of the memory of a mapping. What was written stays in the file.
pub(crate) fn let_go(map: &MmapMut) {
    // SAFETY: the mapping is shared, so that its bytes are those of the file; they are read from there
    // again when somebody looks.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}

/// Makes a file longer by `bytes`, with room for them on the disk.
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
