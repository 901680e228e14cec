//! Decides whether the models of collectives are good enough for a prediction.

use paje_comm::tracks::Track;

use crate::graph::Graph;

/// Largest part of the makespan that the models may leave unexplained if only computing changes.
const LARGEST: f64 = 0.01;

/// Largest part of the makespan that the models may leave unexplained, or that a rank may spend
/// between states, if the network changes. Such predictions are less exact in any case.
const LARGEST_OF_NETWORK: f64 = 0.02;

/// Explains why a change of the network cannot be predicted, if ranks spend much time between states. Where computing
/// is a state, this is the time of calls that are not recorded. Those that create communicators send messages.
fn hidden(graph: &Graph<'_>) -> Option<String> {
    let (begin, end) = graph.span()?;
    if !graph.run.facts.is_simulated() || graph.run.groups.list.iter().all(|group| !group.is_part) {
        return None;
    }
    let between = |track: &Track| {
        let tops: Vec<usize> = (0..track.len()).filter(|at| track.parent(*at).is_none()).collect();
        tops.windows(2)
            .map(|pair| (track.start[pair[1]] - track.end[pair[0]]).max(0.0))
            .sum::<f64>()
    };
    let part = graph.tracks().list().iter().map(between).fold(0.0, f64::max) / (end - begin);
    (part > LARGEST_OF_NETWORK).then(|| {
        format!(
            "{:.1} % of the makespan is between states, where calls that create communicators may send messages. Record \
             these (SMPI: tracing/smpi/internals:yes)",
            part * 100.0
        )
    })
}

/// Explains why the collectives without links do not allow a prediction, if they do not. The reason
/// is that no schedule explains their times, and that this matters for the makespan. If only
/// computing changes, the part of an operation that is not explained stays as recorded. A changed
/// network also changes this part.
pub(crate) fn doubt(graph: &Graph<'_>, changes_network: bool) -> Option<String> {
    if let Some(why) = changes_network.then(|| hidden(graph)).flatten() {
        return Some(why);
    }
    let (begin, end) = graph.span()?;
    let mut rests = vec![0.0; graph.tracks().list().len()];
    let mut worst: Option<(f64, usize)> = None;
    for (at, (group, model)) in graph.run.groups.list.iter().zip(graph.shapes()).enumerate() {
        let operations = (group.len() as u64 - group.contradictory) as f64;
        let error = model.error();
        let rest = match changes_network {
            _ if model.is_given || operations == 0.0 => continue,
            true if model.shape.is_free() => operations * (model.unexplained.abs() + error),
            // The messages of an operation have several sizes, which are unknown.
            true if model.shape.has_sizes() && group.bytes.iter().all(|bytes| bytes.is_nan()) => {
                operations * (model.cost().0 + model.cost().1)
            }
            true => operations * error,
            // The errors of operations are independent of one another.
            false => operations.sqrt() * error,
        };
        if worst.is_none_or(|(most, _)| rest > most) {
            worst = Some((rest, at));
        }
        group.tracks.iter().for_each(|track| rests[*track as usize] += rest);
    }
    let part = rests.into_iter().fold(0.0, f64::max) / (end - begin);
    let group = &graph.run.groups.list[worst?.1];
    let largest = if changes_network { LARGEST_OF_NETWORK } else { LARGEST };
    (part > largest).then(|| {
        let name = graph.tracks().trace().types().value_name(group.type_, group.value);
        format!(
            "no schedule explains the times of collectives, above all of {name}; {:.1} % of the makespan may \
             change otherwise. Record their messages (SMPI: tracing/smpi/internals:yes), or the communicators (as \
             Score-P does), or give --group or --coll",
            part * 100.0
        )
    })
}
