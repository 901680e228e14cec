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
use paje_model::names::error::{Error, ErrorKind};
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;

mod budget;
mod stream;
mod turn;

pub use budget::BlockBudget;
use stream::{ReadAhead, Stream};

/// Hands out the blocks of a trace, file after file, to the workers.
pub struct Feed<'r> {
    reading: Mutex<FeedState<'r>>,
    news: Condvar,
    options: &'r Options,
    progress: &'r Progress,
    threads: usize,
}

/// Returns whether a text may contain names of other files.
#[must_use]
pub fn names_files(text: &[u8]) -> bool {
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    has("TraceFile") || has("Filename")
}

/// After a problem, how many bytes of text are searched for damage of compressed data. The search takes less than a
/// second.
const SEARCHED: u64 = 64 << 20;

struct FeedState<'r> {
    medium: BlockSource<'r>,
    /// Number of workers that wait for blocks of a stream.
    waiting: usize,
    origin: Origin,
    /// Offset of the next file in the trace, if it is known before the current file ends.
    end: u64,
    next: u64,
    queue: VecDeque<Queued>,
    /// Whether the current input is compressed. If so, an error in a line may be due to damaged compressed data.
    is_compressed: bool,
    /// Handle with which waiting workers help to decompress, if the format allows it.
    unpacking: Option<Unpacking>,
    /// Files that could not be read to the end, with the errors.
    failed: Vec<(Origin, io::Error)>,
    /// Sorted files. They map lines to their original positions.
    sorted: Vec<(Option<Arc<Path>>, Arc<TimeSorted>)>,
}

enum BlockSource<'r> {
    /// A plain file. The next block to read begins at byte `next`.
    Plan { plan: Arc<Plan>, next: u64, taken: Arc<AtomicU64> },
    /// A stream. Workers take turns reading a block, unless a block has already been read ahead.
    Stream(Stream<'r>),
    /// A packed file. Each worker takes the next segment, and unpacks it during decoding.
    Packed(Box<Segments>),
    /// A sorted file. Each worker collects the lines of its block.
    Sorted { sorted: Arc<TimeSorted>, next: usize },
    /// The end of the file.
    Ended,
}

pub struct NextBlock {
    pub number: u64,
    pub origin: Origin,
    pub is_last: bool,
    /// Whether the block's file begins with a byte order mark. Blanks have replaced it.
    pub is_marked: bool,
    pub read: Result<(), ReadError>,
}

impl<'r> Feed<'r> {
    /// Starts reading a trace.
    ///
    /// # Errors
    /// The trace is to be sorted and cannot be read.
    pub fn new(
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

    /// Fills `block` with the next lines. If blocks can be cut anywhere, `parts` limits the size of the block, in
    /// [parts](BlockBudget::PER_BLOCK) of a whole block.
    ///
    /// Returns `None` if all files so far are finished. More lines may follow if a pending block names another file.
    pub fn next(&self, block: &mut Block, parts: usize) -> Option<NextBlock> {
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
                    // Blocks that begin and end inside one long line are empty.
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
            // The mark of a sorted text has already been removed. The text may begin with any line.
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

    pub fn note_failure(&self, origin: &Origin, error: &ReadError) {
        self.reading().note_failure(origin, error);
    }

    /// Opens the next file, if any. Does not sort it, because sorting needs all workers (see [`Feed::prepare`]).
    fn open_next(&self, reading: &mut FeedState<'r>) -> Option<io::Result<()>> {
        reading.medium = BlockSource::Ended;
        if self.options.sort {
            return None;
        }
        let input = reading.open_next(self.progress)?;
        Some(input.map(|input| reading.turn_to(SourceKind::Input(Box::new(input)), self.options)))
    }

    /// If files are to be sorted and the previous file has ended, sorts the next file between two rounds. `defs`
    /// returns the definitions at the beginning of that file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn prepare(
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

    pub fn enqueue(&self, files: Vec<Queued>) {
        self.reading().queue.extend(files);
    }

    pub fn has_more(&self) -> bool {
        let reading = self.reading();
        !matches!(reading.medium, BlockSource::Ended) || !reading.queue.is_empty()
    }

    pub fn names_files_in_order(&self) -> bool {
        match &self.reading().medium {
            BlockSource::Sorted { sorted, .. } => sorted.names_files(),
            _ => false,
        }
    }

    /// Returns an upper bound of the number of blocks, or `None` if it is not known. With `files`, searches a trace of
    /// fewer than `many` blocks for names of files.
    pub fn most_blocks(&self, many: usize, files: bool) -> Option<u64> {
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

    /// Returns whether the segments belong to a time window. Only valid traces have such windows.
    pub fn is_of_window(&self) -> bool {
        matches!(&self.reading().medium, BlockSource::Packed(segments) if segments.is_window())
    }

    /// Returns the budget of a wave of at most `most` parts. Segments are larger than other blocks, so one segment for
    /// each worker is enough.
    pub fn wave_budget(&self, most: usize, workers: usize) -> BlockBudget {
        match &self.reading().medium {
            BlockSource::Plan { .. } => BlockBudget::in_parts(most, workers),
            BlockSource::Packed(_) => {
                BlockBudget::in_blocks(most.min(self.threads * BlockBudget::PER_BLOCK))
            }
            _ => BlockBudget::in_blocks(most),
        }
    }

    /// Translates a position in a sorted file to the original position.
    pub fn original(&self, file: Option<&Path>, position: Position) -> Position {
        let reading = self.reading();
        let sorted = reading.sorted.iter().find(|(path, _)| path.as_deref() == file);
        sorted.map_or(position, |(_, sorted)| sorted.original(position))
    }

    pub fn added(&self) -> u64 {
        self.reading().sorted.iter().map(|(_, sorted)| sorted.added()).sum()
    }

    /// Checks whether damage of compressed data may have caused an error. Returns the damage and the number of the
    /// damaged file. Checksums follow the data that they cover, so this decompresses somewhat more than the replay
    /// needed. It does not decompress everything, which may be a thousand times the size of the file.
    pub fn damage(&self, error: &Error) -> Option<(u32, io::Error)> {
        if !matches!(error.kind(), ErrorKind::Invalid(_) | ErrorKind::File { .. }) {
            return None;
        }
        let mut reading = self.reading();
        let FeedState { medium, origin, is_compressed, failed, .. } = &mut *reading;
        let is_it = |origin: &Origin| error.file() == origin.path.as_deref();
        // Other workers may have read past the error.
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
