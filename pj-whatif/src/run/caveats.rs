//! Collects the assumptions and doubts about a changed run for the report.

use paje_whatif::fit::{Fit, MAX_MESSAGES, WORST_MISFIT, misfit};
use paje_whatif::hypothesis::Applied;
use paje_whatif::{Graph, Progress, Retimed, Settings};

use crate::report::Report;

/// Adds the assumptions of the graph.
pub(super) fn of_graph(graph: &Graph<'_>, settings: &Settings, report: &mut Report) {
    let trace = graph.tracks().trace();
    let types = trace.types();
    let run = graph.run();
    let inferred = &run.inferred;
    for (count, what) in [
        (inferred.unmatched, "links have no sending or no receiving state; nothing waits for them"),
        (
            inferred.between,
            "links begin or end between calls, as when SMPI creates communicators; containers wait for them there",
        ),
        (inferred.mispaired, "links of Sendrecv are ignored, since SMPI pairs their ends wrongly"),
        (inferred.backwards, "links end before they start; nothing waits for them"),
        (
            inferred.posts,
            "receives are paired with their posts by order; the trace has no requests",
        ),
        (inferred.completions, "sends are paired with the calls that wait for them by time"),
        (
            graph.messages().doubled,
            "links are left out, since SMPI writes the messages of calls twice with those of collectives",
        ),
        (
            graph.messages().combined,
            "messages of calls such as Sendrecv are paired by ranks and order, since SMPI writes wrong links",
        ),
        (graph.messages().tested, "links lack an end, and end with loops of tests, in order"),
        (graph.messages().open, "links have no end; nothing waits for them"),
        (run.polls.len() as u64, "loops of tests end when their messages have arrived"),
        (
            graph.messages().elsewhere,
            "links have an end in a container without states; nothing waits for them",
        ),
    ] {
        if count > 0 {
            report.caveat(format!("{count} {what}"));
        }
    }
    for (type_, value) in &run.groups.linked {
        let name = types.value_name(*type_, *value);
        report.caveat(format!("{name}: its links record the dependencies"));
    }
    for uneven in &graph.facts().collectives.uneven {
        let name = types.value_name(uneven.type_, uneven.value);
        report.caveat(format!(
            "{name}: waiting is ignored, since containers have {} to {} of them",
            uneven.least, uneven.most
        ));
    }
    let unknown = graph.tracks().classes().unknown();
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

/// Adds the assumptions about the times of messages, and the models of the collectives without
/// links.
pub(super) fn of_model(graph: &Graph<'_>, report: &mut Report) {
    let types = graph.tracks().trace().types();
    let (assumed, inferred) = (graph.assumed(), &graph.run().inferred);
    let messages = graph.messages().list().len();
    if messages == 0 {
        report.caveat("the trace has no messages");
    } else {
        report.caveat(format!(
            "transfer times of {messages} messages: {} measured, {} estimated from their size and \
             the end of their link",
            assumed.measured, assumed.estimated
        ));
        if let Some(hosts) = graph.facts().hosts.shared() {
            let list = graph.messages().list().iter();
            let local = list.filter(|it| graph.is_local(it.from, it.to)).count();
            report.caveat(format!(
                "ranks share the links of {hosts} hosts; {local} messages stay on a host"
            ));
        }
        let start = assumed.start.name();
        report.caveat(match assumed.votes {
            None => format!("eager transfers start when {start} (given)"),
            Some((0, 0)) => format!("eager transfers are assumed to start when {start}; no message shows it"),
            Some((sent, posted)) => {
                format!("eager transfers start when {start}: {sent} waits indicate sent, {posted} posted")
            }
        });
        if let Some(eager) = inferred.eager {
            report.caveat(format!("messages of {eager} bytes or more are a rendezvous"));
        }
    }
    if messages > 0 {
        let when = match assumed.progress {
            Progress::Async => "while ranks compute, too",
            Progress::Calls => "only while their receiver waits",
        };
        report.caveat(match assumed.progress_votes {
            None => format!("messages travel {when} (given)"),
            Some((0, 0)) => format!("messages are assumed to travel {when}; no wait shows it"),
            Some((free, calls)) => {
                format!("messages travel {when}: {free} waits indicate async, {calls} calls")
            }
        });
    }
    for (group, model) in graph.run().groups.list.iter().zip(graph.shapes()) {
        let name = types.value_name(group.type_, group.value);
        let fits = model.fits.iter();
        let fits = fits.map(|(shape, off)| format!("{} {}", shape.name(), report.duration(*off)));
        let fits: Vec<String> = fits.collect();
        let error = model.fits.first().map_or(0.0, |fit| fit.1);
        let how = match model.fits.iter().any(|(_, other)| *other < error) {
            _ if model.is_given => "given",
            false => "best fit",
            // Dependencies alone have no parameters.
            true => "without costs of messages, as no other model fits much better",
        };
        let of = match group.is_part {
            true => {
                format!(" among {} ranks from {}", group.members(), graph.name(group.tracks[0]))
            }
            false => String::new(),
        };
        report.caveat(format!(
            "{name}{of}: modelled as {} ({how}; errors: {})",
            model.shape.name(),
            fits.join(", ")
        ));
        if group.is_part {
            report.caveat(format!(
                "{name}: groups of ranks are inferred from the times; the trace has no communicators"
            ));
        }
        let (latency, work) = model.cost();
        if latency + work > 0.0 {
            let (latency, work) = (report.duration(latency), report.duration(work));
            report.caveat(format!(
                "{name}: a message takes {latency} and uses links for {work} (estimated)"
            ));
        }
        if group.contradictory > 0 {
            report.caveat(format!(
                "{name}: {} of {} operations contradict the group; nothing waits in them",
                group.contradictory,
                group.len()
            ));
        }
        if group.is_assumed {
            let root = graph.name(group.tracks[model.root() as usize]);
            report.caveat(match group.turn > 0 {
                true => {
                    format!("{name}: assuming that the root rotates, starting with {root}")
                }
                false => format!("{name}: assuming that {root} is the root"),
            });
        }
    }
}

/// Adds how well the table of the network explains the record. Fails if it does not.
pub(super) fn of_table(graph: &Graph<'_>, report: &mut Report) -> Result<(), String> {
    let Some(misfit) = misfit(graph) else { return Ok(()) };
    let percent = misfit * 100.0;
    if misfit > WORST_MISFIT {
        return Err(format!(
            "the table of --net-table does not explain the recorded messages: a fifth of them are more than {percent:.0} % \
             off; measure messages on the recorded system"
        ));
    }
    report.caveat(format!("--net-table: 80 % of the transfers differ by at most {percent:.2} %"));
    Ok(())
}

/// Adds the assumptions of the changes.
pub(super) fn of_change(
    applied: &Applied,
    retimed: &Retimed,
    messages: usize,
    report: &mut Report,
) {
    applied.notes.iter().for_each(|note| report.caveat(note));
    let percent = retimed.misfit * 100.0;
    report.misfit = retimed.misfit;
    report.caveat(format!(
        "the model of the recorded run ends waits too early or too late by {percent:.2} % of the time of all containers"
    ));
    if let Some(fit) = &applied.fit {
        of_network(fit, messages, report);
    }
    let (lost, operations) = retimed.dropped;
    if lost + operations > 0 {
        report.caveat(format!(
            "{lost} messages and {operations} collectives contradict the recorded order; nothing waits for them"
        ));
    }
}

/// Describes the estimate of the recorded network, given the number of messages.
pub(super) fn of_network(fit: &Fit, messages: usize, report: &mut Report) {
    let some = if messages > MAX_MESSAGES {
        format!(" of the first {MAX_MESSAGES}")
    } else {
        String::new()
    };
    report.caveat(format!(
        "recorded network: latency {}, bandwidth {}, factors {}; 80 %{some} transfers differ by at \
         most {:.2} %",
        report.duration(fit.latency),
        report.rate(1.0 / fit.per_byte),
        fit.factors.name,
        fit.misfit * 100.0
    ));
}
