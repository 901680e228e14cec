//! Bins of equal length that divide a time span.

use crate::Seconds;

/// Half-open bins of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    edges: Vec<Seconds>,
}

impl Bins {
    /// Divides the time from `start` to `end` into `count` bins. `end` must not precede `start`.
    #[must_use]
    pub fn new(start: f64, end: f64, count: u32) -> Self {
        let (start, end, count) = (Seconds::new(start), Seconds::new(end), u64::from(count.max(1)));
        let edge = |i| Seconds::nth_part(start, end.max(start), i, count);
        Bins { edges: (0..=count).map(edge).collect() }
    }

    /// Returns the number of bins.
    pub(crate) fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns the start and end of a bin.
    pub(crate) fn span(&self, bin: usize) -> (Seconds, Seconds) {
        (self.edges[bin], self.edges[bin + 1])
    }

    /// Calls `add` for each bin that overlaps the time span, with the length of the overlap.
    #[inline]
    pub(crate) fn overlaps(&self, start: f64, end: f64, mut add: impl FnMut(usize, Seconds)) {
        let (start, end) = (Seconds::new(start), Seconds::new(end));
        let mut bin = self.edges.partition_point(|edge| *edge <= start).saturating_sub(1);
        while bin < self.len() && self.edges[bin] < end {
            let both = self.edges[bin + 1].min(end) - self.edges[bin].max(start);
            if both > Seconds::ZERO {
                add(bin, both);
            }
            bin += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let bins = Bins::new(1.0, 2.0, 3);
        assert_eq!(bins.span(0).0, Seconds::new(1.0));
        assert_eq!(bins.span(2).1, Seconds::new(2.0));
        for (start, end, wanted) in [
            (0.0, 9.0, 3),
            (1.0, 2.0, 3),
            (1.5, 1.5, 0),
            (1.4, 1.6, 1),
            (1.2, 1.5, 2),
            (2.0, 3.0, 0),
        ] {
            let (mut sum, mut count) = (Seconds::ZERO, 0);
            bins.overlaps(start, end, |_, seconds| {
                sum += seconds;
                count += 1;
            });
            let whole = Seconds::between(start.clamp(1.0, 2.0), end.clamp(1.0, 2.0));
            assert_eq!((sum, count), (whole, wanted), "{start} {end}");
        }
    }

    #[test]
    fn an_empty_span_has_one_empty_bin() {
        let bins = Bins::new(3.0, 3.0, 0);
        assert_eq!(bins.len(), 1);
        bins.overlaps(0.0, 9.0, |_, _| panic!("the bin is empty"));
    }
}
