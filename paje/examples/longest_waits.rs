//! Prints the ten longest waits of a parallel program: `longest_waits TRACE`.

use std::error::Error;

use paje::analysis::{Options, Refusal, Wait, waits};
use paje::{Trace, TraceReader};

pub(crate) fn report(trace: &Trace) -> Result<String, Refusal> {
    let mut waits = waits(trace, &Options::new())?;
    waits.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let line = |wait: &Wait| {
        let Wait { kind, waiter, whom, state, start, seconds, .. } = wait;
        format!("{seconds:12.6} from {start:.6} {waiter} in {state} for {whom}: {kind}\n")
    };
    Ok(waits.iter().take(10).map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: longest_waits TRACE")?;
    print!("{}", report(&TraceReader::new().open(path)?)?);
    Ok(())
}
