//! The command line: exit statuses, messages, options as getopt reads them.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

pub(crate) use testkit::outcome;

use crate::world::{dump, said, trace};

/// A folder with a valid trace, an invalid one, and what is no trace.
fn folder() -> TempDir {
    testkit::folder(&[
        ("sound.trace", &trace(b"set 0 S p a\nset 1.5 S p b\n")),
        ("invalid.trace", &trace(b"set 0 S p a\npop 1 S q\n")),
        ("empty", b""),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0"),
    ])
}

pub(crate) fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pj_dump"));
    command.args(arguments).current_dir(folder.path());
    command
}

pub(crate) fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    outcome(&command(folder, arguments).output().expect("the program starts"))
}

const ROWS: &str = "\
Container, 0, 0, 0, 1.5, 1.5, 0
Container, 0, Host, 0, 1.5, 1.5, h
Container, h, Process, 0, 1.5, 1.5, q
Container, h, Process, 0, 1.5, 1.5, p
State, p, State, 0.000000, 1.500000, 1.500000, 0.000000, a
State, p, State, 1.500000, 1.500000, 0.000000, 0.000000, b
";

#[test]
fn rows_on_standard_output_and_nothing_else() {
    let folder = folder();
    assert_eq!(run(&folder, &["sound.trace"]), (0, ROWS.into(), String::new()));
    assert_eq!(run(&folder, &["-q", "sound.trace"]), (0, String::new(), String::new()));
}

#[test]
fn standard_input_for_none_and_for_a_dash() {
    let sound = trace(b"set 0 S p a\nset 1.5 S p b\n");
    for arguments in [&[][..], &["-"]] {
        assert_eq!(outcome(&dump(arguments, &sound)), (0, ROWS.into(), String::new()));
    }
}

#[test]
fn an_invalid_trace() {
    let folder = folder();
    let (status, stdout, stderr) = run(&folder, &["invalid.trace"]);
    assert_eq!((status, stdout.as_str()), (1, ""));
    let line = fs::read(folder.path().join("invalid.trace")).expect("readable");
    let line = line.iter().filter(|byte| **byte == b'\n').count();
    let wanted = format!(
        "pj_dump: invalid.trace:{line}:9: no state of type 'State' (S) is open in container 'q'; \
         a pop needs a push before it\n {line} | pop 1 S q\n     |         ^\n\
         pj_dump: hint: `--recover` goes on after problems: it leaves out or mends what is wrong, and tells it\n"
    );
    assert_eq!(stderr, wanted);
    // Nor is anything written to the files asked for.
    run(&folder, &["--type-hierarchy=types.csv", "invalid.trace"]);
    assert!(!folder.path().join("types.csv").exists());
}

/// Hint at `--recover`, where a replay that recovers goes on, and another option does not help.
#[test]
fn recovery_is_hinted_at() {
    let said = |lines: &str| said(&dump(&["-q"], &trace(lines.as_bytes())));
    for lines in [
        "set 0 S nobody w\n",
        "from 0 L h w h k\n",
        "pop 0 S p\n",
        "set 0 S p\n",
        "vadd 0 V p 1\n",
        "destroy 0 H p\n",
        "set zz S p w\n",
    ] {
        assert!(said(lines).contains("hint: `--recover` goes on"), "{lines}{}", said(lines));
        let recovered = dump(&["-q", "--recover"], &trace(lines.as_bytes()));
        assert!(!crate::world::said(&recovered).contains("`--recover`"), "{lines}");
    }
    for lines in [
        "99 0 S p w\n",
        "%EventDef PajeSetStates 9\n",
        "from 0 L h w p k\n",
        "set 2 S p w\nset 1 S p w\n",
    ] {
        assert!(!said(lines).contains("`--recover`"), "{lines}{}", said(lines));
    }
}

