//! Reads from a regular file whose length is known.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Reads some bytes from `at` on, and at least one byte unless `buffer` is empty. `at` must be
/// below the known length: if there are no bytes, the file has become shorter.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, at) {
            Ok(0) if !buffer.is_empty() => {
                let message = "the file became shorter while it was being read";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Fills `buffer` with the bytes of a [`Kind::File`](crate::Kind::File) from `at` on.
///
/// # Errors
/// The file cannot be read, or ends before `buffer` is full.
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = read_at(file, buffer, at)?;
        buffer = &mut buffer[count..];
        at += count as u64;
    }
    Ok(())
}
