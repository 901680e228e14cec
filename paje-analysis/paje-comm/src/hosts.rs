//! Hosts of the ranks. Ranks on one host share its links to the network.

use std::hash::Hash;
use std::iter;

use paje_sim::{ContainerId, TypeId};
use rustc_hash::FxHashMap;

use crate::tracks::{Track, Tracks};

/// Hosts of the ranks.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// First rank on the host of each rank. If the list is empty, each rank has a host of its own.
    first: Vec<u32>,
    is_known: bool,
}

impl Hosts {
    /// Assigns blocks of consecutive ranks to hosts.
    #[must_use]
    pub fn blocks(ranks: u32, per_host: u32) -> Self {
        Hosts::of((0..ranks).map(|rank| rank / per_host).collect())
    }

    /// Returns whether the trace or the user names the hosts.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Reads the hosts from the trace: the hosts of ranks are the next outer containers whose type is a host, a
    /// node or a machine. If all ranks are on one host, or the hosts of some ranks are unknown, each rank has a host of its own.
    #[must_use]
    pub(crate) fn recorded(tracks: &Tracks<'_>) -> Self {
        let (containers, types) = (tracks.trace().containers(), tracks.trace().types());
        let is_host = |type_: TypeId| {
            let name = types.name(type_).text;
            ["host", "node", "machine"].iter().any(|it| name.eq_ignore_ascii_case(it.as_bytes()))
        };
        let of = |track: &Track| {
            let outer = iter::successors(Some(track.container), |it| Some(containers.parent(*it)));
            let mut outer = outer.skip(1).take_while(|it| *it != ContainerId::ROOT);
            outer.find(|it| is_host(containers.type_of(*it)))
        };
        let all: Option<Vec<_>> = tracks.list().iter().map(of).collect();
        all.map_or_else(Hosts::default, Hosts::of)
    }

    /// Assigns ranks to hosts, given a host file of `mpirun` or `smpirun`. Each line has a host, maybe with a number of
    /// slots as in `a:2` or `a slots=2`. Ranks take the slots in order, and begin again after the last slot.
    ///
    /// # Errors
    /// Fails if there are no hosts or a number of slots is wrong.
    pub fn given(file: &str, ranks: usize) -> Result<Self, String> {
        let mut slots = Vec::new();
        for line in file.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split([' ', '\t', ':']).filter(|word| !word.is_empty());
            let Some(host) = words.next() else { continue };
            let count = words.find_map(|word| match word.strip_prefix("slots=") {
                None if word.contains('=') => None,
                count => Some(count.unwrap_or(word)),
            });
            let wrong = || format!("`{line}`: expected a host and a number of slots");
            let count: usize = count.map_or(Ok(1), str::parse).map_err(|_| wrong())?;
            slots.extend(iter::repeat_n(host, count.min(ranks - slots.len())));
        }
        if slots.is_empty() {
            return Err("the file has no hosts".into());
        }
        Ok(Hosts::of(slots.into_iter().cycle().take(ranks).collect()))
    }

    fn of<H: Hash + Eq>(hosts: Vec<H>) -> Self {
        let mut firsts: FxHashMap<H, u32> = FxHashMap::default();
        let first = |(rank, host)| *firsts.entry(host).or_insert(rank);
        let first: Vec<u32> = (0..).zip(hosts).map(first).collect();
        let is_alone = first.iter().all(|it| *it == first[0])
            || (0..).zip(&first).all(|(rank, it)| rank == *it);
        Hosts { first: if is_alone { Vec::new() } else { first }, is_known: true }
    }

    /// Returns the first rank on the host of a rank.
    #[must_use]
    #[inline]
    pub fn host(&self, rank: u32) -> u32 {
        self.first.get(rank as usize).copied().unwrap_or(rank)
    }

    /// Returns whether two ranks share a host.
    #[must_use]
    #[inline]
    pub fn is_same(&self, a: u32, b: u32) -> bool {
        self.host(a) == self.host(b)
    }

    /// Returns the number of hosts, if ranks share hosts.
    #[must_use]
    pub fn shared(&self) -> Option<usize> {
        let count = (0..).zip(&self.first).filter(|(rank, first)| rank == *first).count();
        (count > 0).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_files_assign_ranks_in_order() {
        let hosts = |file: &str, ranks| -> Vec<u32> {
            let hosts = Hosts::given(file, ranks).expect("a host file");
            (0..ranks as u32).map(|rank| hosts.host(rank)).collect()
        };
        assert_eq!(hosts("a:2\nb:2\n", 4), [0, 0, 2, 2]);
        assert_eq!(
            hosts("# of Open MPI\na slots=1 max_slots=4\n\nb slots=2 # big\n", 5),
            [0, 1, 1, 0, 1]
        );
        assert_eq!(hosts("a\nb\na\n", 3), [0, 1, 0]);
        assert_eq!(hosts("a:8", 3), [0, 1, 2], "a single host has no links to share");
        assert_eq!(Hosts::given("a\nb", 2).expect("a host file").shared(), None);
        assert_eq!(Hosts::given("a\nb", 3).expect("a host file").shared(), Some(2));
        for wrong in ["", "# none\n", "a:two"] {
            assert!(Hosts::given(wrong, 2).is_err(), "{wrong}");
        }
    }

    #[test]
    fn slots_without_ranks_take_no_memory() {
        let hosts = Hosts::given(&"a:1\nb:99999999\n".repeat(100_000), 100_000);
        assert_eq!(hosts.expect("a host file").shared(), Some(2));
    }
}
