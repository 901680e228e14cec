use paje_workers::Workers;

use crate::input::sorted::times::{Found, Timed};
use crate::input::sorted::{Line, Part};

/// Number of parts for each worker. With several parts, no worker waits long for another.
const PARTS_PER_WORKER: usize = 4;

/// Number of times sampled per part. With this many, the sizes of the parts differ by about a tenth.
const SAMPLES_PER_PART: usize = 64;

/// Orders all lines. Lines without a time come first, then lines whose time cannot be read, then the other lines by
/// time, and finally the lines that name files. Lines with the same time keep their file order. Calls `merged` after
/// each part.
pub(super) fn parts(
    mut found: Vec<Found>,
    merged: impl Fn(&[Line]) + Sync,
    workers: &Workers,
) -> Vec<Part> {
    let mut parts = vec![
        Part(found.iter_mut().flat_map(|piece| std::mem::take(&mut piece.untimed)).collect()),
        Part(found.iter_mut().flat_map(|piece| std::mem::take(&mut piece.unreadable)).collect()),
    ];
    let naming =
        Part(found.iter_mut().flat_map(|piece| std::mem::take(&mut piece.naming)).collect());
    let sorted: Vec<Vec<Timed>> = found.into_iter().map(|piece| piece.timed).collect();
    let count = if workers.threads() == 1 { 1 } else { workers.threads() * PARTS_PER_WORKER };
    let bounds = bounds(&sorted, count);
    parts.extend(workers.map(bounds.len() + 1, |part| {
        let begin = part.checked_sub(1).map(|before| bounds[before]);
        let lines = merge(&sorted, begin, bounds.get(part).copied());
        merged(&lines);
        Part(lines)
    }));
    parts.push(naming);
    parts
}

/// Returns keys that divide all lines into `parts` of about the same size.
fn bounds(pieces: &[Vec<Timed>], parts: usize) -> Vec<u64> {
    let total: usize = pieces.iter().map(Vec::len).sum();
    let step = (total / (parts * SAMPLES_PER_PART)).max(1);
    let samples = pieces.iter().flat_map(|piece| piece.iter().step_by(step));
    let mut samples: Vec<u64> = samples.map(|timed| timed.key).collect();
    samples.sort_unstable();
    let mut bounds: Vec<u64> =
        (1..parts).filter_map(|part| samples.get(part * samples.len() / parts).copied()).collect();
    bounds.dedup();
    bounds
}

/// Returns in order the lines of all pieces whose keys are in `begin..end`.
fn merge(pieces: &[Vec<Timed>], begin: Option<u64>, end: Option<u64>) -> Vec<Line> {
    let share = |piece: &Vec<Timed>| {
        let before = |bound: u64| piece.partition_point(|timed| timed.key < bound);
        begin.map_or(0, before)..end.map_or(piece.len(), before)
    };
    let mut merged = Vec::with_capacity(pieces.iter().map(|piece| share(piece).len()).sum());
    for piece in pieces {
        merged.extend_from_slice(&piece[share(piece)]);
    }
    // Stable sorting detects the sorted runs and merges them.
    merged.sort_by_key(|timed| timed.key);
    merged.iter().map(|timed| timed.line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_workers::Pin;
    use std::num::NonZeroUsize;

    #[test]
    fn lines_of_one_time_keep_their_order() {
        for threads in 1..=4 {
            let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
            for times in [1, 3, 1000] {
                let mut all = Vec::new();
                let mut start = 0;
                let pieces: Vec<Found> = (0..10u64)
                    .map(|piece| {
                        let mut found = Found::default();
                        for i in 0..500 * (piece % 3) {
                            let key = (piece * 500 + i) * 7919 % times;
                            let line = Line::new(start..start + 5);
                            found.timed.push(Timed { key, line });
                            all.push((key, start));
                            start += 5;
                        }
                        found.timed.sort_by_key(|timed| timed.key);
                        found
                    })
                    .collect();
                all.sort_unstable();
                let found: Vec<usize> = parts(pieces, |_| (), &workers)
                    .iter()
                    .flat_map(|part| part.0.iter().map(|line| line.start()))
                    .collect();
                let wanted: Vec<usize> = all.iter().map(|(_, start)| *start).collect();
                assert_eq!(found, wanted, "{threads} threads, {times} times");
            }
        }
    }
}
