//! Formats all rows of a trace with all workers, and writes them in order.
//!
//! The walk through the trace is cut into pieces of a few thousand rows. A free worker takes a
//! buffer and the next piece, formats the rows, and queues the buffer. The worker that queues the
//! next buffer in output order writes it, and also the buffers that follow it in the queue. The
//! number of buffers is fixed, so a slow reader slows all workers down instead of filling memory.

mod planner;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use paje_sim::{Selected, Step, Trace};
use paje_workers::Workers;

use self::planner::{Part, Planner};
use super::Style;
use super::names::Names;
use super::rows::RowFormatter;

/// Buffers for each worker: one being filled, and others in the queue.
const BUFFERS: usize = 3;

/// Amount of output, and the time that the export took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of lines written.
    pub rows: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Number of rows that [`Style::as_released`] omits.
    pub dropped: u64,
    /// Time from the first row to the last.
    pub wall: Duration,
    /// Time in which only one worker could run, not counting writing.
    pub serial: Duration,
    /// Busy time of each worker, including writing.
    pub workers: Vec<Duration>,
    /// Part of the workers' time that was spent on writing.
    pub writing: Duration,
}

/// Counter of bytes of rows written so far, shared with the progress display.
#[derive(Debug, Default)]
pub struct Written(Arc<AtomicU64>);

impl Written {
    /// Returns the shared counter.
    #[must_use]
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Writes all rows of a trace in output order, and counts the bytes in `written`.
pub fn write_rows<W: Write + Send>(
    trace: &Trace,
    style: Style,
    workers: &Workers,
    out: W,
    written: &Written,
) -> io::Result<Exported> {
    let steps = trace.walk(style.quotes.order());
    write_steps(trace, &Names::new(trace), style, workers, out, written, steps)
}

/// Writes the selected rows of a trace, as [`write_rows`] does.
pub fn write_selected<W: Write + Send>(
    trace: &Trace,
    selected: &Selected,
    style: Style,
    workers: &Workers,
    out: W,
    written: &Written,
) -> io::Result<Exported> {
    let steps = trace.walk(style.quotes.order()).filter(|step| selected.wants_step(*step));
    write_steps(trace, &Names::new(trace), style, workers, out, written, steps)
}

pub(crate) fn write_steps<'t, W: Write + Send>(
    trace: &'t Trace,
    names: &Names,
    style: Style,
    workers: &Workers,
    out: W,
    written: &Written,
    steps: impl Iterator<Item = Step> + Send + 't,
) -> io::Result<Exported> {
    let began = Instant::now();
    let planner = Planner::new(trace, steps, style.as_released);
    let export = Export::new(planner, style, workers.threads(), out, written);
    workers.run(|| workers.on_each(|worker| export.work(worker, names)));
    let mut exported = export.finish()?;
    exported.wall = began.elapsed();
    Ok(exported)
}

impl Exported {
    pub(crate) fn add(&mut self, later: &Exported) {
        self.rows += later.rows;
        self.bytes += later.bytes;
        self.dropped += later.dropped;
        self.wall += later.wall;
        self.serial += later.serial;
        self.writing += later.writing;
        self.workers.resize(self.workers.len().max(later.workers.len()), Duration::ZERO);
        for (sum, more) in self.workers.iter_mut().zip(&later.workers) {
            *sum += *more;
        }
    }
}

struct Export<'t, 'w, W> {
    trace: &'t Trace,
    style: Style,
    planner: Mutex<Planner<'t>>,
    line: Mutex<Line<W>>,
    free: (Sender<Vec<u8>>, Receiver<Vec<u8>>),
    failed: AtomicBool,
    written: &'w Written,
    rows: AtomicU64,
    busy: Vec<Mutex<Duration>>,
}

struct Line<W> {
    next: u64,
    ready: BTreeMap<u64, (Vec<u8>, usize)>,
    /// The output, or `None` while a worker is writing to it.
    out: Option<W>,
    error: Option<io::Error>,
    bytes: u64,
    took: Duration,
}

