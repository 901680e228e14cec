//! Choice of CPUs for workers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use crate::cpulist::Cpulist;
use crate::{Pin, Topology};

/// CPUs for workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// In the order of the workers. Empty for [`Pin::None`].
    pub cpus: Vec<usize>,
    /// Notes for the user, as sentences.
    pub notes: Vec<String>,
}

/// Why workers cannot run where they should.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlacementError {
    /// The machine has no such CPU, or it is offline.
    NoCpu {
        /// The CPU.
        cpu: usize,
        /// Those that are online, by number.
        online: Vec<usize>,
    },
    /// The process may not use a CPU.
    CpuNotAllowed {
        /// The CPU.
        cpu: usize,
        /// Those that it may use, by number.
        allowed: Vec<usize>,
    },
    /// The system does not show its NUMA nodes.
    NodesUnknown,
    /// The machine has no such NUMA node.
    NoNode {
        /// The node.
        node: u32,
        /// Those that it has, by number.
        nodes: Vec<u32>,
    },
    /// The NUMA node has only memory.
    NodeWithoutCpus {
        /// The node.
        node: u32,
    },
    /// The process may use no CPU of the NUMA node.
    NodeNotAllowed {
        /// The node.
        node: u32,
        /// The CPUs that the process may use, by number.
        allowed: Vec<usize>,
    },
    /// There is no CPU to choose: the list is empty, or so is what the process may use.
    NoCpus,
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlacementError::NoCpu { cpu, online } => write!(
                f,
                "this machine has no CPU {cpu}, or it is offline (online: {})",
                Cpulist(online)
            ),
            PlacementError::CpuNotAllowed { cpu, allowed } => {
                write!(f, "this process may not use CPU {cpu} (it may use {})", Cpulist(allowed))
            }
            PlacementError::NodesUnknown => f.write_str(
                "this system does not show its NUMA nodes; use compact, scatter, or a list of CPUs",
            ),
            PlacementError::NoNode { node, nodes } => {
                write!(f, "this machine has no NUMA node {node} (nodes: {})", Cpulist(nodes))
            }
            PlacementError::NodeWithoutCpus { node } => {
                write!(f, "NUMA node {node} has no CPUs, only memory")
            }
            PlacementError::NodeNotAllowed { node, allowed } => write!(
                f,
                "this process may use no CPU of NUMA node {node} (it may use CPUs {})",
                Cpulist(allowed)
            ),
            PlacementError::NoCpus => f.write_str("there is no CPU to run workers on"),
        }
    }
}

impl std::error::Error for PlacementError {}

/// CPUs for `threads` workers among `allowed`, those that the process may use. Where `threads` is
/// none, there is one worker for each CPU that `pin` means.
///
/// More workers than CPUs start again from the first CPU. No CPU comes twice before that, even if
/// [`Pin::List`] has it twice.
///
/// Without a topology, [`Pin::Compact`] and [`Pin::Scatter`] take CPUs in the order of their
/// numbers.
///
/// # Errors
/// `pin` names CPUs or nodes that are not there or that the process may not use, or there is no
/// topology that would tell the CPUs of a node.
pub fn placement(
    pin: &Pin,
    topology: Option<&Topology>,
    allowed: &[usize],
    threads: Option<usize>,
) -> Result<Placement, PlacementError> {
    if *pin == Pin::None {
        return Ok(Placement::default());
    }
    let mut notes = Vec::new();
    let chosen = match pin {
        Pin::List(cpus) => listed(cpus, topology, allowed)?,
        Pin::Numa(nodes) => scatter(&nodes_of(nodes, topology, allowed)?),
        Pin::None | Pin::Compact | Pin::Scatter => {
            if topology.is_none() {
                notes.push(
                    "This system does not show its NUMA nodes and cores: workers get CPUs in the \
                     order of their numbers."
                        .to_owned(),
                );
            }
            let nodes: Vec<Node> = grouped(topology, allowed).into_values().collect();
            if *pin == Pin::Scatter { scatter(&nodes) } else { compact(&nodes) }
        }
    };
    if chosen.is_empty() {
        return Err(PlacementError::NoCpus);
    }
    let threads = threads.unwrap_or(chosen.len());
    if threads > chosen.len() {
        notes.push(match chosen.len() {
            1 => format!("{threads} workers share CPU {}.", chosen[0]),
            cpus => format!("{threads} workers share {cpus} CPUs."),
        });
    }
    Ok(Placement { cpus: chosen.iter().copied().cycle().take(threads).collect(), notes })
}

