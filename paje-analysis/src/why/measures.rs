//! Quantities of a run, or of a window of it, from which the rules conclude.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use paje_sim::{TypeId, ValueId};

use crate::Seconds;
use crate::classes::Class;
use crate::tracks::Piece;
use crate::waits::rest::{Efficiency, Rest};
use crate::waits::{Kind, Wait, Waits};

/// Number of segments of a rank. Each has equally many states.
pub(super) const SEGMENTS: usize = 40;

/// Quantities of a window. Times are in the trace's unit.
pub(super) struct Measures<'w, 't> {
    pub(super) waits: &'w Waits<'t>,
    pub(super) window: (f64, f64),
    pub(super) length: f64,
    /// Ranks that communicate.
    pub(super) ranks: Vec<Rank>,
    /// Waiting by kind.
    pub(super) by_kind: [Waiting; Kind::ALL.len()],
    /// Waiting by the container that is waited for, by track.
    pub(super) culprits: Vec<f64>,
    /// Waiting for late senders, by the sender's track.
    pub(super) late: Vec<f64>,
    /// Waiting by call path, the longest first.
    pub(super) calls: Vec<(CallPath, f64)>,
    /// Waiting for senders to which the waiter sends hardly any messages.
    pub(super) one_way: f64,
}

/// Time of a rank.
pub(super) struct Rank {
    pub(super) track: u32,
    /// Time by activity, in the order of [`Rest::ALL`].
    pub(super) rest: [Seconds; Rest::ALL.len()],
    /// Time between states in which messages start or end.
    between: Seconds,
    pub(super) segments: Vec<Segment>,
    /// Stretches of computing, in the order of [`Waits::each_rest`].
    computing: Vec<Piece>,
}

/// A part of a rank's run with as many states as the others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    pub(super) start: f64,
    pub(super) length: f64,
    pub(super) computing: f64,
    /// Time in communication, with waiting.
    pub(super) lost: f64,
    /// Time that is neither.
    pub(super) elsewhere: f64,
}

/// Waiting of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub(super) seconds: f64,
    /// Part in which the container that is waited for waits, too.
    pub(super) indirect: f64,
}

/// A state and the two states around it, from the innermost to the outermost.
pub(super) type CallPath = (TypeId, [Option<ValueId>; 3]);

/// Values of a computing piece (`None`: between states) and of the state that follows it.
pub(super) type Site = (Option<ValueId>, Option<ValueId>);

impl<'w, 't> Measures<'w, 't> {
    pub(super) fn new(waits: &'w Waits<'t>, window: (f64, f64)) -> Self {
        let tracks = 0..waits.facts.tracks.list().len();
        let ranks = tracks.into_par_iter().filter(|track| waits.communicates(*track));
        let ranks = ranks.map(|track| Rank::new(waits, track, window)).collect();
        let mut found = Measures {
            waits,
            window,
            length: (window.1 - window.0).max(0.0),
            ranks,
            by_kind: Default::default(),
            culprits: vec![0.0; waits.facts.tracks.list().len()],
            late: vec![0.0; waits.facts.tracks.list().len()],
            calls: Vec::new(),
            one_way: 0.0,
        };
        found.read_waits();
        found
    }

