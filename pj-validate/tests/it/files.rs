//! Traces in many files: what is read, in which order, what may be repeated, and where problems are.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use datasets::files::{Style, cut};
use datasets::{Shape, generate, random};
use pj_validate::{Options, Report, Rules, Severity, Summary, check, check_files};
use serde_json::Value;
use splitter::{Folders, Input};
use tempfile::TempDir;

use crate::program::{outcome, run, text};
use crate::world::{header, trace};
use testkit::{COMPRESSIONS, pack};

pub(crate) fn report(path: &Path, options: &Options) -> Report {
    check_files(Input::open(Some(path)).unwrap(), path, Some(&Folders::of([path])), options)
        .unwrap()
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Errors, and warnings but for those about what is not used or not closed: file, line, column, code.
pub(crate) fn told(root: &str, files: &[(&str, &str)]) -> Vec<String> {
    let folder = folder(files);
    fs::write(folder.path().join("root"), trace(root)).unwrap();
    let report = report(&folder.path().join("root"), &Options::default());
    let world = trace("").lines().count() as u64;
    let mut all = Vec::new();
    for finding in &report.findings {
        let silent = ["unused-event", "unused-type", "unused-value", "never-closed"];
        if silent.contains(&finding.code()) {
            continue;
        }
        let file = &report.files[finding.file];
        let file = file.path.strip_prefix(folder.path()).unwrap().display().to_string();
        // Lines of the root count from the end of the world.
        let above = if file == "root" { world } else { 0 };
        let place = finding.position.map_or(String::new(), |at| {
            format!(":{}:{}", at.line.saturating_sub(above), at.column)
        });
        all.push(format!("{file}{place} {}", finding.code()));
    }
    all
}

pub(crate) const NONE: [&str; 0] = [];

/// Summary and number of errors that a trace and its files must have in common.
fn gist(report: &Report) -> (Summary, u64) {
    let mut summary = report.summary.clone();
    (summary.lines, summary.bytes, summary.event_definitions) = (0, 0, 0);
    (summary, report.errors)
}

#[test]
fn generated_traces_in_every_style() {
    let folder = TempDir::new().unwrap();
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        let trace = generate(shape, 30_000, 1);
        let whole = check(&trace[..], &Options::default()).unwrap();
        assert!(whole.is_valid(), "{shape}");
        for style in Style::ALL {
            for pieces in [1, 3, 1000] {
                let files = cut(&trace, style, pieces);
                let folder = folder.path().join(format!("{shape}-{style}-{pieces}"));
                files.write(&folder).unwrap();
                let found = report(&folder.join("root.trace"), &Options::default());
                assert_eq!(gist(&found), gist(&whole), "{shape}, {style}, {pieces}");
                assert_eq!(found.files.len(), files.pieces.len() + 1, "{shape}, {style}, {pieces}");
                for piece in files.pieces.iter().filter(|_| style == Style::Full) {
                    let alone = check(&piece.bytes[..], &Options::default()).unwrap();
                    assert!(alone.is_valid(), "{shape}, {pieces}, {}", piece.name);
                }
            }
        }
    }
}

#[test]
fn random_traces_in_every_style() {
    let folder = TempDir::new().unwrap();
    let mut valid = 0;
    for seed in 0..300 {
        let random = random::trace(seed);
        let has = |short: &str, long: &str| random.options.iter().any(|o| o == short || o == long);
        let mut options = Options::default();
        if has("-n", "--no-strict") {
            options.field_names = paje_parser::FieldNames::Old;
        }
        options.ignore_incomplete_links = has("-z", "--ignore-incomplete-links");
        options.rules = Rules::Replay;
        let whole = check(&random.bytes[..], &options).unwrap();
        if !whole.is_valid() {
            continue;
        }
        valid += 1;
        for style in Style::ALL {
            let files = cut(&random.bytes, style, 1 + seed as usize % 6);
            let folder = folder.path().join(format!("{seed}-{style}"));
            files.write(&folder).unwrap();
            let found = report(&folder.join("root.trace"), &options);
            let first = found.first_error();
            assert_eq!(gist(&found), gist(&whole), "seed {seed}, {style}: {first:?}");
        }
    }
    assert!(valid > 150, "{valid}");
}

