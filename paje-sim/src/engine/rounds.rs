//! Tests of tasks with system threads. `tests/orders.rs` tries every order of a few threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::tasks::Tasks;

/// Each shard is taken once, and no waiting worker continues before all shards are replayed, even
/// if workers come late or panic.
#[test]
fn all_wait_for_all_shards() {
    for round in 0..300 {
        let (shards, workers) = (round % 7, 1 + round % 5);
        let tasks = Tasks::new(shards);
        let (replays, merges) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    for shard in 0..shards {
                        let Some(_taken) = tasks.take(shard) else { continue };
                        // In some rounds, this gives a waiting worker enough time to fall asleep.
                        thread::sleep(Duration::from_micros((round as u64 % 3) * 200));
                        replays.fetch_add(1, Ordering::Relaxed);
                    }
                    tasks.wait();
                    assert_eq!(replays.load(Ordering::Relaxed), shards as u64);
                    while tasks.next_merge() < shards {
                        merges.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(merges.into_inner(), shards as u64);
    }
}

#[test]
fn workers_stop_waiting_after_a_panic() {
    let tasks = Tasks::new(2);
    thread::scope(|scope| {
        let panics = scope.spawn(|| {
            let _taken = tasks.take(0);
            thread::sleep(Duration::from_millis(20));
            panic!("on purpose");
        });
        drop(tasks.take(1));
        tasks.wait();
        assert!(panics.join().is_err());
    });
}
