//! The command line: exit statuses, messages, media.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::world::{WORLD, changed, command, outcome, pair, run, trace};

const FILES: [&str; 2] = ["a.trace", "b.trace"];

fn later() -> String {
    changed(&[("set 3 S", "set 3.5 S")])
}

/// 0 and 1 are PajeNG's answers, and those of `diff`; never trouble.
#[test]
fn exit_statuses() {
    let (same, other) = (pair(WORLD, WORLD), pair(WORLD, &changed(&[("idle", "busy")])));
    let status = |options: &[&str]| {
        let both = [options, &FILES].concat();
        [&same, &other].map(|folder| {
            let (status, stdout, stderr) = run(folder, &both);
            assert_eq!(stderr, "");
            (status, stdout)
        })
    };
    let nothing = String::new;
    for options in [&[][..], &["--exact"], &["--names-only"], &["--tolerance=1"]] {
        assert_eq!(status(options), [(0, "1\n".into()), (0, "0\n".into())], "{options:?}");
        let quiet = [options, &["-q"]].concat();
        assert_eq!(status(&quiet), [(1, nothing()), (0, nothing())], "{quiet:?}");
        let quiet = [options, &["-q", "--diff"]].concat();
        assert_eq!(status(&quiet), [(0, nothing()), (1, nothing())], "{quiet:?}");
        let [same, other] = status(&[options, &["--diff"]].concat());
        assert_eq!(same, (0, nothing()), "{options:?}");
        assert_eq!(other.0, 1, "{options:?}");
    }
}

#[test]
fn times_within_a_tolerance() {
    let folder = pair(WORLD, &later());
    let run = |options: &[&str]| run(&folder, &[options, &FILES].concat()).1;
    for (options, wanted) in [
        (&["--exact"][..], "0\n"),
        (&["--tolerance", "0.4"], "0\n"),
        (&["--tolerance", "0.5"], "1\n"),
        (&["--relative", "0.1"], "0\n"),
        (&["--relative", "0.15"], "1\n"),
    ] {
        assert_eq!(run(options), wanted, "{options:?}");
    }
    // Tolerances are decimal: 0.1 is enough from 0.2 to 0.3, though not in doubles.
    let folder = pair("ctype P 0 P\ncreate 0.2 p P 0 p\n", "ctype P 0 P\ncreate 0.3 p P 0 p\n");
    let (_, answer, _) =
        crate::world::run(&folder, &[&["--tolerance", "0.1"][..], &FILES].concat());
    assert_eq!(answer, "1\n");
}

#[test]
fn wrong_usage() {
    let folder = pair(WORLD, WORLD);
    let wrong: [&[&str]; 5] = [
        &["a.trace"],
        &["a.trace", "b.trace", "a.trace"],
        &["--bogus", "a.trace", "b.trace"],
        &["--st", "1", "a.trace", "b.trace"],
        &["-", "-"],
    ];
    for words in wrong {
        let (status, stdout, stderr) = run(&folder, words);
        assert_eq!((status, stdout.as_str()), (2, ""), "{words:?}");
        assert!(!stderr.is_empty(), "{words:?}");
    }
    let (status, stdout, _) = run(&folder, &["--usage"]);
    assert!(status == 0 && stdout.starts_with("Usage: pj_equals"), "{stdout}");
    let (status, stdout, _) = run(&folder, &["-v"]);
    assert_eq!(
        (status, stdout.as_str()),
        (0, concat!("pj_equals ", env!("CARGO_PKG_VERSION"), "\n"))
    );
    assert!(run(&folder, &["-?"]).1.contains("--tolerance"));
}

