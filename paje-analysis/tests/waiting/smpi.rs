//! Traces of simulated MPI programs.

use std::path::Path;

use paje_analysis::Seconds;
use paje_analysis::classes::Map;
use paje_analysis::critical::CriticalPath;
use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

#[allow(dead_code)]
#[path = "../../examples/waiting.rs"]
mod example;

#[test]
fn the_example_prints_its_report() {
    let report = example::report(&slow_rank());
    let lines: Vec<&str> = report.lines().map(str::trim).collect();
    for line in [
        "0.205505 late sender (411)",
        "0.060000 for rank-3, 0.209999 caused by it",
        "0.090253 is the critical path's length",
        "0.090000 computing in rank-3",
    ] {
        assert!(lines.contains(&line), "{report}");
    }
}

fn slow_rank() -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smpi/slow-rank.trace.xz");
    Trace::open(path).expect("a valid trace")
}

/// In `slow_rank.c`, rank 3 computes 0.5 ms longer than the others in each of 60 iterations. A rank
/// at distance d waits for it from iteration d on.
#[test]
fn delay_is_charged_to_the_slow_rank() {
    let trace = slow_rank();
    let waits = Waits::new(&trace, &Map::of_trace(&trace), &Options::default());
    let whole = waits.whole();
    let costs = waits.costs(whole);
    let all: Seconds = costs.iter().map(|cost| cost.direct).sum();
    let slow =
        costs.iter().find(|cost| waits.name(cost.whom) == "rank-3").expect("it causes waiting");
    assert!((slow.delay / all.to_f64() - 1.0).abs() < 0.01, "{} of {all}", slow.delay);
    // Only the neighbours of rank 3 wait for it directly. The other ranks wait for it indirectly.
    assert!(slow.direct.to_f64() < 0.5 * slow.delay);
    // Two ranks each are at distances 1, 2 and 3, and one is at distance 4. The remaining waiting
    // is in the final barrier.
    let expected = 0.0005 * f64::from(7 * 60);
    assert!((slow.delay / expected - 1.0).abs() < 0.01, "{} for {expected}", slow.delay);
}

#[test]
fn the_critical_path_is_in_the_slow_rank() {
    let trace = slow_rank();
    let waits = Waits::new(&trace, &Map::of_trace(&trace), &Options::default());
    let path = CriticalPath::new(&waits).expect("there are states");
    let tracks: Vec<_> = path.parts.iter().map(|part| waits.name(part.track)).collect();
    assert!(tracks.contains(&"rank-3".into()), "{tracks:?}");
    let computing = path.imbalance(&waits, waits.whole())[0];
    assert!((computing.on_path.to_f64() - 0.090).abs() < 1e-6);
    // The mean is 60 · (7 · 1 ms + 1.5 ms) / 8.
    assert!((computing.mean.to_f64() - 0.06375).abs() < 1e-6);
    assert!((computing.cost.to_f64() - 8.0 * (0.090 - 0.06375)).abs() < 1e-5);
}

#[test]
fn the_path_is_as_long_as_the_run() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let mut files: Vec<_> = std::fs::read_dir(examples)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "trace"))
        .collect();
    files.extend(std::env::var_os("PAJE_TRACES").iter().flat_map(|folder| {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
    }));
    let mut options = paje_sim::Options::default();
    options.ignore_incomplete_links = true;
    options.recover = true;
    let workers = paje_workers::Workers::one();
    let mut covered = 0;
    for file in files {
        let Ok(trace) = Trace::open_with(&file, &options, &workers) else { continue };
        let waits = Waits::new(&trace, &Map::of_trace(&trace), &Options::default());
        let Some(path) = CriticalPath::new(&waits) else { continue };
        let (begin, end) = waits.whole();
        assert_eq!(path.length((begin, end)), Seconds::between(begin, end), "{}", file.display());
        let rows = path.by_activity(&waits, (begin, end));
        let sum: Seconds = rows.iter().map(|row| row.seconds).sum();
        assert_eq!(sum, Seconds::between(begin, end), "{}", file.display());
        let costs = waits.costs((begin, end));
        let direct = costs.iter().map(|cost| cost.direct).sum::<Seconds>().to_f64();
        let delay: f64 = costs.iter().map(|cost| cost.delay).sum();
        assert!((direct - delay).abs() <= 1e-6 * direct, "{}: {direct} {delay}", file.display());
        println!(
            "{}: {} s, {} waits",
            file.display(),
            path.length((begin, end)),
            waits.iter().count()
        );
        covered += 1;
    }
    assert!(covered >= 3, "{covered}");
}
