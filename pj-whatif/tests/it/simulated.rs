//! Tests with runs of SimGrid's SMPI, whose programs and platform are in `tests/smpi`. The expected makespans are those of
//! runs that really changed, in seconds.

use std::fs;

use tempfile::TempDir;
use testkit::unpack_xz;

use super::pj_whatif;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/smpi/");

/// Returns the makespan with a factor of computing.
fn makespan(trace: &str, factor: &str) -> f64 {
    let scale = format!("--scale=state=computing,factor={factor}");
    let (status, stdout, stderr) =
        pj_whatif(&["--format=json", &scale, &format!("{FOLDER}{trace}")]);
    assert_eq!(status, 0, "{stderr}");
    let after = stdout.split("\"makespan\"").nth(1).expect("the makespan");
    let after = after.split("\"after\": ").nth(1).and_then(|text| text.split(',').next());
    after.expect("a number").parse().expect("a number")
}

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 2e-3, "{found} instead of {expected}");
}

/// In `two-sizes.c`, each wait is for messages of two sizes that share links. Its end shows the arrival of only one of them.
#[test]
fn waits_for_messages_of_two_sizes_show_the_network() {
    let found = makespan("two-sizes.trace.xz", "0.25");
    assert!((found - 739.53e-6).abs() < 1e-8, "{found}");
}

/// The same program with `smpi/async-small-thresh:65536`: messages travel before they are posted, but no wait shows it.
#[test]
fn the_network_shows_that_messages_start_when_sent() {
    close(makespan("two-sizes-sent.trace.xz", "0.2"), 739.53e-6);
    close(makespan("two-sizes-sent.trace.xz", "2"), 1592.156e-6);
}

/// `patterns halo2 base 20000 6` with twelve ranks, two on each host, which has two cores.
#[test]
fn the_network_shows_that_ranks_share_hosts() {
    let trace = format!("{FOLDER}two-a-host.trace.xz");
    let (_, stdout, _) = pj_whatif(&[&trace, "--scale", "state=computing,factor=0.5"]);
    assert!(stdout.contains("ranks share the links of 6 hosts"), "{stdout}");
    close(makespan("two-a-host.trace.xz", "0.5"), 7364.895e-6);
}

/// The times of `rows.c` allow that all ranks reduce to the first rank of the last row.
#[test]
fn schedules_show_which_ranks_take_part() {
    close(makespan("rows.trace.xz", "0.1"), 728.405e-6);
    close(makespan("rows.trace.xz", "0.3"), 1494.816e-6);
}

/// Without sizes, messages that share links look longer than they are.
#[test]
fn messages_of_different_unknown_sizes_leave_an_interval() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("run.trace");
    let packed = fs::read(format!("{FOLDER}two-sizes.trace.xz")).expect("readable");
    let text = String::from_utf8(unpack_xz(&packed)).expect("text").replace(" Size", " Other");
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8");
    let (status, _, stderr) = pj_whatif(&[path, "--scale", "state=computing,factor=0.25"]);
    assert!(status == 2 && stderr.contains("Record the sizes of messages"), "{stderr}");
    let (status, stdout, stderr) = pj_whatif(&[path, "--scale", "state=computing,factor=1.5"]);
    assert!(status == 0 && stdout.contains("interval of the makespan"), "{stderr}");
}
