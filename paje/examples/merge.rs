//! Prints the states of two traces together, in the order of time: `merge TRACE TRACE`.

use std::error::Error;

use paje::{Row, Trace, TraceReader};

pub(crate) fn report(traces: [&Trace; 2]) -> String {
    let mut rows = traces.map(|trace| trace.rows_by_time().peekable());
    let mut report = String::new();
    loop {
        let [first, second] = rows.each_mut().map(|rows| rows.peek().map(Row::start));
        let next = match (first, second) {
            (None, None) => return report,
            (Some(first), Some(second)) => usize::from(second < first),
            (first, _) => usize::from(first.is_none()),
        };
        if let Some(Row::State(state)) = rows[next].next() {
            let (container, value) = (state.lane.container_name(), state.value_name());
            report += &format!("{:12.6} {} {container} {value}\n", state.start, ["A", "B"][next]);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [first, second] = &paths[..] else { return Err("usage: merge TRACE TRACE".into()) };
    let reader = TraceReader::new();
    print!("{}", report([&reader.open(first)?, &reader.open(second)?]));
    Ok(())
}
