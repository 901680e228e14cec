//! Finds options that do not apply to a report.

use super::Cli;
use super::Report::{
    self, Comm, Compare, Critical, Events, Scaling, States, Summary, Tasks, Time, Variables, Waits,
    Why,
};

impl Cli {
    /// Returns an option that does not apply to the report, and the reports to which it applies.
    pub(crate) fn out_of_place(&self) -> Option<(&'static str, String)> {
        let waiting: &[Report] = &[Waits, Critical, Summary, Why, Scaling];
        let rows: &[Report] = &[States, Comm, Time, Variables, Events, Summary, Compare];
        let is_part = self.span.start.or(self.span.end).is_some();
        let all_but_why = [rows, &waiting[..2], &[Tasks]].concat();
        let all: [(bool, &str, &[Report]); 17] = [
            (self.by.is_some(), "--by", &[States, Comm, Time, Waits, Critical, Tasks, Compare]),
            (self.bytes.is_some(), "--bytes", &[Comm, Waits, Critical, Why, Scaling]),
            (self.bins.is_some(), "--bins", &[Time, Variables]),
            (self.inclusive, "--inclusive", &[Time]),
            (self.classes, "--classes", &[Time]),
            (self.value.is_some(), "--value", &[States, Time]),
            (self.grid.is_some(), "--grid", &[States, Comm, Waits]),
            (self.map.is_some(), "--map", &[Time, Waits, Critical, Tasks, Summary, Why, Scaling]),
            (self.tasks.tasks.is_some(), "--tasks", &[Waits, Critical, Tasks, Summary, Why]),
            (self.group.is_some(), "--group", waiting),
            (self.root.is_some(), "--root", waiting),
            (self.eager.is_some(), "--eager", waiting),
            (self.graph.is_some(), "--graph", &[Comm, Waits]),
            (is_part, "--start or --end", &all_but_why),
            (self.live, "--live", &rows[..6]),
            // A container may wait for any other container.
            (!self.patterns.inside.is_empty(), "--in", rows),
            (!self.patterns.of_type.is_empty(), "--of-type", rows),
        ];
        let report = self.report();
        let (_, option, reports) =
            all.into_iter().find(|(given, _, reports)| *given && !reports.contains(&report))?;
        let names: Vec<String> = reports.iter().map(|report| report.name()).collect();
        Some((option, listed(&names)))
    }
}

/// Joins names as in `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
