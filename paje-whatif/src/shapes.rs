//! Who waits for whom in operations of groups that have no links: the shape of each value.
//!
//! Of the shapes that an operation of its class may have, the one is taken that explains the recorded times best: what each
//! member takes beyond its waiting should be the same in all operations.

mod queue;
mod stream;

use paje_analysis::classes::Collective;
use paje_analysis::collectives::{Collectives, Series};
use paje_analysis::tracks::Tracks;
use rayon::prelude::*;

use crate::settings::{Settings, Shape};
pub(crate) use queue::through;
pub(crate) use stream::Stream;

/// The operations of one value in one group, as they are re-timed.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// The place among the series of [`Collectives`].
    pub series: usize,
    /// Who waits for whom.
    pub shape: Shape,
    /// Shapes that its class may have, the one that explains the times best first, each with the standard deviation of
    /// what members take beyond their waiting, in seconds.
    pub fits: Vec<(Shape, f64)>,
    /// True if somebody said which shape it has.
    pub is_said: bool,
    /// True if its links tell who waits for whom, so that the shape does not matter.
    pub has_links: bool,
    /// The number of its first seat: one for each member of each operation.
    pub(crate) first_seat: u32,
    pub(crate) members: u32,
    /// The root of the first operation, and whether members are roots in turn.
    pub(crate) root: u32,
    pub(crate) is_turning: bool,
    /// Time that each message to a root that waits for all needs the link into it, in seconds; 0 if not known.
    pub each: f64,
    /// Time that each message to several members needs the link out of the one that sends them, in seconds; 0 if not known.
    pub out: f64,
    /// By seat, from the first one on, if members share links out: when it could leave in the recorded run at the earliest, were
    /// it not for its own message, in seconds.
    pub(crate) through: Vec<f64>,
}

impl Shaped {
    /// True if a member waits for messages that share the link into it.
    pub(crate) fn is_queue(&self, instance: usize, member: u32) -> bool {
        let is_gathered = matches!(self.shape, Shape::NToOne | Shape::ReduceBcast);
        self.each > 0.0 && is_gathered && member == self.root_of(instance)
    }

    /// The root of an operation.
    pub(crate) fn root_of(&self, instance: usize) -> u32 {
        if self.is_turning {
            (self.root + instance as u32 % self.members) % self.members
        } else {
            self.root
        }
    }

    /// The operation and the member that have a seat.
    pub(crate) fn seat(&self, seat: u32) -> (usize, u32) {
        let at = seat - self.first_seat;
        ((at / self.members) as usize, at % self.members)
    }

    /// Whom a member waits for in a binomial tree.
    pub(crate) fn above(&self, instance: usize, member: u32) -> Option<u32> {
        let root = self.root_of(instance);
        let relative = (member + self.members - root) % self.members;
        (relative != 0).then(|| ((relative & (relative - 1)) + root) % self.members)
    }

    /// Who waits for a member in a binomial tree.
    pub(crate) fn below(&self, instance: usize, member: u32) -> impl Iterator<Item = u32> + '_ {
        let root = self.root_of(instance);
        let relative = (member + self.members - root) % self.members;
        let bits = (0..32).map(|bit| 1_u32 << bit);
        let bits = bits.take_while(move |bit| relative & bit == 0);
        let below = bits.map(move |bit| relative | bit).take_while(|below| *below < self.members);
        below.map(move |below| (below + root) % self.members)
    }
}

/// The shapes that the operations of a class may have, the usual one first.
const fn candidates(class: Collective) -> &'static [Shape] {
    match class {
        Collective::NxN | Collective::Barrier => &[Shape::NxN, Shape::ReduceBcast],
        Collective::OneToN => &[Shape::OneToN, Shape::Binomial],
        Collective::NToOne => &[Shape::NToOne],
        Collective::Scan => &[Shape::Scan],
    }
}

