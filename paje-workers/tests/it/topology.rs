//! Topologies as read from the files.

use paje_workers::Cpu;

use crate::machines::{read, topology};

/// Number, node and core of each CPU.
fn cpus(tree: &str) -> Vec<(usize, Option<u32>, usize)> {
    let topology = read(tree).unwrap();
    topology.cpus().iter().map(|cpu| (cpu.number, cpu.node, cpu.core)).collect()
}

#[test]
fn siblings_share_a_core() {
    let topology = topology("hyper-threads").unwrap();
    assert_eq!(topology.nodes(), [0, 1]);
    assert_eq!(topology.cpus().len(), 32);
    assert_eq!(topology.cpu(8), Some(Cpu { number: 8, node: Some(1), core: 8 }));
    assert_eq!(topology.cpu(24), Some(Cpu { number: 24, node: Some(1), core: 8 }));
    assert_eq!(topology.cpu(32), None);
}

#[test]
fn cores_come_from_their_numbers_where_siblings_are_not_listed() {
    let topology = topology("memory-node").unwrap();
    assert_eq!(topology.nodes(), [0, 1, 2]);
    let cpus: Vec<_> = topology.cpus().iter().map(|cpu| (cpu.number, cpu.core)).collect();
    assert_eq!(cpus, [(0, 0), (1, 0), (2, 2), (3, 2), (4, 4), (6, 6), (7, 6)]);
}

#[test]
fn nothing_is_missing() {
    let error = topology("nothing").unwrap_err();
    assert!(error.to_string().ends_with(" shows no CPUs"), "{error}");
}

#[test]
fn nodes_alone_are_enough() {
    let tree = "node/node1/cpulist:1,3\nnode/node0/cpulist:0";
    assert_eq!(cpus(tree), [(0, Some(0), 0), (1, Some(1), 1), (3, Some(1), 3)]);
}

#[test]
fn a_kernel_without_numa_shows_no_nodes() {
    let tree = "cpu/cpu0/topology/thread_siblings_list:0-1\n\
                cpu/cpu1/topology/thread_siblings_list:0-1\n\
                cpu/cpu2/topology/core_id:0";
    assert_eq!(cpus(tree), [(0, None, 0), (1, None, 0), (2, None, 2)]);
    assert_eq!(read(tree).unwrap().nodes(), [0; 0]);
}

#[test]
fn unknown_numbers_make_no_core() {
    let tree = "cpu/cpu0/topology/core_id:-1\ncpu/cpu0/topology/physical_package_id:-1\n\
                cpu/cpu1/topology/core_id:-1\ncpu/cpu1/topology/physical_package_id:-1";
    assert_eq!(cpus(tree), [(0, None, 0), (1, None, 1)]);
}

#[test]
fn broken_files_tell_nothing() {
    let tree = "node/node0/cpulist:zero\nnode/nodeX/cpulist:1\ncpu/online:?\n\
                cpu/cpu0/topology/thread_siblings_list:0-\ncpu/cpu1/topology/core_id:1";
    assert_eq!(cpus(tree), [(0, None, 0), (1, None, 1)]);
}