#[test]
fn trouble() {
    let folder = pair(WORLD, &format!("{WORLD}set 1 S nobody x\n"));
    let line = trace(WORLD).lines().count() + 1;
    let invalid = format!(
        "pj_equals: b.trace:{line}:9: unknown container 'nobody'; a container must be created before it is \
         used\n {line} | set 1 S nobody x\n     |         ^^^^^^\n"
    );
    for options in [&[][..], &["-q"], &["--diff"], &["--exact"]] {
        let run = |files: [&str; 2]| run(&folder, &[options, &files].concat());
        assert_eq!(run(FILES), (2, String::new(), invalid.clone()), "{options:?}");
        let (status, stdout, stderr) = run(["none", "b.trace"]);
        assert_eq!((status, stdout.as_str()), (2, ""));
        assert_eq!(stderr, "pj_equals: none: No such file or directory\n");
    }
    fs::write(folder.path().join("empty"), "").expect("writable");
    let (status, _, stderr) = run(&folder, &["empty", "empty"]);
    assert_eq!(
        (status, stderr.as_str()),
        (2, "pj_equals: empty: the trace is empty; a trace begins with event definitions\n")
    );
    let disorder = trace(&format!("{WORLD}set 2 S p1 x\n"));
    fs::write(folder.path().join("b.trace"), disorder).expect("writable");
    assert!(run(&folder, &FILES).2.ends_with("sorted by time\n"));
    assert_eq!(run(&folder, &["--sort", "a.trace", "b.trace"]).1, "0\n");
}

