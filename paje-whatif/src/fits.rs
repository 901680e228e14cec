//! Models of collectives without links. A model has the schedule that explains the recorded times
//! best, and the time of a message in this schedule.

use paje_comm::classes::Collective;
use paje_comm::{Group, Run};
use rayon::prelude::*;

use crate::flows::{Flow, Flows};
use crate::operation::{Next, Operation, Travel};
use crate::schedule::{Schedule, candidates};
use crate::settings::{Settings, Shape};

/// Model of the operations of one value in a group.
#[derive(Clone, Debug)]
pub struct CollectiveModel {
    /// Shape of the operations.
    pub shape: Shape,
    /// Shapes that were tried, the best one first. Each shape has an error in seconds, which
    /// measures how far the members' times are from the model.
    pub fits: Vec<(Shape, f64)>,
    /// Whether the user gave the shape.
    pub is_given: bool,
    /// Whether the root differs from that of the group.
    root: u32,
    /// Whether messages are a rendezvous.
    pub(crate) is_rendezvous: bool,
    /// Whether messages start only when their receiver is also ready.
    pub(crate) needs_post: bool,
    /// For each operation, the latency of a message and the time to transfer its bytes, in seconds.
    /// The last entry applies to all later operations.
    pub(crate) costs: Vec<(f64, f64)>,
    pub(crate) cross: f64,
}

impl CollectiveModel {
    /// Returns the model of dependencies alone, whose messages take no time.
    fn immediate(group: &Group) -> Self {
        let shape = match group.class {
            Collective::NxN | Collective::Barrier => Shape::NxN,
            Collective::OneToN => Shape::OneToN,
            Collective::NToOne => Shape::NToOne,
            Collective::Scan => Shape::Scan,
        };
        CollectiveModel {
            shape,
            fits: vec![(shape, 0.0)],
            is_given: false,
            root: group.root,
            is_rendezvous: false,
            needs_post: false,
            costs: vec![(0.0, 0.0)],
            cross: 0.0,
        }
    }

    /// Returns the root of an operation.
    pub(crate) fn root_of(&self, group: &Group, operation: usize) -> u32 {
        let turned = if group.is_turning { operation as u32 % group.members() } else { 0 };
        (self.root + turned) % group.members()
    }

    /// Returns the latency of the first operation's messages and the time to transfer their bytes,
    /// in seconds.
    #[must_use]
    pub fn cost(&self) -> (f64, f64) {
        self.costs.first().copied().unwrap_or((0.0, 0.0))
    }

    /// Returns the root of the first operation.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root
    }
}

/// Finds the models of all groups.
pub(crate) fn shapes(
    run: &Run<'_>,
    settings: &Settings,
    needs_post: bool,
    is_local: &(dyn Fn(u32, u32) -> bool + Sync),
) -> Vec<CollectiveModel> {
    if settings.is_ideal {
        return run.groups.list.iter().map(CollectiveModel::immediate).collect();
    }
    let fit = |group: &Group| {
        let model = Fitting::new(run, group, settings, needs_post, is_local).model(settings, run);
        if model.fits[0].1 <= GOOD || needs_post {
            return model;
        }
        // Messages within collectives may wait for their receivers even if other messages do not.
        let other = Fitting::new(run, group, settings, true, is_local).model(settings, run);
        if other.fits[0].1 < model.fits[0].1 { other } else { model }
    };
    run.groups.list.par_iter().map(fit).collect()
}

/// Number of messages that are simulated for one estimate.
const BUDGET: usize = 2_000;
/// Minimum and maximum number of operations that are simulated.
const FEWEST_SAMPLES: usize = 4;
const MOST_SAMPLES: usize = 40;
/// Fraction of the opposite link that a message uses in SimGrid.
const CROSS: f64 = 0.05;
/// If the error is below this number of seconds, no other rule is tried.
const GOOD: f64 = 1e-8;
/// A model with costs must have an error below this fraction of the error of dependencies alone.
const MUCH_BETTER: f64 = 0.2;
/// If a model has an error below this fraction of the error of dependencies alone, shapes whose
/// number of messages is quadratic are not tried.
const CLEARLY_BETTER: f64 = 0.02;
/// Weight of a constant error in the error of a fit.
const CONSTANT: f64 = 0.1;

