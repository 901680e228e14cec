//! Quantities of a run, or of a window of it, from which the rules conclude.

use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use paje_comm::Facts;
use paje_sim::{TypeId, ValueId};

use crate::Seconds;
use crate::classes::{Class, Collective};
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
    /// All waiting.
    pub(super) waiting: f64,
    /// Sends that last until their receivers enter, although the trace does not record that they
    /// wait.
    held: Vec<Wait>,
    /// Waiting by the container that is waited for, by track.
    pub(super) culprits: Vec<f64>,
    /// Waiting by call path, the longest first.
    pub(super) calls: Vec<(CallPath, f64)>,
    /// Ends of long computing pieces, by track.
    rounds: Vec<OnceLock<Vec<f64>>>,
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

/// A state and the two states around it, from the innermost to the outermost.
pub(super) type CallPath = (TypeId, [Option<ValueId>; 3]);

/// Values of a computing piece (`None`: between states) and of the state that follows it, and the
/// piece's number among those of the rank, modulo [`TURNS`].
pub(super) type Site = (Option<ValueId>, Option<ValueId>, usize);

/// Number of call sites with the same values that are distinguished. Pieces of an iteration that has
/// 2, 3, 4, 6 or 12 of them are compared one by one.
const TURNS: usize = 12;

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
            waiting: 0.0,
            held: held(waits),
            culprits: vec![0.0; waits.facts.tracks.list().len()],
            calls: Vec::new(),
            rounds: waits.facts.tracks.list().iter().map(|_| OnceLock::new()).collect(),
        };
        found.read_waits();
        found
    }

    fn read_waits(&mut self) {
        let mut calls: FxHashMap<CallPath, f64> = FxHashMap::default();
        let (mut waiting, mut culprits) = (0.0, vec![0.0; self.culprits.len()]);
        for (wait, (from, until)) in self.waits() {
            waiting += until - from;
            culprits[wait.whom as usize] += until - from;
            *calls.entry(call_path(self.waits, wait)).or_default() += until - from;
        }
        (self.waiting, self.culprits) = (waiting, culprits);
        self.calls = calls.into_iter().collect();
        self.calls.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }

    /// Returns the waits in the window, with their starts and ends there.
    pub(super) fn waits(&self) -> impl Iterator<Item = (&Wait, (f64, f64))> {
        let (start, end) = self.window;
        let waits = self.waits.iter().chain(&self.held);
        let waits = waits.map(move |wait| (wait, (wait.from.max(start), wait.until.min(end))));
        waits.filter(|(_, (from, until))| from < until)
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

    /// Returns the number and the total length of the computing pieces of a rank, by site.
    pub(super) fn sites(&self, rank: usize) -> FxHashMap<Site, (u64, f64)> {
        let rank = &self.ranks[rank];
        let track = &self.waits.facts.tracks.list()[rank.track as usize];
        let mut pieces: Vec<&Piece> = rank.computing.iter().collect();
        pieces.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut sites: FxHashMap<Site, (u64, f64)> = FxHashMap::default();
        let mut turns: FxHashMap<_, usize> = FxHashMap::default();
        let mut next = 0;
        for piece in pieces {
            while next < track.len() && track.start[next] < piece.end {
                next += 1;
            }
            let of = (piece.state.map(|it| track.value[it]), track.value.get(next).copied());
            let turn = turns.entry(of).or_default();
            let site = sites.entry((of.0, of.1, *turn)).or_default();
            *turn = (*turn + 1) % TURNS;
            *site = (site.0 + 1, site.1 + (piece.end - piece.start));
        }
        sites
    }

    /// Returns the ends of a track's long computing pieces in order. These are the longest
    /// pieces, which contain 90 % of the computing, and others that are at least half as long.
    pub(super) fn rounds(&self, track: u32) -> &[f64] {
        self.rounds[track as usize].get_or_init(|| {
            let rank = self.ranks.binary_search_by_key(&track, |rank| rank.track);
            rank.map_or_else(|_| Vec::new(), |rank| self.ranks[rank].rounds())
        })
    }
}

impl Rank {
    fn rounds(&self) -> Vec<f64> {
        let pieces = &self.computing;
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

/// Returns sends that last until their receivers enter, as waits. Of the messages of a send, the one
/// that is received last counts.
fn held(waits: &Waits<'_>) -> Vec<Wait> {
    let Facts { tracks, messages, recorded, .. } = &waits.facts;
    if !recorded.is_empty() {
        return Vec::new();
    }
    let of_track = |at: usize| {
        let track = &tracks.list()[at];
        let mut found: Vec<Wait> = Vec::new();
        for number in messages.sent(at) {
            let message = &messages.list()[*number as usize];
            let (Some(send), Some(recv)) = (message.send(), message.recv()) else { continue };
            let enter = tracks.list()[message.to as usize].start[recv];
            // A nonblocking receive began before the call that completes it.
            let waits = track.start[send] < enter
                && enter < track.end[send]
                && tracks.class(at, send) == Class::Send
                && tracks.class(message.to as usize, recv) != Class::Wait
                && !waits.facts.is_rendezvous(message);
            if !waits {
                continue;
            }
            let wait = Wait {
                kind: Kind::LateReceiver,
                waiter: at as u32,
                state: send as u32,
                from: track.start[send],
                until: enter,
                whom: message.to,
                release: Some(recv as u32),
            };
            match found.last_mut().filter(|last| last.state == wait.state) {
                Some(last) if last.until < enter => *last = wait,
                Some(_) => {}
                None => found.push(wait),
            }
        }
        found
    };
    (0..tracks.list().len()).into_par_iter().flat_map_iter(of_track).collect()
}

fn call_path(waits: &Waits<'_>, wait: &Wait) -> CallPath {
    let track = &waits.facts.tracks.list()[wait.waiter as usize];
    let state = wait.state as usize;
    let around = track.parent(state);
    let outer = around.and_then(|state| track.parent(state));
    let value = |state: usize| track.value[state];
    (track.type_, [Some(value(state)), around.map(value), outer.map(value)])
}

/// Returns whether the innermost state of a call path sends or receives messages, or broadcasts.
pub(super) fn can_be_one_way(waits: &Waits<'_>, (type_, values): CallPath) -> bool {
    let class = |value| waits.facts.tracks.classes().class(type_, value);
    values[0].is_some_and(|value| match class(value) {
        Class::Collective(kind) => kind == Collective::OneToN,
        _ => true,
    })
}
