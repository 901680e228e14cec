//! OTF2 archives whose anchor file, definitions and markers have any bytes.

use std::fs;


use super::archive::{END, anchor, folder, header, read, write};

pub fn run(bytes: &[u8]) {
    // The first bytes are the lengths of the files.
    let Some((lengths, mut rest)) = bytes.split_at_checked(4) else { return };
    let mut next = |length: u8| {
        let length = usize::from(length) * 8;
        let part;
        (part, rest) = rest.split_at(length.min(rest.len()));
        part
    };
    let [.., choice] = *lengths else { return };
    fs::create_dir_all(folder().join("run")).expect("it is writable");
    if choice & 6 == 6 {
        write("run.otf2", &[&[3, 0x42], b"OTF2\0", next(8), END]);
    } else {
        write("run.otf2", &[&anchor(choice & 2 != 0)]);
    }
    let header = header(choice & 1 != 0);
    // A location 0, and any definitions.
    let location = [14, 5, 0, 0, 1, 0, 0];
    write("run.def", &[&header, &location, next(lengths[0]), END]);
    write("run/0.def", &[&header, next(lengths[1]), END]);
    write("run.marker", &[&header, next(lengths[2]), END]);
    write("run/0.evt", &[&header, rest, END]);
    read("run.otf2", choice);
}
