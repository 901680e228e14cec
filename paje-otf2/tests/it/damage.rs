//! Damaged archives: an error with the file, or lines, but no panic.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use paje_otf2::{Trace, open_regular};
use testkit::otf2::Archive;
use testkit::otf2::Given::{L, N, T, V};

use super::{open, text, text_of, world};

fn sample() -> Archive {
    let mut archive = world();
    archive.define("MetricMember", &[N(0), N(8), N(8), N(0), N(17), N(4), N(1), N(0), N(9)]);
    archive.define("MetricClass", &[N(0), L(&[0]), N(2), N(0)]);
    archive.map(20, 3, &[(0, 5)]);
    archive.offset(20, 1000, 1);
    archive.offset(20, 2000, 2);
    for location in [10, 20] {
        archive.event(location, 1001, "Enter", &[N(4)]);
        archive.event_with(location, 1002, "Metric", &[N(0), V(&[(4, 7)])], &[(1, 4, 300)]);
        archive.event(location, 1003, "MpiSend", &[N(1), N(0), N(3), N(700)]);
        archive.event(location, 1004, "MpiRecv", &[N(0), N(0), N(3), N(700)]);
        archive.event(location, 1005, "Leave", &[N(4)]);
    }
    archive
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let names = ["run.otf2", "run.def", "run/10.def", "run/10.evt", "run/20.def", "run/20.evt"];
    names.iter().map(|name| folder.join(name)).collect()
}

#[test]
fn cut_files_are_refused_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = sample().write(folder.path());
    for path in files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        // The last bytes are not needed: a mark after the end of the file.
        for length in 0..bytes.len() - 2 {
            fs::write(&path, &bytes[..length]).unwrap();
            let found = open(&anchor);
            // Empty local definitions are none.
            if length > 0 || path.extension().unwrap() != "def" || path.ends_with("run.def") {
                let may_be_empty = path.ends_with("run.def") && length == 0;
                match found {
                    Err(error) => assert_eq!(error.file(), path, "{length}"),
                    Ok(_) => assert!(may_be_empty, "{} {length}", path.display()),
                }
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(open(&anchor).is_ok());
}

#[test]
fn changed_bytes_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = sample().write(folder.path());
    for path in files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                fs::write(&path, &changed).unwrap();
                if let Ok(trace) = open(&anchor) {
                    text_of(&trace).unwrap();
                }
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn missing_files_of_locations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = sample().write(folder.path());
    fs::remove_file(folder.path().join("run/20.def")).unwrap();
    assert!(open(&anchor).is_ok(), "local definitions need not be there");
    fs::remove_file(folder.path().join("run/20.evt")).unwrap();
    let error = open(&anchor).unwrap_err();
    assert!(error.is_damage() && error.file().ends_with("run/20.evt"), "{error}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let refused = |archive: &Archive, what: &str| {
        let error = text(archive).unwrap_err().to_string();
        assert!(error.ends_with(what), "{error}");
    };
    let mut archive = world();
    archive.define("Location", &[N(10), N(4), N(1), N(2), N(0)]);
    refused(&archive, "location 10 is defined twice");
    let mut archive = world();
    archive.define("SystemTreeNode", &[N(5), N(1), N(0), N(6)]);
    archive.define("SystemTreeNode", &[N(6), N(1), N(0), N(5)]);
    refused(&archive, "system tree node 5 is within itself");
    let mut archive = world();
    archive.define("SystemTreeNode", &[N(5), N(1), N(0), N(5)]);
    refused(&archive, "system tree node 5 is within itself");
    let mut archive = world();
    archive.offset(10, 5, 1);
    archive.offset(10, 5, 2);
    refused(&archive, "the times of clock offsets do not increase");
    let mut archive = world();
    archive.map(10, 3, &[]);
    archive.map(10, 3, &[]);
    refused(&archive, "there is a second mapping table of this type");
    let mut archive = world();
    archive.raw_event(10, 1000, vec![14, 200, 1]);
    refused(&archive, "a record is longer than the rest of its chunk");
}

#[test]
fn the_intact_part_of_a_damaged_archive_is_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = sample().write(folder.path());
    let whole = text_of(&open(&anchor).unwrap()).unwrap();
    let events = |text: &str, location: &str| -> Vec<String> {
        let of = |line: &&str| !line.starts_with("6 ") && line.split(' ').nth(2) == Some(location);
        text.lines().filter(of).map(str::to_owned).collect()
    };
    let recover = || {
        let archive = paje_otf2::Archive::open_damaged(&anchor, Arc::new(open_regular)).unwrap();
        let trace = Trace::recover(Arc::new(archive), 2);
        (text_of(&trace).unwrap(), trace.faults().iter().map(ToString::to_string).collect())
    };
    assert_eq!(recover(), (whole.clone(), Vec::<String>::new()));
    let path = folder.path().join("run/20.evt");
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() - 2 {
        fs::write(&path, &bytes[..length]).unwrap();
        let (found, faults) = recover();
        assert!(faults.len() == 1 && faults[0].contains("run/20.evt"), "{length}: {faults:?}");
        // Messages without a partner are events.
        let states = |text: &str| {
            let lines = events(text, "L20").into_iter();
            lines.filter(|line| !line.starts_with("11 ")).collect::<Vec<_>>()
        };
        assert!(states(&whole).starts_with(&states(&found)), "{length}: {found}");
        assert!(events(&found, "L10").len() >= 4, "{length}: {found}");
    }
    fs::remove_file(&path).unwrap();
    fs::write(folder.path().join("run/10.def"), b"\x03").unwrap();
    let (found, faults) = recover();
    assert!(faults.len() == 2 && faults[0].contains("run/10.def"), "{faults:?}");
    assert!(found.contains("\"rank 1/main\"") && events(&found, "L20").is_empty(), "{found}");
}

#[test]
fn small_archives_that_would_take_much_memory_are_refused() {
    let refused = |archive: &Archive, what: &str| {
        let error = text(archive).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    let long = "x".repeat(200_000);
    let with_long_name = || {
        let mut archive = world();
        archive.define("String", &[N(100), T(&long)]);
        archive
    };
    // Each region repeats the name.
    let mut archive = with_long_name();
    for id in 100..500 {
        let fields = [id, 100, 100, 0, 10, 7, 9, 100, 1, 4, 0].map(N);
        archive.define("Region", &fields);
    }
    refused(&archive, "which repeat long texts");
    // Each attribute of an event repeats the text.
    let mut archive = with_long_name();
    archive.define("Attribute", &[N(0), N(2), N(0), N(11)]);
    archive.event_with(10, 1000, "Enter", &[N(4)], &[(0, 11, 100); 400]);
    refused(&archive, "the lines of an event of location 10 exceed 64 MiB");
}

#[test]
fn deep_and_varied_system_trees_take_linear_time() {
    let mut archive = world();
    for id in 1..100_000_u64 {
        archive.define("String", &[N(1000 + id), T(&format!("class {id}"))]);
        // The parent is defined later, except for the last node.
        archive.define("SystemTreeNode", &[N(id), N(1), N(1000 + id), N((id + 1) % 100_000)]);
    }
    assert!(text(&archive).unwrap().contains(" \"class 99999\"\n"));
}
