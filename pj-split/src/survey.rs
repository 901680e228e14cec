//! Survey of a trace during its replay: the owners of lines, and the values and containers that
//! events use.
//!
//! Data that grow with the trace go to temporary files: the logs of all blocks
//! ([`log`](crate::log)), in any order; the values and link ends that each lane uses, with few
//! repetitions; and the text, if it cannot be read again.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paje_sim::{BlockLines, ContainerId, Ledger, LineOf, Used};

use crate::log;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainerBytes {
    pub(crate) events: u64,
    /// Size of the container's creation and destruction in bytes.
    pub(crate) frame: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    pub(crate) len: u32,
    pub(crate) log_len: u32,
    pub(crate) log_at: u64,
}

#[derive(Debug)]
struct AppendFile {
    file: File,
    len: AtomicU64,
}

impl AppendFile {
    const fn new(file: File) -> Self {
        AppendFile { file, len: AtomicU64::new(0) }
    }

    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.len.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, at)?;
        Ok(at)
    }
}

#[derive(Debug)]
pub(crate) struct Survey {
    log: AppendFile,
    uses: AppendFile,
    spool: Option<File>,
    desks: Vec<Mutex<WorkerNotes>>,
    failed: Mutex<Option<io::Error>>,
}

#[derive(Debug)]
struct WorkerNotes {
    log: Vec<u8>,
    uses: Vec<u8>,
    /// Recent uses: each is a lane and the object that it uses.
    recent: Vec<(u32, u64)>,
    held: Vec<ContainerBytes>,
    entries: Vec<Entry>,
}

/// Number of recent uses, a power of two. They fit into the second-level cache.
const RECENT: usize = 1 << 13;

/// Size in bytes at which uses are written to their file.
const FULL: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) held: Vec<ContainerBytes>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) log: File,
    /// File of uses. A use is a pair of variable-length integers: a lane and a [`use_number`].
    pub(crate) uses: File,
}

const fn use_number(used: Used) -> u64 {
    match used {
        Used::Value(value) => (value.0 as u64) << 1,
        Used::End(container) => (container.0 as u64) << 1 | 1,
    }
}

pub(crate) const fn used(number: u64) -> Used {
    let id = (number >> 1) as u32;
    match number & 1 {
        0 => Used::Value(paje_sim::ValueId(id)),
        _ => Used::End(ContainerId(id)),
    }
}

impl Survey {
    pub(crate) fn new(workers: usize, log: File, uses: File, spool: Option<File>) -> Self {
        let desk = |_| {
            Mutex::new(WorkerNotes {
                log: Vec::new(),
                uses: Vec::new(),
                recent: vec![(u32::MAX, u64::MAX); RECENT],
                held: Vec::new(),
                entries: Vec::new(),
            })
        };
        Survey {
            log: AppendFile::new(log),
            uses: AppendFile::new(uses),
            spool,
            desks: (0..workers).map(desk).collect(),
            failed: Mutex::new(None),
        }
    }

    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, desk: &mut WorkerNotes, page: &BlockLines<'_>) -> io::Result<()> {
        let (start, text) = (page.start().0, page.text());
        if text.is_empty() {
            return Ok(());
        }
        if let Some(spool) = &self.spool {
            spool.write_all_at(text, start)?;
        }
        let held = &mut desk.held;
        let counted = page.lines().inspect(|(len, line)| {
            let (container, events) = match line {
                LineOf::Event(container) => (*container, true),
                LineOf::Creation(container) | LineOf::Destruction(container) => (*container, false),
                _ => return,
            };
            let index = container.index();
            if held.len() <= index {
                held.resize(index + 1, ContainerBytes::default());
            }
            let to = &mut held[index];
            *(if events { &mut to.events } else { &mut to.frame }) += *len as u64;
        });
        desk.log.clear();
        log::write(counted, &mut desk.log);
        let log_at = self.log.append(&desk.log)?;
        let (len, log_len) = (text.len() as u32, desk.log.len() as u32);
        desk.entries.push(Entry { start, len, log_len, log_at });

        let WorkerNotes { uses, recent, .. } = desk;
        page.uses(|lane, used| {
            let number = use_number(used);
            let pair = (lane.0, number);
            let slot = &mut recent[slot(u64::from(lane.0) << 33 ^ number)];
            if *slot != pair {
                *slot = pair;
                log::push(uses, u64::from(lane.0));
                log::push(uses, number);
            }
        });
        if desk.uses.len() >= FULL {
            self.uses.append(&desk.uses)?;
            desk.uses.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(self, containers: usize) -> io::Result<Surveyed> {
        let mut held = vec![ContainerBytes::default(); containers];
        let mut entries = Vec::new();
        for desk in self.desks {
            let desk = desk.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.uses.append(&desk.uses)?;
            entries.extend(desk.entries);
            for (all, one) in held.iter_mut().zip(desk.held) {
                all.events += one.events;
                all.frame += one.frame;
            }
        }
        entries.sort_unstable_by_key(|entry: &Entry| entry.start);
        Ok(Surveyed { held, entries, log: self.log.file, uses: self.uses.file })
    }
}

#[inline]
const fn slot(pair: u64) -> usize {
    (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (RECENT - 1)
}

impl Ledger for Survey {
    fn enter(&self, worker: usize, page: &BlockLines<'_>) -> ControlFlow<()> {
        let mut desk: MutexGuard<'_, WorkerNotes> =
            self.desks[worker].lock().unwrap_or_else(PoisonError::into_inner);
        match self.note(&mut desk, page) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }
}
