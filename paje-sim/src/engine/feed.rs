//! Where the blocks of a trace come from.

use std::fmt;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use paje_parser::Position;
use splitter::{Block, Blocks, Input, Kind, Plan, ReadError};
use workers::Workers;

use super::sorted::Sorted;
use crate::error::Error;
use crate::options::Options;

/// What a trace is read from.
#[derive(Debug)]
pub struct Source<'r>(From<'r>);

pub(super) enum From<'r> {
    /// Each worker reads its own blocks.
    Input(Box<Input>),
    /// One worker at a time reads a block.
    Stream(Box<dyn Read + Send + 'r>),
}

impl fmt::Debug for From<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Input(input) => input.fmt(f),
            From::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl<'r> Source<'r> {
    /// Anything that gives bytes.
    pub fn stream(input: impl Read + Send + 'r) -> Self {
        Source(From::Stream(Box::new(input)))
    }
}

impl std::convert::From<Input> for Source<'static> {
    fn from(input: Input) -> Self {
        Source(From::Input(Box::new(input)))
    }
}

/// Gives the blocks of a trace to whoever asks.
pub(crate) enum Feed<'r> {
    /// Whoever asks reads the block by himself.
    Plan { plan: Plan, next: AtomicU64, taken: Arc<AtomicU64> },
    /// Whoever asks reads the next block from the stream.
    Stream(Mutex<Stream<'r>>),
    /// Whoever asks copies the lines of the block together.
    Sorted(Sorted),
}

pub(crate) struct Stream<'r> {
    blocks: Blocks<Box<dyn Read + Send + 'r>>,
    next: u64,
    ended: bool,
}

impl<'r> Feed<'r> {
    /// # Errors
    /// The lines are to be sorted, and the trace cannot be read.
    pub(crate) fn new(
        source: Source<'r>,
        options: &Options,
        workers: &Workers,
    ) -> Result<Self, Error> {
        let limits = options.limits;
        if options.sort {
            let sorted = Sorted::new(source.0, options.field_names, limits, workers)?;
            return Ok(Feed::Sorted(sorted));
        }
        let reader = match source.0 {
            From::Stream(reader) => reader,
            From::Input(input) => {
                let taken = input.read_so_far();
                match input.into_kind() {
                    Kind::Stream(reader) => reader,
                    Kind::File(file, len) => {
                        let plan = Plan::new(file, len, limits);
                        return Ok(Feed::Plan { plan, next: AtomicU64::new(0), taken });
                    }
                }
            }
        };
        let blocks = Blocks::new(reader, limits);
        Ok(Feed::Stream(Mutex::new(Stream { blocks, next: 0, ended: false })))
    }

    /// Fills `block` with the next lines; returns its number, or `None` at the end of the trace.
    /// Numbers grow in the order of the trace, and there is nothing between one and the next.
    pub(crate) fn next(&self, block: &mut Block) -> Option<(u64, Result<(), ReadError>)> {
        match self {
            Feed::Plan { plan, next, taken } => loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= plan.len() {
                    return None;
                }
                let read = plan.read(number, block);
                let len = block.text().len() as u64;
                taken.fetch_add(len, Ordering::Relaxed);
                // A line that is longer than a block leaves blocks without any.
                if len > 0 || read.is_err() {
                    return Some((number, read));
                }
            },
            Feed::Stream(stream) => {
                stream.lock().unwrap_or_else(PoisonError::into_inner).next(block)
            }
            Feed::Sorted(sorted) => sorted.next(block).map(|number| (number, Ok(()))),
        }
    }

    /// The most blocks that there can be; `None` if nobody knows.
    pub(crate) fn most_blocks(&self) -> Option<u64> {
        match self {
            Feed::Plan { plan, .. } => Some(plan.len()),
            Feed::Sorted(sorted) => Some(sorted.block_count() as u64),
            Feed::Stream(_) => None,
        }
    }

    /// The place in the trace of a place in what the blocks are of.
    pub(crate) fn original(&self, position: Position) -> Position {
        match self {
            Feed::Sorted(sorted) => sorted.original(position),
            Feed::Plan { .. } | Feed::Stream(_) => position,
        }
    }

    /// How many bytes the blocks have that the trace has not.
    pub(crate) const fn added(&self) -> u64 {
        match self {
            Feed::Sorted(sorted) => sorted.added(),
            Feed::Plan { .. } | Feed::Stream(_) => 0,
        }
    }
}

impl Stream<'_> {
    fn next(&mut self, block: &mut Block) -> Option<(u64, Result<(), ReadError>)> {
        if self.ended {
            return None;
        }
        let number = self.next;
        self.next += 1;
        match self.blocks.read(block) {
            Ok(true) => Some((number, Ok(()))),
            Ok(false) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some((number, Err(error)))
            }
        }
    }
}