#[test]
fn the_example() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/files");
    let read = |name: &str| report(&files.join(name), &Options::default());
    let (whole, root) = (read("whole.trace"), read("root.trace"));
    assert_eq!(whole.files.len(), 1);
    // PajeNG's order of containers is another one than that of their creation, which differs here.
    let counts = |report: &Report| {
        let Summary { types, states, links, times, containers, .. } = report.summary.clone();
        let mut names: Vec<Vec<u8>> = containers.into_iter().map(|it| it.name).collect();
        names.sort();
        (types, states, links, times, names, report.errors)
    };
    assert_eq!(counts(&root), counts(&whole));
    let names = root.files.iter().map(|file| file.path.strip_prefix(&files).unwrap());
    let names: Vec<&str> = names.map(|name| name.to_str().unwrap()).collect();
    assert_eq!(names, ["root.trace", "more/messages.trace", "ping.trace", "more/pong.trace"]);
}

#[test]
fn a_problem_in_a_piece_is_told_with_its_place() {
    let piece = "10 0 State p w\n\n10 1 State r w\n14 zz Load p 1\n";
    assert_eq!(
        told("19 p Process a/piece\n10 5 State q w\n10 4 State q w\n", &[("a/piece", piece)]),
        ["root:3:4 not-time-ordered", "a/piece:3:12 unknown-container", "a/piece:4:4 bad-time"]
    );
    // Of the same problem in several files, the first is told, with the last.
    let folder =
        folder(&[("one", "10 0 State r w\n"), ("two", "10 0 State p w\n10 1 State r w\n")]);
    fs::write(folder.path().join("root"), trace("19 p Process one\n19 p Process two\n")).unwrap();
    let output = run(folder.path(), &["-q", "root"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (1, ""));
    let wanted = "\
one:1:12: error[unknown-container]: unknown container 'r'; a container must be created before it is used
 1 | 10 0 State r w
   |            ^
   = 1 more time, last in line 2 of two
";
    assert!(stdout.contains(wanted), "{stdout}");
    let output = run(folder.path(), &["--json", "root"]);
    let lines = text(&output.stdout).lines();
    let objects: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = objects.iter().find(|object| object["severity"] == "error").unwrap();
    assert_eq!([&error["file"], &error["last_file"]], ["one", "two"]);
    assert_eq!((&error["line"], &error["last_line"]), (&1.into(), &2.into()));
    let summary = objects.last().unwrap();
    assert_eq!((&summary["file"], &summary["errors"]), (&"root".into(), &2.into()));
    assert_eq!(summary["files"][2]["file"], "two");
    assert_eq!(summary["files"][2]["lines"], 2);
    let lines: u64 = (0..3).map(|i| summary["files"][i]["lines"].as_u64().unwrap()).sum();
    assert_eq!(summary["lines"], lines);
}

#[test]
fn lines_of_every_file_are_shown_when_they_have_passed() {
    let folder = folder(&[("d/piece", "11 1 State p w\n")]);
    fs::write(folder.path().join("d/root"), trace("19 p Process piece\n11 1 State q w\n")).unwrap();
    let output = run(folder.path(), &["-q", "d/root"]);
    let stdout = text(&output.stdout);
    // The state that was opened first stands in the root.
    assert!(stdout.contains("| 11 1 State q w\n"), "{stdout}");
    fs::write(folder.path().join("d/root"), trace("19 p Process piece\n")).unwrap();
    let output = run(folder.path(), &["-q", "d/root"]);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("d/piece:1:1: warning[never-closed]"), "{stdout}");
    assert!(stdout.contains("| 11 1 State p w\n"), "{stdout}");
}

#[test]
fn the_container_of_a_file_must_be_known() {
    let piece = &[("x", "10 0 State p w\n")];
    assert_eq!(told("19 p Process x\n", piece), NONE);
    assert_eq!(told("19 p Task x\n", piece), ["root:1:6 unknown-type"]);
    assert_eq!(told("19 r Process x\n", piece), ["root:1:4 unknown-container"]);
    assert_eq!(told("19 p Host x\n", piece), ["root:1:6 wrong-container-type"]);
    assert_eq!(told("19 0 0 x\n", piece), NONE);
    // An empty name names nothing.
    assert_eq!(
        told("19 p Process \"\"\n19 p Host \"\"\n", piece),
        ["root:2:6 wrong-container-type"]
    );
}