/// CPUs of one node: the first hardware thread of every core, the second one of every core that has
/// two, and so on; by number in each.
type Node = Vec<Vec<usize>>;

/// The CPUs of each node, those of no known node last.
fn grouped(topology: Option<&Topology>, allowed: &[usize]) -> BTreeMap<(bool, u32), Node> {
    let mut nodes: BTreeMap<_, Node> = BTreeMap::new();
    let mut threads = HashMap::new();
    for number in sorted(allowed) {
        let cpu = topology.and_then(|topology| topology.cpu(number));
        let (node, core) = cpu.map_or((None, number), |cpu| (cpu.node, cpu.core));
        // Counted among the CPUs that may be used: where those of the first threads are taken away,
        // a second thread has its core for itself.
        let thread: &mut usize = threads.entry(core).or_default();
        let node = nodes.entry((node.is_none(), node.unwrap_or(0))).or_default();
        if node.len() <= *thread {
            node.resize(*thread + 1, Vec::new());
        }
        node[*thread].push(number);
        *thread += 1;
    }
    nodes
}

/// Node after node.
fn compact(nodes: &[Node]) -> Vec<usize> {
    nodes.iter().flatten().flatten().copied().collect()
}

/// From one node after the other, in turn, as long as they have some.
fn scatter(nodes: &[Node]) -> Vec<usize> {
    let mut order = Vec::new();
    for thread in 0..nodes.iter().map(Vec::len).max().unwrap_or(0) {
        let cpus: Vec<_> = nodes.iter().filter_map(|node| node.get(thread)).collect();
        for turn in 0..cpus.iter().map(|cpus| cpus.len()).max().unwrap_or(0) {
            order.extend(cpus.iter().filter_map(|cpus| cpus.get(turn)));
        }
    }
    order
}

/// The CPUs of some nodes, in the order in which they are asked for; of all if none is.
fn nodes_of(
    asked: &[u32],
    topology: Option<&Topology>,
    allowed: &[usize],
) -> Result<Vec<Node>, PlacementError> {
    let topology = topology
        .filter(|topology| !topology.nodes().is_empty())
        .ok_or(PlacementError::NodesUnknown)?;
    let mut nodes = grouped(Some(topology), allowed);
    if asked.is_empty() {
        nodes.retain(|(unknown, _), _| !unknown);
        return Ok(nodes.into_values().collect());
    }
    let mut found = Vec::new();
    for node in distinct(asked) {
        found.push(nodes.remove(&(false, node)).ok_or_else(|| {
            if !topology.nodes().contains(&node) {
                PlacementError::NoNode { node, nodes: topology.nodes().to_owned() }
            } else if topology.cpus().iter().any(|cpu| cpu.node == Some(node)) {
                PlacementError::NodeNotAllowed { node, allowed: sorted(allowed) }
            } else {
                PlacementError::NodeWithoutCpus { node }
            }
        })?);
    }
    Ok(found)
}

/// The CPUs of a list, if the process may use them all.
fn listed(
    cpus: &[usize],
    topology: Option<&Topology>,
    allowed: &[usize],
) -> Result<Vec<usize>, PlacementError> {
    let cpus = distinct(cpus);
    let usable: HashSet<_> = allowed.iter().collect();
    if let Some(&cpu) = cpus.iter().find(|cpu| !usable.contains(cpu)) {
        return Err(match topology {
            Some(topology) if topology.cpu(cpu).is_none() => PlacementError::NoCpu {
                cpu,
                online: topology.cpus().iter().map(|cpu| cpu.number).collect(),
            },
            _ => PlacementError::CpuNotAllowed { cpu, allowed: sorted(allowed) },
        });
    }
    Ok(cpus)
}

/// Each number once, where it comes first.
fn distinct<N: Copy + Eq + std::hash::Hash>(numbers: &[N]) -> Vec<N> {
    let mut seen = HashSet::new();
    numbers.iter().copied().filter(|number| seen.insert(*number)).collect()
}

/// Each number once, ascending.
fn sorted(numbers: &[usize]) -> Vec<usize> {
    let mut numbers = distinct(numbers);
    numbers.sort_unstable();
    numbers
}
