//! Finds the groups of collectives without links, which are the ranks that took part in each
//! operation.
//!
//! Traces record no communicators. The k-th operations of a value in all ranks are taken as one
//! operation, unless their times contradict this. In that case, the ranks are divided into blocks
//! of consecutive ranks, or into sets of ranks with the same distance, such as the rows and columns
//! of a grid.

use std::convert::Infallible;
use std::str;

use crate::classes::Collective;
use crate::collectives::Series;
use paje_sim::{LaneView, States, TypeId, ValueId, Visitor};

use crate::facts::Facts;
use crate::received::TIME_TOLERANCE;
use crate::walk::{Act, Acts, StateAct};

/// All collectives.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Collectives without links.
    pub list: Vec<Group>,
    /// Types and values of the collectives whose links record the dependencies.
    pub linked: Vec<(TypeId, ValueId)>,
    /// Total number of seats. Each member has one seat in each operation.
    pub seats: u32,
}

/// Operations of one value among the same ranks.
#[derive(Clone, Debug)]
pub struct Group {
    /// The members.
    pub tracks: Vec<u32>,
    /// Type of the states.
    pub type_: TypeId,
    /// Value of the states.
    pub value: ValueId,
    /// Kind of the collective.
    pub class: Collective,
    /// Index of the first operation's root among the members.
    pub root: u32,
    /// Whether the root rotates through the members.
    pub is_turning: bool,
    /// Whether the root is assumed.
    pub is_assumed: bool,
    /// Whether the members are only some of the ranks with such states. These ranks were selected
    /// by their times.
    pub is_part: bool,
    /// Number of the group's first seat.
    pub first_seat: u32,
    /// Number of operations for which nothing waits, because their times contradict the group.
    pub contradictory: u64,
    /// Bytes of each seat, or NaN if they are unknown.
    pub bytes: Vec<f64>,
    /// States of the members, one operation after the other.
    states: Vec<u32>,
    dropped: Vec<bool>,
}