#[test]
fn files_are_read_when_the_one_that_names_them_has_ended() {
    // Lines below the name are known; the types are those of the root.
    let root = "19 p Process x\n19 q Process y\n7 0 r Process h\n2 Mode Process\n";
    let x = "10 0 Mode r w\n19 r Process z\n";
    // `y` was named before `z`, and is read before it.
    assert_eq!(told(root, &[("x", x), ("y", "10 2 Mode r w\n"), ("z", "10 3 Mode r w\n")]), NONE);
    assert_eq!(
        told(root, &[("x", x), ("y", "10 2 Mode r w\n"), ("z", "10 1 Mode r w\n")]),
        ["z:1:4 not-time-ordered"]
    );
    // A file is read once, however often and from wherever it is named.
    let twice = "19 p Process x\n19 q Process ./x\n19 q Process y\n";
    let y = "19 q Process x\n";
    assert_eq!(told(twice, &[("x", "9 1 Mark p m\n9 1 Mark p m\n"), ("y", y)]), NONE);
}

#[test]
fn names_are_relative_to_the_folder_of_the_file() {
    let files = [("a/x", "19 p Process b/y\n"), ("a/b/y", "19 p Process ../../z\n"), ("z", "99\n")];
    assert_eq!(told("19 p Process a/x\n", &files), ["a/b/../../z:1:1 not-a-trace"]);
}

#[test]
fn files_that_lead_back_to_themselves() {
    assert_eq!(
        told("19 p Process root\n19 q Process ./root\n", &[]),
        ["root:1:14 file-cycle", "root:2:14 file-cycle"]
    );
    assert_eq!(told("19 p Process x\n", &[("x", "\n19 p Process x\n")]), ["x:2:14 file-cycle"]);
    let files = [("x", "19 p Process d/y\n"), ("d/y", "19 p Process ../x\n19 p Process ../root\n")];
    assert_eq!(told("19 p Process x\n", &files), ["d/y:1:14 file-cycle", "d/y:2:14 file-cycle"]);
    // Who names what another one names too is in no circle: neither is read because of the other.
    let files = [("x", "19 p Process y\n"), ("y", "19 p Process x\n")];
    assert_eq!(told("19 p Process x\n19 p Process y\n", &files), NONE);
}

#[test]
fn files_that_cannot_be_read() {
    let gzip = pack("gzip", b"10 0 State p w\n10 zz State p w\n");
    let folder = folder(&[("d/e", ""), ("last", "10 0 State p w\n10 yy State p w\n")]);
    fs::write(folder.path().join("cut"), &gzip[..gzip.len() - 9]).unwrap();
    let root = "19 p Process d\n19 p Process none\n19 q Process none\n19 p Process cut\n19 p Process last\n";
    fs::write(folder.path().join("root"), trace(root)).unwrap();
    let output = run(folder.path(), &["-q", "root"]);
    let (status, stdout, stderr) = outcome(&output);
    assert_eq!((status, stderr), (1, ""));
    let line = trace("").lines().count();
    let errors: Vec<&str> = stdout.lines().filter(|line| line.contains("error[")).collect();
    let wanted = [
        format!("root:{}:14: error[unreadable-file]: cannot read 'd': Is a directory", line + 1),
        format!(
            "root:{}:14: error[unreadable-file]: cannot read 'none': No such file or directory",
            line + 2
        ),
        format!(
            "root:{}:14: error[unreadable-file]: cannot read 'cut': gzip: the compressed data end too early",
            line + 4
        ),
        // The part of it that could be read is checked.
        "cut:2:4: error[bad-time]: 'zz' is not a time; expected a finite number of seconds".into(),
        "last:2:4: error[bad-time]: 'yy' is not a time; expected a finite number of seconds".into(),
    ];
    assert_eq!(errors, wanted, "{stdout}");
    assert!(stdout.contains("1 more time, last in line"), "{stdout}");
    assert!(stdout.contains("| 19 p Process cut\n"), "the naming line is shown: {stdout}");
    // A name that no file can have.
    assert_eq!(told("19 p Process a\0b\n", &[]), ["root:1:14 unreadable-file"]);
}

