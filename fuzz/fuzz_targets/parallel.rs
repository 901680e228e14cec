//! Rows in portions: beside those of the whole trace, and with one worker and with several.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workers::Workers;

fuzz_target!(|trace: &[u8]| {
    let byte = |from_end: usize| trace.iter().rev().nth(from_end).copied().unwrap_or(0);
    let (mut options, mut style) = (paje_fuzz::options(byte(0)), paje_fuzz::style(byte(0)));
    // Nobody knows what is at the very end before it is there.
    style.as_released = false;
    let (one, team) = (&Workers::one(), paje_fuzz::team());
    let (whole, verdict) = paje_fuzz::replayed(trace, &options, one);

    let size = [50, 200, 1000, 1 << 30][usize::from(byte(1)) % 4];
    let mut streamed = |block: usize, workers| {
        options.limits.block = block;
        paje_fuzz::streamed(trace, &options, style, workers, size)
    };
    let (shown, found) = streamed(1 << 20, one);
    let block = 1 << (byte(2) % 13);
    for workers in [one, team] {
        let (shown_now, found_now) = streamed(block, workers);
        let about = format!("in blocks of {block}, {} workers", workers.threads());
        assert_eq!(String::from_utf8_lossy(&shown_now), String::from_utf8_lossy(&shown), "{about}");
        assert_eq!(found_now, found, "{about}");
    }
    match whole {
        Some(whole) => {
            assert_eq!((&verdict, &found), (&Ok(()), &Ok(())));
            assert_eq!(sorted(&shown), sorted(&paje_fuzz::rows(&whole, style, one)));
        }
        // A key that was used before is not remembered.
        None if matches!(verdict, Err((_, "key-reused", _))) => {}
        None => assert_eq!(found, verdict),
    }
});

/// Whole lines in order.
fn sorted(rows: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> =
        String::from_utf8_lossy(rows).split_inclusive('\n').map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}
