//! Sources of the bytes of a stream.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file read from its present place on; counts the bytes.
pub(super) struct Medium {
    pub(super) file: File,
    pub(super) taken: Arc<AtomicU64>,
}

impl Read for Medium {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Ok(count) => {
                    self.taken.fetch_add(count as u64, Ordering::Relaxed);
                    return Ok(count);
                }
                // Decompressors need not know about signals.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Counts the bytes that any reader gives.
pub(super) struct Counted<R> {
    pub(super) reader: R,
    pub(super) taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Asks for a pipe that holds more than the usual 64 KiB, so that the programs at its ends take
/// turns less often. The system may refuse; it is as well without.
pub(super) fn enlarge_pipe(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(file, 1 << 20);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}
