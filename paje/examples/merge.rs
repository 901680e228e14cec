//! Prints the states of two traces together, in the order of their starts in seconds: `merge TRACE TRACE`.

use std::error::Error;

use paje::{State, Trace, TraceReader};

pub(crate) fn report(traces: [&Trace; 2]) -> String {
    let states =
        Trace::merge_by_time(traces).filter_map(|(place, row)| Some((place, row.as_state()?)));
    let line = |(place, state): (usize, State<'_>)| {
        let (container, value) = (state.lane.container_name(), state.value_name());
        let start = traces[place].seconds(state.start);
        format!("{start:12.6} {} {container} {value}\n", ["A", "B"][place])
    };
    states.map(line).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [first, second] = &paths[..] else { return Err("usage: merge TRACE TRACE".into()) };
    let reader = TraceReader::new();
    print!("{}", report([&reader.open(first)?, &reader.open(second)?]));
    Ok(())
}
