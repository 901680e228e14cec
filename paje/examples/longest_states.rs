//! Prints the ten longest states: `longest_states TRACE`.

use std::process::ExitCode;

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

fn main() -> ExitCode {
    match TraceReader::new().open(std::env::args_os().nth(1).unwrap_or("-".into())) {
        Ok(trace) => print!("{}", report(&trace)),
        Err(error) => {
            eprintln!("longest_states: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
