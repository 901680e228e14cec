//! State of a collective operation while it is carried out.

use std::sync::Arc;

use crate::schedule::Schedule;

/// Rules for the transfer of the messages of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Travel {
    /// Latency, and time to transfer the bytes if no links are shared, in seconds.
    pub(crate) cost: (f64, f64),
    /// Whether a message starts only when its receiver is also ready.
    pub(crate) needs_post: bool,
    /// Whether the sender waits until the message has arrived.
    pub(crate) is_rendezvous: bool,
}

#[derive(Debug)]
pub(crate) struct Operation {
    schedule: Arc<Schedule>,
    pub(crate) travel: Travel,
    members: Vec<Member>,
    /// Times in seconds at which each message was sent, was posted and arrived. They are NaN until
    /// then.
    messages: Vec<[f64; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    phase: u32,
    now: f64,
    missing: u32,
}

/// Consequences of an event.
#[derive(Debug, Default)]
pub(crate) struct Next {
    /// Messages that start, with their times.
    pub(crate) starts: Vec<(u32, f64)>,
    /// Members that have finished the operation, with their times.
    pub(crate) done: Vec<(u32, f64)>,
}

const SENT: usize = 0;
const POSTED: usize = 1;
const ARRIVED: usize = 2;

impl Operation {
    pub(crate) fn new(schedule: Arc<Schedule>, travel: Travel) -> Self {
        let members = vec![Member { phase: 0, now: f64::NAN, missing: 0 }; schedule.programs.len()];
        let messages = vec![[f64::NAN; 3]; schedule.messages.len()];
        Operation { schedule, travel, members, messages }
    }

    /// Returns the sending and the receiving member of a message.
    pub(crate) fn ends(&self, message: u32) -> (u32, u32) {
        self.schedule.messages[message as usize]
    }

    /// Returns the latency of a message, and the time to transfer its bytes, in seconds.
    pub(crate) fn cost(&self, message: u32) -> (f64, f64) {
        self.schedule.cost(message, self.travel.cost)
    }

    pub(crate) fn has_entered(&self, member: u32) -> bool {
        !self.members[member as usize].now.is_nan()
    }

    /// Returns a member that has not entered.
    pub(crate) fn absent(&self) -> Option<u32> {
        (0..self.members.len() as u32).find(|member| !self.has_entered(*member))
    }

    pub(crate) fn enter(&mut self, member: u32, time: f64, next: &mut Next) {
        self.members[member as usize].now = time;
        self.go_on(member, next);
    }

    pub(crate) fn arrive(&mut self, message: u32, time: f64, next: &mut Next) {
        let (from, to) = self.ends(message);
        self.messages[message as usize][ARRIVED] = time;
        if !self.messages[message as usize][POSTED].is_nan() {
            self.came(to, time, next);
        }
        if self.travel.is_rendezvous {
            self.came(from, time, next);
        }
    }

    fn came(&mut self, member: u32, time: f64, next: &mut Next) {
        let it = &mut self.members[member as usize];
        (it.now, it.missing) = (it.now.max(time), it.missing - 1);
        if it.missing == 0 {
            it.phase += 1;
            self.go_on(member, next);
        }
    }

    /// Begins the next phases of a member, up to the first phase in which it has to wait.
    fn go_on(&mut self, member: u32, next: &mut Next) {
        let schedule = Arc::clone(&self.schedule);
        let at = member as usize;
        while let Some(phase) = schedule.programs[at].get(self.members[at].phase as usize) {
            let (begin, mut missing) = (self.members[at].now, 0);
            for message in &phase.sends {
                missing += u32::from(self.travel.is_rendezvous);
                self.begin(*message, SENT, begin, next);
            }
            for message in &phase.receives {
                let arrived = self.messages[*message as usize][ARRIVED];
                if arrived.is_nan() {
                    missing += 1;
                }
                self.members[at].now = self.members[at].now.max(arrived);
                self.begin(*message, POSTED, begin, next);
            }
            self.members[at].missing = missing;
            if missing > 0 {
                return;
            }
            self.members[at].phase += 1;
        }
        next.done.push((member, self.members[at].now));
    }

    fn begin(&mut self, message: u32, side: usize, time: f64, next: &mut Next) {
        let it = &mut self.messages[message as usize];
        it[side] = time;
        let start = match self.travel.needs_post || self.travel.is_rendezvous {
            // `f64::max` ignores NaN, so unknown times are handled first.
            true if it[SENT].is_nan() || it[POSTED].is_nan() => return,
            true => it[SENT].max(it[POSTED]),
            false if side == POSTED => return,
            false => it[SENT],
        };
        next.starts.push((message, start));
    }
}
