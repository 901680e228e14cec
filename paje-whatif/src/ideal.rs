//! Runs with an ideal network, in which communication takes no time beyond waiting.
//!
//! All time of a call after the last message or member that it waits for counts as time of the
//! network. So nothing has to be estimated, neither transfers nor schedules of collectives.

use paje_comm::Facts;

use crate::graph::Graph;
use crate::plan::Plan;
use crate::settings::Settings;

/// Predicts the length of the run with an ideal network, in the trace's unit of time.
///
/// # Errors
/// Fails if the trace has no dependences between ranks, or if ranks would wait for one another in a
/// cycle.
pub fn ideal(facts: Facts<'_>, settings: &Settings) -> Result<f64, String> {
    let settings = Settings { is_ideal: true, ..settings.clone() };
    let graph = Graph::of(facts, &settings, None);
    if graph.tracks().list().len() > 1 && !graph.has_dependences() {
        return Err("the trace has no messages with both ends, and no collectives".into());
    }
    let retimed = graph.retime(&Plan::default(), false, true);
    Ok(retimed.map_err(|cycle| cycle.to_string())?.makespan())
}
