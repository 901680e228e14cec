//! Where the blocks of a trace come from.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use splitter::{Block, Blocks, Limits, ReadError};

/// Gives the blocks of a trace to whoever asks, in order.
pub(crate) enum Feed<'r> {
    /// A stream: whoever asks reads the next block from it.
    Stream(Mutex<Stream<'r>>),
}

pub(crate) struct Stream<'r> {
    blocks: Blocks<Box<dyn Read + Send + 'r>>,
    next: u64,
    ended: bool,
}

impl<'r> Feed<'r> {
    pub(crate) fn stream(input: Box<dyn Read + Send + 'r>, limits: Limits) -> Self {
        let blocks = Blocks::new(input, limits);
        Feed::Stream(Mutex::new(Stream { blocks, next: 0, ended: false }))
    }

    /// Fills `block` with the next lines; returns its number, or `None` at the end of the trace.
    /// Numbers grow in the order of the trace, and there is nothing between one and the next.
    pub(crate) fn next(&self, block: &mut Block) -> Option<(u64, Result<(), ReadError>)> {
        match self {
            Feed::Stream(stream) => {
                let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                if stream.ended {
                    return None;
                }
                let number = stream.next;
                stream.next += 1;
                match stream.blocks.read(block) {
                    Ok(true) => Some((number, Ok(()))),
                    Ok(false) => {
                        stream.ended = true;
                        None
                    }
                    Err(error) => {
                        stream.ended = true;
                        Some((number, Err(error)))
                    }
                }
            }
        }
    }
}