#[test]
fn what_is_not_there_is_told() {
    let lines = b"set 0 S p a\nset 2 S p b\nvset 1 V p 1\n";
    let warned = |options: &[&str]| {
        let output = dump(options, &trace(lines));
        assert_eq!(output.status.code(), Some(0), "{options:?}");
        said(&output)
    };
    assert_eq!(
        warned(&["-p", "nosuch"]),
        "pj_dump: warning: -p 'nosuch': the trace has no type of this name\n"
    );
    assert_eq!(
        warned(&["-p", "S"]),
        "pj_dump: warning: -p 'S': the trace has no type of this name, but 'State' (S): -p takes names\n"
    );
    assert_eq!(warned(&["-p", "State"]), "");
    let empty = "no rows but those of containers are in it\n";
    assert_eq!(
        warned(&["-s", "5", "-e", "2"]),
        format!("pj_dump: warning: the window from 5 s to 2 s ends before it begins; {empty}")
    );
    assert_eq!(warned(&["-s", "1", "-e", "1"]), "");
    assert_eq!(
        warned(&["-s", "2.5"]),
        format!(
            "pj_dump: warning: the window from 2.5 s begins after the end of the trace, 2 s; {empty}"
        )
    );
    assert_eq!(warned(&["-s", "2"]), "");
    let rows = dump(&["--nature", "State"], &trace(lines)).stdout;
    assert_eq!(rows, dump(&["--nature", "states"], &trace(lines)).stdout);
    assert_eq!(String::from_utf8_lossy(&rows).lines().count(), 2);
}

#[test]
fn input_that_is_no_trace() {
    let folder = folder();
    for (name, status, message) in [
        ("empty", 1, "the trace is empty; a trace begins with event definitions\n"),
        ("nowhere.trace", 2, "No such file or directory\n"),
        (".", 2, "Is a directory\n"),
    ] {
        let wanted = format!("pj_dump: {name}: {message}");
        assert_eq!(run(&folder, &[name]), (status, String::new(), wanted));
    }
    let (status, stdout, stderr) = run(&folder, &["picture.png"]);
    let wanted = "pj_dump: picture.png: this is a picture (PNG), not a Pajé trace\n";
    assert_eq!((status, &*stdout, &*stderr), (2, "", wanted));
}

#[test]
fn files_that_cannot_be_written() {
    let folder = folder();
    for option in ["--type-hierarchy", "--entity-hierarchy"] {
        let found = run(&folder, &[option, "no/such/folder/file", "sound.trace"]);
        let wanted = "pj_dump: no/such/folder/file: No such file or directory\n";
        assert_eq!(found, (2, String::new(), wanted.into()));
    }
}

#[test]
fn hierarchies_beside_the_rows() {
    let folder = folder();
    let arguments = ["--type-hierarchy=t.csv", "--entity-hierarchy", "e.csv", "sound.trace"];
    assert_eq!(run(&folder, &arguments), (0, ROWS.into(), String::new()));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    let types = "\
Parent, Name, Nature
0, Host, Container
Host, Process, Container
Host, Message, Link
Process, State, State
State, a, Value
State, b, Value
Process, Mark, Event
Process, Load, Variable
";
    let mut lines: Vec<String> = read("t.csv").lines().map(str::to_owned).collect();
    let mut wanted: Vec<String> = types.lines().map(str::to_owned).collect();
    lines.sort();
    wanted.sort();
    assert_eq!(lines, wanted);
    assert!(read("e.csv").starts_with("Parent, Name, Type, Nature\n0, 0, 0, Container\n"));
}

