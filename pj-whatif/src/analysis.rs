//! Analyses the recorded and the changed run.

use std::collections::BTreeMap;

use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::Waits;
use paje_whatif::{Facts, Graph, Plan, Retimed};

/// Waiting time of each track, and time on the critical path by value, in the trace's unit.
#[derive(Clone, Debug)]
pub(crate) struct RunAnalysis {
    pub(crate) waiting: Vec<f64>,
    pub(crate) on_path: BTreeMap<String, f64>,
}

impl RunAnalysis {
    pub(crate) fn of(facts: Facts<'_>) -> Self {
        let waits = Waits::of(facts);
        let window = waits.whole();
        let mut waiting = vec![0.0; waits.facts.tracks.list().len()];
        for wait in waits.iter() {
            waiting[wait.waiter as usize] += wait.seconds().to_f64();
        }
        let path = CriticalPath::new(&waits);
        let mut on_path: BTreeMap<String, f64> = BTreeMap::new();
        for row in path.iter().flat_map(|path| path.by_activity(&waits, window)) {
            let (type_, value) = row.activity;
            let types = waits.facts.tracks.trace().types();
            let name = value.map_or("(between states)".to_owned(), |value| {
                types.value_name(type_, value).to_string()
            });
            *on_path.entry(name).or_default() += row.seconds.to_f64();
        }
        RunAnalysis { waiting, on_path }
    }

    /// Analyses the changed run. The times of its states and messages must have been kept.
    pub(crate) fn changed(graph: &Graph<'_>, plan: &Plan, retimed: &Retimed) -> Self {
        let tracks = graph.tracks().at_times(&retimed.start, &retimed.end);
        let messages = graph.messages().at_times(|at, message| {
            let (sent, received) = (retimed.sent[at], retimed.received[at]);
            let is_there = !plan.cuts_message(at) && !sent.is_nan();
            let loose = !graph.transfers[at].is_used();
            match (is_there, loose) {
                (_, true) => Some((message.start, message.end)),
                (true, false) => Some((message.start + sent, message.end + received)),
                (false, false) => None,
            }
        });
        RunAnalysis::of(graph.facts().changed(tracks, messages))
    }
}
