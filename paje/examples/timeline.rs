//! Prints the states of one container, in order of start: `timeline TRACE CONTAINER`.

use std::error::Error;

use paje::{NoContainer, State, Trace, TraceReader};

pub(crate) fn report(trace: &Trace, container: &str) -> Result<String, NoContainer> {
    let mut states: Vec<State<'_>> = trace.container(container)?.states().collect();
    states.sort_by(|one, other| one.start.total_cmp(&other.start));
    let line = |state: State<'_>| {
        let inside = 2 * state.imbrication as usize;
        format!("{:12.6} {:12.6} {:inside$}{}\n", state.start, state.end, "", state.value_name())
    };
    Ok(states.into_iter().map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (trace, container) = (std::env::args_os().nth(1), std::env::args().nth(2));
    let (trace, container) = trace.zip(container).ok_or("usage: timeline TRACE CONTAINER")?;
    print!("{}", report(&TraceReader::new().open(trace)?, &container)?);
    Ok(())
}
