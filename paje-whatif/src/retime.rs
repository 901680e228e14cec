//! Re-timing: computes all times of a changed run.
//!
//! Each container advances until it has to wait for a message that has not arrived, or for members
//! of a collective that have not entered. Times are stored as shifts relative to the recorded
//! times, so unchanged times stay exact. A container may wait for several things. Each of them lets
//! it continue at some time plus some slack, and the latest of these times counts.

mod cursor;
mod cycle;
mod groups;
mod in_flight;
mod streams;
mod times;

use paje_analysis::tracks::Track;

use crate::graph::{Awaited, Graph};
use crate::network::Flows;
use crate::plan::Plan;
use crate::steps::{Kind, StepActs};
use crate::walk::Act;
use cursor::Cursor;
use groups::Groups;

pub use cycle::{Cycle, Dropped};
use in_flight::InFlight;
pub use times::Retimed;

pub(crate) struct Run<'g> {
    pub(crate) graph: &'g Graph<'g>,
    pub(crate) plan: &'g Plan,
    dropped: &'g mut Dropped,
    cursors: Vec<Cursor>,
    ready: Vec<u32>,
    in_flight: InFlight,
    groups: Groups,
    flows: Option<Flows<'g>>,
    keeps: bool,
    /// Whether computing takes as long as recorded.
    is_plain: bool,
    result: Retimed,
}

impl Graph<'_> {
    /// Computes the times of the run with the changes in `plan`. If `keeps`, the result has the
    /// times of every state and message.
    ///
    /// Recorded times may contradict themselves. If `mends`, the messages and collectives that do
    /// so are added to `dropped`, and nothing waits for them.
    ///
    /// # Errors
    /// Fails if containers wait for one another in a cycle, so that the changed run never ends.
    pub fn retime(
        &self,
        plan: &Plan,
        keeps: bool,
        mends: bool,
        dropped: &mut Dropped,
    ) -> Result<Retimed, Cycle> {
        let mut run = Run::new(self, plan, keeps, dropped);
        loop {
            while let Some(track) = run.ready.pop() {
                run.advance(track as usize);
            }
            if run.advance_network() {
                continue;
            }
            let Some(cycle) = run.cycle() else { break };
            if !mends || !run.mend(&cycle) {
                return Err(cycle);
            }
        }
        let mut result = run.result;
        if keeps {
            result.sent = run.in_flight.into_sent();
        }
        Ok(result)
    }
}

impl<'g> Run<'g> {
    fn new(graph: &'g Graph<'g>, plan: &'g Plan, keeps: bool, dropped: &'g mut Dropped) -> Self {
        let tracks = graph.tracks.list();
        let messages = graph.messages.list().len();
        let first = |track: &Track| track.start.first().copied();
        let cursors = tracks.iter().map(|track| Cursor::at(first(track).unwrap_or(0.0))).collect();
        let mut result = Retimed {
            is_unchanged: true,
            begin: tracks.iter().map(|track| first(track).unwrap_or(f64::NAN)).collect(),
            finish: vec![f64::NEG_INFINITY; tracks.len()],
            ..Retimed::default()
        };
        if keeps {
            result.start = tracks.iter().map(|track| track.start.clone()).collect();
            result.end = tracks.iter().map(|track| track.end.clone()).collect();
            result.received = vec![0.0; messages];
        }
        let mut in_flight = InFlight::new(messages);
        let cut = (0..).zip(&plan.cut_messages).filter(|(_, is_cut)| **is_cut);
        cut.for_each(|(message, _)| in_flight.cut(message));
        dropped.messages().for_each(|message| in_flight.drop(message));
        Run {
            graph,
            plan,
            dropped,
            cursors,
            ready: (0..tracks.len() as u32).rev().collect(),
            in_flight,
            groups: Groups::new(graph),
            flows: plan.network.as_ref().map(|network| Flows::new(network, graph)),
            keeps,
            is_plain: plan.keeps_durations(),
            result,
        }
    }

