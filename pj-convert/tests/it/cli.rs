//! Files, exit statuses and messages of the program.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use testkit::names;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pj_convert"));
    command.args(arguments).current_dir(folder.path());
    command
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program starts")
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn every_format_is_written_to_files_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (to, ending) in
        [("perfetto", "pftrace"), ("chrome", "json"), ("pipit", "csv"), ("paje", "paje")]
    {
        let (plain, packed) = (format!("t.{ending}"), format!("t.{ending}.gz"));
        for name in [&plain, &packed] {
            let output = run(&folder, &[EXAMPLE, "-o", name]);
            assert_eq!((status(&output), &output.stderr[..]), (Some(0), &b""[..]), "{name}");
        }
        let file = fs::read(folder.path().join(&plain)).expect("the file exists");
        let mut unpacked = Vec::new();
        let gzip = fs::File::open(folder.path().join(&packed)).expect("the file exists");
        flate2::read::GzDecoder::new(gzip).read_to_end(&mut unpacked).expect("gzip");
        assert!(!file.is_empty() && unpacked == file, "{to}");
        let piped = run(&folder, &["-", "-o", "-", "--to", to]);
        assert_eq!(status(&piped), Some(1), "empty standard input is no valid trace");
        let mut piped = command(&folder, &["-o", "-", "--to", to]);
        let piped = piped.stdin(fs::File::open(EXAMPLE).expect("the file exists")).output();
        assert!(piped.expect("the program starts").stdout == file, "{to}");
    }
}

#[test]
fn an_invalid_trace_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(EXAMPLE).expect("the file exists") + "no such event\n";
    fs::write(folder.path().join("bad.trace"), text).expect("writable");
    for ending in ["pftrace", "json", "csv", "paje", "json.gz"] {
        let name = format!("out.{ending}");
        let output = run(&folder, &["bad.trace", "-o", &name]);
        assert_eq!(status(&output), Some(1));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with("pj_convert: bad.trace:"), "{message}");
        assert_eq!(names(folder.path()), ["bad.trace"]);
        // An existing file stays unchanged.
        fs::write(folder.path().join(&name), "old").expect("writable");
        run(&folder, &["bad.trace", "-o", &name]);
        assert_eq!(fs::read(folder.path().join(&name)).expect("the file exists"), b"old");
        fs::remove_file(folder.path().join(&name)).expect("the file can be removed");
    }
    let output = run(&folder, &["bad.trace", "-o", "out.pftrace", "--recover"]);
    assert_eq!(status(&output), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the rest was converted"));
    assert_eq!(names(folder.path()), ["bad.trace", "out.pftrace"]);
}

#[test]
fn usage_errors_name_the_problem() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, expected) in [
        (&[EXAMPLE][..], "--output"),
        (&[EXAMPLE, "-o", "out.txt"], "unknown format"),
        (&[EXAMPLE, "-o", "-"], "standard output needs a format"),
        (&[EXAMPLE, "-o", "-", "--to", "otf2"], "an OTF2 archive is a folder"),
        (&[EXAMPLE, "-o", ".", "--to", "otf2"], "it exists already"),
        (&["nowhere.trace", "-o", "out.otf2"], "nowhere.trace: No such file"),
        (&["nowhere.trace", "-o", "out.json"], "nowhere.trace: No such file"),
        (&[EXAMPLE, "-o", "no/out.json"], "no/out.json: the folder no does not exist"),
        (
            &[EXAMPLE, "-o", "out.json", "--nature", "row"],
            "expected container, state, variable, event or link",
        ),
    ] {
        let output = run(&folder, arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(names(folder.path()).is_empty(), "{arguments:?}");
    }
}

#[test]
fn losses_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineEventType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeNewEvent 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
2 Mark 0\n4 -1 Mark 0 a\n4 0.0000000014 Mark 0 b\n4 0.00000000141 Mark 0 c\n";
    fs::write(folder.path().join("t.trace"), text).expect("writable");
    let output = run(&folder, &["t.trace", "-o", "t.pftrace"]);
    let expected = "\
pj_convert: t.trace: warning: 2 times rounded to a nanosecond
pj_convert: t.trace: warning: 1 time moved into the nanosecond of an earlier time on the same track
pj_convert: t.trace: warning: 1 time out of the format's range (0 to 146 years), moved to its limit
";
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    let output = run(&folder, &["t.trace", "-o", "t.pftrace", "--no-warnings"]);
    assert_eq!((status(&output), &output.stderr[..]), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_fails_and_a_closed_pipe_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = |arguments: &[&str]| {
        let out = fs::File::options().write(true).open("/dev/full").expect("the file exists");
        command(&folder, arguments).stdout(out).output().expect("the program starts")
    };
    for to in ["perfetto", "chrome", "pipit", "paje"] {
        let output = full(&[EXAMPLE, "-o", "-", "--to", to]);
        assert_eq!(status(&output), Some(2), "{to}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("standard output: No space left"), "{message}");
        let output = run(&folder, &[EXAMPLE, "-o", "/dev/full", "--to", to]);
        assert_eq!(status(&output), Some(2), "{to}");
        let program = assert_cmd::cargo::cargo_bin!("pj_convert");
        let script = "ulimit -f 4; exec \"$0\" \"$@\"";
        let mut limited = Command::new("sh");
        limited.args(["-c", script]).arg(program).args([EXAMPLE, "-o", "out", "--to", to]);
        let output = limited.current_dir(folder.path()).output().expect("a shell");
        assert_eq!(status(&output), Some(2), "{to}");
        assert!(names(folder.path()).is_empty(), "{to}");
        let mut child = command(&folder, &[EXAMPLE, "-o", "-", "--to", to])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((status(&output), &output.stderr[..]), (Some(0), &b""[..]), "{to}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_conversion_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = command(&folder, &["-", "-o", "out.pftrace"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(200));
    child.kill().expect("it waits for input");
    child.wait().expect("it has ended");
    assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
}

#[test]
fn only_selected_rows_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = |more: &[&str]| {
        let output = run(&folder, &[&[EXAMPLE, "-o", "-", "--to", "pipit"], more].concat());
        assert_eq!(status(&output), Some(0));
        let warned = more.contains(&"1e6").then_some("begins after the end of the trace");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains(warned.unwrap_or_default()) && errors.is_empty() == warned.is_none()
        );
        String::from_utf8(output.stdout).expect("text")
    };
    let everything = rows(&[]);
    let inside = rows(&["--in", "rank-1"]);
    assert!(inside.lines().skip(1).all(|row| row.contains(",rank-1,")));
    assert!(inside.lines().count() > 10 && inside.len() < everything.len());
    let events = rows(&["--nature", "event"]);
    assert!(events.lines().skip(1).all(|row| row.contains(",Instant,")));
    let none = rows(&["--of-type", "MPI_STATE", "-s", "1e6"]);
    assert_eq!(none.lines().count(), 1);
    assert!(Path::new(EXAMPLE).exists());
}