#[test]
fn wrong_usage() {
    let folder = folder();
    for (arguments, message) in [
        (&["--nonsense", "sound.trace"][..], "pj_dump: unexpected argument '--nonsense' found\n"),
        // --end or --entity-hierarchy?
        (&["--e", "3", "sound.trace"], "pj_dump: unexpected argument '--e' found\n"),
        (
            &["-s", "soon", "sound.trace"],
            "pj_dump: invalid value 'soon' for '--start <START>': expected a number of seconds\n",
        ),
        (&["-l", "-1", "sound.trace"], "pj_dump: invalid value '-1' for '--float-precision <N>'"),
        (
            &["--quotes", "some", "sound.trace"],
            "pj_dump: invalid value 'some' for '--quotes <QUOTES>'",
        ),
        (
            &["-p"],
            "pj_dump: a value is required for '--probabilistic <TYPENAME>' but none was supplied",
        ),
    ] {
        let (status, stdout, stderr) = run(&folder, arguments);
        assert_eq!((status, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with(message), "{arguments:?}: {stderr}");
    }
}

#[test]
fn options_as_getopt_reads_them() {
    let folder = folder();
    let precise = "State, p, State, 0.00, 1.50, 1.50, 0.00, a\n";
    for arguments in [
        &["-zl", "2", "sound.trace"][..],
        &["-nul2", "sound.trace"],
        &["sound.trace", "--float-prec=2"],
        &["--float", "2", "-f", "sound.trace"],
        &["-l", "9", "-l", "2", "--ignore-inc", "--", "sound.trace"],
    ] {
        let (status, stdout, stderr) = run(&folder, arguments);
        assert_eq!((status, stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(stdout.contains(precise), "{arguments:?}: {stdout}");
    }
    // An option's value may look like an option.
    let (status, stdout, _) = run(&folder, &["-p", "-1", "-s", "-3", "sound.trace"]);
    assert_eq!((status, stdout.as_str()), (0, "0.000000,1.500000,1.500000\n"));
    // One of several ways to print: -d wins over -c, the intervals come first, -q stops rows only.
    let (_, stdout, _) = run(&folder, &["-q", "-c", "-d", "-p", "State", "-h", "sound.trace"]);
    assert!(stdout.starts_with("0.000000,1.500000,1.500000,p/State/a\ndigraph PajeTypes {\n"));
    assert!(!stdout.contains("reportContainer"));
    let (_, stdout, _) = run(&folder, &["-qc", "sound.trace"]);
    assert!(stdout.starts_with("reportContainer |0 (0)\n"));
}

#[test]
fn the_time_comes_first() {
    let folder = folder();
    let (status, stdout, _) = run(&folder, &["-t", "sound.trace"]);
    let (seconds, rows) = stdout.split_once('\n').expect("a line of its own");
    assert!(seconds.parse::<f64>().is_ok_and(|seconds| seconds >= 0.0), "{seconds}");
    assert_eq!((status, rows), (0, ROWS));
}

#[test]
fn verbose_tells_the_input_and_the_threads() {
    let folder = folder();
    let sound = fs::read(folder.path().join("sound.trace")).expect("readable");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&sound).expect("in memory");
    let packed = packed.finish().expect("in memory");
    fs::write(folder.path().join("packed"), &packed).expect("the folder is writable");

    let threads = |input: &str, threads: &str| {
        format!("pj_dump: {input}\npj_dump: {threads}, where the system puts ")
    };
    let (status, stdout, stderr) = run(&folder, &["--verbose", "--threads=2", "sound.trace"]);
    let size = sound.len();
    let wanted = threads(&format!("sound.trace: regular file, {size} bytes"), "2 threads");
    assert_eq!((status, stdout.as_str()), (0, ROWS));
    assert!(stderr.starts_with(&(wanted + "them\n")), "{stderr}");
    let (_, stdout, stderr) = run(&folder, &["--verbose", "--threads=1", "packed"]);
    let size = packed.len();
    let wanted = threads(&format!("packed: gzip, regular file, {size} bytes"), "1 thread");
    assert_eq!((stdout.as_str(), stderr), (ROWS, wanted + "it\n"));
    // Facts that the user may want to know of the workers.
    let workers = paje_workers::available().get() + 1;
    let (_, _, stderr) = outcome(&dump(&["--verbose", &format!("--threads={workers}")], &sound));
    let wanted = threads("<stdin>: stream, size unknown", &format!("{workers} threads")) + "them";
    let note = format!("\npj_dump: {workers} workers share the time of ");
    assert!(stderr.starts_with(&(wanted + &note)), "{stderr}");
}

#[test]
fn help_usage_and_version() {
    let folder = folder();
    let version = concat!("pj_dump ", env!("CARGO_PKG_VERSION"), "\n");
    for argument in ["-v", "--version"] {
        assert_eq!(run(&folder, &[argument]), (0, version.into(), String::new()));
    }
    for argument in ["-?", "--help"] {
        let (status, stdout, stderr) = run(&folder, &[argument]);
        assert_eq!((status, stderr.as_str()), (0, ""));
        assert!(stdout.contains("Usage: pj_dump [OPTIONS] [FILE]..."), "{stdout}");
        let statuses = match argument {
            "-?" => "Exit status: 0 dumped, 1 the trace is invalid, 2 usage",
            _ => "Exit status:\n  0  dumped\n  1  the trace is invalid\n  2  usage",
        };
        assert!(stdout.contains(statuses), "{stdout}");
    }
    let (status, stdout, _) = run(&folder, &["--usage"]);
    assert_eq!((status, stdout.as_str()), (0, "Usage: pj_dump [OPTIONS] [FILE]...\n"));
}

/// Generated text itself is tested in `generate`.
#[test]
fn generated_without_a_trace() {
    let folder = folder();
    for (what, wanted) in [("man", ".SH \"ROW FORMAT\"\n"), ("complete-zsh", "#compdef pj_dump\n")]
    {
        let (status, stdout, stderr) = run(&folder, &["--generate", what]);
        assert_eq!((status, stderr.as_str()), (0, ""));
        assert!(stdout.contains(wanted), "{stdout}");
    }
    let (status, stdout, _) = run(&folder, &["--generate", "man", "any.trace"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = command(&folder, &["--generate", "man"]).stdout(full).output();
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("pj_dump: standard output: No space left"), "{stderr}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = folder();
    let lines: String = (0..50_000).map(|i| format!("set {i} S p a\n")).collect();
    fs::write(folder.path().join("long.trace"), trace(lines.as_bytes())).expect("writable");
    let mut child = command(&folder, &["long.trace"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("it was asked for");
    stdout.read_exact(&mut [0; 100]).expect("there are rows");
    drop(stdout);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(outcome(&output), (0, String::new(), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_full() {
    let folder = folder();
    for arguments in [&["sound.trace"][..], &["-c", "sound.trace"], &["-p", "State", "sound.trace"]]
    {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = command(&folder, arguments).stdout(full).output().expect("it starts");
        let wanted = "pj_dump: standard output: No space left on device\n";
        assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
    }
}

#[test]
fn warnings_are_told_once_with_their_number() {
    let lines = "set 0 S p a b c\nset 1 S p b b\nset_in 2 S q a\ndestroy 3 P p\nset 4 S p a\n\
                 set 5 S p a\npop 6 S p\nfile p P other.trace\n";
    let output = dump(&["--no-files"], &trace(lines.as_bytes()));
    let before = crate::world::lines_before();
    let wanted = [
        (
            1,
            "more words than the definition of PajeSetState (set) has fields; the extra ones are ignored (2 lines)",
        ),
        (
            3,
            "the line of PajeSetState (set_in) ends before its last user-defined fields; they are empty (1 line)",
        ),
        (
            5,
            "PajeSetState (set) for a container that was destroyed before; it is ignored (2 lines)",
        ),
        (7, "PajePopState (pop) for a container that was destroyed before; it is ignored (1 line)"),
        (8, "the trace file that PajeTraceFile (file) names here is not read (1 line)"),
    ];
    let wanted: String = wanted
        .iter()
        .map(|(line, text)| format!("pj_dump: <stdin>:{}: warning: {text}\n", before + line))
        .collect();
    assert_eq!(said(&output), wanted);
    assert_eq!(output.status.code(), Some(0));
}

/// Whoever merges both outputs has rows only, if the call or the environment says so.
#[test]
fn warnings_can_be_silenced() {
    let folder = folder();
    let text =
        trace(b"set 0 S p a too many\ndestroy 1 P p\nset 2 S p a\nset 2 S q a\nset 2 S q b\n");
    fs::write(folder.path().join("doubtful"), text).expect("writable");
    let options = ["--quotes=strip", "--nature=state", "--of-type", "St*", "--of-type", "nosuch"];
    let words = [&options[..], &["doubtful"]].concat();
    let (status, rows, said) = run(&folder, &words);
    assert_eq!((status, said.matches("warning").count()), (0, 4), "{said}");
    let silent = (0, rows.clone(), String::new());
    assert_eq!(run(&folder, &[&["--no-warnings"], &*words].concat()), silent);
    for (value, silences) in [("1", true), ("yes", true), ("", false), ("0", false), ("no", false)]
    {
        let output = command(&folder, &words).env("PAJE_NO_WARNINGS", value).output();
        let (status, stdout, stderr) = outcome(&output.expect("it starts"));
        assert_eq!((status, stdout), (0, rows.clone()));
        assert_eq!(stderr.is_empty(), silences, "{value:?}: {stderr}");
    }
    let trees = [&["-c", "-d"], &*words].concat();
    assert!(run(&folder, &trees).2.contains("-c, of containers, is passed over"));
    assert_eq!(run(&folder, &[&["--no-warnings"], &*trees].concat()).2, "");
    // Errors are told, and -q is about rows.
    let (status, _, said) = run(&folder, &["--no-warnings", "invalid.trace"]);
    assert!(status == 1 && said.starts_with("pj_dump: invalid.trace:"), "{said}");
    assert_eq!(run(&folder, &["-q", "doubtful"]).2.matches("warning").count(), 2);
}
