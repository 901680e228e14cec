//! Replaces the network.

use paje_sim::TimeScale;

use super::{Applied, effect};
use crate::costs::Costs;
use crate::fit::{WORST_MISFIT, fit};
use crate::graph::Graph;
use crate::hypothesis::{Amount, Net, Sharing};

/// Latency and bandwidth in the changed run.
struct Change {
    latency: Amount,
    bandwidth: Amount,
    scale: TimeScale,
}

impl Change {
    /// Returns the latency and the time to transfer the bytes in the changed run, in the trace's
    /// unit of time.
    fn of(&self, bytes: f64, (latency, work): (f64, f64)) -> (f64, f64) {
        let latency = match self.latency {
            Amount::Times(factor) => latency * factor,
            Amount::Of(seconds) => self.scale.time(seconds),
        };
        let work = match self.bandwidth {
            Amount::Times(factor) => work / factor,
            Amount::Of(bandwidth) if bytes.is_finite() => self.scale.time(bytes / bandwidth),
            Amount::Of(_) => work,
        };
        (latency, work)
    }
}

/// Replaces the network. `own` is a network that explains the recorded run.
pub(super) fn apply(
    graph: &Graph<'_>,
    net: &Net,
    own: Option<&Costs>,
    applied: &mut Applied,
) -> Result<(), String> {
    let same = Amount::Times(1.0);
    let change = Change {
        latency: net.latency.unwrap_or(same),
        bandwidth: net.bandwidth.unwrap_or(same),
        scale: graph.tracks().trace().time_scale(),
    };
    if change.latency == same && change.bandwidth == same {
        return Ok(());
    }
    let shares = net.sharing == Sharing::MaxMin;
    for (amount, what, is_time) in
        [(change.latency, "latency", true), (change.bandwidth, "bytes of messages", false)]
    {
        if let Amount::Times(factor) = amount
            && factor != 1.0
        {
            applied.notes.push(effect(what, if is_time { factor } else { factor.recip() }));
        }
    }
    // A single factor for the whole time of a message.
    let whole = match (change.latency, change.bandwidth) {
        (Amount::Times(latency), Amount::Times(bandwidth)) => {
            Some(latency).filter(|_| (latency * bandwidth - 1.0).abs() < 1e-12)
        }
        _ => None,
    };
    let is_absolute = matches!((change.latency, change.bandwidth), (Amount::Of(_), Amount::Of(_)));
    let has_costs = graph.costs().messages.iter().any(|(_, work)| *work > 0.0);
    let has_messages = graph.transfers().iter().any(|transfer| transfer.is_used());
    let mut before = graph.costs().clone();
    if whole.is_some() && !has_costs {
        // The total time of each message is multiplied by this factor, so no sizes are needed.
        before = own.unwrap_or(graph.costs()).clone();
    } else if has_messages && !has_costs && !is_absolute {
        match graph.has_sizes().then(|| fit(graph, shares)).flatten() {
            Some(fit) if fit.misfit > WORST_MISFIT => {
                let misfit = fit.misfit * 100.0;
                return Err(format!(
                    "no latency and bandwidth explain the recorded messages: a fifth of them are more than {misfit:.0} % off; \
                     give a table of the network (net-table), or net with both latency=SECONDS and \
                     bandwidth=BYTES-PER-SECOND"
                ));
            }
            Some(fit) => {
                before = fit.costs(graph);
                applied.fit = Some(fit);
            }
            None => {
                return Err("cannot separate latency from bandwidth: the messages have no sizes, or all the same size; \
                            record with tracing/smpi/display-sizes:yes, or give a table of the network (net-table), or net with \
                            both latency=SECONDS and bandwidth=BYTES-PER-SECOND"
                    .into());
            }
        }
    }
    let list = graph.messages().list();
    let without = list.iter().filter(|message| message.bytes().is_none()).count();
    if without > 0 && whole.is_none() {
        applied.notes.push(format!(
            "{without} of {} messages have no size; their transfers keep their recorded times",
            list.len()
        ));
    }
    let mut after = before.changed(graph, |bytes, cost| change.of(bytes, cost));
    if whole.is_none() {
        for (at, message) in list.iter().enumerate() {
            if message.bytes().is_none() {
                after.messages[at] = before.messages[at];
            }
        }
    }
    after.shares = shares;
    let free = graph.shapes().iter().filter(|model| model.shape.is_free()).count();
    if free > 0 {
        applied.notes.push(format!(
            "{free} collectives without links keep their recorded times beyond waiting: no schedule explains them"
        ));
    }
    (applied.plan.before, applied.plan.after) = (Some(before), Some(after));
    Ok(())
}
