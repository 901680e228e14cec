//! Reports that are kept with a trace.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use paje_analysis::kept::{REPORTS, VERSION};
use paje_pack::Summaries;

use crate::cli::run;

/// The summaries of what a text is packed to, with these options; and what the program says.
fn kept(text: &[u8], options: &[&str]) -> (Vec<Option<Vec<u8>>>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), text).unwrap();
    let (status, packed, said) = run(folder.path(), &[&["t", "-o", "-"], options].concat());
    assert_eq!(status, 0, "{said}");
    fs::write(folder.path().join("t.pjp"), &packed).unwrap();
    assert!(run(folder.path(), &["-u", "t.pjp"]).1 == text);
    let mut summaries = Summaries::new(Cursor::new(&packed)).unwrap();
    let found = REPORTS.map(|name| summaries.get(name, VERSION).unwrap());
    (found.into(), said)
}

fn trace() -> Vec<u8> {
    datasets::generate(datasets::Shape::ManyContainers, 400_000, 3)
}

#[test]
fn a_sound_trace_has_them_and_an_invalid_one_has_not() {
    let sound = trace();
    let (found, said) = kept(&sound, &[]);
    assert!(found.iter().all(Option::is_some) && said.is_empty(), "{said}");
    // However it is cut, and whoever packs.
    for options in [&["--segment", "100K"][..], &["--threads", "1"], &["--threads", "4"]] {
        assert!(kept(&sound, options).0 == found);
    }
    // In the beginning, and at the end, when most has been replayed.
    let third = sound.len() / 3;
    let line = third + sound[third..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let early = [&sound[..line], b"not an event\n", &sound[line..]].concat();
    let late = [&sound[..], b"not an event\n"].concat();
    for text in [early, late, sound.iter().rev().copied().collect()] {
        assert_eq!(kept(&text, &["--segment", "100K"]), (vec![None, None], String::new()));
    }
}

#[test]
fn none_where_none_are_wanted_or_they_would_be_large() {
    let sound = trace();
    assert_eq!(kept(&sound, &["--no-summary"]).0, [None, None]);
    let small = datasets::generate(datasets::Shape::Mpi, 200_000, 3);
    assert_eq!(kept(&small, &[]).0, [None, None]);
    // Names of states that are all different; there are no links.
    let many = datasets::generate(datasets::Shape::UniqueValues, 300_000, 3);
    assert!(matches!(&kept(&many, &[]).0[..], [None, Some(_)]));
}

/// There is a warning of each file that a trace names.
#[test]
fn none_of_a_trace_that_names_files() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/files"));
    let mut found = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let Ok(text) = fs::read(entry.unwrap().path()) else { continue };
        if text.windows(13).any(|word| word == b"PajeTraceFile") {
            let padded =
                [&text[..], &b"# a comment, so that a summary is small\n".repeat(5000)].concat();
            assert_eq!(kept(&padded, &[]).0, [None, None]);
            found += 1;
        }
    }
    assert!(found > 0);
}
