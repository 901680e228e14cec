//! Links, and the slices that their ends attach to.
//!
//! A link is written when both its ends are known. The slices at its start may have been written
//! long before. The formats allow this: an end of a link names a track and a time, and readers look
//! up the slice. So the writer only needs to know whether there is a slice at that time. Each track
//! remembers the intervals in which it has slices.

use std::sync::{Mutex, PoisonError};

use paje_sim::{ContainerId, LaneView, TimeRange, TimeUnit, TypeId, ValueId};
use paje_workers::Workers;

use crate::clock::{Clock, Losses};
use crate::encoder::{Encoder, FlowEnd, Slice, Track};
use crate::lanes::LaneState;

/// Maximum total number of intervals that tracks remember.
const INTERVALS: usize = 1 << 20;

/// Maximum number of links that wait until the slices at their ends are known.
const WAITING: usize = 1 << 18;

const LINKS: usize = 2048;

/// Marks an end whose time has not been converted to nanoseconds.
const UNREAD: i64 = i64::MIN;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u64,
    type_: TypeId,
    value: ValueId,
    ends: [End; 2],
}

#[derive(Clone, Copy, Debug)]
struct End {
    container: ContainerId,
    seconds: f64,
    at: i64,
}

/// Track with a slice at an end of a link, and a time within that slice.
type Held = Option<(Track, i64)>;

#[derive(Debug, Default)]
pub(crate) struct LinkQueue {
    waiting: Vec<Vec<Waiting>>,
    count: u64,
    holders: Holders,
}

#[derive(Debug, Default)]
struct Holders {
    lanes: Vec<Vec<usize>>,
    count: usize,
}

/// Links that can be written, and the slices at their ends.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    links: Vec<(Waiting, [Held; 2])>,
    /// Tracks to create for ends without a slice.
    pub(crate) missing: Vec<(ContainerId, TypeId)>,
}

#[derive(Debug, Default)]
struct Chunk {
    links: Vec<Waiting>,
    /// Number of links at the front of the queue that must be written now.
    surplus: usize,
    ready: Ready,
    losses: Losses,
}

impl LinkQueue {
    pub(crate) fn add_holder(&mut self, container: ContainerId, lane: usize) {
        let Holders { lanes, count } = &mut self.holders;
        if lanes.len() <= container.index() {
            lanes.resize(container.index() + 1, Vec::new());
        }
        lanes[container.index()].push(lane);
        *count += 1;
    }

    pub(crate) fn share(&self) -> usize {
        (INTERVALS / self.holders.count.max(1)).max(16)
    }

    pub(crate) fn add(&mut self, lane: LaneView<'_>, window: TimeRange) {
        for link in lane.links().filter(|link| window.overlaps(link.start, link.end)) {
            self.count += 1;
            let end = |container, seconds| End { container, seconds, at: UNREAD };
            let ends = [end(link.from, link.start), end(link.to, link.end)];
            let (type_, value) = (lane.type_id(), link.value);
            self.push(Waiting { number: self.count, type_, value, ends });
        }
    }

    fn push(&mut self, link: Waiting) {
        if self.waiting.last().is_none_or(|last| last.len() >= LINKS) {
            self.waiting.push(Vec::with_capacity(LINKS));
        }
        if let Some(last) = self.waiting.last_mut() {
            last.push(link);
        }
    }

    /// Removes the links that can be written now and returns them. At the end of the trace, these
    /// are all links.
    pub(crate) fn take<E: Encoder>(
        &mut self,
        encoder: &E,
        lanes: &[LaneState],
        (unit, at_end): (TimeUnit, bool),
        workers: &Workers,
        losses: &mut Losses,
    ) -> Vec<Ready> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut surplus = waiting.iter().map(Vec::len).sum::<usize>().saturating_sub(WAITING);
        let chunks = waiting.into_iter().map(|links| {
            let before = surplus;
            surplus = surplus.saturating_sub(links.len());
            Mutex::new(Chunk { links, surplus: before, ..Chunk::default() })
        });
        let chunks: Vec<Mutex<Chunk>> = chunks.collect();
        let holders = &self.holders;
        workers.run(|| {
            workers.share_out(chunks.len(), |_, number| {
                let mut chunk = chunks[number].lock().unwrap_or_else(PoisonError::into_inner);
                chunk.look(encoder, holders, lanes, (unit, at_end));
            });
        });
        let mut ready = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let chunk = chunk.into_inner().unwrap_or_else(PoisonError::into_inner);
            losses.add(&chunk.losses);
            chunk.links.into_iter().for_each(|link| self.push(link));
            ready.push(chunk.ready);
        }
        ready
    }
}

