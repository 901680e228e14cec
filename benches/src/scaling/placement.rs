//! Where the floor's threads run, for each policy.
//!
//! `pj_dump --pin` places its own threads; the floor follows the same words with the plainest reading
//! of them. Where the two differ on a machine, its node distances say so, not these figures.

use std::io;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::record::Pin;

/// A CPU that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number, 0-based.
    pub id: usize,
    /// Its memory node.
    pub node: usize,
    /// Its package and core: CPUs with the same pair share one core.
    pub core: (usize, usize),
}

/// The CPUs that this process may use, by number.
///
/// # Errors
///
/// What the kernel says.
pub fn cpus() -> io::Result<Vec<Cpu>> {
    let allowed = sched_getaffinity(None)?;
    let ids = (0..CpuSet::MAX_CPU).filter(|id| allowed.is_set(*id));
    Ok(ids.map(cpu).collect())
}

/// Machines without this knowledge (or that hide it) count as one node of one-threaded cores.
fn cpu(id: usize) -> Cpu {
    let folder = Path::new("/sys/devices/system/cpu").join(format!("cpu{id}"));
    let number = |name: &str| {
        let text = std::fs::read_to_string(folder.join("topology").join(name)).ok()?;
        text.trim().parse().ok()
    };
    let core = (number("physical_package_id").unwrap_or(0), number("core_id").unwrap_or(id));
    let names = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let node = names
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok())
        .next();
    Cpu { id, node: node.unwrap_or(0), core }
}

/// The CPUs on which each of `threads` threads may run; nothing for a thread that is free. With more
/// threads than CPUs it starts again from the first.
pub fn place(pin: Pin, threads: usize, cpus: &[Cpu]) -> Vec<Vec<usize>> {
    let mut order = cpus.to_vec();
    let nodes = nodes(cpus);
    match pin {
        Pin::None => return vec![Vec::new(); threads],
        Pin::Numa => {
            let of = |node: usize| cpus.iter().filter(move |cpu| cpu.node == node);
            let sets: Vec<Vec<usize>> =
                nodes.iter().map(|node| of(*node).map(|cpu| cpu.id).collect()).collect();
            return sets.iter().cycle().take(threads).cloned().collect();
        }
        Pin::Compact => order.sort_by_key(|cpu| (cpu.node, cpu.core, cpu.id)),
        Pin::Scatter => {
            // All first threads of cores before the second ones, in turn from every node.
            let sibling = |cpu: &Cpu| {
                cpus.iter().filter(|other| other.core == cpu.core && other.id < cpu.id).count()
            };
            let turn = |cpu: &Cpu| {
                let before = |other: &&Cpu| {
                    other.node == cpu.node
                        && (sibling(other), other.core, other.id) < (sibling(cpu), cpu.core, cpu.id)
                };
                cpus.iter().filter(before).count()
            };
            order.sort_by_key(|cpu| (sibling(cpu), turn(cpu), cpu.node));
        }
    }
    order.iter().cycle().take(threads).map(|cpu| vec![cpu.id]).collect()
}

/// The memory nodes of some CPUs, each once, in order.
pub fn nodes(cpus: &[Cpu]) -> Vec<usize> {
    let mut nodes: Vec<usize> = cpus.iter().map(|cpu| cpu.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Binds the calling thread to some CPUs; leaves it as it is if there are none.
///
/// # Errors
///
/// What the kernel says.
pub fn bind(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores with two threads each, numbered as Linux does.
    fn machine() -> Vec<Cpu> {
        let cpu = |id| {
            let core = id % 4;
            Cpu { id, node: core / 2, core: (core / 2, core) }
        };
        (0..8).map(cpu).collect()
    }

    fn order(pin: Pin, threads: usize) -> Vec<usize> {
        place(pin, threads, &machine()).concat()
    }

    #[test]
    fn policies() {
        assert_eq!(order(Pin::Compact, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(order(Pin::Scatter, 8), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(order(Pin::Compact, 9)[8], 0);
        assert_eq!(order(Pin::None, 3), [0; 0]);
        let sets = place(Pin::Numa, 3, &machine());
        assert_eq!(sets, [[0, 1, 4, 5], [2, 3, 6, 7], [0, 1, 4, 5]]);
    }

    #[test]
    fn this_machine_can_be_bound_to() {
        let cpus = cpus().unwrap();
        assert!(!cpus.is_empty());
        let last = cpus[cpus.len() - 1].id;
        std::thread::spawn(move || {
            bind(&[last]).unwrap();
            assert_eq!(super::cpus().unwrap().iter().map(|cpu| cpu.id).collect::<Vec<_>>(), [last]);
        })
        .join()
        .unwrap();
    }
}
