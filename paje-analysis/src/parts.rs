//! Segments of a trace that is packed and not replayed: what they tell by themselves, and all together.
//!
//! A segment's [`Rows`] are added up by who packs it. Names mean something when all have come: then a sample of the lines
//! is replayed, which says whether they make sense, and what the reports call them. Where anything is left in doubt, there is no
//! answer, and the whole trace is to be replayed.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use paje_pack::{HalfLink, LinkEnd, Rows};
use paje_sim::{ContainerId, LaneId, Quoting, Trace, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::comm::BYTES;
use crate::comm::part::{CommPart, CommParts};
use crate::kept::{Facts, Keeper};
use crate::scope::Scope;
use crate::states::part::{StatesPart, StatesParts};
use crate::{comm, states};

/// Name of something, as lines have it.
pub(crate) type Text = Box<[u8]>;

/// Sums of a segment.
#[derive(Debug)]
pub struct Part {
    rows: Rows,
    states: StatesPart,
    comm: CommPart,
}

impl Part {
    /// Adds up the rows of a segment.
    #[must_use]
    pub fn of(mut rows: Rows) -> Part {
        let (states, comm) = (StatesPart::of(&rows), CommPart::of(&rows));
        (rows.states, rows.links) = (Vec::new(), Vec::new());
        Part { rows, states, comm }
    }
}

/// A lane, by its names, and the time of its last line.
#[derive(Debug)]
pub(crate) struct LaneNames {
    container: Text,
    type_: Text,
    last: f64,
    /// It has events of which only some are in the sample.
    has_events: bool,
    pub(crate) id: Option<LaneId>,
    pub(crate) type_id: Option<TypeId>,
}

/// Things by number, in the order in which they first come. Their names are those of a trace, which may be made to collide: std's
/// hashes depend on the process.
#[derive(Debug)]
struct Numbers<K>(HashMap<K, u32>);

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Numbers(HashMap::new())
    }
}

impl<K: Eq + Hash + Clone> Numbers<K> {
    /// The number of a thing; `came` is called if it is new.
    fn of(&mut self, thing: K, came: impl FnOnce(&K)) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert_with_key(|thing| {
            came(thing);
            next
        })
    }
}

/// Segments that have come, in order.
#[derive(Debug, Default)]
pub struct Parts {
    failed: bool,
    numbers_of_lanes: Numbers<(Text, Text)>,
    lanes: Vec<LaneNames>,
    numbers_of_values: Numbers<(Text, Text)>,
    values: Vec<(Text, Text)>,
    numbers_of_ends: Numbers<LinkEnd>,
    ends: Vec<LinkEnd>,
    states: StatesParts,
    comm: CommParts,
    /// Ends of links whose other end has not come, by lane and key.
    halves: HashMap<(u32, Text), (u32, f64)>,
    /// Hashes of keys.
    keys: Vec<Vec<u64>>,
    /// Containers that have ended.
    ended: HashSet<Text>,
    latest: f64,
    events: u64,
    lines: u64,
}

/// All that segments tell.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) states: states::States,
    pub(crate) comm: comm::Comm,
    /// Number of lines, and of those that are events.
    pub(crate) lines: u64,
    pub(crate) events: u64,
}

impl Parts {
    /// Takes in the next segment; none if only a replay can tell what it has.
    pub fn add(&mut self, part: Option<Part>) {
        if self.failed {
            return;
        }
        if part.and_then(|part| self.take(part)).is_none() {
            *self = Parts { failed: true, ..Parts::default() };
        }
    }

    /// Only a replay can tell.
    #[must_use]
    pub const fn have_failed(&self) -> bool {
        self.failed
    }

