//! Estimates the memory of the happened-before order.

use paje_sim::{MemoryLimit, Trace, TypeNature};

/// Bytes per message: the steps and edges of both its ends, and a query.
const MESSAGE: u64 = 250;

/// Bytes per state of a container that sends or receives messages.
const STATE: u64 = 30;

/// Minimum number of bytes for rows and order, for any limit.
const LEAST: u64 = 32 << 20;

pub(crate) fn rows(limit: MemoryLimit) -> MemoryLimit {
    MemoryLimit { bytes: (limit.bytes / 2).max(LEAST), ..limit }
}

pub(crate) fn check(trace: &Trace, limit: Option<&MemoryLimit>) -> Result<(), String> {
    let Some(limit) = limit else { return Ok(()) };
    let (mut messages, mut states) = (0, 0);
    for lane in trace.lanes() {
        match lane.nature() {
            TypeNature::Link => messages += lane.completed(),
            TypeNature::State => states += lane.completed(),
            _ => {}
        }
    }
    enough(messages, states, limit.bytes)
}

fn enough(messages: u64, states: u64, limit: u64) -> Result<(), String> {
    let (need, room) = (messages * MESSAGE + states * STATE, (limit / 2).max(LEAST));
    if need <= room {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(format!(
        "the order of {messages} messages and {states} states needs about {} MB beside the rows, but half of \
         --memory-limit is {} MB; use --memory-limit {}MB, or none",
        megabytes(need),
        room / 1_000_000,
        megabytes(2 * need)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_limit_is_enough() {
        for (messages, states) in [(1_000_000, 2_000_000), (140_000, 1), (10_000_000, 0)] {
            let why = enough(messages, states, LEAST).expect_err("too little");
            let enough_is =
                why.split("--memory-limit ").last().and_then(|text| text.split("MB").next());
            let megabytes: u64 = enough_is.and_then(|text| text.parse().ok()).expect("a number");
            assert_eq!(enough(messages, states, megabytes * 1_000_000), Ok(()));
            assert!(enough(messages, states, (megabytes - 2) * 1_000_000).is_err());
        }
        assert_eq!(enough(100_000, 200_000, 0), Ok(()));
    }
}
