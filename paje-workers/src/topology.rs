//! The machine's NUMA nodes, cores and CPUs, as Linux shows them in files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use crate::cpulist::parse_cpulist;

/// Where Linux shows them.
pub const SYS: &str = "/sys/devices/system";

/// One CPU as the system counts them: a core, or one of its hardware threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The system's number.
    pub number: usize,
    /// Its NUMA node; none where the system does not say.
    pub node: Option<u32>,
    /// Its core, called by the lowest number of a CPU on it.
    pub core: usize,
}

/// The CPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<Cpu>,
    nodes: Vec<u32>,
}

/// The files of the topology are not there, or tell nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Where they were looked for.
    pub path: PathBuf,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shows no CPUs", self.path.display())
    }
}

impl std::error::Error for Missing {}

impl Topology {
    /// Reads it from the files under `sys`, which is [`SYS`] but for tests.
    ///
    /// Containers hide some of these files, and old kernels lack some. So none has to be there, and
    /// what is there counts for as much as it tells: a CPU without a node has none, and a CPU
    /// without a core is a core of its own.
    ///
    /// # Errors
    /// No CPU at all is shown.
    pub fn read(sys: &Path) -> Result<Topology, Missing> {
        let mut node_of = HashMap::new();
        let node_dirs = numbered(&sys.join("node"), "node");
        for (&node, dir) in &node_dirs {
            // A node that has only memory has an empty list.
            for cpu in read_cpulist(&dir.join("cpulist")).unwrap_or_default() {
                node_of.insert(cpu, node);
            }
        }
        let cpu_dirs = numbered(&sys.join("cpu"), "cpu");
        let mut numbers: BTreeSet<u32> = node_of.keys().chain(cpu_dirs.keys()).copied().collect();
        // An offline CPU keeps its directory.
        if let Some(online) = read_cpulist(&sys.join("cpu/online")) {
            numbers.retain(|number| online.contains(number));
        }

        let mut cores = HashMap::new();
        let mut cpus = Vec::with_capacity(numbers.len());
        for number in numbers {
            let topology = sys.join(format!("cpu/cpu{number}/topology"));
            let core = match Core::read(&topology) {
                Some(core) => *cores.entry(core).or_insert(number),
                None => number,
            };
            cpus.push(Cpu {
                number: number as usize,
                node: node_of.get(&number).copied(),
                core: core as usize,
            });
        }
        if cpus.is_empty() {
            return Err(Missing { path: sys.to_owned() });
        }
        Ok(Topology { cpus, nodes: node_dirs.into_keys().collect() })
    }

    /// The CPUs that are online, by number.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The numbers of the NUMA nodes, ascending, with those that have only memory. Empty where the
    /// system shows none.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The CPU of this number.
    #[must_use]
    pub fn cpu(&self, number: usize) -> Option<Cpu> {
        let at = self.cpus.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
        Some(self.cpus[at])
    }
}

/// Key of a core, which its hardware threads have in common.
#[derive(PartialEq, Eq, Hash)]
enum Core {
    Siblings(Vec<u32>),
    /// Cores are numbered from zero in each package.
    Numbers {
        package: u32,
        core: u32,
    },
}

impl Core {
    fn read(topology: &Path) -> Option<Core> {
        if let Some(siblings) = read_cpulist(&topology.join("thread_siblings_list")) {
            return Some(Core::Siblings(siblings));
        }
        // The kernel writes -1 for a number that it does not know; that is no core.
        let number = |file| fs::read_to_string(topology.join(file)).ok()?.trim().parse().ok();
        Some(Core::Numbers { package: number("physical_package_id")?, core: number("core_id")? })
    }
}

/// The entries `PREFIX0`, `PREFIX1` and so on of a directory.
fn numbered(dir: &Path, prefix: &str) -> BTreeMap<u32, PathBuf> {
    let number = |name: &str| name.strip_prefix(prefix)?.parse().ok();
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect()
}

/// The numbers that a file lists; none if it is not there or lists nothing.
fn read_cpulist(path: &Path) -> Option<Vec<u32>> {
    parse_cpulist(fs::read_to_string(path).ok()?.trim()).ok()
}
