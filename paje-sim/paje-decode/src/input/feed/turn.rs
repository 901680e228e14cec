//! Opens the files of a trace, and chooses how each file is read.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use splitter::{Blocks, Input, Kind, Plan, ReadError};

use super::{BlockSource, FeedState, Stream};
use crate::input::files::{Origin, Queued};
use crate::input::sorted::TimeSorted;
use crate::input::source::SourceKind;
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;

/// Reads in pieces of one size. If data is damaged, the amount that a decompressor returns depends on the sizes of the
/// reads.
struct FixedReads<R>(BufReader<R>);

impl<R: Read> Read for FixedReads<R> {
    /// Unlike `BufReader::read`, this fills the buffer even for a larger read.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.fill_buf()?.read(into)?;
        self.0.consume(count);
        Ok(count)
    }
}

impl<'r> FeedState<'r> {
    pub(super) fn note_failure(&mut self, origin: &Origin, error: &ReadError) {
        if let (ReadError::Io(error), true) = (error, self.is_compressed) {
            let again = match error.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            self.failed.push((origin.clone(), again));
        }
    }

    pub(super) fn open_next(&mut self, progress: &Progress) -> Option<io::Result<Input>> {
        let Queued { number, parent, path, folders } = self.queue.pop_front()?;
        let input = match folders {
            Some(folders) => Input::open_named(&path, &folders),
            // This is a file named `-`, not standard input.
            None if path.as_os_str() == "-" => Input::open(Some(Path::new("./-"))),
            None => Input::open(Some(&path)),
        };
        self.origin = Origin { file: number, parent, start: self.end, path: Some(path) };
        if let Ok(input) = &input {
            progress.turn_to(input.read_so_far());
        }
        Some(input)
    }

    pub(super) fn turn_to(&mut self, source: SourceKind<'r>, options: &Options) {
        let limits = options.limits;
        (self.is_compressed, self.unpacking) = (false, None);
        let reader = match source {
            SourceKind::Stream(reader) => reader,
            SourceKind::Input(mut input) => {
                let taken = input.read_so_far();
                self.is_compressed = input.compression().is_some();
                if !options.recover
                    && let Some(segments) = input.segments(limits.line)
                {
                    self.medium = BlockSource::Packed(Box::new(segments));
                    return;
                }
                self.unpacking = input.unpacking();
                match input.into_kind() {
                    Kind::Stream(reader) => reader,
                    Kind::File(file, len) => {
                        self.end = self.origin.start + len;
                        let plan = Arc::new(Plan::new(file, len, limits));
                        self.medium = BlockSource::Plan { plan, next: 0, taken };
                        return;
                    }
                }
            }
        };
        self.medium = BlockSource::Stream(Stream::new(match options.recover {
            false => Blocks::new(reader, limits),
            true => {
                let reader = FixedReads(BufReader::with_capacity(1 << 16, reader));
                Blocks::new(Box::new(reader) as Box<dyn Read + Send>, limits).forgiving()
            }
        }));
    }

    pub(super) fn turn_to_sorted(&mut self, sorted: TimeSorted) {
        let sorted = Arc::new(sorted);
        self.end = self.origin.start + sorted.text().len() as u64;
        self.sorted.push((self.origin.path.clone(), Arc::clone(&sorted)));
        self.medium = BlockSource::Sorted { sorted, next: 0 };
    }
}
