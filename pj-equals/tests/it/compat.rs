//! Tests which differences matter for PajeNG and for the options, as in the table of
//! `docs/dev/compat.md`.

use std::process::Command;

use testkit::Sandbox;

use crate::world::{WORLD, answer, changed, pair};

/// A change, and whether the traces are still equal: by default, and with `--structure-only`,
/// `--names-only` and `--exact`.
type Case = (&'static str, &'static [(&'static str, &'static str)], [bool; 4]);

const CASES: &[Case] = &[
    ("nothing", &[], [true, true, true, true]),
    ("the time of a state", &[("push 2 S", "push 2.25 S")], [true, true, true, false]),
    ("the end of a container", &[("destroy 8", "destroy 8.5")], [true, true, true, false]),
    ("the end of the trace", &[("create 9 p3", "create 9.5 p3")], [true, true, true, false]),
    ("the value of a variable", &[("p1 2.5", "p1 2.6")], [true, true, true, false]),
    ("a key", &[("k1", "k2")], [true, true, true, false]),
    ("a level", &[("push 2 S", "set 2 S")], [true, true, false, false]),
    ("the ends of a link", &[("data p1", "data p2")], [true, true, false, false]),
    ("the name of a container", &[("two", "other")], [true, false, false, false]),
    ("the name of a type", &[("State", "Status")], [true, false, false, false]),
    ("the name of a value", &[("running", "working")], [true, true, false, false]),
    (
        "the alias of a value",
        &[("value r", "value x"), ("p1 r", "p1 x")],
        [false, true, true, true],
    ),
    ("the alias of a container", &[("p1", "p4")], [false, true, true, true]),
    ("the alias of a type", &[(" E ", " Z ")], [false, true, true, true]),
    ("an alias that keeps the order", &[("p2", "p22")], [true, true, true, true]),
    ("a colour", &[("0,1,0", "1,0,0")], [true, true, true, true]),
    ("a value that no row has", &[("value r", "value y S yes 1,0,0\nvalue r")], [true; 4]),
    (
        "the order of creation",
        &[("create 0 p1 P 0 one\ncreate 0 p2 P 0 two", "create 0 p2 P 0 two\ncreate 0 p1 P 0 one")],
        [true; 4],
    ),
    (
        "the order of definitions",
        &[("stype S P State\nvtype V P Load", "vtype V P Load\nstype S P State")],
        [true; 4],
    ),
    ("the value of an event", &[("p1 stop", "p1 end")], [false, true, false, false]),
    ("the value of a link", &[("data", "text")], [false, true, false, false]),
    (
        "a row more",
        &[("event 2.5 E p1 stop", "event 2.5 E p1 stop\nevent 3 E p1 stop")],
        [false, true, false, false],
    ),
    (
        "a variable's value more",
        &[("vset 2 V", "vset 1.5 V p1 3\nvset 2 V")],
        [false, true, false, false],
    ),
    (
        "a container more",
        &[("create 9 p3", "create 3 p0 Q p1 q\ncreate 9 p3")],
        [false, false, false, false],
    ),
    ("a type more", &[("vtype V", "vtype W P Weight\nvtype V")], [false, false, false, false]),
    (
        "a type that belongs to one without containers",
        &[("vtype V", "vtype W Q Weight\nvtype V")],
        [true, false, false, false],
    ),
    ("upper case in a value", &[("p1 stop", "p1 STOP")], [false, true, false, false]),
];

const OPTIONS: [&[&str]; 4] = [&[], &["--structure-only"], &["--names-only"], &["--exact"]];

#[test]
fn differences_have_the_effects_in_the_table() {
    for (what, changes, wanted) in CASES {
        let other = changed(changes);
        for (options, wanted) in OPTIONS.iter().zip(wanted) {
            assert_eq!(answer(&other, options), *wanted, "{what}, {options:?}");
        }
    }
}

#[test]
fn differences_matter_to_pajeng_as_in_the_table() {
    for (what, changes, wanted) in CASES {
        let folder = pair(WORLD, &changed(changes));
        if let Some(answer) = pajeng(&folder) {
            assert_eq!(answer, wanted[0], "{what}");
        }
    }
}

fn pajeng(folder: &Sandbox) -> Option<bool> {
    let Some(program) = testkit::pajeng::pj_equals() else {
        testkit::pajeng::skipped("pj_equals");
        return None;
    };
    let mut command = Command::new(program);
    let output = command.args(["a.trace", "b.trace"]).current_dir(folder.path("")).output();
    Some(output.expect("PajeNG runs").stdout == b"1\n")
}

