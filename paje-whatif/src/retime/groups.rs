//! Operations of groups in a changed run: who has entered and left, and when that lets others leave.

use crate::graph::Graph;
use crate::plan::Plan;
use crate::settings::Shape;
use crate::shapes::{self, Shaped, through};

use super::Dropped;
use super::streams::{Streams, each_out};

/// Who may go on when a member has entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    Nobody,
    All,
    /// Those directly below the member with this seat in the tree.
    Below(u32),
}

/// By seat: the shifts of entering and leaving; not a number while they are not known.
#[derive(Debug, Default)]
pub(super) struct Groups {
    enter: Vec<f64>,
    leave: Vec<f64>,
    /// By the first seat of each operation: how many have entered; the latest recorded enter; and by how much the latest
    /// enter in the changed run is later.
    entered: Vec<u32>,
    latest: Vec<(f64, f64)>,
    streams: Streams,
}

impl Groups {
    pub(super) fn new(graph: &Graph<'_>) -> Self {
        let seats = graph.shapes.last().map_or(0, |last| {
            let series = &graph.collectives.series[last.series];
            last.first_seat as usize + series.len() * last.members as usize
        });
        let operations: usize = seats;
        Groups {
            enter: vec![f64::NAN; seats],
            leave: vec![f64::NAN; seats],
            entered: vec![0; operations],
            latest: vec![(f64::NAN, f64::NEG_INFINITY); operations],
            streams: Streams::new(graph, seats),
        }
    }

    pub(super) fn shaped<'g>(graph: &'g Graph<'_>, seat: u32) -> &'g Shaped {
        let behind = graph.shapes.partition_point(|shaped| shaped.first_seat <= seat);
        // Series without operations have no seats, and share the number of their first one.
        &graph.shapes[behind - 1]
    }

    /// When a member entered and left in the recorded run.
    fn recorded(graph: &Graph<'_>, shaped: &Shaped, instance: usize, member: u32) -> (f64, f64) {
        let series = &graph.collectives.series[shaped.series];
        let track = graph.collectives.members(series)[member as usize];
        let state = series.operation(instance)[member as usize] as usize;
        let track = &graph.tracks.list()[track as usize];
        (track.start[state], track.end[state])
    }

    pub(super) fn enter(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        seat: u32,
        time: f64,
        shift: f64,
    ) -> Woken {
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        let first = (seat - member) as usize;
        self.enter[seat as usize] = shift;
        if self.entered[first] == 0 {
            let enter = |member| Self::recorded(graph, shaped, instance, member).0;
            let latest = (0..shaped.members).map(enter).fold(f64::NEG_INFINITY, f64::max);
            self.latest[first].0 = latest;
        }
        let (recorded, latest) = self.latest[first];
        self.latest[first].1 = latest.max(shift - (recorded - time));
        self.entered[first] += 1;
        let is_last = self.entered[first] == shaped.members;
        if shaped.is_stream() {
            self.send(graph, plan, shaped, seat, member);
            if shaped.is_free(shaped.shape, instance, member) {
                self.send_below(graph, plan, shaped, seat, member);
            }
        }
        match shaped.shape {
            Shape::NxN | Shape::NToOne | Shape::ReduceBcast if is_last => Woken::All,
            Shape::OneToN if member == shaped.root_of(instance) => Woken::All,
            Shape::Binomial if member == shaped.root_of(instance) => Woken::Below(seat),
            Shape::Scan => Woken::All,
            _ => Woken::Nobody,
        }
    }

    pub(super) fn leave(&mut self, graph: &Graph<'_>, plan: &Plan, seat: u32, shift: f64) -> Woken {
        self.leave[seat as usize] = shift;
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        let is_tree = shaped.shape != Shape::OneToN;
        if shaped.is_stream() && is_tree && !shaped.is_free(shaped.shape, instance, member) {
            self.send_below(graph, plan, shaped, seat, member);
        }
        match shaped.shape {
            Shape::Binomial | Shape::ReduceBcast => Woken::Below(seat),
            _ => Woken::Nobody,
        }
    }

    /// Puts what a member waits for on its way, if both sides are there.
    fn send(&mut self, graph: &Graph<'_>, plan: &Plan, shaped: &Shaped, seat: u32, member: u32) {
        let (instance, _) = shaped.seat(seat);
        let Some(parent) = shaped.parent(shaped.shape, instance, member) else { return };
        let first = seat - member;
        let is_free = shaped.is_free(shaped.shape, instance, parent);
        let (enter, exit) = Self::recorded(graph, shaped, instance, parent);
        let free = match is_free {
            true => enter + self.enter[(first + parent) as usize],
            false => exit + self.leave[(first + parent) as usize],
        };
        let own = Self::recorded(graph, shaped, instance, member).0 + self.enter[seat as usize];
        if !free.is_nan() && !own.is_nan() {
            let each = each_out(shaped, plan);
            self.streams.add((shaped.first_seat, parent), each, own.max(free), seat);
        }
    }

