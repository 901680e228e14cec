//! Tests the rows of random damaged traces: in blocks and portions, with one worker and with
//! several, in the order of lines and of times.

use crate::agree;

pub fn run(bytes: &[u8]) {
    let [byte, damage, ..] = *bytes else { return };
    let (trace, mut options) = (crate::structured(bytes), crate::options(byte));
    options.sort = byte & 0x80 != 0;
    agree::blocks(&trace, &options, byte, damage >> 3);
    if !options.sort {
        agree::portions(&trace, &options, byte, byte >> 4, damage.rotate_left(4));
    }
}
