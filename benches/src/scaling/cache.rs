//! Files into the page cache, and out of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Advice, fadvise};

/// Reads a file to its end, and returns how many lines it ends.
///
/// # Errors
///
/// A file that cannot be read.
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

/// Asks the kernel to forget the pages of a file. It may say no without a word: [`can_drop`] looks.
///
/// This takes no rights, unlike `/proc/sys/vm/drop_caches`, and leaves the files of others alone.
///
/// # Errors
///
/// A file that cannot be opened or written back.
pub fn drop_pages(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Pages that are not on the device yet would stay.
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

/// Tells whether the pages of a file can be dropped: after it, reading comes from the device. They cannot
/// on file systems in memory, or where another process has the file mapped. The file is in the cache
/// when this returns.
///
/// # Errors
///
/// A file that cannot be read.
pub fn can_drop(path: &Path) -> io::Result<bool> {
    drop_pages(path)?;
    let before = device_bytes();
    warm(path)?;
    let read = device_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    let size = path.metadata()?.len();
    // Some of it may have come with other reading before; most of it must not.
    Ok(read.is_some_and(|read| read >= size / 2))
}

/// Bytes that this process has caused to be read from devices, if the kernel counts them.
fn device_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_survives_being_dropped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "a\nb\n".repeat(1 << 20)).unwrap();
        // The file system decides if it can be dropped; it must not fail.
        can_drop(file.path()).unwrap();
        drop_pages(file.path()).unwrap();
        assert_eq!(warm(file.path()).unwrap(), 2 << 20);
        assert!(drop_pages(Path::new("/nowhere")).is_err());
    }
}
