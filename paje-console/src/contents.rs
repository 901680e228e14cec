//! The table of object counts that all programs print.

use std::fmt::Write;
use std::time::Instant;

use paje_sim::Trace;
use serde::Serialize;

use crate::memory::peak_memory;
use crate::reading::read_of;

/// Numbers of objects in a trace. The root container and the root type are not counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// Earliest time of any object, and latest time of any line, in seconds.
    pub time: (f64, f64),
    /// Event definitions.
    pub event_definitions: u64,
    /// Types of containers, states, variables, events and links.
    pub types: u64,
    /// Containers.
    pub containers: u64,
    /// States, counted as a dump prints them.
    pub states: u64,
    /// Intervals between changes of variables.
    pub variables: u64,
    /// Events (PajeNewEvent).
    pub events: u64,
    /// Links with both ends.
    pub links: u64,
    /// Values of all types, defined or used.
    pub values: u64,
}

impl Contents {
    /// Counts the objects of `trace` that the replay kept.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let (types, containers, counts) = (trace.types(), trace.containers(), trace.counts());
        let created = containers.ids().skip(1).map(|id| containers.start(id));
        let began = trace.lanes().filter(|lane| !lane.is_empty()).map(|lane| lane.start(0));
        let first = created.chain(began).fold(trace.end(), f64::min);
        Contents {
            time: (first, trace.end()),
            event_definitions: trace.defs().len() as u64,
            types: types.len() as u64 - 1,
            containers: counts.containers,
            states: counts.states,
            variables: counts.variables,
            events: counts.events,
            links: counts.links,
            values: types.ids().map(|id| types.value_count(id) as u64).sum(),
        }
    }

    /// Formats one line per number.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = fact("time", format_args!("{} to {} s", self.time.0, self.time.1));
        let counts = [
            ("event definitions", self.event_definitions),
            ("types", self.types),
            ("containers", self.containers),
            ("states", self.states),
            ("variables", self.variables),
            ("events", self.events),
            ("links", self.links),
            ("values", self.values),
        ];
        for (name, count) in counts {
            table += &fact(name, format_args!("{count}"));
        }
        table
    }
}

/// Formats the table of `--stats`. It has `counts`, the size of a packed trace and the number of
/// bytes read, the time, and the memory.
#[must_use]
pub fn stats(counts: &[(&str, u64)], packed: Option<(u64, u64)>, began: Instant) -> String {
    let mut text: String =
        counts.iter().map(|(name, count)| fact(name, format_args!("{count}"))).collect();
    if let Some((size, read)) = packed {
        text += &read_of(read, size);
    }
    text += &fact("seconds", format_args!("{:.3}", began.elapsed().as_secs_f64()));
    if let Some(memory) = peak_memory() {
        text += &fact("memory", format_args!("{:.1} MB", memory as f64 / 1e6));
    }
    text
}

/// Formats one line of a table.
#[must_use]
pub fn fact(name: &str, value: std::fmt::Arguments<'_>) -> String {
    let mut line = String::new();
    let _ = writeln!(line, "{name:<18} {value}");
    line
}

#[cfg(test)]
mod tests {
    use paje_sim::Options;

    use super::*;

    #[test]
    fn contents_of_a_small_trace_are_counted() {
        let text = "%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef\n\
                    %EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef\n\
                    %EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n\
                    % Container string\n%EndEventDef\n\
                    %EventDef PajeSetState 3\n% Time date\n% Type string\n% Container string\n\
                    % Value string\n%EndEventDef\n\
                    0 P 0\n1 S P\n2 1 p P 0\n3 1.5 S p a\n3 2 S p b\n3 4 S p a\n";
        let trace = Trace::read(text.as_bytes(), &Options::default()).expect("a valid trace");
        let contents = Contents::of(&trace);
        let wanted = Contents {
            time: (1.0, 4.0),
            event_definitions: 4,
            types: 2,
            containers: 1,
            states: 3,
            variables: 0,
            events: 0,
            links: 0,
            values: 2,
        };
        assert_eq!(contents, wanted);
        let table = contents.table();
        assert!(
            table.starts_with("time               1 to 4 s\nevent definitions  4\n"),
            "{table}"
        );
    }
}
