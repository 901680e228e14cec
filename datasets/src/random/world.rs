//! State of a replay at a point of the trace: types, containers and lanes. The generator uses it to
//! choose valid and invalid events.

use std::collections::{BTreeMap, BTreeSet};

use crate::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nature {
    Container,
    State,
    Variable,
    Event,
    Link,
}

impl Nature {
    pub(super) fn has_values(self) -> bool {
        matches!(self, Self::State | Self::Event | Self::Link)
    }
}

/// A type. Other types refer to it by its index in [`World::types`].
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) nature: Nature,
    pub(super) parent: usize,
    /// For a link type, the container types that it connects.
    pub(super) ends: (usize, usize),
    pub(super) values: Vec<String>,
}

/// A container. Other parts refer to it by its index in [`World::containers`].
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) id: String,
    pub(super) kind: usize,
    pub(super) parent: usize,
    pub(super) destroyed: bool,
    /// Tick of the latest event in the container, including its creation.
    pub(super) latest: u64,
    /// Tick of the earliest event in the container.
    pub(super) earliest: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// Earliest tick at which another event is allowed.
    pub(super) last: u64,
    pub(super) depth: usize,
    pub(super) set: bool,
    pub(super) used_keys: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(super) struct OpenLink {
    pub(super) container: usize,
    pub(super) kind: usize,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) ticks: u64,
    /// Whether the written end of the link is its start.
    pub(super) started: bool,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) types: Vec<Type>,
    pub(super) containers: Vec<Container>,
    lanes: BTreeMap<(usize, usize), Lane>,
    pub(super) open_links: Vec<OpenLink>,
    type_ids: BTreeSet<String>,
    container_ids: BTreeSet<String>,
}

pub(super) const ROOT: usize = 0;

/// Names and identifiers of all kinds of objects. Different kinds thus share texts. The parent
/// module lists the characters that must not occur.
const POOL: [&str; 28] = [
    "a",
    "b",
    "c",
    "S",
    "V",
    "Node",
    "node",
    "1",
    "2",
    "10",
    "Host",
    "rank-0",
    "rank 1",
    "MPI_Send",
    "MPI State",
    "x#y",
    "# no",
    "é",
    "{}",
    "{ 1 }",
    "%",
    "%x",
    "Power",
    "00",
    "-1",
    "it's",
    "a=b;c",
    "Thread (main) [4]",
];

pub(super) fn name(rng: &mut Rng) -> String {
    rng.pick(&POOL).to_owned()
}

/// Returns a text that is not in `taken`. The caller adds the text to `taken`.
fn fresh(taken: &BTreeSet<String>, rng: &mut Rng) -> String {
    for _ in 0..4 {
        let text = name(rng);
        if !taken.contains(&text) {
            return text;
        }
    }
    let mut number = rng.below(40);
    loop {
        let text = format!("{}{number}", rng.pick(&["c", "t", "p_", ""]));
        if !taken.contains(&text) && text != "0" {
            return text;
        }
        number += 1;
    }
}

impl World {
    pub(super) fn new() -> Self {
        let zero = || String::from("0");
        Self {
            types: vec![Type {
                id: zero(),
                name: zero(),
                nature: Nature::Container,
                parent: ROOT,
                ends: (ROOT, ROOT),
                values: Vec::new(),
            }],
            containers: vec![Container {
                id: zero(),
                kind: ROOT,
                parent: ROOT,
                destroyed: false,
                latest: 0,
                earliest: 0,
            }],
            lanes: BTreeMap::new(),
            open_links: Vec::new(),
            type_ids: BTreeSet::from([zero()]),
            container_ids: BTreeSet::from([zero()]),
        }
    }

    pub(super) fn fresh_type_id(&mut self, rng: &mut Rng) -> String {
        let id = fresh(&self.type_ids, rng);
        self.type_ids.insert(id.clone());
        id
    }

    pub(super) fn fresh_container_id(&mut self, rng: &mut Rng) -> String {
        let id = fresh(&self.container_ids, rng);
        self.container_ids.insert(id.clone());
        id
    }

    /// Returns the types of `nature` that are allowed in containers of type `parent`.
    pub(super) fn children(&self, parent: usize, nature: Nature) -> Vec<usize> {
        let own = |&index: &usize| {
            index != ROOT
                && self.types[index].parent == parent
                && self.types[index].nature == nature
        };
        (0..self.types.len()).filter(own).collect()
    }

    pub(super) fn of_nature(&self, nature: Nature) -> Vec<usize> {
        (1..self.types.len()).filter(|&index| self.types[index].nature == nature).collect()
    }

    /// Returns the containers of type `kind`, including destroyed ones.
    pub(super) fn containers_of(&self, kind: usize) -> Vec<usize> {
        (0..self.containers.len()).filter(|&index| self.containers[index].kind == kind).collect()
    }

    /// Returns a lane in which an event of `nature` is allowed now.
    pub(super) fn pick_lane(
        &self,
        nature: Nature,
        living_only: bool,
        rng: &mut Rng,
    ) -> Option<(usize, usize)> {
        for _ in 0..6 {
            let container = rng.index(self.containers.len());
            if self.containers[container].destroyed && (living_only || rng.percent(60)) {
                continue;
            }
            let kinds = self.children(self.containers[container].kind, nature);
            if !kinds.is_empty() {
                return Some((container, rng.pick(&kinds)));
            }
        }
        None
    }

    pub(super) fn lane(&mut self, container: usize, kind: usize) -> &mut Lane {
        let earliest = self.containers[container].earliest;
        self.lanes
            .entry((container, kind))
            .or_insert_with(|| Lane { last: earliest, ..Lane::default() })
    }

    pub(super) fn touch(&mut self, container: usize, kind: usize, ticks: u64) {
        let lane = self.lane(container, kind);
        lane.last = lane.last.max(ticks);
        self.stamp(container, ticks);
    }

    pub(super) fn stamp(&mut self, container: usize, ticks: u64) {
        let latest = &mut self.containers[container].latest;
        *latest = (*latest).max(ticks);
    }

    pub(super) fn subtree(&self, container: usize) -> Vec<usize> {
        let mut found = vec![container];
        let mut next = 0;
        while next < found.len() {
            let parent = found[next];
            found.extend(
                (1..self.containers.len()).filter(|&child| self.containers[child].parent == parent),
            );
            next += 1;
        }
        found
    }

    pub(super) fn depth(&self, mut kind: usize) -> usize {
        let mut depth = 0;
        while kind != ROOT {
            kind = self.types[kind].parent;
            depth += 1;
        }
        depth
    }
}