    fn advance(&mut self, at: usize) {
        let graph = self.graph;
        let (track, steps) = (&graph.tracks.list()[at], &graph.steps[at]);
        let mut cursor = self.cursors[at];
        cursor.is_blocked = false;
        while let Some(step) = steps.get(cursor.next, cursor.acts) {
            let (state, time) = (step.state, step.time);
            // If the trace closed a state too early, the steps within the state take no time.
            let seconds = (time - cursor.last).max(0.0);
            let is_cut = step.kind != Kind::Open && self.plan.is_cut(at, state);
            let acts = if is_cut { StepActs::NONE } else { step.acts };
            let shift = if step.kind == Kind::Open {
                self.own(at, cursor.innermost(), cursor.shift, seconds)
            } else {
                if !acts.iter().all(|act| self.is_ready(act)) {
                    cursor.is_blocked = true;
                    break;
                }
                let slack = self.slack(at, acts.iter());
                let innermost = cursor.innermost();
                let mut shift = self.own(at, innermost, cursor.shift, seconds - slack) - slack;
                if step.kind == Kind::Close {
                    shift += self.plan.added(at, state);
                }
                for act in acts.iter() {
                    shift = self.wait(at, act, (time, shift), innermost);
                }
                cursor.not_before(time, shift)
            };
            cursor.take(&step, track, shift);
            self.result.is_unchanged &= shift == 0.0;
            for act in acts.iter() {
                self.act(act, time, shift);
            }
            match step.kind {
                Kind::Open if self.keeps => self.result.start[at][state as usize] = time + shift,
                Kind::Close => {
                    let end = time + shift;
                    if self.keeps {
                        self.result.end[at][state as usize] = end;
                    }
                    if track.parent(state as usize).is_none() {
                        self.result.finish[at] = self.result.finish[at].max(end);
                    }
                }
                _ => {}
            }
        }
        self.cursors[at] = cursor;
    }

    /// Returns the shift after some seconds of computing, or after some seconds between states.
    fn own(&self, at: usize, state: Option<u32>, shift: f64, seconds: f64) -> f64 {
        if self.is_plain {
            return shift;
        }
        let factor = self.plan.factor(self.graph, at, state, seconds);
        if factor == 1.0 { shift } else { shift + (factor - 1.0) * seconds }
    }

    /// Returns the seconds of slack before these acts, or 0 if the message that ended the wait was
    /// dropped.
    fn slack(&self, at: usize, acts: impl Iterator<Item = Act>) -> f64 {
        let mut slack = 0.0;
        for act in acts {
            match act {
                Act::Wait(number) => slack = self.graph.waits[at][number as usize],
                Act::Receive(message) if self.dropped.has_message(message) => return 0.0,
                Act::Await(number) if self.dropped.has_message(self.awaited(number).message) => {
                    return 0.0;
                }
                _ => {}
            }
        }
        slack
    }

    fn awaited(&self, number: u32) -> Awaited {
        self.graph.awaited[number as usize]
    }

    /// Returns whether the message is not a rendezvous in the changed run.
    fn is_eager(&self, message: u32) -> bool {
        !self.graph.transfers[message as usize].is_rendezvous
    }

    fn is_ready(&self, act: Act) -> bool {
        match act {
            Act::Receive(message) => self.in_flight.is_ready(message),
            Act::Await(number) => {
                let message = self.awaited(number).message;
                self.in_flight.is_ready(message) || self.is_eager(message)
            }
            Act::Leave(seat) => self.groups.is_ready(self.graph, self.dropped, seat),
            _ => true,
        }
    }

    /// Returns the shift after an act that waits.
    fn wait(&self, at: usize, act: Act, (time, shift): (f64, f64), state: Option<u32>) -> f64 {
        match act {
            Act::Receive(message) => {
                let arrived = self.in_flight.arrived(message);
                let slack = || self.graph.transfers[message as usize].slack;
                arrived.map_or(shift, |arrived| shift.max(arrived - slack()))
            }
            Act::Await(number) => {
                let Awaited { message, slack } = self.awaited(number);
                let arrived = self.in_flight.arrived(message).filter(|_| !self.is_eager(message));
                arrived.map_or(shift, |arrived| shift.max(arrived - slack))
            }
            Act::Leave(seat) => match self.groups.base(self.graph, self.plan, self.dropped, seat) {
                None => shift,
                Some((base, base_shift)) => {
                    let rest = time - base;
                    let factor = self.plan.factor(self.graph, at, state, rest);
                    let operation = self.plan.operations.get(seat as usize);
                    let added = operation.map_or(0.0, |operation| operation.added(rest));
                    match factor == 1.0 && added == 0.0 {
                        true => base_shift,
                        false => base_shift + (factor - 1.0) * rest + factor * added,
                    }
                }
            },
            _ => shift,
        }
    }

