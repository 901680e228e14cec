//! Messages of collectives without links from one member to several. They share the link out of
//! this member, possibly with messages of the next operation. They are equally long, so they share
//! the link equally and complete in the order in which they came.

use std::collections::VecDeque;

use super::CollectiveModel;
use super::queue::TIME_EPSILON;
use crate::settings::Shape;

/// Link out of a member. Its messages share it equally.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Time and seat of future messages. The next message is last.
    coming: Vec<(f64, u32)>,
    /// Messages in flight. The time is the value that [`Now::had`] has when the message completes.
    /// The second element is the seat.
    on_way: VecDeque<(f64, u32)>,
    now: Now,
}

#[derive(Clone, Copy, Debug)]
struct Now {
    time: f64,
    /// Link time that a message has had if it has been in flight since the start of the busy
    /// period.
    had: f64,
}

impl Default for Now {
    fn default() -> Self {
        Now { time: f64::NEG_INFINITY, had: 0.0 }
    }
}

impl Now {
    /// Returns when a message completes if no other messages come.
    fn until(self, end: f64, on_way: usize) -> f64 {
        self.time + (end - self.had) * on_way as f64
    }

    /// Advances to the time when another message comes.
    fn come(&mut self, time: f64, on_way: usize) {
        // Recorded times are rounded, and sharing multiplies the differences.
        if time - self.time <= TIME_EPSILON {
            return;
        }
        if on_way > 0 {
            self.had += (time - self.time) / on_way as f64;
        }
        self.time = time;
    }
}

impl Stream {
    pub(crate) fn add(&mut self, time: f64, seat: u32) {
        let time = time.max(self.now.time);
        let is_later = |other: &(f64, u32)| (other.0, other.1) > (time, seat);
        let place = self.coming.partition_point(is_later);
        self.coming.insert(place, (time, seat));
    }

    pub(crate) fn next(&self, each: f64) -> Option<f64> {
        let (mut now, mut count) = (self.now, self.on_way.len());
        let mut first = self.on_way.front().map(|(end, _)| *end);
        for (time, _) in self.coming.iter().rev() {
            if let Some(through) = first.map(|end| now.until(end, count)).filter(|at| at <= time) {
                return Some(through);
            }
            now.come(*time, count);
            first = first.or(Some(now.had + each));
            count += 1;
        }
        first.map(|end| now.until(end, count))
    }

    /// Completes the next message. Returns its time and its seat.
    pub(crate) fn complete_next(&mut self, each: f64) -> Option<(f64, u32)> {
        loop {
            let count = self.on_way.len();
            let first = self.on_way.front().map(|(end, seat)| (*end, *seat));
            let through = first.map(|(end, seat)| (self.now.until(end, count), seat));
            match (self.coming.last().copied(), through) {
                (Some((time, seat)), through) if through.is_none_or(|(at, _)| at > time) => {
                    self.coming.pop();
                    self.now.come(time, count);
                    self.on_way.push_back((self.now.had + each, seat));
                }
                _ => {
                    let (end, _) = self.on_way.pop_front()?;
                    let (time, seat) = through?;
                    // When the link is free, a new busy period starts.
                    let had = if self.on_way.is_empty() { 0.0 } else { end };
                    self.now = Now { time, had };
                    return Some((time, seat));
                }
            }
        }
    }
}

impl CollectiveModel {
    /// Returns whether members wait for messages that share the link out of their parent.
    pub(crate) fn is_stream(&self) -> bool {
        self.link_out_seconds > 0.0 && self.shape != Shape::Relay
    }

    /// Returns the only member for which a member waits.
    pub(crate) fn parent(&self, shape: Shape, instance: usize, member: u32) -> Option<u32> {
        match shape {
            Shape::OneToN | Shape::Held => {
                Some(self.root_of(instance)).filter(|root| *root != member)
            }
            Shape::Binomial | Shape::ReduceBcast => self.above(instance, member),
            _ => None,
        }
    }

    /// Returns whether the children of a member can continue when it enters, before it leaves.
    pub(crate) fn is_free(&self, shape: Shape, instance: usize, member: u32) -> bool {
        member == self.root_of(instance) && shape != Shape::ReduceBcast
    }

