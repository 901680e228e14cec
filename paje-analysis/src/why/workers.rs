//! Runs of a task runtime, such as StarPU: execution, overhead and idle time by kind of worker.
//!
//! If task dependencies are known, `tasks.rs` beside this file has better rules.

use std::collections::BTreeMap;

use paje_comm::tasks;
use paje_decimal::amounts::percent;

use super::{Cause, Kind, LEAST, Verdict};
use crate::tasks::NO_FILE;
use crate::waits::Waits;
use crate::waits::rest::Rest;

/// Judges a run from the states of its workers. If no container is called a worker, they are those that compute.
#[must_use]
pub fn of_workers(waits: &Waits<'_>) -> Verdict {
    let window = waits.whole();
    let tracks = &waits.facts.tracks;
    let are_named = (0..tracks.list().len()).any(|at| tasks::is_worker(tracks, at));
    let mut kinds: BTreeMap<String, (usize, [f64; 3])> = BTreeMap::new();
    for (at, track) in tracks.list().iter().enumerate() {
        if are_named && !tasks::is_worker(tracks, at) {
            continue;
        }
        let mut times = [0.0; 3];
        waits.each_rest(at, window, |rest, piece| {
            // Time between states is idle here.
            let place = match (rest, piece.state) {
                (Rest::Computing, Some(_)) => 0,
                (Rest::Computing, None) | (Rest::Unexplained, _) => 2,
                _ => 1,
            };
            times[place] += piece.end - piece.start;
        });
        if are_named || times[0] > 0.0 {
            let kind = tasks::kind(tracks.trace().containers().name(track.container));
            let entry = kinds.entry(kind).or_default();
            entry.0 += 1;
            entry.1.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        }
    }
    let mut verdict = Verdict { is_judged: true, ..Verdict::default() };
    let length = (window.1 - window.0).max(f64::MIN_POSITIVE);
    let (mut sums, mut workers) = ([0.0; 3], 0);
    for (kind, (count, times)) in &kinds {
        let [busy, overhead, idle] = times.map(|time| percent(time / length / *count as f64));
        let text = format!("{count} {kind}: executing {busy}, overhead {overhead}, idle {idle}");
        verdict.facts.push(("workers", text));
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        workers += count;
    }
    let [_, overhead, idle] = sums.map(|sum| sum / length / workers.max(1) as f64);
    for (kind, cost, what) in [
        (Kind::Idle, idle, "workers have no task to execute"),
        (Kind::Overhead, overhead, "the runtime schedules, fetches data or submits tasks"),
    ] {
        if cost >= LEAST {
            let text = format!("{what} for {} of their time", percent(cost));
            verdict.causes.push(Cause::new(kind, cost, text, "--by container"));
        }
    }
    verdict.causes.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    verdict.doubts.push(format!("why workers are idle is not known: {NO_FILE}"));
    verdict
}
