//! Reads files into the page cache and drops them from it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Advice, fadvise};

/// Reads a file into the page cache, and returns its number of newlines.
pub fn warm(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(lines),
            count => lines += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64,
        }
    }
}

/// Asks the kernel to drop the pages of a file. The kernel may ignore the request: see
/// [`can_drop`].
///
/// Unlike `/proc/sys/vm/drop_caches`, this needs no privileges and affects no other file.
pub fn drop_pages(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Dirty pages are not dropped.
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

/// Returns whether the pages of a file can be dropped, so that the file is read from the device
/// again. This is impossible on file systems in memory, and while another process maps the file.
/// The file is in the cache when this function returns.
pub fn can_drop(path: &Path) -> io::Result<bool> {
    drop_pages(path)?;
    let before = device_bytes();
    warm(path)?;
    let read = device_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    let size = path.metadata()?.len();
    // Readahead for other files may have fetched a part of the file.
    Ok(read.is_some_and(|read| read >= size / 2))
}

/// Returns the bytes that this process has read from devices, if the kernel counts them.
fn device_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_survive_being_dropped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "a\nb\n".repeat(1 << 20)).unwrap();
        // The returned value depends on the file system.
        can_drop(file.path()).unwrap();
        drop_pages(file.path()).unwrap();
        assert_eq!(warm(file.path()).unwrap(), 2 << 20);
        assert!(drop_pages(Path::new("/nowhere")).is_err());
    }
}
