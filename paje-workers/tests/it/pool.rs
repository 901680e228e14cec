//! Tests worker pools on this machine.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

use paje_workers::{Error, Pin, Workers, allowed, available};

fn start(threads: usize, pin: &str) -> Workers {
    Workers::new(NonZeroUsize::new(threads), &pin.parse().unwrap()).unwrap()
}

#[cfg(target_os = "linux")]
fn mask() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

#[test]
fn the_default_is_all_cpus_of_the_process() {
    let workers = start(0, "none");
    assert_eq!(workers.threads(), available().get());
    assert_eq!(workers.cpus(), None);
    assert_eq!(workers.notes(), [""; 0]);
    assert!(available().get() <= allowed().unwrap().len());
}

#[test]
#[cfg(target_os = "linux")]
fn workers_are_pinned() {
    let before = mask();
    let cpus = allowed().unwrap();
    let last = cpus.last().unwrap().to_string();
    for pin in ["compact", "scatter", &last] {
        for threads in [1, 2, cpus.len() + 1] {
            let workers = start(threads, pin);
            let planned = workers.cpus().unwrap_or_else(|| panic!("{:?}", workers.notes()));
            assert_eq!(planned.len(), threads);
            let masks = Mutex::new(vec![String::new(); threads]);
            workers.on_each(|worker| masks.lock().unwrap()[worker] = mask());
            let masks = masks.into_inner().unwrap();
            let planned: Vec<_> = planned.iter().map(usize::to_string).collect();
            assert_eq!(masks, planned, "{pin} {threads}");
            assert_eq!(workers.run(mask), planned[0]);
        }
    }
    assert_eq!(start(0, &last).threads(), 1);
    assert_eq!(mask(), before, "the calling thread is not pinned");
}

#[test]
fn impossible_pins_are_refused() {
    let error = |threads, pin| Workers::new(NonZeroUsize::new(threads), &pin).unwrap_err();
    let nowhere = error(1, Pin::List(vec![usize::MAX]));
    assert!(matches!(nowhere, Error::Placement(_)), "{nowhere}");
    let many = error(usize::MAX, Pin::Compact);
    assert!(matches!(many, Error::TooMany { .. }), "{many}");
}

#[test]
fn shared_cpus_are_noted() {
    let threads = available().get() + 1;
    for pin in ["none", "compact"] {
        let workers = start(threads, pin);
        let notes = workers.notes().join("\n");
        assert_eq!(notes.matches("share").count(), 1, "{notes}");
    }
}

#[test]
fn one_worker_is_the_caller() {
    let workers = start(1, "none");
    let caller = thread::current().id();
    assert_eq!(workers.run(|| thread::current().id()), caller);
    workers.on_each(|worker| {
        assert_eq!(worker, 0);
        assert_eq!(thread::current().id(), caller);
    });
}

#[test]
fn the_caller_can_be_one_of_several() {
    fn some(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }
    fn caller() -> thread::ThreadId {
        thread::current().id()
    }
    let one = Workers::with_caller(None, &Pin::None, some(1)).unwrap();
    assert_eq!((one.threads(), one.run(caller)), (1, caller()));
    let few = Workers::with_caller(None, &Pin::None, some(usize::MAX)).unwrap();
    assert_eq!(few.threads(), available().get());
    // This needs a new thread, because a member of a pool cannot join another pool.
    let team = || {
        let workers = Workers::with_caller(Some(some(3)), &Pin::None, some(1)).unwrap();
        assert_eq!((workers.threads(), workers.run(caller)), (3, caller()));
        let barrier = Barrier::new(3);
        let ids = Mutex::new(vec![None; 3]);
        for _ in 0..100 {
            workers.on_each(|worker| {
                barrier.wait();
                ids.lock().unwrap()[worker] = Some(caller());
            });
        }
        let ids = ids.into_inner().unwrap();
        assert_eq!(ids[0], Some(caller()));
        assert!(!ids[1..].contains(&ids[0]) && !ids.contains(&None), "{ids:?}");
        let others = Workers::with_caller(Some(some(2)), &Pin::None, some(1)).unwrap();
        assert_ne!(others.run(caller), caller());
    };
    thread::spawn(team).join().unwrap();
    let pinned = Workers::with_caller(Some(some(1)), &Pin::Compact, some(1)).unwrap();
    assert_ne!(pinned.run(caller), caller());
}

