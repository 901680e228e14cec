//! Events of a block by lane, for tools that need to know which lines open and close rows.

use std::ops::ControlFlow;

use paje_parser::EntityOp;
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
pub struct LaneEvent<'a> {
    /// Start of its line, in bytes from the start of the block.
    pub start: usize,
    /// In seconds.
    pub time: f64,
    /// Effect on the lane.
    pub change: LaneChange<'a>,
}

/// Effect of an event on its lane.
#[derive(Clone, Copy, Debug)]
pub enum LaneChange<'a> {
    /// A state, a variable or an event changes.
    Entity(EntityOp),
    /// A link starts or ends.
    Link {
        /// Key without quotes.
        key: &'a [u8],
        /// Hash of the key, which no trace can foresee.
        hash: u64,
    },
}

impl<'a> LaneEvents<'a> {
    /// Returns the events in file order.
    pub fn iter(self) -> impl Iterator<Item = LaneEvent<'a>> {
        self.events.iter().map(move |event| {
            let change = match event.op() {
                Op::Event => LaneChange::Entity(EntityOp::Event),
                Op::SetState => LaneChange::Entity(EntityOp::SetState),
                Op::PushState => LaneChange::Entity(EntityOp::PushState),
                Op::PopState => LaneChange::Entity(EntityOp::PopState),
                Op::ResetState => LaneChange::Entity(EntityOp::ResetState),
                Op::SetVariable => LaneChange::Entity(EntityOp::SetVariable),
                Op::AddVariable => LaneChange::Entity(EntityOp::AddVariable),
                Op::SubVariable => LaneChange::Entity(EntityOp::SubVariable),
                Op::StartLink | Op::EndLink => {
                    let link = &self.links[event.argument as usize];
                    let key = link.raw_key.of(self.text).bare();
                    LaneChange::Link { key, hash: link.key_hash }
                }
            };
            LaneEvent { start: event.at as usize, time: event.time, change }
        })
    }
}

impl<'a> BlockLines<'a> {
    /// Returns the lanes that have events in the block, with these events.
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
    /// [`Trace::read_into_ledger`]. With one worker, blocks come in file order.
    ///
    /// # Errors
    /// As [`Trace::read_in_portions`] and [`Trace::read_into_ledger`].
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