#[test]
fn compressed_and_standard_input() {
    let folder = pair(WORLD, WORLD);
    let plain = trace(WORLD);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(plain.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    fs::write(folder.path().join("a.gz"), &gzip).expect("writable");
    let zstd = zstd::encode_all(plain.as_bytes(), 1).expect("memory");
    fs::write(folder.path().join("b.zst"), zstd).expect("writable");
    let equal = (0, "1\n".to_owned(), String::new());
    assert_eq!(run(&folder, &["--exact", "a.gz", "b.zst"]), equal);
    assert_eq!(run(&folder, &["--exact", "--memory-limit", "32M", "a.gz", "a.trace"]), equal);
    let input = File::open(folder.path().join("a.gz")).expect("it is there");
    let output = command(&folder, &["--exact", "b.trace", "-"]).stdin(input).output();
    assert_eq!(outcome(&output.expect("the program starts")), equal);
    fs::write(folder.path().join("cut.gz"), &gzip[..gzip.len() - 9]).expect("writable");
    let (status, stdout, stderr) = run(&folder, &["cut.gz", "a.trace"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(stderr.starts_with("pj_equals: cut.gz: "), "{stderr}");
}

/// Also where what is told does not fit a pipe.
#[test]
fn a_reader_that_leaves() {
    let many = |value: &str| {
        let rows = (0..5000).map(|i| format!("event {} E p1 {value}{i}\n", 10 + i));
        format!("{WORLD}{}", rows.collect::<String>())
    };
    let folder = pair(&many("a"), &many("b"));
    let mut child = command(&folder, &["--diff=100000", "a.trace", "b.trace"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), said.as_str()), (Some(1), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_for_the_answer() {
    let folder = pair(WORLD, &later());
    for options in [&[][..], &["--diff"]] {
        let full = File::options().write(true).open("/dev/full").expect("it is there");
        let both = [options, &FILES].concat();
        let output = command(&folder, &both).stdout(full).output().expect("the program starts");
        let wanted = "pj_equals: standard output: No space left on device\n";
        assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
    }
}

#[test]
fn files_that_a_trace_names() {
    let folder = pair(WORLD, WORLD);
    let part = trace(&WORLD.replace("set 3 S p1 idle\n", ""));
    let naming = "%EventDef PajeTraceFile file\n% Container string\n% Type string\n% Filename string\n\
                  %EndEventDef\nfile p1 P part.trace\n";
    fs::write(folder.path().join("b.trace"), format!("{part}{naming}")).expect("writable");
    fs::write(folder.path().join("part.trace"), "set 3 S p1 idle\n").expect("writable");
    assert_eq!(run(&folder, &["--exact", "a.trace", "b.trace"]), (0, "1\n".into(), String::new()));
    let (_, answer, said) = run(&folder, &["--exact", "--no-files", "a.trace", "b.trace"]);
    assert_eq!(answer, "0\n");
    assert!(said.contains("warning"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_closed() {
    let folder = pair(WORLD, &later());
    for words in ["a.trace b.trace", "--diff a.trace b.trace", "--help", "--usage", "--version"] {
        let program = env!("CARGO_BIN_EXE_pj_equals");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {words} >&-"), program]);
        let output = shell.current_dir(folder.path()).output().expect("it starts");
        let wanted = "pj_equals: standard output: Bad file descriptor\n";
        assert_eq!(outcome(&output), (2, String::new(), wanted.into()), "{words}");
    }
}

#[test]
fn warnings_can_be_silenced() {
    let doubtful = changed(&[("set 3 S p1 idle", "set 3 S p1 idle too many")]);
    let folder = pair(&doubtful, &doubtful);
    assert!(run(&folder, &FILES).2.contains("warning"));
    let silent = (0, "1\n".into(), String::new());
    assert_eq!(run(&folder, &[&["--no-warnings"], &FILES[..]].concat()), silent);
    let output = command(&folder, &FILES).env("PAJE_NO_WARNINGS", "1").output();
    assert_eq!(outcome(&output.expect("it starts")), silent);
}

#[test]
fn a_hint_at_what_was_not_done_yet() {
    let naming = "%EventDef PajeTraceFile file\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n\
                  file 0 0 piece\n";
    let root = changed(&[]) + naming;
    let folder = pair(&root, &root);
    fs::write(folder.path().join("piece"), "set 0 S p1 early\n").unwrap();
    for (options, hint) in [
        (&[][..], "`--sort` compares traces sorted by time\n"),
        (
            &["--sort"],
            "`--sort` sorts each file by itself; events of a container and type must be in time order from \
                       file to file\n",
        ),
    ] {
        let (status, _, stderr) = run(&folder, &[options, &FILES[..]].concat());
        assert_eq!(status, 2);
        assert!(stderr.ends_with(&format!("pj_equals: hint: {hint}")), "{options:?}: {stderr}");
    }
}

#[test]
fn files_that_a_trace_may_not_name() {
    let folder = tempfile::tempdir().unwrap();
    let header = "%EventDef PajeTraceFile file\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n";
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::write(folder.path().join("piece"), "# nothing\n").unwrap();
    for name in FILES {
        let root = format!("{header}{}", "file 0 0 ../piece\n");
        fs::write(folder.path().join("run").join(name), root).unwrap();
    }
    let files = ["run/a.trace", "run/b.trace"];
    let (status, stdout, stderr) = run(&folder, &files);
    let place = folder.path().canonicalize().unwrap().display().to_string();
    let wanted = format!(
        "pj_equals: run/a.trace:6:10: cannot read 'run/../piece': {place}/piece is not below the trace's folder\n"
    );
    assert_eq!((status, &*stdout), (2, ""));
    assert!(stderr.starts_with(&wanted), "{stderr}");
    let hint = format!("pj_equals: hint: `--files-from {place}` lets a trace name files there\n");
    assert!(stderr.ends_with(&hint), "{stderr}");
    let (status, stdout, _) = run(&folder, &[&["--files-from=."][..], &files].concat());
    assert_eq!((status, &*stdout), (0, "1\n"));
}

#[test]
fn names_of_files_are_escaped() {
    let folder = pair(WORLD, WORLD);
    let name = "\u{1b}[31mred.trace";
    let (status, _, stderr) = run(&folder, &["a.trace", name]);
    let shown = "\\u{1b}[31mred.trace";
    let wanted = format!("pj_equals: {shown}: No such file or directory\n");
    assert_eq!((status, stderr), (2, wanted));
    fs::write(folder.path().join(name), trace("pop 1 S p\n")).unwrap();
    let (status, _, stderr) = run(&folder, &["a.trace", name]);
    assert!(status == 2 && stderr.starts_with(&format!("pj_equals: {shown}:")), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "{stderr:?}");
}
