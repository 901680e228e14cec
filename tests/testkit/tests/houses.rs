//! Limits of import cycles and of the length of files, for all crates.

use std::fs;
use std::path::Path;

use testkit::House;

/// Largest cycle in any crate. Some crates have stricter tests of their own.
const LARGEST_CIRCLE: usize = 4;

/// Largest number of lines of a file.
const MOST_LINES: usize = 400;

#[test]
fn circles_are_small_and_files_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("the workspace's manifest");
    let members = manifest.split_once("members = [").expect("members").1;
    let members = members.split_once(']').expect("the end of the members").0;
    let mut found = Vec::new();
    for member in members.split('"').skip(1).step_by(2) {
        if !root.join(member).join("src/lib.rs").exists() {
            continue;
        }
        let house = House::of(&root.join(member).to_string_lossy());
        let largest = (0..).find(|files| house.circles_above(*files).is_empty()).expect("an end");
        println!("{member}: {largest} files in the largest circle");
        let circles = house.circles_above(LARGEST_CIRCLE);
        found.extend(circles.iter().map(|circle| format!("{member}: {circle}")));
        let long = house.longer_than(MOST_LINES);
        found.extend(long.iter().map(|file| format!("{member}: {file} is long")));
    }
    assert_eq!(found, [""; 0]);
}
