use std::collections::HashSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::topology::Cpu;

/// Returns the topology of a machine with `cpus` CPUs. `of` returns the node and the core of each
/// CPU, or `None` if it is offline.
fn machine(cpus: usize, nodes: u32, of: impl Fn(usize) -> Option<(u32, usize)>) -> Topology {
    let cpu = |number| {
        let (node, core) = of(number)?;
        Some((number, Cpu { number, node: Some(node), core }))
    };
    Topology { cpus: (0..cpus).filter_map(cpu).collect(), nodes: (0..nodes).collect() }
}

static MACHINES: LazyLock<[(&str, Option<Topology>); 5]> = LazyLock::new(|| {
    [
        // Consecutive CPUs are on different nodes.
        ("round-robin", Some(machine(24, 4, |cpu| Some((cpu as u32 % 4, cpu))))),
        // There are two nodes of eight cores. The second threads of all cores are numbered after
        // the first threads.
        ("hyper-threads", Some(machine(32, 2, |cpu| Some((cpu as u32 % 16 / 8, cpu % 16))))),
        ("plain", Some(machine(4, 1, |cpu| Some((0, cpu))))),
        // Threads of a core have consecutive numbers, CPU 5 is offline, and node 2 has only memory.
        (
            "memory-node",
            Some(machine(8, 3, |cpu| match cpu {
                5 => None,
                4 => Some((1, 4)),
                _ => Some((cpu as u32 / 4, cpu & !1)),
            })),
        ),
        ("nothing", None),
    ]
});

fn topology(name: &str) -> Option<&'static Topology> {
    let (_, topology) = MACHINES.iter().find(|(known, _)| *known == name).expect("a machine");
    topology.as_ref()
}

fn place(
    machine: &str,
    pin: &str,
    allowed: impl IntoIterator<Item = usize>,
    threads: Option<usize>,
) -> Result<Placement, PlacementError> {
    let allowed: Vec<usize> = allowed.into_iter().collect();
    placement(&pin.parse().unwrap(), topology(machine), &allowed, threads)
}

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
fn nodes_with_alternating_numbers() {
    let cpus = |pin, threads| cpus("round-robin", pin, 0..24, threads);
    assert_eq!(cpus("compact", Some(8)), [0, 4, 8, 12, 16, 20, 1, 5]);
    assert_eq!(cpus("scatter", None), (0..24).collect::<Vec<_>>());
    assert_eq!(cpus("numa", Some(5)), [0, 1, 2, 3, 4]);
    assert_eq!(cpus("numa:2", None), [2, 6, 10, 14, 18, 22]);
    assert_eq!(cpus("numa:3,1", Some(5)), [3, 1, 7, 5, 11]);
    assert_eq!(cpus("23,0-2", Some(3)), [23, 0, 1]);
}

#[test]
fn cores_with_two_threads() {
    let cpus = |pin, threads| cpus("hyper-threads", pin, 0..32, threads);
    let node0 = (0..8).chain(16..24);
    let node1 = (8..16).chain(24..32);
    let nodes: Vec<_> = node0.clone().chain(node1.clone()).collect();
    assert_eq!(cpus("compact", None), nodes);
    assert_eq!(cpus("scatter", Some(5)), [0, 8, 1, 9, 2]);
    let turns: Vec<_> = node0.zip(node1.clone()).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(cpus("scatter", None), turns);
    assert_eq!(cpus("numa", None), turns);
    assert_eq!(cpus("numa:1", None), node1.collect::<Vec<_>>());
    assert_eq!(cpus("16,0", None), [16, 0]);
}

#[test]
fn only_allowed_cpus_are_used() {
    let some = [1, 2, 16, 17, 24, 25, 9];
    let cpus = |pin, threads| super::tests::cpus("hyper-threads", pin, some, threads);
    // CPUs 16 and 24 are alone on their cores. CPUs 17 and 25 share cores with CPUs 1 and 9.
    assert_eq!(cpus("compact", None), [1, 2, 16, 17, 9, 24, 25]);
    assert_eq!(cpus("scatter", None), [1, 9, 2, 24, 16, 17, 25]);
    assert_eq!(cpus("numa:1", None), [9, 24, 25]);
    assert_eq!(cpus("25,1", None), [25, 1]);
}

#[test]
fn a_single_node() {
    for pin in ["compact", "scatter", "numa", "numa:0"] {
        assert_eq!(cpus("plain", pin, 0..4, None), [0, 1, 2, 3]);
        assert_eq!(cpus("plain", pin, [3, 1], None), [1, 3]);
        assert_eq!(cpus("plain", pin, 0..4, Some(2)), [0, 1]);
    }
    assert_eq!(cpus("plain", "3,1", 0..4, None), [3, 1]);
    assert_eq!(place("plain", "none", 0..4, Some(9)), Ok(Placement::default()));
}