impl Group {
    /// Returns the number of members.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.tracks.len() as u32
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dropped.len()
    }

    /// Returns whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty()
    }

    /// Returns the root of an operation.
    #[must_use]
    pub fn root_of(&self, operation: usize) -> u32 {
        let turned = if self.is_turning { operation } else { 0 };
        (self.root + (turned % self.tracks.len()) as u32) % self.members()
    }

    /// Returns whether nothing waits for an operation, because its times contradict the group.
    #[must_use]
    pub fn is_dropped(&self, operation: usize) -> bool {
        self.dropped[operation]
    }

    /// Returns the operation and the member of a seat.
    #[must_use]
    pub fn seat(&self, seat: u32) -> (usize, u32) {
        let at = seat - self.first_seat;
        ((at / self.members()) as usize, at % self.members())
    }

    /// Returns the recorded times at which each member enters and leaves an operation, in seconds.
    #[must_use]
    pub fn times(&self, facts: &Facts<'_>, operation: usize) -> Vec<(f64, f64)> {
        let members = self.tracks.len();
        let states = &self.states[operation * members..][..members];
        let times = |(track, state): (&u32, &u32)| {
            let track = &facts.tracks.list()[*track as usize];
            (track.start[*state as usize], track.end[*state as usize])
        };
        self.tracks.iter().zip(states).map(times).collect()
    }

    /// Returns for how many seconds the members stay longer than they must, or `None` if their
    /// times contradict the operation.
    fn surplus(&self, times: &[(f64, f64)], root: u32) -> Option<f64> {
        let root = times[root as usize];
        let latest = times.iter().map(|it| it.0).fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for it in times {
            let since = match self.class {
                Collective::OneToN => it.0.max(root.0),
                Collective::NToOne if *it == root => latest,
                Collective::NxN | Collective::Barrier => latest,
                Collective::NToOne | Collective::Scan => it.0,
            };
            if it.1 < since - TIME_TOLERANCE {
                return None;
            }
            sum += it.1 - since;
        }
        Some(sum)
    }

    /// Marks operations whose times contradict the group. Returns for how many seconds the members
    /// stay longer than they must in all operations, and whether the group explains nearly all
    /// operations.
    fn judge(&mut self, facts: &Facts<'_>) -> (f64, bool) {
        let mut sum = 0.0;
        self.contradictory = 0;
        for operation in 0..self.len() {
            let times = self.times(facts, operation);
            let surplus = self.surplus(&times, self.root_of(operation));
            sum += surplus.unwrap_or(0.0);
            self.dropped[operation] = surplus.is_none();
            self.contradictory += u64::from(surplus.is_none());
        }
        (sum, self.contradictory * 20 <= self.len() as u64)
    }

    /// Returns a group of only these members.
    fn part(&self, facts: &Facts<'_>, members: &[usize]) -> Self {
        let pick = |operation: &[u32]| members.iter().map(|it| operation[*it]).collect::<Vec<_>>();
        let states = self.states.chunks_exact(self.tracks.len()).flat_map(pick).collect();
        let tracks = members.iter().map(|it| self.tracks[*it]).collect();
        let mut part = Group { tracks, states, is_part: true, root: 0, ..self.clone() };
        part.is_turning = false;
        // The root of a broadcast never waits. The root of a reduction waits longest.
        let mut lasting = vec![0.0; members.len()];
        for operation in 0..part.len() {
            for (sum, (enter, exit)) in lasting.iter_mut().zip(part.times(facts, operation)) {
                *sum += exit - enter;
            }
        }
        let by_time = |a: &usize, b: &usize| lasting[*a].total_cmp(&lasting[*b]);
        let found = match self.class {
            Collective::OneToN => (0..members.len()).min_by(by_time),
            Collective::NToOne => (0..members.len()).max_by(by_time),
            _ => None,
        };
        let first = part.judge(facts);
        part.root = found.unwrap_or(0) as u32;
        let found = part.judge(facts);
        if first.1 && (!found.1 || first.0 <= found.0) {
            part.root = 0;
        }
        part
    }

    /// Splits a group whose times contradict it. Returns the parts that explain the times best.
    fn split(self, facts: &Facts<'_>) -> Vec<Group> {
        let count = self.tracks.len();
        let mut best: Option<(f64, Vec<Group>)> = None;
        for size in (2..count).filter(|size| count.is_multiple_of(*size)) {
            let parts = count / size;
            let blocks = (0..parts).map(|part| (part * size..(part + 1) * size).collect());
            let strides = (0..parts).map(|part| (part..count).step_by(parts).collect());
            let ways: [Vec<Vec<usize>>; 2] = [blocks.collect(), strides.collect()];
            for way in ways {
                let mut all: Vec<Group> = way.iter().map(|it| self.part(facts, it)).collect();
                let judged: Vec<_> = all.iter_mut().map(|part| part.judge(facts)).collect();
                let sum = judged.iter().map(|it| it.0).sum::<f64>();
                let is_better = best.as_ref().is_none_or(|(least, _)| sum < *least);
                if judged.iter().all(|it| it.1) && is_better {
                    best = Some((sum, all));
                }
            }
        }
        best.map_or_else(|| vec![self], |(_, parts)| parts)
    }
}

/// Groups the collectives of a trace. `is_linked` returns whether messages start or end in a state.
pub(crate) fn group(facts: &Facts<'_>, is_linked: &dyn Fn(u32, u32) -> bool) -> Groups {
    let collectives = &facts.collectives;
    let mut groups = Groups::default();
    for series in &collectives.series {
        let tracks = collectives.members(series);
        let states = (0..series.len()).flat_map(|at| series.operation(at).iter().copied());
        let states: Vec<u32> = states.collect();
        let all = states.iter().zip(tracks.iter().cycle());
        let linked = all.filter(|(state, track)| is_linked(**track, **state)).count();
        if tracks.len() < 2 || series.is_empty() {
            continue;
        }
        if linked * 2 >= series.len() {
            groups.linked.push((series.type_, series.value));
            continue;
        }
        let mut whole = of_series(series, tracks, states);
        let mut is_right = whole.judge(facts).1;
        if whole.contradictory > 0 && whole.is_assumed && !whole.is_turning {
            let mut first = Group { root: 0, ..whole.clone() };
            let first_is_right = first.judge(facts).1;
            if first.contradictory < whole.contradictory {
                (whole, is_right) = (first, first_is_right);
            }
        }
        let parts = match is_right {
            true => vec![whole],
            false => whole.split(facts),
        };
        for mut part in parts {
            part.first_seat = groups.seats;
            part.bytes = vec![f64::NAN; part.states.len()];
            groups.seats += part.states.len() as u32;
            groups.list.push(part);
        }
    }
    groups.read_sizes(facts);
    groups
}

