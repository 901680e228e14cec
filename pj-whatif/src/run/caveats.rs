//! Doubts about a changed run.

use paje_whatif::fit::{Fit, MAX_MESSAGES};
use paje_whatif::hypothesis::Applied;
use paje_whatif::{Dropped, Graph, Settings, Shape};

use crate::report::Report;

/// Adds the assumptions that the graph was made with.
pub(super) fn of_graph(graph: &Graph<'_>, settings: &Settings, report: &mut Report) {
    let types = graph.tracks.trace().types();
    let assumed = &graph.assumed;
    let messages = graph.messages.list().len();
    if messages == 0 {
        report.caveat("there are no messages");
    } else {
        report.caveat(format!(
            "{} transfers of {messages} were waited for, and so measured; {} are taken to last as long as the median of their size",
            assumed.measured, assumed.estimated
        ));
        let start = assumed.start.name();
        report.caveat(match assumed.votes {
            None => format!("eager transfers start when {start}, as was said"),
            Some((0, 0)) => format!("eager transfers are taken to start when {start}: no message tells"),
            Some((sent, posted)) => {
                format!("eager transfers start when {start}: {sent} messages tell when sent, {posted} when posted")
            }
        });
        if let Some(eager) = assumed.eager {
            report.caveat(format!("messages of {eager} bytes or more are a rendezvous"));
        }
    }
    for (count, what) in [
        (
            assumed.unmatched,
            "links have no state that sends or none that receives: nothing waits for them",
        ),
        (
            assumed.mispaired,
            "links of Sendrecv are not trusted, since SMPI pairs their ends wrongly: nothing waits for them",
        ),
        (assumed.backwards, "links end before they start: nothing waits for them"),
        (graph.messages.elsewhere, "links join containers without states: nothing waits for them"),
    ] {
        if count > 0 {
            report.caveat(format!("{count} {what}"));
        }
    }
    for shaped in &graph.shapes {
        let series = &graph.collectives.series[shaped.series];
        let members = graph.collectives.members(series);
        if members.len() < 2 || series.is_empty() {
            continue;
        }
        let name = types.value_name(series.type_, series.value);
        if shaped.has_links {
            report.caveat(format!("{name}: its links tell who waits for whom"));
            continue;
        }
        let fits = shaped
            .fits
            .iter()
            .map(|(shape, off)| format!("{} ± {:.3} µs", shape.name(), off * 1e6));
        let fits: Vec<String> = fits.collect();
        let how = if shaped.is_given { "as was said" } else { "what explains the times best" };
        report.caveat(format!("{name}: {}, {how} ({})", shaped.shape.name(), fits.join(", ")));
        if shaped.root_in_seconds > 0.0 {
            let each = shaped.root_in_seconds * 1e6;
            report.caveat(format!(
                "{name}: each message to the root needs the link into it for {each:.3} µs, as the times tell"
            ));
        }
        if shaped.link_out_seconds > 0.0 {
            let out = shaped.link_out_seconds * 1e6;
            report.caveat(match shaped.shape {
                Shape::Relay => {
                    format!("{name}: each message takes {out:.3} µs, as the times tell")
                }
                Shape::Held => format!(
                    "{name}: each message needs the link of the root for {out:.3} µs, as the times tell"
                ),
                _ => format!(
                    "{name}: each message needs the link out of its sender for {out:.3} µs, as the times tell"
                ),
            });
        }
        if series.root.is_some() && series.assumed {
            let root = shaped.root();
            let (root, turn) = (graph.name(members[root]), series.is_turning);
            report.caveat(match turn {
                true => {
                    format!("{name}: containers are assumed to be the root in turn, from {root} on")
                }
                false => format!("{name}: the root is assumed to be {root}"),
            });
        }
    }
    for uneven in &graph.collectives.uneven {
        let name = types.value_name(uneven.type_, uneven.value);
        report.caveat(format!(
            "{name}: nobody waits there, since containers have {} to {} of them",
            uneven.least, uneven.most
        ));
    }
    let unknown = graph.tracks.classes().unknown();
    if !unknown.is_empty() {
        let names = unknown
            .iter()
            .take(5)
            .map(|(type_, value)| types.value_name(*type_, *value).to_string());
        let more = if unknown.len() > 5 {
            format!(" and {} more", unknown.len() - 5)
        } else {
            String::new()
        };
        let (map, names) = (settings.map.name(), names.collect::<Vec<_>>().join(", "));
        report.caveat(format!("the map `{map}` does not know {names}{more}: nobody waits there"));
    }
}

/// Adds the assumptions that it was changed with.
pub(super) fn of_change(
    applied: &Applied,
    dropped: &Dropped,
    messages: usize,
    report: &mut Report,
) {
    applied.notes.iter().for_each(|note| report.caveat(note));
    if let Some(fit) = &applied.fit {
        report.caveat(of_network(fit, messages));
    }
    let (lost, operations) = dropped.count();
    if lost + operations > 0 {
        report.caveat(format!(
            "{lost} messages and {operations} operations contradict the order of what else was recorded: nothing waits for them"
        ));
    }
}

/// Sentence on the recorded network as it is taken to be, which so many messages went through.
pub(super) fn of_network(fit: &Fit, messages: usize) -> String {
    let some =
        if messages > MAX_MESSAGES { format!(" the first {MAX_MESSAGES}") } else { String::new() };
    format!(
        "the recorded network: latency {:.3} µs, bandwidth {:.4e} bytes a second, factors {}; four of five{some} \
         transfers differ from that by {:.2} % at most",
        fit.latency * 1e6,
        1.0 / fit.per_byte,
        fit.factors.name,
        fit.misfit * 100.0
    )
}