#[test]
fn files_that_are_not_to_be_read() {
    let folder = folder(&[("x", "99\n")]);
    fs::write(folder.path().join("root"), trace("19 p Process x\n19 p Nothing none\n")).unwrap();
    let output = run(folder.path(), &["-q", "--no-files", "root"]);
    let (status, stdout, _) = outcome(&output);
    assert_eq!(status, 0);
    assert!(
        stdout.contains(
            "warning[file-not-read]: the trace file that PajeTraceFile (19) names here is not read"
        ),
        "{stdout}"
    );
    let output = run(folder.path(), &["-q", "root"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!text(&output.stdout).contains("file-not-read"));
}

#[test]
fn standard_input_and_compressed_pieces() {
    let folder = TempDir::new().unwrap();
    let trace = generate(Shape::Mpi, 20_000, 3);
    let files = cut(&trace, Style::Bare, 4);
    for (piece, how) in files.pieces.iter().zip(COMPRESSIONS) {
        fs::write(folder.path().join(&piece.name), pack(how, &piece.bytes)).unwrap();
    }
    fs::write(folder.path().join("root.trace"), pack("gzip", &files.root)).unwrap();
    let found = report(&folder.path().join("root.trace"), &Options::default());
    assert_eq!(gist(&found), gist(&check(&trace[..], &Options::default()).unwrap()));
    let plain = run(folder.path(), &["root.trace"]);
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"));
    let root = fs::File::open(folder.path().join("root.trace")).unwrap();
    let piped = program.current_dir(folder.path()).stdin(Stdio::from(root)).output().unwrap();
    let (status, stdout, stderr) = outcome(&piped);
    assert_eq!((status, stderr), (0, ""));
    assert!(stdout.contains("files              5\n"), "{stdout}");
    let tail = |text: &str| text[text.find("files  ").unwrap()..].replace("<stdin>", "root.trace");
    assert_eq!(tail(stdout), tail(text(&plain.stdout)));
    // A file with the name of standard input is a file.
    fs::write(folder.path().join("-"), "99\n").unwrap();
    fs::write(folder.path().join("root"), crate::world::trace("19 p Process -\n")).unwrap();
    let output = run(folder.path(), &["-q", "root"]);
    assert!(text(&output.stdout).contains("-:1:1: error[not-a-trace]"), "{}", text(&output.stdout));
}

/// Thousands of files, side by side and each in the one before, with few descriptors.
#[test]
#[cfg(unix)]
fn few_files_are_open_at_a_time() {
    let folder = TempDir::new().unwrap();
    let count = 3000;
    let mut side = String::new();
    for i in 0..count {
        side.push_str(&format!("7 0 c{i} Process h\n19 c{i} Process side/{i}\n"));
    }
    fs::create_dir(folder.path().join("side")).unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    for i in 0..count {
        let piece = format!(
            "{}10 0 State c{i} w\n12 {i} State c{i}\n",
            if i % 3 == 0 { header() } else { String::new() }
        );
        fs::write(folder.path().join(format!("side/{i}")), piece).unwrap();
        let next = if i + 1 < count { format!("19 p Process {}\n", i + 1) } else { String::new() };
        fs::write(folder.path().join(format!("deep/{i}")), format!("9 {i} Mark p m\n{next}"))
            .unwrap();
    }
    fs::write(folder.path().join("side.trace"), trace(&side)).unwrap();
    fs::write(folder.path().join("deep.trace"), trace("19 p Process deep/0\n")).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("pj_validate");
    for (name, counted) in
        [("side.trace", "states             3000"), ("deep.trace", "events             3000")]
    {
        let output = Command::new("sh")
            .arg("-c")
            .arg("ulimit -n 16; exec \"$0\" \"$1\"")
            .arg(program)
            .arg(name)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let (status, stdout, stderr) = outcome(&output);
        assert_eq!((status, stderr), (0, ""), "{stdout}");
        assert!(stdout.contains("files              3001\n"), "{stdout}");
        assert!(stdout.contains(counted), "{stdout}");
    }
}

#[test]
fn the_first_error_is_the_first_in_the_order_of_reading() {
    let folder = folder(&[("x", "99\n"), ("y", "98\n")]);
    let root = "19 p Process x\n19 p Process y\n17 0 Message h d p k\n10 1 State r w\n";
    fs::write(folder.path().join("root"), trace(root)).unwrap();
    let report = report(&folder.path().join("root"), &Options::default());
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<(usize, &str)> = errors.map(|finding| (finding.file, finding.code())).collect();
    let wanted =
        [(0, "unknown-container"), (1, "not-a-trace"), (2, "not-a-trace"), (0, "open-links")];
    assert_eq!(errors, wanted);
}

/// Nothing is shown of a file that has nothing to do with the trace; all its lines are one finding.
#[test]
fn what_is_no_trace_is_not_shown() {
    let secret = "root:$6$salt$hash:1::\nbackup:*:hash\n% hash\n10 hash State p w more\n";
    let folder = folder(&[("x", secret)]);
    fs::write(folder.path().join("root"), trace("19 p Process x\n")).unwrap();
    let output = run(folder.path(), &["-q", "root"]);
    let (status, stdout, _) = outcome(&output);
    assert_eq!(status, 1);
    let wanted = "x:1:1: error[not-a-trace]: this is no line of a Pajé trace; of a file that a trace names, \
                  nothing is shown before a line makes sense\n   = 3 more times, last in line 4\n";
    assert!(stdout.contains(wanted) && !stdout.contains("hash"), "{stdout}");
    // From the first that makes sense on, lines are.
    let x = "what\n10 0 State p w\nwhat else\n";
    assert_eq!(told("19 p Process x\n", &[("x", x)]), ["x:1:1 not-a-trace", "x:3:1 unknown-id"]);
}

#[test]
fn files_that_may_not_be_named() {
    let folder = folder(&[("secret", "10 0 State p w\n"), ("run/y", "10 0 State q w\n")]);
    let root = "19 p Process ../secret\n19 q Process /dev/zero\n19 q Process y\n";
    fs::write(folder.path().join("run/root"), trace(root)).unwrap();
    let output = run(folder.path(), &["-q", "run/root"]);
    let (status, stdout, _) = outcome(&output);
    let place = folder.path().canonicalize().unwrap().display().to_string();
    let wanted = [
        format!("cannot read 'run/../secret': {place}/secret is not below the trace's folder\n"),
        format!("= --files-from {place} allows it\n"),
        "cannot read '/dev/zero': /dev/zero is not below the trace's folder\n".to_owned(),
    ];
    assert_eq!(status, 1);
    assert!(wanted.iter().all(|part| stdout.contains(part)), "{stdout}");
    let all = ["-q", "--files-from", ".", "--files-from=/dev", "run/root"];
    let output = run(folder.path(), &all);
    let stdout = text(&output.stdout);
    assert!(!stdout.contains("cannot read 'run/../secret'"), "{stdout}");
    assert!(stdout.contains("it is a device; a trace may name regular files only"), "{stdout}");
    // Files that a pipe names are below the current folder.
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"));
    let stdin = fs::File::open(folder.path().join("run/root")).unwrap();
    let output = program.current_dir(folder.path()).stdin(Stdio::from(stdin)).output().unwrap();
    assert!(text(&output.stdout).contains("error[unreadable-file]: cannot read 'y'"));
}

#[test]
fn names_of_files_are_escaped() {
    let folder = folder(&[("x", "10 zz State p w\n")]);
    let name = "\u{1b}[31mred.trace";
    let output = run(folder.path(), &[name]);
    let shown = "\\u{1b}[31mred.trace";
    let wanted = format!("pj_validate: {shown}: No such file or directory\n");
    assert_eq!(outcome(&output), (2, "", &*wanted));
    fs::write(folder.path().join(name), trace("10 zz State p w\n")).unwrap();
    for arguments in [&[name][..], &["--json", name]] {
        let output = run(folder.path(), arguments);
        let (status, stdout, _) = outcome(&output);
        assert!(status == 1 && !stdout.contains('\u{1b}'), "{stdout:?}");
        let verdict = format!("\n{shown} is not sound");
        assert!(arguments.len() == 2 || stdout.contains(&verdict), "{stdout}");
    }
}

#[test]
fn old_names_are_hinted_at_once() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/old-names.trace");
    let output = run(Path::new("."), &["-q", example.to_str().unwrap()]);
    let stdout = text(&output.stdout);
    assert!(stdout.matches("name that this had in older traces").count() > 1, "{stdout}");
    assert_eq!(stdout.matches("`-n`").count(), 1, "{stdout}");
    assert!(stdout.ends_with("hint: `-n` reads the field names of older traces\n"), "{stdout}");
}