#[test]
fn an_unknown_topology() {
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
            "this system does not show its NUMA nodes; use compact, scatter or a list of CPUs"
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
    assert_eq!(cpus("numa", None), [0, 4, 2, 6, 1, 7, 3]);
    assert_eq!(cpus("numa:1", None), [4, 6, 7]);
    assert_eq!(
        error("memory-node", "0,5", allowed),
        "this machine has no CPU 5, or it is offline (online: 0-4,6,7)"
    );
    assert_eq!(error("memory-node", "numa:0,2", allowed), "NUMA node 2 has no CPUs, only memory");
}

#[test]
fn missing_and_forbidden_cpus_are_refused() {
    let node0 = (0..8).chain(16..24);
    assert_eq!(
        error("hyper-threads", "numa:2", 0..32),
        "this machine has no NUMA node 2 (nodes: 0,1)"
    );
    assert_eq!(
        error("hyper-threads", "numa:0,1", node0.clone()),
        "this process may not use any CPU of NUMA node 1 (it may use CPUs 0-7,16-23)"
    );
    assert_eq!(
        error("hyper-threads", "0,8", node0),
        "this process may not use CPU 8 (it may use 0-7,16-23)"
    );
    assert_eq!(
        error("hyper-threads", "32", 0..32),
        "this machine has no CPU 32, or it is offline (online: 0-31)"
    );
    assert_eq!(error("plain", "compact", []), "there are no CPUs to run workers on");
}

#[test]
fn more_workers_than_cpus_start_again() {
    let placed = place("plain", "scatter", 0..4, Some(6)).unwrap();
    assert_eq!(placed.cpus, [0, 1, 2, 3, 0, 1]);
    assert_eq!(placed.notes, ["6 workers share 4 CPUs."]);
    let placed = place("plain", "2", 0..4, Some(3)).unwrap();
    assert_eq!(placed.cpus, [2, 2, 2]);
    assert_eq!(placed.notes, ["3 workers share CPU 2."]);
    // A CPU is used twice only if all others are in use.
    let twice = placement(&Pin::List(vec![3, 3, 1]), None, &[1, 3], Some(2)).unwrap();
    assert_eq!(twice, Placement { cpus: vec![3, 1], notes: vec![] });
}

#[test]
fn cpus_that_the_topology_does_not_know_come_last() {
    assert_eq!(cpus("plain", "scatter", 2..6, None), [2, 4, 3, 5]);
    assert_eq!(cpus("plain", "compact", 2..6, None), [2, 3, 4, 5]);
    assert_eq!(cpus("plain", "numa", 2..6, None), [2, 3]);
}

proptest! {
    /// Each core gets a worker before any core gets a second worker. For `compact`, this applies to
    /// each node separately.
    #[test]
    fn every_worker_gets_an_allowed_cpu(
        machine in 0..MACHINES.len(),
        mut allowed in proptest::sample::subsequence((0..32).collect::<Vec<usize>>(), 1..=32),
        pin in prop_oneof![Just(Pin::Compact), Just(Pin::Scatter)],
        threads in proptest::option::of(1..80_usize),
    ) {
        let topology = MACHINES[machine].1.as_ref();
        allowed.retain(|cpu| topology.is_none_or(|topology| topology.cpu(*cpu).is_some()));
        prop_assume!(!allowed.is_empty());
        let cpu = |cpu: usize| topology.and_then(|topology| topology.cpu(cpu));
        let node = |number: usize| cpu(number).and_then(|cpu| cpu.node);
        let core = |number: usize| cpu(number).map_or(number, |cpu| cpu.core);
        let cpus = placement(&pin, topology, &allowed, threads).unwrap().cpus;
        prop_assert_eq!(cpus.len(), threads.unwrap_or(allowed.len()));
        prop_assert!(cpus.iter().all(|cpu| allowed.contains(cpu)));
        let round = &cpus[..cpus.len().min(allowed.len())];
        prop_assert_eq!(round.iter().collect::<HashSet<_>>().len(), round.len());
        prop_assert!((round.len()..cpus.len()).all(|at| cpus[at] == cpus[at - round.len()]));
        for (at, &cpu) in round.iter().enumerate() {
            let has_one = |core_of: usize| round[..at].iter().any(|before| core(*before) == core(core_of));
            let is_apart = |other| pin == Pin::Compact && node(other) != node(cpu);
            prop_assert!(!has_one(cpu) || allowed.iter().all(|&other| is_apart(other) || has_one(other)));
        }
        if pin == Pin::Compact {
            let changes = round.windows(2).filter(|pair| node(pair[0]) != node(pair[1]));
            let nodes: HashSet<_> = round.iter().map(|cpu| node(*cpu)).collect();
            prop_assert_eq!(changes.count() + 1, nodes.len());
        }
    }
}
