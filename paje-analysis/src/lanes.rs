//! Parallel processing of lanes.

use std::sync::Mutex;

use paje_sim::LaneView;
use paje_workers::Workers;

const AT_ONCE: usize = 16;

/// Calls `see` for each lane. Its arguments are the lane, the lane's entry in `kept`, and the
/// worker's result. Returns the results of all workers. `kept` is indexed by lane and grows as
/// needed.
pub(crate) fn each<'t, K: Default + Send, F: Default + Send>(
    lanes: impl Iterator<Item = LaneView<'t>>,
    kept: &mut Vec<K>,
    workers: &Workers,
    see: impl Fn(LaneView<'t>, &mut K, &mut F) + Sync,
) -> Vec<F> {
    let lanes: Vec<LaneView<'t>> = lanes.filter(|lane| !lane.is_empty()).collect();
    let Some(last) = lanes.last() else { return Vec::new() };
    if kept.len() <= last.id().index() {
        kept.resize_with(last.id().index() + 1, K::default);
    }
    let mut rest = kept.as_mut_slice();
    let mut behind = 0;
    let mut work = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let (before, after) =
            std::mem::take(&mut rest).split_at_mut(lane.id().index() + 1 - behind);
        behind = lane.id().index() + 1;
        rest = after;
        work.extend(before.last_mut().map(|kept| (lane, kept)));
    }
    // The longest lanes come first, so that workers finish at about the same time.
    work.sort_by_key(|(lane, _)| std::cmp::Reverse(lane.len()));
    let at_once = AT_ONCE.min(work.len().div_ceil(4 * workers.threads())).max(1);
    let (work, found) = (Mutex::new(work.into_iter()), Mutex::new(Vec::new()));
    workers.on_each(|_| {
        let mut finds = F::default();
        loop {
            let some: Vec<_> = {
                // Only a panic in the iterator could poison the lock.
                let Ok(mut work) = work.lock() else { break };
                work.by_ref().take(at_once).collect()
            };
            if some.is_empty() {
                break;
            }
            some.into_iter().for_each(|(lane, kept)| see(lane, kept, &mut finds));
        }
        if let Ok(mut found) = found.lock() {
            found.push(finds);
        }
    });
    found.into_inner().unwrap_or_default()
}
