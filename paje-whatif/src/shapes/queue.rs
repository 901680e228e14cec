//! Messages of a collective without links to a root that waits for all members. They share the link
//! into the root, and queue if the root is late or if several come at once. The link time of a
//! message follows from comparing two kinds of operations: those in which the root came last, and
//! those in which it came long before the last member.

use paje_analysis::collectives::Series;
use paje_analysis::tracks::Tracks;

/// Returns when the last message would complete if it took no time itself. Each message starts when
/// both sides are ready, and uses the link for `each` seconds.
pub(crate) fn through(members: u32, root: u32, each: f64, enter: impl Fn(u32) -> f64) -> f64 {
    let own = enter(root);
    let others = (0..members).filter(|member| *member != root);
    let mut starts: Vec<f64> = others.map(|member| enter(member).max(own)).collect();
    starts.sort_unstable_by(f64::total_cmp);
    last(&starts, each).map_or(own, |(start, behind)| start + behind * each)
}

/// Returns the start of the last busy period of the link, and the number of later messages.
fn last(starts: &[f64], each: f64) -> Option<(f64, f64)> {
    let behind = |at: usize| (starts.len() - 1 - at) as f64;
    let all = starts.iter().enumerate().map(|(at, start)| (*start, behind(at)));
    all.max_by(|a, b| (a.0 + a.1 * each).total_cmp(&(b.0 + b.1 * each)))
}

/// An operation: sorted starts of its messages, and the exit of the root.
pub(super) type Sample = (Vec<f64>, f64);

pub(super) fn samples(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    root_of: impl Fn(usize) -> u32,
) -> Vec<Sample> {
    let step = series.len().div_ceil(1000).max(1);
    let sample = |instance: usize| {
        let states = series.operation(instance);
        let state = |member: usize| states[member] as usize;
        let track = |member: usize| &tracks.list()[group[member] as usize];
        let enter = |member: usize| track(member).start[state(member)];
        let root = root_of(instance) as usize;
        let others = (0..group.len()).filter(|member| *member != root);
        let mut starts: Vec<f64> = others.map(|member| enter(member).max(enter(root))).collect();
        starts.sort_unstable_by(f64::total_cmp);
        (starts, track(root).end[state(root)])
    };
    (0..series.len()).step_by(step).map(sample).collect()
}

const ROUNDS: usize = 20;

/// Returns the link time of a message, or 0 if a link time does not explain the samples much
/// better.
pub(super) fn explained(samples: &[Sample]) -> f64 {
    let most = samples.iter().map(|(starts, _)| starts.len()).max().unwrap_or(0);
    let rests = samples.iter().filter_map(|(starts, exit)| Some(exit - starts.last()?));
    let (least, longest) =
        rests.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), rest| (a.min(rest), b.max(rest)));
    if most < 2 || longest - least < TIME_EPSILON {
        return 0.0;
    }
    let start = (longest - least) / most as f64;
    let found =
        [start, start / 4.0, start * 4.0].into_iter().filter_map(|from| better(samples, from));
    let best = found.min_by(|a, b| spread(samples, *a).total_cmp(&spread(samples, *b)));
    best.filter(|each| spread(samples, *each) < 0.5 * spread(samples, 0.0)).unwrap_or(0.0)
}

/// Bound for rounding errors, in seconds.
pub(super) const TIME_EPSILON: f64 = 2e-9;

/// Refines an estimate by linear regression of exits on queue lengths.
fn better(samples: &[Sample], mut each: f64) -> Option<f64> {
    for _ in 0..ROUNDS {
        let points = samples.iter().filter_map(|(starts, exit)| {
            let (start, behind) = last(starts, each)?;
            Some((behind, exit - start))
        });
        let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (behind, rest) in points {
            (n, x, y) = (n + 1.0, x + behind, y + rest);
            (xx, xy) = (xx + behind * behind, xy + behind * rest);
        }
        let determinant = n * xx - x * x;
        if determinant <= 0.0 {
            return None;
        }
        each = ((n * xy - x * y) / determinant).max(0.0);
    }
    Some(each)
}

/// Returns the seconds that the root takes in addition to waiting.
pub(super) fn rest((starts, exit): &Sample, each: f64) -> Option<f64> {
    last(starts, each).map(|(start, behind)| exit - start - behind * each)
}

pub(super) fn spread(samples: &[Sample], each: f64) -> f64 {
    let rests: Vec<f64> = samples.iter().filter_map(|sample| rest(sample, each)).collect();
    let mean = rests.iter().sum::<f64>() / rests.len() as f64;
    (rests.iter().map(|rest| (rest - mean).powi(2)).sum::<f64>() / rests.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_time_of_messages_is_found() {
        // In twelve operations, the last of eight members comes long after the others. In two, all
        // come at once.
        let exit = |starts: &[f64]| {
            through(9, 8, 3e-6, |at| if at < 8 { starts[at as usize] } else { 0.0 }) + 22e-6
        };
        let spread_out = |i: usize| (0..8).map(|at| (at * 100 + i) as f64 * 1e-6).collect();
        let mut all: Vec<Vec<f64>> = (0..12).map(spread_out).collect();
        all.extend([
            vec![1.0; 8],
            vec![2.0; 8],
            vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.000_004],
        ]);
        let samples: Vec<Sample> =
            all.into_iter().map(|starts| (starts.clone(), exit(&starts))).collect();
        assert!((explained(&samples) - 3e-6).abs() < 1e-12);
        assert_eq!(explained(&samples[..12]), 0.0);
        assert_eq!(explained(&[]), 0.0);
    }

    #[test]
    fn messages_use_a_link_one_after_the_other() {
        let enters = [0.0, 1.0, 1.5, 7.0];
        let enter = |member: u32| enters[member as usize];
        // Without link time, the root leaves when all have entered. With 1 s, the third message
        // waits for the second.
        assert_eq!(through(4, 0, 0.0, enter), 7.0);
        assert_eq!(through(3, 0, 1.0, enter), 2.0);
        assert_eq!(through(4, 3, 1.0, enter), 9.0);
        assert_eq!(through(1, 0, 1.0, enter), 0.0);
    }
}
