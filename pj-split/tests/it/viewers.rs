//! Tests of `--plain`, which writes pieces for programs that do not know PajeTraceFile.

use datasets::{Shape, invalid, random};

use crate::rows::dump;
use crate::splitting::{Place, Split};

fn check(about: &str, place: &Place, options: &[&str]) {
    let split = |options: &[&str]| place.split(options, 1 << 12);
    let (plain, other) = (split(&[options, &["--plain"]].concat()), split(options));
    assert_eq!(plain.pieces.len(), other.pieces.len(), "{about}");
    for (plain, other) in plain.pieces.iter().zip(&other.pieces) {
        assert!(!names_files(plain) && names_files(other), "{about}");
        assert_eq!(dump(plain), dump(other), "{about}");
    }
}

fn names_files(trace: &[u8]) -> bool {
    trace.windows(13).any(|bytes| bytes == b"PajeTraceFile")
}

#[test]
fn every_shape_has_the_same_rows() {
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        check(
            shape.name(),
            &Place::new(&datasets::generate(shape, 20_000, 2)),
            &["--no-warnings", "-p", "3"],
        );
    }
}

#[test]
fn random_traces_have_the_same_rows() {
    for seed in 0..60 {
        let trace = random::trace(seed);
        if trace.is_valid() {
            check(
                &format!("seed {seed}"),
                &Place::new(&trace.bytes),
                &["--no-warnings", "-nzp", "3"],
            );
        }
    }
}

#[test]
fn the_type_that_marks_the_end_has_an_unused_name() {
    let trace = "\
%EventDef PajeDefineEventType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeNewEvent 2\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 end-of-trace 0
2 3 end-of-trace 0 x
";
    let place = Place::new(trace.as_bytes());
    check("a type of that name", &place, &[]);
    let split = place.split(&["--plain"], 100);
    let piece = String::from_utf8_lossy(&split.pieces[0]).into_owned();
    assert!(piece.ends_with("\n4 3 end-of-trace- 0\n"), "{piece}");
}

#[test]
fn repaired_pieces_end_with_the_trace() {
    let bytes = invalid::trace(invalid::Fault::PopOnEmptyStack, 1).bytes;
    let place = Place::new(&bytes);
    let pieces = |options: &[&str]| {
        let output = place
            .run(&[&["t", "-o", "d", "--no-warnings", "-p", "2", "--recover"], options].concat());
        assert_eq!(output.status.code(), Some(1));
        let split = Split::read(&place.path("d"));
        std::fs::remove_dir_all(place.path("d")).expect("it was made");
        split.pieces.iter().map(|piece| dump(piece)).collect::<Vec<_>>()
    };
    assert_eq!(pieces(&["--plain"]), pieces(&[]));
}
