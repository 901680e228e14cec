//! Random traces with some damage: rows in blocks and in portions, by one worker and by several, in the
//! order of the lines and in that of their times.

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