fn of_series(series: &Series, tracks: &[u32], states: Vec<u32>) -> Group {
    Group {
        tracks: tracks.to_vec(),
        type_: series.type_,
        value: series.value,
        class: series.class,
        root: series.root.unwrap_or(0) as u32,
        is_turning: series.is_turning,
        is_assumed: series.root.is_some() && series.assumed,
        is_part: false,
        first_seat: 0,
        contradictory: 0,
        bytes: Vec::new(),
        dropped: vec![false; series.len()],
        states,
    }
}

impl Groups {
    /// Returns the group of a seat.
    #[must_use]
    pub fn of_seat(&self, seat: u32) -> usize {
        self.list.partition_point(|group| group.first_seat <= seat) - 1
    }

    /// Adds the acts of all members.
    pub(crate) fn add(&self, acts: &mut [Acts]) {
        for group in &self.list {
            let mut seat = group.first_seat;
            for (operation, states) in group.states.chunks_exact(group.tracks.len()).enumerate() {
                for (track, state) in group.tracks.iter().zip(states) {
                    if !group.dropped[operation] {
                        let acts = &mut acts[*track as usize];
                        acts.opening.push(StateAct::new(*state, Act::Enter(seat)));
                        acts.closing.push(StateAct::new(*state, Act::Leave(seat)));
                    }
                    seat += 1;
                }
            }
        }
    }

    /// Reads the sizes of the operations. SMPI records the size of a reduction as a number of
    /// elements, which mostly have 8 bytes.
    fn read_sizes(&mut self, facts: &Facts<'_>) {
        let trace = facts.tracks.trace();
        let mut seats: Vec<Vec<(u32, usize, usize)>> = vec![Vec::new(); facts.tracks.list().len()];
        for (at, group) in self.list.iter().enumerate() {
            let tracks = group.tracks.iter().cycle();
            for (seat, (state, track)) in group.states.iter().zip(tracks).enumerate() {
                seats[*track as usize].push((*state, at, seat));
            }
        }
        for (track, seats) in facts.tracks.list().iter().zip(&mut seats) {
            seats.sort_unstable();
            let lane = trace.lane(track.container, track.type_);
            if let Some(lane) = lane.filter(|_| !seats.is_empty()) {
                let mut reader = Sizes { seats, next: 0, row: 0, groups: &mut self.list };
                let Ok(()) = lane.visit(&mut reader);
            }
        }
        for group in &mut self.list {
            let name = trace.types().value_name(group.type_, group.value).text;
            let is_sum = name.windows(6).any(|part| part.eq_ignore_ascii_case(b"reduce"));
            group.bytes.iter_mut().filter(|_| is_sum).for_each(|bytes| *bytes *= 8.0);
        }
    }
}

struct Sizes<'a> {
    /// State, group, and seat in the group, ordered by state.
    seats: &'a [(u32, usize, usize)],
    next: usize,
    row: u32,
    groups: &'a mut [Group],
}

impl Visitor for Sizes<'_> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        let behind = self.row + states.start.len() as u32;
        while let Some((state, group, seat)) = self.seats.get(self.next).filter(|it| it.0 < behind)
        {
            let mut fields = states.user_defined.of((state - self.row) as usize);
            let size = fields.find(|(name, _)| name.eq_ignore_ascii_case("size"));
            let number = |text| str::from_utf8(text).ok()?.trim().trim_matches('"').parse().ok();
            let size: Option<f64> = size.and_then(|(_, text)| number(text));
            let size = size.filter(|size| *size >= 0.0 && size.is_finite());
            self.groups[*group].bytes[*seat] = size.unwrap_or(f64::NAN);
            self.next += 1;
        }
        self.row = behind;
        Ok(())
    }
}
