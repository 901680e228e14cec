//! Failures print a message and leave nothing behind.

use std::fs;
use std::path::Path;

use datasets::invalid::{self, Fault};
use datasets::{EVENTS, Shape, WORLD};
use paje_sim::{Options, Trace};

use testkit::{check_sessions, said};

use crate::splitting::{Place, Split};

#[test]
fn command_lines_print_as_recorded() {
    let head = testkit::definitions(EVENTS) + WORLD;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli.txt");
    check_sessions(env!("CARGO_BIN_EXE_pj_split"), &head, &path);
}

#[test]
fn invalid_traces_are_refused() {
    for (seed, fault) in (0..).zip(Fault::ALL) {
        let trace = invalid::trace(fault, seed).bytes;
        let error = Trace::read(&trace[..], &Options::default()).expect_err("it is invalid");
        let place = error.place().map_or(String::new(), |place| format!("{}:", place.position));
        let wanted = format!("pj_split: t:{place} {error}\n");
        let split = Place::new(&trace);
        for threads in ["1", "3"] {
            let output = split.run(&["t", "-o", "d", "--threads", threads]);
            // Keys of completed links are not remembered, to bound memory. The next test shows the
            // consequence.
            if fault == Fault::LinkKeyReused {
                continue;
            }
            assert_eq!(output.status.code(), Some(1), "{fault}: {}", said(&output));
            let said = said(&output);
            let first = said.lines().find(|line| !line.contains("warning")).unwrap_or_default();
            assert_eq!(format!("{first}\n"), wanted, "{fault}");
            assert!(output.stdout.is_empty());
            assert_eq!(split.names(), ["t"], "{fault}");
        }
    }
}

/// The reuse of a completed link's key is not noticed. The piece with the link is as invalid as the
/// trace.
#[test]
fn a_reused_key_of_a_completed_link_stays_in_the_piece() {
    let trace = "\
%EventDef PajeDefineLinkType 1\n% Name string\n% Type string\n% StartContainerType string\n% EndContainerType string\n%EndEventDef
%EventDef PajeStartLink 2\n% Time date\n% Type string\n% Container string\n% Value string\n% StartContainer string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 3\n% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string\n%EndEventDef
1 L 0 0 0
2 1 L 0 v 0 k\n3 2 L 0 v 0 k\n2 3 L 0 v 0 k\n3 4 L 0 v 0 k
";
    let place = Place::new(trace.as_bytes());
    assert!(place.run(&["t", "-o", "d"]).status.success());
    let split = Split::read(&place.path("d"));
    let error = |trace: &[u8]| Trace::read(trace, &Options::default()).unwrap_err().to_string();
    assert_eq!(split.pieces.len(), 1);
    assert_eq!(error(&split.pieces[0]), error(trace.as_bytes()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::new(&datasets::generate(Shape::Mpi, 3_000_000, 1));
    // Limits on the size of files, in blocks of 512 bytes. They stop the writing of pieces or of
    // temporary files.
    for (limit, input, at) in
        [(2000, "t", "/piece-00"), (100, "- < t", "temporary"), (100, "t", "")]
    {
        let pipe = if input == "t" { "" } else { "cat t | " };
        let input = if input == "t" { "t" } else { "-" };
        let output =
            place.shell(&format!("ulimit -f {limit}; {pipe}exec \"$0\" -o d -p 2 {input}"));
        assert_eq!(output.status.code(), Some(2), "{limit}: {}", said(&output));
        assert!(said(&output).ends_with(": File too large\n"), "{limit}: {}", said(&output));
        assert!(said(&output).contains(at), "{limit}: {}", said(&output));
        assert_eq!(place.names(), ["t"]);
    }
}

#[test]
fn damaged_data_leave_nothing_behind() {
    let place = Place::new(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    let output = place.run(&["t", "-o", "d"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(place.names(), ["t"]);
}

#[cfg(target_os = "linux")]
#[test]
fn refused_memory_leaves_nothing_behind() {
    let mut trace = String::from(
        "%EventDef PajeDefineEventType 1\n% Name string\n% Type string\n%EndEventDef\n\
         %EventDef PajeNewEvent 2\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         1 E 0\n",
    );
    (0..150_000).for_each(|value| trace += &format!("2 {value} E 0 value-{value}\n"));
    let place = Place::new(trace.as_bytes());
    let (mut refused, mut split) = (0, 0);
    for mebibytes in [20, 30, 40, 50, 60, 80, 1000] {
        let limit = mebibytes << 10;
        let script =
            format!("ulimit -v {limit}; exec \"$0\" t -o d -p 2 --no-warnings --threads 1");
        let output = place.shell(&script);
        match output.status.code() {
            Some(0) => {
                split += 1;
                fs::remove_dir_all(place.path("d")).unwrap();
            }
            Some(2) => {
                assert!(said(&output).contains("memory"), "{}", said(&output));
                refused += usize::from(said(&output).contains("were refused"));
            }
            // The program or a thread could not even start. The next run cleans up.
            _ => continue,
        }
        assert_eq!(place.names(), ["t"], "{mebibytes}: {}", said(&output));
    }
    assert!(refused > 0 && split > 0, "{refused} refused, {split} split");
}

#[test]
fn a_byte_order_mark_is_in_no_piece() {
    let text = datasets::generate(Shape::Mpi, 20_000, 1);
    let plain = Place::new(&text);
    let marked = Place::new(&[b"\xef\xbb\xbf", &text[..]].concat());
    for place in [&plain, &marked] {
        let output = place.run(&["t", "-o", "d", "-p", "3"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    for name in ["root.trace", "piece-000.trace", "piece-001.trace", "piece-002.trace"] {
        let read = |place: &Place| fs::read(place.path(format!("d/{name}"))).expect("written");
        let trimmed = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace("   %", "%");
        assert_eq!(trimmed(read(&marked)), trimmed(read(&plain)), "{name}");
    }
}
