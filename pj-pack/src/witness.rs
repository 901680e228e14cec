//! Findings about a trace, for the reports that are kept with it: from its segments, as they are packed, or by a replay, beside packing or behind it.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use paje_analysis::kept::{Facts, Keeper, Kept, Lanes};
use paje_analysis::parts::Parts;
use paje_pack::Borders;
use paje_sim::{Options, Portion, Progress, Source, Trace};
use paje_workers::Workers;
use splitter::Input;

use crate::pack::Spare;

#[cfg(test)]
mod tests;

/// Bytes of a trace in a portion.
const PORTION: u64 = 16 << 20;

/// Findings about a trace: none about an invalid one.
#[derive(Debug, Default, PartialEq)]
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
        let replay = || {
            let text = Shown { texts: shown, text: Arc::default(), given: 0, spare };
            replay(text, &Workers::one()).map(|(seen, _)| seen).unwrap_or_default()
        };
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

impl Testimony {
    fn of(keeper: &Keeper, trace: &Trace, facts: Facts) -> Testimony {
        let reports = keeper.reports(trace, facts).map_or_else(Vec::new, Vec::from);
        Testimony { reports, lanes: keeper.lanes(trace), is_plain: trace.is_plain() }
    }

    /// Findings of who has packed all segments of a trace, which has so many bytes. None if only a replay can tell.
    pub(crate) fn of_parts(
        parts: Parts,
        borders: &Borders,
        bytes: u64,
        workers: &Workers,
    ) -> Option<Testimony> {
        if parts.have_failed() {
            return None;
        }
        let sample = borders.sample()?;
        let source = Source::stream(&sample[..]);
        let trace = Trace::read_with(source, &options(), workers, &Progress::default());
        let trace = trace.ok()?;
        let (keeper, facts) = Keeper::of(parts, &trace, bytes)?;
        Some(Testimony::of(&keeper, &trace, facts))
    }

    /// Findings of a replay of a file, of which so many bytes have been packed; nothing if it is another one now.
    pub(crate) fn of_file(path: &Path, bytes: u64, workers: &Workers) -> io::Result<Testimony> {
        Ok(of_as_many(replay(Input::open(Some(path))?, workers), bytes))
    }
}

/// Replay of a file with one thread, beside those who pack it.
pub(crate) struct Beside(JoinHandle<io::Result<Option<(Testimony, u64)>>>);

impl Beside {
    /// Begins it.
    ///
    /// # Errors
    /// There can be no other thread.
    pub(crate) fn begin(path: &Path) -> io::Result<Beside> {
        let path = path.to_owned();
        let replay = move || Ok(replay(Input::open(Some(&path))?, &Workers::one()));
        thread::Builder::new().name("replay".into()).spawn(replay).map(Beside)
    }

    /// Its findings, as [`Testimony::of_file`] has them, when it has ended.
    pub(crate) fn testimony(self, bytes: u64) -> io::Result<Testimony> {
        Ok(of_as_many(self.0.join().unwrap_or(Ok(None))?, bytes))
    }
}

/// Findings, if they are of so many bytes.
fn of_as_many(replayed: Option<(Testimony, u64)>, bytes: u64) -> Testimony {
    replayed.filter(|(_, read)| *read == bytes).map(|(seen, _)| seen).unwrap_or_default()
}

fn options() -> Options {
    let mut options = Keeper::options();
    options.usage = true;
    options
}

/// Findings of a replay of a text, and its bytes; nothing of an invalid trace.
fn replay(text: impl Read + Send, workers: &Workers) -> Option<(Testimony, u64)> {
    let (progress, mut keeper) = (Progress::default(), Keeper::default());
    let mut see = |portion: &Portion<'_>| {
        keeper.see(portion.trace(), workers);
        ControlFlow::Continue(())
    };
    let (source, options) = (Source::stream(text), options());
    let trace = Trace::read_in_portions(source, &options, workers, &progress, PORTION, &mut see);
    let trace = trace.ok()?;
    let facts = Facts::of(&trace);
    Some((Testimony::of(&keeper, &trace, facts), facts.bytes))
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
