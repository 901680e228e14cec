//! Tells which container each line of a trace belongs to, for who wants to take it apart.
//!
//! A replay learns for each event which container it is for. [`Trace::read_into_ledger`] passes that on,
//! block after block, in parallel, while the text is at hand.
//!
//! [`Trace::read_into_ledger`]: crate::Trace::read_into_ledger

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use paje_parser::{ByteOffset, LinkEnd};

use crate::decode::block::DecodedBlock;
use crate::decode::decoded::{Decoded, HEADER, Op, STRUCTURAL, WORDLESS};
use crate::model::UNKNOWN;
use crate::names::ids::LaneId;
use crate::names::ledger::{LineOf, LineRemedy, Used};
use crate::replay::maps::Maps;

/// Is told which container each line of a trace belongs to.
pub trait Ledger: Sync {
    /// Learns about the lines of a block. Blocks come in no fixed order, several at a time, each once;
    /// one worker tells of one block at a time. Together they are the trace, but for blocks without
    /// lines. A ledger that breaks stops the replay, and may be told of some blocks more.
    fn enter(&self, worker: usize, page: &Page<'_>) -> ControlFlow<()>;

    /// Learns what was made of the line of a damaged trace that begins at this byte, if that is not what
    /// the line says ([`Options::recover`]). Lines come in no fixed order, perhaps long after their
    /// blocks, but not two at a time.
    ///
    /// [`Options::recover`]: crate::Options::recover
    fn mend(&self, at: ByteOffset, made: LineRemedy) {
        let _ = (at, made);
    }
}

/// The lines of a block.
pub struct Page<'a> {
    block: &'a DecodedBlock,
    maps: &'a Maps,
}

impl fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("start", &self.start()).finish_non_exhaustive()
    }
}

impl<'a> Page<'a> {
    pub(crate) const fn new(block: &'a DecodedBlock, maps: &'a Maps) -> Self {
        Page { block, maps }
    }

    pub(super) const fn parts(&self) -> (&'a Decoded, &'a Maps) {
        (&self.block.decoded, self.maps)
    }

    /// Where the block begins in the trace.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.block.text.start()
    }

    /// The lines; each ends with a newline, but perhaps the trace's last.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.block.text.text()
    }

    /// Every line in file order: how many bytes it has, its newline included, and what it is about. Of
    /// an invalid trace, lines may be missing.
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

    /// Where links begin, in bytes from the block's beginning, whose lines lack their last field, the key:
    /// it is taken to be empty. Only of a damaged trace.
    pub fn keyless(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.block.decoded.keyless.iter().map(|(line, _)| *line as usize)
    }

    /// Tells what the events of each lane use, in file order within the lane; but not again what the
    /// event before has just used.
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
                            let side = match event.op() {
                                Op::StartLink => LinkEnd::Start,
                                _ => LinkEnd::End,
                            };
                            tell(*lane, Used::End(side, *end));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A ledger that is told, and whether it has broken.
pub(crate) struct Follower<'o> {
    ledger: &'o dyn Ledger,
    refused: AtomicBool,
}

impl<'o> Follower<'o> {
    pub(crate) fn new(ledger: &'o dyn Ledger) -> Self {
        Follower { ledger, refused: AtomicBool::new(false) }
    }

    pub(crate) fn enter(&self, worker: usize, page: &Page<'_>) {
        if self.ledger.enter(worker, page).is_break() {
            self.refused.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn mend(&self, at: u64, made: LineRemedy) {
        self.ledger.mend(ByteOffset(at), made);
    }

    pub(crate) fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}
