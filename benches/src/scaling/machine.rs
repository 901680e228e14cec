//! Machine of the figures, without its name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::read_to_string;

use std::path::Path;

use paje_workers::{Cpu, Topology, topology};

/// Processor, CPUs, nodes, memory and kernel, one `what: it is` a line. No names of hosts or folders.
pub fn describe() -> String {
    let cpus = cpus();
    // A machine that shows no nodes has one.
    let node_of = |cpu: &Cpu| cpu.node.unwrap_or(0);
    let nodes: BTreeSet<_> = cpus.iter().map(node_of).collect();
    let cores: BTreeSet<_> = cpus.iter().map(|cpu| cpu.core).collect();
    let mut text = format!("processor: {}\n", processor());
    let facts = [(cpus.len(), "CPU"), (cores.len(), "core"), (nodes.len(), "memory node")];
    let facts =
        facts.map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
    let _ = writeln!(text, "usable: {}", facts.join(", "));
    for node in nodes {
        let ids: Vec<usize> =
            cpus.iter().filter(|cpu| node_of(cpu) == node).map(|cpu| cpu.number).collect();
        let path = format!("/sys/devices/system/node/node{node}/meminfo");
        let memory = memory(&path).unwrap_or_else(|| "unknown memory".into());
        let _ = writeln!(text, "node {node}: CPUs {}; {memory}", ranges(&ids));
    }
    let memory = memory("/proc/meminfo").unwrap_or_else(|| "unknown".into());
    let _ = writeln!(text, "memory: {memory}");
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let _ = writeln!(text, "kernel: {} {}", std::env::consts::OS, kernel.trim());
    let huge = "/sys/kernel/mm/transparent_hugepage/enabled";
    if let Ok(huge) = read_to_string(huge) {
        let _ = writeln!(text, "transparent huge pages: {}", huge.trim());
    }
    text
}

/// Number of threads that ran or wanted to, of all programs, on average of the last minute; if the kernel
/// tells.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Those that this process may use.
fn cpus() -> Vec<Cpu> {
    let topology = Topology::read(Path::new(topology::SYS));
    let numbers = paje_workers::allowed().unwrap_or_default().into_iter();
    let alone = |number| Cpu { number, node: None, core: number };
    numbers
        .map(|number| {
            topology.as_ref().and_then(|t| t.cpu(number)).unwrap_or_else(|| alone(number))
        })
        .collect()
}

/// The first two facts, for the head of a plot.
pub fn label(description: &str) -> String {
    let fact = |what: &str| description.lines().find_map(|line| line.strip_prefix(what));
    let facts: Vec<&str> = [fact("processor: "), fact("usable: ")].into_iter().flatten().collect();
    facts.join("; ")
}

fn processor() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or(std::env::consts::ARCH).replace("(R)", "").replace("(TM)", "")
}

/// The total of a file like `/proc/meminfo`.
fn memory(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.contains("MemTotal:"))?;
    let kib: f64 = line.split_whitespace().rev().nth(1)?.parse().ok()?;
    Some(format!("{:.1} GiB", kib / f64::from(1 << 20)))
}

/// Numbers in order, as `0-3,8`.
fn ranges(ids: &[usize]) -> String {
    let runs = ids.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told() {
        let text = describe();
        for what in ["processor: ", "usable: ", "node ", "memory: ", "kernel: linux "] {
            assert!(text.lines().any(|line| line.starts_with(what)), "{text}");
        }
        assert!(label("processor: A\nusable: 2 CPUs\n") == "A; 2 CPUs");
        assert_eq!(label(""), "");
        assert!(load().is_some_and(|load| load >= 0.0));
    }

    #[test]
    fn ranges_of_cpus() {
        assert_eq!(ranges(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(ranges(&[]), "");
    }
}
