//! Units of time: the same run gives the same report, whatever unit its trace uses.

use std::fs;

use super::cli::{program, run, text};

const MPI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");

/// Returns the example with its times in another unit of ten to the `digits` per second. Moves the
/// decimal point, which rounds nothing.
fn in_unit(digits: usize) -> String {
    let original = fs::read_to_string(MPI).expect("the example");
    let mut scaled = String::new();
    for line in original.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let is_timed = words[0].parse::<u32>().is_ok_and(|kind| kind >= 6);
        if is_timed {
            let (whole, part) = words[1].split_once('.').unwrap_or((&words[1], ""));
            let part = format!("{part:0<width$}", width = digits.max(part.len()));
            words[1] = format!("{whole}{}.{}", &part[..digits], &part[digits..]);
        }
        scaled += &words.join(" ");
        scaled.push('\n');
    }
    scaled
}

/// Compares two reports. Decimals may differ in the last digit, as ties are rounded to even.
fn assert_same(found: &str, expected: &str) {
    let words = |text: &str| -> Vec<String> {
        text.split([',', ' ', '\n', '"']).map(str::to_owned).collect()
    };
    let (found, expected) = (words(found), words(expected));
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        let digits = a.rsplit_once('.').map_or(0, |(_, part)| part.len().min(9)) as i32;
        let near = |a: f64, b: f64| (a - b).abs() < 1.1 * 0.1_f64.powi(digits);
        let is_same = a == b || a.parse().ok().zip(b.parse().ok()).is_some_and(|(a, b)| near(a, b));
        assert!(is_same, "{a} and {b}");
    }
}

#[test]
fn reports_do_not_depend_on_the_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    let reports: [&[&str]; 9] = [
        &["states", "--by=container"],
        &["comm"],
        &["time", "--bins=7"],
        &["variables"],
        &["variables", "--bins=3"],
        &["events"],
        &["waits", "--by=waiter"],
        &["critical", "--by=value"],
        &["summary"],
    ];
    for (unit, digits) in [("ms", 3), ("us", 6), ("ns", 9)] {
        let file = folder.path().join(unit);
        fs::write(&file, in_unit(digits)).expect("a file");
        let file = file.to_str().expect("a name");
        for report in reports {
            let csv = |words: &[&str]| {
                let output = run(&[report, &["--format=csv"], words].concat());
                assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
                text(&output.stdout).replace("written by SimGrid", "as requested")
            };
            let found = csv(&["--time-unit", unit, file]);
            let name = match unit {
                "ms" => "milliseconds",
                "us" => "microseconds",
                _ => "nanoseconds",
            };
            assert_same(&found.replace(name, "seconds"), &csv(&[MPI]));
        }
    }
}

#[test]
fn compared_runs_may_differ_in_their_units() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = "0 x 0 \"MPI Program\"\n0 y x \"Memory Node\"\n0 z y Worker\n";
    let starpu = in_unit(3) + types;
    let file = folder.path().join("starpu.trace");
    fs::write(&file, starpu).expect("a file");
    let file = file.to_str().expect("a name");
    let printed = text(&run(&["compare", MPI, file]).stdout);
    // Long titles are wrapped.
    let title = printed.split("\n\n").next().unwrap_or_default().replace("\n  ", " ");
    let a = "mpi.trace, 43.4 ms; B: ";
    let b = "starpu.trace, 43.4 ms; A: times in seconds: written by SimGrid; \
             B: times in milliseconds: written by StarPU\nB takes as long as A, 43.4 ms";
    assert!(title.contains(a) && title.ends_with(b), "{title}");
    let csv = text(&run(&["compare", "--format=csv", MPI, file]).stdout);
    let changes = csv.lines().skip(1).map(|line| line.split(',').nth(6));
    let all: Vec<_> = changes.collect();
    assert_eq!(all, vec![Some("0.000000000"); all.len()]);
}

#[test]
fn the_writer_decides_and_an_unknown_one_is_assumed_to_use_seconds() {
    let head = "\
%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType 3\n% Name string\n% Type string\n% StartContainerType string\n\
% EndContainerType string\n%EndEventDef
%EventDef PajeCreateContainer 4\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 P 0 Rank\n2 S P\n4 0 p P 0\n5 0 S p run\n5 4000 S p end\n";
    let cases = [
        ("", "4000.000000000", "times in seconds: assumed"),
        (
            "1 M 0 \"MPI Program\"\n1 N M \"Memory Node\"\n1 W N Worker\n",
            "4.000000000",
            "times in milliseconds: written by StarPU",
        ),
        ("1 W 0 Worker\n", "4000.000000000", "times in seconds: assumed"),
        ("2 MPI_STATE P\n", "4000.000000000", "times in seconds: written by SimGrid"),
        ("1 H 0 HOST\n1 L 0 LINK\n", "4000.000000000", "times in seconds: written by SimGrid"),
        (
            "1 C 0 CT_Process\n1 T C CT_Thread\n",
            "4.000000000",
            "times in milliseconds: written by EZTrace",
        ),
        (
            "1 R 0 PROCESS\n2 STATE R\n3 LINK 0 R R\n",
            "4000.000000000",
            "times in seconds: written by Akypuera",
        ),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.trace");
    let name = file.to_str().expect("a name");
    for (types, seconds, reason) in cases {
        fs::write(&file, [head, types].concat()).expect("a file");
        let table = text(&run(&[name]).stdout);
        let title = table.lines().next().unwrap_or_default();
        assert!(title.ends_with(reason), "{title}");
        let csv = run(&["--format=csv", name]);
        assert!(text(&csv.stdout).contains(seconds), "{}", text(&csv.stdout));
        let said = text(&csv.stderr);
        assert_eq!(said.contains(reason), reason.contains("milli"), "{said}");
        let silent = program(&["--format=csv", "--no-warnings", name]).output().expect("it runs");
        assert_eq!(text(&silent.stderr), "");
        let given = text(&run(&["--time-unit=us", "--format=csv", name]).stdout);
        assert!(given.contains(",0.004000000,"), "{given}");
    }
    let wrong = run(&["--time-unit=minutes", name]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("expected ns, us, ms or s"), "{}", text(&wrong.stderr));
}
