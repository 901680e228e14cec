//! Rows in blocks of several sizes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_dump::output::rows::RowWriter;
use paje_dump::output::{Quotes, Style};
use paje_sim::Trace;

fn rows(trace: &Trace, byte: u8) -> Vec<u8> {
    let quotes = [Quotes::Auto, Quotes::Keep, Quotes::Strip][usize::from(byte >> 4) % 3];
    let style = Style {
        quotes,
        precision: usize::from(byte % 12),
        as_released: quotes == Quotes::Strip,
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };
    let mut out = Vec::new();
    let mut writer = RowWriter::new(trace, style, &mut out);
    trace.visit(quotes.order(), &mut writer).expect("memory can be written");
    writer.finish().expect("memory can be written");
    out
}

fuzz_target!(|trace: &[u8]| {
    let byte = trace.last().copied().unwrap_or(0);
    let mut options = paje_fuzz::options(byte);
    let mut first = None;
    for block in [1 << 20, 256, 1] {
        options.limits.block = block;
        let (trace, verdict) = paje_fuzz::replayed(trace, &options);
        let found = (trace.map(|trace| rows(&trace, byte)), verdict);
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "in blocks of {block}");
    }
});
