//! The critical path as tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Activity, CriticalPath};
use crate::waits::Waits;
use crate::{Data, Label, Seconds, Table};

impl CriticalPath {
    /// Returns `type,value,container,seconds,share`. The seconds are the length of the path by
    /// value and container, in descending order. The share is relative to the whole path. The value
    /// is empty for time between states.
    #[must_use]
    pub fn activity_table(&self, waits: &Waits<'_>, window: (f64, f64)) -> Table {
        let rows = self.by_activity(waits, window);
        let length = self.length(window);
        let labels: Vec<[Label; 2]> = rows.iter().map(|row| labels(waits, row.activity)).collect();
        let containers: Vec<Label> = rows.iter().map(|row| waits.label(row.track)).collect();
        Table::new("critical")
            .with("type", Data::text(&labels, |labels| &labels[0]))
            .with("value", Data::text(&labels, |labels| &labels[1]))
            .with("container", Data::Text(containers))
            .with("seconds", Data::seconds(&rows, |row| row.seconds))
            .with("share", Data::number(&rows, |row| Some(row.seconds.share_of(length))))
            .in_seconds(waits.scale())
    }

    /// Returns `container,seconds,share`. The seconds are the length of the path by container, in
    /// descending order.
    #[must_use]
    pub fn containers_table(&self, waits: &Waits<'_>, window: (f64, f64)) -> Table {
        let length = self.length(window);
        let mut sums: BTreeMap<u32, Seconds> = BTreeMap::new();
        for part in self.within(window) {
            *sums.entry(part.track).or_default() += Seconds::between(part.start, part.end);
        }
        let mut rows: Vec<(u32, Seconds)> = sums.into_iter().collect();
        rows.sort_by_key(|row| Reverse(row.1));
        Table::new("critical")
            .with("container", Data::Text(rows.iter().map(|row| waits.label(row.0)).collect()))
            .with("seconds", Data::seconds(&rows, |row| row.1))
            .with("share", Data::number(&rows, |row| Some(row.1.share_of(length))))
            .in_seconds(waits.scale())
    }

    /// Returns `type,value,seconds,share,mean,imbalance,cost`. The seconds are the length of the
    /// path by value. The mean is over containers. The most costly value comes first.
    #[must_use]
    pub fn imbalance_table(&self, waits: &Waits<'_>, window: (f64, f64)) -> Table {
        let rows = self.imbalance(waits, window);
        let length = self.length(window);
        let labels: Vec<[Label; 2]> = rows.iter().map(|row| labels(waits, row.activity)).collect();
        Table::new("imbalance")
            .with("type", Data::text(&labels, |labels| &labels[0]))
            .with("value", Data::text(&labels, |labels| &labels[1]))
            .with("seconds", Data::seconds(&rows, |row| row.on_path))
            .with("share", Data::number(&rows, |row| Some(row.on_path.share_of(length))))
            .with("mean", Data::seconds(&rows, |row| row.mean))
            .with("imbalance", Data::seconds(&rows, |row| row.imbalance))
            .with("cost", Data::seconds(&rows, |row| row.cost))
            .in_seconds(waits.scale())
    }
}

fn labels(waits: &Waits<'_>, (type_, value): Activity) -> [Label; 2] {
    let types = waits.facts.tracks.trace().types();
    let value = value.map_or("".into(), |value| types.value_name(type_, value).into());
    [types.name(type_).into(), value]
}
