//! Why one run is slower than another, in words.

use std::collections::BTreeMap;

use paje_decimal::amounts::{count, duration, percent};
use paje_sim::{Trace, TypeNature};

use super::{Row, Run};
use crate::quantiles::median;
use crate::{Label, Scope};

/// Number of parts of a run, each with equally many states.
const PARTS: usize = 20;

/// Returns sentences that say where the second run takes longer or less time than the first: in
/// which values, containers and phases, and how the number of messages changes. `rows` compares
/// values, and `by_container` compares them for each container.
#[must_use]
pub fn words(
    traces: [&Trace; 2],
    runs: [Run<'_>; 2],
    rows: &[Row],
    by_container: &[Row],
    scope: &Scope,
) -> Vec<String> {
    let lengths = runs.map(|run| run.makespan.to_f64());
    let change = lengths[1] - lengths[0];
    // Units of time differ by rounding errors.
    let change = if change.abs() <= 1e-9 * lengths[0].abs() { 0.0 } else { change };
    let mut words = Vec::new();
    words.push(match change {
        0.0 => format!("B takes as long as A, {}", duration(lengths[0])),
        _ => format!(
            "B takes {}, {} ({}) {} than A",
            duration(lengths[1]),
            duration(change.abs()),
            percent(change.abs() / lengths[0].max(f64::MIN_POSITIVE)),
            if change > 0.0 { "longer" } else { "less" },
        ),
    });
    if change != 0.0 {
        // Values that change in the same direction as the length.
        let share = |row: &&Row| row.share.filter(|share| *share >= 0.05);
        let values = rows.iter().filter(|row| share(row).is_some()).take(3);
        let values: Vec<String> = values
            .map(|row| {
                let each = signed(row.share.unwrap_or(0.0) * change);
                format!("{} {each}", row.value)
            })
            .collect();
        if !values.is_empty() {
            words.push(format!("by activity, per container: {}", values.join(", ")));
        }
        words.extend(containers(by_container, change));
        words.extend(phase(traces, scope, change));
    }
    let links = traces.map(|trace| trace.counts().links);
    if links[0] != links[1] {
        words.push(format!(
            "links, such as messages: {} in A, {} in B",
            count(links[0]),
            count(links[1])
        ));
    }
    let states = [0, 1].map(|run| rows.iter().map(|row| row.count[run]).sum::<u64>());
    if states[0] != states[1] {
        words.push(format!("states: {} in A, {} in B", count(states[0]), count(states[1])));
    }
    words
}

/// Formats a change. Less than a nanosecond is a rounding error.
fn signed(seconds: f64) -> String {
    let seconds = if seconds.abs() < 1e-9 { 0.0 } else { seconds };
    format!("{}{}", if seconds > 0.0 { "+" } else { "" }, duration(seconds))
}

/// Names containers in which a value changes much more than in most of them.
fn containers(rows: &[Row], change: f64) -> Option<String> {
    let mut values: BTreeMap<(&Label, &Label), Vec<(f64, &Label)>> = BTreeMap::new();
    for row in rows {
        let container = row.container.as_ref()?;
        let all = values.entry((&row.type_, &row.value)).or_default();
        all.push((row.change.to_f64() * change.signum(), container));
    }
    let mut found: Option<(f64, &Label, f64)> = None;
    let mut outliers = Vec::new();
    for ((_, value), mut all) in values {
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let (usual, count) = (all[all.len() / 2].0, all.len());
        let excess = all[0].0 - usual;
        all.retain(|it| it.0 - usual >= (0.2 * change.abs()).max(0.5 * excess));
        let is_few = !all.is_empty() && 3 * all.len() <= count;
        if is_few && found.as_ref().is_none_or(|it| it.0 < excess) {
            found = Some((excess, value, usual));
            outliers = all;
        }
    }
    let (_, value, usual) = found?;
    let names = outliers.iter().take(3);
    let names = names.map(|(by, name)| format!("{name} {}", signed(by * change.signum())));
    let names: Vec<String> = names.collect();
    let more = outliers.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let usual = signed(usual * change.signum());
    Some(format!(
        "by container: {value} changes in {}{more}; the median is {usual}",
        names.join(", ")
    ))
}

/// Finds a phase that has most of the change.
fn phase(traces: [&Trace; 2], scope: &Scope, change: f64) -> Option<String> {
    let [a, b] = traces.map(|trace| progress(trace, scope));
    let (a, b) = (a?, b?);
    let changes: Vec<f64> = (0..PARTS)
        .map(|part| ((b[part + 1] - b[part]) - (a[part + 1] - a[part])) * change.signum())
        .collect();
    let usual = median(&changes);
    // The range with the largest excess.
    let (mut best, mut start, mut sum) = ((0.0, 0..0), 0, 0.0);
    for (part, change) in changes.iter().enumerate() {
        sum += change - usual;
        if sum <= 0.0 {
            (sum, start) = (0.0, part + 1);
        } else if sum > best.0 {
            best = (sum, start..part + 1);
        }
    }
    let (excess, range) = best;
    let is_phase = 2 * range.len() <= PARTS && excess >= 0.5 * change.abs();
    is_phase.then(|| {
        let [from, until] = [range.start, range.end].map(|part| part as f64 / PARTS as f64);
        let spans = [&a, &b].map(|it| duration(it[range.end] - it[range.start]));
        format!(
            "by phase: from {} to {} of the states, {} in A and {} in B",
            percent(from),
            percent(until),
            spans[0],
            spans[1]
        )
    })
}

/// Returns the mean time in seconds at which the containers have begun each part of their states.
fn progress(trace: &Trace, scope: &Scope) -> Option<Vec<f64>> {
    let (mut sums, mut lanes) = (vec![0.0; PARTS + 1], 0.0);
    let scale = trace.time_scale();
    for lane in scope.lanes(trace, TypeNature::State).filter(|lane| lane.len() >= 2 * PARTS as u64)
    {
        let states: Vec<(f64, f64)> = lane.states().map(|it| (it.start, it.end)).collect();
        let end = states.iter().map(|state| state.1).fold(f64::NEG_INFINITY, f64::max);
        for (part, sum) in sums.iter_mut().enumerate() {
            let at = states.get(states.len() * part / PARTS).map_or(end, |state| state.0);
            *sum += scale.seconds(at);
        }
        lanes += 1.0;
    }
    (lanes > 0.0).then(|| sums.into_iter().map(|sum| sum / lanes).collect())
}