    fn take(&mut self, Part { mut rows, states, comm }: Part) -> Option<()> {
        let is_size = |field: &Text| BYTES.iter().any(|name| name.as_bytes() == &**field);
        if rows.link_fields.iter().any(is_size) {
            return None;
        }
        let used = rows.lanes.iter().map(|lane| &lane.container);
        let mut used = used.chain(rows.ends.iter().map(|end| &end.container));
        if !self.ended.is_empty() && used.any(|container| self.ended.contains(container)) {
            return None;
        }
        let events = std::mem::take(&mut rows.lanes_of_events);
        self.ended.extend(std::mem::take(&mut rows.ended));
        let mut lanes = Vec::with_capacity(rows.lanes.len());
        for lane in &rows.lanes {
            let names = (lane.container.clone(), lane.type_.clone());
            let number = self.numbers_of_lanes.of(names, |(container, type_)| {
                let (container, type_) = (container.clone(), type_.clone());
                let (id, type_id, last, has_events) = (None, None, 0.0, false);
                self.lanes.push(LaneNames { container, type_, last, has_events, id, type_id });
            });
            lanes.push(number);
        }
        for lane in events {
            self.lanes[lanes[lane as usize] as usize].has_events = true;
        }
        let value = |value: &(Text, Text)| {
            self.numbers_of_values.of(value.clone(), |value| self.values.push(value.clone()))
        };
        let values: Vec<u32> = rows.values.iter().map(value).collect();
        let end = |end: &LinkEnd| {
            let end = LinkEnd { lane: lanes[end.lane as usize], ..end.clone() };
            self.numbers_of_ends.of(end, |end| self.ends.push(end.clone()))
        };
        let ends: Vec<u32> = rows.ends.iter().map(end).collect();
        self.states.add(states, &rows, &lanes, &values)?;
        self.comm.add(&comm, &ends);
        let mut keys = std::mem::take(&mut rows.keys);
        for HalfLink { end, time, key, hash } in std::mem::take(&mut rows.halves) {
            let end = ends[end as usize];
            let place = (self.ends[end as usize].lane, key);
            match self.halves.remove(&place) {
                None => {
                    keys.push(hash);
                    self.halves.insert(place, (end, time));
                }
                Some(other) => self.link(other, (end, time))?,
            }
        }
        self.keys.push(keys);
        // Lines of links are in any order, all others in that of their times.
        let of_links: FxHashSet<u32> = rows.ends.iter().map(|end| end.lane).collect();
        for ((lane, number), at) in rows.lanes.iter().zip(&lanes).zip(0..) {
            let last = &mut self.lanes[*number as usize].last;
            if lane.first < *last && !of_links.contains(&at) {
                return None;
            }
            *last = last.max(lane.last);
        }
        self.latest = self.latest.max(rows.latest);
        self.events += rows.events;
        self.lines += rows.lines;
        Some(())
    }

    /// Two ends of a link; none if they are not those of one.
    fn link(&mut self, one: (u32, f64), other: (u32, f64)) -> Option<()> {
        let is_start = |(end, _): (u32, f64)| self.ends[end as usize].is_start;
        let ((from, start), (to, end)) = if is_start(one) { (one, other) } else { (other, one) };
        let (first, second) = (&self.ends[from as usize], &self.ends[to as usize]);
        if !first.is_start || second.is_start || first.bare_value() != second.bare_value() {
            return None;
        }
        self.comm.link((from, to), start, end);
        Some(())
    }

    /// The whole, of which a sample of the lines makes this trace. None if only a replay of all lines can tell.
    pub(crate) fn finish(mut self, sample: &Trace, [states, comm]: [Scope; 2]) -> Option<Whole> {
        let is_at_end = sample.end().to_bits() == self.latest.to_bits();
        if self.failed || !self.halves.is_empty() || !is_at_end || come_twice(&self.keys) {
            return None;
        }
        self.find_lanes(sample)?;
        self.end_containers(sample)?;
        Some(Whole {
            states: self.states.finish(states, sample, &self.lanes, &self.values)?,
            comm: self.comm.finish(comm, sample, &self.lanes, &self.ends)?,
            lines: self.lines,
            events: self.events,
        })
    }

