//! Time-weighted means of variables, overall or by bin.

use std::convert::Infallible;

use paje_sim::{LaneView, TimeRange, Trace, TypeNature, Variables as Slice, Visitor};
use paje_workers::Workers;

use crate::bins::Bins;
use crate::lanes;
use crate::scope::{Scope, clip, places};
use crate::{Data, Label, Seconds, Table};

/// Analysis of variables, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct Variables {
    scope: Scope,
    bins: Option<Bins>,
    lanes: Vec<Lane>,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    count: u64,
    min: f64,
    max: f64,
    whole: Integral,
    bins: Vec<Integral>,
}

/// Neumaier's compensated sum of products. Rounding is the same in each run, because one thread
/// processes a whole lane.
#[derive(Clone, Copy, Debug, Default)]
struct Integral {
    seconds: Seconds,
    sum: f64,
    lost: f64,
}

impl Integral {
    fn add(&mut self, value: f64, seconds: Seconds) {
        self.seconds += seconds;
        let product = value * seconds.to_f64();
        let sum = self.sum + product;
        self.lost += match self.sum.abs() >= product.abs() {
            true => self.sum - sum + product,
            false => product - sum + self.sum,
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        // After an overflow, the compensation is not finite either.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }

    fn mean(&self) -> Option<f64> {
        (!self.seconds.is_zero()).then(|| self.value() / self.seconds.to_f64())
    }
}

impl Variables {
    /// Creates the analysis. If bins are given, the means are computed for each bin.
    #[must_use]
    pub const fn new(scope: Scope, bins: Option<Bins>) -> Self {
        Variables { scope, bins, lanes: Vec::new() }
    }

    /// Adds the next portion of a trace, or a whole trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let (window, bins) = (self.scope.window(), self.bins.as_ref());
        let lanes = self.scope.lanes(trace, TypeNature::Variable);
        lanes::each(lanes, &mut self.lanes, workers, |lane, kept, (): &mut ()| {
            let Ok(()) = lane.visit(&mut Adding { window, bins, kept });
        });
    }

    /// Returns the report. Types are in definition order, and containers in output order. The bins
    /// of a container are in order of time. The mean is weighted by time. Time in which the
    /// variable had no value does not count.
    #[must_use]
    pub fn table(&self, trace: &Trace) -> Table {
        let rows = self.sorted(trace);
        let Some(bins) = &self.bins else {
            let table = names(Table::new("variables"), rows.iter().map(|(lane, _)| *lane));
            return table
                .with("count", Data::count(&rows, |(_, kept)| kept.count))
                .with("min", Data::amount(&rows, |(_, kept)| Some(kept.min)))
                .with("max", Data::amount(&rows, |(_, kept)| Some(kept.max)))
                .with("mean", Data::amount(&rows, |(_, kept)| kept.whole.mean()))
                .with("integral", Data::amount(&rows, |(_, kept)| Some(kept.whole.value())))
                .in_seconds(trace.time_scale());
        };
        let means = rows.iter().flat_map(|(lane, kept)| {
            let means = kept.bins.iter().map(Integral::mean).enumerate();
            means.filter_map(|(bin, mean)| Some((*lane, bin, mean?)))
        });
        let means: Vec<(LaneView<'_>, usize, f64)> = means.collect();
        let table = Table::new("variables")
            .with("bin", Data::count(&means, |(_, bin, _)| *bin as u64))
            .with("start", Data::seconds(&means, |(_, bin, _)| bins.span(*bin).0))
            .with("end", Data::seconds(&means, |(_, bin, _)| bins.span(*bin).1));
        names(table, means.iter().map(|(lane, ..)| *lane))
            .with("mean", Data::amount(&means, |(.., mean)| Some(*mean)))
            .in_seconds(trace.time_scale())
    }

    fn sorted<'t>(&self, trace: &'t Trace) -> Vec<(LaneView<'t>, &Lane)> {
        let places = places(trace);
        let lanes =
            trace.lanes().filter_map(|lane| Some((lane, self.lanes.get(lane.id().index())?)));
        let mut lanes: Vec<_> = lanes.filter(|(_, kept)| kept.count > 0).collect();
        lanes.sort_by_key(|(lane, _)| (lane.type_id(), places[&lane.container()]));
        lanes
    }
}

struct Adding<'a> {
    window: TimeRange,
    bins: Option<&'a Bins>,
    kept: &'a mut Lane,
}

impl Visitor for Adding<'_> {
    type Error = Infallible;

    fn variables(&mut self, _: LaneView<'_>, variables: Slice<'_>) -> Result<(), Infallible> {
        for (i, (start, value)) in variables.start.iter().zip(variables.value).enumerate() {
            let (start, end, value) = (*start, variables.end(i), *value);
            if self.window.overlaps(start, end) {
                self.add(clip(self.window, start), clip(self.window, end), value);
            }
        }
        Ok(())
    }
}

impl Adding<'_> {
    fn add(&mut self, start: f64, end: f64, value: f64) {
        let kept = &mut *self.kept;
        if kept.count == 0 {
            (kept.min, kept.max) = (value, value);
        }
        kept.count += 1;
        kept.min = kept.min.min(value);
        kept.max = kept.max.max(value);
        kept.whole.add(value, Seconds::between(start, end));
        if let Some(bins) = self.bins {
            kept.bins.resize_with(bins.len(), Integral::default);
            bins.overlaps(start, end, |bin, seconds| kept.bins[bin].add(value, seconds));
        }
    }
}

fn names<'t>(table: Table, lanes: impl Iterator<Item = LaneView<'t>> + Clone) -> Table {
    let types = lanes.clone().map(|lane| Label::from(lane.type_name())).collect();
    let containers = lanes.map(|lane| Label::from(lane.container_name())).collect();
    table.with("type", Data::Text(types)).with("container", Data::Text(containers))
}