/// An operation, with the enter and exit of each member in seconds.
type Sample = (usize, Vec<(f64, f64)>);

/// Recorded operations that the model has to explain.
struct Fitting<'f> {
    group: &'f Group,
    samples: Vec<Sample>,
    /// Bytes of each operation, or NaN.
    bytes: Vec<f64>,
    needs_post: bool,
    is_rendezvous: bool,
    cross: f64,
    run: &'f Run<'f>,
    is_local: &'f dyn Fn(u32, u32) -> bool,
}

impl<'f> Fitting<'f> {
    fn new(
        run: &'f Run<'_>,
        group: &'f Group,
        settings: &Settings,
        needs_post: bool,
        is_local: &'f dyn Fn(u32, u32) -> bool,
    ) -> Self {
        let members = group.tracks.len();
        let bytes: Vec<f64> = group
            .bytes
            .chunks_exact(members)
            .map(|all| all.iter().copied().fold(f64::NAN, f64::max))
            .collect();
        let eager = run.inferred.eager.map(|eager| eager as f64);
        let first = bytes.first().copied().unwrap_or(f64::NAN);
        let is_rendezvous = eager.is_some_and(|eager| eager == 0.0 || first >= eager);
        // The operations are consecutive, because messages may overlap with those of the previous
        // operation.
        let known = (0..group.len()).filter(|operation| !group.is_dropped(*operation));
        let samples =
            known.take(MOST_SAMPLES).map(|at| (at, group.times(&run.facts, at))).collect();
        let cross = match &settings.table {
            Some(table) => table.cross,
            None if run.facts.is_simulated() => CROSS,
            None => 0.0,
        };
        Fitting { group, samples, bytes, needs_post, is_rendezvous, cross, run, is_local }
    }

    fn model(&self, settings: &Settings, run: &Run<'_>) -> CollectiveModel {
        let (group, types) = (self.group, run.facts.tracks.trace().types());
        let name = types.value_name(group.type_, group.value).text;
        let said = settings.shapes.iter().find(|(glob, _)| glob.matches(name));
        let of_class = settings.broadcast.filter(|_| group.class == Collective::OneToN);
        let said = said.map(|(_, shape)| *shape).or(of_class);
        let tried = match said {
            Some(shape) => vec![shape],
            None => candidates(group.class, group.members()),
        };
        let roots = match group.is_assumed && !group.is_turning && group.root != 0 {
            true => vec![group.root, 0],
            false => vec![group.root],
        };
        let mut found: Vec<(f64, Shape, u32, (f64, f64))> = Vec::new();
        for (shape, root) in tried.into_iter().flat_map(|it| roots.iter().map(move |r| (it, *r))) {
            let free = found.iter().filter(|it| it.1.is_free()).map(|it| it.0);
            let least = free.fold(f64::INFINITY, f64::min);
            let best = found.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
            if shape.is_quadratic() && best < CLEARLY_BETTER * least {
                continue;
            }
            let (cost, error) = self.fit(shape, root, settings, least);
            found.push((error, shape, root, cost));
            if error <= GOOD {
                break;
            }
        }
        // Dependencies alone are preferred unless costs explain the times much better.
        let rank = |(error, shape, ..): &(f64, Shape, u32, (f64, f64))| match shape.is_free() {
            true => error * MUCH_BETTER,
            false => *error,
        };
        found.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let mut fits: Vec<(Shape, f64)> = Vec::new();
        for (error, shape, ..) in &found {
            if fits.iter().all(|(known, _)| known != shape) {
                fits.push((*shape, *error));
            }
        }
        let (_, shape, root, cost) = found[0];
        let table = settings.table.as_ref().filter(|_| !shape.is_free());
        let reference = self.bytes.first().copied().unwrap_or(f64::NAN);
        let of_bytes = |bytes: &f64| match table {
            Some(table) if bytes.is_finite() => {
                table.times(*bytes * shape.blocks(self.group.members()))
            }
            _ if *bytes == reference || !(reference > 0.0 && bytes.is_finite()) => cost,
            _ => (cost.0, cost.1 * bytes / reference),
        };
        let mut costs: Vec<(f64, f64)> = self.bytes.iter().map(of_bytes).collect();
        while costs.len() > 1 && costs[costs.len() - 1] == costs[costs.len() - 2] {
            costs.pop();
        }
        let (is_given, is_rendezvous, cross) = (said.is_some(), self.is_rendezvous, self.cross);
        let needs_post = self.needs_post;
        CollectiveModel { shape, fits, is_given, root, is_rendezvous, needs_post, costs, cross }
    }

