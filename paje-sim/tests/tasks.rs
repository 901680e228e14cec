//! Tasks of a replay, and workers that take turns.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use datasets::Shape;
use paje_sim::tasks::{Task, TaskKind};
use paje_sim::{Limits, Options, Progress, Source, Trace};
use paje_workers::Workers;
use testkit::team;

const BLOCK: usize = 8_000;

fn replay(text: &[u8], workers: &Workers, keep_tasks: bool) -> Trace {
    replay_in(text, workers, keep_tasks, BLOCK)
}

fn replay_in(text: &[u8], workers: &Workers, keep_tasks: bool, block: usize) -> Trace {
    let mut options = Options::default();
    options.keep_tasks = keep_tasks;
    options.limits = Limits { block, ..options.limits };
    let replayed = Trace::read_with(Source::stream(text), &options, workers, &Progress::default());
    replayed.expect("a sound trace")
}

fn in_turn(count: usize) -> Workers {
    Workers::in_turn(NonZeroUsize::new(count).expect("some"))
}

/// Numbers of the tasks of a kind, in a round or in all.
fn numbers(tasks: &[Task], kind: TaskKind, round: Option<u32>) -> Vec<u32> {
    let of =
        tasks.iter().filter(|task| task.kind == kind && round.is_none_or(|it| it == task.round));
    of.map(|task| task.number).collect()
}

#[test]
fn who_takes_turns_replays_the_same() {
    let text = datasets::generate(Shape::Mpi, 200_000, 3);
    let one = replay(&text, &Workers::one(), false);
    assert!(one.times().tasks.is_empty());
    for count in [2, 3, 16] {
        let turns = replay(&text, &in_turn(count), true);
        assert_eq!(format!("{:?}", turns.counts()), format!("{:?}", one.counts()));
        assert_eq!((turns.lines(), turns.end()), (one.lines(), one.end()));
        let working: BTreeSet<u32> = turns.times().tasks.iter().map(|task| task.worker).collect();
        assert_eq!(working.len(), count.min(text.len() / BLOCK), "each has something to do");
    }
}

/// Where workers take turns, what is decoded and what is replayed is brought near before; others do as they always do.
#[test]
fn what_is_timed_is_near() {
    let text = datasets::generate(Shape::Mpi, 200_000, 3);
    for (workers, is_near) in [(Workers::one(), false), (in_turn(3), true), (team(2), false)] {
        let trace = replay(&text, &workers, true);
        for kind in [TaskKind::Decode, TaskKind::Replay] {
            let mut of_kind = trace.times().tasks.iter().filter(|task| task.kind == kind);
            assert_eq!(of_kind.any(|task| !task.fetch.is_zero()), is_near, "{kind:?}");
        }
        let others = [TaskKind::Between, TaskKind::Shared, TaskKind::Around, TaskKind::Merge];
        let mut others = trace.times().tasks.iter().filter(|task| others.contains(&task.kind));
        assert!(others.all(|task| task.fetch.is_zero()));
    }
}

/// Each block is decoded once; each round has one thing before it, and all shards once or none.
#[test]
fn tasks_are_all_there_is_to_do() {
    let text = datasets::generate(Shape::Mpi, 200_000, 3);
    for workers in [Workers::one(), in_turn(3), team(2)] {
        let trace = replay(&text, &workers, true);
        let tasks = &trace.times().tasks;
        let decoded = tasks.iter().filter(|task| task.kind == TaskKind::Decode);
        assert!(decoded.map(|task| task.bytes).sum::<u64>() > text.len() as u64);
        let mut blocks = numbers(tasks, TaskKind::Decode, None);
        blocks.sort_unstable();
        // Counted from 0, without the empty ones.
        assert!(blocks.windows(2).all(|pair| pair[0] < pair[1]), "{blocks:?}");
        assert!(blocks.len() >= text.len() / BLOCK, "{blocks:?}");
        let rounds = tasks.last().expect("tasks").round;
        for round in 0..=rounds {
            assert_eq!(numbers(tasks, TaskKind::Between, Some(round)), [0], "{round}");
            let shards = numbers(tasks, TaskKind::Replay, Some(round));
            assert!(shards.iter().copied().eq(0..shards.len() as u32), "{round}: {shards:?}");
            let merged = numbers(tasks, TaskKind::Merge, Some(round));
            assert!(merged.iter().copied().eq(0..merged.len() as u32), "{round}: {merged:?}");
            let around = numbers(tasks, TaskKind::Around, Some(round));
            assert!(around.iter().copied().eq(0..around.len() as u32), "{round}: {around:?}");
        }
        assert!(tasks.is_sorted_by_key(|task| (task.round, task.kind)));
    }
}

/// All links of the trace are one lane's, and several workers merge them.
#[test]
fn many_links_of_a_lane_are_merged_by_several() {
    let text = datasets::generate(Shape::AllLinks, 1_500_000, 5);
    let rows = |trace: &Trace| -> Vec<(u64, u64, u32, u32, u32)> {
        let links = trace.links().map(|link| {
            let (start, end) = (link.start.to_bits(), link.end.to_bits());
            (start, end, link.value.0, link.from.0, link.to.0)
        });
        links.collect()
    };
    let one = replay(&text, &Workers::one(), false);
    for (workers, block) in [(in_turn(32), BLOCK), (team(4), 8 * BLOCK)] {
        let trace = replay_in(&text, &workers, true, block);
        let tasks = &trace.times().tasks;
        let last = tasks.last().expect("tasks").round;
        let merges = |round| numbers(tasks, TaskKind::Merge, Some(round)).len();
        assert!((0..=last).any(|round| merges(round) > 1), "too few links for several");
        assert!(rows(&trace) == rows(&one));
    }
}
