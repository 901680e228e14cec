//! Finds by how much clocks differ, from events that must be before others: a message starts before it ends, and nobody
//! leaves a barrier before everybody has entered it.
//!
//! These facts bound the difference of two clocks from both sides. The middle between the bounds is taken, for the pairs
//! with the narrowest bounds that connect all clocks. Containers below the same container have the same clock.

use paje_sim::ContainerId;
use rustc_hash::FxHashMap;

use crate::classes::Collective;
use crate::collectives::Series;
use crate::facts::Facts;
use crate::received::TIME_TOLERANCE;

/// Bounds of the second clock's shift minus the first clock's shift, by pair of clocks.
type Bounds = FxHashMap<(u32, u32), (f64, f64)>;

/// Returns how many seconds to add to the times of each track, if its clocks contradict the order of events. Also returns
/// the largest possible error.
pub(crate) fn shifts(facts: &Facts<'_>) -> Option<(Vec<f64>, f64)> {
    let tracks = facts.tracks.list();
    let containers = facts.tracks.trace().containers();
    let mut numbers: FxHashMap<ContainerId, u32> = FxHashMap::default();
    let clock_of = tracks.iter().map(|track| {
        let next = numbers.len() as u32;
        *numbers.entry(containers.parent(track.container)).or_insert(next)
    });
    let clocks: Vec<u32> = clock_of.collect();
    let mut bounds = Bounds::default();
    // The first time must be before the second one.
    let mut order = |(from, first): (u32, f64), (to, second): (u32, f64)| {
        let (from, to) = (clocks[from as usize], clocks[to as usize]);
        if from < to {
            let bounds = bounds.entry((from, to)).or_insert((f64::NEG_INFINITY, f64::INFINITY));
            bounds.0 = bounds.0.max(first - second);
        } else if from > to {
            let bounds = bounds.entry((to, from)).or_insert((f64::NEG_INFINITY, f64::INFINITY));
            bounds.1 = bounds.1.min(second - first);
        }
    };
    for message in facts.messages.list() {
        order((message.from, message.start), (message.to, message.end));
    }
    for series in &facts.collectives.series {
        for instance in 0..series.len() {
            order_members(series, &series.times(&facts.tracks, instance), instance, &mut order);
        }
    }
    let is_wrong = |(low, high): &(f64, f64)| *low > TIME_TOLERANCE || *high < -TIME_TOLERANCE;
    bounds.values().any(is_wrong).then(|| {
        let (shifts, error) = spread(numbers.len(), bounds);
        (clocks.iter().map(|clock| shifts[*clock as usize]).collect(), error)
    })
}

/// Orders the enters and exits of an operation's members. For members that all wait for one another, the first one stands
/// for all, because comparing all pairs would take long.
fn order_members(
    series: &Series,
    times: &[(f64, f64)],
    instance: usize,
    order: &mut impl FnMut((u32, f64), (u32, f64)),
) {
    let main = match (series.class, series.root_of(instance)) {
        (Collective::NxN | Collective::Barrier, _) => 0,
        (Collective::OneToN | Collective::NToOne, Some(root)) => root,
        _ => return,
    };
    let (track, (enter, exit)) = (series.tracks[main], times[main]);
    for (other, (other_enter, other_exit)) in series.tracks.iter().zip(times) {
        if series.class != Collective::NToOne {
            order((track, enter), (*other, *other_exit));
        }
        if series.class != Collective::OneToN {
            order((*other, *other_enter), (track, exit));
        }
    }
}

/// Returns the shift of each clock, and the largest possible error. The first of the clocks that depend on one another is
/// right.
fn spread(count: usize, bounds: Bounds) -> (Vec<f64>, f64) {
    let mut edges: Vec<((u32, u32), (f64, f64))> = bounds.into_iter().collect();
    edges.sort_by(|a, b| (a.1.1 - a.1.0).total_cmp(&(b.1.1 - b.1.0)).then(a.0.cmp(&b.0)));
    // For each clock, the number of its group, and its shift against the group's first clock.
    let mut groups: Vec<usize> = (0..count).collect();
    let (mut shifts, mut error) = (vec![0.0; count], 0.0);
    for ((a, b), (low, high)) in edges {
        let (a, b) = (a as usize, b as usize);
        if groups[a] == groups[b] {
            continue;
        }
        let difference = match low.is_finite() && high.is_finite() {
            true => f64::midpoint(low, high),
            false => 0.0_f64.max(low).min(high),
        };
        error += 0.5 * (high - low);
        let (kept, moved) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
        let by = match groups[a] == kept {
            true => shifts[a] + difference - shifts[b],
            false => shifts[b] - difference - shifts[a],
        };
        for clock in (0..count).filter(|clock| groups[*clock] == moved).collect::<Vec<_>>() {
            groups[clock] = kept;
            shifts[clock] += by;
        }
    }
    (shifts, error)
}
