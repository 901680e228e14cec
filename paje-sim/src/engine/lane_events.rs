//! Events of a block by lane, for tools that need to know which lines open and close rows.

use std::ops::{ControlFlow, Range};

use paje_parser::EntityOp;
use paje_parser::token::Quoting;
use paje_workers::Workers;

use crate::engine::ledger::{BlockLines, Ledger};
use crate::engine::portions::Portions;
use crate::engine::replay;
use crate::trace::Trace;
use crate::trace::portion::Portion;
use paje_decode::decode::decoded::{self, LinkEvent, Op};
use paje_decode::input::source::Source;
use paje_model::model::UNKNOWN;
use paje_model::names::error::Error;
use paje_model::names::ids::{ContainerId, LaneId};
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;

/// Events of one lane in a block.
#[derive(Clone, Copy, Debug)]
pub struct LaneEvents<'a> {
    /// Number of the lane.
    pub lane: LaneId,
    /// Container of the lane.
    pub container: ContainerId,
    events: &'a [decoded::LaneEvent],
    links: &'a [LinkEvent],
    text: &'a [u8],
}

/// An event of a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneEvent {
    /// Start of the event's line, as an offset in the block.
    pub start: usize,
    /// Time in seconds.
    pub time: f64,
    /// Effect on the lane.
    pub change: LaneChange,
}

/// Effect of an event on its lane.
#[derive(Clone, Copy, Debug)]
pub enum LaneChange {
    /// A state or an event changes.
    Entity(EntityOp),
    /// A variable is changed by this number, or set to it.
    Variable(EntityOp, f64),
    /// A link starts or ends.
    Link {
        /// Start and end of the key without quotes, as offsets in the block.
        key: (usize, usize),
        /// Hash of the key, with a seed that the author of a trace cannot know.
        hash: u64,
    },
}

impl<'a> LaneEvents<'a> {
    /// Returns the events in file order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = LaneEvent> + use<'a> {
        self.events.iter().map(move |event| {
            let number = f64::from_bits(event.argument);
            let change = match event.op() {
                Op::Event => LaneChange::Entity(EntityOp::Event),
                Op::SetState => LaneChange::Entity(EntityOp::SetState),
                Op::PushState => LaneChange::Entity(EntityOp::PushState),
                Op::PopState => LaneChange::Entity(EntityOp::PopState),
                Op::ResetState => LaneChange::Entity(EntityOp::ResetState),
                Op::SetVariable => LaneChange::Variable(EntityOp::SetVariable, number),
                Op::AddVariable => LaneChange::Variable(EntityOp::AddVariable, number),
                Op::SubVariable => LaneChange::Variable(EntityOp::SubVariable, number),
                Op::StartLink | Op::EndLink => {
                    let LinkEvent { raw_key, key_hash, .. } = self.links[event.argument as usize];
                    let quotes = usize::from(raw_key.of(self.text).quoting() != Quoting::Bare);
                    let start = raw_key.start as usize + quotes;
                    let len = raw_key.of(self.text).bare().len();
                    LaneChange::Link { key: (start, start + len), hash: key_hash }
                }
            };
            LaneEvent { start: event.at as usize, time: event.time, change }
        })
    }

    /// Returns the events whose lines begin in this byte range of the block.
    #[must_use]
    pub fn within(self, bytes: &Range<usize>) -> Self {
        let before = |byte: usize| self.events.partition_point(|event| (event.at as usize) < byte);
        let is_all = |events: &[decoded::LaneEvent]| match events {
            [first, .., last] => bytes.start <= first.at as usize && (last.at as usize) < bytes.end,
            _ => false,
        };
        match is_all(self.events) {
            true => self,
            false => {
                let (first, end) = (before(bytes.start), before(bytes.end));
                LaneEvents { events: &self.events[first..end.max(first)], ..self }
            }
        }
    }

    /// Returns the earliest and the latest time in seconds. If there are no events, returns infinity and minus
    /// infinity.
    #[must_use]
    pub fn times(self) -> (f64, f64) {
        self.events.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), event| {
            (first.min(event.time), last.max(event.time))
        })
    }

    /// Returns whether there are no events.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.events.is_empty()
    }
}

impl<'a> BlockLines<'a> {
    /// Returns the lanes that have events in the block, with these events. A lane of links may come
    /// several times, with different keys.
    pub fn lane_events(&self) -> impl Iterator<Item = LaneEvents<'a>> + use<'a> {
        let (decoded, maps) = self.parts();
        let (links, text) = (&decoded.links[..], self.text());
        let mut rest = &decoded.events[..];
        decoded.strands.iter().filter_map(move |(strand, count)| {
            let (events, others) = rest.split_at(*count as usize);
            rest = others;
            let (lane, container) = *maps.owners.get(*strand as usize)?;
            let events = LaneEvents { lane, container, events, links, text };
            (container != UNKNOWN).then_some(events)
        })
    }
}

impl Trace {
    /// Replays a trace like [`Trace::read_in_portions`], and passes its blocks to `ledger` like
    /// [`Trace::read_into_ledger`]. With one worker, the ledger receives the blocks in file order.
    ///
    /// # Errors
    /// Fails like [`Trace::read_in_portions`] and [`Trace::read_into_ledger`].
    #[doc(hidden)]
    pub fn read_in_portions_into_ledger(
        source: Source<'_>,
        options: &Options,
        workers: &Workers,
        bytes: u64,
        show: &mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send),
        ledger: &dyn Ledger,
    ) -> Result<Trace, Error> {
        let portions = Portions::new(bytes, show);
        replay(source, options, workers, &Progress::default(), Some(portions), Some(ledger))
    }
}