/// The shapes of all series; `linked` tells of each state whether messages start or end in it.
pub(crate) fn shapes(
    tracks: &Tracks<'_>,
    collectives: &Collectives,
    linked: &(dyn Fn(usize, u32) -> bool + Sync),
    settings: &Settings,
) -> Vec<Shaped> {
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
        let mut shaped = Shaped {
            series: at,
            shape: Shape::Local,
            fits: Vec::new(),
            is_said: said.is_some(),
            has_links,
            first_seat,
            members: group.len() as u32,
            root,
            is_turning: series.is_turning,
            each: 0.0,
            out: 0.0,
            through: Vec::new(),
        };
        let (mut each, mut outs) = (0.0, Vec::new());
        for shape in candidates(series.class) {
            shaped.shape = *shape;
            if matches!(shape, Shape::NToOne | Shape::ReduceBcast) && !has_links {
                each = queue::each_of(tracks, group, series, |at| shaped.root_of(at));
            }
            shaped.each = each;
            shaped.out = 0.0;
            let mut spread_of = spread(tracks, group, series, &shaped, *shape);
            let is_tree = matches!(shape, Shape::OneToN | Shape::Binomial | Shape::ReduceBcast);
            if is_tree && !has_links && shaped.members > 2 {
                (shaped.out, spread_of) = out_of(tracks, group, series, &shaped, *shape, spread_of);
            }
            outs.push((*shape, shaped.out));
            let spread = spread_of;
            shaped.fits.push((*shape, spread));
        }
        shaped.fits.sort_by(|a, b| a.1.total_cmp(&b.1));
        // Another shape than the usual one has to be clearly better.
        let usual = candidates(series.class)[0];
        let usual = shaped.fits.iter().find(|(shape, _)| *shape == usual).copied();
        let best = match usual {
            Some(usual) if usual.1 <= shaped.fits[0].1 * 1.05 + 1e-9 => usual.0,
            _ => shaped.fits[0].0,
        };
        shaped.shape = said.unwrap_or(best);
        shaped.each = each;
        let out = outs.iter().find(|(shape, _)| *shape == shaped.shape);
        shaped.out = out.map_or(0.0, |(_, out)| *out);
        if shaped.is_stream() {
            shaped.through = recorded(tracks, group, series, &shaped);
        }
        if !shaped.is_queue(0, root) {
            shaped.each = 0.0;
        }
        shaped
    };
    all.map(shaped).collect()
}

/// Number of members of operations that tell how long messages need links out.
const TELL: usize = 4_000;

/// Time that each message needs the link out of its sender, if operations have this shape, and the spread of what members
/// take then: that is `spread_of` if messages need no time there.
fn out_of(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    shaped: &Shaped,
    shape: Shape,
    spread_of: f64,
) -> (f64, f64) {
    // The first ones: what a member sends may meet what it sent in the operation before.
    let count = (TELL / group.len()).max(4).min(series.len());
    let seats = (0..count).flat_map(|at| (0..shaped.members).map(move |member| (at, member)));
    let times = |(at, member)| recorded_times(tracks, group, series, at, member);
    let (enters, exits): (Vec<f64>, Vec<f64>) = seats.map(times).unzip();
    let seat = |at: usize, member: u32| at * group.len() + member as usize;
    let enter = |at, member| enters[seat(at, member)];
    let exit = |at, member| exits[seat(at, member)];
    // By seat, what members take, if each message needs the link for so long.
    let rests = |each: f64| -> Vec<f64> {
        let bases = shaped.through(shape, each, count, &enter, &exit);
        exits.iter().zip(bases).map(|(exit, base)| exit - base).collect()
    };
    let most = rests(0.0).into_iter().fold(f64::INFINITY, f64::min).max(0.0);
    let spread = |each: f64| {
        let mut sums = vec![(0.0, 0.0); group.len()];
        for (at, rest) in rests(each).into_iter().enumerate() {
            let sum: &mut (f64, f64) = &mut sums[at % group.len()];
            *sum = (sum.0 + rest, sum.1 + rest * rest);
        }
        let n = count as f64;
        let variance = |(sum, squares): &(f64, f64)| squares / n - (sum / n).powi(2);
        let sum: f64 = sums.iter().map(variance).filter(|v| !v.is_nan()).map(|v| v.max(0.0)).sum();
        (sum / group.len() as f64).sqrt()
    };
    if !most.is_finite() {
        return (0.0, spread_of);
    }
    match stream::out_of(most, spread) {
        0.0 => (0.0, spread_of),
        out => (out, spread(out)),
    }
}

