//! Options that a report has no use for.

use super::{Cli, Report};

/// The reports that are about rows one by one.
const ROWS: &str = "states, comm, time, variables, events, summary and compare";
const BY_ROWS: [Report; 7] = [
    Report::States,
    Report::Comm,
    Report::Time,
    Report::Variables,
    Report::Events,
    Report::Summary,
    Report::Compare,
];

impl Cli {
    /// An option that the report has no use for, and what has.
    #[must_use]
    pub fn out_of_place(&self) -> Option<(&'static str, &'static str)> {
        use Report::{Comm, Compare, Critical, States, Summary, Time, Variables, Waits};
        let all: [(bool, &str, &[Report], &str); 16] = [
            (
                self.by.is_some(),
                "--by",
                &[States, Time, Waits, Critical, Compare],
                "states, time, waits, critical and compare",
            ),
            (self.level.is_some(), "--level", &[Comm], "comm"),
            (self.bytes.is_some(), "--bytes", &[Comm, Waits, Critical], "comm, waits and critical"),
            (self.bins.is_some(), "--bins", &[Time, Variables], "time and variables"),
            (self.inclusive, "--inclusive", &[Time], "time"),
            (self.classes, "--classes", &[Time], "time"),
            (self.value.is_some(), "--value", &[States, Time], "states and time"),
            (self.grid.is_some(), "--grid", &[States, Comm, Waits], "states, comm and waits"),
            (
                self.map.is_some(),
                "--map",
                &[Time, Waits, Critical, Summary],
                "time, waits, critical and summary",
            ),
            (
                self.group.is_some(),
                "--group",
                &[Waits, Critical, Summary],
                "waits, critical and summary",
            ),
            (
                self.root.is_some(),
                "--root",
                &[Waits, Critical, Summary],
                "waits, critical and summary",
            ),
            (
                self.eager.is_some(),
                "--eager",
                &[Waits, Critical, Summary],
                "waits, critical and summary",
            ),
            (self.dot.is_some(), "--dot", &[Comm, Waits], "comm and waits"),
            (
                self.live,
                "--live",
                // Of compare, more is told later.
                &BY_ROWS,
                "states, comm, time, variables, events and summary",
            ),
            // Who waits may wait for any container.
            (!self.patterns.inside.is_empty(), "--in", &BY_ROWS, ROWS),
            (!self.patterns.of_type.is_empty(), "--of-type", &BY_ROWS, ROWS),
        ];
        let wrong = |(given, _, reports, _): &(bool, _, &[Report], _)| {
            *given && !reports.contains(&self.report())
        };
        all.into_iter().find(wrong).map(|(_, option, _, whose)| (option, whose))
    }
}
