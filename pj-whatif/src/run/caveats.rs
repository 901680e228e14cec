//! Assumptions and doubts about a changed run, for the report.

use paje_whatif::fit::{Fit, MAX_MESSAGES};
use paje_whatif::hypothesis::Applied;
use paje_whatif::{Dropped, Graph, Settings, Shape};

use crate::report::Report;

/// Adds the assumptions of the graph.
pub(super) fn of_graph(graph: &Graph<'_>, settings: &Settings, report: &mut Report) {
    let types = graph.tracks.trace().types();
    let assumed = &graph.assumed;
    let messages = graph.messages.list().len();
    if messages == 0 {
        report.caveat("the trace has no messages");
    } else {
        report.caveat(format!(
            "transfer times of {messages} messages: {} measured, {} estimated as the median of their size",
            assumed.measured, assumed.estimated
        ));
        let start = assumed.start.name();
        report.caveat(match assumed.votes {
            None => format!("eager transfers start when {start} (given)"),
            Some((0, 0)) => format!("eager transfers are assumed to start when {start}; no message shows it"),
            Some((sent, posted)) => {
                format!("eager transfers start when {start}: {sent} messages indicate sent, {posted} posted")
            }
        });
        if let Some(eager) = assumed.eager {
            report.caveat(format!("messages of {eager} bytes or more are a rendezvous"));
        }
    }
    for (count, what) in [
        (assumed.unmatched, "links have no sending or no receiving state; nothing waits for them"),
        (assumed.mispaired, "links of Sendrecv are ignored, since SMPI pairs their ends wrongly"),
        (assumed.backwards, "links end before they start; nothing waits for them"),
        (
            graph.messages.elsewhere,
            "links have an end in a container without states; nothing waits for them",
        ),
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
            report.caveat(format!("{name}: its links record the dependencies"));
            continue;
        }
        let fits = shaped
            .fits
            .iter()
            .map(|(shape, off)| format!("{} ± {:.3} µs", shape.name(), off * 1e6));
        let fits: Vec<String> = fits.collect();
        let how = if shaped.is_given { "given" } else { "best fit" };
        report.caveat(format!(
            "{name}: modelled as {} ({how}; residuals: {})",
            shaped.shape.name(),
            fits.join(", ")
        ));
        if shaped.root_in_seconds > 0.0 {
            let each = shaped.root_in_seconds * 1e6;
            report.caveat(format!(
                "{name}: each message to the root uses its link for {each:.3} µs (estimated)"
            ));
        }
        if shaped.link_out_seconds > 0.0 {
            let out = shaped.link_out_seconds * 1e6;
            report.caveat(match shaped.shape {
                Shape::Relay => {
                    format!("{name}: each message takes {out:.3} µs (estimated)")
                }
                Shape::Held => {
                    format!("{name}: each message uses the root's link for {out:.3} µs (estimated)")
                }
                _ => format!(
                    "{name}: each message uses its sender's link for {out:.3} µs (estimated)"
                ),
            });
        }
        if series.root.is_some() && series.assumed {
            let root = shaped.root();
            let (root, turn) = (graph.name(members[root]), series.is_turning);
            report.caveat(match turn {
                true => {
                    format!("{name}: assuming that the root rotates, starting with {root}")
                }
                false => format!("{name}: assuming that {root} is the root"),
            });
        }
    }
    for uneven in &graph.collectives.uneven {
        let name = types.value_name(uneven.type_, uneven.value);
        report.caveat(format!(
            "{name}: waiting is ignored, since containers have {} to {} of them",
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
        report.caveat(format!(
            "states that the map `{map}` does not know, which never count as waiting: {names}{more}"
        ));
    }
}

/// Adds the assumptions of the changes.
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
            "{lost} messages and {operations} collectives contradict the recorded order; nothing waits for them"
        ));
    }
}

/// Describes the estimate of the recorded network, given the number of messages.
pub(super) fn of_network(fit: &Fit, messages: usize) -> String {
    let some = if messages > MAX_MESSAGES {
        format!(" of the first {MAX_MESSAGES}")
    } else {
        String::new()
    };
    format!(
        "recorded network: latency {:.3} µs, bandwidth {:.4e} bytes/s, factors {}; 80 %{some} \
         transfers differ by at most {:.2} %",
        fit.latency * 1e6,
        1.0 / fit.per_byte,
        fit.factors.name,
        fit.misfit * 100.0
    )
}
