//! How far the program is, on a terminal.
//!
//! A thread of its own looks at counters that are kept anyway, a few times a second: nothing waits
//! for it, and nothing is slower for it.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::style::ProgressStyle;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState};
use paje_sim::Progress;
use splitter::Input;

/// A run that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// From one look at the counters to the next.
const TICK: Duration = Duration::from_millis(100);

/// Where it is shown how far the program is, if anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Display {
    wanted: bool,
    began: Instant,
}

/// Progress is shown while this lives. When it is dropped, the line is gone.
#[derive(Debug)]
#[must_use]
pub struct Shown(Option<(Sender<Infallible>, JoinHandle<()>)>);

impl Display {
    /// Shows on standard error, if that is a terminal and it is wanted, how far a run is that began at
    /// `began`.
    #[must_use]
    pub fn new(wanted: bool, began: Instant) -> Self {
        Display { wanted: wanted && io::stderr().is_terminal(), began }
    }

    /// Shows how much of the trace has been read and replayed; but not where rows that are written
    /// meanwhile, or what another program makes of them, may come to the same terminal.
    pub fn replay(self, input: &Input, progress: &Arc<Progress>, rows: Option<&File>) -> Shown {
        if !self.wanted || rows.is_some_and(may_be_read_at_once) {
            return Shown(None);
        }
        let bar = replay_bar(input.size(), Arc::clone(progress));
        let (taken, size, progress) = (input.read_so_far(), input.size(), Arc::clone(progress));
        self.show(bar, move || {
            let (read, named) = progress.named_files();
            (taken.load(Ordering::Relaxed) + read, size.map(|size| size + named))
        })
    }

    /// Shows how many bytes of rows have been written to `out`; but not where these rows, or what
    /// another program makes of them, may come to the same terminal meanwhile.
    pub fn rows(self, out: &File, written: &Arc<AtomicU64>) -> Shown {
        if !self.wanted || may_be_read_at_once(out) {
            return Shown(None);
        }
        let written = Arc::clone(written);
        self.show(rows_bar(), move || (written.load(Ordering::Relaxed), None))
    }

    /// Shows how many of `size` bytes have been copied.
    pub fn copy(self, size: u64, copied: &Arc<AtomicU64>) -> Shown {
        if !self.wanted {
            return Shown(None);
        }
        let copied = Arc::clone(copied);
        self.show(copy_bar(size), move || (copied.load(Ordering::Relaxed), None))
    }

    fn show(self, bar: ProgressBar, position: impl Fn() -> Position + Send + 'static) -> Shown {
        let (stop, stopped) = mpsc::channel();
        let body = move || tick(&bar, position, self.began, &stopped);
        let thread = thread::Builder::new().name("progress".into()).spawn(body);
        // Without a thread to spare there is no progress to see, which is no reason to fail.
        Shown(thread.ok().map(|thread| (stop, thread)))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            // It only fails if it panicked; then there is nothing to clear.
            let _ = thread.join();
        }
    }
}

/// How many bytes are done, and of how many, if that is known.
type Position = (u64, Option<u64>);

/// Draws the bar until the other end of `stopped` is gone, then clears it.
fn tick(
    bar: &ProgressBar,
    position: impl Fn() -> Position,
    began: Instant,
    stopped: &Receiver<Infallible>,
) {
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        // Hidden as it is until then, it measures the speed.
        if bar.is_hidden() && began.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let (done, all) = position();
        if let Some(all) = all {
            bar.set_length(all);
        }
        bar.set_position(done);
    }
    bar.finish_and_clear();
}

fn may_be_read_at_once(out: &File) -> bool {
    out.is_terminal()
        || out.metadata().is_ok_and(|metadata| {
            let kind = metadata.file_type();
            kind.is_fifo() || kind.is_socket()
        })
}

/// A bar up to `size` bytes of the medium, or a spinner if they are not known.
fn replay_bar(size: Option<u64>, progress: Arc<Progress>) -> ProgressBar {
    let events = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        // As many for each byte as so far: like the bytes, it is about the last seconds.
        let rate = progress.events() as f64 / state.pos().max(1) as f64 * state.per_sec();
        let _ = write!(out, "{} events/s", HumanCount(rate as u64));
    };
    let template = match size {
        Some(_) => {
            "[{wide_bar}] {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, \
             {events}, {eta} left"
        }
        None => "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}, {events}",
    };
    bar(size, style(template).with_key("events", events))
}

fn rows_bar() -> ProgressBar {
    bar(None, style("{spinner} {decimal_bytes} of rows written, {decimal_bytes_per_sec}"))
}

fn copy_bar(size: u64) -> ProgressBar {
    let template = "[{wide_bar}] {decimal_bytes} of {decimal_total_bytes} copied, {decimal_bytes_per_sec}, {eta} left";
    bar(Some(size), style(template))
}

fn bar(size: Option<u64>, style: ProgressStyle) -> ProgressBar {
    ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden()).with_style(style)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("a test draws each of them");
    style.progress_chars("=> ").tick_chars("|/-\\ ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;
    use paje_sim::{Options, Source, Trace};
    use workers::Workers;

    /// What a terminal shows when a bar is at `position`.
    fn drawn(bar: &ProgressBar, position: u64) -> String {
        let terminal = InMemoryTerm::new(24, 100);
        bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        bar.set_position(position);
        bar.force_draw();
        let drawn = terminal.contents();
        bar.finish_and_clear();
        assert_eq!(terminal.contents(), "");
        drawn
    }

    fn assert_in_order(text: &str, parts: &[&str]) {
        let mut rest = text;
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?}: {text}"));
            rest = &rest[at + part.len()..];
        }
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    #[test]
    fn lines_of_all_kinds() {
        let replayed = Arc::new(Progress::default());
        let text = datasets::generate(datasets::Shape::Mpi, 100_000, 1);
        let (source, workers) = (Source::stream(text.as_slice()), Workers::one());
        Trace::read_with(source, &Options::default(), &workers, &replayed).unwrap();
        let known = drawn(&replay_bar(Some(4_000_000), Arc::clone(&replayed)), 1_500_000);
        let parts = ["[", "=", ">", " ] 1.50 MB of 4.00 MB, ", "B/s, ", " events/s, ", "s left"];
        assert_in_order(&known, &parts);
        let unknown = drawn(&replay_bar(None, replayed), 2_500_000_000);
        assert_in_order(&unknown, &[" 2.50 GB, ", "B/s, ", " events/s"]);
        assert_in_order(&drawn(&rows_bar(), 999), &[" 999 B of rows written, ", "B/s"]);
        let parts = ["[", "=", "] 999 B of 2.00 kB copied, ", "B/s, ", " left"];
        assert_in_order(&drawn(&copy_bar(2000), 999), &parts);
        // Empty, and larger than it was: a file may be both.
        drawn(&replay_bar(Some(0), Arc::default()), 0);
        drawn(&replay_bar(Some(10), Arc::default()), 11);
    }

    #[test]
    fn rows_that_someone_reads_are_not_disturbed() {
        let (_reader, writer) = io::pipe().unwrap();
        assert!(may_be_read_at_once(&File::from(std::os::fd::OwnedFd::from(writer))));
        assert!(!may_be_read_at_once(&tempfile::tempfile().unwrap()));
        assert!(!may_be_read_at_once(&File::options().write(true).open("/dev/null").unwrap()));
    }
}