    fn read_waits(&mut self) {
        let (waits, window) = (self.waits, self.window);
        let mut calls: FxHashMap<CallPath, f64> = FxHashMap::default();
        let mut late: FxHashMap<(u32, u32), f64> = FxHashMap::default();
        for wait in waits.iter() {
            let (from, until) = (wait.from.max(window.0), wait.until.min(window.1));
            if from >= until {
                continue;
            }
            let of_kind = &mut self.by_kind[wait.kind as usize];
            of_kind.seconds += until - from;
            of_kind.indirect += waiting_of(waits, wait.whom, (from, until));
            self.culprits[wait.whom as usize] += until - from;
            *calls.entry(call_path(waits, wait)).or_default() += until - from;
            if wait.kind == Kind::LateSender {
                self.late[wait.whom as usize] += until - from;
                *late.entry((wait.waiter, wait.whom)).or_default() += until - from;
            }
        }
        self.calls = calls.into_iter().collect();
        self.calls.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut sent: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        if !late.is_empty() {
            for message in waits.facts.messages.list() {
                *sent.entry((message.from, message.to)).or_default() += 1;
            }
        }
        let sent = |from, to| sent.get(&(from, to)).copied().unwrap_or(0);
        let mut late: Vec<_> = late.into_iter().collect();
        late.sort_by_key(|(pair, _)| *pair);
        let one_way = late
            .into_iter()
            .filter(|((waiter, whom), _)| 4 * sent(*waiter, *whom) < sent(*whom, *waiter));
        self.one_way = one_way.map(|(_, seconds)| seconds).sum();
    }

    /// Returns the efficiencies of the window.
    pub(super) fn efficiency(&self) -> Option<Efficiency> {
        let computing = self.ranks.iter().map(|rank| rank.rest[Rest::Computing as usize]);
        Efficiency::of(computing, Seconds::between(self.window.0, self.window.1))
    }

