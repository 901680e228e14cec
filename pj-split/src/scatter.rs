//! The lines of a block to the pieces that need them.
//!
//! Most lines are in one piece. Those of a block are copied together by piece, counted first, so that
//! each is copied once. A line that several pieces need is not copied here, but pointed at; it parts the
//! block into stretches, since each piece has its lines in file order.

use std::fs::File;
use std::io;

use paje_sim::{ContainerId, Trace};
use splitter::{BYTE_ORDER_MARK, read_exact_at};

use crate::log::{self, Run};
use crate::mend::Mending;
use crate::needs::{Needs, PiecesOf};
use crate::root::OwnLines;
use crate::shares::{NONE, Shares};
use crate::survey::Entry;

/// Rules for where lines go.
pub(crate) struct Rules<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) shares: &'a Shares,
    pub(crate) needs: &'a Needs,
    pub(crate) own: &'a OwnLines,
    /// If the trace may be damaged.
    pub(crate) mending: Option<&'a Mending<'a>>,
}

/// Who gets a line that is not for one piece alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    All,
    /// Those that create a container.
    Container(ContainerId),
    /// Those that define a value; its number among those of all types.
    Value(usize),
}

impl Who {
    /// Calls `to` with each of the pieces that get the line.
    pub(crate) fn each(self, needs: &Needs, pieces: usize, mut to: impl FnMut(usize)) {
        let listed = |pieces: &PiecesOf, number: usize, to: &mut dyn FnMut(usize)| {
            let (first, more) = pieces.get(number);
            if first != NONE {
                to(first as usize);
            }
            more.iter().for_each(|piece| to(*piece as usize));
        };
        match self {
            Who::All => (0..pieces).for_each(to),
            Who::Container(container) => listed(&needs.containers, container.index(), &mut to),
            Who::Value(value) => listed(&needs.values, value, &mut to),
        }
    }
}

/// Some lines of a block that go the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// To one piece: where in [`Sheet::out`].
    Own { piece: u32, start: u32, end: u32 },
    /// To several: where in [`Sheet::text`].
    Shared { who: Who, start: u32, end: u32 },
}

/// Buffers for a block and its output, which are reused.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// The lines of the block.
    pub(crate) text: Vec<u8>,
    log: Vec<u8>,
    /// Lines by piece, stretch after stretch.
    pub(crate) out: Vec<u8>,
    /// In file order for each piece.
    pub(crate) parts: Vec<Part>,
    /// Lines that go to root.trace.
    pub(crate) root: Vec<u8>,
    /// The stretch at hand: pieces, and how many bytes they get.
    runs: Vec<(u32, u32)>,
}

/// Bytes of a block that no usual trace has.
const LARGE: usize = 1 << 20;

/// Number of bytes of a stretch that each piece gets, and then where they go; kept between blocks.
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
    /// Reads a block and its log, and sorts its lines by where they go.
    ///
    /// # Errors
    /// The block or its log cannot be read, or they are not what was written.
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
            // In a piece it would be in the middle.
            self.text[..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        // The trace's last line may lack its end; in a piece, something comes behind it.
        let unfinished = self.text.last() != Some(&b'\n');
        if unfinished {
            self.text.push(b'\n');
        }
        if let Some(mending) = rules.mending {
            mending.rewrite(entry.start, &mut self.text, &mut self.log, unfinished)?;
        }
        let unfinished = unfinished && rules.mending.is_none();
        self.out.resize(self.text.len().max(self.out.len()), 0);
        self.parts.clear();
        self.root.clear();
        self.runs.clear();

        let bytes = std::mem::take(&mut self.log);
        let mut rest = bytes.as_slice();
        // The stretch at hand: where it begins in the text, and where its copies go.
        let (mut stretch, mut filled, mut at) = (0, 0, 0);
        while let Some((run, mut len)) = log::read(&mut rest) {
            len += usize::from(unfinished && rest.is_empty());
            let end = at + len;
            let line = self.text.get(at..end).ok_or(io::ErrorKind::InvalidData)?;
            let who = match run {
                Run::Nobody => Err(NONE),
                Run::Events(container) => Err(rules.shares.of(container)),
                Run::Shared => Ok(Who::All),
                Run::Value(type_, value) => {
                    let value = rules.needs.value(type_, value);
                    one_or(rules.needs.values.get(value), Who::Value(value))
                }
                Run::Creation(container) | Run::Destruction(container) => {
                    one_or(rules.needs.containers.get(container.index()), Who::Container(container))
                }
            };
            if !matches!(run, Run::Nobody | Run::Events(_)) {
                self.root.extend_from_slice(line);
            }
            if let Run::Creation(container) = run {
                let Rules { trace, shares, own, .. } = rules;
                own.name(trace, shares, container, &mut self.root);
            }
            match who {
                Err(piece) => self.runs.push((piece, len as u32)),
                Ok(who) => {
                    filled = self.copy_stretch(stretch, filled, counter);
                    self.parts.push(Part::Shared { who, start: at as u32, end: end as u32 });
                    stretch = end;
                }
            }
            at = end;
        }
        self.copy_stretch(stretch, filled, counter);
        self.log = bytes;
        if at == self.text.len() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// Gives back the memory of a block that was much larger than others are.
    pub(crate) fn trim(&mut self) {
        if self.text.capacity() > LARGE || self.root.capacity() > LARGE {
            *self = Sheet::default();
        }
    }

    /// Copies the runs of a stretch that begins at byte `from` of the text to `out` from byte `filled` on,
    /// by piece; returns where that ends.
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

/// The one piece of a line, none, or several.
const fn one_or((first, more): (u32, &[u32]), who: Who) -> Result<Who, u32> {
    if more.is_empty() { Err(first) } else { Ok(who) }
}
