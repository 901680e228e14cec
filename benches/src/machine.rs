//! Describes the machine, without its name.

use std::fs::read_to_string;
use std::process::Command;

/// Returns a description for a record: what `lscpu` prints about the processor, caches and memory
/// nodes, and then memory, kernel and load.
pub fn describe() -> String {
    let output = Command::new("lscpu").output().map(|output| output.stdout).unwrap_or_default();
    let line = |path| read_to_string(path).unwrap_or_default().lines().next().map(str::to_owned);
    let mut text = String::from_utf8_lossy(&output).into_owned();
    for (name, path) in [
        ("Memory", "/proc/meminfo"),
        ("Kernel", "/proc/sys/kernel/osrelease"),
        ("Transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
        ("Load", "/proc/loadavg"),
    ] {
        text += &format!("{name}: {}\n", line(path).unwrap_or_default());
    }
    text
}

/// Returns the processor's name and the number of CPUs that this process may use.
pub fn processor() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or(std::env::consts::ARCH, |(_, name)| name);
    format!("{}, {} cores", name.replace("(R)", "").replace("(TM)", ""), paje_workers::available())
}
