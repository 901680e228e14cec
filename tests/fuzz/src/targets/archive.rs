//! Files of archives, and readings of them that must agree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use paje_otf2::{Archive, Trace, open_regular};
use paje_parser::columns::{Asked, HoleKind, Lines, Wanted};
use tempfile::TempDir;

/// Mark at the end of a file. Without it, most files would only be cut.
pub const END: &[u8] = &[2, 1];

const SIZES: [u8; 16] = [0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0];

/// Returns the folder of the archives. `TMPDIR=/dev/shm` keeps it in memory.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder can be made")).path()
}

pub fn write(name: &str, bytes: &[&[u8]]) {
    fs::write(folder().join(name), bytes.concat()).expect("it is writable");
}

/// Returns an anchor file. `is_paje` says whether the archive was made from a Pajé trace.
pub fn anchor(is_paje: bool) -> Vec<u8> {
    let property: &[u8] = if is_paje { b"\x01\0\0\0PAJE::CONTAINERS\0NODES\0" } else { &[0; 4] };
    let start: &[u8] = b"\x03\x42OTF2\0\x03\x02\x03\0\x02";
    [start, &SIZES, &[1, 1], &[0; 16], &[0; 3], property, &[0; 16], &[2]].concat()
}

/// Returns the header of a chunk.
pub fn header(is_big: bool) -> Vec<u8> {
    [&[3, if is_big { 0x23 } else { 0x42 }][..], &[0; 16]].concat()
}

/// Reads an archive in all ways.
pub fn read(anchor: &str, choice: u8) {
    let path: PathBuf = folder().join(anchor);
    let Ok(archive) = Archive::open_damaged(&path, Arc::new(open_regular)) else { return };
    let trace = Trace::recover(Arc::new(archive), 1);
    let whole = Archive::open(&path, Arc::new(open_regular));
    let whole = whole.and_then(|archive| Trace::new(Arc::new(archive), 1));
    assert_eq!(whole.is_ok(), trace.faults().is_empty());
    pieces(&trace, choice);
}

/// Reads all pieces as text and as columns.
fn pieces(trace: &Trace, choice: u8) {
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
            let count = wanted.iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(lines.lines.len() as u64 + lines.left_out, count);
            for line in lines.lines.iter().filter(|line| line.has_text()) {
                let start = line.start as usize;
                assert_eq!(text[start], wanted[start]);
            }
        }
    }
}
