//! Models of collectives without links. The shape of a model says which members wait for which.
//!
//! Each series gets the shape of its class that explains the recorded times best. With the right
//! shape, the time that a member takes in addition to waiting is the same in all operations.

mod fits;
mod queue;
mod rendezvous;
mod stream;

use paje_analysis::classes::Collective;
use paje_analysis::collectives::{Collectives, Series};
use paje_analysis::tracks::Tracks;
use rayon::prelude::*;

use crate::settings::{Settings, Shape};
pub(crate) use queue::through;
pub(crate) use rendezvous::{Relays, element};
pub(crate) use stream::Stream;

/// Model of the operations with the same value in a group.
#[derive(Clone, Debug)]
pub struct CollectiveModel {
    /// Index of the series in [`Collectives`].
    pub series: usize,
    /// Shape of the operations.
    pub shape: Shape,
    /// Shapes that the class allows, best shape first. Each has the standard deviation of the time
    /// that members take in addition to waiting, in seconds.
    pub fits: Vec<(Shape, f64)>,
    /// Whether the user gave the shape.
    pub is_given: bool,
    /// Whether links record the dependencies. In this case the shape does not matter.
    pub has_links: bool,
    /// Number of the first seat. Each member of each operation has a seat.
    pub(crate) first_seat: u32,
    pub(crate) members: u32,
    pub(crate) root: u32,
    pub(crate) is_turning: bool,
    /// Link time in seconds of each message to a root that waits for all members; 0 if unknown.
    pub root_in_seconds: f64,
    /// Link time in seconds of each message from one member to several; 0 if unknown.
    pub link_out_seconds: f64,
    /// For each seat, the earliest time in seconds at which its member could leave in the recorded
    /// run, not counting its own message. Only if members share links out.
    pub(crate) through: Vec<f64>,
}

impl CollectiveModel {
    /// Returns whether a member waits for messages that share the link into it.
    pub(crate) fn is_queue(&self, instance: usize, member: u32) -> bool {
        let is_gathered = match self.shape {
            Shape::NToOne | Shape::ReduceBcast => member == self.root_of(instance),
            shape => shape == Shape::ReduceRelay,
        };
        self.root_in_seconds > 0.0 && is_gathered
    }

    /// Returns the index of the root of the first operation among the members.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root as usize
    }

    fn without_times(&self) -> Self {
        let (fits, through) = Default::default();
        CollectiveModel { fits, through, ..*self }
    }

    pub(crate) fn root_of(&self, instance: usize) -> u32 {
        if self.is_turning {
            (self.root + instance as u32 % self.members) % self.members
        } else {
            self.root
        }
    }

    /// Returns the operation and the member of a seat.
    pub(crate) fn seat(&self, seat: u32) -> (usize, u32) {
        let at = seat - self.first_seat;
        ((at / self.members) as usize, at % self.members)
    }

    /// Returns the parent in a binomial tree.
    pub(crate) fn above(&self, instance: usize, member: u32) -> Option<u32> {
        let root = self.root_of(instance);
        let relative = (member + self.members - root) % self.members;
        (relative != 0).then(|| ((relative & (relative - 1)) + root) % self.members)
    }

    /// Returns the children in a binomial tree.
    pub(crate) fn below(&self, instance: usize, member: u32) -> impl Iterator<Item = u32> + '_ {
        let root = self.root_of(instance);
        let relative = (member + self.members - root) % self.members;
        let bits = (0..32).map(|bit| 1_u32 << bit);
        let bits = bits.take_while(move |bit| relative & bit == 0);
        let below = bits.map(move |bit| relative | bit).take_while(|below| *below < self.members);
        below.map(move |below| (below + root) % self.members)
    }
}

const fn candidates(class: Collective) -> &'static [Shape] {
    match class {
        Collective::NxN | Collective::Barrier => &[Shape::NxN, Shape::ReduceBcast],
        Collective::OneToN => &[Shape::OneToN, Shape::Binomial],
        Collective::NToOne => &[Shape::NToOne],
        Collective::Scan => &[Shape::Scan],
    }
}

const fn rendezvous_shapes(class: Collective) -> &'static [Shape] {
    match class {
        Collective::NxN => &[Shape::NxN, Shape::ReduceRelay],
        Collective::Barrier => &[Shape::NxN],
        Collective::OneToN => &[Shape::Held, Shape::Relay],
        Collective::NToOne => &[Shape::Held],
        Collective::Scan => &[Shape::Scan],
    }
}

