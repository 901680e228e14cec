//! The replay beside the checker.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|trace: &[u8]| {
    let mut options = paje_fuzz::options(trace.last().copied().unwrap_or(0));
    // A popped state that goes on as a new row counts for the order of its lane: PajeNG 1.3.6
    // behaviour, of which the checker knows nothing.
    options.no_imbrication = false;
    let wanted = paje_fuzz::checked(trace, &options);
    for block in [1 << 20, 256, 1] {
        options.limits.block = block;
        let (_, found) = paje_fuzz::replayed(trace, &options, &workers::Workers::one());
        assert_eq!(found, wanted, "in blocks of {block}");
    }
});
