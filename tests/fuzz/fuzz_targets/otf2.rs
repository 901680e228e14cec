//! OTF2 archives whose files have any bytes.

#![no_main]

use std::fs;
use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use paje_otf2::{Archive, Trace, open_regular};
use paje_parser::columns::{Asked, HoleKind, Lines, Wanted};
use tempfile::TempDir;

static FOLDER: OnceLock<TempDir> = OnceLock::new();

/// Mark at the end of a file. Without it, most files would only be cut.
const END: &[u8] = &[2, 1];

fuzz_target!(|bytes: &[u8]| {
    // The first bytes are the lengths of the files.
    let Some((lengths, mut rest)) = bytes.split_at_checked(4) else { return };
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder can be made"));
    let write = |name: &str, bytes: &[&[u8]]| {
        fs::write(folder.path().join(name), bytes.concat()).expect("it is writable");
    };
    let order = if lengths[3] % 2 == 0 { 0x42 } else { 0x23 };
    let header = [&[3, order][..], &[0; 16]].concat();
    write(
        "run.otf2",
        &[
            &[3, 0x42],
            b"OTF2\0\x03\x02\x03\0\x02",
            &SIZES,
            &[1, 1],
            &[0; 16],
            &[0; 3],
            &[0; 4],
            &[0; 16],
            &[2],
        ],
    );
    fs::create_dir_all(folder.path().join("run")).expect("it is writable");
    let mut next = |length: u8| {
        let length = usize::from(length) * 8;
        let part;
        (part, rest) = rest.split_at(length.min(rest.len()));
        part
    };
    // A location 0, and any definitions.
    let location = [14, 5, 0, 0, 1, 0, 0];
    write("run.def", &[&header, &location, next(lengths[0]), END]);
    write("run/0.def", &[&header, next(lengths[1]), END]);
    write("run.marker", &[&header, next(lengths[2]), END]);
    write("run/0.evt", &[&header, rest, END]);
    let archive = Archive::open(&folder.path().join("run.otf2"), Arc::new(open_regular));
    let Ok(trace) = archive.and_then(|archive| Trace::new(Arc::new(archive), 1)) else {
        return;
    };
    read(&trace, lengths[3]);
});

const SIZES: [u8; 16] = [0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0];

/// Reads all pieces as text and as columns.
fn read(trace: &Trace, choice: u8) {
    for piece in 0..trace.pieces() {
        let wanted = trace.text(piece).expect("the archive has been read before");
        assert!(wanted.ends_with(b"\n"));
        let (mut text, mut lines) = (Vec::new(), Lines::default());
        let is_read = trace.columns(piece, &mut text, &mut lines, &mut |line, holes| {
            let hole = holes.iter().position(|hole| hole.kind == HoleKind::Value);
            let asked = hole.filter(|hole| *hole == 1 && line.starts_with(b"9 "));
            match (line.len() as u8 ^ choice) % 4 {
                0 => Wanted::Text,
                1 => Wanted::Nothing,
                _ => Wanted::Columns(asked.map(|hole| Asked { hole, numbers: true })),
            }
        });
        if is_read {
            let count = newlines(&wanted);
            assert_eq!(lines.lines.len() as u64 + lines.left_out, count);
            for line in lines.lines.iter().filter(|line| line.has_text()) {
                let start = line.start as usize;
                assert_eq!(text[start], wanted[start]);
            }
        }
    }
}

fn newlines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}