impl<'t, 'w, W: Write + Send> Export<'t, 'w, W> {
    fn new(
        planner: Planner<'t>,
        style: Style,
        threads: usize,
        out: W,
        written: &'w Written,
    ) -> Self {
        let buffers = threads * BUFFERS;
        let free = bounded(buffers);
        for _ in 0..buffers {
            let _ = free.0.send(Vec::new());
        }
        let line = Line {
            next: 0,
            ready: BTreeMap::new(),
            out: Some(out),
            error: None,
            bytes: 0,
            took: Duration::ZERO,
        };
        Export {
            trace: planner.trace,
            style,
            planner: Mutex::new(planner),
            line: Mutex::new(line),
            free,
            failed: AtomicBool::new(false),
            written,
            rows: AtomicU64::new(0),
            busy: (0..threads).map(|_| Mutex::default()).collect(),
        }
    }

    fn work(&self, worker: usize, names: &Names) {
        let _others = Release(self);
        let mut formatter = RowFormatter::new(self.trace, names, self.style);
        let mut parts = Vec::new();
        let mut busy = Duration::ZERO;
        // Workers take the buffer first. Otherwise the worker with the next piece in output order
        // might wait for a buffer.
        while let Ok(buffer) = self.free.1.recv() {
            let began = Instant::now();
            let piece = self.planner.lock().ok().and_then(|mut planner| planner.next(&mut parts));
            let (Some(number), false) = (piece, self.failed.load(Ordering::Relaxed)) else {
                let _ = self.free.0.send(buffer);
                break;
            };
            formatter.begin(buffer);
            for part in &parts {
                match part {
                    Part::Container(id) => formatter.container_row(*id),
                    Part::Lane(lane, chunks, before) => {
                        formatter.lane_rows(*lane, chunks.clone(), *before);
                    }
                }
            }
            self.hand_in(number, formatter.end());
            self.trace.relieve();
            busy += began.elapsed();
        }
        self.rows.fetch_add(formatter.rows(), Ordering::Relaxed);
        if let Ok(mut total) = self.busy[worker].lock() {
            *total = busy;
        }
    }

    /// Queues a buffer, and writes the head of the queue unless another worker is writing.
    fn hand_in(&self, number: u64, buffer: (Vec<u8>, usize)) {
        let Ok(mut line) = self.line.lock() else { return };
        if self.failed.load(Ordering::Relaxed) {
            let _ = self.free.0.send(buffer.0);
            return;
        }
        line.ready.insert(number, buffer);
        let Some(mut out) = line.out.take() else { return };
        loop {
            let next = line.next;
            let Some((buffer, len)) = line.ready.remove(&next) else { break };
            line.next += 1;
            line.bytes += len as u64;
            let failed = line.error.is_some();
            drop(line);
            let began = Instant::now();
            let written = if failed { Ok(()) } else { out.write_all(&buffer[..len]) };
            let took = began.elapsed();
            self.written.0.fetch_add(len as u64, Ordering::Relaxed);
            let _ = self.free.0.send(buffer);
            match self.line.lock() {
                Ok(again) => line = again,
                Err(_) => return,
            }
            line.took += took;
            if let Err(error) = written {
                line.error = Some(error);
                self.failed.store(true, Ordering::Relaxed);
            }
        }
        line.out = Some(out);
    }

    fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for (buffer, _) in std::mem::take(&mut line.ready).into_values() {
            let _ = self.free.0.send(buffer);
        }
    }

    fn finish(self) -> io::Result<Exported> {
        let mut line = self.line.into_inner().unwrap_or_else(PoisonError::into_inner);
        let planner = self.planner.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = line.error.take() {
            return Err(error);
        }
        if let Some(out) = &mut line.out {
            out.flush()?;
        }
        let busy = self.busy.into_iter();
        Ok(Exported {
            rows: self.rows.into_inner(),
            bytes: line.bytes,
            dropped: planner.dropped,
            wall: Duration::ZERO,
            serial: planner.took,
            workers: busy
                .map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner))
                .collect(),
            writing: line.took,
        })
    }
}

/// Stops the export if a worker panics. Otherwise, the buffers after its piece would never be
/// written, and the workers that need these buffers would wait forever.
struct Release<'e, 't, 'w, W: Write + Send>(&'e Export<'t, 'w, W>);

impl<W: Write + Send> Drop for Release<'_, '_, '_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.give_up();
        }
    }
}

#[cfg(test)]
mod tests;
