//! Shows progress on a terminal.
//!
//! A thread reads existing counters a few times per second, so no other thread has to wait for it.

mod line;

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressDrawTarget;
use paje_sim::{Phase, Progress};
use rustix::termios::tcgetwinsize;
use splitter::Input;

use line::{Line, Stage, Unit, Width};

const PATIENCE: Duration = Duration::from_secs(1);

const TICK: Duration = Duration::from_millis(100);

/// Settings of the progress display.
#[derive(Clone, Copy, Debug)]
pub struct Display {
    wanted: bool,
    began: Instant,
}

/// Guard of a progress line. Dropping the guard clears the line.
#[derive(Debug)]
#[must_use]
pub struct Shown(Option<(Sender<Infallible>, JoinHandle<()>)>);

impl Display {
    /// Creates the progress display of a run that began at `began`. Progress is shown if it is
    /// wanted and standard error is a terminal.
    #[must_use]
    pub fn new(wanted: bool, began: Instant) -> Self {
        Display { wanted: wanted && io::stderr().is_terminal(), began }
    }

    /// Shows how much of the trace has been read and replayed. Shows nothing if rows are written at
    /// the same time and may appear on the same terminal, directly or through a pipe.
    pub fn replay(self, input: &Input, progress: &Arc<Progress>, rows: Option<&File>) -> Shown {
        if rows.is_some_and(may_be_read_at_once) {
            return Shown(None);
        }
        let (taken, size, progress) = (input.read_so_far(), input.size(), Arc::clone(progress));
        self.show(move || {
            let events = Some(progress.events());
            let (doing, done, all) = match progress.phase() {
                (Phase::Reading, ..) => {
                    let (read, named) = progress.named_files();
                    let done = taken.load(Ordering::Relaxed) + read;
                    ("reading", done, size.map(|size| size + named))
                }
                (Phase::Sorting, done, all) => ("sorting", done, Some(all)),
                (Phase::Replaying, done, all) => ("replaying", done, Some(all)),
            };
            let events = events.filter(|events| *events > 0 && doing != "sorting");
            Stage { doing, unit: Unit::Bytes, done, all, events }
        })
    }

    /// Shows how much of an input has been read. `doing` is the name of this activity.
    pub fn reading(self, doing: &'static str, input: &Input) -> Shown {
        let (taken, all) = (input.read_so_far(), input.size());
        self.show(move || {
            let done = taken.load(Ordering::Relaxed);
            Stage { doing, unit: Unit::Bytes, done, all, events: None }
        })
    }

    /// Shows how many bytes of rows have been written to `out`. Shows nothing if the rows may
    /// appear on the same terminal, directly or through a pipe.
    pub fn rows(self, out: &File, written: &Arc<AtomicU64>) -> Shown {
        if may_be_read_at_once(out) {
            return Shown(None);
        }
        self.counter("writing rows", Unit::Bytes, None, written)
    }

    /// Shows how many of `rows` rows have been written to tables.
    pub fn tables(self, rows: u64, written: &Arc<AtomicU64>) -> Shown {
        self.counter("writing tables", Unit::Rows, Some(rows), written)
    }

    /// Shows how many of `size` bytes have been copied.
    pub fn copy(self, size: u64, copied: &Arc<AtomicU64>) -> Shown {
        self.counter("copying", Unit::Bytes, Some(size), copied)
    }

    fn counter(
        self,
        doing: &'static str,
        unit: Unit,
        all: Option<u64>,
        done: &Arc<AtomicU64>,
    ) -> Shown {
        let done = Arc::clone(done);
        self.show(move || {
            let done = done.load(Ordering::Relaxed);
            Stage { doing, unit, done, all, events: None }
        })
    }

    fn show(self, stage: impl Fn() -> Stage + Send + 'static) -> Shown {
        if !self.wanted {
            return Shown(None);
        }
        let (stop, stopped) = mpsc::channel();
        let body = move || follow(stage, self.began, &stopped);
        let thread = thread::Builder::new().name("progress".into()).spawn(body);
        Shown(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // Joining fails only if the thread panicked. There is then nothing to clear.
            let _ = thread.join();
        }
    }
}

/// Draws the line until the sender of `stopped` is dropped, then clears it.
fn follow(stage: impl Fn() -> Stage, began: Instant, stopped: &Receiver<Infallible>) {
    let mut line = Line::hidden();
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        // The line measures the speed even while it is hidden.
        if began.elapsed() >= PATIENCE {
            line.show_on(ProgressDrawTarget::stderr);
        }
        line.set(stage(), Width::of(columns()));
    }
    line.clear();
}

fn columns() -> u16 {
    tcgetwinsize(io::stderr()).map_or(80, |size| size.ws_col).max(1)
}

fn may_be_read_at_once(out: &File) -> bool {
    out.is_terminal()
        || out.metadata().is_ok_and(|metadata| {
            let kind = metadata.file_type();
            kind.is_fifo() || kind.is_socket()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_on_a_terminal_or_pipe_hide_progress() {
        let (_reader, writer) = io::pipe().unwrap();
        assert!(may_be_read_at_once(&File::from(std::os::fd::OwnedFd::from(writer))));
        assert!(!may_be_read_at_once(&tempfile::tempfile().unwrap()));
        assert!(!may_be_read_at_once(&File::options().write(true).open("/dev/null").unwrap()));
    }
}
