//! Checks properties of every trace.

use paje_sim::Options;
use pj_validate::Rules;
use paje_workers::Workers;

use crate::{checked, replayed, rows, streamed, style, team};

/// Checks that the replay's verdict and first error equal the checker's, for blocks of any size.
pub fn verdict(trace: &[u8], options: &Options) {
    let mut options = options.clone();
    // A popped state that continues in a new row affects the order of its lane (as in PajeNG
    // 1.3.6). The checker does not implement this.
    options.no_imbrication = false;
    let wanted = checked(trace, &options, Rules::Replay);
    for block in [1 << 20, 256, 1] {
        options.limits.block = block;
        options.decoder_symbols = 4;
        let (_, found) = replayed(trace, &options, &Workers::one());
        assert_eq!(found, wanted, "in blocks of {block}");
    }
    // The format's rules are stricter than the replay's.
    if checked(trace, &options, Rules::Format).is_ok() {
        assert_eq!(wanted, Ok(()), "the checker accepts it by the format's rules");
    }
}

/// Checks that rows and verdict do not depend on the size of blocks and the number of workers.
/// `block` determines both.
pub fn blocks(trace: &[u8], options: &Options, byte: u8, block: u8) {
    let (mut options, style) = (options.clone(), style(byte));
    let mut first = None;
    let (one, team) = (&Workers::one(), team());
    let others = [(256, one), (1, one), (256, team), (16, team)];
    for (block, workers) in [(1 << 20, one), others[usize::from(block) % others.len()]] {
        options.limits.block = block;
        options.decoder_symbols = 4;
        let (trace, verdict) = replayed(trace, &options, workers);
        let found = (trace.map(|trace| rows(&trace, style, workers)), verdict);
        let threads = workers.threads();
        let first = first.get_or_insert_with(|| found.clone());
        assert_eq!(first, &found, "in blocks of {block}, {threads} workers");
    }
}

/// Checks that rows in portions equal those of the whole trace, for any blocks and workers. `size`
/// and `block` determine the sizes and the workers.
pub fn portions(trace: &[u8], options: &Options, byte: u8, size: u8, block: u8) {
    let (mut options, mut style) = (options.clone(), style(byte));
    // With `as_released`, rows depend on the end of the trace, which is unknown in a portion.
    style.as_released = false;
    let (one, team) = (&Workers::one(), team());
    let (whole, verdict) = replayed(trace, &options, one);

    let size = [50, 200, 1000, 1 << 30][usize::from(size) % 4];
    let mut streamed = |block: usize, workers| {
        options.limits.block = block;
        options.decoder_symbols = 4;
        streamed(trace, &options, style, workers, size)
    };
    let (shown, found) = streamed(1 << 20, one);
    let workers = if block & 0x80 == 0 { one } else { team };
    let (shown_now, found_now) = streamed(1 << (block % 13), workers);
    let about = format!("in blocks of 2^{}, {} workers", block % 13, workers.threads());
    assert_eq!(String::from_utf8_lossy(&shown_now), String::from_utf8_lossy(&shown), "{about}");
    assert_eq!(found_now, found, "{about}");
    match whole {
        Some(whole) => {
            assert_eq!((&verdict, &found), (&Ok(()), &Ok(())));
            assert_eq!(sorted(&shown), sorted(&rows(&whole, style, one)));
        }
        // Reused keys are not detected in portions.
        None if matches!(verdict, Err((_, "key-reused", _))) => {}
        None => assert_eq!(found, verdict),
    }
}

fn sorted(rows: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = rows.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}