    /// Returns the values of the calls with most time in an activity.
    pub(super) fn calls_of(&self, activity: Rest) -> Vec<(TypeId, ValueId)> {
        let mut sums: FxHashMap<(TypeId, ValueId), f64> = FxHashMap::default();
        for rank in &self.ranks {
            let track = &self.waits.facts.tracks.list()[rank.track as usize];
            self.waits.each_rest(rank.track as usize, self.window, |rest, piece| {
                if let (true, Some(state)) = (rest == activity, piece.state) {
                    let sum = sums.entry((track.type_, track.value[state])).or_default();
                    *sum += piece.end - piece.start;
                }
            });
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        sums.into_iter().map(|(call, _)| call).collect()
    }

    /// Returns the time between states in which messages start or end.
    pub(super) fn between(&self) -> Seconds {
        self.ranks.iter().map(|rank| rank.between).sum()
    }

    /// Returns the computing time of each rank.
    pub(super) fn computing(&self) -> Vec<f64> {
        self.ranks.iter().map(|rank| rank.rest[Rest::Computing as usize].to_f64()).collect()
    }

    /// Returns the mean share of the ranks' time in some activities.
    pub(super) fn share(&self, of: &[Rest]) -> f64 {
        let sums = self.ranks.iter().flat_map(|rank| of.iter().map(|it| rank.rest[*it as usize]));
        self.share_of(sums.sum::<Seconds>().to_f64())
    }

    /// Returns a sum over ranks as a share of their time.
    pub(super) fn share_of(&self, sum: f64) -> f64 {
        let whole = self.length * self.ranks.len() as f64;
        if whole > 0.0 { sum / whole } else { 0.0 }
    }

    /// Returns all waiting.
    pub(super) fn waiting(&self) -> Waiting {
        let sum = |of: fn(&Waiting) -> f64| self.by_kind.iter().map(of).sum();
        Waiting { seconds: sum(|it| it.seconds), indirect: sum(|it| it.indirect) }
    }

    /// Returns the number and the total length of the computing pieces of a rank, by site.
    pub(super) fn sites(&self, rank: usize) -> FxHashMap<Site, (u64, f64)> {
        let rank = &self.ranks[rank];
        let track = &self.waits.facts.tracks.list()[rank.track as usize];
        let mut sites: FxHashMap<Site, (u64, f64)> = FxHashMap::default();
        let mut next = 0;
        for piece in &rank.computing {
            // Consecutive pieces are near each other.
            while next < track.len() && track.start[next] < piece.end {
                next += 1;
            }
            while next > 0 && track.start[next - 1] >= piece.end {
                next -= 1;
            }
            let of = (piece.state.map(|it| track.value[it]), track.value.get(next).copied());
            let site = sites.entry(of).or_default();
            *site = (site.0 + 1, site.1 + (piece.end - piece.start));
        }
        sites
    }

    /// Returns the ends of a rank's long computing pieces in order. These are the longest
    /// pieces, which contain 90 % of the computing, and others that are at least half as long.
    pub(super) fn rounds(&self, rank: usize) -> Vec<f64> {
        let pieces = &self.ranks[rank].computing;
        let mut lengths: Vec<f64> = pieces.iter().map(|piece| piece.end - piece.start).collect();
        lengths.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut left = 0.9 * lengths.iter().sum::<f64>();
        let last = lengths.into_iter().find(|length| {
            left -= length;
            left <= 0.0
        });
        let is_long = |piece: &&Piece| {
            let length = piece.end - piece.start;
            length > 0.0 && last.is_some_and(|last| length >= last / 2.0)
        };
        let mut ends: Vec<f64> = pieces.iter().filter(is_long).map(|piece| piece.end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    }
}

impl Rank {
    fn new(waits: &Waits<'_>, at: usize, window: (f64, f64)) -> Self {
        let track = &waits.facts.tracks.list()[at];
        let first = track.start.partition_point(|start| *start <= window.0);
        let last = track.start.partition_point(|start| *start < window.1).max(first);
        let bound = |k: usize| match k {
            0 => window.0,
            SEGMENTS => window.1,
            _ => track.start.get(first + (last - first) * k / SEGMENTS).map_or(window.1, |it| *it),
        };
        let segment = |k| Segment {
            start: bound(k),
            length: bound(k + 1) - bound(k),
            computing: 0.0,
            lost: bound(k + 1) - bound(k),
            elsewhere: 0.0,
        };
        let mut segments: Vec<Segment> = (0..SEGMENTS).map(segment).collect();
        let mut rest = [Seconds::ZERO; Rest::ALL.len()];
        let (mut near, mut computing, mut between) =
            (0, Vec::with_capacity(last - first), Seconds::ZERO);
        waits.each_rest(at, window, |of, piece| {
            let time = Seconds::between(piece.start, piece.end);
            rest[of as usize] += time;
            if of == Rest::Unexplained && piece.state.is_none() {
                between += time;
            }
            while near + 1 < SEGMENTS && segments[near + 1].start <= piece.start {
                near += 1;
            }
            while near > 0 && segments[near].start > piece.start {
                near -= 1;
            }
            let seconds = piece.end - piece.start;
            if of == Rest::Computing {
                segments[near].computing += seconds;
                computing.push(piece);
            }
            if matches!(of, Rest::Computing | Rest::Files | Rest::Other) {
                segments[near].lost -= seconds;
            }
            if matches!(of, Rest::Files | Rest::Other) {
                segments[near].elsewhere += seconds;
            }
        });
        Rank { track: at as u32, rest, between, segments, computing }
    }
}

/// Returns how long a track waits between two times.
fn waiting_of(waits: &Waits<'_>, track: u32, (from, until): (f64, f64)) -> f64 {
    let all = waits.of_track(track as usize);
    let after = all[all.partition_point(|wait| wait.until <= from)..].iter();
    let during = after.take_while(|wait| wait.from < until);
    let seconds: f64 = during.map(|wait| wait.until.min(until) - wait.from.max(from)).sum();
    seconds.min(until - from)
}

fn call_path(waits: &Waits<'_>, wait: &Wait) -> CallPath {
    let track = &waits.facts.tracks.list()[wait.waiter as usize];
    let state = wait.state as usize;
    let around = track.parent(state);
    let outer = around.and_then(|state| track.parent(state));
    let value = |state: usize| track.value[state];
    (track.type_, [Some(value(state)), around.map(value), outer.map(value)])
}

/// Returns whether the states of a call path's innermost value are collectives.
pub(super) fn is_collective(waits: &Waits<'_>, (type_, values): CallPath) -> bool {
    let class = |value| waits.facts.tracks.classes().class(type_, value);
    values[0].is_some_and(|value| matches!(class(value), Class::Collective(_)))
}
