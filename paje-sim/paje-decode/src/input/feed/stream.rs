//! Streams: one worker at a time reads ahead while the others decode and replay.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{MutexGuard, PoisonError};

use paje_parser::ByteOffset;
use splitter::{Block, Blocks, ReadError};

use super::{BlockSource, Feed, FeedState};

type Lines<'r> = Blocks<Box<dyn Read + Send + 'r>>;

pub(super) struct Stream<'r> {
    /// `None` while a worker reads.
    blocks: Option<Lines<'r>>,
    ready: VecDeque<ReadAhead>,
    ended: bool,
    /// Memory for further texts. A worker that takes a text leaves the memory of its previous text here.
    spare: Vec<Block>,
}

pub(super) struct ReadAhead {
    text: Block,
    pub(super) read: Result<bool, ReadError>,
    pub(super) end: ByteOffset,
}

impl<'r> Stream<'r> {
    pub(super) fn new(blocks: Lines<'r>) -> Self {
        let (ready, spare) = (VecDeque::new(), Vec::new());
        Stream { blocks: Some(blocks), ready, ended: false, spare }
    }

    pub(super) fn has_given_all(&self) -> bool {
        self.ended && self.ready.is_empty()
    }

    /// Returns the rest of the stream, unless a worker is reading.
    pub(super) const fn blocks(&mut self) -> Option<&mut Lines<'r>> {
        self.blocks.as_mut()
    }

    const fn is_idle(&self) -> bool {
        self.blocks.is_some() && !self.ended
    }
}

/// A worker's turn to read. Dropping it puts the stream back, even in a panic, because other workers wait for the
/// stream.
struct ReadTurn<'f, 'r> {
    feed: &'f Feed<'r>,
    blocks: Option<Lines<'r>>,
    streamed: Option<ReadAhead>,
}

impl Drop for ReadTurn<'_, '_> {
    fn drop(&mut self) {
        let mut reading = self.feed.reading();
        let streamed = self.streamed.take();
        let more = match streamed.as_ref().map(|streamed| &streamed.read) {
            Some(Ok(more)) => *more,
            Some(Err(error)) => {
                let origin = reading.origin.clone();
                reading.note_failure(&origin, error);
                matches!(error, ReadError::LineTooLong { .. }) && self.feed.options.recover
            }
            None => false,
        };
        let BlockSource::Stream(stream) = &mut reading.medium else { return };
        stream.blocks = self.blocks.take();
        stream.ready.extend(streamed);
        stream.ended = !more;
        // If no worker waits, skipping the notification saves a system call.
        if reading.waiting > 0 {
            self.feed.news.notify_all();
        }
    }
}

impl<'r> Feed<'r> {
    /// Reads up to `most` blocks of compressed text ahead, unless another worker is reading. Only one worker can
    /// decompress, and decompression takes long, so the first worker of a round begins by reading ahead. It stops when
    /// `goes_on` returns false, because the other workers then have nothing else to do in this round.
    pub fn read_ahead(&self, most: usize, goes_on: impl Fn() -> bool) {
        let mut reading = self.reading();
        while reading.is_compressed
            && goes_on()
            && !self.progress.is_stopped()
            && let BlockSource::Stream(stream) = &mut reading.medium
            && stream.is_idle()
            && stream.ready.len() < most
        {
            reading = self.read_on(reading);
        }
    }

    pub fn help(&self) {
        loop {
            let reading = self.reading();
            let BlockSource::Stream(Stream { blocks: None, .. }) = &reading.medium else { return };
            let Some(unpacking) = reading.unpacking.clone() else { return };
            drop(reading);
            if !unpacking.help(self.threads) {
                return;
            }
        }
    }

    /// Fills `block` with the next lines of a stream. Returns no block for other sources and at the end of a stream.
    pub(super) fn take_streamed(
        &self,
        block: &mut Block,
    ) -> (MutexGuard<'_, FeedState<'r>>, Option<ReadAhead>) {
        let mut reading = self.reading();
        loop {
            let unpacking = reading.unpacking.clone();
            let BlockSource::Stream(stream) = &mut reading.medium else { return (reading, None) };
            if let Some(mut streamed) = stream.ready.pop_front() {
                std::mem::swap(block, &mut streamed.text);
                stream.spare.push(std::mem::take(&mut streamed.text));
                return (reading, Some(streamed));
            }
            if stream.is_idle() {
                reading = self.read_on(reading);
                continue;
            }
            if stream.has_given_all() {
                return (reading, None);
            }
            if let Some(unpacking) = unpacking {
                drop(reading);
                let has_helped = unpacking.help(self.threads);
                reading = self.reading();
                if has_helped {
                    continue;
                }
            }
            reading = self.wait(reading);
        }
    }

    /// Reads a block into spare memory, without holding the lock. Any worker may take the block.
    fn read_on<'f>(
        &'f self,
        mut reading: MutexGuard<'f, FeedState<'r>>,
    ) -> MutexGuard<'f, FeedState<'r>> {
        let BlockSource::Stream(stream) = &mut reading.medium else { return reading };
        let Some(blocks) = stream.blocks.take() else { return reading };
        let mut text = stream.spare.pop().unwrap_or_default();
        drop(reading);
        let mut turn = ReadTurn { feed: self, blocks: Some(blocks), streamed: None };
        if let Some(blocks) = &mut turn.blocks {
            let read = blocks.read(&mut text);
            turn.streamed = Some(ReadAhead { text, read, end: blocks.position() });
        }
        drop(turn);
        self.reading()
    }

    fn wait<'f>(
        &'f self,
        mut reading: MutexGuard<'f, FeedState<'r>>,
    ) -> MutexGuard<'f, FeedState<'r>> {
        let BlockSource::Stream(stream) = &mut reading.medium else { return reading };
        if !stream.ready.is_empty() || stream.blocks.is_some() {
            return reading;
        }
        reading.waiting += 1;
        reading = self.news.wait(reading).unwrap_or_else(PoisonError::into_inner);
        reading.waiting -= 1;
        reading
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::thread;

    use super::*;
    use crate::input::source::Source;
    use paje_model::names::options::Options;
    use paje_model::names::progress::Progress;
    use paje_workers::Workers;

    /// An endless stream. Each read lets the other threads run.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            thread::yield_now();
            buffer.fill(b'\n');
            Ok(buffer.len())
        }
    }

    /// There is memory for one text more than there are workers, however often a worker takes a text that another
    /// worker has read.
    #[test]
    fn the_number_of_texts_does_not_grow() {
        let mut options = Options::default();
        options.limits.block = 64;
        let progress = Progress::default();
        for workers in 1..=4 {
            let source = Source::stream(Endless).kind;
            let feed = Feed::new(source, &options, &progress, &Workers::one()).expect("a stream");
            thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| {
                        let mut block = Block::default();
                        assert!((0..2000).all(|_| feed.next(&mut block, 1).is_some()));
                    });
                }
            });
            let reading = feed.reading();
            let BlockSource::Stream(stream) = &reading.medium else { panic!("it has not ended") };
            let left = stream.spare.len() + stream.ready.len();
            assert!(left <= 1, "{left} texts with {workers} workers");
        }
    }
}
