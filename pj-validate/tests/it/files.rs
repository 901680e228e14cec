//! Traces in several files. Tests which files are read, their order, what they may repeat, and the
//! positions of problems.

use std::path::Path;

use datasets::files::{Style, cut};
use datasets::{Shape, generate, random};
use pj_validate::{Options, Report, Rules, Severity, Summary, check, check_files};
use splitter::{Folders, Input};
use tempfile::TempDir;

use crate::world::{header, sandbox, trace};
use testkit::{COMPRESSIONS, Sandbox, outcome, pack};

pub(crate) fn report(path: &Path, options: &Options) -> Report {
    check_files(Input::open(Some(path)).unwrap(), path, Some(&Folders::of([path])), options)
        .unwrap()
}

pub(crate) fn folder(root: &str, files: &[(&str, &str)]) -> Sandbox {
    let folder = sandbox(&[("root", trace(root).as_bytes())]);
    files.iter().for_each(|(name, text)| folder.write(name, text));
    folder
}

/// Returns file, line, column and code of all errors and warnings, except those about unused
/// definitions and open states.
pub(crate) fn told(root: &str, files: &[(&str, &str)]) -> Vec<String> {
    let folder = folder(root, files);
    let report = report(&folder.path("root"), &Options::default());
    let world = trace("").lines().count() as u64;
    let mut all = Vec::new();
    for finding in &report.findings {
        let silent = ["unused-event", "unused-type", "unused-value", "never-closed"];
        if silent.contains(&finding.code()) {
            continue;
        }
        let file = &report.files[finding.file];
        let file = file.path.strip_prefix(folder.path("")).unwrap().display().to_string();
        // Lines of the root count from the end of the common head.
        let above = if file == "root" { world } else { 0 };
        let place = finding.position.map_or(String::new(), |at| {
            format!(":{}:{}", at.line.saturating_sub(above), at.column)
        });
        all.push(format!("{file}{place} {}", finding.code()));
    }
    all
}

pub(crate) const NONE: [&str; 0] = [];

/// Returns the number of errors, and the part of the summary that does not depend on the number of
/// files.
fn gist(report: &Report) -> (Summary, u64) {
    let mut summary = report.summary.clone();
    (summary.lines, summary.bytes, summary.event_definitions) = (0, 0, 0);
    (summary, report.errors)
}

