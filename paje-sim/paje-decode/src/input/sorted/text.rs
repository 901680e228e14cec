use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use paje_workers::Workers;
use splitter::{Kind, Limits, read_exact_at};

use crate::input::sorted::Line;
use crate::input::source::SourceKind;

/// # Errors
/// The source cannot be read, or there is not enough memory.
pub(super) fn read(
    source: SourceKind<'_>,
    limits: Limits,
    workers: &Workers,
) -> io::Result<Vec<u8>> {
    let text = match source {
        SourceKind::Stream(reader) => read_stream(reader)?,
        SourceKind::Input(input) => {
            let taken = input.read_so_far();
            match input.into_kind() {
                Kind::Stream(reader) => read_stream(reader)?,
                Kind::File(file, len) => read_file(&file, len, &taken, limits, workers)?,
            }
        }
    };
    if text.len() as u64 > Line::MOST_TEXT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// Reads a stream into a growing vector. Linux moves the pages when the vector grows, instead of copying the text.
fn read_stream(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    reader.read_to_end(&mut text)?;
    Ok(text)
}

/// Reads a file with all workers, so that each page of the text is near the worker that fills it.
fn read_file(
    file: &File,
    len: u64,
    taken: &AtomicU64,
    limits: Limits,
    workers: &Workers,
) -> io::Result<Vec<u8>> {
    // Leaves room for a newline after the last line.
    let room = usize::try_from(len).ok().and_then(|len| len.checked_add(1));
    let room = room.ok_or(io::ErrorKind::FileTooLarge)?;
    // `vec!` gets zeros cheaply from the system, but cannot report a lack of memory, so this first tries to allocate
    // the same amount.
    Vec::<u8>::new().try_reserve_exact(room)?;
    let mut text = vec![0; room];
    text.pop();
    let size = limits.block.saturating_mul(8).max(1);
    let read = workers.map_each(text.chunks_mut(size).enumerate(), |(number, chunk)| {
        read_exact_at(file, chunk, number as u64 * size as u64)?;
        taken.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        Ok(())
    });
    read.into_iter().collect::<io::Result<()>>().map(|()| text)
}
