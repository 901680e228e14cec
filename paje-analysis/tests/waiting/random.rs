//! Compares random runs with the naive computation. `PAJE_SEEDS` sets the number of runs.

use std::collections::BTreeMap;
use std::env;
use std::num::NonZeroUsize;

use datasets::passing::{Passing, random};
use paje_analysis::Seconds;
use paje_analysis::classes::{Class, Classes};
use paje_analysis::critical::CriticalPath;
use paje_analysis::messages::Message;
use paje_analysis::waits::{Kind, Options};
use paje_sim::Trace;
use paje_workers::{Pin, Workers};

use crate::naive::{Naive, Wait};
use crate::{micros, mpi, replayed, waits};

fn seeds() -> std::ops::Range<u64> {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PAJE_SEED").unwrap_or(0);
    first..first + number("PAJE_SEEDS").unwrap_or(300)
}

#[test]
fn random_runs_match_the_definitions() {
    let (mut waits, mut passed_on, mut knots) = (0, 0, 0);
    for seed in seeds() {
        let run = random(seed, if seed % 10 == 0 { 120 } else { 30 });
        let trace = replayed(&run.bytes);
        // A run may be too short to have any state that the map knows.
        let classes = Classes::new(&trace, &mpi());
        if !classes.chosen().any(|id| trace.types().name(id).text == b"MPI_STATE") {
            continue;
        }
        let naive = Naive::new(&trace, run.ranks, run.eager as f64);
        waits += check_path(seed, &run, &trace, &naive);
        check_rest(seed, &run, &trace);
        match check_costs(seed, &run, &trace, &naive) {
            Some(different) => passed_on += different,
            None => knots += 1,
        }
    }
    // Checks that enough runs reach the compared code.
    let runs = seeds().end - seeds().start;
    let enough = waits > runs && passed_on > runs / 4 && knots <= runs / 8;
    assert!(enough || runs < 100, "{waits} {passed_on} {knots}");
}

/// Compares the costs of waits. Returns for how many ranks they differ from the direct costs, or
/// `None` if waits depend on one another in a cycle.
fn check_costs(seed: u64, run: &Passing, trace: &Trace, naive: &Naive) -> Option<u64> {
    let options = Options { eager: Some(run.eager), ..Options::default() };
    let waits = waits(trace, &options);
    let costs = waits.costs(waits.whole());
    let direct = costs.iter().map(|cost| cost.direct).sum::<Seconds>().to_f64();
    let delay = costs.iter().map(|cost| cost.delay).sum::<f64>();
    assert!((direct - delay).abs() < 1e-9, "seed {seed}: {direct} {delay}");
    let delays = naive.delays()?;
    let mut different = 0;
    for cost in &costs {
        let rank = rank(&waits.name(cost.whom));
        let (found, expected) = (cost.delay * 1e6, delays[rank]);
        assert!(
            (found - expected).abs() < 1e-3,
            "seed {seed}, rank {rank}: {found} for {expected}"
        );
        different += u64::from((expected - cost.direct.to_f64() * 1e6).abs() > 0.5);
    }
    Some(different)
}

/// Compares the time that is not waiting with the sum over all microseconds, each examined
/// separately.
fn check_rest(seed: u64, run: &Passing, trace: &Trace) {
    let waits = waits(trace, &Options { eager: Some(run.eager), ..Options::default() });
    let (begin, end) = waits.whole();
    let (first, length) = (micros(begin), (micros(end) - micros(begin)) as usize);
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, track) in waits.facts.tracks.list().iter().enumerate() {
        let mut now = vec!["(computing)"; length];
        let mut paint = |from: f64, until: f64, name| {
            now[(micros(from) - first) as usize..(micros(until) - first) as usize].fill(name);
        };
        // Times between enters and exits, if messages without states start or end there. States
        // come on top of them.
        let mut changes = [&[begin, end], &track.start[..], &track.end[..]].concat();
        changes.sort_by(f64::total_cmp);
        for both in changes.windows(2) {
            let within = |time: f64| (both[0]..=both[1]).contains(&time);
            let is_outside = |message: &Message| {
                message.from as usize == at && message.send().is_none() && within(message.start)
                    || message.to as usize == at && message.recv().is_none() && within(message.end)
            };
            if waits.facts.messages.list().iter().any(is_outside) {
                paint(both[0], both[1], "(cause not recorded)");
            }
        }
        // Inner states come after outer ones.
        for state in 0..track.len() {
            let all = waits.facts.messages.list().iter();
            let is_here = |message: &Message| {
                (message.from as usize, message.send()) == (at, Some(state))
                    || (message.to as usize, message.recv()) == (at, Some(state))
            };
            let name = match waits.facts.tracks.class(at, state) {
                Class::Compute => "(computing)",
                Class::Collective(_) => "(in collectives)",
                Class::Io => "(input and output)",
                Class::Other => "(other calls)",
                _ if all.clone().any(is_here) => "(transfer)",
                _ => "(cause not recorded)",
            };
            paint(track.start[state], track.end[state], name);
        }
        waits.of_track(at).iter().for_each(|wait| paint(wait.from, wait.until, "waiting"));
        now.iter().for_each(|name| *sums.entry(name).or_default() += 1);
    }
    sums.remove("waiting");
    let rests = waits.by_rest((begin, end)).into_iter();
    let found = rests.map(|(rest, total)| (rest.name(), micros(total.seconds.to_f64())));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), sums, "seed {seed}");
}

