//! Source of a trace's blocks.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memchr::memmem;
use paje_parser::{ByteOffset, DefTable, Position};
use paje_workers::Workers;
use splitter::{Block, Plan, ReadError, Segments, Unpacking};

use crate::input::files::{Origin, Queued};
use crate::input::sorted::TimeSorted;
use crate::input::source::SourceKind;
use crate::names::error::{Error, ErrorKind};
use crate::names::options::Options;
use crate::names::progress::Progress;

mod budget;
mod stream;
mod turn;

pub(crate) use budget::BlockBudget;
use stream::{ReadAhead, Stream};

/// Gives the blocks of a trace to whoever asks.
pub(crate) struct Feed<'r> {
    reading: Mutex<FeedState<'r>>,
    /// Somebody has read of a stream, which others wait for.
    news: Condvar,
    options: &'r Options,
    progress: &'r Progress,
    threads: usize,
}

/// Tells whether a text may name other files, which are part of the trace.
#[must_use]
pub fn names_files(text: &[u8]) -> bool {
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    has("TraceFile") || has("Filename")
}

/// Bytes of text behind a problem in which damage of compressed data is looked for: less than a second's.
const SEARCHED: u64 = 64 << 20;

/// The file at hand, and those that come behind it.
struct FeedState<'r> {
    medium: BlockSource<'r>,
    /// Number of those who wait for blocks of a stream. Another file may have begun when they wake.
    waiting: usize,
    origin: Origin,
    /// Where the next file will begin, if it is known before this one's end.
    end: u64,
    /// The number of the next block.
    next: u64,
    queue: VecDeque<Queued>,
    /// The input at hand is compressed: damage of it may show in its lines.
    is_compressed: bool,
    /// It is packed: those who wait for blocks can help.
    unpacking: Option<Unpacking>,
    /// Files that could not be read to their ends, and why.
    failed: Vec<(Origin, io::Error)>,
    /// Sorted files: where their lines stood before.
    sorted: Vec<(Option<Arc<Path>>, Arc<TimeSorted>)>,
}

enum BlockSource<'r> {
    /// Whoever asks reads the lines from byte `next` on by himself.
    Plan { plan: Arc<Plan>, next: u64, taken: Arc<AtomicU64> },
    /// Whoever asks reads the next block from the stream, unless somebody has read it ahead.
    Stream(Stream<'r>),
    /// Whoever asks takes the next segment, and unpacks it when decoding it.
    Packed(Box<Segments>),
    /// Whoever asks copies the lines of the block together.
    Sorted { sorted: Arc<TimeSorted>, next: usize },
    /// There is no more of the file.
    Ended,
}

/// The piece of input that [`Feed::next`] filled a block from.
pub(crate) struct NextBlock {
    /// Numbers grow in the order of the trace, and there is nothing between one and the next.
    pub(crate) number: u64,
    pub(crate) origin: Origin,
    /// It is the last of its file, for sure.
    pub(crate) is_last: bool,
    /// Its file begins with a byte order mark, of which blanks have been made.
    pub(crate) is_marked: bool,
    pub(crate) read: Result<(), ReadError>,
}

impl<'r> Feed<'r> {
    /// # Errors
    /// The lines are to be sorted, and the trace cannot be read.
    pub(crate) fn new(
        source: SourceKind<'r>,
        options: &'r Options,
        progress: &'r Progress,
        workers: &Workers,
    ) -> Result<Self, Error> {
        let mut reading = FeedState {
            medium: BlockSource::Ended,
            waiting: 0,
            origin: Origin::default(),
            end: 0,
            next: 0,
            queue: VecDeque::new(),
            is_compressed: false,
            unpacking: None,
            failed: Vec::new(),
            sorted: Vec::new(),
        };
        if options.sort {
            let defs = DefTable::new(options.field_names);
            reading.turn_to_sorted(TimeSorted::new(source, defs, options, progress, workers)?);
        } else {
            reading.turn_to(source, options);
        }
        Ok(Feed {
            reading: Mutex::new(reading),
            news: Condvar::new(),
            options,
            progress,
            threads: workers.threads(),
        })
    }

