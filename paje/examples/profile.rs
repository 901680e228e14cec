//! Prints the time in each state in seconds: `profile TRACE`.

use std::collections::BTreeMap;
use std::error::Error;

use paje::{Trace, TraceReader};

pub(crate) fn report(trace: &Trace) -> String {
    let mut profile: BTreeMap<_, f64> = BTreeMap::new();
    for state in trace.states() {
        let key = (state.lane.type_name().to_str_lossy(), state.value_name().to_str_lossy());
        *profile.entry(key).or_default() += state.duration();
    }
    let line = |((type_, value), seconds)| format!("{seconds:12.6} {type_} {value}\n");
    profile.into_iter().map(line).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: profile TRACE")?;
    print!("{}", report(&TraceReader::new().open(path)?));
    Ok(())
}
