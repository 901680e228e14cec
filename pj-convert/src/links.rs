//! The ends of links, and the slices that hold them.
//!
//! A link is complete when it has both ends; where it began may be far back in the trace, and what was there
//! is written. A format says afterwards that a link begins on a track at a time, and its reader finds the slice:
//! so all that must be known is whether there was one. It is remembered when each track had a slice, as
//! intervals, which are few where one state follows the other.

use std::collections::VecDeque;

use paje_sim::{ContainerId, LaneView, TimeRange, TypeId, ValueId};

use crate::clock::{Clock, Losses};
use crate::encoder::{Encoder, Track};
use crate::lanes::LaneState;

/// So many intervals are remembered, by all tracks together.
const INTERVALS: usize = 1 << 20;

/// So many links may wait until it is known what was at their ends.
const WAITING: usize = 1 << 18;

/// A link whose ends are not written yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) type_: TypeId,
    pub(crate) value: ValueId,
    pub(crate) ends: [End; 2],
}

/// One end of a link: its start, or its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) container: ContainerId,
    seconds: f64,
    pub(crate) at: i64,
}

/// Links, in the order in which they were completed.
#[derive(Debug, Default)]
pub(crate) struct LinkQueue {
    waiting: VecDeque<Waiting>,
    count: u64,
    /// The tracks with states, by container.
    holders: Vec<Vec<usize>>,
    holder_count: usize,
}

impl LinkQueue {
    /// The states of a lane, of this number, are written.
    pub(crate) fn add_holder(&mut self, container: ContainerId, lane: usize) {
        if self.holders.len() <= container.index() {
            self.holders.resize(container.index() + 1, Vec::new());
        }
        self.holders[container.index()].push(lane);
        self.holder_count += 1;
    }

    /// How many intervals each track may remember.
    pub(crate) fn share(&self) -> usize {
        (INTERVALS / self.holder_count.max(1)).max(16)
    }

    /// Takes the links of a lane in.
    pub(crate) fn add(
        &mut self,
        lane: LaneView<'_>,
        window: TimeRange,
        earliest: i64,
        losses: &mut Losses,
    ) {
        for link in lane.links().filter(|link| window.overlaps(link.start, link.end)) {
            self.count += 1;
            let mut end = |container, seconds| {
                let at = Clock::default().read(seconds, earliest, losses);
                End { container, seconds, at }
            };
            let ends = [end(link.from, link.start), end(link.to, link.end)];
            let (type_, value) = (lane.type_id(), link.value);
            self.waiting.push_back(Waiting { number: self.count, type_, value, ends });
        }
    }

    /// The links that can be written now, each with the tracks and times of slices that hold its ends; at the
    /// end of the trace, all.
    pub(crate) fn take<E: Encoder>(
        &mut self,
        lanes: &[LaneState],
        at_end: bool,
        mut write: impl FnMut(&Waiting, [Option<(Track, i64)>; 2]),
    ) {
        let mut kept = VecDeque::new();
        let surplus = self.waiting.len().saturating_sub(WAITING);
        for (index, link) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            let known = at_end || link.ends.iter().all(|end| self.is_known(lanes, end));
            if known {
                write(
                    &link,
                    [self.holder::<E>(lanes, &link, 0), self.holder::<E>(lanes, &link, 1)],
                );
            } else if index < surplus {
                write(&link, [None, None]);
            } else {
                kept.push_back(link);
            }
        }
        self.waiting = kept;
    }

    fn holders(&self, container: ContainerId) -> &[usize] {
        self.holders.get(container.index()).map_or(&[], |holders| holders)
    }

    /// Whether it is known which states the container had.
    fn is_known(&self, lanes: &[LaneState], end: &End) -> bool {
        let reaches = |lane: &usize| lanes[*lane].known_until.is_some_and(|it| it >= end.seconds);
        self.holders(end.container).iter().all(reaches)
    }

    /// A track of the container with a slice at an end of a link, and when to look for it there. A link
    /// starts in the state that begins with it, and ends in the one that ends with it.
    fn holder<E: Encoder>(
        &self,
        lanes: &[LaneState],
        link: &Waiting,
        end: usize,
    ) -> Option<(Track, i64)> {
        let End { container, at, .. } = link.ends[end];
        let later = i64::from(!E::WRITES_BEGINNINGS);
        let times = match end {
            0 => [at + later, at, at - 1],
            _ => [at - 1, at, at + later],
        };
        times.into_iter().find_map(|time| {
            let holds = |lane: &&usize| match E::WRITES_BEGINNINGS {
                // What is at that time comes before this in the file, so that the reader knows it then.
                true => lanes[**lane].covered.has(time),
                // Of what begins at that time, nobody knows.
                false => lanes[**lane].covered.has_inside(time),
            };
            let lane = self.holders(container).iter().find(holds)?;
            (time >= E::EARLIEST).then_some((lanes[*lane].track?, time))
        })
    }
}
