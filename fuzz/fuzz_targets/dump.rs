//! Rows in blocks of several sizes, with one worker and with several.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_dump::output::export::{Written, write_rows};
use paje_dump::output::{Quotes, Style};
use paje_sim::Trace;
use workers::Workers;

fn rows(trace: &Trace, byte: u8, workers: &Workers) -> Vec<u8> {
    let quotes = [Quotes::Auto, Quotes::Keep, Quotes::Strip][usize::from(byte >> 4) % 3];
    let style = Style {
        quotes,
        precision: usize::from(byte % 12),
        as_released: quotes == Quotes::Strip,
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };
    let mut out = Vec::new();
    write_rows(trace, style, workers, &mut out, &Written::default()).expect("memory can be written");
    out
}

fuzz_target!(|trace: &[u8]| {
    let byte = trace.last().copied().unwrap_or(0);
    let mut options = paje_fuzz::options(byte);
    let mut first = None;
    let (one, team) = (&Workers::one(), paje_fuzz::team());
    for (block, workers) in [(1 << 20, one), (256, one), (1, one), (256, team), (16, team)] {
        options.limits.block = block;
        let (trace, verdict) = paje_fuzz::replayed(trace, &options, workers);
        let found = (trace.map(|trace| rows(&trace, byte, workers)), verdict);
        let threads = workers.threads();
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(first, &found, "in blocks of {block}, {threads} workers");
    }
});
