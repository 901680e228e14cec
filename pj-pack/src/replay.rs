//! Replays a trace while it is packed, to produce its reports and windows.

use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use paje_analysis::kept::{Facts, Keeper, Kept, Lanes};
use paje_pack::WindowIndex;
use paje_sim::{BlockLines, Ledger, Portion, Source, Trace};
use paje_workers::Workers;

use crate::borders::Borders;
use crate::pack::BufferPool;

const PORTION: u64 = 16 << 20;

/// Results of the replay. For an invalid trace, they are empty.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) reports: Vec<Kept>,
    /// Lanes with states. They are stored because a window may lack some of them.
    pub(crate) lanes: Option<Lanes>,
    /// Data for windows, or `None` if the trace can only be read completely.
    pub(crate) windows: Option<WindowIndex>,
}

/// A replay in a separate thread. The thread receives the trace segment by segment.
pub(crate) struct Replay {
    texts: SyncSender<Arc<Vec<u8>>>,
    borders: SharedBorders,
    thread: JoinHandle<Replayed>,
}

impl Replay {
    /// Starts a replay. At most `waiting` segments wait until it reads them. Texts that are no
    /// longer needed return to `pool`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(waiting: usize, pool: BufferPool) -> io::Result<Replay> {
        let (texts, received) = sync_channel(waiting);
        let borders = SharedBorders(Arc::new(Mutex::new(Some(Borders::new(pool.clone())))));
        let ledger = borders.clone();
        let run = move || {
            let text = received.recv().unwrap_or_default();
            replay(Received { texts: received, text, read: 0, pool }, &ledger)
        };
        let thread = thread::Builder::new().name("replay".into()).spawn(run)?;
        Ok(Replay { texts, borders, thread })
    }

    pub(crate) fn send(&self, text: Arc<Vec<u8>>) {
        self.borders.with(|borders| borders.add_segment(&text));
        // Sending fails if the replay has found the trace invalid and ended.
        let _ = self.texts.send(text);
    }

    pub(crate) fn finish(self) -> Replayed {
        drop(self.texts);
        self.thread.join().unwrap_or_default()
    }
}

/// Borders that are shared with a replay. The replay adds its segments and blocks to them.
#[derive(Clone)]
struct SharedBorders(Arc<Mutex<Option<Borders>>>);

impl SharedBorders {
    fn lock(&self) -> MutexGuard<'_, Option<Borders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut Borders)) {
        if let Some(borders) = self.lock().as_mut() {
            change(borders);
        }
    }
}

impl Ledger for SharedBorders {
    fn enter(&self, _: usize, page: &BlockLines<'_>) -> ControlFlow<()> {
        self.with(|borders| borders.add_block(page));
        ControlFlow::Continue(())
    }
}

fn replay(text: Received, shared: &SharedBorders) -> Replayed {
    // With a single worker, the blocks come in file order.
    let (workers, mut keeper) = (Workers::one(), Keeper::default());
    let mut options = Keeper::options(&text.text);
    options.usage = true;
    // A window contains all links that lack an end, so it reports the same problem as the whole
    // trace.
    options.ignore_incomplete_links = true;
    let mut show = |portion: &Portion<'_>| {
        keeper.see(portion.trace(), &workers);
        ControlFlow::Continue(())
    };
    let source = Source::stream(text);
    let read =
        Trace::read_in_portions_into_ledger(source, &options, &workers, PORTION, &mut show, shared);
    // From now on, segments are no longer kept.
    let borders = shared.lock().take();
    let (Ok(trace), Some(borders)) = (read, borders) else { return Replayed::default() };
    let reports = match borders.has_incomplete_links() {
        true => None,
        false => keeper.reports(&trace, Facts::of(&trace)),
    };
    let reports = reports.map_or_else(Vec::new, Vec::from);
    let windows = trace.is_plain().then(|| borders.finish()).flatten();
    Replayed { reports, lanes: keeper.lanes(&trace), windows }
}

struct Received {
    texts: Receiver<Arc<Vec<u8>>>,
    text: Arc<Vec<u8>>,
    read: usize,
    pool: BufferPool,
}

impl Read for Received {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() {
            let Ok(text) = self.texts.recv() else { return Ok(0) };
            self.pool.put(mem::replace(&mut self.text, text));
            self.read = 0;
        }
        let rest = &self.text[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}
