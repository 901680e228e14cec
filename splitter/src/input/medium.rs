//! Readers that count the bytes that they return.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a file from any offset, without moving the position of the file handle.
pub(super) struct Placed {
    pub(super) file: File,
    pub(super) place: u64,
    pub(super) taken: Arc<AtomicU64>,
}

impl Read for Placed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read_at(buffer, self.place) {
                Ok(count) => {
                    self.place += count as u64;
                    self.taken.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Seek for Placed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(place) => (place, 0),
            SeekFrom::End(by) => (self.file.metadata()?.len(), by),
            SeekFrom::Current(by) => (self.place, by),
        };
        let place = base.checked_add_signed(by);
        self.place = place.ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.place)
    }
}

pub(super) struct Counted<R> {
    pub(super) reader: R,
    pub(super) taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Ok(count) => {
                    self.taken.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                // Interrupted reads are repeated here, so that decompressors need not handle
                // signals.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Requests more room in a pipe than the usual 64 KiB, so that the programs at its ends switch less
/// often. The system may refuse.
pub(super) fn enlarge_pipe(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(file, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}
