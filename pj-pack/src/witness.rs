//! A replay of the trace beside its packing, for the reports that are kept with it.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use paje_analysis::kept::{Keeper, Kept, Lanes};
use paje_sim::{Portion, Progress, Source, Trace};
use workers::Workers;

use crate::pack::Spare;

/// Bytes of a trace in a portion.
const PORTION: u64 = 16 << 20;

/// Findings about a trace: none about an invalid one.
#[derive(Default)]
pub(crate) struct Testimony {
    pub(crate) reports: Vec<Kept>,
    /// The lanes that have states, which a part of it does not tell.
    pub(crate) lanes: Option<Lanes>,
    /// It may be read in parts.
    pub(crate) is_plain: bool,
}

/// Somebody who is shown the text of a trace, part by part, and replays it with one thread.
pub(crate) struct Witness {
    texts: SyncSender<Arc<Vec<u8>>>,
    replay: JoinHandle<Testimony>,
}

impl Witness {
    /// One that lets so many texts wait, and leaves those that it has seen to `spare`.
    ///
    /// # Errors
    /// There can be no other thread.
    pub(crate) fn new(waiting: usize, spare: Spare) -> io::Result<Witness> {
        let (texts, shown) = sync_channel(waiting);
        let replay = || replay(Shown { texts: shown, text: Arc::default(), given: 0, spare });
        let replay = thread::Builder::new().name("replay".into()).spawn(replay)?;
        Ok(Witness { texts, replay })
    }

    /// Shows the next text. Who has found that the trace is invalid no longer looks.
    pub(crate) fn see(&mut self, text: Arc<Vec<u8>>) {
        let _ = self.texts.send(text);
    }

    /// All that it can say when all has been shown.
    pub(crate) fn testimony(self) -> Testimony {
        drop(self.texts);
        self.replay.join().unwrap_or_default()
    }
}

fn replay(text: Shown) -> Testimony {
    let (workers, progress, mut keeper) = (Workers::one(), Progress::default(), Keeper::default());
    let mut see = |portion: &Portion<'_>| {
        keeper.see(portion.trace(), &workers);
        ControlFlow::Continue(())
    };
    let (source, mut options) = (Source::stream(text), Keeper::options());
    options.usage = true;
    let trace = Trace::read_in_portions(source, &options, &workers, &progress, PORTION, &mut see);
    let Ok(trace) = trace else { return Testimony::default() };
    let reports = keeper.reports(&trace).map_or_else(Vec::new, Vec::from);
    Testimony { reports, lanes: keeper.lanes(&trace), is_plain: trace.is_plain() }
}

/// The texts that are shown, one after the other.
struct Shown {
    texts: Receiver<Arc<Vec<u8>>>,
    text: Arc<Vec<u8>>,
    given: usize,
    spare: Spare,
}

impl Read for Shown {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            let Ok(text) = self.texts.recv() else { return Ok(0) };
            self.spare.put(std::mem::replace(&mut self.text, text));
            self.given = 0;
        }
        let left = &self.text[self.given..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.given += count;
        Ok(count)
    }
}