#[test]
fn one_pinned_worker_is_one_thread() {
    let workers = start(1, "compact");
    let caller = thread::current().id();
    workers.run(|| {
        let worker = thread::current().id();
        assert_ne!(worker, caller);
        workers.on_each(|_| assert_eq!(thread::current().id(), worker));
        assert_eq!(workers.run(|| thread::current().id()), worker);
    });
}

#[test]
fn all_run_at_the_same_time_inside_run_and_outside() {
    for threads in [1, 2, 5] {
        let workers = start(threads, "none");
        let barrier = Barrier::new(threads);
        let calls: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        let meet = |worker: usize| {
            barrier.wait();
            calls[worker].fetch_add(1, Ordering::Relaxed);
        };
        workers.on_each(meet);
        let answer = workers.run(|| {
            for _ in 0..100 {
                workers.on_each(meet);
            }
            "all met"
        });
        assert_eq!(answer, "all met");
        assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 101), "{calls:?}");
    }
}

#[test]
fn run_is_on_worker_0() {
    let workers = start(4, "none");
    let names = Mutex::new(vec![None; 4]);
    workers.on_each(|worker| names.lock().unwrap()[worker] = Some(thread::current().id()));
    let first = names.into_inner().unwrap()[0];
    for _ in 0..100 {
        assert_eq!(workers.run(|| Some(thread::current().id())), first);
    }
}

#[test]
fn several_threads_may_share_workers() {
    let workers = start(3, "none");
    let barriers: Vec<_> = (0..4).map(|_| Barrier::new(3)).collect();
    let calls = AtomicUsize::new(0);
    thread::scope(|scope| {
        for barrier in &barriers {
            scope.spawn(|| {
                workers.run(|| {
                    for _ in 0..50 {
                        workers.on_each(|_| {
                            barrier.wait();
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            });
        }
    });
    assert_eq!(calls.into_inner(), 4 * 50 * 3);
}

#[test]
fn panics_reach_the_caller() {
    for threads in [1, 3] {
        for pin in ["none", "compact"] {
            let workers = start(threads, pin);
            let message = |f: &dyn Fn()| {
                let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
                (*payload.downcast::<String>().unwrap()).clone()
            };
            let last = threads - 1;
            let on_each = || {
                workers.on_each(|worker| assert!(worker != last, "worker {worker} gives up"));
            };
            let expected = format!("worker {last} gives up");
            assert_eq!(message(&on_each), expected);
            assert_eq!(message(&|| workers.run(on_each)), expected);
            assert_eq!(
                message(&|| workers.run(|| panic!("{threads} give up"))),
                format!("{threads} give up")
            );
            // The workers can still be used.
            assert_eq!(workers.run(|| 7), 7);
            workers.on_each(|_| {});
        }
    }
}

/// Prints the cost of a call:
/// `cargo test --release -p paje-workers -- --ignored --nocapture the_cost_of_on_each`
#[test]
#[ignore = "a measurement without checks"]
fn the_cost_of_on_each() {
    const CALLS: usize = 1_000_000;
    let cost = |f: &(dyn Fn() + Sync)| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| f());
        start.elapsed().as_secs_f64() * 1e9 / CALLS as f64
    };
    let calls = AtomicUsize::new(0);
    let work = |_| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    println!("a call: {:.1} ns", cost(&|| work(0)));
    for (threads, pin) in [(1, "none"), (1, "compact"), (2, "none"), (2, "compact")] {
        let workers = start(threads, pin);
        let inside = workers.run(|| cost(&|| workers.on_each(work)));
        println!("{threads} worker(s), {pin}: {inside:.1} ns");
    }
}

#[test]
fn the_number_of_workers_is_limited() {
    let sensible = (available().get() * 4).max(8);
    assert_eq!(start(sensible, "none").threads(), sensible);
    for pin in ["none", "compact"] {
        let workers = start(sensible + 1000, pin);
        assert_eq!(workers.threads(), sensible);
        assert!(workers.notes()[0].starts_with(&format!("Using {sensible} workers instead of ")));
    }
}

#[test]
fn on_first_runs_on_the_first_workers() {
    let workers = start(4, "none");
    for count in [1, 3, 4] {
        let called = Mutex::new(vec![]);
        let call = || workers.on_first(count, |worker| called.lock().unwrap().push(worker));
        call();
        workers.run(call);
        let mut called = called.into_inner().unwrap();
        called.sort_unstable();
        let twice: Vec<_> = (0..count).flat_map(|worker| [worker, worker]).collect();
        assert_eq!(called, twice);
    }
}
