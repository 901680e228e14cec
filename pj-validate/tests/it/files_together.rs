//! Tests of several files together: definitions, repetitions, and the ends of links and containers.

use pj_validate::Options;

use crate::files::{NONE, folder, report, told};
use crate::world::header;

#[test]
fn a_file_inherits_definitions_until_it_has_its_own() {
    let own =
        "%EventDef PajePopState 10\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
    // The definitions of the naming file hold until the first definition in the file itself.
    // Definitions after the line that names the file hold too.
    let late = "19 p Process x\n%EventDef PajePopState 30\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
    assert_eq!(told(late, &[("x", "11 0 State p w\n30 1 State p\n")]), NONE);
    let x = format!("11 0 State p w\n{own}10 1 State p\n11 2 State p w\n");
    assert_eq!(told("19 p Process x\n", &[("x", &x)]), ["x:8:1 unknown-id"]);
    // A faulty definition also replaces the inherited ones.
    let x = "11 0 State p w\n%EventDef PajeNothing 10\n%EndEventDef\n11 0 State p w\n";
    assert_eq!(told("19 p Process x\n", &[("x", x)]), ["x:2:11 unknown-event", "x:4:1 unknown-id"]);
    // Other faulty lines do not replace them.
    let x = "% Time date\n11 0 State p w\n";
    assert_eq!(told("19 p Process x\n", &[("x", x)]), ["x:1:1 not-a-trace"]);
    // A file's own definitions hold neither in other files nor in the naming file.
    let files = [("x", own), ("y", "10 0 State p w\n")];
    assert_eq!(told("19 p Process x\n19 p Process y\n", &files), NONE);
    // A file that ends inside a definition is an error, but an empty file is not.
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
    let root = "14 0 Load p 1\n19 p Process one\n19 p Process two\n";
    let folder = folder(root, &[("one", &one), ("two", &two)]);
    let report = report(&folder.path("root"), &Options::default());
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
    // The files use the definitions 0, 2, 3, 4, 5, 7, 14, 15, 16 and 19.
    assert!(sentence.contains("and 2 more"), "{sentence}");
    assert_eq!((unused.file, unused.position.unwrap().line), (0, 5));
}

#[test]
fn files_may_repeat_one_another_exactly() {
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
    // The same name with another parent or type is another container.
    let other = "0 Task Host\n7 0 q Task h\n";
    assert_eq!(problem(other), ["x:2:5 container-exists"]);
    let root = "7 0 g Host 0\n19 q Process x\n";
    assert_eq!(told(root, &[("x", "7 0 q Process g\n")]), ["x:1:5 container-exists"]);
}

#[test]
fn a_file_reports_a_problem_once() {
    let root = "6 w State working 0,0,0\n8 1 Process p\n19 q Process x\n";
    for (twice, code) in [
        ("2 State Process\n", "x:2:3 type-exists"),
        ("6 w State working 0,0,0\n", "x:2:3 value-exists"),
        ("7 0 q Process h\n", "x:2:5 container-exists"),
        ("8 1 Process p\n", "x:2:13 after-destroy"),
    ] {
        assert_eq!(told(root, &[("x", &twice.repeat(2))]), [code]);
        // Several files may repeat the line.
        let files = [("x", twice), ("y", twice)];
        assert_eq!(told(&format!("{root}19 q Process y\n"), &files), NONE);
        assert_eq!(told(&format!("{root}{twice}"), &[("x", "")]).len(), 1, "{twice}");
    }
    for new in ["2 Mode Process\n", "6 new State new 0,0,0\n", "7 0 r Process h\n"] {
        let files = [("x", new), ("y", new)];
        assert_eq!(told("19 q Process x\n19 q Process y\n", &files), NONE, "{new}");
        assert_eq!(told("19 q Process x\n", &[("x", &new.repeat(2))]).len(), 1, "{new}");
    }
    // A file cannot define a value that it used before.
    let used = "10 0 State q new\n6 new State new 0,0,0\n";
    assert_eq!(told("19 q Process x\n", &[("x", used)]), ["x:2:3 value-exists"]);
}

#[test]
fn destructions_affect_files_by_their_order() {
    let event = "10 2 State p w\n";
    // Before any file is named, a destruction holds for all files.
    assert_eq!(told("8 1 Process p\n19 q Process x\n", &[("x", event)]), ["x:1:12 after-destroy"]);
    // Afterwards, it holds for later lines of the same file. Lines of other files are read, but
    // must not be later than the destruction.
    let root = "19 q Process x\n8 2 Process p\n10 2 State p w\n";
    assert_eq!(told(root, &[("x", event)]), ["root:3:12 after-destroy"]);
    let root = "19 q Process x\n8 1 Process p\n";
    assert_eq!(told(root, &[("x", event)]), ["root:2:3 destroyed-too-early"]);
    // If a file repeats the destruction, later lines of this file are ignored.
    let repeated = format!("8 1 Process p\n{event}");
    assert_eq!(told(root, &[("x", &repeated)]), ["x:2:12 after-destroy"]);
    // If a file destroys a container, the children end with it.
    let root = "19 q Process x\n19 q Process y\n8 2 Host h\n7 2 r Process h\n";
    let x = "8 2 Host h\n10 2 State p w\n";
    let y = "10 2 State p w\n10 2 State r w\n8 2 Process q\n11 2 State q w\n";
    assert_eq!(told(root, &[("x", x), ("y", y)]), ["x:2:12 after-destroy", "y:4:12 after-destroy"]);
    // A child created later does not end.
    let x = "8 2 Host h\n7 2 r Process h\n10 3 State r w\n";
    assert_eq!(told(root, &[("x", x), ("y", "")]), NONE);
    // A child that the file created before the destruction ends too.
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
    // Files may end with the destruction of the root, as pieces do that are complete traces.
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
    let folder = folder("19 h Host x\n", &[("x", "\n17 1 Message h d p k\n")]);
    let (_, stdout, _) = folder.run(&["-q", "root"]);
    assert!(stdout.contains("root: error[open-links]: 1 link is incomplete"), "{stdout}");
    assert!(stdout.contains("the first of them is in line 2 of x"), "{stdout}");
}

#[test]
fn every_time_counts() {
    let end = |root: &str, files: &[(&str, &str)]| {
        report(&folder(root, files).path("root"), &Options::default()).summary.times
    };
    assert_eq!(end("19 p Process x\n", &[("x", "10 7 State p w\n")]), Some((0.0, 7.0)));
    let timed = "%EventDef PajeTraceFile 30\n% Time date\n% Container string\n% Type string\n% Filename string\n%EndEventDef\n\
        %EventDef PajeDefineStateType 31\n% Time date\n% Name string\n% Type string\n%EndEventDef\n";
    assert_eq!(
        end(&format!("{timed}30 -8 p Process x\n31 9 Mode Host\n"), &[("x", "")]),
        Some((-8.0, 9.0))
    );
    // An invalid time does not count if the event needs no time.
    assert_eq!(end(&format!("{timed}31 zz Mode Host\n"), &[]), Some((0.0, 0.0)));
    assert_eq!(told(&format!("{timed}31 zz Mode Host\n"), &[]), NONE);
}

#[test]
fn a_creation_may_name_a_file() {
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
