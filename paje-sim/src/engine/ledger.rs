//! Reports the container of each line of a trace, for programs that split traces.
//!
//! The replay knows the container of each event. [`Trace::read_into_ledger`] passes the containers to the ledger block
//! by block and in parallel, while the text is in memory.
//!
//! [`Trace::read_into_ledger`]: crate::Trace::read_into_ledger

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use paje_parser::ByteOffset;

use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::{Decoded, HEADER, Op, STRUCTURAL, WORDLESS};
use paje_model::model::UNKNOWN;
use paje_model::names::ids::LaneId;
use paje_model::names::ledger::{LineOf, Used};
use paje_replay::replay::symbol_map::SymbolMap;

/// Receives the container of each line of a trace.
pub trait Ledger: Sync {
    /// Receives the lines of a block. This is called once for each block with lines. Several workers may call it at the
    /// same time, and the order of blocks is not fixed. If the ledger breaks, the replay stops, but the ledger may
    /// still receive some blocks.
    fn enter(&self, worker: usize, block: &BlockLines<'_>) -> ControlFlow<()>;
}

/// Lines of a block.
pub struct BlockLines<'a> {
    block: &'a DecodedBlock,
    maps: &'a SymbolMap,
}

impl fmt::Debug for BlockLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockLines").field("start", &self.start()).finish_non_exhaustive()
    }
}

impl<'a> BlockLines<'a> {
    pub(crate) const fn new(block: &'a DecodedBlock, maps: &'a SymbolMap) -> Self {
        BlockLines { block, maps }
    }

    pub(super) const fn parts(&self) -> (&'a Decoded, &'a SymbolMap) {
        (&self.block.decoded, self.maps)
    }

    /// Returns the byte offset of the block in the trace.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.block.text.start()
    }

    /// Returns the lines. Each ends with a newline, except perhaps the trace's last.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.block.text.text()
    }

    /// Returns all lines in file order. For each line, returns its length in bytes, including the newline, and its
    /// subject. If the trace is invalid, some lines may be missing.
    pub fn lines(&self) -> impl Iterator<Item = (usize, LineOf)> + use<'a> {
        let list = &self.block.decoded.lines_of;
        let end = self.text().len();
        let ends = list.iter().skip(1).map(|(start, _)| *start as usize).chain([end]);
        let mut structural = self.block.structural.iter();
        let owners = &self.maps.owners;
        list.iter().zip(ends).map(move |((start, whose), end)| {
            let about = match *whose {
                WORDLESS => LineOf::Nobody,
                HEADER => LineOf::Header,
                STRUCTURAL => structural.next().copied().unwrap_or(LineOf::Nobody),
                strand => owners
                    .get(strand as usize)
                    .filter(|(_, container)| *container != UNKNOWN)
                    .map_or(LineOf::Nobody, |(_, container)| LineOf::Event(*container)),
            };
            (end - *start as usize, about)
        })
    }

    /// Returns the lines that are neither empty nor events of lanes, in file order. For each line, returns its offset
    /// in the block and its subject.
    pub fn other_lines(&self) -> impl Iterator<Item = (usize, LineOf)> + use<'a> {
        let mut structural = self.block.structural.iter();
        self.block.decoded.lines_of.iter().filter_map(move |(start, whose)| {
            let about = match *whose {
                HEADER => LineOf::Header,
                STRUCTURAL => structural.next().copied().unwrap_or(LineOf::Nobody),
                _ => return None,
            };
            Some((*start as usize, about))
        })
    }

    /// Calls `tell` with the values and containers that the events of each lane use, in file order within the lane.
    /// Skips values and containers that the lane's previous event also used.
    pub fn uses(&self, mut tell: impl FnMut(LaneId, Used)) {
        let decoded = &self.block.decoded;
        let mut events = decoded.events.iter();
        for (strand, count) in &decoded.strands {
            let events = events.by_ref().take(*count as usize);
            let owner = self.maps.owners.get(*strand as usize);
            let Some((lane, _)) = owner.filter(|(_, container)| *container != UNKNOWN) else {
                events.for_each(drop);
                continue;
            };
            let mut last = u64::MAX;
            for event in events {
                match event.op() {
                    Op::Event | Op::SetState | Op::PushState => {
                        if event.argument != last
                            && let Some(value) = self.maps.values.get(event.argument as usize)
                        {
                            tell(*lane, Used::Value(*value));
                        }
                        last = event.argument;
                    }
                    Op::StartLink | Op::EndLink => {
                        let link = &decoded.links[event.argument as usize];
                        if let Some(value) = self.maps.values.get(link.value as usize)
                            && u64::from(link.value) != last
                        {
                            tell(*lane, Used::Value(*value));
                        }
                        last = u64::from(link.value);
                        let end = self.maps.link_ends.get(link.end as usize);
                        if let Some(end) = end.filter(|end| **end != UNKNOWN) {
                            tell(*lane, Used::End(*end));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Passes lines to a ledger, and remembers whether it has broken.
pub(crate) struct LedgerSink<'o> {
    ledger: &'o dyn Ledger,
    refused: AtomicBool,
}

impl<'o> LedgerSink<'o> {
    pub(crate) fn new(ledger: &'o dyn Ledger) -> Self {
        LedgerSink { ledger, refused: AtomicBool::new(false) }
    }

    pub(crate) fn enter(&self, worker: usize, block: &BlockLines<'_>) {
        if self.ledger.enter(worker, block).is_break() {
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}
