//! Packs and unpacks with all workers.

use std::io::{self, BufWriter, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use paje_analysis::kept;
use paje_pack::{Definitions, Error, Packed, Reader, Segment, Segments, Settings, Writer};
use paje_workers::{Workers, in_order};

use crate::replay::{Replay, Replayed};

/// Failed read or write.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum PackError {
    Input(io::Error),
    Output(io::Error),
}

impl From<Error> for PackError {
    fn from(error: Error) -> Self {
        PackError::Input(error.into())
    }
}

/// Extras that are stored with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extras {
    /// No extras.
    Nothing,
    /// Reports and windows, unless they would take a large part of the file.
    Small,
    /// Reports and windows of any size. Windows can begin and end after each `step` segments.
    All {
        /// Number of segments.
        step: usize,
    },
}

impl Extras {
    /// Returns two limits: the maximum size of a report or an index of lanes, and the maximum size
    /// of all windows together. `segments` is the total size of the segments. Windows may be
    /// larger, because they are useful for many queries.
    const fn limits(self, segments: u64) -> (u64, u64) {
        match self {
            Extras::All { .. } => (u64::MAX, u64::MAX),
            _ => (segments / 64, segments / 8),
        }
    }
}

/// Texts that are no longer needed, and whose memory is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct BufferPool(Arc<Mutex<Vec<Vec<u8>>>>);

impl BufferPool {
    /// Puts a text into the pool, unless it is still needed elsewhere.
    pub(crate) fn put(&self, text: Arc<Vec<u8>>) {
        if let Some(text) = Arc::into_inner(text) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }

    fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// Packs a text. Each worker reads the next segment and packs it, while a separate thread replays
/// the text for the extras.
///
/// # Errors
/// Reading or writing fails, or the thread cannot be started.
pub fn pack(
    text: impl Read + Send,
    out: impl Write + Send,
    settings: Settings,
    workers: &Workers,
    extras: Extras,
) -> Result<(), PackError> {
    let pool = BufferPool::default();
    let mut segments = Segments::new(text, settings);
    let mut definitions = Definitions::default();
    let mut writer = Writer::new(BufWriter::new(out)).map_err(PackError::Output)?;
    let start = || Replay::start(workers.threads(), pool.clone()).map_err(PackError::Input);
    let replay = (extras != Extras::Nothing).then(start).transpose()?;
    let next = || {
        if let Some(text) = pool.take() {
            segments.give_back(text);
        }
        let Some(text) = segments.next_text().map_err(PackError::Input)? else { return Ok(None) };
        let (text, before) = (Arc::new(text), definitions.clone());
        definitions.learn(&text);
        if let Some(replay) = &replay {
            replay.send(Arc::clone(&text));
        }
        Ok(Some((text, before)))
    };
    let pack = |(text, before): (Arc<Vec<u8>>, Definitions)| {
        let packed = Segment::pack(&text, &before, settings).map_err(PackError::Output);
        pool.put(text);
        packed
    };
    each(workers, next, pack, |segment: Segment| writer.put(&segment).map_err(PackError::Output))?;
    let (most, most_for_windows) = extras.limits(writer.position());
    let Replayed { reports, lanes, mut windows } = replay.map(Replay::finish).unwrap_or_default();
    if let (Some(windows), Extras::All { step }) = (&mut windows, extras) {
        windows.step = windows.step.max(step);
    }
    let finish = || -> io::Result<()> {
        for report in reports {
            writer.put_summary(report.table.name, kept::VERSION, report.to_bytes(), most)?;
        }
        if let Some(windows) = windows
            && writer.put_windows(&windows, most_for_windows)?
            && let Some(lanes) = lanes
        {
            writer.put_summary(kept::LANES, kept::VERSION, lanes.to_bytes(), most)?;
        }
        writer.finish().map(drop)
    };
    finish().map_err(PackError::Output)
}

/// Packs a text in memory, in segments of at most this size, with extras of any size.
///
/// # Errors
/// Fails like [`pack`].
pub fn pack_all(text: &[u8], segment: usize) -> Result<Vec<u8>, PackError> {
    pack_in_steps(text, segment, 1)
}

/// Packs like [`pack_all`]. Windows can begin and end after each `step` segments.
///
/// # Errors
/// Fails like [`pack`].
pub fn pack_in_steps(text: &[u8], segment: usize, step: usize) -> Result<Vec<u8>, PackError> {
    let mut settings = Settings::default();
    (settings.segment, settings.level) = (segment, 1);
    let mut packed = Vec::new();
    pack(text, &mut packed, settings, &Workers::one(), Extras::All { step })?;
    Ok(packed)
}

pub(crate) fn unpack(
    packed: impl Read + Send,
    workers: &Workers,
    mut put: impl FnMut(&[u8]) -> io::Result<()> + Send,
) -> Result<(), PackError> {
    let mut reader = Reader::new(packed);
    let next = || Ok(reader.next_segment()?);
    let put = |text: Vec<u8>| put(&text).map_err(PackError::Output);
    each(workers, next, |packed: Packed| Ok(packed.unpack()?), put)
}

/// Passes each item that `next` returns to `make`, on all workers. Passes the results to `put` in
/// order.
fn each<I, T: Send>(
    workers: &Workers,
    next: impl FnMut() -> Result<Option<I>, PackError> + Send,
    make: impl Fn(I) -> Result<T, PackError> + Sync,
    mut put: impl FnMut(T) -> Result<(), PackError> + Send,
) -> Result<(), PackError> {
    let turns = Turns { line: Mutex::new((0, Some(next))), moved: Condvar::new() };
    // The error `None` marks the end.
    let make =
        |job| turns.take(job).map_err(Some).and_then(|item| make(item.ok_or(None)?).map_err(Some));
    let done = in_order(workers, usize::MAX, make, |_, made| put(made).map_err(Some));
    done.or_else(|error| error.map_or(Ok(()), Err))
}

/// Lets workers read items one at a time and in order.
struct Turns<F> {
    /// Number of the next turn, and the function that reads an item. The function is `None` after
    /// the end.
    line: Mutex<(usize, Option<F>)>,
    moved: Condvar,
}

impl<I, F: FnMut() -> Result<Option<I>, PackError>> Turns<F> {
    /// Waits for `turn`, and then reads. All previous turns must be over or in progress.
    fn take(&self, turn: usize) -> Result<Option<I>, PackError> {
        // Wakes the other workers even if reading panics.
        let _wake = Wake(&self.moved);
        let locked = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.moved.wait_while(locked, |(now, _)| *now < turn);
        let mut line = waited.unwrap_or_else(PoisonError::into_inner);
        line.0 += 1;
        let Some(mut next) = line.1.take() else { return Ok(None) };
        let item = next()?;
        line.1 = item.is_some().then_some(next);
        Ok(item)
    }
}

struct Wake<'a>(&'a Condvar);

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.0.notify_all();
    }
}
