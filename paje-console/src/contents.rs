//! The table of object counts that all programs print.

use std::fmt::Write;
use std::time::Instant;

use paje_decimal::amounts;
use paje_sim::Trace;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Voice;
use crate::memory::peak_memory;
use crate::options::{StatsFormat, Talk};
use crate::reading::read_of;

/// Numbers of objects in a trace. The root container and the root type are not counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contents {
    /// Earliest time of any object and latest time of any line, in the trace's unit.
    pub time: (f64, f64),
    /// Number of event definitions.
    pub event_definitions: u64,
    /// Number of types of containers, states, variables, events and links.
    pub types: u64,
    /// Number of containers.
    pub containers: u64,
    /// Number of states, as printed by a dump.
    pub states: u64,
    /// Number of intervals between changes of variables.
    pub variables: u64,
    /// Number of events (PajeNewEvent).
    pub events: u64,
    /// Number of links with both ends.
    pub links: u64,
    /// Number of values of all types, whether defined or only used.
    pub values: u64,
}

impl Contents {
    /// Counts the objects that the replay of `trace` kept.
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

    /// Formats the numbers as a table, with one line for each number.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = fact("time", format_args!("{} to {}", self.time.0, self.time.1));
        for (name, count) in self.counts() {
            table += &fact(name, format_args!("{}", amounts::count(count)));
        }
        table
    }

    /// Returns the counts with their names.
    #[must_use]
    pub const fn counts(&self) -> [(&'static str, u64); 8] {
        [
            ("event definitions", self.event_definitions),
            ("types", self.types),
            ("containers", self.containers),
            ("states", self.states),
            ("variables", self.variables),
            ("events", self.events),
            ("links", self.links),
            ("values", self.values),
        ]
    }
}

/// Formats the statistics of `--stats`. They have `counts`, the size of a packed trace and the
/// number of bytes read, the time, and the memory. JSON calls the last four `packed_size`,
/// `packed_read`, `seconds` and `peak_memory`.
#[must_use]
pub fn stats(
    format: StatsFormat,
    counts: &[(&str, u64)],
    packed: Option<(u64, u64)>,
    began: Instant,
) -> String {
    let (seconds, memory) = (began.elapsed().as_secs_f64(), peak_memory());
    if format == StatsFormat::Json {
        let mut object: Map<String, Value> =
            counts.iter().map(|(name, count)| (name.replace(' ', "_"), (*count).into())).collect();
        if let Some((size, read)) = packed {
            object.insert("packed_size".into(), size.into());
            object.insert("packed_read".into(), read.into());
        }
        object.insert("seconds".into(), ((seconds * 1e6).round() / 1e6).into());
        object.extend(memory.map(|memory| ("peak_memory".into(), memory.into())));
        return format!("{}\n", Value::Object(object));
    }
    let mut text: String = counts
        .iter()
        .map(|(name, count)| fact(name, format_args!("{}", amounts::count(*count))))
        .collect();
    if let Some((size, read)) = packed {
        text += &read_of(read, size);
    }
    text += &fact("seconds", format_args!("{seconds:.3}"));
    if let Some(memory) = memory {
        text += &fact("memory", format_args!("{:.1} MB", memory as f64 / 1e6));
    }
    text
}

/// Prints the statistics of a replayed trace, if `talk` asks for them. `more` are further counts.
pub fn say_stats(voice: Voice, talk: Talk, trace: &Trace, more: &[(&str, u64)], began: Instant) {
    let Some(format) = talk.stats else { return };
    let mut counts = vec![("bytes", trace.bytes()), ("lines", trace.lines())];
    counts.extend(Contents::of(trace).counts());
    counts.extend(more);
    voice.print(&stats(format, &counts, None, began));
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
        assert!(table.starts_with("time               1 to 4\nevent definitions  4\n"), "{table}");
    }
}