    /// Returns the cost of a message with which a shape explains the record best, and the error. If
    /// the error is not below `free`, which is the error of dependencies alone, the search is
    /// coarse.
    fn fit(&self, shape: Shape, root: u32, settings: &Settings, free: f64) -> ((f64, f64), f64) {
        let turns = if self.group.is_turning { self.group.members() } else { 1 };
        let schedule = |turned: u32| {
            let members = self.group.members();
            let schedule =
                Schedule::new(shape, self.group.class, members, (root + turned) % members);
            std::sync::Arc::new(schedule)
        };
        let schedules: Vec<_> = (0..turns).map(schedule).collect();
        let error = |cost| self.error(&schedules, cost);
        if shape.is_free() {
            return ((0.0, 0.0), error((0.0, 0.0)).0);
        }
        let bytes = self.bytes.first().copied().filter(|bytes| bytes.is_finite());
        if let Some((table, bytes)) = settings.table.as_ref().zip(bytes) {
            let cost = table.times(bytes * shape.blocks(self.group.members()));
            return (cost, error(cost).0);
        }
        let most = self.longest(root);
        if most <= 0.0 || most.is_nan() {
            return ((0.0, 0.0), f64::INFINITY);
        }
        // For each time to transfer the bytes, there is one latency that makes the mean error zero.
        let with = |work: f64| {
            let mut cost = (0.0, work);
            let (mut off, mut rest) = error(cost);
            let mut before: Option<(f64, f64)> = None;
            for _ in 0..4 {
                let slope = match before {
                    Some((latency, mean)) if (cost.0 - latency).abs() > 1e-12 * most => {
                        (mean - rest) / (cost.0 - latency)
                    }
                    _ => 1.0,
                };
                if rest.abs() <= 1e-6 * most || slope <= 0.0 {
                    break;
                }
                let latency = (cost.0 + rest / slope).clamp(0.0, most);
                if latency == cost.0 {
                    break;
                }
                before = Some((cost.0, rest));
                cost.0 = latency;
                (off, rest) = error(cost);
            }
            (cost, off)
        };
        const STEPS: i32 = 10;
        let mut best = with(0.0);
        let mut width = most / f64::from(STEPS);
        for step in 1..=STEPS {
            if best.1 <= GOOD {
                return best;
            }
            let found = with(width * f64::from(step));
            if found.1 < best.1 {
                best = found;
            }
        }
        while width > 1e-4 * most && best.1 > GOOD && best.1 < free {
            width /= 3.0;
            let center = best.0.1;
            for step in [-2.0, -1.0, 1.0, 2.0] {
                let found = with((center + step * width).max(0.0));
                if found.1 < best.1 {
                    best = found;
                }
            }
        }
        best
    }

    /// Returns an upper bound for the time of one message. It is the shortest time for which a
    /// member stayed after everything it waited for had come.
    fn longest(&self, root: u32) -> f64 {
        let turned = |at: usize| if self.group.is_turning { at as u32 } else { 0 };
        let of = |(at, times): &Sample| {
            let root = ((root + turned(*at)) % self.group.members()) as usize;
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
    fn error(&self, schedules: &[std::sync::Arc<Schedule>], cost: (f64, f64)) -> (f64, f64) {
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
            Operation::new(schedules[at % schedules.len()].clone(), travel)
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
