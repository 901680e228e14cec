//! Events of a block by lane, for tools that need to know which lines open and close rows.

use std::ops::ControlFlow;

use paje_parser::{EntityOp, LinkEnd};
use paje_workers::Workers;

use crate::engine::ledger::{BlockLines, Ledger};
use crate::engine::portions::Portions;
use crate::engine::replay;
use crate::trace::Trace;
use crate::trace::portion::Portion;
use paje_decode::decode::decoded::Op;
use paje_decode::input::source::Source;
use paje_model::model::UNKNOWN;
use paje_model::names::error::Error;
use paje_model::names::ids::{ContainerId, LaneId};
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;

/// An event of a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneEvent<'a> {
    /// The lane and its container.
    pub lane: (LaneId, ContainerId),
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
    /// A link with this key, without quotes, starts or ends.
    Link(LinkEnd, &'a [u8]),
}

impl<'a> BlockLines<'a> {
    /// Visits the events of the block's lanes, one lane after the other, in file order within a lane.
    pub fn lane_events(&self, mut visit: impl FnMut(LaneEvent<'a>)) {
        let (decoded, maps) = self.parts();
        let text = self.text();
        let mut events = decoded.events.iter();
        for (strand, count) in &decoded.strands {
            let events = events.by_ref().take(*count as usize);
            let owner = maps.owners.get(*strand as usize);
            let Some(lane) = owner.filter(|(_, container)| *container != UNKNOWN) else {
                events.for_each(drop);
                continue;
            };
            for event in events {
                let link = |end| {
                    let link = &decoded.links[event.argument as usize];
                    LaneChange::Link(end, link.raw_key.of(text).bare())
                };
                let change = match event.op() {
                    Op::Event => LaneChange::Entity(EntityOp::Event),
                    Op::SetState => LaneChange::Entity(EntityOp::SetState),
                    Op::PushState => LaneChange::Entity(EntityOp::PushState),
                    Op::PopState => LaneChange::Entity(EntityOp::PopState),
                    Op::ResetState => LaneChange::Entity(EntityOp::ResetState),
                    Op::SetVariable => LaneChange::Entity(EntityOp::SetVariable),
                    Op::AddVariable => LaneChange::Entity(EntityOp::AddVariable),
                    Op::SubVariable => LaneChange::Entity(EntityOp::SubVariable),
                    Op::StartLink => link(LinkEnd::Start),
                    Op::EndLink => link(LinkEnd::End),
                };
                visit(LaneEvent {
                    lane: *lane,
                    start: event.at as usize,
                    time: event.time,
                    change,
                });
            }
        }
    }
}

impl Trace {
    /// Replays a trace as [`Trace::read_in_portions`] does, and passes its blocks to `ledger` as
    /// [`Trace::read_into_ledger`] does. With one worker, blocks come in file order.
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