    fn act(&mut self, act: Act, time: f64, shift: f64) {
        match act {
            Act::Post(message) => {
                if let Some((sent, posted)) = self.in_flight.post(message, shift)
                    && !self.graph.transfers[message as usize].lag.is_nan()
                {
                    self.start(message, sent, Some(posted));
                }
            }
            Act::Send(message) => {
                let waits = !self.graph.transfers[message as usize].lag.is_nan();
                if let Some((sent, posted)) = self.in_flight.send(message, shift, waits) {
                    self.start(message, sent, posted);
                }
            }
            Act::Enter(seat) => {
                let woken = self.groups.enter(self.graph, self.plan, seat, time, shift);
                self.wake_members(seat, &woken);
            }
            Act::Leave(seat) => {
                let woken = self.groups.leave(self.graph, self.plan, seat, shift);
                self.wake_members(seat, &woken);
            }
            Act::Receive(message) if self.keeps => self.result.received[message as usize] = shift,
            _ => {}
        }
    }

    fn start(&mut self, message: u32, sent: f64, posted: Option<f64>) {
        let transfer = &self.graph.transfers[message as usize];
        let shift = match posted.filter(|_| !transfer.lag.is_nan()) {
            None => sent,
            Some(posted) => (sent - transfer.lag.max(0.0)).max(posted - (-transfer.lag).max(0.0)),
        };
        if let Some(flows) = &mut self.flows
            && flows.start(message, transfer.start + shift)
        {
            return;
        }
        self.arrive(message, shift);
    }

    fn arrive(&mut self, message: u32, shift: f64) {
        self.in_flight.arrive(message, shift);
        let transfer = &self.graph.transfers[message as usize];
        self.wake(transfer.to as usize);
        if transfer.is_rendezvous {
            self.wake(self.graph.messages.list()[message as usize].from as usize);
        }
    }

    /// Advances time in the network until messages arrive. Returns whether any arrived.
    fn advance_network(&mut self) -> bool {
        let through = self.groups.next_through();
        let arrived = match &mut self.flows {
            Some(flows) => flows.next_arrivals(through.unwrap_or(f64::INFINITY)),
            None => Vec::new(),
        };
        for (message, time) in &arrived {
            let transfer = &self.graph.transfers[*message as usize];
            self.arrive(*message, time - transfer.arrival());
        }
        if !arrived.is_empty() || through.is_none() {
            return !arrived.is_empty();
        }
        if let Some(seat) = self.groups.complete_next(self.graph, self.plan) {
            self.wake_seat(seat);
            if let Some(root) = Groups::waits_for_stream(self.graph, seat) {
                self.wake_seat(root);
            }
        }
        true
    }

    fn wake(&mut self, track: usize) {
        if std::mem::take(&mut self.cursors[track].is_blocked) {
            self.ready.push(track as u32);
        }
    }

    fn wake_seat(&mut self, seat: u32) {
        let shaped = Groups::shaped(self.graph, seat);
        let series = &self.graph.collectives.series[shaped.series];
        let (_, member) = shaped.seat(seat);
        self.wake(self.graph.collectives.members(series)[member as usize] as usize);
    }

    fn wake_members(&mut self, seat: u32, members: &groups::Wakeup) {
        let shaped = Groups::shaped(self.graph, seat);
        let series = &self.graph.collectives.series[shaped.series];
        let group = self.graph.collectives.members(series);
        match members {
            groups::Wakeup::Nobody => {}
            groups::Wakeup::Some(seats) => seats.iter().for_each(|seat| self.wake_seat(*seat)),
            groups::Wakeup::All => group.iter().for_each(|track| self.wake(*track as usize)),
            groups::Wakeup::Below(seat) => {
                let (instance, member) = shaped.seat(*seat);
                for below in shaped.below(instance, member) {
                    self.wake(group[below as usize] as usize);
                }
            }
        }
    }
}
