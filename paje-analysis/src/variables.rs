//! Means of variables, over all time and by bins.

use std::convert::Infallible;

use paje_sim::{LaneView, TimeRange, Trace, TypeNature, Variables as Slice, Visitor};
use paje_workers::Workers;

use crate::bins::Bins;
use crate::lanes;
use crate::scope::{Scope, clip, places};
use crate::{Data, Label, Seconds, Table};

/// Adds up variables while they go by.
#[derive(Clone, Debug)]
pub struct Variables {
    scope: Scope,
    bins: Option<Bins>,
    lanes: Vec<Lane>,
}

/// A row of the report: a variable of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The variable's type.
    pub type_: Label,
    /// Whose it is.
    pub container: Label,
    /// Number of its values.
    pub count: u64,
    /// The least of them.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
    /// Its mean over the time that it had a value; none if that is no time.
    pub mean: Option<f64>,
    /// The sum of its values, each times the seconds that it lasted.
    pub integral: f64,
}

/// A row of the report by bins: the mean of a variable in a bin, in which it had a value.
#[derive(Clone, Debug, PartialEq)]
pub struct BinRow {
    /// Number of the bin, from 0.
    pub bin: u64,
    /// Its begin and end.
    pub span: (Seconds, Seconds),
    /// The variable's type.
    pub type_: Label,
    /// Whose it is.
    pub container: Label,
    /// The mean over the time that it had a value in the bin.
    pub mean: f64,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    count: u64,
    min: f64,
    max: f64,
    whole: Integral,
    bins: Vec<Integral>,
}

/// A sum of products, in the order of time: a lane is added up by one thread, so rounding is always the same. What is
/// rounded away is added up, too (Neumaier's sum).
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
        // Beyond the largest number, what was lost is not one.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }

    fn mean(&self) -> Option<f64> {
        (!self.seconds.is_zero()).then(|| self.value() / self.seconds.to_f64())
    }
}

impl Variables {
    /// Of this part of a trace; in these bins, too, if there are any.
    #[must_use]
    pub const fn new(scope: Scope, bins: Option<Bins>) -> Self {
        Variables { scope, bins, lanes: Vec::new() }
    }

    /// Whether it adds up by bins, too.
    #[must_use]
    pub const fn has_bins(&self) -> bool {
        self.bins.is_some()
    }

    /// Looks at the next portion of a trace, or at a whole one.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let (window, bins) = (self.scope.window(), self.bins.as_ref());
        let lanes = self.scope.lanes(trace, TypeNature::Variable);
        lanes::each(lanes, &mut self.lanes, workers, |lane, kept, (): &mut ()| {
            let Ok(()) = lane.visit(&mut Adding { window, bins, kept });
        });
    }

    /// Rows of the report: types in the order of their definitions, containers in output order.
    #[must_use]
    pub fn rows(&self, trace: &Trace) -> Vec<Row> {
        let row = |(lane, kept): (LaneView<'_>, &Lane)| Row {
            type_: lane.type_name().into(),
            container: lane.container_name().into(),
            count: kept.count,
            min: kept.min,
            max: kept.max,
            mean: kept.whole.mean(),
            integral: kept.whole.value(),
        };
        self.sorted(trace).into_iter().map(row).collect()
    }

    /// Rows of the report by bins; variables in the same order, and the bins of each in theirs.
    #[must_use]
    pub fn bin_rows(&self, trace: &Trace) -> Vec<BinRow> {
        let Some(bins) = &self.bins else { return Vec::new() };
        let mut rows = Vec::new();
        for (lane, kept) in self.sorted(trace) {
            for (bin, integral) in kept.bins.iter().enumerate() {
                rows.extend(integral.mean().map(|mean| BinRow {
                    bin: bin as u64,
                    span: bins.span(bin),
                    type_: lane.type_name().into(),
                    container: lane.container_name().into(),
                    mean,
                }));
            }
        }
        rows
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

/// The report as a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("variables")
        .with("type", Data::text(rows, |row| &row.type_))
        .with("container", Data::text(rows, |row| &row.container))
        .with("count", Data::count(rows, |row| row.count))
        .with("min", Data::amount(rows, |row| Some(row.min)))
        .with("max", Data::amount(rows, |row| Some(row.max)))
        .with("mean", Data::amount(rows, |row| row.mean))
        .with("integral", Data::amount(rows, |row| Some(row.integral)))
}

/// The report by bins as a table.
#[must_use]
pub fn bin_table(rows: &[BinRow]) -> Table {
    Table::new("variables")
        .with("bin", Data::count(rows, |row| row.bin))
        .with("start", Data::seconds(rows, |row| row.span.0))
        .with("end", Data::seconds(rows, |row| row.span.1))
        .with("type", Data::text(rows, |row| &row.type_))
        .with("container", Data::text(rows, |row| &row.container))
        .with("mean", Data::amount(rows, |row| Some(row.mean)))
}
