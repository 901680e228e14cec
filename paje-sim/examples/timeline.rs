//! Prints the states of one container, in order of start: `timeline TRACE CONTAINER`.

use std::process::ExitCode;

use paje_sim::{LaneView, State, Trace};

/// Returns the report, or `None` if no container has this name or alias.
pub(crate) fn report(trace: &Trace, container: &str) -> Option<String> {
    let all = trace.containers();
    let is_it = |name: paje_sim::Name<'_>| name.text == container.as_bytes();
    let id = all.ids().find(|id| is_it(all.name(*id)) || is_it(all.identifier(*id)))?;
    let mut states: Vec<State<'_>> = trace.lanes_of(id).flat_map(LaneView::states).collect();
    states.sort_by(|one, other| one.start.total_cmp(&other.start));
    let line = |state: State<'_>| {
        let inside = 2 * state.imbrication as usize;
        format!("{:12.6} {:12.6} {:inside$}{}\n", state.start, state.end, "", state.value_name())
    };
    Some(states.into_iter().map(line).collect())
}

fn main() -> ExitCode {
    let (trace, container) = (std::env::args().nth(1), std::env::args().nth(2));
    let told = match (trace, container) {
        (Some(trace), Some(container)) => Trace::open(trace)
            .map_err(|error| error.to_string())
            .and_then(|trace| report(&trace, &container).ok_or("no such container".to_owned())),
        _ => Err("usage: timeline TRACE CONTAINER".to_owned()),
    };
    match told {
        Ok(text) => print!("{text}"),
        Err(why) => {
            eprintln!("timeline: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
