//! Models of collectives without links. A model has the schedule that explains the recorded times
//! best, and the time of a message in this schedule.

mod division;
mod doubt;
mod error;

pub(crate) use division::divided;
pub(crate) use doubt::doubt;

use std::sync::Arc;

use paje_comm::classes::Collective;
use paje_comm::{Group, Run};
use rayon::prelude::*;

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
    /// Mean time of a member in an operation that the model does not explain, in seconds.
    unexplained: f64,
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
            unexplained: 0.0,
        }
    }

    /// Returns the root of an operation.
    pub(crate) fn root_of(&self, group: &Group, operation: usize) -> u32 {
        (self.root + group.turned(operation)) % group.members()
    }

    /// Returns the latency of the first operation's messages and the time to transfer their bytes,
    /// in seconds.
    #[must_use]
    pub fn cost(&self) -> (f64, f64) {
        self.costs.first().copied().unwrap_or((0.0, 0.0))
    }

    /// Returns the error of the model, in seconds.
    fn error(&self) -> f64 {
        self.fits.iter().find(|fit| fit.0 == self.shape).map_or(0.0, |fit| fit.1)
    }

    /// Returns the root of the first operation.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root
    }
}

/// Finds the models of groups.
pub(crate) fn shapes(
    run: &Run<'_>,
    groups: &[Group],
    settings: &Settings,
    needs_post: bool,
    is_local: &(dyn Fn(u32, u32) -> bool + Sync),
) -> Vec<CollectiveModel> {
    if settings.is_ideal {
        return groups.iter().map(CollectiveModel::immediate).collect();
    }
    let fit = |group: &Group| {
        let first = Fitting::new(run, group, settings, needs_post, is_local);
        // Messages within collectives may wait for their receivers even if other messages do not. They may be a
        // rendezvous if no messages show which sizes are one. The root of a broadcast by rendezvous is not the
        // first to leave.
        let rendezvous = first.is_rendezvous || run.inferred.eager.is_none();
        let (roots, all_roots) = (&first.roots, first.all_roots());
        let mut others = vec![(first.is_rendezvous, roots), (rendezvous, roots)];
        others.extend(Some((rendezvous, &all_roots)).filter(|_| !all_roots.is_empty()));
        others.dedup();
        let others =
            others.into_iter().filter(|it| !needs_post || *it != (first.is_rendezvous, roots));
        let mut best = first.model(settings, run);
        for (is_rendezvous, roots) in others {
            if best.fits[0].1 <= GOOD {
                break;
            }
            let roots = roots.clone();
            let other = Fitting { needs_post: true, is_rendezvous, roots, ..first.clone() };
            let other = other.model(settings, run);
            if other.fits[0].1 < best.fits[0].1 {
                best = other;
            }
        }
        best
    };
    groups.par_iter().map(fit).collect()
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
/// Largest number of members that are tried as roots.
const MOST_ROOTS: u32 = 32;
/// Precision of times in seconds.
const ROUNDING: f64 = 1e-9;
/// Weight of a constant error in the error of a fit.
const CONSTANT: f64 = 0.1;

/// An operation, with the enter and exit of each member in seconds.
type Sample = (usize, Vec<(f64, f64)>);

/// Recorded operations that the model has to explain.
#[derive(Clone)]
struct Fitting<'f> {
    group: &'f Group,
    samples: Vec<Sample>,
    /// Bytes of each operation, or NaN.
    bytes: Vec<f64>,
    needs_post: bool,
    is_rendezvous: bool,
    /// Possible roots of the first operation.
    roots: Vec<u32>,
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
        let roots = match group.is_assumed && group.turn == 0 && group.root != 0 {
            true => vec![group.root, 0],
            false => vec![group.root],
        };
        Fitting { group, samples, bytes, needs_post, is_rendezvous, roots, cross, run, is_local }
    }

    /// Returns all roots of a broadcast before whose entry nobody leaves. Returns few if there are many members or
    /// if noise explains the errors.
    fn all_roots(&self) -> Vec<u32> {
        let group = self.group;
        let is_sure = !group.is_assumed || group.turn > 0 || group.class != Collective::OneToN;
        if is_sure || !self.run.facts.is_simulated() {
            return Vec::new();
        }
        let is_possible = |root: &u32| {
            let first =
                |times: &[(f64, f64)]| times.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
            self.samples.iter().all(|(_, times)| times[*root as usize].0 <= first(times) + ROUNDING)
        };
        (0..self.group.members().min(MOST_ROOTS)).filter(is_possible).collect()
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
        let mut found: Vec<(f64, Shape, u32, (f64, f64))> = Vec::new();
        for (shape, root) in
            tried.into_iter().flat_map(|it| self.roots.iter().map(move |r| (it, *r)))
        {
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
        let unexplained = self.error(&self.schedules(shape, root), cost).1;
        CollectiveModel {
            shape,
            fits,
            is_given,
            root,
            is_rendezvous,
            needs_post,
            costs,
            cross,
            unexplained,
        }
    }

    /// Returns the schedule of each root. If the root does not rotate, there is only one.
    fn schedules(&self, shape: Shape, root: u32) -> Vec<Arc<Schedule>> {
        let members = self.group.members();
        let schedule = |turned: u32| {
            Arc::new(Schedule::new(shape, self.group.class, members, (root + turned) % members))
        };
        (0..if self.group.turn == 0 { 1 } else { members }).map(schedule).collect()
    }

    /// Returns the cost of a message with which a shape explains the record best, and the error. If
    /// the error is not below `free`, which is the error of dependencies alone, the search is
    /// coarse.
    fn fit(&self, shape: Shape, root: u32, settings: &Settings, free: f64) -> ((f64, f64), f64) {
        let schedules = self.schedules(shape, root);
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
}