impl Chunk {
    fn look<E: Encoder>(
        &mut self,
        encoder: &E,
        holders: &Holders,
        lanes: &[LaneState],
        (unit, at_end): (TimeUnit, bool),
    ) {
        let Chunk { links, surplus, ready, losses } = self;
        let mut left = *surplus;
        links.retain_mut(|link| {
            for end in link.ends.iter_mut().filter(|end| end.at == UNREAD) {
                end.at = Clock::new(unit).read(end.seconds, E::EARLIEST, losses);
            }
            let must = left > 0;
            left = left.saturating_sub(1);
            let known = at_end || link.ends.iter().all(|end| holders.know(lanes, end));
            if !known && !must {
                return true;
            }
            let held = [0, 1].map(|end| match known {
                true => holders.holding::<E>(lanes, link, end),
                false => None,
            });
            for (end, _) in link.ends.iter().zip(held).filter(|(_, held)| held.is_none()) {
                if encoder.known_track(end.container, link.type_).is_none() {
                    ready.missing.push((end.container, link.type_));
                }
            }
            ready.links.push((*link, held));
            false
        });
    }
}

impl Holders {
    fn of(&self, container: ContainerId) -> &[usize] {
        self.lanes.get(container.index()).map_or(&[], |holders| holders)
    }

    /// Returns whether all states of the container at the time of `end` are known.
    fn know(&self, lanes: &[LaneState], end: &End) -> bool {
        let reaches = |lane: &usize| lanes[*lane].known_until.is_some_and(|it| it >= end.seconds);
        self.of(end.container).iter().all(reaches)
    }

    /// Returns a track of the container that has a slice at an end of a link. A link that starts
    /// when a state begins belongs to this state. A link that ends when a state ends belongs to
    /// that state.
    fn holding<E: Encoder>(&self, lanes: &[LaneState], link: &Waiting, end: usize) -> Held {
        let End { container, at, .. } = link.ends[end];
        let later = i64::from(!E::WRITES_BEGINNINGS);
        let times = match end {
            0 => [at + later, at, at - 1],
            _ => [at - 1, at, at + later],
        };
        // The best track is the first one with a slice at the earliest possible time in `times`.
        let mut best = None;
        let mut count = times.len();
        for lane in self.of(container) {
            let LaneState { covered, track: Some(track), .. } = &lanes[*lane] else { continue };
            let around = covered.around(at);
            let holds = |time: &i64| {
                // Readers of whole slices do not attach a link to a slice that begins at the same
                // time.
                let inside = !E::WRITES_BEGINNINGS;
                *time >= E::EARLIEST && around.has(*time, inside)
            };
            if let Some(first) = times[..count].iter().position(holds) {
                (best, count) = (Some((*track, times[first])), first);
            }
        }
        best
    }
}

impl Ready {
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// Encodes the links. All their tracks must exist.
    pub(crate) fn write<E: Encoder>(&self, encoder: &E, out: &mut Vec<u8>) {
        for (link, held) in &self.links {
            let [start, end] = [0, 1].map(|end| match held[end] {
                Some((track, at)) => Spot { track, at, is_held: true },
                None => {
                    let (End { container, at, .. }, type_) = (link.ends[end], link.type_);
                    let number = encoder.known_track(container, type_);
                    let number = number.expect("missing tracks were created before");
                    let track = Track { container, type_, number };
                    Spot { track, at, is_held: false }
                }
            });
            // A link may end before it starts. Readers expect the earlier end first.
            let (first, second) = if end.at < start.at { (end, start) } else { (start, end) };
            write_end(encoder, link, first, true, out);
            write_end(encoder, link, second, false, out);
        }
    }
}

/// Track and time at which an end of a link is drawn.
struct Spot {
    track: Track,
    at: i64,
    /// Whether the track has a slice at this time.
    is_held: bool,
}

fn write_end<E: Encoder>(
    encoder: &E,
    link: &Waiting,
    spot: Spot,
    is_first: bool,
    out: &mut Vec<u8>,
) {
    let Waiting { number, type_, value, .. } = *link;
    let Spot { track, at, is_held } = spot;
    let slice = Slice { track, value, start: at, end: at, opening: &[], closing: &[] };
    let flow = FlowEnd { link: number, type_, value, track, at, is_first };
    if !is_held && E::WRITES_BEGINNINGS {
        encoder.begin(&slice, out);
        encoder.flow(&flow, out);
        return encoder.end(&slice, out);
    }
    if !is_held {
        encoder.end(&slice, out);
    }
    encoder.flow(&flow, out);
}