/// Finds the models of all series. `linked` returns whether messages start or end in a state.
/// `eager` is the rendezvous threshold in bytes.
pub(crate) fn shapes(
    tracks: &Tracks<'_>,
    collectives: &Collectives,
    linked: &(dyn Fn(usize, u32) -> bool + Sync),
    settings: &Settings,
    eager: Option<u64>,
) -> Vec<CollectiveModel> {
    let mut seats = 0;
    let first_seat = |series: &Series| {
        let first = seats;
        seats += (series.len() * collectives.members(series).len()) as u32;
        first
    };
    let first_seats: Vec<u32> = collectives.series.iter().map(first_seat).collect();
    let all = collectives.series.par_iter().zip(first_seats).enumerate();
    let shaped = |(at, (series, first_seat)): (usize, (&Series, u32))| {
        let group = collectives.members(series);
        let states = (0..series.len()).flat_map(|instance| series.operation(instance));
        let with = states.zip(group.iter().cycle()).filter(|(s, t)| linked(**t as usize, **s));
        let has_links = with.count() * 2 >= series.len().max(1);
        let name = tracks.trace().types().value_name(series.type_, series.value);
        let said = settings.shapes.iter().find(|(glob, _)| glob.matches(name.text));
        let of_class = settings.broadcast.filter(|_| series.class == Collective::OneToN);
        let said = said.map(|(_, shape)| *shape).or(of_class);
        let root = series.root.unwrap_or(0) as u32;
        let mut shaped = CollectiveModel {
            series: at,
            shape: Shape::Local,
            fits: Vec::new(),
            is_given: said.is_some(),
            has_links,
            first_seat,
            members: group.len() as u32,
            root,
            is_turning: series.is_turning,
            root_in_seconds: 0.0,
            link_out_seconds: 0.0,
            through: Vec::new(),
        };
        let is_held = !has_links
            && eager.is_some_and(|eager| rendezvous::is_rendezvous(tracks, group, series, eager));
        let mut tried: Vec<Shape> =
            if is_held { rendezvous_shapes(series.class) } else { candidates(series.class) }
                .to_vec();
        tried.extend(said.filter(|said| said.is_held() && !tried.contains(said)));
        let usual = tried[0];
        let mut found: Vec<(CollectiveModel, f64)> = Vec::new();
        for shape in tried {
            // The estimate of the root ignored link times, so the first member may be the root as
            // well.
            let is_assumed = shape.is_held() && series.assumed && !series.is_turning && root > 0;
            for root in [Some(root), Some(0).filter(|_| is_assumed)].into_iter().flatten() {
                let shaped = CollectiveModel { shape, root, ..shaped.without_times() };
                found.push(fits::fitted(tracks, group, series, shaped));
            }
        }
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (it, spread) in &found {
            if shaped.fits.iter().all(|(shape, _)| *shape != it.shape) {
                shaped.fits.push((it.shape, *spread));
            }
        }
        // The usual shape is preferred unless another one is clearly better.
        let usual = shaped.fits.iter().find(|(shape, _)| *shape == usual).copied();
        let best = match usual {
            Some(usual) if usual.1 <= shaped.fits[0].1 * 1.05 + 1e-9 => usual.0,
            _ => shaped.fits[0].0,
        };
        shaped.shape = said.unwrap_or(best);
        let best = found.iter().find(|(it, _)| it.shape == shaped.shape);
        if let Some((best, _)) = best {
            (shaped.root, shaped.root_in_seconds, shaped.link_out_seconds) =
                (best.root, best.root_in_seconds, best.link_out_seconds);
        }
        if shaped.link_out_seconds > 0.0 || shaped.shape == Shape::Relay {
            shaped.through = fits::recorded(tracks, group, series, &shaped);
        }
        let root = shaped.root;
        if !shaped.is_queue(0, root) {
            shaped.root_in_seconds = 0.0;
        }
        shaped
    };
    all.map(shaped).collect()
}

/// Returns the earliest exit of a member, given all enters and exits. It does not include the
/// member's overhead.
pub(crate) fn base(
    shaped: &CollectiveModel,
    shape: Shape,
    (instance, member): (usize, u32),
    enter: &dyn Fn(u32) -> f64,
    exit: &dyn Fn(u32) -> f64,
) -> f64 {
    let (own, root) = (enter(member), shaped.root_of(instance));
    let all = || (0..shaped.members).map(enter).fold(f64::NEG_INFINITY, f64::max);
    match shape {
        _ if shaped.is_queue(instance, member) => {
            through(shaped.members, root, shaped.root_in_seconds, enter)
        }
        Shape::NxN | Shape::ReduceRelay => all(),
        Shape::NToOne | Shape::Held if member == root => all(),
        Shape::OneToN | Shape::Held | Shape::Relay => own.max(enter(root)),
        Shape::Binomial | Shape::ReduceBcast => match shaped.above(instance, member) {
            // The root of a tree is free as soon as it has entered.
            Some(above) if above == root && shape == Shape::Binomial => own.max(enter(above)),
            Some(above) => own.max(exit(above)),
            None if shape == Shape::ReduceBcast => all(),
            None => own,
        },
        Shape::Scan => (0..=member).map(enter).fold(f64::NEG_INFINITY, f64::max),
        Shape::NToOne | Shape::Local => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tree(members: u32, root: u32) -> CollectiveModel {
        CollectiveModel {
            series: 0,
            shape: Shape::Binomial,
            fits: Vec::new(),
            is_given: false,
            has_links: false,
            first_seat: 0,
            members,
            root,
            is_turning: false,
            root_in_seconds: 0.0,
            link_out_seconds: 0.0,
            through: Vec::new(),
        }
    }

    #[test]
    fn parents_form_a_binomial_tree() {
        let tree = tree(8, 0);
        let above: Vec<_> = (0..8).map(|member| tree.above(0, member)).collect();
        let expected = [None, Some(0), Some(0), Some(2), Some(0), Some(4), Some(4), Some(6)];
        assert_eq!(above, expected);
    }

    #[test]
    fn below_is_the_inverse_of_above() {
        for members in 1..20 {
            for root in 0..members {
                let tree = tree(members, root);
                for member in 0..members {
                    let below: Vec<u32> = tree.below(0, member).collect();
                    let mut expected: Vec<u32> = (0..members)
                        .filter(|other| tree.above(0, *other) == Some(member))
                        .collect();
                    let mut found = below.clone();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{members} {root} {member}");
                }
            }
        }
    }
}