/// Containers are compared in the order of their types, but their types do not matter.
#[test]
fn types_of_containers_do_not_matter_to_pajeng() {
    // There are types `a`, `b` and `c`. Types `a` and `b` have a state type.
    let trace = |containers: &str| {
        let types = "ctype a 0 A\nctype b 0 B\nctype c 0 C\nstype s a S\nstype t b T\n";
        let of = |(i, type_): (usize, char)| format!("create 1 c{i} {type_} 0 name\n");
        types.to_owned() + &containers.chars().enumerate().map(of).collect::<String>()
    };
    let mut push = trace("ab");
    push.push_str("push 2 s c0 x\npush 2 t c1 x\n");
    for (one, other, wanted) in [
        (trace("a"), trace("b"), true),
        (trace("aab"), trace("abb"), true),
        (trace("ac"), trace("bc"), true),
        (trace("a"), trace("c"), false),
        (trace("a"), trace("ab"), false),
        (
            push.clone(),
            push.replace("create 1 c1 b", "create 1 c1 a").replace(" t c1", " s c1"),
            true,
        ),
        (push.clone(), push.replace("push 2 t c1 x", ""), false),
    ] {
        let folder = pair(&one, &other);
        let (_, answer, _) = folder.run(&["a.trace", "b.trace"]);
        assert_eq!(answer, if wanted { "1\n" } else { "0\n" }, "{one}{other}");
        if let Some(answer) = pajeng(&folder) {
            assert_eq!(answer, wanted, "{one}{other}");
        }
    }
}

#[test]
fn case_is_ignored_on_request() {
    let capital = changed(&[("p1 stop", "p1 STOP"), ("io", "IO"), ("data", "Data")]);
    for options in OPTIONS {
        assert!(answer(&capital, &[options, &["-i"]].concat()), "{options:?}");
    }
    let containers = changed(&[("one", "ONE"), ("Process", "PROCESS")]);
    assert!(!answer(&containers, &["--exact"]));
    assert!(answer(&containers, &["--exact", "--icase"]));
}

/// PajeNG loses all rows of a lane that start at the end of the trace, except the first one.
#[test]
fn rows_at_the_very_end_count() {
    let end = "event 9 E p1 x\n";
    let folder = pair(&format!("{WORLD}{end}"), &format!("{WORLD}{end}{end}"));
    assert_eq!(folder.run(&["a.trace", "b.trace"]), (0, "0\n".into(), String::new()));
}

/// PajeNG bisects for rows that start at time 0 or later, so a link that starts earlier hides the
/// links completed before it.
#[test]
fn links_that_start_before_time_0_count() {
    let links = |start: &str| {
        let lines = [
            "from 1 L 0 data p1 a",
            "to 2 L 0 data p2 a",
            "from START L 0 data p1 b",
            "to 3 L 0 data p2 b",
        ];
        format!("{WORLD}{}\n", lines.join("\n").replace("START", start))
    };
    let folder = pair(&links("1"), &links("-1"));
    assert_eq!(folder.run(&["a.trace", "b.trace"]), (0, "1\n".into(), String::new()));
}

/// PajeNG adds a row on either side of the window, loses rows that enclose the window, and may
/// crash.
#[test]
fn windows_select_rows() {
    // The state is io until 3, then idle.
    let other = changed(&[("p1 io", "p1 disk"), ("p1 start", "p1 begin")]);
    for options in [&[][..], &["--exact"]] {
        let answer = |more: &[&str]| answer(&other, &[options, more].concat());
        assert!(!answer(&[]));
        assert!(answer(&["-s", "3.5", "-t", "3.5"]), "{options:?}");
        assert!(
            !answer(&["-s", "3", "-t", "3"]),
            "a row that ends at the start should count: {options:?}"
        );
    }
    let folder = pair(WORLD, WORLD);
    let files = ["a.trace", "b.trace"];
    let run = |more: &[&str]| folder.run(&[more, &files].concat()).1;
    assert_eq!(run(&["-e", "0.5", "-d", "0.5"]), "1\n");
    assert_eq!(run(&["-e", "1.2", "-d", "5"]), "0\n");
    assert_eq!(
        run(&["-s", "5", "-e", "2", "-t", "5", "-d", "2"]),
        "1\n",
        "empty windows should be equal"
    );
    assert_eq!(run(&["-z", "-a", "1.75"]), "0\n");
    assert_eq!(run(&["-z", "-a", "1.25", "-o", "1.25"]), "1\n");
}
