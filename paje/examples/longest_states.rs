//! Prints the ten longest states: `longest_states TRACE`.

use std::error::Error;

use paje::{State, Trace, TraceReader};

const COUNT: usize = 10;

pub(crate) fn report(trace: &Trace) -> String {
    let mut longest: Vec<State<'_>> = Vec::new();
    for state in trace.states() {
        let place = longest.partition_point(|other| other.duration() >= state.duration());
        if place < COUNT {
            longest.truncate(COUNT - 1);
            longest.insert(place, state);
        }
    }
    let line = |state: State<'_>| {
        let (seconds, start, container) =
            (state.duration(), state.start, state.lane.container_name());
        format!("{seconds:12.6} from {start:.6} {container} {}\n", state.value_name())
    };
    longest.into_iter().map(line).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: longest_states TRACE")?;
    print!("{}", report(&TraceReader::new().open(path)?));
    Ok(())
}
