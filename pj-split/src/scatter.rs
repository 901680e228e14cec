//! Distributes the lines of a block to the pieces that need them.
//!
//! Most lines belong to one piece. They are counted first, then copied once, grouped by piece.
//! Lines that several pieces need are not copied, but referenced. Such lines divide the block into
//! stretches, because each piece keeps the order of the file.

use std::fs::File;
use std::io;

use paje_sim::{ContainerId, Trace};
use splitter::{BYTE_ORDER_MARK, read_exact_at};

use crate::log::{self, Run};
use crate::needs::{Needs, PiecesOf};
use crate::root::OwnLines;
use crate::shares::{NONE, Shares};
use crate::survey::Entry;

pub(crate) struct Rules<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) shares: &'a Shares,
    pub(crate) needs: &'a Needs,
    pub(crate) own: &'a OwnLines,
}

/// The pieces that need a line, if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipients {
    All,
    Container(ContainerId),
    /// All pieces that define a value. Values of all types are numbered together.
    Value(usize),
}

impl Recipients {
    pub(crate) fn each(self, needs: &Needs, pieces: usize, mut to: impl FnMut(usize)) {
        let listed = |pieces: &PiecesOf, number: usize, to: &mut dyn FnMut(usize)| {
            let (first, more) = pieces.get(number);
            if first != NONE {
                to(first as usize);
            }
            more.iter().for_each(|piece| to(*piece as usize));
        };
        match self {
            Recipients::All => (0..pieces).for_each(to),
            Recipients::Container(container) => {
                listed(&needs.containers, container.index(), &mut to)
            }
            Recipients::Value(value) => listed(&needs.values, value, &mut to),
        }
    }
}

/// Consecutive lines that go to the same pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Lines of one piece, as a range of [`Sheet::out`].
    Own { piece: u32, start: u32, end: u32 },
    /// Lines of several pieces, as a range of [`Sheet::text`].
    Shared { recipients: Recipients, start: u32, end: u32 },
}

#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) text: Vec<u8>,
    log: Vec<u8>,
    /// Lines grouped by piece, one stretch after the other.
    pub(crate) out: Vec<u8>,
    pub(crate) parts: Vec<Part>,
    pub(crate) root: Vec<u8>,
    /// Runs of the current stretch. Each has a piece and a length in bytes.
    runs: Vec<(u32, u32)>,
}

/// Size in bytes above which a block is exceptionally large.
const LARGE: usize = 1 << 20;

/// For each piece, the number of its bytes in the current stretch. Later, the number becomes an
/// offset in the output. The memory is reused between blocks.
#[derive(Debug)]
pub(crate) struct Counter {
    places: Vec<u32>,
    met: Vec<u32>,
}

impl Counter {
    pub(crate) fn new(pieces: usize) -> Self {
        Counter { places: vec![0; pieces], met: Vec::new() }
    }
}

impl Sheet {
    pub(crate) fn fill(
        &mut self,
        entry: Entry,
        text: &File,
        log: &File,
        rules: &Rules<'_>,
        counter: &mut Counter,
    ) -> io::Result<()> {
        self.log.resize(entry.log_len as usize, 0);
        read_exact_at(log, &mut self.log, entry.log_at)?;
        self.text.resize(entry.len as usize, 0);
        read_exact_at(text, &mut self.text, entry.start)?;
        if entry.start == 0 && self.text.starts_with(BYTE_ORDER_MARK) {
            // The byte order mark would not be at the beginning of a piece.
            self.text[..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        // The last line may lack a newline, but other lines may follow it in a piece.
        let unfinished = self.text.last() != Some(&b'\n');
        if unfinished {
            self.text.push(b'\n');
        }
        self.out.resize(self.text.len().max(self.out.len()), 0);
        self.parts.clear();
        self.root.clear();
        self.runs.clear();

        let bytes = std::mem::take(&mut self.log);
        let mut rest = bytes.as_slice();
        // Offset of the current stretch in the text, offset of its copies in the output, and
        // current offset in the text.
        let (mut stretch, mut filled, mut at) = (0, 0, 0);
        while let Some((run, mut len)) = log::read(&mut rest) {
            len += usize::from(unfinished && rest.is_empty());
            let end = at + len;
            let line = self.text.get(at..end).ok_or(io::ErrorKind::InvalidData)?;
            let recipients = match run {
                Run::Nobody => Err(NONE),
                Run::Events(container) => Err(rules.shares.of(container)),
                Run::Shared => Ok(Recipients::All),
                Run::Value(type_, value) => {
                    let value = rules.needs.value(type_, value);
                    one_or(rules.needs.values.get(value), Recipients::Value(value))
                }
                Run::Creation(container) | Run::Destruction(container) => one_or(
                    rules.needs.containers.get(container.index()),
                    Recipients::Container(container),
                ),
            };
            if !matches!(run, Run::Nobody | Run::Events(_)) {
                self.root.extend_from_slice(line);
            }
            if let Run::Creation(container) = run {
                let Rules { trace, shares, own, .. } = rules;
                own.name(trace, shares, container, &mut self.root);
            }
            match recipients {
                Err(piece) => self.runs.push((piece, len as u32)),
                Ok(recipients) => {
                    filled = self.copy_stretch(stretch, filled, counter);
                    self.parts.push(Part::Shared { recipients, start: at as u32, end: end as u32 });
                    stretch = end;
                }
            }
            at = end;
        }
        self.copy_stretch(stretch, filled, counter);
        self.log = bytes;
        if at == self.text.len() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    pub(crate) fn trim(&mut self) {
        if self.text.capacity() > LARGE || self.root.capacity() > LARGE {
            *self = Sheet::default();
        }
    }

    /// Copies the runs of the stretch that begins at byte `from` of the text, grouped by piece. The
    /// copies begin at byte `filled` of `out`. Returns their end.
    fn copy_stretch(&mut self, from: usize, filled: usize, counter: &mut Counter) -> usize {
        let Counter { places, met } = counter;
        met.clear();
        for (piece, len) in &self.runs {
            if let Some(count) = places.get_mut(*piece as usize) {
                if *count == 0 {
                    met.push(*piece);
                }
                *count += len;
            }
        }
        let mut start = filled as u32;
        for piece in &*met {
            let place = &mut places[*piece as usize];
            let end = start + *place;
            self.parts.push(Part::Own { piece: *piece, start, end });
            *place = start;
            start = end;
        }
        let mut at = from;
        for (piece, len) in self.runs.drain(..) {
            let len = len as usize;
            if let Some(place) = places.get_mut(piece as usize) {
                let to = *place as usize;
                self.out[to..to + len].copy_from_slice(&self.text[at..at + len]);
                *place += len as u32;
            }
            at += len;
        }
        met.iter().for_each(|piece| places[*piece as usize] = 0);
        start as usize
    }
}

/// Returns `Ok` with the recipients of a line if it has several pieces, and otherwise `Err` with
/// its only piece, or `NONE`.
const fn one_or((first, more): (u32, &[u32]), recipients: Recipients) -> Result<Recipients, u32> {
    if more.is_empty() { Err(first) } else { Ok(recipients) }
}
