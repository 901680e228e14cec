//! How far the trace has been read, and what is known about its files.

use paje_parser::{ByteOffset, FaultKind, Line, LineDecoder};
use splitter::{Block, ReadError};

use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::definitions::DefinitionsByFile;
use paje_decode::input::files::{Files, Origin};
use paje_model::names::error::{Error, Problem};
use paje_model::names::options::Options;
use paje_model::names::usage::Usage;
use paje_parser::DefTable;

pub(super) struct Reading {
    pub(super) files: Files,
    /// Event definitions up to the end of the current wave.
    pub(super) definitions: DefinitionsByFile,
    pub(super) lines: u64,
    /// Total number of lines of the previous files.
    lines_of_others: u64,
    pub(super) bytes: u64,
    pub(super) events: u64,
    pub(super) last_time: f64,
    /// Byte offset up to which the current wave has been replayed.
    pub(super) replayed_to: u64,
    pub(super) comments: Vec<u8>,
    pub(super) times: Option<Vec<f64>>,
    pub(super) usage: Option<Box<Usage>>,
    /// Whether no line of the current file has been valid so far. Such a file may not belong to a trace: see
    /// [`Reading::shown_from`].
    is_foreign: bool,
}

impl Reading {
    pub(super) fn new(files: Files, options: &Options) -> Self {
        Reading {
            files,
            definitions: DefinitionsByFile::new(DefTable::new(options.field_names)),
            lines: 0,
            lines_of_others: 0,
            bytes: 0,
            events: 0,
            last_time: f64::NEG_INFINITY,
            replayed_to: 0,
            comments: Vec::new(),
            times: options.keep_times.then(Vec::new),
            usage: options.keeps_usage().then(Box::default),
            is_foreign: false,
        }
    }

    pub(super) fn turn_to(&mut self, origin: &Origin) {
        self.definitions.turn_to(origin, &self.files);
        self.lines_of_others = self.lines;
        self.is_foreign = self.files.is_named(origin.file);
    }

    pub(super) fn unfinished(&self) -> Option<Error> {
        if !self.definitions.current().is_open() {
            return None;
        }
        let (fault, word) = (FaultKind::UnfinishedDefinition, Vec::new());
        let error = Error::invalid(Problem::Line { fault, word, event: None }, None);
        let file = self.files.path(self.definitions.file());
        Some(error.in_file(file.as_ref()).of_line_at(self.bytes))
    }

    /// Sets the position of the next block, which follows the previous blocks.
    pub(super) fn place(&mut self, block: &mut DecodedBlock) {
        block.lines_before = self.lines - self.lines_of_others;
        block.shown_from = self.shown_from(&block.text);
    }

    /// Returns the offset in a block's text from which messages may show lines. A trace may name any file by mistake,
    /// even a private one. So nothing of a file is shown until a line of the file is valid by itself, either as part of
    /// a definition or as a complete event.
    fn shown_from(&mut self, block: &Block) -> u32 {
        if !self.is_foreign {
            return 0;
        }
        let mut decoder = LineDecoder::after(self.definitions.current().as_ref().clone());
        let mut at = 0;
        for line in block.text().split_inclusive(|byte| *byte == b'\n') {
            let makes_sense = match decoder.line(line) {
                Ok(Line::Blank) | Err(_) => false,
                Ok(Line::Header) => true,
                Ok(Line::Event(event)) => event.decode().is_ok(),
            };
            if makes_sense {
                self.is_foreign = false;
                return at;
            }
            at += line.len() as u32;
        }
        u32::MAX
    }

    /// Returns the error for unreadable text after the block.
    pub(super) fn failed(&self, block: &DecodedBlock, error: ReadError) -> Error {
        let origin = &block.origin;
        let error = match error {
            ReadError::LineTooLong { start, limit } => {
                let lines = block.lines_before + block.decoded.lines;
                let in_file = ByteOffset(start.0 - origin.start);
                let error = Error::line_too_long(in_file, limit, lines + 1);
                return error.in_file(origin.path.as_ref()).of_line_at(start.0);
            }
            ReadError::Io(error) => error,
            other => std::io::Error::other(other),
        };
        let at = self.bytes + block.text.text_len() as u64;
        self.files.unreadable(origin.file, error).of_line_at(at)
    }
}