/// When a member entered and left an operation in the recorded run.
fn recorded_times(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    instance: usize,
    member: u32,
) -> (f64, f64) {
    let track = &tracks.list()[group[member as usize] as usize];
    let state = series.operation(instance)[member as usize] as usize;
    (track.start[state], track.end[state])
}

/// By seat, when members could leave in the recorded run, were it not for their own messages.
fn recorded(tracks: &Tracks<'_>, group: &[u32], series: &Series, shaped: &Shaped) -> Vec<f64> {
    let enter = |at, member| recorded_times(tracks, group, series, at, member).0;
    let exit = |at, member| recorded_times(tracks, group, series, at, member).1;
    shaped.through(shaped.shape, shaped.out, series.len(), &enter, &exit)
}

/// When a member could leave at the earliest, were it not for its own doing: `enters` and `exits` are those of the members.
pub(crate) fn base(
    shaped: &Shaped,
    shape: Shape,
    (instance, member): (usize, u32),
    enter: &dyn Fn(u32) -> f64,
    exit: &dyn Fn(u32) -> f64,
) -> f64 {
    let (own, root) = (enter(member), shaped.root_of(instance));
    let all = || (0..shaped.members).map(enter).fold(f64::NEG_INFINITY, f64::max);
    match shape {
        _ if shaped.is_queue(instance, member) => through(shaped.members, root, shaped.each, enter),
        Shape::NxN => all(),
        Shape::NToOne if member == root => all(),
        Shape::OneToN => own.max(enter(root)),
        Shape::Binomial | Shape::ReduceBcast => match shaped.above(instance, member) {
            // The root of a tree is free when it has entered.
            Some(above) if above == root && shape == Shape::Binomial => own.max(enter(above)),
            Some(above) => own.max(exit(above)),
            None if shape == Shape::ReduceBcast => all(),
            None => own,
        },
        Shape::Scan => (0..=member).map(enter).fold(f64::NEG_INFINITY, f64::max),
        Shape::NToOne | Shape::Local => own,
    }
}

/// The standard deviation of what members take beyond their waiting, each about its own mean.
fn spread(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    shaped: &Shaped,
    shape: Shape,
) -> f64 {
    // A sample of a long series tells as much.
    let step = series.len().div_ceil(1000).max(1);
    let mut sums = vec![(0.0, 0.0); group.len()];
    let mut count = 0.0;
    for instance in (0..series.len()).step_by(step) {
        let states = series.operation(instance);
        let track = |member: u32| &tracks.list()[group[member as usize] as usize];
        let enter = |member: u32| track(member).start[states[member as usize] as usize];
        let exit = |member: u32| track(member).end[states[member as usize] as usize];
        let latest = match shape {
            Shape::NxN => (0..shaped.members).map(enter).fold(f64::NEG_INFINITY, f64::max),
            _ => 0.0,
        };
        for member in 0..shaped.members {
            let base = match shape {
                Shape::NxN => latest,
                _ => base(shaped, shape, (instance, member), &enter, &exit),
            };
            let rest: f64 = exit(member) - base;
            let sum: &mut (f64, f64) = &mut sums[member as usize];
            *sum = (sum.0 + rest, sum.1 + rest * rest);
        }
        count += 1.0;
    }
    let variance = |(sum, squares): &(f64, f64)| (squares / count - (sum / count).powi(2)).max(0.0);
    if count == 0.0 {
        return 0.0;
    }
    (sums.iter().map(variance).sum::<f64>() / group.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(members: u32, root: u32) -> Shaped {
        Shaped {
            series: 0,
            shape: Shape::Binomial,
            fits: Vec::new(),
            is_said: false,
            has_links: false,
            first_seat: 0,
            members,
            root,
            is_turning: false,
            each: 0.0,
            out: 0.0,
            through: Vec::new(),
        }
    }

    #[test]
    fn a_binomial_tree() {
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
