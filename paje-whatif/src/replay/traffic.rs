//! Messages and collectives under way.

use std::sync::Arc;

use paje_comm::Group;
use rustc_hash::FxHashMap;

use crate::costs::Costs;
use crate::flows::{Flow, Flows};
use crate::graph::Graph;
use crate::operation::{Next, Operation, Travel};
use crate::schedule::Schedule;

pub(super) struct Traffic<'g> {
    graph: &'g Graph<'g>,
    costs: &'g Costs,
    /// Times in seconds at which each message was sent, its receiver was ready, and it arrived.
    /// They are NaN until then. A message for which nothing waits has arrived before all times.
    pub(super) sent: Vec<f64>,
    pub(super) posted: Vec<f64>,
    pub(super) arrived: Vec<f64>,
    /// For each seat, the time at which the member may leave, or NaN if it is not known yet.
    pub(super) done: Vec<f64>,
    /// Open operations, by the number of their first seat.
    running: FxHashMap<u32, (Operation, u32)>,
    schedules: FxHashMap<(usize, u32), Arc<Schedule>>,
    flows: Flows,
    /// Whether each arrival is known when its message starts. This is so if messages share no links,
    /// and no rank takes the message that arrives first.
    is_direct: bool,
    next: Next,
    arrivals: Vec<(u64, f64)>,
    /// Ranks that may continue.
    pub(super) woken: Vec<u32>,
}

/// Flag that marks the number of a flow as part of a collective.
const GROUP: u64 = 1 << 63;
const MESSAGE_BITS: u32 = 31;

impl<'g> Traffic<'g> {
    pub(super) fn new(graph: &'g Graph<'g>, costs: &'g Costs) -> Self {
        let messages = graph.messages().list().len();
        Traffic {
            graph,
            costs,
            sent: vec![f64::NAN; messages],
            posted: vec![f64::NAN; messages],
            arrived: vec![f64::NAN; messages],
            done: vec![f64::NAN; graph.run.groups.seats as usize],
            running: FxHashMap::default(),
            schedules: FxHashMap::default(),
            flows: Flows::new(costs.shares, costs.cross, graph.tracks().list().len()),
            is_direct: !costs.shares && graph.run.sets.is_empty() && graph.run.polls.is_empty(),
            next: Next::default(),
            arrivals: Vec::new(),
            woken: Vec::new(),
        }
    }

    pub(super) fn is_rendezvous(&self, message: u32) -> bool {
        let at = message as usize;
        self.costs.rendezvous.get(at).copied().unwrap_or_else(|| self.graph.is_rendezvous(message))
    }

    pub(super) fn send(&mut self, message: u32, time: f64) {
        self.sent[message as usize] = time;
        self.start(message);
    }

    pub(super) fn post(&mut self, message: u32, time: f64) {
        self.posted[message as usize] = time;
        if self.graph.needs_post(self.is_rendezvous(message)) {
            self.start(message);
        }
    }

    fn start(&mut self, message: u32) {
        let at = message as usize;
        let (sent, posted) = (self.sent[at], self.posted[at]);
        let needs_post = self.graph.needs_post(self.is_rendezvous(message));
        if sent.is_nan() || needs_post && posted.is_nan() || !self.arrived[at].is_nan() {
            return;
        }
        let start = if needs_post { sent.max(posted) } else { sent };
        let (id, cost) = (u64::from(message), self.costs.of_message(at));
        if self.is_direct {
            return self.arrive(message, start + cost.0 + cost.1);
        }
        let ends = &self.graph.messages().list()[at];
        let [from, to] = [ends.from, ends.to].map(|rank| self.graph.run.facts.hosts.host(rank));
        self.flows.start(Flow { id, from, to, cost }, start);
    }

    fn arrive(&mut self, message: u32, time: f64) {
        self.arrived[message as usize] = time;
        let ends = &self.graph.messages().list()[message as usize];
        self.woken.push(ends.to);
        if self.is_rendezvous(message) {
            self.woken.push(ends.from);
        }
    }

    /// Lets a member enter a collective.
    pub(super) fn enter(&mut self, seat: u32, time: f64) {
        let at = self.graph.run.groups.of_seat(seat);
        let group = &self.graph.run.groups.list[at];
        let (number, member) = group.seat(seat);
        let (graph, costs, schedules) = (self.graph, self.costs, &mut self.schedules);
        let (operation, _) = self.running.entry(seat - member).or_insert_with(|| {
            let model = &graph.shapes()[at];
            let root = model.root_of(group, number);
            let schedule = schedules.entry((at, root)).or_insert_with(|| {
                Arc::new(Schedule::new(model.shape, group.class, group.members(), root))
            });
            let travel = Travel {
                cost: costs.of_operation(at, number),
                needs_post: model.needs_post,
                is_rendezvous: model.is_rendezvous,
            };
            (Operation::new(Arc::clone(schedule), travel), group.members())
        });
        operation.enter(member, time, &mut self.next);
        self.follow(group, seat - member);
    }

    /// Starts the messages that follow from an event, and records the members that are done.
    fn follow(&mut self, group: &Group, first: u32) {
        let mut next = std::mem::take(&mut self.next);
        let Some((operation, left)) = self.running.get_mut(&first) else { return };
        let mut started = 0;
        while let Some((message, time)) = next.starts.get(started).copied() {
            started += 1;
            let (from, to) = operation.ends(message);
            let id = GROUP | (u64::from(first) << MESSAGE_BITS) | u64::from(message);
            let [from, to] = [from, to].map(|member| group.tracks[member as usize]);
            let cost = match self.graph.is_local(from, to) {
                true => (0.0, 0.0),
                false => operation.cost(message),
            };
            if self.is_direct {
                operation.arrive(message, time + cost.0 + cost.1, &mut next);
                continue;
            }
            let [from, to] = [from, to].map(|rank| self.graph.run.facts.hosts.host(rank));
            self.flows.start(Flow { id, from, to, cost }, time);
        }
        next.starts.clear();
        for (member, time) in next.done.drain(..) {
            self.done[(first + member) as usize] = time;
            self.woken.push(group.tracks[member as usize]);
            *left -= 1;
        }
        if *left == 0 {
            self.running.remove(&first);
        }
        self.next = next;
    }

    /// Advances the network until a message arrives, but not beyond a given time. Returns whether a
    /// message arrived.
    pub(super) fn advance(&mut self, until: f64) -> bool {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.flows.next_arrivals(until, &mut arrivals);
        for (id, time) in &arrivals {
            if id & GROUP == 0 {
                self.arrive(*id as u32, *time);
                continue;
            }
            let first = ((id & !GROUP) >> MESSAGE_BITS) as u32;
            let message = (id & ((1 << MESSAGE_BITS) - 1)) as u32;
            let Some((operation, _)) = self.running.get_mut(&first) else { continue };
            operation.arrive(message, *time, &mut self.next);
            let group = &self.graph.run.groups.list[self.graph.run.groups.of_seat(first)];
            self.follow(group, first);
        }
        let is_any = !arrivals.is_empty();
        self.arrivals = arrivals;
        is_any
    }

    /// Returns whether no message is under way.
    pub(super) fn is_idle(&mut self) -> bool {
        self.flows.is_idle()
    }

    /// Returns the track of a member that has not entered the operation of a seat.
    pub(super) fn absent(&self, seat: u32) -> Option<u32> {
        let group = &self.graph.run.groups.list[self.graph.run.groups.of_seat(seat)];
        let (_, member) = group.seat(seat);
        let (operation, _) = self.running.get(&(seat - member))?;
        operation.absent().map(|absent| group.tracks[absent as usize])
    }
}
