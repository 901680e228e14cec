//! Collectives without links in which every message is a rendezvous. A sender is held until its
//! message has arrived, so it sends one message after the other. All messages take equally long,
//! except messages to the same member, which share its link.

use std::str;

use paje_analysis::collectives::Series;
use paje_analysis::tracks::Tracks;
use paje_sim::{LaneView, States, Visitor};

use super::queue::{self, Sample, TIME_EPSILON};
use super::{CollectiveModel, stream};
use crate::settings::Shape;

/// Returns whether the message of the first member in the first operation is large enough for a
/// rendezvous.
pub(super) fn is_rendezvous(
    tracks: &Tracks<'_>,
    group: &[u32],
    series: &Series,
    eager: u64,
) -> bool {
    let Some((member, state)) = group.first().zip(series.operation(0).first()) else {
        return false;
    };
    let track = &tracks.list()[*member as usize];
    let Some(lane) = tracks.trace().lane(track.container, track.type_) else { return false };
    let name = tracks.trace().types().value_name(series.type_, series.value);
    let bytes = element(name.text);
    let mut size = Size { row: 0, wanted: *state, found: None };
    let _ = lane.visit(&mut size);
    size.found.is_some_and(|size| size * bytes >= eager as f64)
}

/// Returns the bytes of an element. The sizes of reductions are numbers of elements.
pub(crate) fn element(name: &[u8]) -> f64 {
    let is_reduction = name.windows(6).any(|part| part.eq_ignore_ascii_case(b"reduce"));
    if is_reduction { 8.0 } else { 1.0 }
}

struct Size {
    row: u32,
    wanted: u32,
    found: Option<f64>,
}

struct Found;

impl Visitor for Size {
    type Error = Found;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Found> {
        let at = (self.wanted - self.row) as usize;
        if at >= states.start.len() {
            self.row += states.start.len() as u32;
            return Ok(());
        }
        let mut fields = states.user_defined.of(at);
        let size = fields.find(|(name, _)| name.eq_ignore_ascii_case("size"));
        let number = |text| str::from_utf8(text).ok()?.trim().trim_matches('"').parse().ok();
        self.found = size.and_then(|(_, text)| number(text));
        Err(Found)
    }
}

/// Operations of a series, by seat. Their messages go down a binomial tree one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relays {
    /// Time at which a member entered. `has` is the time at which it had received the message and
    /// forwarded it so far. Both are NaN if unknown.
    entered: Vec<f64>,
    has: Vec<f64>,
    served: Vec<u32>,
}

impl Relays {
    pub(crate) fn new(seats: usize) -> Self {
        let unknown = vec![f64::NAN; seats];
        Relays { entered: unknown.clone(), has: unknown, served: vec![0; seats] }
    }

    /// Lets a member enter. Adds the members that can leave now to `free`.
    pub(crate) fn enter(
        &mut self,
        shaped: &CollectiveModel,
        each: f64,
        (seat, member): (u32, u32),
        time: f64,
        free: &mut Vec<u32>,
    ) {
        let (instance, first) = (shaped.seat(seat).0, seat - member);
        self.entered[seat as usize] = time;
        let mut next = match shaped.above(instance, member) {
            Some(above) => vec![above],
            None => {
                self.has[seat as usize] = time;
                vec![member]
            }
        };
        while let Some(member) = next.pop() {
            let at = (first + member) as usize;
            if self.has[at].is_nan() {
                continue;
            }
            let below = below(shaped, instance, member);
            let mut is_free = true;
            for other in below.iter().skip(self.served[at] as usize) {
                let to = (first + other) as usize;
                if self.entered[to].is_nan() {
                    is_free = false;
                    break;
                }
                let arrival = self.has[at].max(self.entered[to]) + each;
                (self.has[at], self.has[to]) = (arrival, arrival);
                self.served[at] += 1;
                next.push(*other);
            }
            if is_free {
                free.push(first + member);
            }
        }
    }

    /// Returns the time in seconds at which a member could leave, if it is known.
    pub(crate) fn free(&self, shaped: &CollectiveModel, seat: u32) -> Option<f64> {
        let (instance, member) = shaped.seat(seat);
        let has = Some(self.has[seat as usize]).filter(|has| !has.is_nan())?;
        let is_last = self.served[seat as usize] as usize == below(shaped, instance, member).len();
        is_last.then_some(has)
    }

    /// Returns a member that has not entered and so prevents another one from leaving.
    pub(crate) fn missing(
        &self,
        shaped: &CollectiveModel,
        (seat, member): (u32, u32),
    ) -> Option<u32> {
        let (instance, first) = (shaped.seat(seat).0, seat - member);
        let mut at = member;
        loop {
            let seat = (first + at) as usize;
            if self.has[seat].is_nan() {
                if self.entered[seat].is_nan() {
                    return Some(at);
                }
                at = shaped.above(instance, at)?;
            } else {
                let below = below(shaped, instance, at);
                return below.get(self.served[seat] as usize).copied();
            }
        }
    }
}