    /// Fills `block` with the next lines: at most this many [parts](BlockBudget::PER_BLOCK) of a whole
    /// block, if blocks can be cut anywhere.
    ///
    /// Returns `None` if there are no more lines. There may be more once another file is named.
    pub(crate) fn next(&self, block: &mut Block, parts: usize) -> Option<NextBlock> {
        loop {
            if self.progress.is_stopped() {
                return None;
            }
            let (mut reading, streamed) = self.take_streamed(block);
            let (number, start) = (reading.next, reading.origin.start);
            reading.next += 1;
            let origin = reading.origin.clone();
            let (mut is_last, mut was_marked) = (false, None);
            let read = match &mut reading.medium {
                BlockSource::Plan { plan, next, taken } if *next < plan.bytes() => {
                    let (plan, taken, begin) = (Arc::clone(plan), Arc::clone(taken), *next);
                    let bytes = plan.size() * parts as u64 / BlockBudget::PER_BLOCK as u64;
                    *next = begin.saturating_add(bytes.max(1));
                    let end = *next;
                    is_last = end >= plan.bytes();
                    drop(reading);
                    let read = plan.read_between(begin..end, block);
                    taken.fetch_add(block.text().len() as u64, Ordering::Relaxed);
                    // A line that is longer than a block leaves blocks without any.
                    if block.text().is_empty() && read.is_ok() {
                        continue;
                    }
                    read
                }
                BlockSource::Stream(stream) => {
                    if stream.has_given_all() {
                        reading.medium = BlockSource::Ended;
                    }
                    let Some(ReadAhead { read, end, .. }) = streamed else { continue };
                    reading.end = start + end.0;
                    match read {
                        Ok(true) => Ok(()),
                        Ok(false) => continue,
                        Err(error) => Err(error),
                    }
                }
                BlockSource::Packed(segments) => match segments.next_segment() {
                    Ok(Some(segment)) => {
                        reading.end = start + segments.position().0;
                        drop(reading);
                        is_last = segment.is_last();
                        if segment.start().0 == 0 {
                            let read = block.unpack_first(segment);
                            if let Err(error) = &read {
                                self.note_failure(&origin, error);
                            }
                            read
                        } else {
                            block.set_segment(segment);
                            Ok(())
                        }
                    }
                    Ok(None) => {
                        reading.medium = BlockSource::Ended;
                        continue;
                    }
                    Err(error) => {
                        block.fill(segments.position(), 0, std::iter::empty());
                        reading.medium = BlockSource::Ended;
                        let error = error.into();
                        reading.note_failure(&origin, &error);
                        Err(error)
                    }
                },
                BlockSource::Sorted { sorted, next } if *next < sorted.block_count() => {
                    let (sorted, index) = (Arc::clone(sorted), *next);
                    *next += 1;
                    drop(reading);
                    was_marked = Some(sorted.was_marked());
                    sorted.read(index, block);
                    Ok(())
                }
                _ => match self.open_next(&mut reading)? {
                    Ok(()) => continue,
                    Err(error) => {
                        block.fill(Default::default(), 0, std::iter::empty());
                        let (origin, read) = (reading.origin.clone(), Err(error.into()));
                        block.put_behind(origin.start);
                        return Some(NextBlock { number, origin, is_last, is_marked: false, read });
                    }
                },
            };
            // Sorted text lost its mark before, and may begin with any line.
            let is_first = block.start().0 == 0;
            let is_marked = is_first && was_marked.unwrap_or_else(|| block.blank_mark());
            block.put_behind(start);
            let read = read.map_err(|error| match error {
                ReadError::LineTooLong { start: at, limit } => {
                    ReadError::LineTooLong { start: ByteOffset(at.0 + start), limit }
                }
                other => other,
            });
            return Some(NextBlock { number, origin, is_last, is_marked, read });
        }
    }

    /// Notes that a file cannot be read to its end.
    pub(crate) fn note_failure(&self, origin: &Origin, error: &ReadError) {
        self.reading().note_failure(origin, error);
    }

    /// Turns to the next file, if there is one. Sorting needs all workers: see [`Feed::prepare`].
    fn open_next(&self, reading: &mut FeedState<'r>) -> Option<io::Result<()>> {
        reading.medium = BlockSource::Ended;
        if self.options.sort {
            return None;
        }
        let input = reading.open_next(self.progress)?;
        Some(input.map(|input| reading.turn_to(SourceKind::Input(Box::new(input)), self.options)))
    }

    /// Sorts the next file, if files are sorted and the one before has ended; `defs` tells what the
    /// file begins with. Only between two rounds.
    ///
    /// # Errors
    /// It cannot be read: the file, where its first byte would be, and why.
    pub(crate) fn prepare(
        &self,
        workers: &Workers,
        defs: impl FnOnce(&Origin) -> DefTable,
    ) -> Result<(), (Origin, Error)> {
        let mut reading = self.reading();
        if !self.options.sort || !matches!(reading.medium, BlockSource::Ended) {
            return Ok(());
        }
        let Some(input) = reading.open_next(self.progress) else { return Ok(()) };
        let input = input.map_err(|error| (reading.origin.clone(), error.into()))?;
        let source = SourceKind::Input(Box::new(input));
        let sorted =
            TimeSorted::new(source, defs(&reading.origin), self.options, self.progress, workers);
        let sorted = sorted.map_err(|error| (reading.origin.clone(), error))?;
        reading.turn_to_sorted(sorted);
        Ok(())
    }

