//! The CPU of each worker thread.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::pin::List;
use crate::{Pin, Topology};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) cpus: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

/// Error for workers that cannot run on the requested CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementError(String);

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlacementError {}

/// Chooses CPUs for `threads` workers from the `allowed` CPUs. Without `threads`, there is one
/// worker for each suitable CPU. If there are more workers than CPUs, the remaining workers start
/// again at the first CPU.
pub(crate) fn placement(
    pin: &Pin,
    topology: Option<&Topology>,
    allowed: &[usize],
    threads: Option<usize>,
) -> Result<Placement, PlacementError> {
    let mut notes = Vec::new();
    let cpus = match pin {
        Pin::None => return Ok(Placement::default()),
        Pin::List(cpus) => listed(cpus, topology, allowed)?,
        Pin::Numa(nodes) => on_nodes(nodes, topology, allowed)?,
        Pin::Compact | Pin::Scatter => {
            if topology.is_none() {
                notes.push(
                    "This system does not show its NUMA nodes and cores: workers get CPUs in the \
                     order of their numbers."
                        .to_owned(),
                );
            }
            in_turns(seats(topology, allowed), *pin == Pin::Compact)
        }
    };
    if cpus.is_empty() {
        return Err(PlacementError("there are no CPUs to run workers on".to_owned()));
    }
    let threads = threads.unwrap_or(cpus.len());
    if threads > cpus.len() {
        notes.push(match cpus.len() {
            1 => format!("{threads} workers share CPU {}.", cpus[0]),
            count => format!("{threads} workers share {count} CPUs."),
        });
    }
    Ok(Placement { cpus: cpus.into_iter().cycle().take(threads).collect(), notes })
}

struct Seat {
    cpu: usize,
    node: Option<u32>,
    thread: usize,
}

fn seats(topology: Option<&Topology>, allowed: &[usize]) -> Vec<Seat> {
    let mut allowed = distinct(allowed);
    allowed.sort_unstable();
    let mut threads: HashMap<usize, usize> = HashMap::new();
    let seats = allowed.into_iter().map(|number| {
        let cpu = topology.and_then(|topology| topology.cpu(number));
        let (node, core) = cpu.map_or((None, number), |cpu| (cpu.node, cpu.core));
        let before = threads.entry(core).or_default();
        *before += 1;
        Seat { cpu: number, node, thread: *before - 1 }
    });
    seats.collect()
}

/// Orders CPUs by node if `is_compact` is true. Otherwise, alternates between nodes. The first
/// threads of cores come before the second threads, and CPUs of unknown nodes come last.
fn in_turns(seats: Vec<Seat>, is_compact: bool) -> Vec<usize> {
    let mut turns: HashMap<_, usize> = HashMap::new();
    let keyed = seats.into_iter().map(|Seat { cpu, node, thread }| {
        let node = node.map_or(usize::MAX, |node| node as usize);
        let turn = turns.entry((node, thread)).or_default();
        *turn += 1;
        (if is_compact { (node, thread, *turn) } else { (thread, *turn, node) }, cpu)
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Returns the allowed CPUs of these NUMA nodes, or of all nodes, and alternates between nodes.
fn on_nodes(
    asked: &[u32],
    topology: Option<&Topology>,
    allowed: &[usize],
) -> Result<Vec<usize>, PlacementError> {
    let Some(topology) = topology.filter(|topology| !topology.nodes.is_empty()) else {
        return Err(PlacementError(
            "this system does not show its NUMA nodes; use compact, scatter or a list of CPUs"
                .to_owned(),
        ));
    };
    let mut seats = seats(Some(topology), allowed);
    let asked = distinct(asked);
    for node in &asked {
        if seats.iter().any(|seat| seat.node == Some(*node)) {
            continue;
        }
        return Err(PlacementError(if !topology.nodes.contains(node) {
            let nodes: Vec<u32> = topology.nodes.iter().copied().collect();
            format!("this machine has no NUMA node {node} (nodes: {})", List(&nodes))
        } else if topology.cpus.values().any(|cpu| cpu.node == Some(*node)) {
            let allowed: Vec<usize> = seats.iter().map(|seat| seat.cpu).collect();
            let allowed = List(&allowed);
            format!(
                "this process may not use any CPU of NUMA node {node} (it may use CPUs {allowed})"
            )
        } else {
            format!("NUMA node {node} has no CPUs, only memory")
        }));
    }
    let place = |node: u32| asked.iter().position(|asked| *asked == node);
    seats.retain(|seat| seat.node.is_some_and(|node| asked.is_empty() || place(node).is_some()));
    for seat in &mut seats {
        // The nodes are used in the requested order, not in the order of their numbers.
        seat.node = seat.node.map(|node| place(node).map_or(node, |place| place as u32));
    }
    Ok(in_turns(seats, false))
}

fn listed(
    cpus: &[usize],
    topology: Option<&Topology>,
    allowed: &[usize],
) -> Result<Vec<usize>, PlacementError> {
    let cpus = distinct(cpus);
    let Some(cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu)) else { return Ok(cpus) };
    Err(PlacementError(match topology {
        Some(topology) if topology.cpu(*cpu).is_none() => {
            let online: Vec<usize> = topology.cpus.keys().copied().collect();
            format!("this machine has no CPU {cpu}, or it is offline (online: {})", List(&online))
        }
        _ => {
            let mut allowed = distinct(allowed);
            allowed.sort_unstable();
            format!("this process may not use CPU {cpu} (it may use {})", List(&allowed))
        }
    }))
}

fn distinct<N: Copy + Eq + std::hash::Hash>(numbers: &[N]) -> Vec<N> {
    let mut seen = HashSet::new();
    numbers.iter().copied().filter(|number| seen.insert(*number)).collect()
}

#[cfg(test)]
mod tests;
