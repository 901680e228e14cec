//! Time during which counts have certain values.

use crate::Seconds;

/// Changes of three counts.
pub(super) type Changes = [i32; 3];

/// For each of `N` classes of the counts, the time that has passed in it.
#[derive(Clone, Debug)]
pub(super) struct Timeline<const N: usize> {
    times: Vec<f64>,
    /// Time in each class up to each point in time.
    passed: Vec<[Seconds; N]>,
    /// Class from each point in time to the next one.
    class: Vec<usize>,
    first: usize,
}

impl<const N: usize> Timeline<N> {
    /// Creates a timeline. The counts begin with `counts` and change at the given times. `class` returns the class of
    /// the counts.
    pub(super) fn new(
        mut changes: Vec<(f64, Changes)>,
        mut counts: Changes,
        class: impl Fn(Changes) -> usize,
    ) -> Self {
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut line = Timeline {
            times: Vec::new(),
            passed: Vec::new(),
            class: Vec::new(),
            first: class(counts),
        };
        let mut passed = [Seconds::ZERO; N];
        for group in changes.chunk_by(|a, b| a.0 == b.0) {
            let time = group[0].0;
            for (_, change) in group {
                counts.iter_mut().zip(change).for_each(|(count, change)| *count += change);
            }
            if let (Some(last), Some(in_)) = (line.times.last(), line.class.last()) {
                passed[*in_] += Seconds::between(*last, time);
            }
            line.times.push(time);
            line.passed.push(passed);
            line.class.push(class(counts));
        }
        line
    }

    /// Returns the time in each class from `start` to `end`.
    pub(super) fn between(&self, start: f64, end: f64) -> [Seconds; N] {
        let (mut times, until) = (self.until(start), self.until(end));
        times.iter_mut().zip(until).for_each(|(start, end)| *start = end - *start);
        times
    }

    /// Returns the time in each class up to this time, relative to the first change.
    fn until(&self, time: f64) -> [Seconds; N] {
        let at = self.times.partition_point(|it| *it <= time);
        let Some(last) = at.checked_sub(1) else {
            let mut passed = [Seconds::ZERO; N];
            let first = self.times.first().copied().unwrap_or(0.0);
            passed[self.first] -= Seconds::between(time, first);
            return passed;
        };
        let mut passed = self.passed[last];
        passed[self.class[last]] += Seconds::between(self.times[last], time);
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_divided_among_classes() {
        let changes =
            vec![(4.0, [-1, 0, 0]), (1.0, [1, 0, 0]), (1.0, [1, 0, 0]), (2.0, [-1, 0, 0])];
        let line: Timeline<3> = Timeline::new(changes, [0; 3], |[count, ..]| count as usize);
        let between = |a, b| line.between(a, b).map(Seconds::to_f64);
        assert_eq!(between(0.0, 5.0), [2.0, 2.0, 1.0]);
        assert_eq!(between(-1.0, 0.5), [1.5, 0.0, 0.0]);
        assert_eq!(between(1.5, 3.0), [0.0, 1.0, 0.5]);
        let empty: Timeline<1> = Timeline::new(Vec::new(), [0; 3], |_| 0);
        assert_eq!(empty.between(1.0, 3.0).map(Seconds::to_f64), [2.0]);
    }
}
