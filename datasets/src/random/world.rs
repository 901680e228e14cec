//! Knowledge of a replayer at one point of the trace: types, containers, lanes. The generator keeps it so
//! that it can tell which event would be valid next, and which would not.

use std::collections::{BTreeMap, BTreeSet};

use crate::rng::Rng;

/// Nature of a type's entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nature {
    Container,
    State,
    Variable,
    Event,
    Link,
}

impl Nature {
    /// Tells whether entities of the nature have named values.
    pub(super) fn has_values(self) -> bool {
        matches!(self, Self::State | Self::Event | Self::Link)
    }
}

/// A type; its place in [`World::types`] is its handle.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) nature: Nature,
    /// The container type it belongs to.
    pub(super) parent: usize,
    /// The container types that a link type joins.
    pub(super) ends: (usize, usize),
    /// The identifiers of its values.
    pub(super) values: Vec<String>,
}

/// A container; its place in [`World::containers`] is its handle.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) id: String,
    pub(super) kind: usize,
    pub(super) parent: usize,
    pub(super) destroyed: bool,
    /// No event of the lanes in it is later than this tick, nor its own creation.
    pub(super) latest: u64,
    /// The earliest tick of an event in it.
    pub(super) earliest: u64,
}

/// The entities of one type in one container.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// No further event may be earlier than this tick.
    pub(super) last: u64,
    /// Open states.
    pub(super) depth: usize,
    /// True if a variable has a value.
    pub(super) set: bool,
    pub(super) used_keys: BTreeSet<String>,
}

/// One end of a link that waits for the other.
#[derive(Clone, Debug)]
pub(super) struct OpenLink {
    pub(super) container: usize,
    pub(super) kind: usize,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) ticks: u64,
    /// True if the end seen is the start.
    pub(super) started: bool,
}

/// The state of the replay.
#[derive(Debug)]
pub(super) struct World {
    pub(super) types: Vec<Type>,
    pub(super) containers: Vec<Container>,
    lanes: BTreeMap<(usize, usize), Lane>,
    pub(super) open_links: Vec<OpenLink>,
    type_ids: BTreeSet<String>,
    container_ids: BTreeSet<String>,
}

/// The root type, and the root container.
pub(super) const ROOT: usize = 0;

/// Texts that stand for names and identifiers of every kind, so that kinds share texts. None holds a
/// comma, a quote, or a blank at either end (see the rules in the module above).
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

/// A text from the pool, for a name.
pub(super) fn name(rng: &mut Rng) -> String {
    rng.pick(&POOL).to_owned()
}

/// A text that `taken` does not contain yet; the caller adds it.
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

    /// An identifier that no type has had; it is taken from now on.
    pub(super) fn fresh_type_id(&mut self, rng: &mut Rng) -> String {
        let id = fresh(&self.type_ids, rng);
        self.type_ids.insert(id.clone());
        id
    }

    /// An identifier that no container has had; it is taken from now on.
    pub(super) fn fresh_container_id(&mut self, rng: &mut Rng) -> String {
        let id = fresh(&self.container_ids, rng);
        self.container_ids.insert(id.clone());
        id
    }

    /// The types of `nature` that may occur in containers of type `parent`.
    pub(super) fn children(&self, parent: usize, nature: Nature) -> Vec<usize> {
        let own = |&index: &usize| {
            index != ROOT
                && self.types[index].parent == parent
                && self.types[index].nature == nature
        };
        (0..self.types.len()).filter(own).collect()
    }

    /// The types of `nature`, the root aside.
    pub(super) fn of_nature(&self, nature: Nature) -> Vec<usize> {
        (1..self.types.len()).filter(|&index| self.types[index].nature == nature).collect()
    }

    /// The containers of type `kind`, destroyed ones too.
    pub(super) fn containers_of(&self, kind: usize) -> Vec<usize> {
        (0..self.containers.len()).filter(|&index| self.containers[index].kind == kind).collect()
    }

    /// A lane in which an event of `nature` may occur now.
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

    /// Records that an event took place in a living container.
    pub(super) fn touch(&mut self, container: usize, kind: usize, ticks: u64) {
        let lane = self.lane(container, kind);
        lane.last = lane.last.max(ticks);
        self.stamp(container, ticks);
    }

    /// Records a time of a container without any lane's order being concerned.
    pub(super) fn stamp(&mut self, container: usize, ticks: u64) {
        let latest = &mut self.containers[container].latest;
        *latest = (*latest).max(ticks);
    }

    /// `container` and everything below it.
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

    /// The depth of a type in the tree, the root's being 0.
    pub(super) fn depth(&self, mut kind: usize) -> usize {
        let mut depth = 0;
        while kind != ROOT {
            kind = self.types[kind].parent;
            depth += 1;
        }
        depth
    }
}
