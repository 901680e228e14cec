//! Traces in many files: what is read, in which order, what may be repeated, and where problems are.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use datasets::files::{Style, cut};
use datasets::{Shape, generate, random};
use paje_validate::{Options, Report, Rules, Severity, Summary, check, check_files};
use serde_json::Value;
use splitter::{Folders, Input};
use tempfile::TempDir;

use crate::program::{outcome, run, text};
use crate::world::{header, trace};
use testkit::{COMPRESSIONS, pack};

fn report(path: &Path, options: &Options) -> Report {
    check_files(Input::open(Some(path)).unwrap(), path, Some(&Folders::of([path])), options)
        .unwrap()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Errors, and warnings but for those about what is not used or not closed: file, line, column, code.
fn told(root: &str, files: &[(&str, &str)]) -> Vec<String> {
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

const NONE: [&str; 0] = [];

/// What a trace and its files must have in common.
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
    // What stands below the name is known; the types are those of the root.
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
        // What could be read of it is checked.
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
fn the_definitions_of_a_file() {
    let own =
        "%EventDef PajePopState 10\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
    // Those of the naming file hold, also those below the name, up to the first of the file's own.
    let late = "19 p Process x\n%EventDef PajePopState 30\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
    assert_eq!(told(late, &[("x", "11 0 State p w\n30 1 State p\n")]), NONE);
    let x = format!("11 0 State p w\n{own}10 1 State p\n11 2 State p w\n");
    assert_eq!(told("19 p Process x\n", &[("x", &x)]), ["x:8:1 unknown-id"]);
    // A definition that is wrong puts the others away too.
    let x = "11 0 State p w\n%EventDef PajeNothing 10\n%EndEventDef\n11 0 State p w\n";
    assert_eq!(told("19 p Process x\n", &[("x", x)]), ["x:2:11 unknown-event", "x:4:1 unknown-id"]);
    // Other lines do not.
    let x = "% Time date\n11 0 State p w\n";
    assert_eq!(told("19 p Process x\n", &[("x", x)]), ["x:1:1 not-a-trace"]);
    // They are the file's own: others, and its namer, do not see them.
    let files = [("x", own), ("y", "10 0 State p w\n")];
    assert_eq!(told("19 p Process x\n19 p Process y\n", &files), NONE);
    // A file that ends inside a definition is wrong; one without anything is not.
    let files = [("x", "%EventDef PajePopState 10\n"), ("y", ""), ("z", "# nothing\n\n")];
    let root = "19 p Process x\n19 p Process y\n19 p Process z\n10 1 State p\n";
    assert_eq!(told(root, &files), ["root:4:13 missing-field", "x unfinished-definition"]);
    assert_eq!(told("19 p Process x\n", &[("x", "\u{feff}# marked\n")]), ["x:1:1 byte-order-mark"]);
}

#[test]
fn a_definition_is_unused_if_no_file_uses_it() {
    let other =
        "%EventDef PajePopState 77\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
    let one = format!("{}{other}15 1 Load p 1\n", header());
    let two = format!("{}{other}16 2 Load p 1\n", header());
    let folder = folder(&[("one", &one), ("two", &two)]);
    fs::write(
        folder.path().join("root"),
        trace("14 0 Load p 1\n19 p Process one\n19 p Process two\n"),
    )
    .unwrap();
    let report = report(&folder.path().join("root"), &Options::default());
    assert_eq!((report.errors, report.summary.event_definitions), (0, 22));
    let unused: Vec<_> = report.findings.iter().filter(|it| it.code() == "unused-event").collect();
    let [unused] = unused.as_slice() else {
        panic!("{unused:?}");
    };
    let sentence = unused.cause.to_string();
    for (event, is_unused) in [
        ("PajeAddVariable (15)", false),
        ("PajeSubVariable (16)", false),
        ("PajeNewEvent (9)", true),
    ] {
        assert_eq!(sentence.contains(event), is_unused, "{sentence}");
    }
    // Of 22, the files use 0, 2, 3, 4, 5, 7, 14, 15, 16 and 19.
    assert!(sentence.contains("and 2 more"), "{sentence}");
    assert_eq!((unused.file, unused.position.unwrap().line), (0, 5));
}

/// What another file says again, and what it says otherwise.
#[test]
fn repetitions() {
    let root = "1 Machine 0 m\n6 w State working 0,0,0\n10 0 State p used\n8 1 Process p\n19 q Process x\n";
    let problem = |line: &str| told(root, &[("x", line)]);
    for same in [
        "0 Host 0\n",
        "1 \"Machine\" 0 m\n",
        "2 State Process\n",
        "3 Load Process\n",
        "4 Mark Process\n",
        "5 Message Host Process Process\n",
        "6 w State working 1,1,1\n",
        "6 used State used 0,0,0\n",
        "7 0 h Host 0\n",
        "7 0.0 q Process h\n",
        "8 1 Process p\n",
    ] {
        assert_eq!(problem(same), NONE, "{same}");
    }
    for (other, code) in [
        ("0 Host Process\n", "x:1:3 type-exists"),
        ("1 Computer 0 m\n", "x:1:14 type-exists"),
        ("2 Host 0\n", "x:1:3 type-exists"),
        ("3 State Process\n", "x:1:3 type-exists"),
        ("2 State Host\n", "x:1:3 type-exists"),
        ("5 Message 0 Process Process\n", "x:1:3 type-exists"),
        ("5 Message Host Host Process\n", "x:1:3 type-exists"),
        ("5 Message Host Process Host\n", "x:1:3 type-exists"),
        ("6 w State waiting 0,0,0\n", "x:1:3 value-exists"),
        ("6 used State other 0,0,0\n", "x:1:3 value-exists"),
        ("7 1 q Process h\n", "x:1:5 container-exists"),
        ("7 0 0 Host 0\n", "x:1:5 reserved-container"),
        ("0 0 0\n", "x:1:3 reserved-type"),
        ("8 0.5 Process p\n", "x:1:3 destroyed-too-early"),
        ("8 2 Process p\n", "x:1:13 after-destroy"),
    ] {
        assert_eq!(problem(other), [code], "{other}");
    }
    // Another parent or another type makes another container.
    let other = "0 Task Host\n7 0 q Task h\n";
    assert_eq!(problem(other), ["x:2:5 container-exists"]);
    let root = "7 0 g Host 0\n19 q Process x\n";
    assert_eq!(told(root, &[("x", "7 0 q Process g\n")]), ["x:1:5 container-exists"]);
}

#[test]
fn a_file_says_a_thing_once() {
    let root = "6 w State working 0,0,0\n8 1 Process p\n19 q Process x\n";
    for (twice, code) in [
        ("2 State Process\n", "x:2:3 type-exists"),
        ("6 w State working 0,0,0\n", "x:2:3 value-exists"),
        ("7 0 q Process h\n", "x:2:5 container-exists"),
        ("8 1 Process p\n", "x:2:13 after-destroy"),
    ] {
        assert_eq!(told(root, &[("x", &twice.repeat(2))]), [code]);
        // Not so in several files, nor where the file is the first to say it.
        let files = [("x", twice), ("y", twice)];
        assert_eq!(told(&format!("{root}19 q Process y\n"), &files), NONE);
        assert_eq!(told(&format!("{root}{twice}"), &[("x", "")]).len(), 1, "{twice}");
    }
    for new in ["2 Mode Process\n", "6 new State new 0,0,0\n", "7 0 r Process h\n"] {
        let files = [("x", new), ("y", new)];
        assert_eq!(told("19 q Process x\n19 q Process y\n", &files), NONE, "{new}");
        assert_eq!(told("19 q Process x\n", &[("x", &new.repeat(2))]).len(), 1, "{new}");
    }
    // What a file used first, it cannot define.
    let used = "10 0 State q new\n6 new State new 0,0,0\n";
    assert_eq!(told("19 q Process x\n", &[("x", used)]), ["x:2:3 value-exists"]);
}

#[test]
fn destructions() {
    let event = "10 2 State p w\n";
    // Before any file is named, for all files.
    assert_eq!(told("8 1 Process p\n19 q Process x\n", &[("x", event)]), ["x:1:12 after-destroy"]);
    // Afterwards, for the file's own lines; but what others say later must not be later.
    let root = "19 q Process x\n8 2 Process p\n10 2 State p w\n";
    assert_eq!(told(root, &[("x", event)]), ["root:3:12 after-destroy"]);
    let root = "19 q Process x\n8 1 Process p\n";
    assert_eq!(told(root, &[("x", event)]), ["root:2:3 destroyed-too-early"]);
    // A file that repeats the destruction has its own later lines ignored.
    let repeated = format!("8 1 Process p\n{event}");
    assert_eq!(told(root, &[("x", &repeated)]), ["x:2:12 after-destroy"]);
    // What lived in a container ends with it, for the file that says so.
    let root = "19 q Process x\n19 q Process y\n8 2 Host h\n7 2 r Process h\n";
    let x = "8 2 Host h\n10 2 State p w\n";
    let y = "10 2 State p w\n10 2 State r w\n8 2 Process q\n11 2 State q w\n";
    assert_eq!(told(root, &[("x", x), ("y", y)]), ["x:2:12 after-destroy", "y:4:12 after-destroy"]);
    // What came into it later does not.
    let x = "8 2 Host h\n7 2 r Process h\n10 3 State r w\n";
    assert_eq!(told(root, &[("x", x), ("y", "")]), NONE);
    // What another file has created in it by then ends with it.
    let root = "19 q Process x\n19 q Process y\n";
    let y = "7 1 r Process h\n10 2 State r w\n8 2 Host h\n10 2 State r w\n";
    assert_eq!(told(root, &[("x", "8 2 Host h\n"), ("y", y)]), ["y:4:12 after-destroy"]);
    let y = "8 2 Host h\n7 2 r Process h\n10 2 State r w\n8 2 Host h\n";
    assert_eq!(told(root, &[("x", "8 2 Host h\n"), ("y", y)]), ["y:4:10 after-destroy"]);
    let y = "7 1 r Process h\n17 1 Message h d r k\n8 2 Host h\n8 2 Process r\n10 2 State r w\n";
    assert_eq!(
        told(root, &[("x", "8 2 Host h\n"), ("y", y)]),
        ["y:4:13 after-destroy", "y:5:12 after-destroy", "x:1:10 open-links"]
    );
    // The files that end with the root container, as pieces that are traces by themselves do.
    let files = [("x", "10 1 State p w\n8 5 0 0\n"), ("y", "10 4 State q w\n8 5 0 0\n8 5 0 0\n")];
    assert_eq!(told("19 q Process x\n19 q Process y\n", &files), ["y:3:7 after-destroy"]);
}

#[test]
fn links_may_have_their_ends_in_two_files() {
    let root = "19 h Host x\n19 h Host y\n8 3 Host h\n";
    let (start, end) = ("17 1 Message h d p k\n", "18 2 Message h d q k\n");
    assert_eq!(told(root, &[("x", start), ("y", end)]), NONE);
    assert_eq!(told(root, &[("x", ""), ("y", end)]), ["root:3:10 open-links"]);
    assert_eq!(
        told(root, &[("x", start), ("y", start)]),
        ["y:1:20 key-repeated", "root:3:10 open-links"]
    );
    let folder = folder(&[("x", "\n17 1 Message h d p k\n")]);
    fs::write(folder.path().join("root"), trace("19 h Host x\n")).unwrap();
    let output = run(folder.path(), &["-q", "root"]);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("root: error[open-links]: 1 link is incomplete"), "{stdout}");
    assert!(stdout.contains("the first of them is in line 2 of x"), "{stdout}");
}

#[test]
fn every_time_counts() {
    let end = |root: &str, files: &[(&str, &str)]| {
        let folder = folder(files);
        fs::write(folder.path().join("root"), trace(root)).unwrap();
        report(&folder.path().join("root"), &Options::default()).summary.times
    };
    assert_eq!(end("19 p Process x\n", &[("x", "10 7 State p w\n")]), Some((0.0, 7.0)));
    let timed = "%EventDef PajeTraceFile 30\n% Time date\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n\
        %EventDef PajeDefineStateType 31\n% Time date\n% Name string\n% Type string\n%EndEventDef\n";
    assert_eq!(
        end(&format!("{timed}30 -8 p Process x\n31 9 Mode Host\n"), &[("x", "")]),
        Some((-8.0, 9.0))
    );
    // Where no time is needed, what is none does not count.
    assert_eq!(end(&format!("{timed}31 zz Mode Host\n"), &[]), Some((0.0, 0.0)));
    assert_eq!(told(&format!("{timed}31 zz Mode Host\n"), &[]), NONE);
}

#[test]
fn the_file_of_a_creation() {
    let def = "%EventDef PajeCreateContainer 30\n% Time date\n% Name string\n% Type string\n% Container string\n% Filename string\n%EndEventDef\n";
    let x = "10 0 State r w\n10 1 State s w\n";
    let root = format!("{def}30 0 r Process h x\n30 0 s Process h \"\"\n");
    assert_eq!(told(&root, &[("x", x)]), NONE);
    // A repeated creation may name another file.
    let y = format!("{def}30 0 r Process h z\n");
    let root = format!("{root}19 p Process y\n");
    assert_eq!(told(&root, &[("x", x), ("y", &y), ("z", "99\n")]), ["z:1:1 not-a-trace"]);
    assert_eq!(told(&format!("{def}30 0 r Process h none\n"), &[]), ["root:8:18 unreadable-file"]);
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
    // What a pipe names is below the current folder.
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
