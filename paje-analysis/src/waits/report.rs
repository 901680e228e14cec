//! Wait states as tables, the longest first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use paje_sim::TimeScale;

use super::paths::ByPath;
use super::rest::Rest;
use super::tables::Total;
use super::{Kind, Waits};
use crate::{Data, Label, Seconds, Table};

struct Row {
    names: [Label; 2],
    total: Total,
    /// Share of the time of the containers to which the row applies.
    share: f64,
}

impl Row {
    fn new(names: [Label; 2], total: Total, whole: Seconds) -> Self {
        Row { names, total, share: total.seconds.share_of(whole) }
    }
}

impl Waits<'_> {
    /// Returns `kind,count,seconds,share,mean,max`: waiting by kind, then the rest of the time. The
    /// share is relative to the time of all containers.
    #[must_use]
    pub fn kinds_table(&self, window: (f64, f64)) -> Table {
        let length = self.length(window);
        let all: Seconds = self.facts.tracks.list().iter().map(|_| length).sum();
        kinds_table(self.by_kind(window), self.by_rest(window), all).in_seconds(self.scale())
    }

    /// Returns `value,kind,count,seconds,share,mean,max,whom`: waiting by value of the state that
    /// waits, such as a collective. The share is relative to the time of all containers. `whom` is
    /// the container that is waited for longest.
    #[must_use]
    pub fn values_table(&self, window: (f64, f64)) -> Table {
        let all: Seconds = self.facts.tracks.list().iter().map(|_| self.length(window)).sum();
        let types = self.facts.tracks.trace().types();
        let mut found = self.by_value(window);
        found.sort_by_key(|row| Reverse(row.total.seconds));
        let rows = found.iter().map(|row| {
            let value = types.value_name(row.type_, row.value);
            Row::new([value.into(), row.kind.name().into()], row.total, all)
        });
        let rows: Vec<Row> = rows.collect();
        let table = Table::new("values").with("value", name(&rows, 0)).with("kind", name(&rows, 1));
        let whom = found.iter().map(|row| self.label(row.whom));
        with_totals(table, &rows).with("whom", Data::Text(whom.collect())).in_seconds(self.scale())
    }

    /// Returns `container,count,seconds,share,mean,max,caused,delay` for each container that waits
    /// or is waited for. The first columns describe the waits of the container and their share of
    /// its time. `caused` is the time that other containers wait for it, and `delay` is the delay
    /// that it causes.
    #[must_use]
    pub fn waiters_table(&self, window: (f64, f64)) -> Table {
        let mut totals = vec![Total::default(); self.facts.tracks.list().len()];
        for (waiter, total) in self.by_waiter(window) {
            totals[waiter as usize] = total;
        }
        let mut costs = vec![(Seconds::ZERO, 0.0); totals.len()];
        for cost in self.costs(window) {
            costs[cost.whom as usize] = (cost.direct, cost.delay);
        }
        let mut order: Vec<usize> = (0..totals.len()).collect();
        order.retain(|at| totals[*at].count > 0 || !costs[*at].0.is_zero() || costs[*at].1 > 0.0);
        order.sort_by_key(|at| Reverse(totals[*at].seconds));
        let length = self.length(window);
        let row = |at: &usize| Row::new([self.label(*at as u32), "".into()], totals[*at], length);
        let rows = order.iter().map(row);
        let rows: Vec<Row> = rows.collect();
        with_totals(Table::new("waiters").with("container", name(&rows, 0)), &rows)
            .with("caused", Data::seconds(&order, |at| costs[*at].0))
            .with("delay", Data::seconds(&order, |at| Seconds::new(nanoseconds(costs[*at].1))))
            .in_seconds(self.scale())
    }

    /// Returns `kind,container,path,count,seconds,share,mean,max,delay,indirect`: waits by kind, container and call path,
    /// and the waiting that each call path causes directly and indirectly. The share is relative to the container's
    /// time.
    #[must_use]
    pub fn paths_table(&self, window: (f64, f64)) -> Table {
        let (paths, mut all) = self.by_path(window);
        all.sort_by(|a, b| {
            let time = |row: &ByPath| row.total.seconds.to_f64() + row.delay + row.indirect;
            time(b).total_cmp(&time(a))
        });
        let length = self.length(window);
        let rows = all.iter().map(|row| {
            Row::new([row.kind.name().into(), self.label(row.track)], row.total, length)
        });
        let rows: Vec<Row> = rows.collect();
        let path = |row: &ByPath| Label::from(paths.name(self, row.path).as_str());
        let cost = |of: fn(&ByPath) -> f64| {
            Data::seconds(&all, move |row| Seconds::new(nanoseconds(of(row))))
        };
        let table = Table::new("paths")
            .with("kind", name(&rows, 0))
            .with("container", name(&rows, 1))
            .with("path", Data::Text(all.iter().map(path).collect()));
        with_totals(table, &rows)
            .with("delay", cost(|row| row.delay))
            .with("indirect", cost(|row| row.indirect))
            .in_seconds(self.scale())
    }

    /// Returns `waiter,whom,count,seconds,share,mean,max,most`. The share is relative to the
    /// waiter's time. `most` is 1 for the container that the waiter waits for longest.
    #[must_use]
    pub fn pairs_table(&self, window: (f64, f64)) -> Table {
        let mut pairs = self.by_pair(window);
        pairs.sort_by_key(|pair| Reverse(pair.total.seconds));
        let length = self.length(window);
        let rows = pairs.iter().map(|pair| {
            Row::new([pair.waiter, pair.whom].map(|it| self.label(it)), pair.total, length)
        });
        let rows: Vec<Row> = rows.collect();
        let table = Table::new("pairs").with("waiter", name(&rows, 0)).with("whom", name(&rows, 1));
        with_totals(table, &rows)
            .with("most", Data::count(&pairs, |pair| u64::from(pair.most)))
            .in_seconds(self.scale())
    }

    /// Returns the length of the part of the window in which the run has states. Visits all states.
    pub(crate) fn length(&self, window: (f64, f64)) -> Seconds {
        let whole = self.whole();
        let (from, until) = (window.0.max(whole.0), window.1.min(whole.1));
        if from < until { Seconds::between(from, until) } else { Seconds::ZERO }
    }

    pub(crate) fn scale(&self) -> TimeScale {
        self.facts.tracks.trace().time_scale()
    }

    pub(crate) fn label(&self, track: u32) -> Label {
        let container = self.facts.tracks.list()[track as usize].container;
        self.facts.tracks.trace().containers().name(container).into()
    }
}