    /// Files to be read when the others have been.
    pub(crate) fn enqueue(&self, files: Vec<Queued>) {
        self.reading().queue.extend(files);
    }

    /// Tells whether there may be more blocks.
    pub(crate) fn has_more(&self) -> bool {
        let reading = self.reading();
        !matches!(reading.medium, BlockSource::Ended) || !reading.queue.is_empty()
    }

    /// Tells whether the lines are sorted, and some of them may name files.
    pub(crate) fn names_files_in_order(&self) -> bool {
        match &self.reading().medium {
            BlockSource::Sorted { sorted, .. } => sorted.names_files(),
            _ => false,
        }
    }

    /// The most blocks that there can be; `None` if nobody knows. Of a trace of fewer than `many`
    /// blocks, its own are counted if none of them speaks of files.
    pub(crate) fn most_blocks(&self, many: usize, files: bool) -> Option<u64> {
        let speaks_of_files = |text: &[u8]| files && names_files(text);
        match &self.reading().medium {
            BlockSource::Plan { plan, .. } => {
                let mut block = Block::default();
                let mut few = 0..plan.len().min(many as u64);
                let spoken_of = plan.len() < many as u64
                    && few
                        .any(|i| plan.read(i, &mut block).is_ok() && speaks_of_files(block.text()));
                (!spoken_of).then_some(plan.len())
            }
            BlockSource::Sorted { sorted, .. } => {
                let few = sorted.block_count() < many;
                let spoken_of = few && speaks_of_files(sorted.text());
                (!spoken_of).then_some(sorted.block_count() as u64)
            }
            BlockSource::Stream(_) | BlockSource::Packed(_) | BlockSource::Ended => None,
        }
    }

    /// Tells whether the segments at hand are those of a window of time, which only sound traces have.
    pub(crate) fn is_of_window(&self) -> bool {
        matches!(&self.reading().medium, BlockSource::Packed(segments) if segments.is_window())
    }

    /// Parts of blocks for so many workers in a wave that may have so many: segments are larger than other blocks, and one for each
    /// worker is enough.
    pub(crate) fn wave_budget(&self, most: usize, workers: usize) -> BlockBudget {
        match &self.reading().medium {
            BlockSource::Plan { .. } => BlockBudget::in_parts(most, workers),
            BlockSource::Packed(_) => {
                BlockBudget::in_blocks(most.min(self.threads * BlockBudget::PER_BLOCK))
            }
            _ => BlockBudget::in_blocks(most),
        }
    }

    /// The place in a file of a place in what the blocks are of.
    pub(crate) fn original(&self, file: Option<&Path>, position: Position) -> Position {
        let reading = self.reading();
        let sorted = reading.sorted.iter().find(|(path, _)| path.as_deref() == file);
        sorted.map_or(position, |(_, sorted)| sorted.original(position))
    }

    /// Number of bytes of the blocks that the trace has not.
    pub(crate) fn added(&self) -> u64 {
        self.reading().sorted.iter().map(|(_, sorted)| sorted.added()).sum()
    }

    /// Tells whether compressed data are damaged, if that may be why a trace is invalid: it is what its user must
    /// know of then. Checksums tell, which come behind what they are of, so that somewhat more is decompressed
    /// than the replay needed; but not all of it, which may be a thousand times what is in the file.
    pub(crate) fn damage(&self, error: &Error) -> Option<(u32, io::Error)> {
        if !matches!(error.kind(), ErrorKind::Invalid(_) | ErrorKind::File { .. }) {
            return None;
        }
        let mut reading = self.reading();
        let FeedState { medium, origin, is_compressed, failed, .. } = &mut *reading;
        let is_it = |origin: &Origin| error.file() == origin.path.as_deref();
        // Others may have read farther than to the problem.
        if let Some(index) = failed.iter().position(|(origin, _)| is_it(origin)) {
            let (origin, error) = failed.swap_remove(index);
            return Some((origin.file, error));
        }
        match medium {
            BlockSource::Stream(stream) if *is_compressed && is_it(origin) => {
                let blocks = stream.blocks()?;
                let at = error.position().map_or(blocks.position(), |position| position.byte);
                let failure = blocks.pass_to(ByteOffset(at.0.saturating_add(SEARCHED))).err()?;
                Some((origin.file, failure))
            }
            BlockSource::Packed(segments) if is_it(origin) => {
                let at = error.position().map_or(segments.position(), |position| position.byte);
                let failure = segments.pass_to(ByteOffset(at.0.saturating_add(SEARCHED))).err()?;
                Some((origin.file, failure))
            }
            _ => None,
        }
    }

    fn reading(&self) -> MutexGuard<'_, FeedState<'r>> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
