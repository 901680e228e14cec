//! The order of CPUs.

use std::collections::HashSet;

use paje_workers::{Pin, Placement, PlacementError, placement};
use proptest::prelude::*;

use crate::machines::{MACHINES, topology};

fn place(
    machine: &str,
    pin: &str,
    allowed: impl IntoIterator<Item = usize>,
    threads: Option<usize>,
) -> Result<Placement, PlacementError> {
    let topology = topology(machine).ok();
    let allowed: Vec<usize> = allowed.into_iter().collect();
    placement(&pin.parse().unwrap(), topology, &allowed, threads)
}

/// CPUs where there is nothing to note.
#[track_caller]
fn cpus(
    machine: &str,
    pin: &str,
    allowed: impl IntoIterator<Item = usize>,
    threads: Option<usize>,
) -> Vec<usize> {
    let placed = place(machine, pin, allowed, threads).unwrap();
    assert_eq!(placed.notes, [""; 0]);
    placed.cpus
}

#[track_caller]
fn error(machine: &str, pin: &str, allowed: impl IntoIterator<Item = usize>) -> String {
    place(machine, pin, allowed, Some(1)).unwrap_err().to_string()
}

#[test]
fn round_robin_numbers() {
    let all = 0..24;
    let cpus = |pin, threads| cpus("round-robin", pin, all.clone(), threads);
    assert_eq!(cpus("compact", Some(1)), [0]);
    assert_eq!(cpus("compact", Some(8)), [0, 4, 8, 12, 16, 20, 1, 5]);
    assert_eq!(
        cpus("compact", None),
        [0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23]
    );
    assert_eq!(cpus("scatter", Some(6)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(cpus("scatter", None), all.clone().collect::<Vec<_>>());
    assert_eq!(cpus("numa", Some(5)), [0, 1, 2, 3, 4]);
    assert_eq!(cpus("numa:2", None), [2, 6, 10, 14, 18, 22]);
    assert_eq!(cpus("numa:3,1", Some(5)), [3, 1, 7, 5, 11]);
    assert_eq!(cpus("numa:0,1", None), [0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21]);
    assert_eq!(cpus("23,0-2", Some(3)), [23, 0, 1]);
}

#[test]
fn hyper_threads() {
    let cpus = |pin, threads| cpus("hyper-threads", pin, 0..32, threads);
    assert_eq!(cpus("compact", Some(9)), [0, 1, 2, 3, 4, 5, 6, 7, 16]);
    let node0 = (0..8).chain(16..24);
    let node1 = (8..16).chain(24..32);
    let nodes: Vec<_> = node0.clone().chain(node1.clone()).collect();
    assert_eq!(cpus("compact", None), nodes);
    assert_eq!(cpus("scatter", Some(5)), [0, 8, 1, 9, 2]);
    let turns: Vec<_> = node0.zip(node1.clone()).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(cpus("scatter", None), turns);
    assert_eq!(cpus("numa", None), turns);
    assert_eq!(cpus("numa:1", None), node1.collect::<Vec<_>>());
    assert_eq!(cpus("numa:1", Some(2)), [8, 9]);
    assert_eq!(cpus("16,0", None), [16, 0]);
}

#[test]
fn masks() {
    let some = [1, 2, 16, 17, 24, 25, 9];
    let cpus = |pin, threads| cpus("hyper-threads", pin, some, threads);
    // 16 and 24 have their cores for themselves; 17 and 25 share with 1 and 9.
    assert_eq!(cpus("compact", None), [1, 2, 16, 17, 9, 24, 25]);
    assert_eq!(cpus("scatter", None), [1, 9, 2, 24, 16, 17, 25]);
    assert_eq!(cpus("numa:1", None), [9, 24, 25]);
    assert_eq!(cpus("25,1", None), [25, 1]);
}

#[test]
fn one_node() {
    for pin in ["compact", "scatter", "numa", "numa:0"] {
        assert_eq!(cpus("plain", pin, 0..4, None), [0, 1, 2, 3]);
        assert_eq!(cpus("plain", pin, [3, 1], None), [1, 3]);
        assert_eq!(cpus("plain", pin, 0..4, Some(2)), [0, 1]);
    }
    assert_eq!(cpus("plain", "3,1", 0..4, None), [3, 1]);
}

#[test]
fn no_topology() {
    for pin in ["compact", "scatter"] {
        let placed = place("nothing", pin, [6, 2, 4], Some(2)).unwrap();
        assert_eq!(placed.cpus, [2, 4]);
        assert_eq!(
            placed.notes,
            ["This system does not show its NUMA nodes and cores: workers get CPUs in the order \
              of their numbers."]
        );
    }
    assert_eq!(cpus("nothing", "6,2", [6, 2, 4], None), [6, 2]);
    for pin in ["numa", "numa:0"] {
        assert_eq!(
            error("nothing", pin, 0..4),
            "this system does not show its NUMA nodes; use compact, scatter, or a list of CPUs"
        );
    }
    assert_eq!(error("nothing", "3,9", 0..4), "this process may not use CPU 9 (it may use 0-3)");
}

#[test]
fn a_memory_only_node_and_an_offline_cpu() {
    let allowed = [0, 1, 2, 3, 4, 6, 7];
    let cpus = |pin, threads| cpus("memory-node", pin, allowed, threads);
    assert_eq!(cpus("compact", None), [0, 2, 1, 3, 4, 6, 7]);
    assert_eq!(cpus("scatter", None), [0, 4, 2, 6, 1, 7, 3]);
    assert_eq!(cpus("scatter", Some(3)), [0, 4, 2]);
    assert_eq!(cpus("numa", None), [0, 4, 2, 6, 1, 7, 3]);
    assert_eq!(cpus("numa:1", None), [4, 6, 7]);
    assert_eq!(
        error("memory-node", "0,5", allowed),
        "this machine has no CPU 5, or it is offline (online: 0-4,6,7)"
    );
    assert_eq!(error("memory-node", "numa:0,2", allowed), "NUMA node 2 has no CPUs, only memory");
}

#[test]
fn what_is_not_there_or_not_allowed() {
    let node0 = (0..8).chain(16..24);
    assert_eq!(
        error("hyper-threads", "numa:2", 0..32),
        "this machine has no NUMA node 2 (nodes: 0,1)"
    );
    assert_eq!(
        error("hyper-threads", "numa:0,1", node0.clone()),
        "this process may use no CPU of NUMA node 1 (it may use CPUs 0-7,16-23)"
    );
    assert_eq!(
        error("hyper-threads", "0,8", node0),
        "this process may not use CPU 8 (it may use 0-7,16-23)"
    );
    assert_eq!(
        error("hyper-threads", "32", 0..32),
        "this machine has no CPU 32, or it is offline (online: 0-31)"
    );
    assert_eq!(error("plain", "compact", []), "there is no CPU to run workers on");
    let nowhere = placement(&Pin::List(vec![]), None, &[0], None);
    assert_eq!(nowhere, Err(PlacementError::NoCpus));
}

#[test]
fn more_workers_than_cpus_start_again() {
    let placed = place("plain", "scatter", 0..4, Some(6)).unwrap();
    assert_eq!(placed.cpus, [0, 1, 2, 3, 0, 1]);
    assert_eq!(placed.notes, ["6 workers share 4 CPUs."]);
    let placed = place("plain", "2", 0..4, Some(3)).unwrap();
    assert_eq!(placed.cpus, [2, 2, 2]);
    assert_eq!(placed.notes, ["3 workers share CPU 2."]);
    // No CPU comes twice before that.
    let twice = placement(&Pin::List(vec![3, 3, 1]), None, &[1, 3], Some(2)).unwrap();
    assert_eq!(twice, Placement { cpus: vec![3, 1], notes: vec![] });
}

#[test]
fn cpus_that_the_topology_does_not_know_come_last() {
    assert_eq!(cpus("plain", "scatter", 2..6, None), [2, 4, 3, 5]);
    assert_eq!(cpus("plain", "compact", 2..6, None), [2, 3, 4, 5]);
    assert_eq!(cpus("plain", "numa", 2..6, None), [2, 3]);
}

#[test]
fn without_pinning_there_is_no_place() {
    assert_eq!(place("plain", "none", 0..4, Some(9)), Ok(Placement::default()));
}

proptest! {
    #[test]
    fn every_worker_gets_an_allowed_cpu(
        machine in proptest::sample::select(&MACHINES),
        mut allowed in proptest::sample::subsequence((0..32).collect::<Vec<usize>>(), 1..=32),
        way in 0..4,
        threads in proptest::option::of(1..80_usize),
        listed in 1..=32_usize,
        seed: u64,
    ) {
        let topology = topology(machine);
        // A mask has only CPUs that are there.
        if let Ok(topology) = &topology {
            allowed.retain(|cpu| topology.cpu(*cpu).is_some());
            prop_assume!(!allowed.is_empty());
        }
        let topology = topology.ok();
        let node = |cpu: usize| topology?.cpu(cpu)?.node;
        let core = |cpu: usize| {
            topology.and_then(|topology| topology.cpu(cpu)).map_or(cpu, |cpu| cpu.core)
        };
        // Another order than that of numbers, to be repeated from the seed.
        let mut shuffled = allowed.clone();
        shuffled.sort_by_key(|cpu| (*cpu as u64 + 1).wrapping_mul(seed | 1).rotate_left(29));
        let (pin, chosen) = match way {
            0 => (Pin::Compact, allowed.clone()),
            1 => (Pin::Scatter, allowed.clone()),
            2 => {
                let first = node(shuffled[0]);
                prop_assume!(first.is_some());
                let nodes = first.into_iter().collect();
                let cpus = allowed.iter().copied().filter(|cpu| node(*cpu) == first).collect();
                (Pin::Numa(nodes), cpus)
            }
            _ => {
                shuffled.truncate(listed);
                (Pin::List(shuffled.clone()), shuffled)
            }
        };
        let placed = placement(&pin, topology, &allowed, threads).unwrap();
        let cpus = placed.cpus;
        prop_assert_eq!(cpus.len(), threads.unwrap_or(chosen.len()));
        prop_assert!(cpus.iter().all(|cpu| chosen.contains(cpu)));
        let once: HashSet<_> = cpus.iter().collect();
        prop_assert_eq!(once.len(), cpus.len().min(chosen.len()));
        prop_assert!((chosen.len()..cpus.len()).all(|at| cpus[at] == cpus[at - chosen.len()]));

        // All cores get a worker before any gets its second one; all of a node, for compact.
        if !matches!(pin, Pin::List(_)) {
            let round = &cpus[..cpus.len().min(chosen.len())];
            for (at, &cpu) in round.iter().enumerate() {
                if round[..at].iter().any(|before| core(*before) == core(cpu)) {
                    prop_assert!(
                        chosen.iter().all(|&other| {
                            (pin == Pin::Compact && node(other) != node(cpu))
                                || round[..at].iter().any(|before| core(*before) == core(other))
                        }),
                        "{cpu} in {round:?}"
                    );
                }
            }
            if pin == Pin::Compact {
                let changes = round.windows(2).filter(|pair| node(pair[0]) != node(pair[1]));
                let nodes: HashSet<_> = round.iter().map(|cpu| node(*cpu)).collect();
                prop_assert_eq!(changes.count() + 1, nodes.len());
            }
        }
    }
}
