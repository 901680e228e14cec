//! Finds the groups of collectives without links, which are the ranks that took part in each
//! operation.

use std::convert::Infallible;
use std::str;

use crate::classes::Collective;
use crate::collectives::{Collectives, Series};
use paje_sim::{LaneView, States, TypeId, ValueId, Visitor};

use crate::acts::{Act, Acts, StateAct};
use crate::facts::Facts;
use crate::received::has_word;

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
    /// Number of members by which the root moves on after each operation. 0 if all operations have the same root.
    pub turn: u32,
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
        (self.root + self.turned(operation)) % self.members()
    }

    /// Returns the number of members from the root of the first operation to that of another one.
    #[must_use]
    pub fn turned(&self, operation: usize) -> u32 {
        let turned = operation as u64 * u64::from(self.turn) % u64::from(self.members());
        turned as u32
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
}

/// Groups the collectives of a trace. `is_linked` returns whether messages start or end in a state.
/// Without steps, only the collectives with links are of interest.
pub(crate) fn group(
    facts: &Facts<'_>,
    is_linked: &dyn Fn(u32, u32) -> bool,
    has_steps: bool,
) -> Groups {
    let collectives = &facts.collectives;
    let mut groups = Groups::default();
    for series in &collectives.series {
        let tracks = &series.tracks;
        let all = series.states.iter().zip(tracks.iter().cycle());
        let linked = all.filter(|(state, track)| is_linked(**track, **state)).count();
        if tracks.len() < 2 || series.is_empty() {
            continue;
        }
        if linked * 2 >= series.len() {
            groups.linked.push((series.type_, series.value));
            continue;
        }
        if !has_steps {
            continue;
        }
        let mut group = of_series(facts, series);
        group.first_seat = groups.seats;
        groups.seats += group.states.len() as u32;
        groups.list.push(group);
    }
    groups.read_sizes(facts);
    groups
}

fn of_series(facts: &Facts<'_>, series: &Series) -> Group {
    let first = Series { root: Some(0), ..series.clone() };
    let may_be_first = series.root.is_some() && series.assumed && series.turn == 0;
    let wrong = |series: &Series| series.judge(&facts.tracks).1;
    let is_first = may_be_first && wrong(&first) < wrong(series);
    let series = if is_first { &first } else { series };
    let is_wrong = |at| series.surplus(&facts.tracks, at).is_none();
    let dropped: Vec<bool> = (0..series.len()).map(is_wrong).collect();
    Group {
        tracks: series.tracks.clone(),
        type_: series.type_,
        value: series.value,
        class: series.class,
        root: series.root.unwrap_or(0) as u32,
        turn: series.turn as u32,
        is_assumed: series.root.is_some() && series.assumed,
        is_part: series.is_part,
        first_seat: 0,
        contradictory: dropped.iter().filter(|is_wrong| **is_wrong).count() as u64,
        bytes: vec![f64::NAN; series.states.len()],
        dropped,
        states: series.states.clone(),
    }
}

/// Returns other collectives, in which the ranks of a group are divided. Each has the groups of the parts, which have no
/// seats. The division that explains the times best without a schedule is first.
pub fn divisions(facts: &Facts<'_>, group: &Group) -> impl Iterator<Item = (Collectives, Groups)> {
    let collectives = &facts.collectives;
    let is_same = |it: &Series| (it.value, &it.states) == (group.value, &group.states);
    let at = collectives.series.iter().position(is_same);
    let divided = move |at: usize, parts: Vec<Series>| {
        let of_part = |it: &Series| (it.tracks.len() > 1).then(|| of_series(facts, it));
        let list = parts.iter().filter_map(of_part).collect();
        let mut groups = Groups { list, ..Groups::default() };
        groups.read_sizes(facts);
        let mut all = Collectives::clone(collectives);
        all.series.splice(at..=at, parts);
        (all, groups)
    };
    at.into_iter().flat_map(move |at| {
        let all = collectives.series[at].divisions(&facts.tracks).into_iter();
        all.map(move |parts| divided(at, parts))
    })
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

    /// Reads the sizes of the operations. SMPI records the size of a reduction or a scan as a number of
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
            let is_sum = has_word(&name.to_ascii_lowercase(), &["reduce", "scan"]);
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
