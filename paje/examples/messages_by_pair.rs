//! Prints the number of links between each pair of containers: `messages_by_pair TRACE`.

use std::collections::BTreeMap;
use std::error::Error;

use paje::{Trace, TraceReader};

pub(crate) fn report(trace: &Trace) -> String {
    let mut pairs: BTreeMap<_, u64> = BTreeMap::new();
    for link in trace.links() {
        *pairs.entry((link.from, link.to)).or_default() += 1;
    }
    let name = |id| trace.containers().name(id);
    let line = |((from, to), count)| format!("{count:6} {} -> {}\n", name(from), name(to));
    pairs.into_iter().map(line).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: messages_by_pair TRACE")?;
    print!("{}", report(&TraceReader::new().open(path)?));
    Ok(())
}
