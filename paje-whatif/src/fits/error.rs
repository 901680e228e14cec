//! Errors of models of collectives.

use std::sync::Arc;

use paje_comm::classes::Collective;

use super::{BUDGET, CONSTANT, FEWEST_SAMPLES, Fitting, MOST_SAMPLES, Sample};
use crate::flows::{Flow, Flows};
use crate::operation::{Next, Operation, Travel};
use crate::schedule::Schedule;

impl Fitting<'_> {
    /// Returns an upper bound for the time of one message. It is the shortest time for which a
    /// member stayed after everything it waited for had come.
    pub(super) fn longest(&self, root: u32) -> f64 {
        let of = |(at, times): &Sample| {
            let root = ((root + self.group.turned(*at)) % self.group.members()) as usize;
            let latest = times.iter().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
            let last = times.iter().map(|it| it.1).fold(f64::NEG_INFINITY, f64::max);
            match self.group.class {
                Collective::OneToN => {
                    let others = (0..times.len()).filter(|member| *member != root);
                    let stays = |at: usize| times[at].1 - times[at].0.max(times[root].0);
                    others.map(stays).fold(f64::INFINITY, f64::min)
                }
                Collective::NToOne => times[root].1 - latest,
                _ => last - latest,
            }
        };
        self.samples.iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Returns the error of a model, and the mean time that the model does not explain. The error
    /// is the mean difference from the record. A difference that is the same in all operations has
    /// little weight.
    pub(super) fn error(&self, schedules: &[Arc<Schedule>], cost: (f64, f64)) -> (f64, f64) {
        let members = self.group.tracks.len();
        let reference = self.bytes.first().copied().unwrap_or(f64::NAN);
        let mut rests: Vec<Vec<f64>> = vec![Vec::with_capacity(self.samples.len()); members];
        let messages = schedules[0].messages.len().max(1);
        let count = (BUDGET / messages).clamp(FEWEST_SAMPLES, MOST_SAMPLES);
        let samples = &self.samples[..count.min(self.samples.len())];
        let travels = samples.iter().map(|(at, _)| {
            let scale = self.bytes[*at] / reference;
            let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
            let travel = Travel {
                cost: (cost.0, cost.1 * scale),
                needs_post: self.needs_post,
                is_rendezvous: self.is_rendezvous,
            };
            Operation::new(
                schedules[self.group.turned(*at) as usize % schedules.len()].clone(),
                travel,
            )
        });
        let ends = self.play(samples, travels.collect());
        for ((_, times), ends) in samples.iter().zip(ends) {
            for (rests, (end, (_, exit))) in rests.iter_mut().zip(ends.iter().zip(times)) {
                rests.push(exit - end);
            }
        }
        let count = samples.len().max(1) as f64;
        let (mut off, mut sum) = (0.0, 0.0);
        for rests in rests {
            let mean = rests.iter().sum::<f64>() / count;
            let error = |rest: &f64| (rest - mean).abs() + CONSTANT * rest.abs();
            off += rests.iter().map(error).sum::<f64>();
            sum += mean;
        }
        (off / (count * members as f64), sum / members as f64)
    }

    /// Returns when each member may leave each operation, in seconds.
    fn play(&self, samples: &[Sample], mut operations: Vec<Operation>) -> Vec<Vec<f64>> {
        let mut flows = Flows::new(true, self.cross, self.run.steps.len());
        let enters = |(_, times): &Sample| times.iter().map(|it| it.0).collect();
        let mut ends: Vec<Vec<f64>> = samples.iter().map(enters).collect();
        let (mut next, mut arrivals) = (Next::default(), Vec::new());
        let mut follow = |at: usize, operation: &Operation, next: &mut Next, flows: &mut Flows| {
            for (message, time) in next.starts.drain(..) {
                let (from, to) = operation.ends(message);
                let [from, to] = [from, to].map(|member| self.group.tracks[member as usize]);
                let is_local = (self.is_local)(from, to);
                let cost = if is_local { (0.0, 0.0) } else { operation.cost(message) };
                let [from, to] = [from, to].map(|rank| self.run.facts.hosts.host(rank));
                let id = ((at as u64) << 32) | u64::from(message);
                flows.start(Flow { id, from, to, cost }, time);
            }
            for (member, time) in next.done.drain(..) {
                ends[at][member as usize] = time;
            }
        };
        for (at, (_, times)) in samples.iter().enumerate() {
            for (member, (enter, _)) in (0..).zip(times) {
                operations[at].enter(member, *enter, &mut next);
            }
            follow(at, &operations[at], &mut next, &mut flows);
        }
        loop {
            flows.next_arrivals(f64::INFINITY, &mut arrivals);
            if arrivals.is_empty() {
                return ends;
            }
            for (id, time) in &arrivals {
                let at = (id >> 32) as usize;
                operations[at].arrive(*id as u32, *time, &mut next);
                follow(at, &operations[at], &mut next, &mut flows);
            }
        }
    }
}