/// Returns the children in sending order: the child with the largest subtree comes first.
fn below(shaped: &CollectiveModel, instance: usize, member: u32) -> Vec<u32> {
    let mut below: Vec<u32> = shaped.below(instance, member).collect();
    below.reverse();
    below
}

/// Returns the earliest exit of each seat if each message takes `each` seconds.
pub(super) fn relayed(
    shaped: &CollectiveModel,
    each: f64,
    operations: usize,
    enter: &dyn Fn(usize, u32) -> f64,
) -> Vec<f64> {
    let members = shaped.members;
    let mut relays = Relays::new(members as usize);
    let one = CollectiveModel { first_seat: 0, ..shaped.without_times() };
    let (mut all, mut free) = (Vec::with_capacity(operations * members as usize), Vec::new());
    for operation in 0..operations {
        let root = shaped.root_of(operation);
        let one = CollectiveModel { root, is_turning: false, ..one.without_times() };
        relays.has.fill(f64::NAN);
        relays.entered.fill(f64::NAN);
        relays.served.fill(0);
        for member in 0..members {
            let time = enter(operation, member);
            relays.enter(&one, each, (member, member), time, &mut free);
        }
        all.extend((0..members).map(|seat| relays.free(&one, seat).unwrap_or(f64::NAN)));
        free.clear();
    }
    all
}

/// Returns the seconds for which each message to the root of a reduction uses the link into the
/// root, if all members leave when the result has come down a binomial tree. Returns 0 if no time
/// explains the samples. If the link is never free, the samples give only an upper bound, which is
/// returned.
pub(super) fn each_of(samples: &[Sample], members: usize) -> f64 {
    let messages = members.next_power_of_two().trailing_zeros() as f64 + 1.0;
    // The last message but one is followed by the last message and the messages down the tree.
    let room = |each: f64| {
        let rests = samples.iter().filter_map(|sample| queue::rest(sample, each));
        rests.fold(f64::INFINITY, f64::min) - messages * each
    };
    at_most(longest(room), &|each| queue::spread(samples, each))
}

/// Returns the longest message time that leaves room for the messages that follow.
pub(super) fn longest(room: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, room(0.0));
    if !(high.is_finite() && high > TIME_EPSILON) {
        return 0.0;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        // Recorded times are rounded.
        if room(middle) >= -TIME_EPSILON { low = middle } else { high = middle }
    }
    low
}

/// Returns the message time that explains the times best. On ties, returns the longest one.
pub(super) fn at_most(most: f64, spread: &dyn Fn(f64) -> f64) -> f64 {
    let found = stream::out_of(most, spread);
    if found > 0.0 && spread(most) <= spread(found) * 1.05 + 2.0 * TIME_EPSILON {
        most
    } else {
        found
    }
}

impl Shape {
    /// Returns whether senders wait until their messages have arrived.
    pub(crate) const fn is_held(self) -> bool {
        matches!(self, Shape::Held | Shape::Relay | Shape::ReduceRelay)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn relay(members: u32, root: u32) -> CollectiveModel {
        CollectiveModel { shape: Shape::Relay, ..tree(members, root) }
    }

    #[test]
    fn messages_go_down_the_tree_one_by_one() {
        // The root has the children 4, 2 and 1, member 4 has 6 and 5, and so on. The third member
        // is late.
        let enters = [0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let free = relayed(&relay(8, 0), 1.0, 1, &|_, member| enters[member as usize]);
        assert_eq!(free, [12.0, 12.0, 12.0, 12.0, 3.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn the_order_of_entering_makes_no_difference() {
        for (members, root) in [(8, 0), (13, 5), (2, 1), (1, 0)] {
            let shaped = relay(members, root);
            let enter = |member: u32| f64::from(member * 7 % 5);
            let expected = relayed(&shaped, 0.5, 1, &|_, member| enter(member));
            for step in [1, 3, 7, 11] {
                let (mut relays, mut free) = (Relays::new(members as usize), Vec::new());
                for at in 0..13 {
                    let member = at * step % 13;
                    if member < members {
                        let missing = relays.missing(&shaped, (0, 0));
                        assert_eq!(missing.is_none(), relays.free(&shaped, 0).is_some());
                        relays.enter(&shaped, 0.5, (member, member), enter(member), &mut free);
                    }
                }
                let found: Vec<_> = (0..members).map(|seat| relays.free(&shaped, seat)).collect();
                let expected: Vec<_> = expected.iter().copied().map(Some).collect();
                assert_eq!(found, expected, "{members} {root} {step}");
                free.sort_unstable();
                free.dedup();
                assert_eq!(free, (0..members).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_saturated_link_gives_the_longest_message_time() {
        // Seven messages of 10 s pass through one link, then three go down the tree.
        let exit = |starts: &[f64]| starts[0] + 70.0 + 30.0;
        let saturated: Vec<Sample> = (0..5)
            .map(|at| (0..7).map(|member| f64::from(member * at)).collect::<Vec<f64>>())
            .map(|starts| (starts.clone(), exit(&starts)))
            .collect();
        assert!((each_of(&saturated, 8) - 10.0).abs() < 1e-6);
    }
}
