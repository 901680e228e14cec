//! Runs in which the order of arrivals does not matter.
//!
//! If no call takes any of several messages, and no loop tests for messages, the times of a run with
//! an ideal network follow directly from one another. Each rank is followed until it has to wait for
//! a message or a member that is not ready yet.

use paje_comm::classes::Collective;
use paje_comm::{Act, Kind, Run, StepActs};

use crate::graph::Graph;
use crate::measure::Transfer;

/// Returns the length of the run. Returns `None` if the order of arrivals matters, or if ranks wait
/// for one another in a cycle.
pub(super) fn length(graph: &Graph<'_>) -> Option<f64> {
    if !graph.run.sets.is_empty() || !graph.run.polls.is_empty() {
        return None;
    }
    let mut state = Direct::new(graph);
    while let Some(rank) = state.ready.pop() {
        state.advance(rank as usize);
    }
    let begins = graph.tracks().list().iter().filter_map(|track| track.start.first().copied());
    let begin = begins.fold(f64::INFINITY, f64::min);
    let is_over = state.ranks.iter().all(|rank| !rank.is_blocked);
    let end = state.ranks.iter().map(|rank| rank.finish).fold(f64::NEG_INFINITY, f64::max);
    is_over.then(|| (end - begin).max(0.0))
}

struct Direct<'g> {
    graph: &'g Graph<'g>,
    run: &'g Run<'g>,
    transfers: &'g [Transfer],
    ranks: Vec<Rank>,
    ready: Vec<u32>,
    /// Times at which each message was sent, and its receiver was ready. They are NaN until then.
    sent: Vec<f64>,
    posted: Vec<f64>,
    /// Time at which each seat of a collective was taken. NaN until then.
    entered: Vec<f64>,
    /// For each group, the number of its first operation.
    first: Vec<usize>,
    /// For each operation, the number of members that have not entered, and the latest enter.
    missing: Vec<(u32, f64)>,
}

/// Position of a rank, as in [`crate::replay`].
#[derive(Clone, Copy)]
struct Rank {
    next: u32,
    acts: u32,
    last: f64,
    shift: f64,
    finish: f64,
    is_blocked: bool,
}

impl<'g> Direct<'g> {
    fn new(graph: &'g Graph<'g>) -> Self {
        let run = &graph.run;
        let (tracks, messages) = (graph.tracks().list(), graph.messages().list().len());
        let ranks = tracks.iter().map(|track| Rank {
            next: 0,
            acts: 0,
            last: track.start.first().copied().unwrap_or(0.0),
            shift: 0.0,
            finish: f64::NEG_INFINITY,
            is_blocked: false,
        });
        let (mut first, mut missing) = (Vec::new(), Vec::new());
        for group in &run.groups.list {
            first.push(missing.len());
            let of_one = (group.members(), f64::NEG_INFINITY);
            missing.resize(missing.len() + group.len(), of_one);
        }
        Direct {
            graph,
            run,
            transfers: graph.transfers(),
            ranks: ranks.collect(),
            ready: (0..tracks.len() as u32).rev().collect(),
            sent: vec![f64::NAN; messages],
            posted: vec![f64::NAN; messages],
            entered: vec![f64::NAN; run.groups.seats as usize],
            first,
            missing,
        }
    }

    fn advance(&mut self, at: usize) {
        let (run, track) = (self.run, &self.graph.tracks().list()[at]);
        let Rank { mut next, mut acts, mut last, mut shift, mut finish, .. } = self.ranks[at];
        let mut is_blocked = false;
        while let Some(step) = run.steps[at].get(next, acts) {
            if !step.acts.is_empty() {
                let enter = last + shift;
                match self.end_of(step.acts, enter) {
                    Wait::Blocked => {
                        is_blocked = true;
                        break;
                    }
                    Wait::Ends(end) => shift = end - step.time,
                    Wait::None => {}
                }
                // The order of steps stays as recorded.
                if step.time >= last && step.time + shift < enter {
                    shift = enter - step.time;
                }
                self.take(step.acts, step.time + shift);
                acts += step.acts.len() as u32;
            }
            if step.kind == Kind::Close && track.parent(step.state as usize).is_none() {
                finish = finish.max(step.time + shift);
            }
            next += 1;
            last = step.time;
        }
        self.ranks[at] = Rank { next, acts, last, shift, finish, is_blocked };
    }

