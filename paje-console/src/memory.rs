//! Memory limit and peak memory of a run.

use std::fs;
use std::path::{Path, PathBuf};

use paje_decimal::amounts::size;
use paje_sim::MemoryLimit;

/// Value of `--memory-limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Number of bytes.
    Bytes(u64),
    /// Share of the machine's memory, between 0 and 1.
    Share(f64),
    /// No limit.
    None,
}

/// Default limit. It leaves some memory for other programs and for the page cache.
const DEFAULT: Limit = Limit::Share(0.75);

impl Limit {
    /// Parses a limit.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Limit::None);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent = percent.parse().ok().filter(|percent| (1.0..=100.0).contains(percent));
            return percent
                .map(|percent: f64| Limit::Share(percent / 100.0))
                .ok_or_else(|| "expected a percentage from 1% to 100%".into());
        }
        match size(text) {
            Ok(bytes) if bytes >= MemoryLimit::LEAST => Ok(Limit::Bytes(bytes)),
            Ok(_) => Err("expected at least 32M".into()),
            Err(_) => Err("expected a size such as 4G, a share such as 50%, or none".into()),
        }
    }
}

/// Returns the memory limit of a replay, and the folder for objects beyond the limit. Returns
/// `None` if the memory is unlimited.
#[must_use]
pub fn limit(limit: Option<Limit>, folder: Option<&Path>) -> Option<MemoryLimit> {
    let bytes = match limit.unwrap_or(DEFAULT) {
        Limit::Bytes(bytes) => bytes,
        Limit::Share(share) => (available(Path::new("/"))? as f64 * share) as u64,
        Limit::None => return None,
    };
    Some(MemoryLimit::new(bytes, folder.map(Path::to_owned)))
}

/// Returns the memory available to the process. This is the machine's memory, or less if control
/// groups limit the process. `root` is the root of the file system.
fn available(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let total = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some(group_limits(root).fold(total, u64::min))
}

/// Yields the limits of the process's control groups, which have version 1 or 2.
fn group_limits(root: &Path) -> impl Iterator<Item = u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let files = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (mount, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            some if some.split(',').any(|one| one == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        Some((root.join(mount), PathBuf::from(group), file))
    });
    let files: Vec<PathBuf> = files
        .flat_map(|(mount, group, file)| {
            // The limits of a group's parents also apply to the group. In a container, the group's
            // own folder is the mount itself.
            let within =
                |group: &Path| mount.join(group.strip_prefix("/").unwrap_or(group)).join(file);
            group.ancestors().map(within).collect::<Vec<_>>()
        })
        .collect();
    files.into_iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
}

/// Returns the peak resident memory of the process in bytes. Only Linux reports it.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    peak_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed() {
        assert_eq!(Limit::parse("none"), Ok(Limit::None));
        assert_eq!(Limit::parse("4G"), Ok(Limit::Bytes(4 << 30)));
        assert_eq!(Limit::parse("50%"), Ok(Limit::Share(0.5)));
        for wrong in ["", "0%", "101%", "x%", "1M", "all", "-4G"] {
            assert!(Limit::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_smallest_of_machine_and_group_limits_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        assert_eq!(available(root.path()), None);
        write("proc/meminfo", "MemTotal:       24689764 kB\nMemFree:        1 kB\n");
        assert_eq!(available(root.path()), Some(24_689_764 << 10));
        // Here, the control groups have version 2, and the parent group has the limit.
        write("proc/self/cgroup", "0::/user.slice/session.scope\n");
        write("sys/fs/cgroup/user.slice/session.scope/memory.max", "max\n");
        write("sys/fs/cgroup/user.slice/memory.max", "4294967296\n");
        assert_eq!(available(root.path()), Some(4 << 30));
        // Here, the version is 1. The limit is above the machine's memory, so it has no effect.
        write("proc/self/cgroup", "3:cpu,cpuacct:/a\n2:memory:/a\n0::/\n");
        write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(available(root.path()), Some(24_689_764 << 10));
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
        assert_eq!(available(root.path()), Some(1 << 30));
    }

    #[test]
    fn peak_memory_is_read_from_linux() {
        let status = "Name:\tpj_dump\nVmPeak:\t  900 kB\nVmHWM:\t    1024 kB\nVmRSS:\t 100 kB\n";
        assert_eq!(peak_in(status), Some(1 << 20));
        for status in ["", "VmHWM:\t", "VmHWM: 1 MB\n", "VmHWM: x kB\n"] {
            assert_eq!(peak_in(status), None, "{status}");
        }
        assert_eq!(peak_memory().is_some(), cfg!(target_os = "linux"));
    }
}
