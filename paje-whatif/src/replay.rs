//! Re-timing, which computes all times of a changed run.
//!
//! Each rank continues until it has to wait in a collective or for a message that has not arrived.
//! For a step in which a rank waited, the model determines how much earlier or later than recorded
//! the step ends. The part of the time that the model does not explain stays the same. Therefore,
//! unchanged times stay exact.

mod cycle;
mod polling;
mod recorded;
mod traffic;

use paje_comm::tracks::Track;
use paje_comm::{Act, Kind, Step, StepActs};

use crate::graph::Graph;
use crate::plan::Plan;
pub use cycle::Cycle;
use polling::{Polling, Tested};
pub(crate) use recorded::{Explained, explain, recorded};
use traffic::Traffic;

/// Times of a changed run.
#[derive(Clone, Debug, Default)]
pub struct Retimed {
    /// Whether every time is as recorded.
    pub(crate) is_unchanged: bool,
    /// Start of the first state of each track, in seconds.
    pub begin: Vec<f64>,
    /// End of the last state of each track, in seconds.
    pub finish: Vec<f64>,
    /// Start of each state by track. Empty if the times of states were not requested.
    pub start: Vec<Vec<f64>>,
    /// End of each state by track. Empty if the times of states were not requested.
    pub end: Vec<Vec<f64>>,
    /// Shift of the start of each message. Empty if the times of messages were not requested.
    pub sent: Vec<f64>,
    /// Shift of the end of each message. Empty if the times of messages were not requested.
    pub received: Vec<f64>,
    /// Number of messages and collectives for which nothing waits because of contradictory recorded
    /// times.
    pub dropped: (usize, usize),
    /// How far the model of the recorded run is from the record: the sum of the differences of all
    /// waits, divided by the time of all tracks. It is computed if the times were requested.
    pub misfit: f64,
}

impl Retimed {
    /// Returns whether all times are as recorded and nothing is removed.
    #[must_use]
    pub fn is_recorded(&self, plan: &Plan) -> bool {
        self.is_unchanged && plan.cut_states.is_empty() && plan.cut_messages.is_empty()
    }

    /// Returns the time from the first enter to the last exit, in seconds.
    #[must_use]
    pub fn makespan(&self) -> f64 {
        let begin = self.begin.iter().copied().fold(f64::INFINITY, f64::min);
        let end = self.finish.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (end - begin).max(0.0)
    }

    /// Returns the recorded times. If `keeps` is true, the result includes the times of every state
    /// and message.
    fn recorded(graph: &Graph<'_>, keeps: bool) -> Self {
        let tracks = graph.tracks().list();
        let first = |track: &Track| track.start.first().copied().unwrap_or(f64::NAN);
        let mut recorded = Retimed {
            is_unchanged: true,
            begin: tracks.iter().map(first).collect(),
            finish: tracks.iter().map(Track::last_exit).collect(),
            ..Retimed::default()
        };
        if keeps {
            let messages = graph.messages().list().len();
            recorded.start = tracks.iter().map(|track| track.start.clone()).collect();
            recorded.end = tracks.iter().map(|track| track.end.clone()).collect();
            (recorded.sent, recorded.received) = (vec![0.0; messages], vec![0.0; messages]);
        }
        recorded
    }
}

const NONE: u32 = u32::MAX;

/// Maximum difference in seconds between the record and a model that explains a wait.
const ROUNDING: f64 = 2e-8;

#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// Number of the next step, number of acts before this step, and number of waiting steps before
    /// it.
    next: u32,
    acts: u32,
    waits: u32,
    /// Innermost open state, or [`NONE`].
    open: u32,
    /// Recorded time of the last step, and its delay in the changed run, in seconds.
    last: f64,
    shift: f64,
    is_blocked: bool,
    /// Whether the rest of a loop of tests is left out, because its messages have arrived.
    skips: bool,
}

struct Run<'g> {
    graph: &'g Graph<'g>,
    plan: &'g Plan,
    explained: &'g Explained,
    traffic: Traffic<'g>,
    polling: Polling,
    cursors: Vec<Cursor>,
    ready: Vec<u32>,
    /// Messages of sets that have already been taken.
    taken: Vec<Vec<u32>>,
    keeps: bool,
    result: Retimed,
}

