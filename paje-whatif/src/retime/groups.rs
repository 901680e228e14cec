//! Collectives during re-timing: which members have entered and left, and when others can leave.

use crate::graph::Graph;
use crate::plan::Plan;
use crate::settings::Shape;
use crate::shapes::{self, CollectiveModel, Relays, through};

use super::Dropped;
use super::streams::{Streams, each_in, each_out};

/// Members that resume after a member has entered or left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wakeup {
    Nobody,
    All,
    /// The children of the member at this seat.
    Below(u32),
    /// The members at these seats.
    Some(Vec<u32>),
}

/// Shifts of entering and leaving for each seat. They are NaN while unknown.
#[derive(Debug, Default)]
pub(super) struct Groups {
    enter: Vec<f64>,
    leave: Vec<f64>,
    /// Number of members that have entered, indexed by the first seat of each collective. `latest`
    /// has the latest recorded enter, and its shift in the changed run.
    entered: Vec<u32>,
    latest: Vec<(f64, f64)>,
    streams: Streams,
    /// State of the relays. It is empty if there are no relays.
    relays: Relays,
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
            relays: match graph.shapes.iter().any(|shaped| shaped.shape == Shape::Relay) {
                true => Relays::new(seats),
                false => Relays::default(),
            },
        }
    }

    pub(super) fn shaped<'g>(graph: &'g Graph<'_>, seat: u32) -> &'g CollectiveModel {
        let behind = graph.shapes.partition_point(|shaped| shaped.first_seat <= seat);
        // Series without operations have no seats. Their first seat is that of the next series.
        &graph.shapes[behind - 1]
    }

    fn recorded(
        graph: &Graph<'_>,
        shaped: &CollectiveModel,
        instance: usize,
        member: u32,
    ) -> (f64, f64) {
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
    ) -> Wakeup {
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
        let given = plan.links.get(&shaped.series).copied();
        let (each, changed) = given.unwrap_or((shaped.root_in_seconds, each_in(shaped, plan)));
        if is_last && shaped.shape == Shape::ReduceRelay && each > 0.0 {
            let (members, root) = (shaped.members, shaped.root_of(instance));
            let recorded = |member| Self::recorded(graph, shaped, instance, member).0;
            let base = through(members, root, each, recorded);
            let new = |member| recorded(member) + self.enter[first + member as usize];
            self.latest[first] = (base, through(members, root, changed, new) - base);
        }
        if shaped.shape == Shape::Relay {
            let mut free = Vec::new();
            let each = each_out(shaped, plan);
            self.relays.enter(shaped, each, (seat, member), time + shift, &mut free);
            return Wakeup::Some(free);
        }
        match shaped.shape {
            Shape::NxN | Shape::NToOne | Shape::ReduceBcast | Shape::ReduceRelay if is_last => {
                Wakeup::All
            }
            Shape::OneToN | Shape::Held if member == shaped.root_of(instance) => Wakeup::All,
            Shape::Held if is_last => Wakeup::All,
            Shape::Binomial if member == shaped.root_of(instance) => Wakeup::Below(seat),
            Shape::Scan => Wakeup::All,
            _ => Wakeup::Nobody,
        }
    }

    pub(super) fn leave(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        seat: u32,
        shift: f64,
    ) -> Wakeup {
        self.leave[seat as usize] = shift;
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        let is_tree = !matches!(shaped.shape, Shape::OneToN | Shape::Held);
        if shaped.is_stream() && is_tree && !shaped.is_free(shaped.shape, instance, member) {
            self.send_below(graph, plan, shaped, seat, member);
        }
        match shaped.shape {
            Shape::Binomial | Shape::ReduceBcast => Wakeup::Below(seat),
            _ => Wakeup::Nobody,
        }
    }

    /// Starts the message for which a member waits, if both sides are ready.
    fn send(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        shaped: &CollectiveModel,
        seat: u32,
        member: u32,
    ) {
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

    fn send_below(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        shaped: &CollectiveModel,
        seat: u32,
        member: u32,
    ) {
        let first = seat - member;
        if matches!(shaped.shape, Shape::OneToN | Shape::Held) {
            for below in (0..shaped.members).filter(|below| *below != member) {
                self.send(graph, plan, shaped, first + below, below);
            }
        } else {
            for below in shaped.below(shaped.seat(seat).0, member) {
                self.send(graph, plan, shaped, first + below, below);
            }
        }
    }

    pub(super) fn next_through(&mut self) -> Option<f64> {
        self.streams.next()
    }

    pub(super) fn complete_next(&mut self, graph: &Graph<'_>, plan: &Plan) -> Option<u32> {
        self.streams.complete_next(|first| each_out(Self::shaped(graph, first), plan))
    }

    /// Returns the seat of the root if the member leaves when all other members have completed.
    pub(super) fn waits_for_stream(graph: &Graph<'_>, seat: u32) -> Option<u32> {
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        (shaped.shape == Shape::Held).then(|| seat - member + shaped.root_of(instance))
    }

    fn is_dropped(dropped: &Dropped, seat: u32, member: u32) -> bool {
        dropped.has_operation(seat - member)
    }

    pub(super) fn is_ready(&self, graph: &Graph<'_>, dropped: &Dropped, seat: u32) -> bool {
        let shaped = Self::shaped(graph, seat);
        let (instance, member) = shaped.seat(seat);
        if Self::is_dropped(dropped, seat, member) {
            return true;
        }
        if shaped.is_stream() && shaped.parent(shaped.shape, instance, member).is_some() {
            return self.streams.is_through(seat);
        }
        if shaped.is_stream() && shaped.shape == Shape::Held {
            let first = seat - member;
            let mut others = (0..shaped.members).filter(|other| *other != member);
            return others.all(|other| self.streams.is_through(first + other));
        }
        self.missing(shaped, seat, member).is_none()
    }

    /// Returns a member for which another one waits.
    pub(super) fn missing(&self, shaped: &CollectiveModel, seat: u32, member: u32) -> Option<u32> {
        let (first, instance) = (seat - member, shaped.seat(seat).0);
        let root = shaped.root_of(instance);
        let absent = |other: &u32| self.enter[(first + other) as usize].is_nan();
        let here = |other: &u32| self.leave[(first + other) as usize].is_nan();
        let all = || {
            let all_entered = self.entered[first as usize] == shaped.members;
            if all_entered { None } else { (0..shaped.members).find(absent) }
        };
        match shaped.shape {
            Shape::NxN | Shape::ReduceRelay => all(),
            Shape::NToOne | Shape::Held if member == root => all(),
            Shape::OneToN | Shape::Held => Some(root).filter(absent),
            Shape::Relay => self.relays.missing(shaped, (seat, member)),
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

    /// Returns the time at which a member could leave in the recorded run, excluding its own
    /// overhead, and the shift of that time. Returns `None` if the member does not wait.
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
        if shaped.is_queue(instance, member) && shaped.shape != Shape::ReduceRelay {
            let (members, each, changed) =
                (shaped.members, shaped.root_in_seconds, each_in(shaped, plan));
            let new = |other: u32| enter(other) + self.enter[(first + other) as usize];
            let base = through(members, member, each, enter);
            return Some((base, through(members, member, changed, new) - base));
        }
        let waits_for_all = match shaped.shape {
            Shape::NxN | Shape::ReduceRelay => true,
            Shape::NToOne | Shape::ReduceBcast => is_root,
            Shape::Held => is_root && !shaped.is_stream(),
            _ => false,
        };
        if waits_for_all {
            return Some(self.latest[first as usize]);
        }
        let recorded = |seat: u32| shaped.through[(seat - shaped.first_seat) as usize];
        if shaped.is_stream() && shaped.parent(shaped.shape, instance, member).is_some() {
            let base = recorded(seat);
            return Some((base, self.streams.through(seat) - base));
        }
        if shaped.is_stream() && shaped.shape == Shape::Held {
            let others = (0..shaped.members).filter(|other| *other != member);
            let others = others.map(|other| self.streams.through(first + other));
            let base = recorded(seat);
            return Some((base, others.fold(f64::NEG_INFINITY, f64::max) - base));
        }
        if shaped.shape == Shape::Relay {
            let free = self.relays.free(shaped, seat)?;
            return Some((recorded(seat), free - recorded(seat)));
        }
        let base = shapes::base(shaped, shaped.shape, (instance, member), &enter, &exit);
        let own = entered(base, member);
        let shift = match shaped.shape {
            Shape::OneToN | Shape::Held => own.max(entered(base, root)),
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
