//! Computes the contents that a viewer should show from the rows of a trace.

use std::collections::BTreeMap;

use paje_sim::{LaneView, Trace};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shown {
    /// Number of states and their nanoseconds, by type and value.
    pub(crate) states: BTreeMap<(String, String), (u64, i64)>,
    pub(crate) events: Vec<(String, String, i64, String)>,
    pub(crate) variables: Vec<(String, String, i64, f64)>,
    pub(crate) links: u64,
}

pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    let digits = format!("{seconds:.9}").replace('.', "");
    // Times out of range are tested elsewhere.
    digits.parse().unwrap_or(i64::MAX / 2)
}

impl Shown {
    pub(crate) fn of(trace: &Trace) -> Shown {
        let mut shown = Shown::default();
        let names =
            |lane: LaneView<'_>| (lane.container_name().to_string(), lane.type_name().to_string());
        for state in trace.states() {
            let key = (state.lane.type_name().to_string(), state.value_name().to_string());
            let (count, sum) = shown.states.entry(key).or_default();
            *count += 1;
            *sum = sum.saturating_add(nanoseconds(state.end) - nanoseconds(state.start));
        }
        for event in trace.events() {
            let (container, type_) = names(event.lane);
            let value = event.value_name().to_string();
            shown.events.push((container, type_, nanoseconds(event.time), value));
        }
        for variable in trace.variables() {
            let (container, type_) = names(variable.lane);
            let at = nanoseconds(variable.start);
            shown.variables.push((container, type_, at, variable.value));
        }
        shown.links = trace.links().count() as u64;
        shown.in_order()
    }

    pub(crate) fn in_order(mut self) -> Shown {
        self.events.sort();
        self.variables
            .sort_by(|a, b| (&a.0, &a.1, a.2).cmp(&(&b.0, &b.1, b.2)).then(a.3.total_cmp(&b.3)));
        self
    }
}