    /// Finds the lanes in the sample's trace; none if names leave room for doubt.
    fn find_lanes(&mut self, sample: &Trace) -> Option<()> {
        let (containers, types) = (sample.containers(), sample.types());
        let stands_alone = |id| containers.find(containers.identifier(id).text) == Some(id);
        let type_stands_alone = |id| types.find(types.identifier(id).text) == Some(id);
        if !containers.ids().skip(1).all(stands_alone)
            || !types.ids().skip(1).all(type_stands_alone)
        {
            return None;
        }
        for container in &self.ended {
            find_container(sample, container)?;
        }
        for end in &self.ends {
            find_container(sample, &end.container)?;
        }
        let ids = sample.lanes().map(|lane| ((lane.container(), lane.type_id()), lane.id()));
        let ids: FxHashMap<(ContainerId, TypeId), LaneId> = ids.collect();
        let mut found = FxHashSet::default();
        for lane in &mut self.lanes {
            let container = find_container(sample, &lane.container)?;
            let type_ = types.find(&lane.type_)?;
            let is_called_so =
                type_ == TypeId::ROOT || types.identifier(type_).text == &*lane.type_;
            // Values that are in quotes here and may be without there are told by no sample.
            let is_bare = |value| types.value_identifier(type_, value).quoting == Quoting::Bare;
            if lane.has_events && !types.values(type_).all(is_bare) {
                return None;
            }
            if !is_called_so || !found.insert((container, type_)) {
                return None;
            }
            (lane.id, lane.type_id) = (ids.get(&(container, type_)).copied(), Some(type_));
        }
        Some(())
    }

    /// Ends what is open, with its container or with the trace; none if a container may have lines behind its end.
    fn end_containers(&mut self, sample: &Trace) -> Option<()> {
        let containers = sample.containers();
        let may_follow = |id: ContainerId, last: f64| match containers.destruction(id) {
            None => false,
            // Those that end by their own names are not used later: that has been seen.
            Some((_, true)) => last > containers.end(id),
            Some((_, false)) => last >= containers.end(id),
        };
        for end in &self.ends {
            let container = find_container(sample, &end.container)?;
            let is_by_name = containers.destruction(container).is_some_and(|(_, named)| named);
            if !is_by_name && may_follow(container, self.lanes[end.lane as usize].last) {
                return None;
            }
        }
        for (number, lane) in self.lanes.iter().enumerate() {
            let container = find_container(sample, &lane.container)?;
            if may_follow(container, lane.last) {
                return None;
            }
            self.states.end(number, containers.end(container))?;
        }
        Some(())
    }
}

impl Keeper {
    /// The same for who has seen the segments of a trace, which has so many bytes, and a replay of a [sample](paje_pack::Borders::sample) of its
    /// lines; with its facts. None if only a replay of all can tell.
    #[must_use]
    pub fn of(parts: Parts, sample: &Trace, bytes: u64) -> Option<(Keeper, Facts)> {
        let Whole { states, comm, lines, events } = parts.finish(sample, Keeper::scopes())?;
        Some((Keeper { states, comm }, Facts { bytes, lines, events, ..Facts::of(sample) }))
    }
}

/// The container that lines call so; none if it has another name that is its own.
fn find_container(sample: &Trace, name: &[u8]) -> Option<ContainerId> {
    let containers = sample.containers();
    let found = containers.find(name)?;
    (found == ContainerId::ROOT || containers.identifier(found).text == name).then_some(found)
}

/// Some hash is there twice.
fn come_twice(hashes: &[Vec<u64>]) -> bool {
    let count: usize = hashes.iter().map(Vec::len).sum();
    // Each hash has one of many bits, which few share: those are looked at.
    let bits = (16 * count).next_power_of_two().max(64);
    let place = |hash: &u64| {
        let bit = (*hash >> 20) as usize % bits;
        (bit / 64, 1_u64 << (bit % 64))
    };
    let (mut came, mut shared) = (vec![0_u64; bits / 64], vec![0_u64; bits / 64]);
    for (word, bit) in hashes.iter().flatten().map(place) {
        shared[word] |= came[word] & bit;
        came[word] |= bit;
    }
    let is_shared = |hash: &u64| {
        let (word, bit) = place(hash);
        shared[word] & bit != 0
    };
    let mut suspects: Vec<u64> = hashes.iter().flatten().copied().filter(is_shared).collect();
    suspects.sort_unstable();
    suspects.windows(2).any(|two| two[0] == two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_come_twice_are_found() {
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let all: Vec<Vec<u64>> = (0..10)
            .map(|part| (0..1000).map(|number| hash(1000 * part + number)).collect())
            .collect();
        assert!(!come_twice(&all) && !come_twice(&[]) && !come_twice(&[vec![0], vec![]]));
        for twice in [0, 4711, 9999] {
            let again = vec![hash(20_000), hash(twice)];
            assert!(come_twice(&[&all[..], &[again]].concat()), "{twice}");
        }
        assert!(come_twice(&[vec![7, 8, 7]]));
    }
}
