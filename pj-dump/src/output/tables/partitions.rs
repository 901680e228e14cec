//! Division of tables into the folders of a dataset, as Hive names them: `state/Container=rank-0`.

use std::convert::Infallible;
use std::path::PathBuf;

use paje_export::{Batches, Format, Table, Tables};
use paje_sim::{Events, LaneView, Links, NameOrder, States, Trace, Variables, Visitor};

use super::whole;
use crate::cli::PartitionBy;

/// Returns the parts of the wanted tables, and their files in the dataset.
pub(super) fn parts<'a, 't>(
    tables: &'a Tables<'t>,
    wanted: &[Table],
    trace: &Trace,
    by: PartitionBy,
    format: Format,
) -> Vec<(Batches<'a, 't>, PathBuf)> {
    let borders = match by {
        PartitionBy::Container => Vec::new(),
        PartitionBy::Time(parts) => borders(trace, parts),
    };
    let mut all = Vec::new();
    for table in wanted.iter().copied() {
        if !matches!(table, Table::State | Table::Variable | Table::Event | Table::Link) {
            all.push(whole(tables, table, format));
            continue;
        }
        let file = |folder: String, number: usize| {
            PathBuf::from(format!("{}/{folder}/{number}.{}", table.name(), format.ending()))
        };
        if by == PartitionBy::Container {
            for (id, name, batches) in tables.batches_by_container(table) {
                // Several containers may have the same name.
                all.push((batches, file(format!("Container={}", escaped(&name)), id.index())));
            }
            continue;
        }
        let parts = tables.batches_between(table, &borders).into_iter().zip(borders.windows(2));
        for (number, (batches, pair)) in parts.enumerate() {
            all.push((batches, file(format!("begin={}/until={}", pair[0], pair[1]), number)));
        }
    }
    all
}

/// Returns times that divide the beginnings of all rows into this many ranges of equal length.
fn borders(trace: &Trace, parts: u32) -> Vec<f64> {
    let mut times = Beginnings { first: f64::INFINITY, last: f64::NEG_INFINITY };
    let Ok(()) = trace.visit(NameOrder::Bare, &mut times);
    let Beginnings { first, last } = times;
    if first > last {
        return Vec::new();
    }
    // The ranges lack their ends.
    let last = last.next_up();
    let between =
        (1..parts).map(|part| first + (last - first) * f64::from(part) / f64::from(parts));
    let mut borders: Vec<f64> = [first].into_iter().chain(between).chain([last]).collect();
    borders.dedup();
    borders
}

/// Escapes characters that have a meaning in the names of folders or of partitions.
fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => escaped.push(letter),
            _ if letter.is_ascii() => escaped.push_str(&format!("%{:02X}", u32::from(letter))),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Earliest and latest time at which a row begins.
struct Beginnings {
    first: f64,
    last: f64,
}

impl Beginnings {
    fn see(&mut self, times: &[f64]) {
        self.first = times.iter().copied().fold(self.first, f64::min);
        self.last = times.iter().copied().fold(self.last, f64::max);
    }
}

impl Visitor for Beginnings {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        self.see(states.start);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        self.see(variables.start);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        self.see(events.time);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        self.see(links.start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_have_no_special_characters() {
        assert_eq!(escaped("node/cpu 1=a%ü_2.b"), "node%2Fcpu%201%3Da%25ü_2.b");
    }
}
