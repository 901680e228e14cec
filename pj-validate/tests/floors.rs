//! The floors of `src`: a module imports from its own floor and from lower ones only. See `testkit::House`.

use testkit::House;

/// The floors from the lowest up, by the modules that they are.
const FLOORS: &[&str] =
    &["finding input summary", "check", "again sound", "report manual", "cli", "run"];

/// The most files that import one another in a circle. It may only shrink.
const LARGEST_CIRCLE: usize = 1;

#[test]
fn imports_go_down_and_circles_are_small() {
    let house = House::of(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(house.upward(FLOORS), [""; 0]);
    assert_eq!(house.circles_above(LARGEST_CIRCLE), [""; 0]);
}
