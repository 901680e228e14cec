//! Runs with an ideal network, in which communication takes no time beyond waiting.
//!
//! All time of a call after the last message or member that it waits for counts as time of the
//! network. So nothing has to be estimated, neither transfers nor schedules of collectives.

mod direct;

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
    direct::length(&graph).map_or_else(|| retimed(&graph), Ok)
}

/// Predicts the length with the general model.
fn retimed(graph: &Graph<'_>) -> Result<f64, String> {
    let plan = Plan { after: Some(graph.costs().clone()), ..Plan::default() };
    let retimed = graph.retime(&plan, false, true).map_err(|cycle| cycle.to_string())?;
    Ok(retimed.makespan())
}
