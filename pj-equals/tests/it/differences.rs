//! Texts of `--diff`. `PAJE_BLESS=1 cargo test -p pj-equals --test it` updates the expected ones.

use std::path::Path;

use testkit::assert_recorded;

use crate::world::{WORLD, changed, pair};

/// Name of the change, options, and the replaced texts with their replacements.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    ("a state", &["--diff"], &[("push 2 S p1 io", "push 2.25 S p1 disk")]),
    ("the first two of some", &["--diff=2"], &[("push 2 S", "push 2.25 S"), ("p1 2.5", "p1 nan")]),
    ("an event", &["--diff"], &[("event 2.5 E p1 stop", "event 2.5 E p1 end")]),
    ("a variable", &["--diff"], &[("p1 2.5", "p1 1e300")]),
    ("a link", &["--diff"], &[("data p1 k1", "text p2 k2"), ("data p2 k1", "text p1 k2")]),
    (
        "a link whose key does not count",
        &["--diff", "--no-keys"],
        &[("to 2", "to 2.5"), ("k1", "k2")],
    ),
    ("a row more", &["--diff=9"], &[("set 3", "event 3 E p1 more\nevent 4 E p1 more\nset 3")]),
    ("a row less", &["--diff=9"], &[("set 3 S p1 idle\n", "")]),
    ("a container", &["--diff"], &[("destroy 8 P p2", "destroy 8.5 P p2")]),
    ("a container of another name", &["--diff=9"], &[("two", "other")]),
    (
        "a container with others in it",
        &["--diff=9"],
        &[(
            "create 9 p3",
            "create 3 q Q p1 queue\nctype R Q Room\nstype T R Seat\ncreate 4 r R q room\nset 5 T r x\ncreate 9 p3",
        )],
    ),
    ("types", &["--diff=9"], &[("vtype V", "vtype W P Weight\nvtype V"), ("State", "Status")]),
    ("a type of another nature", &["--diff=9"], &[("ltype M 0 P Q", "stype M 0")]),
    ("where links lead", &["--diff=9"], &[("M 0 P Q", "M 0 Q P")]),
    ("names only", &["--diff", "--names-only"], &[("push 2 S p1 io", "push 2.25 S p1 disk")]),
    ("structure only", &["--diff", "--structure-only"], &[("two", "other"), ("p1 io", "p1 disk")]),
    (
        "within a tolerance",
        &["--diff", "--tolerance=0.5"],
        &[("push 2 S p1 io", "push 2.25 S p1 disk")],
    ),
    (
        "in windows",
        &["--diff", "-s", "2.1", "-t", "2.75"],
        &[("event 2.5 E p1 stop", "event 2.5 E p1 x\nevent 3 E p1 end")],
    ),
    ("names for terminals", &["--diff"], &[("p1 io", "p1 \u{1b}[31mred")]),
    ("nothing", &["--diff=9"], &[]),
];

#[test]
fn every_difference_is_printed_as_recorded() {
    let mut text = String::from(
        "Output of pj_equals for the world of tests/it/world.rs and one with these texts changed, as \
         tests/it/differences.rs makes it.\n",
    );
    for (what, options, changes) in CASES {
        let folder = pair(WORLD, &changed(changes));
        let (status, stdout, stderr) = folder.run(&[*options, &["a.trace", "b.trace"]].concat());
        assert_eq!((status, stderr.as_str()), (i32::from(!stdout.is_empty()), ""), "{what}");
        assert!(stdout.chars().all(|c| c == '\n' || !c.is_control()), "{stdout:?}");
        text.push_str(&format!("\n=== {what}: {}\n{stdout}", options.join(" ")));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/differences.txt");
    assert_recorded(&text, &path);
}
