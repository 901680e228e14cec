//! The program: its exit status, and what it writes where.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{SOUND, trace};

/// A folder with a sound trace, an invalid one, and one that has warnings only.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("sound.trace", used(SOUND));
    write("invalid.trace", used(&format!("{SOUND}10 1 Status q w\n10 2 State r w\n")));
    write("warning.trace", used(&format!("{SOUND}10 5 \"State\" q w\n")));
    folder
}

/// A trace whose definitions are all used, so that nothing is worth a warning.
pub(crate) fn used(lines: &str) -> String {
    let text = trace(lines);
    let (world, unused) = (text.as_str(), ["PajeDefineContainerType 1", "PajeTraceFile 19"]);
    let blocks = world.split_inclusive("%EndEventDef\n");
    blocks.filter(|block| !unused.iter().any(|event| block.contains(event))).collect()
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("pj_validate").unwrap();
    command.current_dir(folder).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Exit status, standard output, standard error.
pub(crate) fn outcome(output: &Output) -> (i32, &str, &str) {
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_sound_trace() {
    let folder = folder();
    let output = run(folder.path(), &["sound.trace"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (0, ""));
    assert_eq!(
        stdout,
        "\
lines              133
time               0 to 5 s
event definitions  19
types              6
containers         3
states             3
variables          3
events             1
links              1
values             4
types
  0 container
    Host container, 1
      Process container, 2
        State state, 3
        Load variable, 3
        Mark event, 1
      Message link, 1
sound.trace is sound
"
    );
    assert_eq!(outcome(&run(folder.path(), &["-q", "sound.trace"])), (0, "", ""));
}

#[test]
fn an_invalid_trace() {
    let folder = folder();
    let output = run(folder.path(), &["-q", "invalid.trace"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (1, ""));
    assert_eq!(
        stdout,
        "\
invalid.trace:134:6: error[unknown-type]: unknown type 'Status'; a type must be defined before it is used
 134 | 10 1 Status q w
     |      ^^^^^^
invalid.trace:135:12: error[unknown-container]: unknown container 'r'; a container must be created before it is used
 135 | 10 2 State r w
     |            ^
"
    );
    let output = run(folder.path(), &["invalid.trace"]);
    assert!(text(&output.stdout).ends_with("invalid.trace is not sound: 2 errors\n"));
}

#[test]
fn warnings_fail_only_if_asked_for() {
    let folder = folder();
    let output = run(folder.path(), &["warning.trace"]);
    let (status, stdout, _) = outcome(&output);
    assert_eq!(status, 0);
    assert!(stdout.contains("warning[other-quoting]"), "{stdout}");
    assert!(stdout.ends_with("warning.trace is sound: 2 warnings\n"), "{stdout}");
    assert_eq!(run(folder.path(), &["--strict", "warning.trace"]).status.code(), Some(1));
    assert_eq!(run(folder.path(), &["--strict", "sound.trace"]).status.code(), Some(0));
}

#[test]
fn lines_that_have_passed_are_shown_too() {
    let folder = folder();
    fs::write(folder.path().join("open.trace"), used("10 1 State p w\n")).unwrap();
    let output = run(folder.path(), &["-q", "open.trace"]);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("| 10 1 State p w\n"), "{stdout}");
    assert!(stdout.contains("| 3 Load Process\n"), "{stdout}");
    // Standard input cannot be read again.
    let input = fs::File::open(folder.path().join("open.trace")).unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"));
    let output = command.arg("-q").stdin(input).output().unwrap();
    let stdout = text(&output.stdout);
    assert!(stdout.contains("warning[never-closed]"), "{stdout}");
    assert!(!stdout.contains("| 10 1 State p w\n"), "{stdout}");
}

#[test]
fn standard_input() {
    for arguments in [&["-q"][..], &["-q", "-"]] {
        let mut command = Command::cargo_bin("pj_validate").unwrap();
        let output =
            command.args(arguments).write_stdin(used("10 zz State p w\n")).output().unwrap();
        let (status, stdout, stderr) = outcome(&output);
        assert_eq!((status, stderr), (1, ""));
        assert!(stdout.contains("<stdin>:119:4: error[bad-time]: 'zz' is not a time"), "{stdout}");
    }
}

#[test]
fn json_has_one_object_a_line() {
    let folder = folder();
    let output = run(folder.path(), &["--json", "-c", "-t", "invalid.trace"]);
    assert_eq!(output.status.code(), Some(1));
    let lines = text(&output.stdout).lines();
    let objects: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let [first, .., last] = objects.as_slice() else {
        panic!("too few lines");
    };
    let wanted = serde_json::json!({
        "kind": "finding", "severity": "error", "code": "unknown-type",
        "message": "unknown type 'Status'; a type must be defined before it is used",
        "event": {"name": "PajeSetState", "number": "10"}, "names": [], "trace": "invalid.trace",
        "file": "invalid.trace", "line": 134, "column": 6, "byte": first["byte"], "width": 6,
        "text": "10 1 Status q w", "count": 1, "last_line": 134, "last_file": "invalid.trace", "consequences": 0, "note": null,
    });
    assert_eq!(*first, wanted);
    let bytes = fs::read(folder.path().join("invalid.trace")).unwrap();
    assert!(bytes[first["byte"].as_u64().unwrap() as usize..].starts_with(b"Status"));
    assert_eq!(last["kind"], "summary");
    assert_eq!(last["sound"], false);
    assert_eq!(last["errors"], 2);
    assert_eq!(last["types"][2]["name"], "Process");
    assert_eq!(last["types"][2]["parent"], 1);
    assert_eq!(last["container_tree"][3]["name"], "q");
    assert!(last["seconds"].as_f64().is_some());
    let output = run(folder.path(), &["--json", "-q", "sound.trace"]);
    assert_eq!(outcome(&output), (0, "", ""));
}

#[test]
fn as_many_errors_as_asked_for() {
    let folder = folder();
    let lines: String = (0..150).map(|i| format!("10 0 State nobody{i} w\n")).collect();
    fs::write(folder.path().join("many.trace"), used(&lines)).unwrap();
    let count = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        let stdout = text(&output.stdout).to_owned();
        (stdout.matches("error[").count(), stdout)
    };
    let (shown, stdout) = count(&["-q", "many.trace"]);
    assert_eq!(shown, 100);
    assert!(stdout.contains("note: 50 errors more; --max-errors 0 shows all"), "{stdout}");
    assert_eq!(count(&["-q", "--max-errors", "7", "many.trace"]).0, 7);
    let (shown, stdout) = count(&["-q", "--max-errors=0", "many.trace"]);
    assert_eq!(shown, 150);
    assert!(!stdout.contains("errors more"));
}

#[test]
fn sorting_would_help() {
    let folder = folder();
    let hint = |lines: &str, arguments: &[&str]| {
        fs::write(folder.path().join("t"), used(lines)).unwrap();
        let output = run(folder.path(), arguments);
        text(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    let one = "10 5 State p w\n10 4 State p w\n8 6 Process p\n";
    let lane = "10 5 State p w\n10 4 State p w\n12 3 State p\n8 6 Process p\n";
    let lanes = "10 5 State p w\n14 5 Load p 1\n10 4 State p w\n14 3 Load p 1\n14 2 Load p 1\n8 6 Process p\n";
    let sort = "`pj_dump --sort` replays such a trace as if it had been sorted by time";
    for (lines, what) in [
        (one, "1 event is not in time order in its lane (a container and a type)"),
        (lane, "2 events are not in time order in their lane (a container and a type)"),
        (lanes, "3 events are not in time order in their 2 lanes (a container and a type each)"),
    ] {
        let wanted = format!("t: hint: {what}; {sort}");
        // It is the last line, also where findings are not shown.
        for arguments in [&["t"][..], &["-q", "t"], &["-qcd", "--max-errors=1", "t"]] {
            assert_eq!(hint(lines, arguments), wanted, "{arguments:?}");
        }
    }
    assert!(!hint("10 4 State p w\n8 6 Process p\n", &["-q", "t"]).contains("hint"));
    let summary: Value = serde_json::from_str(&hint(lanes, &["--json", "t"])).unwrap();
    assert_eq!(
        (&summary["disordered_events"], &summary["disordered_lanes"]),
        (&3.into(), &2.into())
    );
}

/// A trace in which three types and two event definitions are not used, some names come with quotes, and a
/// single line is wrong: further down than all that.
fn mostly_doubtful() -> String {
    let lines = "6 a State one ff0000\n4 Other Process\n6 b Other two ff0000\n10 0 \"State\" p w\n10 1 State \"p\" w\n\
                 10 2 State p \"w\"\n10 3 State q w\n12 4 Status q\n8 5 Process p\n8 5 Process q\n";
    trace(lines)
}

fn codes(stdout: &str) -> Vec<String> {
    let told = stdout
        .lines()
        .filter_map(|line| line.split_once(": error[").or(line.split_once(": warning[")));
    told.filter_map(|(_, rest)| Some(rest.split_once(']')?.0.to_owned())).collect()
}

#[test]
fn errors_come_first_and_warnings_by_kind() {
    let folder = folder();
    fs::write(folder.path().join("t"), mostly_doubtful()).unwrap();
    let output = run(folder.path(), &["t"]);
    let (status, stdout, _) = outcome(&output);
    assert_eq!(status, 1);
    assert!(stdout.starts_with("t:136:6: error[unknown-type]: unknown type 'Status'"), "{stdout}");
    let kinds = ["unknown-type", "unused-event", "unused-type", "unused-value", "other-quoting"];
    assert_eq!(codes(stdout), kinds, "{stdout}");
    assert!(stdout.contains("| 6 a State one ff0000\n"), "{stdout}");
    assert!(stdout.contains(" = 1 more of this kind, last in line 131\n"), "{stdout}");
    assert!(stdout.contains(" = 2 more of this kind, last in line 134\n"), "{stdout}");
    let note = "t: note: warnings of one kind are told as one; --only KIND shows each\n";
    assert_eq!(stdout.matches(note).count(), 1, "{stdout}");
    assert!(stdout.ends_with("t is not sound: 1 error, 7 warnings\n"), "{stdout}");
    // Machines get each of them, where it is.
    let output = run(folder.path(), &["--json", "-q", "t"]);
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 8);
    assert_eq!(stdout.lines().position(|line| line.contains("unknown-type")), Some(7), "{stdout}");
}

#[test]
fn only_what_is_asked_for() {
    let folder = folder();
    fs::write(folder.path().join("t"), mostly_doubtful()).unwrap();
    let told = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        // The verdict is about the whole trace.
        assert_eq!(output.status.code(), Some(1));
        let stdout = text(&output.stdout).to_owned();
        (codes(&stdout), stdout)
    };
    let (kinds, stdout) = told(&["--only", "unused-value", "t"]);
    assert_eq!(kinds, ["unused-value", "unused-value"]);
    assert!(!stdout.contains("note:"), "{stdout}");
    assert!(stdout.ends_with("t is not sound: 1 error, 7 warnings\n"), "{stdout}");
    let (kinds, _) = told(&["--only=unused-type", "--only", "unknown-type", "--max-errors=1", "t"]);
    assert_eq!(kinds, ["unknown-type", "unused-type"]);
    // Findings that are not shown leave their places to others.
    assert_eq!(told(&["-q", "--only=other-quoting", "--max-errors=3", "t"]).0.len(), 3);
    let (kinds, stdout) = told(&["--no-warnings", "t"]);
    assert_eq!(kinds, ["unknown-type"]);
    let verdict = "t is not sound: 1 error, 7 warnings, which are not shown\n";
    assert!(stdout.ends_with(verdict), "{stdout}");
    for (value, count) in [("1", 1), ("0", 5), ("", 5)] {
        let mut command = Command::cargo_bin("pj_validate").unwrap();
        let command = command.current_dir(folder.path()).args(["-q", "t"]);
        let output = command.env("PAJE_NO_WARNINGS", value).output().unwrap();
        assert_eq!(codes(text(&output.stdout)).len(), count, "{value:?}");
    }
    let output = run(folder.path(), &["--only", "unused-vale", "t"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stdout), (2, ""));
    assert!(stderr.contains("'unused-value'"), "{stderr}");
}

/// Kinds that `--only` takes are all that there are: the other half is `every_code_has_a_message`.
#[test]
fn help_lists_the_kinds() {
    let output = run(folder().path(), &["--help"]);
    let help = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for kind in ["file-cycle", "unreadable-file", "pop-on-empty", "surplus-words", "reversed-link"]
    {
        assert!(help.contains(kind), "{kind}: {help}");
    }
}

#[test]
fn several_traces() {
    let folder = folder();
    let output = run(folder.path(), &["sound.trace", "invalid.trace", "warning.trace"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (1, ""));
    let alone = ["sound.trace", "invalid.trace", "warning.trace"]
        .map(|name| text(&run(folder.path(), &[name]).stdout).to_owned());
    assert_eq!(stdout, alone.join("\n"));
    // The worst counts, and none is left out.
    let output =
        run(folder.path(), &["-q", "invalid.trace", "missing", "sound.trace", "warning.trace"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (2, "pj_validate: missing: No such file or directory\n"));
    let kinds = ["unknown-type", "unknown-container", "other-quoting", "after-destroy"];
    assert_eq!(codes(stdout), kinds, "{stdout}");
    let output = run(folder.path(), &["--json", "sound.trace", "invalid.trace"]);
    let objects = text(&output.stdout).lines();
    let objects: Vec<Value> = objects.map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
    assert_eq!(kinds, ["summary", "finding", "finding", "summary"]);
    assert_eq!(
        (&objects[0]["file"], &objects[1]["trace"]),
        (&"sound.trace".into(), &"invalid.trace".into())
    );
    assert_eq!(run(folder.path(), &["sound.trace", "warning.trace"]).status.code(), Some(0));
    let output = run(folder.path(), &["-", "-"]);
    let wanted = "pj_validate: only one of the traces can be standard input\n";
    assert_eq!(outcome(&output), (2, "", wanted));
}

#[test]
fn json_has_names_and_aliases() {
    let folder = folder();
    let lines = "%EventDef PajeCreateContainer 70\n% Time date\n% Name string\n% Alias string\n% Type string\n\
                 % Container string\n%EndEventDef\n70 1 rank-1 33 Process h\n12 2 State 33\n8 3 Host 33\n";
    fs::write(folder.path().join("t"), used(lines)).unwrap();
    let output = run(folder.path(), &["--json", "-q", "--no-warnings", "t"]);
    let objects = text(&output.stdout).lines();
    let objects: Vec<Value> = objects.map(|line| serde_json::from_str(line).unwrap()).collect();
    let [pop, destroy] = objects.as_slice() else { panic!("{objects:?}") };
    assert_eq!(pop["event"], serde_json::json!({"name": "PajePopState", "number": "12"}));
    let container = serde_json::json!({"what": "container", "name": "rank-1", "alias": "33"});
    let type_ =
        |what: &str, name: &str| serde_json::json!({"what": what, "name": name, "alias": null});
    assert_eq!(pop["names"], serde_json::json!([type_("type", "State"), container]));
    let found = [type_("container_type", "Process"), type_("expected_type", "Host")];
    assert_eq!(destroy["names"], serde_json::json!([container, found[0], found[1]]));
}

#[test]
fn trees_and_time() {
    let folder = folder();
    let output = run(folder.path(), &["-q", "-c", "-d", "sound.trace"]);
    let stdout = text(&output.stdout);
    assert!(
        stdout
            .starts_with("containers\n  0\n    h Host\n      p Process\n      q Process\ntypes\n"),
        "{stdout}"
    );
    let output = run(folder.path(), &["-q", "-t", "sound.trace"]);
    let seconds: f64 = text(&output.stdout).trim_end().parse().unwrap();
    assert!(seconds > 0.0);
}

#[test]
fn what_cannot_be_read() {
    let folder = folder();
    let fails = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        let (status, stdout, stderr) = outcome(&output);
        assert_eq!((status, stdout), (2, ""), "{stderr}");
        stderr.to_owned()
    };
    assert_eq!(
        fails(&["missing.trace"]),
        "pj_validate: missing.trace: No such file or directory\n"
    );
    assert_eq!(fails(&["."]), "pj_validate: .: Is a directory\n");
}

#[test]
#[cfg(unix)]
fn no_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("sound.trace");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        return; // The superuser may read everything.
    }
    let output = run(folder.path(), &["sound.trace"]);
    assert_eq!(outcome(&output), (2, "", "pj_validate: sound.trace: Permission denied\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"));
    command.arg("sound.trace").current_dir(folder.path()).stdout(full);
    let output = command.output().unwrap();
    let wanted = "pj_validate: standard output: No space left on device\n";
    assert_eq!(outcome(&output), (2, "", wanted));
}

#[test]
fn wrong_usage() {
    let folder = folder();
    for arguments in
        [&["--nonsense"][..], &["--only", "none"], &["--max-errors", "x"], &["--color", "blue"]]
    {
        let output = run(folder.path(), arguments);
        let (status, stdout, stderr) = outcome(&output);
        assert_eq!((status, stdout), (2, ""), "{stderr}");
        assert!(stderr.starts_with("pj_validate: "), "{stderr}");
    }
}

#[test]
fn help_and_version() {
    let folder = folder();
    let output = run(folder.path(), &["-v"]);
    assert_eq!(outcome(&output), (0, concat!("pj_validate ", env!("CARGO_PKG_VERSION"), "\n"), ""));
    for argument in ["-h", "--help"] {
        let output = run(folder.path(), &[argument]);
        let (status, stdout, _) = outcome(&output);
        assert_eq!(status, 0);
        assert!(stdout.contains("Exit status:"), "{stdout}");
    }
}

#[test]
fn empty_and_foreign_files() {
    let folder = folder();
    fs::write(folder.path().join("empty"), "").unwrap();
    let output = run(folder.path(), &["-q", "empty"]);
    let wanted =
        "empty: error[empty-trace]: the trace is empty; a trace begins with event definitions\n";
    assert_eq!(outcome(&output), (1, wanted, ""));
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\x1b[31m\xff\n";
    fs::write(folder.path().join("picture.png"), picture).unwrap();
    let output = run(folder.path(), &["-q", "picture.png"]);
    let wanted = "pj_validate: picture.png: this is a picture (PNG), not a Pajé trace\n";
    assert_eq!(outcome(&output), (2, "", wanted));
    fs::write(folder.path().join("bytes"), b"\x89what\0\x1b[31m\xff\n").unwrap();
    let output = run(folder.path(), &["-q", "bytes"]);
    let (status, stdout, _) = outcome(&output);
    assert_eq!(status, 1);
    assert!(
        stdout.contains(r"bytes:1:1: error[unknown-id]: no event is defined with number '\x89what")
    );
    assert!(stdout.chars().all(|c| c == '\n' || !c.is_control()), "{stdout}");
}

#[test]
fn colours_only_if_asked_for() {
    let folder = folder();
    let output = run(folder.path(), &["--color", "always", "invalid.trace"]);
    assert!(text(&output.stdout).contains("\x1b["));
    let output = run(folder.path(), &["invalid.trace"]);
    assert!(!text(&output.stdout).contains("\x1b["));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = folder();
    let lines: String = (0..20_000).map(|i| format!("10 0 State nobody{i} w\n")).collect();
    fs::write(folder.path().join("many.trace"), used(&lines)).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"))
        .args(["--max-errors", "0", "many.trace"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut start = [0; 100];
    stdout.read_exact(&mut start).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}