    /// The same for those below a member.
    fn send_below(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        shaped: &Shaped,
        seat: u32,
        member: u32,
    ) {
        let first = seat - member;
        if shaped.shape == Shape::OneToN {
            for below in (0..shaped.members).filter(|below| *below != member) {
                self.send(graph, plan, shaped, first + below, below);
            }
        } else {
            for below in shaped.below(shaped.seat(seat).0, member) {
                self.send(graph, plan, shaped, first + below, below);
            }
        }
    }

    /// When the next message is through that shares the link out of a member, if there is one.
    pub(super) fn next_through(&mut self) -> Option<f64> {
        self.streams.next()
    }

    /// Lets that message through; gives back the seat of its receiver.
    pub(super) fn let_through(&mut self, graph: &Graph<'_>, plan: &Plan) -> Option<u32> {
        self.streams.let_through(|first| each_out(Self::shaped(graph, first), plan))
    }

    fn is_dropped(dropped: &Dropped, seat: u32, member: u32) -> bool {
        dropped.has_operation(seat - member)
    }

    /// True if a member can leave.
    pub(super) fn is_ready(&self, graph: &Graph<'_>, dropped: &Dropped, seat: u32) -> bool {
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        if shaped.is_stream() && shaped.parent(shaped.shape, instance, member).is_some() {
            return Self::is_dropped(dropped, seat, member) || self.streams.is_through(seat);
        }
        Self::is_dropped(dropped, seat, member) || self.missing(shaped, seat, member).is_none()
    }

    /// A member that another one waits for.
    pub(super) fn missing(&self, shaped: &Shaped, seat: u32, member: u32) -> Option<u32> {
        let (first, instance) = (seat - member, shaped.seat(seat).0);
        let root = shaped.root_of(instance);
        let absent = |other: &u32| self.enter[(first + other) as usize].is_nan();
        let here = |other: &u32| self.leave[(first + other) as usize].is_nan();
        let all = || {
            let all_entered = self.entered[first as usize] == shaped.members;
            if all_entered { None } else { (0..shaped.members).find(absent) }
        };
        match shaped.shape {
            Shape::NxN => all(),
            Shape::NToOne if member == root => all(),
            Shape::OneToN => Some(root).filter(absent),
            Shape::Binomial | Shape::ReduceBcast => match shaped.above(instance, member) {
                Some(above) if above == root && shaped.shape == Shape::Binomial => {
                    Some(above).filter(absent)
                }
                Some(above) => Some(above).filter(here),
                None if shaped.shape == Shape::ReduceBcast => all(),
                None => None,
            },
            Shape::Scan => (0..member).find(absent),
            Shape::NToOne | Shape::Local => None,
        }
    }

    /// When a member could leave in the recorded run, were it not for its own doing, and by how much later that is now;
    /// `None` if it waits for nobody.
    pub(super) fn base(
        &self,
        graph: &Graph<'_>,
        plan: &Plan,
        dropped: &Dropped,
        seat: u32,
    ) -> Option<(f64, f64)> {
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        if Self::is_dropped(dropped, seat, member) {
            return None;
        }
        let first = seat - member;
        let enter = |other: u32| Self::recorded(graph, shaped, instance, other).0;
        let exit = |other: u32| Self::recorded(graph, shaped, instance, other).1;
        let entered =
            |base: f64, other: u32| self.enter[(first + other) as usize] - (base - enter(other));
        let left =
            |base: f64, other: u32| self.leave[(first + other) as usize] - (base - exit(other));
        let root = shaped.root_of(instance);
        let (is_root, is_tree) = (member == root, shaped.shape == Shape::Binomial);
        if shaped.is_queue(instance, member) {
            let (members, each) = (shaped.members, shaped.each);
            let changed = each * plan.queues.get(shaped.series).copied().unwrap_or(1.0);
            let new = |other: u32| enter(other) + self.enter[(first + other) as usize];
            let base = through(members, member, each, enter);
            return Some((base, through(members, member, changed, new) - base));
        }
        let waits_for_all = match shaped.shape {
            Shape::NxN => true,
            Shape::NToOne | Shape::ReduceBcast => is_root,
            _ => false,
        };
        if waits_for_all {
            return Some(self.latest[first as usize]);
        }
        if shaped.is_stream() && shaped.parent(shaped.shape, instance, member).is_some() {
            let base = shaped.through[(seat - shaped.first_seat) as usize];
            return Some((base, self.streams.through(seat) - base));
        }
        let base = shapes::base(shaped, shaped.shape, (instance, member), &enter, &exit);
        let own = entered(base, member);
        let shift = match shaped.shape {
            Shape::OneToN => own.max(entered(base, root)),
            Shape::Binomial | Shape::ReduceBcast => match shaped.above(instance, member) {
                Some(above) if above == root && is_tree => own.max(entered(base, above)),
                Some(above) => own.max(left(base, above)),
                None => own,
            },
            Shape::Scan => (0..member).map(|other| entered(base, other)).fold(own, f64::max),
            _ => return None,
        };
        Some((base, shift))
    }
}