#[test]
fn generated_traces_are_equal_in_every_style() {
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
fn random_traces_are_equal_in_every_style() {
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
fn the_example_in_files_is_valid() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/files");
    let read = |name: &str| report(&files.join(name), &Options::default());
    let (whole, root) = (read("whole.trace"), read("root.trace"));
    assert_eq!(whole.files.len(), 1);
    // Containers are created in another order than in PajeNG.
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
fn a_problem_in_a_piece_is_reported_with_its_line() {
    let piece = "10 0 State p w\n\n10 1 State r w\n14 zz Load p 1\n";
    assert_eq!(
        told("19 p Process a/piece\n10 5 State q w\n10 4 State q w\n", &[("a/piece", piece)]),
        ["root:3:4 not-time-ordered", "a/piece:3:12 unknown-container", "a/piece:4:4 bad-time"]
    );
}

#[test]
fn the_container_of_a_file_must_be_known() {
    let piece = &[("x", "10 0 State p w\n")];
    assert_eq!(told("19 p Process x\n", piece), NONE);
    assert_eq!(told("19 p Task x\n", piece), ["root:1:6 unknown-type"]);
    assert_eq!(told("19 r Process x\n", piece), ["root:1:4 unknown-container"]);
    assert_eq!(told("19 p Host x\n", piece), ["root:1:6 wrong-container-type"]);
    assert_eq!(told("19 0 0 x\n", piece), NONE);
    // An empty name names no file.
    assert_eq!(
        told("19 p Process \"\"\n19 p Host \"\"\n", piece),
        ["root:2:6 wrong-container-type"]
    );
}

#[test]
fn files_are_read_after_the_file_that_names_them() {
    // Lines after the name are known too. The types are those of the root.
    let root = "19 p Process x\n19 q Process y\n7 0 r Process h\n2 Mode Process\n";
    let x = "10 0 Mode r w\n19 r Process z\n";
    // `y` is named before `z`, so `y` is read first.
    assert_eq!(told(root, &[("x", x), ("y", "10 2 Mode r w\n"), ("z", "10 3 Mode r w\n")]), NONE);
    assert_eq!(
        told(root, &[("x", x), ("y", "10 2 Mode r w\n"), ("z", "10 1 Mode r w\n")]),
        ["z:1:4 not-time-ordered"]
    );
    // A file is read once, even if it is named several times and in several files.
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
fn files_that_name_themselves_are_errors() {
    assert_eq!(
        told("19 p Process root\n19 q Process ./root\n", &[]),
        ["root:1:14 file-cycle", "root:2:14 file-cycle"]
    );
    assert_eq!(told("19 p Process x\n", &[("x", "\n19 p Process x\n")]), ["x:2:14 file-cycle"]);
    let files = [("x", "19 p Process d/y\n"), ("d/y", "19 p Process ../x\n19 p Process ../root\n")];
    assert_eq!(told("19 p Process x\n", &files), ["d/y:1:14 file-cycle", "d/y:2:14 file-cycle"]);
    // Two files that name each other form no cycle if both were named before.
    let files = [("x", "19 p Process y\n"), ("y", "19 p Process x\n")];
    assert_eq!(told("19 p Process x\n19 p Process y\n", &files), NONE);
}

#[test]
fn standard_input_and_compressed_pieces_are_read() {
    let folder = sandbox(&[]);
    let trace = generate(Shape::Mpi, 20_000, 3);
    let files = cut(&trace, Style::Bare, 4);
    for (piece, how) in files.pieces.iter().zip(COMPRESSIONS) {
        folder.write(&piece.name, pack(how, &piece.bytes));
    }
    folder.write("root.trace", pack("gzip", &files.root));
    let found = report(&folder.path("root.trace"), &Options::default());
    assert_eq!(gist(&found), gist(&check(&trace[..], &Options::default()).unwrap()));
    let (_, plain, _) = folder.run(&["root.trace"]);
    let (status, piped, stderr) = outcome(&folder.shell("pj_validate < root.trace"));
    assert_eq!((status, &*stderr), (0, ""));
    assert!(piped.contains("files              5\n"), "{piped}");
    let tail = |text: &str| text[text.find("files  ").unwrap()..].replace("<stdin>", "root.trace");
    assert_eq!(tail(&piped), tail(&plain));
}

#[test]
fn few_files_are_open_at_a_time() {
    let folder = sandbox(&[]);
    let count = 3000;
    let mut side = String::new();
    for i in 0..count {
        side.push_str(&format!("7 0 c{i} Process h\n19 c{i} Process side/{i}\n"));
        let head = if i % 3 == 0 { header() } else { String::new() };
        folder.write(format!("side/{i}"), format!("{head}10 0 State c{i} w\n12 {i} State c{i}\n"));
        let next = if i + 1 < count { format!("19 p Process {}\n", i + 1) } else { String::new() };
        folder.write(format!("deep/{i}"), format!("9 {i} Mark p m\n{next}"));
    }
    folder.write("side.trace", trace(&side));
    folder.write("deep.trace", trace("19 p Process deep/0\n"));
    for (name, counted) in
        [("side.trace", "states             3000"), ("deep.trace", "events             3000")]
    {
        let output = folder.shell(&format!("ulimit -n 16; exec \"$0\" {name}"));
        let (status, stdout, stderr) = outcome(&output);
        assert_eq!((status, &*stderr), (0, ""), "{stdout}");
        assert!(stdout.contains("files              3001\n"), "{stdout}");
        assert!(stdout.contains(counted), "{stdout}");
    }
}

#[test]
fn the_first_error_is_the_first_in_the_order_of_reading() {
    let root = "19 p Process x\n19 p Process y\n17 0 Message h d p k\n10 1 State r w\n";
    let folder = folder(root, &[("x", "99\n"), ("y", "98\n")]);
    let report = report(&folder.path("root"), &Options::default());
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<(usize, &str)> = errors.map(|finding| (finding.file, finding.code())).collect();
    let wanted =
        [(0, "unknown-container"), (1, "not-a-trace"), (2, "not-a-trace"), (0, "open-links")];
    assert_eq!(errors, wanted);
}

#[test]
fn one_hint_is_printed_about_old_names() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/old-names.trace");
    let (_, stdout, _) = sandbox(&[]).run(&["-q", example.to_str().unwrap()]);
    assert!(stdout.matches("name that older traces use").count() > 1, "{stdout}");
    assert_eq!(stdout.matches("`-n`").count(), 1, "{stdout}");
    assert!(stdout.ends_with("hint: `-n` reads the field names of older traces\n"), "{stdout}");
}