fn rank(name: &str) -> usize {
    name.trim_start_matches("rank-").parse().expect("a rank")
}

fn check_path(seed: u64, run: &Passing, trace: &Trace, naive: &Naive) -> u64 {
    let options = Options { eager: Some(run.eager), ..Options::default() };
    let waits = waits(trace, &options);
    let number = |track: u32| rank(&waits.name(track));
    let one = |wait: &paje_analysis::waits::Wait| Wait {
        waiter: number(wait.waiter),
        until: micros(wait.until),
        state: wait.state as usize,
        kind: Kind::ALL.iter().position(|kind| *kind == wait.kind).expect("a kind"),
        from: micros(wait.from),
        whom: number(wait.whom),
        release: wait.release.map(|state| state as usize),
    };
    let mut found: Vec<Wait> = waits.iter().map(one).collect();
    found.sort();
    let differs = found.iter().zip(&naive.waits).find(|(found, expected)| found != expected);
    assert!(found.len() == naive.waits.len() && differs.is_none(), "seed {seed}: {differs:?}");
    let path = CriticalPath::new(&waits).expect("there are states");
    let (begin, end) = waits.whole();
    assert_eq!(path.length((begin, end)), Seconds::between(begin, end), "seed {seed}");
    let parts = path.parts.iter().rev();
    let ranks: Vec<usize> = parts
        .flat_map(|part| (micros(part.start)..micros(part.end)).map(|_| number(part.track)))
        .collect();
    let expected = naive.path();
    assert!(ranks == expected, "seed {seed}: {:?}", path.parts);
    let value = |(type_, value): paje_analysis::critical::Activity| {
        value.map_or(String::new(), |value| trace.types().value_name(type_, value).to_string())
    };
    let rows = path.by_activity(&waits, (begin, end));
    let rows: BTreeMap<(String, usize), u64> = rows
        .iter()
        .map(|row| ((value(row.activity), number(row.track)), micros(row.seconds.to_f64())))
        .collect();
    assert_eq!(rows, naive.by_activity(&expected), "seed {seed}");
    let members = naive.ranks.iter().filter(|states| !states.is_empty()).count() as i64;
    let activities = naive.activities(&expected);
    for row in path.imbalance(&waits, (begin, end)) {
        let (on_path, sum) = activities[&value(row.activity)];
        assert_eq!(micros(row.on_path.to_f64()), on_path, "seed {seed}");
        let cost = (on_path as i64 * members - sum).max(0) as f64;
        let near = |seconds: Seconds, micros: f64| (seconds.to_f64() * 1e6 - micros).abs() < 1e-3;
        assert!(near(row.cost, cost), "seed {seed}: {row:?} for {cost}");
        assert!(near(row.imbalance, cost / members as f64), "seed {seed}: {row:?} for {cost}");
    }
    found.len() as u64
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    for seed in [10, 20, 30] {
        let run = random(seed, 400);
        let trace = replayed(&run.bytes);
        let found = |threads| {
            let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
            workers.run(|| {
                let waits = waits(&trace, &Options::default());
                let whole = waits.whole();
                let path = CriticalPath::new(&waits).expect("there are states");
                let rows = (path.by_activity(&waits, whole), path.imbalance(&waits, whole));
                format!("{:?} {:?} {rows:?}", waits.iter().collect::<Vec<_>>(), waits.costs(whole))
            })
        };
        assert!(found(1) == found(2) && found(1) == found(5), "seed {seed}");
    }
}
