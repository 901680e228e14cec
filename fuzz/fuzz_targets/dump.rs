//! Rows in blocks of several sizes, with one worker and with several.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workers::Workers;

fuzz_target!(|trace: &[u8]| {
    let byte = trace.last().copied().unwrap_or(0);
    let (mut options, style) = (paje_fuzz::options(byte), paje_fuzz::style(byte));
    let mut first = None;
    let (one, team) = (&Workers::one(), paje_fuzz::team());
    for (block, workers) in [(1 << 20, one), (256, one), (1, one), (256, team), (16, team)] {
        options.limits.block = block;
        let (trace, verdict) = paje_fuzz::replayed(trace, &options, workers);
        let found = (trace.map(|trace| paje_fuzz::rows(&trace, style, workers)), verdict);
        let threads = workers.threads();
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(first, &found, "in blocks of {block}, {threads} workers");
    }
});
