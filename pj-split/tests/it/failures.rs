//! Failures are told, and leave nothing behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use datasets::Shape;
use datasets::invalid::{self, Fault};
use paje_sim::{Options, Trace};

use crate::splitting::{Place, Split};
use testkit::said;

/// Invalid traces are told as `pj_dump` tells them, and split into nothing.
#[test]
fn invalid_traces() {
    for (seed, fault) in (0..).zip(Fault::ALL) {
        let trace = invalid::trace(fault, seed).bytes;
        let error = Trace::read(&trace[..], &Options::default()).expect_err("it is invalid");
        let place = error.place().map_or(String::new(), |place| format!("{}:", place.position));
        let wanted = format!("pj_split: t:{place} {error}\n");
        let split = Place::new(&trace);
        for threads in ["1", "3"] {
            let output = split.run(&["t", "-o", "d", "--threads", threads]);
            // Whose memory does not grow with the trace does not know all its keys: see below.
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

/// Reuse of the key of a completed link goes unnoticed; but the piece that has the link is as
/// invalid as the trace.
#[test]
fn a_key_that_is_used_again() {
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

fn valid() -> Place {
    Place::new(&datasets::generate(Shape::Mpi, 50_000, 1))
}

fn assert_fails(place: &Place, words: &[&str], wanted: &str) {
    let names = place.names();
    let output = place.run(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    assert_eq!(said(&output), format!("pj_split: {wanted}\n"), "{words:?}");
    assert!(output.stdout.is_empty());
    assert_eq!(place.names(), names, "{words:?}");
}

#[test]
fn what_is_there_already() {
    let place = valid();
    fs::create_dir(place.path("full")).unwrap();
    fs::write(place.path("full/x"), b"kept").unwrap();
    assert_fails(&place, &["t", "-o", "full"], "full: the folder is there, and is not empty");
    assert_eq!(fs::read(place.path("full/x")).unwrap(), b"kept");
    assert_fails(&place, &["t", "-o", "t"], "t: there is a file of that name");
    fs::create_dir(place.path("empty")).unwrap();
    assert!(place.run(&["t", "-o", "empty"]).status.success());
    assert!(place.path("empty/root.trace").exists());
    fs::create_dir(place.path("target")).unwrap();
    std::os::unix::fs::symlink("target", place.path("link")).unwrap();
    assert!(place.run(&["t", "-o", "link"]).status.success());
    assert!(place.path("target/root.trace").exists());
    let output =
        place.command(&["../t", "-o", "."]).current_dir(place.path("full")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    fs::remove_file(place.path("full/x")).unwrap();
    let output =
        place.command(&["../t", "-o", "."]).current_dir(place.path("full")).output().unwrap();
    let wanted = "pj_split: .: the pieces cannot take the place of the current folder\n";
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(2), wanted));
}

/// A new folder is as open to others as the user lets new folders be.
#[test]
fn permissions_are_those_of_any_folder() {
    let place = valid();
    assert!(place.run(&["t", "-o", "d"]).status.success());
    fs::create_dir(place.path("other")).unwrap();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("d"), mode("other"));
    assert_eq!(mode("d/root.trace"), mode("t"));
}

#[test]
fn what_cannot_be_read_or_written() {
    let place = valid();
    assert_fails(&place, &["nowhere", "-o", "d"], "nowhere: No such file or directory");
    let parent = place
        .path("no")
        .canonicalize()
        .unwrap_or_else(|_| place.path("").canonicalize().expect("it is there").join("no"));
    let wanted = format!("{}: No such file or directory", parent.display());
    let output = place.run(&["t", "-o", "no/d"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).ends_with("/no: No such file or directory\n"), "{wanted}");
    assert_fails(&place, &[".", "-o", "d"], ".: Is a directory");
    let wanted =
        "-: pieces and windows go to files, not to standard output; a file of that name is ./-";
    assert_fails(&place, &["t", "-o", "-"], wanted);
    assert_fails(&place, &["t", "--from", "1", "-o", "-"], wanted);
    assert_eq!(place.names(), ["t"]);
    let wanted = "t: --by: there is no container type 'Nobody'";
    assert_fails(&place, &["t", "-o", "d", "--by", "Nobody"], wanted);
    // States have a type, but are no containers.
    let wanted = "t: --by: there is no container type 'MPI_STATE'";
    assert_fails(&place, &["t", "-o", "d", "--by", "MPI_STATE"], wanted);
}

/// Neither a limit of the size of files, as good as a full disk, nor damaged data leave anything.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let place = Place::new(&datasets::generate(Shape::Mpi, 3_000_000, 1));
    let program = env!("CARGO_BIN_EXE_pj_split");
    // In blocks of 512 bytes: for the pieces, and for the temporary files.
    for (limit, input, at) in
        [(2000, "t", "/piece-00"), (100, "- < t", "temporary"), (100, "t", "")]
    {
        let pipe = if input == "t" { "" } else { "cat t | " };
        let input = if input == "t" { "t" } else { "-" };
        let script = format!("ulimit -f {limit}; {pipe}exec {program} -o d -p 2 {input}");
        let mut command = std::process::Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(place.path("")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{limit}: {}", said(&output));
        assert!(said(&output).ends_with(": File too large\n"), "{limit}: {}", said(&output));
        assert!(said(&output).contains(at), "{limit}: {}", said(&output));
        assert_eq!(place.names(), ["t"]);
    }
}

#[test]
fn damaged_data() {
    let place = Place::new(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    let output = place.run(&["t", "-o", "d"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(place.names(), ["t"]);
}

/// Fewer pieces than were asked for are not passed over in silence.
#[test]
fn fewer_pieces() {
    let place = valid();
    let told = |words: &[&str]| {
        let output = place.run(&[&["t", "-o", "d"], words].concat());
        assert!(output.status.success(), "{}", said(&output));
        let pieces = Split::read(&place.path("d")).pieces.len();
        fs::remove_dir_all(place.path("d")).unwrap();
        (said(&output), pieces)
    };
    let (said, pieces) = told(&["-p", "1000"]);
    let wanted = format!("{pieces} pieces instead of 1000, for no more containers have events\n");
    assert_eq!(said, format!("pj_split: t: {wanted}"));
    let (said, _) = told(&["-s", "20"]);
    assert!(said.contains(&format!("{pieces} pieces instead of ")), "{said}");
    for words in [&["-p", "1000", "-q"][..], &["-p", &pieces.to_string()], &["-p", "2"], &[]] {
        assert_eq!(told(words).0, "", "{words:?}");
    }
    let header =
        "%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n";
    let place = Place::new(header.as_bytes());
    let output = place.run(&["t", "-o", "d", "-p", "2"]);
    let wanted = "pj_split: t: 1 piece instead of 2, for no container has events\n";
    assert_eq!(testkit::said(&output), wanted);
}

/// Refused memory leaves nothing behind, in whatever it comes.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_refused() {
    let mut trace = String::from(
        "%EventDef PajeDefineEventType 1\n% Name string\n% Type string\n%EndEventDef\n\
         %EventDef PajeNewEvent 2\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         1 E 0\n",
    );
    (0..150_000).for_each(|value| trace += &format!("2 {value} E 0 value-{value}\n"));
    let place = Place::new(trace.as_bytes());
    let program = env!("CARGO_BIN_EXE_pj_split");
    let (mut refused, mut split) = (0, 0);
    for mebibytes in [20, 30, 40, 50, 60, 80, 1000] {
        let limit = mebibytes << 10;
        let script = format!("ulimit -v {limit}; exec {program} t -o d -p 2 -q --threads 1");
        let mut command = std::process::Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(place.path("")).output().unwrap();
        match output.status.code() {
            Some(0) => {
                split += 1;
                fs::remove_dir_all(place.path("d")).unwrap();
            }
            Some(2) => {
                assert!(said(&output).contains("memory"), "{}", said(&output));
                refused += usize::from(said(&output).contains("were refused"));
            }
            // Not even the program could be loaded, or a thread be started: the next run clears up.
            _ => continue,
        }
        assert_eq!(place.names(), ["t"], "{mebibytes}: {}", said(&output));
    }
    assert!(refused > 0 && split > 0, "{refused} refused, {split} split");
}

/// A piece is a trace as any other.
#[test]
fn a_piece_in_pieces() {
    let place = valid();
    assert!(place.run(&["t", "-o", "d", "-p", "2"]).status.success());
    let output = place.run(&["d/piece-001.trace", "-o", "e", "-p", "2"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&output), "");
}

/// A trace that is in pieces already is not taken apart as if its files were not there.
#[test]
fn traces_in_many_files() {
    let place = valid();
    assert!(place.run(&["t", "-o", "d", "-p", "3"]).status.success());
    let output = place.run(&["d/root.trace", "-o", "e", "-q"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("names another file"), "{}", said(&output));
    assert!(said(&output).starts_with("pj_split: d/root.trace:12: "), "{}", said(&output));
    assert_eq!(place.names(), ["d", "t"]);
}

/// Only help goes there.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_closed() {
    let place = valid();
    let said_of = |options: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {options} >&-"), env!("CARGO_BIN_EXE_pj_split")]);
        let output = shell.current_dir(place.path("")).output().expect("it starts");
        (output.status.code(), said(&output))
    };
    let closed = "pj_split: standard output: Bad file descriptor\n";
    assert_eq!(said_of("--help"), (Some(2), closed.into()));
    assert_eq!(said_of("t -o d"), (Some(0), String::new()));
}

#[test]
fn warnings_can_be_silenced() {
    let text = datasets::generate(Shape::Mpi, 5_000, 1);
    let mut doubtful = text.strip_suffix(b"\n").unwrap_or(&text).to_vec();
    doubtful.extend_from_slice(b" too many\n");
    let place = Place::new(&doubtful);
    let warned = |command: &mut std::process::Command| {
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", said(&output));
        let path = place.path("d");
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
            .expect("it is there");
        said(&output).contains("warning")
    };
    assert!(warned(&mut place.command(&["t", "-o", "d"])));
    assert!(!warned(&mut place.command(&["t", "-o", "d", "--no-warnings"])));
    assert!(!warned(&mut place.command(&["t", "-o", "d", "-q"])));
    assert!(warned(&mut place.command(&["t", "-o", "d", "--from", "0"])));
    for more in ["--verbose", "-p2"] {
        let words = ["t", "-o", "d", "--from", "0", "--no-warnings", more];
        assert!(!warned(&mut place.command(&words)));
    }
    assert!(!warned(place.command(&["t", "-o", "d"]).env("PAJE_NO_WARNINGS", "1")));
}

#[test]
fn names_of_files_are_escaped() {
    let split = Place::new(b"");
    let output = split.run(&["\u{1b}[31mred.trace", "-o", "d"]);
    let wanted = "pj_split: \\u{1b}[31mred.trace: No such file or directory\n";
    assert_eq!((output.status.code(), said(&output)), (Some(2), wanted.to_owned()));
}

/// Whatever line the trace begins with, and whether it is read twice or kept aside.
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
        let read = |place: &Place| fs::read(place.path(&format!("d/{name}"))).expect("written");
        let trimmed = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace("   %", "%");
        assert_eq!(trimmed(read(&marked)), trimmed(read(&plain)), "{name}");
    }
}
