//! NUMA nodes, cores and CPUs of the machine, read from files of Linux.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::pin::parse_list;

/// Folder of these files.
pub const SYS: &str = "/sys/devices/system";

/// A CPU, which is a core or one of its hardware threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Number of the CPU, as assigned by the system.
    pub number: usize,
    /// NUMA node, if known.
    pub node: Option<u32>,
    /// The core, given by the lowest number of its CPUs.
    pub core: usize,
}

/// The CPUs of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    pub(crate) cpus: BTreeMap<usize, Cpu>,
    /// All NUMA nodes, including nodes that have only memory.
    pub(crate) nodes: BTreeSet<u32>,
}

impl Topology {
    /// Reads the topology below `sys`, which is [`SYS`] except in tests. Returns `None` if no CPU
    /// is listed.
    ///
    /// Containers hide some of these files. If so, the node of a CPU is unknown, or the CPU counts
    /// as the only CPU of its core.
    #[must_use]
    pub fn read(sys: &Path) -> Option<Topology> {
        let list = |path: &str| {
            let text = fs::read_to_string(sys.join(path)).ok()?;
            parse_list(text.trim()).ok()
        };
        let mut topology = Topology::default();
        let mut node_of = BTreeMap::new();
        for entry in fs::read_dir(sys.join("node")).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok());
            let Some(node) = number else { continue };
            topology.nodes.insert(node);
            // The list of a node with only memory is empty.
            let cpus = list(&format!("node/node{node}/cpulist")).unwrap_or_default();
            node_of.extend(cpus.into_iter().map(|cpu| (cpu, node)));
        }
        let cpus = list("cpu/online").unwrap_or_else(|| node_of.keys().copied().collect());
        for cpu in cpus {
            let siblings = list(&format!("cpu/cpu{cpu}/topology/thread_siblings_list"));
            let core = siblings.and_then(|cpus| cpus.into_iter().min()).unwrap_or(cpu) as usize;
            let (number, node) = (cpu as usize, node_of.get(&cpu).copied());
            topology.cpus.insert(number, Cpu { number, node, core });
        }
        (!topology.cpus.is_empty()).then_some(topology)
    }

    /// Returns the CPU with this number, if it is online.
    #[must_use]
    pub fn cpu(&self, number: usize) -> Option<Cpu> {
        self.cpus.get(&number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &str) -> Option<Topology> {
        let sys = tempfile::tempdir().unwrap();
        for line in files.lines() {
            let (path, content) = line.split_once(':').unwrap();
            let path = sys.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        }
        Topology::read(sys.path())
    }

    fn cpus(files: &str) -> Vec<(usize, Option<u32>, usize)> {
        let topology = read(files).unwrap();
        topology.cpus.values().map(|cpu| (cpu.number, cpu.node, cpu.core)).collect()
    }

    #[test]
    fn siblings_offline_cpus_and_memory_nodes_are_read() {
        let files = "cpu/online:0-2,4\nnode/node0/cpulist:0-1\nnode/node1/cpulist:2,4\n\
                     node/node2/cpulist:\nnode/online:0-2\ncpu/cpu3/online:0\n\
                     cpu/cpu0/topology/thread_siblings_list:0,2\ncpu/cpu2/topology/thread_siblings_list:0,2";
        assert_eq!(
            cpus(files),
            [(0, Some(0), 0), (1, Some(0), 1), (2, Some(1), 0), (4, Some(1), 4)]
        );
        let topology = read(files).unwrap();
        assert!(topology.nodes.into_iter().eq(0..3));
    }

    #[test]
    fn hidden_and_broken_files_are_ignored() {
        assert_eq!(read(""), None);
        let nodes = "node/node1/cpulist:1,3\nnode/node0/cpulist:0";
        assert_eq!(cpus(nodes), [(0, Some(0), 0), (1, Some(1), 1), (3, Some(1), 3)]);
        let broken = "cpu/online:0-1\nnode/node0/cpulist:zero\nnode/nodeX/cpulist:1\n\
                      cpu/cpu0/topology/thread_siblings_list:0-";
        assert_eq!(cpus(broken), [(0, None, 0), (1, None, 1)]);
    }
}
