//! Copies the states of a lane.

use std::convert::Infallible;

use paje_sim::{LaneView, States, Visitor};

use super::{NONE, Track};

impl Track {
    pub(super) fn new(lane: LaneView<'_>) -> Self {
        let count = lane.len() as usize;
        let track = Track {
            type_: lane.type_id(),
            start: Vec::with_capacity(count),
            end: Vec::with_capacity(count),
            value: Vec::with_capacity(count),
            parent: Vec::with_capacity(count),
            ..Track::without_states(lane.container())
        };
        let mut reader = Reader { track, open: Vec::new() };
        let Ok(()) = lane.visit(&mut reader);
        let Reader { mut track, .. } = reader;
        track.last_exit = track.latest_end();
        track
    }
}

struct Reader {
    track: Track,
    /// The states that are open, the outermost one first.
    open: Vec<u32>,
}

impl Visitor for Reader {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let Reader { track, open } = self;
        let first = track.len() as u32;
        track.start.extend_from_slice(states.start);
        track.end.extend(states.end.iter().zip(states.start).map(|(end, start)| end.max(*start)));
        track.value.extend_from_slice(states.value);
        track.parent.extend((first..).zip(states.imbrication).map(|(at, imbrication)| {
            open.truncate(*imbrication as usize);
            let parent = open.last().copied().unwrap_or(NONE);
            open.push(at);
            parent
        }));
        Ok(())
    }
}