    /// Returns for each seat of `operations` operations the earliest time at which its member could
    /// leave, not counting its own message, if messages share links out. Returns NaN for members
    /// that do not wait. `enter` and `exit` return the times of members.
    pub(crate) fn through(
        &self,
        shape: Shape,
        each: f64,
        operations: usize,
        enter: &dyn Fn(usize, u32) -> f64,
        exit: &dyn Fn(usize, u32) -> f64,
    ) -> Vec<f64> {
        let mut streams = vec![Stream::default(); self.members as usize];
        for operation in 0..operations {
            for member in 0..self.members {
                let Some(parent) = self.parent(shape, operation, member) else { continue };
                let is_free = self.is_free(shape, operation, parent);
                let free = if is_free { enter(operation, parent) } else { exit(operation, parent) };
                let seat = operation as u32 * self.members + member;
                streams[parent as usize].coming.push((enter(operation, member).max(free), seat));
            }
        }
        let mut bases = vec![f64::NAN; operations * self.members as usize];
        for stream in &mut streams {
            stream.coming.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            while let Some((time, seat)) = stream.complete_next(each) {
                bases[seat as usize] = time - each;
            }
        }
        bases
    }
}

const FIRST: i32 = 24;

const ROUNDS: usize = 24;

/// Returns the seconds for which each message uses the link out of its sender. This is the time up
/// to `most` with the least `spread`, or 0 if it does not explain much more than 0 does.
pub(super) fn out_of(most: f64, spread: impl Fn(f64) -> f64) -> f64 {
    let without = spread(0.0);
    if without <= TIME_EPSILON || most <= TIME_EPSILON {
        return 0.0;
    }
    let first = (0..FIRST).map(|step| most * 0.75_f64.powi(step));
    let first = first.map(|each| (each, spread(each)));
    let Some((mut best, mut least)) = first.min_by(|a, b| a.1.total_cmp(&b.1)) else { return 0.0 };
    let mut reach = 0.25;
    for _ in 0..ROUNDS {
        for each in [best * (1.0 - reach), (best * (1.0 + reach)).min(most)] {
            let found = spread(each);
            if found < least {
                (best, least) = (each, found);
            }
        }
        reach *= 0.6;
    }
    if least < 0.5 * without { best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(starts: &[f64], each: f64) -> Vec<(f64, u32)> {
        let mut stream = Stream::default();
        (0..).zip(starts).for_each(|(member, start)| stream.add(*start, member));
        let mut all = Vec::new();
        while let Some(next) = stream.next(each) {
            let through = stream.complete_next(each);
            assert_eq!(through.map(|(time, _)| time), Some(next));
            all.extend(through);
        }
        all
    }

    #[test]
    fn concurrent_messages_share_the_link() {
        assert_eq!(through(&[1.0, 1.0, 1.0], 2.0), [(7.0, 0), (7.0, 1), (7.0, 2)]);
        assert_eq!(through(&[5.0, 1.0], 2.0), [(3.0, 1), (7.0, 0)]);
        // The first message is alone for a second, then both share the link. Finally the second
        // message is alone.
        assert_eq!(through(&[1.0, 2.0], 2.0), [(4.0, 0), (5.0, 1)]);
    }

    #[test]
    fn rounding_errors_make_no_difference() {
        assert_eq!(through(&[1.0, 1.0 + 1e-9, 1.0], 2.0), [(7.0, 0), (7.0, 2), (7.0, 1)]);
    }

    #[test]
    fn later_messages_share_from_their_arrival_on() {
        let mut stream = Stream::default();
        stream.add(1.0, 0);
        assert_eq!(stream.next(2.0), Some(3.0));
        stream.add(2.0, 1);
        assert_eq!(stream.next(2.0), Some(4.0));
        assert_eq!(stream.complete_next(2.0), Some((4.0, 0)));
        stream.add(4.0, 2);
        assert_eq!(stream.complete_next(2.0), Some((6.0, 1)));
        assert_eq!(stream.complete_next(2.0), Some((7.0, 2)));
        assert_eq!(stream.next(2.0), None);
    }

    #[test]
    fn the_link_time_of_messages_is_found() {
        let runs = [[0.0, 0.0, 0.0], [0.0, 10.0, 20.0], [0.0, 1.0, 9.0], [3.0, 3.5, 3.0]];
        let exits = runs.map(|starts| {
            let mut exits = [0.0; 3];
            through(&starts, 2.0).iter().for_each(|(time, to)| exits[*to as usize] = time + 5.0);
            exits
        });
        let spread = |each: f64| {
            let rests = runs.iter().zip(&exits).flat_map(|(starts, exits)| {
                through(starts, each).into_iter().map(|(time, to)| exits[to as usize] - time + each)
            });
            let rests: Vec<f64> = rests.collect();
            let mean = rests.iter().sum::<f64>() / rests.len() as f64;
            rests.iter().map(|rest| (rest - mean).powi(2)).sum::<f64>().sqrt()
        };
        assert!((out_of(7.0, spread) - 2.0).abs() < 1e-3);
        assert_eq!(out_of(7.0, |_| 1.0), 0.0);
    }
}