impl Graph<'_> {
    /// Computes the times of the run with the changes in `plan`. If `keeps` is true, the result
    /// includes the times of every state and message.
    ///
    /// Recorded times may contradict themselves. If `mends` is true, nothing waits for the messages
    /// and collectives with contradictory times.
    ///
    /// # Errors
    /// Fails if containers wait for one another in a cycle, so that the changed run never ends.
    pub fn retime(&self, plan: &Plan, keeps: bool, mends: bool) -> Result<Retimed, Cycle> {
        if plan.is_nothing() && !self.is_ideal() {
            return Ok(Retimed::recorded(self, keeps));
        }
        let own;
        let explained = match &plan.before {
            None => self.explained(),
            Some(costs) => {
                own = explain(self, costs);
                &own
            }
        };
        let mut run = Run::new(self, plan, explained, keeps);
        run.result.misfit = if keeps { self.misfit(explained) } else { 0.0 };
        loop {
            while let Some(track) = run.ready.pop() {
                run.advance(track as usize);
                run.wake();
            }
            let next_test = run.polling.next_time();
            if run.traffic.advance(next_test.unwrap_or(f64::INFINITY)) {
                run.wake();
                continue;
            }
            if next_test.is_some() {
                run.test();
                continue;
            }
            let Some(cycle) = run.cycle() else { break };
            if !mends || !run.mend(&cycle) {
                return Err(cycle);
            }
        }
        Ok(run.result)
    }
}

impl<'g> Run<'g> {
    fn new(graph: &'g Graph<'g>, plan: &'g Plan, explained: &'g Explained, keeps: bool) -> Self {
        let tracks = graph.tracks().list();
        let at = |time: f64| Cursor {
            next: 0,
            acts: 0,
            waits: 0,
            open: NONE,
            last: time,
            shift: 0.0,
            is_blocked: false,
            skips: false,
        };
        let first = |track: &Track| track.start.first().copied().unwrap_or(0.0);
        let mut result = Retimed::recorded(graph, keeps);
        result.finish = vec![f64::NEG_INFINITY; tracks.len()];
        let mut traffic = Traffic::new(graph, plan.after.as_ref().unwrap_or(graph.costs()));
        let cut = traffic.arrived.iter_mut().zip(&plan.cut_messages);
        cut.filter(|(_, is_cut)| **is_cut).for_each(|(it, _)| *it = f64::NEG_INFINITY);
        Run {
            graph,
            plan,
            explained,
            traffic,
            polling: Polling::new(graph, plan.tests),
            cursors: tracks.iter().map(|track| at(first(track))).collect(),
            ready: (0..tracks.len() as u32).rev().collect(),
            taken: vec![Vec::new(); graph.run.sets.len()],
            keeps,
            result,
        }
    }

    fn advance(&mut self, at: usize) {
        let graph = self.graph;
        let (track, steps) = (&graph.tracks().list()[at], &graph.run.steps[at]);
        let mut cursor = self.cursors[at];
        cursor.is_blocked = false;
        while let Some(step) = steps.get(cursor.next, cursor.acts) {
            let (state, time) = (step.state, step.time);
            let is_cut = step.kind != Kind::Open && self.plan.is_cut(at, state);
            let acts = if is_cut { StepActs::NONE } else { step.acts };
            let waits = step.acts.iter().any(Act::waits);
            let enter = cursor.last + cursor.shift;
            let poll = acts.poll();
            let tested = match poll {
                Some(poll) if !cursor.skips => match self.tested(at, poll, state, enter) {
                    Tested::Ends(end, is_done) => {
                        cursor.skips = is_done;
                        Some(end)
                    }
                    Tested::Pending => {
                        cursor.is_blocked = true;
                        break;
                    }
                },
                _ => None,
            };
            let ended = match waits && !is_cut && poll.is_none() {
                true => match self.end_of(acts, enter) {
                    None => {
                        cursor.is_blocked = true;
                        break;
                    }
                    ended => ended,
                },
                false => None,
            };
            let explained = if waits { self.explained[at][cursor.waits as usize] } else { 0.0 };
            let mut shift = match tested {
                // Rounding must not change times.
                Some(end) if (end - time - cursor.shift).abs() <= 2.0 * self.polling.tick => {
                    cursor.shift
                }
                Some(end) => end - time,
                None if cursor.skips => enter - time,
                None => self.shift(at, &cursor, &step, ended.map(|it| (explained, it))),
            };
            // The last test of a loop receives the messages.
            cursor.skips &= poll.is_none() || !waits;
            if step.kind == Kind::Close {
                shift += self.plan.added(at, state);
            }
            // The order of steps stays as recorded.
            if time >= cursor.last && time + shift < enter {
                shift = enter - time;
            }
            self.result.is_unchanged &= shift == 0.0;
            self.take(acts, time, shift);
            self.note(at, track, &step, time + shift);
            cursor.open = match step.kind {
                Kind::Open => state,
                Kind::Within => cursor.open,
                Kind::Close => track.parent(state as usize).map_or(NONE, |parent| parent as u32),
            };
            cursor.next += 1;
            cursor.acts += step.acts.len() as u32;
            cursor.waits += u32::from(waits);
            (cursor.last, cursor.shift) = (time, shift);
        }
        self.cursors[at] = cursor;
    }

