//! The arithmetic: from runs to minima, speedup, efficiency and sizeup.

use paje_workers::Pin;

use super::record::{Cache, Kind, Run};

/// The smallest of some times, `None` if there are none.
pub fn minimum(seconds: impl IntoIterator<Item = f64>) -> Option<f64> {
    seconds.into_iter().min_by(f64::total_cmp)
}

/// The one in the middle of some numbers, or between the two in the middle if their count is even;
/// `None` if there are none.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        1 => Some(numbers[middle]),
        _ => Some((numbers.get(middle.checked_sub(1)?)? + numbers[middle]) / 2.0),
    }
}

/// T(1, s) / T(p, s).
pub fn speedup(one: f64, many: f64) -> f64 {
    one / many
}

/// p · T(1, s) / T(p, p·s): how many times as much is done in the time of one thread.
pub fn sizeup(one: f64, many: f64, threads: usize) -> f64 {
    threads as f64 * one / many
}

/// Speedup, or sizeup, of each thread.
pub fn efficiency(gain: f64, threads: usize) -> f64 {
    gain / threads as f64
}

/// Summary of the runs of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The shape of a generated trace, or the name of a file.
    pub shape: String,
    /// Size of the trace.
    pub bytes: u64,
    /// Strong or weak scaling.
    pub kind: Kind,
    /// Threads of the program.
    pub threads: usize,
    /// Placement of these threads.
    pub pin: Pin,
    /// State of the page cache when they start.
    pub cache: Cache,
    /// Seconds of the fastest run.
    pub seconds: f64,
    /// Seconds of the fastest floor.
    pub floor: f64,
    /// Speedup (strong) or sizeup (weak); `None` if one thread was not measured.
    pub gain: Option<f64>,
    /// The same of the floor.
    pub floor_gain: Option<f64>,
    /// The part of the fastest run in which one thread worked alone, from 0 to 1.
    pub serial_share: Option<f64>,
    /// The fastest run's.
    pub imbalance: Option<f64>,
    /// The largest of all runs, in bytes.
    pub peak_memory: Option<u64>,
}

impl Point {
    /// [`efficiency`] of its gain.
    pub fn efficiency(&self) -> Option<f64> {
        self.gain.map(|gain| efficiency(gain, self.threads))
    }
}

/// One point for each configuration, in the order of first runs of traces, then of kind, policy,
/// cache and threads.
pub fn points(runs: &[Run]) -> Vec<Point> {
    let mut shapes: Vec<&str> = Vec::new();
    for run in runs {
        if !shapes.contains(&run.shape.as_str()) {
            shapes.push(&run.shape);
        }
    }
    let place = |run: &Run| shapes.iter().position(|shape| *shape == run.shape);
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by_key(|run| (place(run), run.kind, &run.pin, run.cache, run.threads));
    let same = |a: &&Run, b: &&Run| key(a) == key(b);
    let mut points: Vec<Point> = sorted.chunk_by(same).filter_map(point).collect();
    let ones: Vec<Point> = points.iter().filter(|point| point.threads == 1).cloned().collect();
    for point in &mut points {
        let one = ones.iter().find(|one| {
            (&one.shape, one.kind, &one.pin, one.cache)
                == (&point.shape, point.kind, &point.pin, point.cache)
        });
        let gain = |one: f64, many: f64| match point.kind {
            Kind::Strong => speedup(one, many),
            Kind::Weak => sizeup(one, many, point.threads),
        };
        point.gain = one.map(|one| gain(one.seconds, point.seconds));
        point.floor_gain = one.map(|one| gain(one.floor, point.floor));
    }
    points
}

fn key(run: &Run) -> (&str, Kind, &Pin, Cache, usize) {
    (&run.shape, run.kind, &run.pin, run.cache, run.threads)
}

/// The runs of one configuration; those of one thread are not known yet.
fn point(runs: &[&Run]) -> Option<Point> {
    let fastest = runs.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    Some(Point {
        shape: fastest.shape.clone(),
        bytes: fastest.bytes,
        kind: fastest.kind,
        threads: fastest.threads,
        pin: fastest.pin.clone(),
        cache: fastest.cache,
        seconds: fastest.seconds,
        floor: minimum(runs.iter().map(|run| run.floor))?,
        gain: None,
        floor_gain: None,
        serial_share: fastest.stats.serial_share(),
        imbalance: fastest.stats.imbalance,
        peak_memory: runs.iter().filter_map(|run| run.stats.peak_memory).max(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::record::Stats;

    fn run(kind: Kind, threads: usize, pin: Pin, seconds: f64) -> Run {
        let (shape, bytes, cache, run) = ("mpi".to_owned(), 1000, Cache::Cached, 1);
        let stats = Stats {
            total: Some(seconds),
            serial: Some(seconds / 4.0),
            imbalance: Some(seconds),
            peak_memory: Some((100.0 / seconds) as u64),
            ..Stats::default()
        };
        let floor = seconds / 8.0;
        let output_bytes = 9;
        Run { shape, bytes, kind, threads, pin, cache, run, seconds, floor, output_bytes, stats }
    }

    #[test]
    fn definitions() {
        assert_eq!(minimum([3.0, 1.5, 2.0]), Some(1.5));
        assert_eq!(minimum([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
        assert_eq!(speedup(12.0, 3.0), 4.0);
        assert_eq!(efficiency(4.0, 8), 0.5);
        // Twice the time for four times the trace: as good as two threads.
        assert_eq!(sizeup(1.0, 2.0, 4), 2.0);
        // The same time for four times the trace is ideal.
        assert_eq!(efficiency(sizeup(1.0, 1.0, 4), 4), 1.0);
    }

    #[test]
    fn the_minimum_of_the_runs_counts_against_its_own_policy() {
        use Kind::{Strong, Weak};
        let runs = [
            run(Strong, 2, Pin::None, 5.0),
            run(Strong, 1, Pin::None, 9.0),
            run(Strong, 2, Pin::None, 4.0),
            run(Strong, 1, Pin::None, 8.0),
            run(Strong, 2, Pin::Compact, 3.0),
            run(Strong, 1, Pin::Compact, 4.5),
            run(Weak, 2, Pin::None, 2.5),
            run(Weak, 1, Pin::None, 2.0),
            run(Weak, 4, Pin::Scatter, 2.0),
        ];
        let points = points(&runs);
        let told: Vec<_> =
            points.iter().map(|p| (p.kind, p.pin.clone(), p.threads, p.seconds, p.gain)).collect();
        assert_eq!(
            told,
            [
                (Strong, Pin::None, 1, 8.0, Some(1.0)),
                (Strong, Pin::None, 2, 4.0, Some(2.0)),
                (Strong, Pin::Compact, 1, 4.5, Some(1.0)),
                (Strong, Pin::Compact, 2, 3.0, Some(1.5)),
                (Weak, Pin::None, 1, 2.0, Some(1.0)),
                (Weak, Pin::None, 2, 2.5, Some(1.6)),
                (Weak, Pin::Scatter, 4, 2.0, None),
            ]
        );
        // Share and imbalance are the fastest run's, memory is the largest.
        let two = &points[1];
        assert_eq!((two.serial_share, two.imbalance), (Some(0.25), Some(4.0)));
        assert_eq!((two.peak_memory, two.floor, two.floor_gain), (Some(25), 0.5, Some(2.0)));
        assert_eq!(two.efficiency(), Some(1.0));
    }
}
