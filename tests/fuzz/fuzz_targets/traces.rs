//! Tests the rows of random damaged traces: in blocks and portions, with one worker and with
//! several, in the order of lines and of times.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|bytes: &[u8]| {
    let [byte, damage, ..] = *bytes else { return };
    let (trace, mut options) = (paje_fuzz::structured(bytes), paje_fuzz::options(byte));
    options.sort = byte & 0x80 != 0;
    agree::blocks(&trace, &options, byte, damage >> 3);
    if !options.sort {
        agree::portions(&trace, &options, byte, byte >> 4, damage.rotate_left(4));
    }
});
