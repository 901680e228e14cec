//! The layers of `src`: a module imports only from its own layer and lower ones. See
//! `testkit::House`.

use testkit::House;

/// Modules of each layer, from the lowest up.
const FLOORS: &[&str] =
    &["finding input summary", "check", "again sound", "report manual", "cli", "run"];

/// Largest number of files that import one another in a cycle.
const LARGEST_CYCLE: usize = 1;

#[test]
fn imports_go_down_and_cycles_are_small() {
    let house = House::of(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(house.upward(FLOORS), [""; 0]);
    assert_eq!(house.circles_above(LARGEST_CYCLE), [""; 0]);
}
