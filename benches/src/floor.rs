//! The minimum work of any program that dumps a trace, which is to read the trace, count its lines,
//! and copy the bytes of its rows.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

use paje_workers::{Pin, Workers};

use crate::Result;

/// Size of the two buffers of a thread in bytes. Both fit into the second-level cache of most
/// machines.
const PIECE: usize = 256 << 10;

/// Reads a file and copies `copy` bytes in memory, with the given threads. Returns the number of
/// newlines of the file.
///
/// Each thread has an equal part of the file and of the copy. It reads its part of the file with
/// `pread`, block by block into one buffer, and counts newlines there. Then it copies its part of
/// `copy` from that buffer into another buffer of the same size. The threads are started and placed
/// like the threads of `pj_dump`.
pub fn floor(path: &Path, threads: NonZeroUsize, pin: &Pin, copy: u64) -> Result<u64> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let workers = Workers::new(Some(threads), pin)?;
    let threads = workers.threads();
    let counts = Mutex::new(Vec::new());
    workers.on_each(|worker| {
        let part = |whole: u64| cut(whole, worker, threads)..cut(whole, worker + 1, threads);
        let (read, copied) = (part(size), part(copy));
        let mut buffer = vec![0; PIECE];
        let lines = count_lines(&file, read, &mut buffer);
        move_bytes(copied.end - copied.start, &buffer);
        counts.lock().expect("no thread panics").push(lines);
    });
    let counts = counts.into_inner().expect("no thread panics");
    Ok(counts.into_iter().sum::<io::Result<u64>>()?)
}

/// Returns the offset at which part `index` of `parts` begins.
fn cut(whole: u64, index: usize, parts: usize) -> u64 {
    // The product may need 128 bits.
    (u128::from(whole) * index as u128 / parts as u128) as u64
}

fn count_lines(file: &File, part: std::ops::Range<u64>, buffer: &mut [u8]) -> io::Result<u64> {
    let (mut offset, mut lines) = (part.start, 0);
    while offset < part.end {
        let wanted = buffer.len().min(usize::try_from(part.end - offset).unwrap_or(usize::MAX));
        match file.read_at(&mut buffer[..wanted], offset) {
            // The file was truncated meanwhile.
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                lines += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64;
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lines)
}

fn move_bytes(bytes: u64, source: &[u8]) {
    let mut target = vec![0; source.len()];
    let mut left = bytes;
    while left > 0 {
        let count = source.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        // Without `black_box`, the compiler would remove a copy that is never read.
        black_box(&mut target[..count]).copy_from_slice(black_box(&source[..count]));
        left -= count as u64;
    }
    black_box(&target);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_read_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // The file has several full blocks and a partial one.
        let trace = datasets::generate(datasets::Shape::Mpi, 2_000_003, 1);
        std::fs::write(&file, &trace).unwrap();
        let lines = trace.iter().filter(|byte| **byte == b'\n').count() as u64;
        let first = paje_workers::allowed().expect("the kernel lists them")[0];
        let list = Pin::List(vec![first]);
        for threads in [1, 2, 3, 7] {
            for pin in [&Pin::None, &Pin::Compact, &Pin::Scatter, &list] {
                assert_eq!(count(file.path(), threads, pin, 3_000_001).unwrap(), lines);
            }
        }
        // All bytes are newlines, so the count shows whether each was read once.
        std::fs::write(&file, vec![b'\n'; 1_234_567]).unwrap();
        for threads in 1..6 {
            assert_eq!(count(file.path(), threads, &Pin::None, 0).unwrap(), 1_234_567);
        }
        std::fs::write(&file, "").unwrap();
        assert_eq!(count(file.path(), 2, &Pin::None, 1).unwrap(), 0);
        assert!(count(Path::new("/nowhere"), 1, &Pin::None, 0).is_err());
        assert!(count(file.path(), 1, &Pin::List(vec![usize::MAX]), 0).is_err());
    }

    fn count(path: &Path, threads: usize, pin: &Pin, copy: u64) -> Result<u64> {
        floor(path, NonZeroUsize::new(threads).expect("not zero"), pin, copy)
    }

    #[test]
    fn parts_join_without_gaps() {
        assert_eq!((cut(10, 0, 3), cut(10, 1, 3), cut(10, 2, 3), cut(10, 3, 3)), (0, 3, 6, 10));
        assert_eq!(cut(u64::MAX, 64, 64), u64::MAX);
    }
}
