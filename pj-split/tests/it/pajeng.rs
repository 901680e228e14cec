//! Dumps single pieces with Debian's PajeNG 1.3.6 and compares the bytes with ours.
//!
//! PajeNG's program is the one that `PAJENG_PJ_DUMP` names, or `pj_dump` in `PATH`, or
//! `/usr/bin/pj_dump`. If there is no such program, the test is skipped with a message.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use datasets::{Shape, random};
use paje_sim::{FieldNames, Options, Precision, Trace};
use paje_workers::Workers;
use pj_dump::output::export::write_rows;
use pj_dump::output::{Quotes, Style};
use testkit::pajeng::{pj_dump, skipped};

use crate::splitting::{Place, Split};

#[test]
fn pieces_are_dumped_by_pajeng() {
    let Some(pajeng) = pj_dump() else { return skipped("pj_dump") };
    let mut compared = 0;
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        let place = Place::new(&datasets::generate(shape, 30_000, 1));
        compared += compare(&pajeng, &place.split(&["-p", "3"], 1 << 17), shape.name());
    }
    for seed in 0..300 {
        let trace = random::trace(seed);
        if trace.is_valid() {
            let plain: &[&str] = if seed % 2 == 0 { &["--plain"] } else { &[] };
            let options = [&["--no-warnings", "-nzp", "3"], plain].concat();
            let split = Place::new(&trace.bytes).split(&options, 1 << 17);
            compared += compare(&pajeng, &split, &format!("seed {seed}, {plain:?}"));
        }
    }
    assert!(compared > 300, "{compared}");
}

fn compare(pajeng: &Path, split: &Split, about: &str) -> usize {
    for (number, piece) in split.pieces.iter().enumerate() {
        compare_one(pajeng, piece, &format!("{about}, piece {number}"));
    }
    split.pieces.len()
}

pub(crate) fn compare_one(pajeng: &Path, trace: &[u8], about: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace");
    fs::write(&path, trace).expect("the folder is writable");
    let theirs = Command::new(pajeng).arg("-nz").arg(&path).output().expect("PajeNG runs");
    let (theirs, ours) = (String::from_utf8_lossy(&theirs.stdout), rows(trace));
    let ours = String::from_utf8_lossy(&ours);
    for (row, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
        assert_eq!(theirs, ours, "{about}, row {}", row + 1);
    }
    assert_eq!(theirs, ours, "{about}");
}

fn rows(trace: &[u8]) -> Vec<u8> {
    let mut options = Options::default();
    options.field_names = FieldNames::Old;
    options.ignore_incomplete_links = true;
    options.variable_precision = Precision::Single;
    let trace = Trace::read(trace, &options).expect("a valid trace");
    let style = Style { quotes: Quotes::Strip, as_released: true, ..Style::DEFAULT };
    let mut out = Vec::new();
    write_rows(&trace, style, &Workers::one(), &mut out, &Arc::default()).expect("memory");
    out
}