/// Makes [`Waits::kinds_table`]. `all` is the time of all containers.
pub(super) fn kinds_table(
    kinds: BTreeMap<Kind, Total>,
    rest: Vec<(Rest, Total)>,
    all: Seconds,
) -> Table {
    let row = |(name, total): (&str, Total)| Row::new([name.into(), "".into()], total, all);
    let kinds = kinds.into_iter().map(|(kind, total)| (kind.name(), total));
    let rest = rest.into_iter().map(|(rest, total)| (rest.name(), total));
    let mut rows = sorted(kinds.map(row).collect());
    rows.extend(sorted(rest.map(row).collect()));
    with_totals(Table::new("kinds").with("kind", name(&rows, 0)), &rows)
}

/// Rounds to the printed precision, because divided charges have rounding errors.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| Reverse(row.total.seconds));
    rows
}

fn name(rows: &[Row], at: usize) -> Data {
    Data::text(rows, |row| &row.names[at])
}

fn with_totals(table: Table, rows: &[Row]) -> Table {
    table
        .with("count", Data::count(rows, |row| row.total.count))
        .with("seconds", Data::seconds(rows, |row| row.total.seconds))
        .with("share", Data::number(rows, |row| Some(row.share)))
        .with("mean", Data::seconds(rows, |row| row.total.seconds.mean(row.total.count)))
        .with("max", Data::seconds(rows, |row| row.total.longest))
}
