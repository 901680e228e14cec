//! The floors of `src`: a module imports from its own floor and from lower ones only. See `testkit::House`.

use testkit::House;

/// The floors from the lowest up, by the modules that they are.
const FLOORS: &[&str] =
    &["finding input summary", "check", "again sound", "report manual", "cli", "run"];

/// The most files that import one another in a circle. It may only shrink.
const LARGEST_CIRCLE: usize = 1;

/// The most lines of a file.
const MOST_LINES: usize = 400;

fn house() -> House {
    House::of(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn imports_go_down() {
    assert_eq!(house().upward(FLOORS), [""; 0]);
}

#[test]
fn circles_are_small() {
    assert_eq!(house().circles_above(LARGEST_CIRCLE), [""; 0]);
}

#[test]
fn files_are_short() {
    assert_eq!(house().longer_than(MOST_LINES), [""; 0]);
}
