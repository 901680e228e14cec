//! Decides whether a trace says how its containers depend on one another.

use paje_analysis::tracks::Track;
use paje_whatif::{Graph, Settings};

/// Largest part of the messages, and of the collective operations, that may be unknown, as a
/// divisor.
const UNKNOWN: u64 = 100;

/// Explains why no change can be predicted, if too many dependencies are unknown.
pub(super) fn refusal(graph: &Graph<'_>, settings: &Settings) -> Option<String> {
    let containers = graph.tracks().list().len();
    let why = unknown_messages(graph).or_else(|| unknown_operations(graph));
    let why = why.or_else(|| nothing(graph, settings)).filter(|_| containers > 1)?;
    Some(format!(
        "the trace does not say how its {containers} containers depend on one another: {why}"
    ))
}

fn unknown_messages(graph: &Graph<'_>) -> Option<String> {
    let inferred = &graph.run().inferred;
    let causes = [
        (
            graph.facts().recorded.halves,
            "sends or receives have no other end (EZTrace does not record the end of receives that MPI_Wait \
             completes; Score-P does)",
        ),
        (
            graph.messages().open,
            "links have no end (SMPI writes none for MPI_ANY_SOURCE, nor for MPI_Test unless each loop of tests \
             receives one message; name the source, or use MPI_Wait)",
        ),
        (inferred.unmatched, "links begin or end outside of the calls that send and receive"),
        (
            inferred.mispaired,
            "links are of Sendrecv, for which SMPI writes wrong pairs (use Irecv, Send and Wait)",
        ),
        (inferred.backwards, "links end before they start"),
    ];
    let unknown: u64 = causes.iter().map(|(count, _)| count).sum();
    let used = inferred.used;
    if unknown * UNKNOWN <= used + unknown {
        return None;
    }
    let causes = causes.iter().filter(|(count, _)| *count > 0);
    let causes: Vec<String> = causes.map(|(count, what)| format!("{count} {what}")).collect();
    Some(format!("{used} messages have both ends, but {}. Record both ends", causes.join(", and ")))
}

fn unknown_operations(graph: &Graph<'_>) -> Option<String> {
    let groups = &graph.run().groups;
    let uneven = graph.facts().collectives.uneven.clone();
    let uneven = uneven.iter().filter(|it| !groups.linked.contains(&(it.type_, it.value)));
    let uneven: u64 = uneven.map(|it| it.most as u64).sum();
    let unknown: u64 = groups.list.iter().map(|group| group.contradictory).sum::<u64>() + uneven;
    let all = groups.list.iter().map(|group| group.len() as u64).sum::<u64>() + uneven;
    (unknown * UNKNOWN > all).then(|| {
        format!(
            "the members of {unknown} of {all} collective operations are unknown. Record communicators (as Score-P \
             does), or the messages of collectives (SMPI: tracing/smpi/internals:yes), or give --group"
        )
    })
}

fn nothing(graph: &Graph<'_>, settings: &Settings) -> Option<String> {
    if graph.run().inferred.used > 0 {
        return None;
    }
    if settings.map.name() == "starpu" {
        return Some(
            "StarPU does not write dependencies of tasks into the trace. Name the file tasks.rec, which \
             starpu_fxt_tool writes beside it (--tasks FILE)"
                .into(),
        );
    }
    if !graph.has_dependences() {
        return Some(
            "it has no messages and no collectives. Record messages as links that start and end"
                .into(),
        );
    }
    let sends = |(at, track): (usize, &Track)| {
        (0..track.len()).filter(|state| graph.tracks().class(at, *state).sends()).count()
    };
    let calls: usize = graph.tracks().list().iter().enumerate().map(sends).sum();
    (calls > 0).then(|| {
        format!(
            "{calls} calls may send messages, but no links show them. Record messages as links that start and end"
        )
    })
}
