//! Finds out how well a shape explains the recorded times, and the link times that follow from it.
//! The measure is the spread of the time that members take in addition to waiting.

use paje_analysis::collectives::Series;
use paje_analysis::tracks::Tracks;

use super::{CollectiveModel, base, queue, rendezvous, stream, through};
use crate::settings::Shape;

/// Fits a series to its shape. Also returns the standard deviation of the time that members take in
/// addition to waiting.
pub(super) fn fitted(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    mut shaped: CollectiveModel,
) -> (CollectiveModel, f64) {
    let shape = shaped.shape;
    let samples = || queue::samples(tracks, group, series, |at| shaped.root_of(at));
    shaped.root_in_seconds = match shape {
        _ if shaped.has_links => 0.0,
        Shape::NToOne | Shape::ReduceBcast => queue::explained(&samples()),
        Shape::ReduceRelay => rendezvous::each_of(&samples(), group.len()),
        _ => 0.0,
    };
    let mut spread_of = spread(tracks, group, series, &shaped, shape);
    let is_tree = matches!(
        shape,
        Shape::OneToN | Shape::Binomial | Shape::ReduceBcast | Shape::Held | Shape::Relay
    );
    let is_more = shaped.members > 2 || shape.is_held() && shaped.members == 2;
    if is_tree && !shaped.has_links && is_more {
        (shaped.link_out_seconds, spread_of) =
            out_of(tracks, group, series, &shaped, shape, spread_of);
    }
    (shaped, spread_of)
}

/// Maximum number of members that are sampled to estimate the time on a link.
const SAMPLED_MEMBERS: usize = 4_000;

/// Returns the time for which each message uses the link out of its sender if operations have this
/// shape, and the resulting spread. `spread_of` is the spread if messages use no time there.
fn out_of(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    shaped: &CollectiveModel,
    shape: Shape,
    spread_of: f64,
) -> (f64, f64) {
    // The operations are consecutive, since a message may meet those of the previous operation.
    let count = (SAMPLED_MEMBERS / group.len()).max(4).min(series.len());
    let seats = (0..count).flat_map(|at| (0..shaped.members).map(move |member| (at, member)));
    let times = |(at, member)| recorded_times(tracks, group, series, at, member);
    let (enters, exits): (Vec<f64>, Vec<f64>) = seats.map(times).unzip();
    let seat = |at: usize, member: u32| at * group.len() + member as usize;
    let enter = |at, member| enters[seat(at, member)];
    let exit = |at, member| exits[seat(at, member)];
    // Returns the time that each seat takes in addition to waiting, if each message uses the link
    // for `each` seconds.
    let rests = |each: f64| -> Vec<f64> {
        let bases = match shape {
            Shape::Relay => rendezvous::relayed(shaped, each, count, &enter),
            _ => shaped.through(shape, each, count, &enter, &exit),
        };
        exits.iter().zip(bases).map(|(exit, base)| exit - base).collect()
    };
    // A member's own message follows those for which it waits, unless it is already counted.
    let own = if shape == Shape::Held { 1.0 } else { 0.0 };
    let room = |each: f64| rests(each).into_iter().fold(f64::INFINITY, f64::min) - own * each;
    let most = match shape.is_held() {
        true => rendezvous::longest(room),
        false => room(0.0).max(0.0),
    };
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
    let found = match shape.is_held() {
        true => rendezvous::at_most(most, &spread),
        false => stream::out_of(most, spread),
    };
    match found {
        0.0 => (0.0, spread_of),
        out => (out, spread(out)),
    }
}

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

/// Returns for each seat the earliest recorded time at which its member could leave, not counting
/// its own message.
pub(super) fn recorded(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    shaped: &CollectiveModel,
) -> Vec<f64> {
    let enter = |at, member| recorded_times(tracks, group, series, at, member).0;
    let exit = |at, member| recorded_times(tracks, group, series, at, member).1;
    if shaped.shape == Shape::Relay {
        return rendezvous::relayed(shaped, shaped.link_out_seconds, series.len(), &enter);
    }
    let mut through =
        shaped.through(shaped.shape, shaped.link_out_seconds, series.len(), &enter, &exit);
    if shaped.shape == Shape::Held {
        // The root leaves when all messages have completed.
        let members = shaped.members as usize;
        for (at, of_operation) in through.chunks_exact_mut(members).enumerate() {
            let last = of_operation.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            of_operation[shaped.root_of(at) as usize] = last;
        }
    }
    through
}

/// Returns the standard deviation of the time in addition to waiting. Deviations are taken from the
/// mean of each member.
fn spread(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    shaped: &CollectiveModel,
    shape: Shape,
) -> f64 {
    let step = series.len().div_ceil(1000).max(1);
    let mut sums = vec![(0.0, 0.0); group.len()];
    let mut count = 0.0;
    for instance in (0..series.len()).step_by(step) {
        let states = series.operation(instance);
        let track = |member: u32| &tracks.list()[group[member as usize] as usize];
        let enter = |member: u32| track(member).start[states[member as usize] as usize];
        let exit = |member: u32| track(member).end[states[member as usize] as usize];
        let latest = match shape {
            Shape::ReduceRelay if shaped.root_in_seconds > 0.0 => {
                through(shaped.members, shaped.root_of(instance), shaped.root_in_seconds, enter)
            }
            Shape::NxN | Shape::ReduceRelay => {
                (0..shaped.members).map(enter).fold(f64::NEG_INFINITY, f64::max)
            }
            _ => 0.0,
        };
        for member in 0..shaped.members {
            let base = match shape {
                Shape::NxN | Shape::ReduceRelay => latest,
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