    /// Returns when the last awaited message or member is ready, but not before `enter`.
    fn end_of(&self, acts: StepActs<'_>, enter: f64) -> Wait {
        let mut found = Wait::None;
        let mut end = enter;
        for act in acts.iter().take_while(|act| act.waits()) {
            let time = match act {
                Act::Receive(message) => self.arrival(message),
                Act::Complete(message) if self.is_rendezvous(message) => self.arrival(message),
                Act::Leave(seat) => self.leave(seat),
                _ => enter,
            };
            if time.is_nan() {
                return Wait::Blocked;
            }
            end = end.max(time);
            found = Wait::Ends(end);
        }
        found
    }

    fn take(&mut self, acts: StepActs<'_>, now: f64) {
        for act in acts.iter() {
            match act {
                Act::Post(message) if self.is_rendezvous(message) => {
                    self.posted[message as usize] = now;
                    self.wake_ends(message);
                }
                Act::Send(message) => {
                    self.sent[message as usize] = now;
                    self.wake_ends(message);
                }
                Act::Enter(seat) => self.enter(seat, now),
                _ => {}
            }
        }
    }

    fn is_rendezvous(&self, message: u32) -> bool {
        self.transfers[message as usize].is_rendezvous
    }

    /// Returns when a message arrives, or NaN if that is not known yet.
    fn arrival(&self, message: u32) -> f64 {
        let (sent, posted) = (self.sent[message as usize], self.posted[message as usize]);
        match self.is_rendezvous(message) {
            // `f64::max` ignores NaN.
            true if posted.is_nan() || sent.is_nan() => f64::NAN,
            true => sent.max(posted),
            false => sent,
        }
    }

    fn enter(&mut self, seat: u32, now: f64) {
        let at = self.run.groups.of_seat(seat);
        let group = &self.run.groups.list[at];
        let (operation, member) = group.seat(seat);
        self.entered[seat as usize] = now;
        let (missing, latest) = &mut self.missing[self.first[at] + operation];
        (*missing, *latest) = (*missing - 1, latest.max(now));
        let ends = match group.class {
            Collective::NxN | Collective::Barrier | Collective::NToOne => *missing == 0,
            Collective::OneToN => member == group.root_of(operation),
            Collective::Scan => true,
        };
        if ends {
            group.tracks.iter().for_each(|track| self.wake(*track));
        }
    }

    /// Returns when a member may leave an operation, or NaN if that is not known yet.
    fn leave(&self, seat: u32) -> f64 {
        let at = self.run.groups.of_seat(seat);
        let group = &self.run.groups.list[at];
        let (operation, member) = group.seat(seat);
        let first = (seat - member) as usize;
        let (missing, latest) = self.missing[self.first[at] + operation];
        let all = if missing == 0 { latest } else { f64::NAN };
        let own = self.entered[seat as usize];
        let root = group.root_of(operation);
        match group.class {
            Collective::NxN | Collective::Barrier => all,
            Collective::NToOne if member == root => all,
            Collective::NToOne => own,
            Collective::OneToN => {
                let root = self.entered[first + root as usize];
                if root.is_nan() { root } else { own.max(root) }
            }
            Collective::Scan => {
                let before = &self.entered[first..=seat as usize];
                let later = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
                before.iter().copied().fold(f64::NEG_INFINITY, later)
            }
        }
    }

    fn wake_ends(&mut self, message: u32) {
        let ends = &self.graph.messages().list()[message as usize];
        self.wake(ends.to);
        if self.is_rendezvous(message) {
            self.wake(ends.from);
        }
    }

    fn wake(&mut self, track: u32) {
        if std::mem::take(&mut self.ranks[track as usize].is_blocked) {
            self.ready.push(track);
        }
    }
}

/// What a step waits for.
enum Wait {
    None,
    Ends(f64),
    Blocked,
}

#[cfg(test)]
mod tests {
    use datasets::passing;
    use paje_comm::Facts;
    use paje_comm::classes::Map;
    use paje_sim::{Options, Trace};

    use super::*;
    use crate::ideal::retimed;
    use crate::settings::Settings;

    #[test]
    fn the_general_model_gives_the_same_length() {
        let mut known = 0;
        for seed in 0..300 {
            let run = passing::random(seed, 40);
            let mut options = Options::default();
            options.user_defined = true;
            let trace = Trace::read(&run.bytes[..], &options).expect("a valid trace");
            let mut settings = Settings { is_ideal: true, ..Settings::new(Map::of_trace(&trace)) };
            settings.reading.eager = (seed % 3 > 0).then_some(run.eager);
            let facts = Facts::new(&trace, &settings.map, &settings.reading);
            let graph = Graph::of(facts, &settings, None);
            let Some(length) = length(&graph) else { continue };
            assert_eq!(retimed(&graph), Ok(length), "{seed}");
            known += 1;
        }
        assert!(known > 100, "{known}");
    }
}