    /// Returns the shift of a step. If the step waits, `ended` has the times at which the waiting
    /// ends according to the model, in the recorded run and in the changed run.
    fn shift(&self, at: usize, cursor: &Cursor, step: &Step<'_>, ended: Option<(f64, f64)>) -> f64 {
        let time = step.time;
        let state = (cursor.open != NONE).then_some(cursor.open);
        let (since, shift) = match ended {
            // Differences from rounding are not part of the call's time.
            Some((recorded, changed))
                if changed != recorded && (time - recorded).abs() <= ROUNDING =>
            {
                (time, changed - time)
            }
            Some((recorded, changed)) => (recorded, changed - recorded),
            None => (cursor.last, cursor.shift),
        };
        // If the trace closed a state too early, the steps within the state take no time.
        let seconds = (time - since).max(0.0);
        let factor = self.plan.factor_before(self.graph, at, state, (step, cursor.next), seconds);
        if factor == 1.0 { shift } else { shift + (factor - 1.0) * seconds }
    }

    /// Returns the times at which the waits of a step end, or `None` if they are not known yet.
    fn end_of(&mut self, acts: StepActs<'_>, enter: f64) -> Option<f64> {
        let mut end = enter;
        let mut set = None;
        let mut count = 0;
        for act in acts.iter() {
            let time = match act {
                Act::Any(number) => {
                    set = Some(number as usize);
                    continue;
                }
                Act::Receive(message) => {
                    if self.graph.progresses_in_calls()
                        && self.traffic.posted[message as usize].is_nan()
                    {
                        self.traffic.post(message, enter);
                    }
                    if set.is_some() {
                        count += 1;
                        continue;
                    }
                    self.traffic.arrived[message as usize]
                }
                Act::Complete(message) if self.traffic.is_rendezvous(message) => {
                    self.traffic.arrived[message as usize]
                }
                Act::Leave(seat) => self.traffic.done[seat as usize],
                _ => continue,
            };
            if time.is_nan() {
                return None;
            }
            end = end.max(time);
        }
        let Some(set) = set else { return Some(end) };
        let first = self.first_of(set, count);
        let last = *first.get(count.checked_sub(1)?)?;
        Some(end.max(self.traffic.arrived[last as usize]))
    }

    /// Returns the messages of a set that have not been taken, in order of arrival. Returns at most
    /// the given number of messages.
    fn first_of(&self, set: usize, count: usize) -> Vec<u32> {
        let arrived = |message: &u32| self.traffic.arrived[*message as usize];
        let all = self.graph.run.sets[set].iter().copied();
        let mut there: Vec<u32> =
            all.filter(|it| !arrived(it).is_nan() && !self.taken[set].contains(it)).collect();
        there.sort_by(|a, b| arrived(a).total_cmp(&arrived(b)));
        there.truncate(count);
        there
    }

    fn take(&mut self, acts: StepActs<'_>, time: f64, shift: f64) {
        let mut set = None;
        let now = time + shift;
        for act in acts.iter() {
            match act {
                Act::Any(number) => {
                    let received = acts.iter().filter(|it| matches!(it, Act::Receive(_))).count();
                    let first = self.first_of(number as usize, received);
                    for message in &first {
                        if self.keeps {
                            let recorded = self.graph.messages().list()[*message as usize].end;
                            self.result.received[*message as usize] = now - recorded;
                        }
                    }
                    self.taken[number as usize].extend(first);
                    set = Some(number);
                }
                Act::Receive(message) if self.keeps && set.is_none() => {
                    self.result.received[message as usize] = shift;
                }
                Act::Post(message) if !self.graph.progresses_in_calls() => {
                    self.traffic.post(message, now);
                }
                Act::Send(message) => {
                    if self.keeps {
                        self.result.sent[message as usize] = shift;
                    }
                    self.traffic.send(message, now);
                }
                Act::Enter(seat) => self.traffic.enter(seat, now),
                _ => {}
            }
        }
    }

    fn note(&mut self, at: usize, track: &Track, step: &Step<'_>, time: f64) {
        let state = step.state as usize;
        match step.kind {
            Kind::Open if self.keeps => self.result.start[at][state] = time,
            Kind::Close => {
                if self.keeps {
                    self.result.end[at][state] = time;
                }
                if track.parent(state).is_none() {
                    self.result.finish[at] = self.result.finish[at].max(time);
                }
            }
            _ => {}
        }
    }

    fn wake(&mut self) {
        while let Some(track) = self.traffic.woken.pop() {
            if std::mem::take(&mut self.cursors[track as usize].is_blocked) {
                self.ready.push(track);
            }
        }
    }
}
