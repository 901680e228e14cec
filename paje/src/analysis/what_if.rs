//! Predictions.

use paje_sim::Trace;
use paje_whatif::fit::own_network;
use paje_whatif::hypothesis::{Changes, Hypothesis};
use paje_whatif::{Facts, Graph, Settings};

use super::record::record;
use super::{Options, Refusal};

/// Predicted times of a changed run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Prediction {
    /// Length of the recorded run in seconds.
    pub recorded: f64,
    /// Length of the changed run in seconds.
    pub predicted: f64,
    /// End of each container's last state.
    pub containers: Vec<ContainerEnd>,
    /// Assumptions about the changes.
    pub notes: Vec<String>,
}

record! {
    /// End of a container's last state.
    ContainerEnd {
        /// The container.
        container: String,
        /// End in the recorded run, in seconds.
        recorded: f64,
        /// End in the changed run, in seconds.
        predicted: f64,
    }
}

/// Predicts how long the run would have taken with changes. A change has a kind and its settings, which are separated
/// by commas. States and containers are patterns, and times are in seconds.
///
/// | kind | settings | |
/// |---|---|---|
/// | `scale` | `state=X`, `factor=F`, perhaps `container=C`, `min-gap=S` | scales the exclusive time of states, except parts of up to `min-gap` |
/// | `cpu` | `factor=F`, perhaps `container=C` | scales computing and the time between states |
/// | `balance` | `state=X`, `mode=M`, perhaps `container=C` | makes states equally long: `global-instance`, the k-th states of all containers; `process-local`, those of each container; `global`, all; `scaled` makes the sums of containers equal |
/// | `cut` | `state=X`, perhaps `container=C` | removes states with everything inside them, including messages |
/// | `cut-messages` | a condition such as `size == 0` | removes messages; properties are `size`, `tag`, `value`, `from` and `to`, joined by `&&` |
/// | `net` | `latency=L`, `bandwidth=B`, `eager=N`, `sharing=maxmin` or `none` | changes the network: `x10` is ten times the recorded value, a number is seconds or bytes per second |
///
/// Each container does the same as in the recorded run, in the same order, and messages keep their
/// senders and receivers. Only the times of activities change, as far as the changes require.
/// Waiting is computed again. The network and the time of calls stay as recorded unless `net`
/// changes them. A factor multiplies times, so 0.5 is twice as fast. [`Prediction::notes`] has what
/// is assumed in addition.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
/// use paje::analysis::{Options, what_if};
///
/// let trace = paje::TraceReader::new().open(path)?;
/// let faster = what_if(&trace, &[("scale", "state=computing,factor=0.5")], &Options::new())?;
/// assert!(faster.predicted < faster.recorded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A change is not understood or does not fit the trace, the trace has no dependencies between containers, or the
/// changed run never ends.
pub fn what_if(
    trace: &Trace,
    changes: &[(&str, &str)],
    options: &Options,
) -> Result<Prediction, Refusal> {
    let parsed = changes.iter().map(|(kind, text)| Hypothesis::parse(kind, text));
    let hypotheses = parsed.collect::<Result<Vec<_>, String>>()?;
    let (map, reading) = options.communication(trace)?;
    let counts = trace.counts();
    if counts.states.max(counts.links) >= Graph::MAX {
        return Err(Refusal(format!("too many states or links; the maximum is {}", Graph::MAX)));
    }
    let mut settings = Settings::new(map);
    settings.reading = reading;
    options.workers()?.run(|| predict(trace, &hypotheses, &settings))
}

fn predict(
    trace: &Trace,
    hypotheses: &[Hypothesis],
    settings: &Settings,
) -> Result<Prediction, Refusal> {
    let facts = Facts::new(trace, &settings.map, &settings.reading);
    if facts.tracks.classes().is_empty() {
        return Err(Refusal(settings.map.unknown(trace, "`Options::map`")));
    }
    let mut changes = Changes { hypotheses, network: None, random: None };
    let eager = changes.eager();
    let graph = Graph::of(facts, settings, eager);
    let own = if eager.is_none() { own_network(&graph) } else { None };
    changes.network = own.as_ref().map(|(network, _)| network);
    let applied = changes.apply(&graph)?;
    let tracks = graph.tracks().list();
    if tracks.len() > 1 && !graph.has_dependences() && !applied.plan.is_nothing() {
        let why = "the trace has no messages with both ends and no collectives, so it does not say how its containers \
                   depend on one another; record them as links";
        return Err(Refusal(why.into()));
    }
    let mends = eager.is_none() || hypotheses.is_empty();
    let retimed = graph.retime(&applied.plan, false, mends);
    let retimed = retimed.map_err(|cycle| format!("the changed run never ends: {cycle}"))?;
    let (scale, (begin, end)) = (trace.time_scale(), graph.span().unwrap_or((0.0, 0.0)));
    let ends = tracks.iter().zip(&retimed.finish).map(|(track, finish)| ContainerEnd {
        container: trace.containers().name(track.container).to_string(),
        recorded: scale.seconds(track.last_exit()),
        predicted: scale.seconds(*finish),
    });
    Ok(Prediction {
        recorded: scale.seconds(end - begin),
        predicted: scale.seconds(retimed.makespan()),
        containers: ends.collect(),
        notes: applied.notes,
    })
}
