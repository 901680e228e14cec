//! OTF2 archives of two locations whose events have any bytes.

use std::fs;
use std::sync::Once;


use super::archive::{END, anchor, folder, header, read, write};

pub fn run(bytes: &[u8]) {
    let Some((&[choice, length, end], rest)) = bytes.split_first_chunk() else { return };
    static DEFINED: Once = Once::new();
    DEFINED.call_once(|| {
        for (name, is_paje) in [("run", false), ("paje", true)] {
            fs::create_dir_all(folder().join(name)).expect("it is writable");
            write(&format!("{name}.otf2"), &[&anchor(is_paje)]);
            write(&format!("{name}.def"), &[&header(false), &definitions(), END]);
            // The second location has other identifiers of regions, and another clock.
            let map = [5, 8, 3, 2, 1, 0, 1, 1, 1, 1];
            let offset = |time: u8| [&[6, 17, time][..], &[0; 7], &[1, time], &[0; 8]].concat();
            let local = [&header(false), &map[..], &offset(1), &offset(9), END].concat();
            write(&format!("{name}/1.def"), &[&local]);
        }
    });
    let name = if choice & 2 == 0 { "run" } else { "paje" };
    let header = header(choice & 1 != 0);
    let (first, second) = rest.split_at(rest.len().min(usize::from(length) * 4));
    // Some files have no end mark.
    write(&format!("{name}/0.evt"), &[&header, first, END]);
    write(&format!("{name}/1.evt"), &[&header, second, if end == 0 { &[] } else { END }]);
    read(&format!("{name}.otf2"), choice);
}

/// Returns definitions of each kind that events refer to.
fn definitions() -> Vec<u8> {
    const UNDEFINED: &[u8] = &[0xff];
    let mut all = Vec::new();
    let mut add = |kind: u8, fields: &[&[u8]]| {
        let payload = fields.concat();
        all.extend([kind, payload.len() as u8]);
        all.extend(payload);
    };
    let (zero, one, two): (&[u8], &[u8], &[u8]) = (&[0], &[1, 1], &[1, 2]);
    add(5, &[&[2, 0xe8, 3], zero, zero, UNDEFINED]);
    for (id, text) in [zero, one, two].into_iter().zip([b"node\0", b"rank\0", b"name\0"]) {
        add(10, &[id, text]);
    }
    add(12, &[zero, zero, zero, UNDEFINED]);
    for id in [zero, one] {
        add(11, &[id, one, if id == zero { &[4] } else { &[11] }]);
        add(13, &[id, one, &[1], zero, UNDEFINED]);
        add(14, &[id, two, &[1], zero, id]);
        add(15, &[id, two, two, &[0], two, one, two, two, &[1], &[1], zero]);
        add(23, &[id, two, &[0]]);
        add(34, &[id, id, UNDEFINED, UNDEFINED]);
        add(19, &[id, two, two, &[0, 0, 10, 1], zero, two]);
    }
    add(18, &[zero, two, &[6], two, zero, one, &[4, 4], zero]);
    add(18, &[one, two, &[5], zero, &[6, 4], zero]);
    add(22, &[zero, two, zero, UNDEFINED, zero]);
    add(22, &[one, two, one, zero, zero]);
    // A class of two members, an instance of it, and one in the scope of a process.
    add(20, &[zero, &[2], zero, one, &[2, 0]]);
    add(21, &[one, zero, zero, &[0], zero]);
    add(21, &[two, zero, zero, &[1], zero]);
    all
}
