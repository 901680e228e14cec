//! Axes: where values are, and which of them are written.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis of numbers above 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// True if each step doubles.
    doubling: bool,
    /// Ends, as [`Axis::place`] gives them.
    from: f64,
    to: f64,
    /// Values with a line and a number, increasing.
    ticks: Vec<f64>,
    /// True if numbers are written as percentages.
    percent: bool,
}

/// A count beyond which an axis doubles: few are told apart on a linear one.
const LINEAR_COUNT: usize = 8;

/// Steps of an axis by which a value may miss a tick and still count as on it: times have six decimals.
const CLOSE: f64 = 1e-3;

/// Part of an axis that a number needs to itself.
const ROOM: f64 = 0.045;

impl Axis {
    /// Counts (of threads, of pieces), a tick for each as far as there is room: powers of two go first.
    pub(crate) fn counts(counts: &[usize]) -> Axis {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        counts.dedup();
        let most = counts.last().copied().unwrap_or(1);
        let doubling = most > LINEAR_COUNT;
        let mut axis = Axis { doubling, from: 0.0, to: 0.0, ticks: Vec::new(), percent: false };
        let (first, last) = (axis.place(1.0), axis.place(most as f64));
        let margin = ((last - first) * 0.05).max(0.05);
        (axis.from, axis.to) = (first - margin, last + margin);
        // The largest count is what readers look for, then powers of two.
        counts.sort_by_key(|count| (*count != most, !count.is_power_of_two(), *count));
        for count in counts {
            let place = axis.place(count as f64);
            let room = (axis.to - axis.from) * ROOM;
            if axis.ticks.iter().all(|tick| (axis.place(*tick) - place).abs() >= room) {
                axis.ticks.push(count as f64);
            }
        }
        axis.ticks.sort_by(f64::total_cmp);
        axis
    }

    /// Speedup or sizeup; doubles if `threads` does, so that the ideal is a straight line.
    pub(crate) fn gains(values: &[f64], threads: &Axis) -> Axis {
        let least = values.iter().copied().fold(1.0, f64::min).max(f64::MIN_POSITIVE);
        let ideal = threads.ticks.last().copied().unwrap_or(1.0);
        let most = values.iter().copied().fold(ideal, f64::max);
        if threads.doubling {
            let (least, most) = (least.log2(), most.log2());
            let powers = (least - CLOSE).ceil() as i32..=(most + CLOSE).floor() as i32;
            let ticks = powers.map(|power| f64::powi(2.0, power)).collect();
            let margin = (most - least) * 0.05;
            let (from, to) = (least - margin, most + margin);
            return Axis { doubling: true, from, to, ticks, percent: false };
        }
        let step = [0.5, 1.0, 2.0, 5.0].into_iter().find(|step| most / step <= 10.0);
        Axis { percent: false, ..Axis::linear(most, step.unwrap_or(10.0)) }
    }

    /// Efficiency: from nothing to at least all.
    pub(crate) fn shares(values: &[f64]) -> Axis {
        let most = values.iter().copied().fold(1.0, f64::max);
        let step = if most <= 2.0 { 0.2 } else { 1.0 };
        Axis { percent: true, ..Axis::linear(most, step) }
    }

    /// Seconds, from nothing.
    pub(crate) fn seconds(values: &[f64]) -> Axis {
        let most = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let decade = 10_f64.powf(most.log10().floor());
        // At most ten steps: most is less than ten decades.
        let steps = [0.1, 0.2, 0.5, 1.0].map(|part| part * decade);
        let step = steps.into_iter().find(|step| most / step <= 10.0);
        Axis::linear(most, step.unwrap_or(decade))
    }

    fn linear(most: f64, step: f64) -> Axis {
        let steps = (most / step + CLOSE).floor() as u32;
        let ticks: Vec<f64> = (0..=steps).map(|index| f64::from(index) * step).collect();
        let to = most * 1.05;
        Axis { doubling: false, from: 0.0, to, ticks, percent: false }
    }

    /// Place of a value, between `from` and `to`.
    fn place(&self, value: f64) -> f64 {
        if self.doubling { value.log2() } else { value }
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        let rounded = (value * 1000.0).round() / 1000.0;
        format!("{rounded}")
    }

    fn format_ext(&self, value: &f64) -> String {
        if self.percent { format!("{:.0} %", value * 100.0) } else { Self::format(value) }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let part = (self.place(*value) - self.from) / (self.to - self.from);
        first + (f64::from(last - first) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light lines would lie between the ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        let value = |place: f64| if self.doubling { place.exp2() } else { place };
        value(self.from)..value(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_threads_are_linear_and_many_double() {
        let axis = Axis::counts(&[2, 1, 8, 4, 2]);
        assert_eq!((axis.place(8.0), axis.ticks), (8.0, vec![1.0, 2.0, 4.0, 8.0]));
        let axis = Axis::counts(&[1, 2, 4, 8, 12, 16]);
        assert_eq!(axis.place(16.0), 4.0);
        assert_eq!(axis.ticks, [1.0, 2.0, 4.0, 8.0, 12.0, 16.0]);
        assert_eq!(axis.format_ext(&12.0), "12");
        let one = Axis::counts(&[1]);
        assert!(one.from < 1.0 && one.to > 1.0, "{one:?}");
    }

    #[test]
    fn numbers_keep_their_room() {
        let counts: Vec<usize> = (1..=60).collect();
        let axis = Axis::counts(&counts);
        for two in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0] {
            assert!(axis.ticks.contains(&two), "{:?}", axis.ticks);
        }
        let room = (axis.to - axis.from) * ROOM;
        for pair in axis.ticks.windows(2) {
            assert!(axis.place(pair[1]) - axis.place(pair[0]) >= room, "{:?}", axis.ticks);
        }
    }

    #[test]
    fn values_fit() {
        let threads = Axis::counts(&[1, 16]);
        let axis = Axis::gains(&[0.7, 11.87], &threads);
        assert_eq!(axis.ticks, [1.0, 2.0, 4.0, 8.0, 16.0]);
        assert!(axis.from < 0.7_f64.log2() && axis.to > 4.0, "{axis:?}");
        let linear = Axis::gains(&[1.0, 1.9], &Axis::counts(&[1, 2]));
        assert_eq!(linear.ticks, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(linear.format_ext(&1.5), "1.5");
        let seconds = Axis::seconds(&[0.3, 1.7]);
        assert_eq!(seconds.ticks.len(), 9, "{seconds:?}");
        assert_eq!(seconds.format_ext(&seconds.ticks[8]), "1.6");
        assert_eq!(
            Axis::seconds(&[40.0]).ticks,
            [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]
        );
        assert!(Axis::seconds(&[]).to > 0.0);
        let shares = Axis::shares(&[0.4, 1.13]);
        assert!(shares.to >= 1.13 && shares.ticks.len() == 6, "{shares:?}");
        assert_eq!(shares.format_ext(&shares.ticks[3]), "60 %");
    }
}
