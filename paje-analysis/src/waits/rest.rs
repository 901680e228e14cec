//! Time that is not waiting, and the efficiencies that follow from it.
//!
//! Waiting and this rest divide the time of all containers: waits that overlap count once here.

use rayon::prelude::*;

use super::Waits;
use super::tables::Total;
use crate::Seconds;
use crate::classes::Class;
use crate::tracks::Piece;

/// Activity of a container that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// Computing, also between states if no message starts or ends there.
    Computing,
    /// In calls that send or receive a recorded message, after the other side has entered: the
    /// message is being transferred, or the library works.
    Transfer,
    /// In collectives, after the awaited members have entered.
    Collective,
    /// In calls that could send, receive or wait, if the trace has no message for them. Also between
    /// states, if messages start or end there: the calls are not recorded.
    Unexplained,
    /// In input and output.
    Files,
    /// In other calls.
    Other,
}

/// Efficiencies of the POP centre of excellence. The first is the product of the other two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// Mean time in computing, divided by the length of the run.
    pub parallel: f64,
    /// Mean time in computing, divided by the longest of a container.
    pub load_balance: f64,
    /// Longest time of a container in computing, divided by the length of the run.
    pub communication: f64,
}

impl Rest {
    /// Every activity.
    pub const ALL: [Rest; 6] = [
        Rest::Computing,
        Rest::Transfer,
        Rest::Collective,
        Rest::Unexplained,
        Rest::Files,
        Rest::Other,
    ];

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Rest::Computing => "(computing)",
            Rest::Transfer => "(transfer)",
            Rest::Collective => "(in collectives)",
            Rest::Unexplained => "(cause not recorded)",
            Rest::Files => "(input and output)",
            Rest::Other => "(other calls)",
        }
    }
}

impl Efficiency {
    /// Returns the efficiencies of a run of this length, from the computing time of each container.
    /// Returns `None` if none of them computes.
    pub(crate) fn of(
        computing: impl ExactSizeIterator<Item = Seconds> + Clone,
        length: Seconds,
    ) -> Option<Self> {
        let (count, longest) = (computing.len(), computing.clone().max()?);
        if longest.is_zero() {
            return None;
        }
        let mean = computing.sum::<Seconds>().to_f64() / count as f64;
        let (longest, length) = (longest.to_f64(), length.to_f64());
        Some(Efficiency {
            parallel: mean / length,
            load_balance: mean / longest,
            communication: longest / length,
        })
    }
}

impl Waits<'_> {
    /// Returns the time in the window that is not waiting, in the order of [`Rest::ALL`]. A stretch
    /// is counted as long as the innermost state does not change.
    #[must_use]
    pub fn by_rest(&self, window: (f64, f64)) -> Vec<(Rest, Total)> {
        let mut all = [Total::default(); Rest::ALL.len()];
        for track in self.rests(window) {
            all.iter_mut().zip(track).for_each(|(sum, total)| sum.merge(total));
        }
        let rows = Rest::ALL.into_iter().zip(all);
        rows.filter(|(_, total)| !total.seconds.is_zero()).collect()
    }

    /// Returns the efficiencies, in the window, of the containers that communicate. Returns `None` if
    /// none of these containers computes in the window.
    #[must_use]
    pub fn efficiency(&self, window: (f64, f64)) -> Option<Efficiency> {
        let all = self.rests(window).into_iter().enumerate();
        let rests: Vec<_> =
            all.filter(|(track, _)| self.communicates(*track)).map(|(_, rest)| rest).collect();
        let computing = rests.iter().map(|track| track[Rest::Computing as usize].seconds);
        Efficiency::of(computing, self.length(window))
    }

    /// Returns whether a container sends, receives or takes part in collectives.
    pub(crate) fn communicates(&self, track: usize) -> bool {
        (0..self.facts.tracks.list()[track].len())
            .any(|state| self.facts.tracks.class(track, state).communicates())
    }

    /// Returns the time between states in which messages start or end, so that it is not known
    /// whether the containers compute.
    #[must_use]
    pub fn between(&self, window: (f64, f64)) -> Seconds {
        let mut sum = Seconds::ZERO;
        if self.facts.messages.without_state() == (0, 0) {
            return sum;
        }
        for track in (0..self.facts.tracks.list().len()).filter(|track| self.communicates(*track)) {
            self.each_rest(track, window, |rest, piece| {
                if rest == Rest::Unexplained && piece.state.is_none() {
                    sum += Seconds::between(piece.start, piece.end);
                }
            });
        }
        sum
    }

    fn rests(&self, window: (f64, f64)) -> Vec<[Total; Rest::ALL.len()]> {
        let whole = self.whole();
        let window = (window.0.max(whole.0), window.1.min(whole.1));
        let tracks = (0..self.facts.tracks.list().len()).into_par_iter();
        tracks.map(|track| self.rest_of(track, window)).collect()
    }

    fn rest_of(&self, at: usize, window: (f64, f64)) -> [Total; Rest::ALL.len()] {
        let mut totals = [Total::default(); Rest::ALL.len()];
        self.each_rest(at, window, |rest, piece| {
            totals[rest as usize].add(Seconds::between(piece.start, piece.end));
        });
        totals
    }

    /// Visits the pieces of a track in which it does not wait. Between two waits, the latest piece
    /// comes first.
    pub(crate) fn each_rest(
        &self,
        at: usize,
        (start, end): (f64, f64),
        mut see: impl FnMut(Rest, Piece),
    ) {
        let (track, messages) = (&self.facts.tracks.list()[at], &self.facts.messages);
        let mut has_message = vec![false; track.len()];
        // Times at which messages start or end outside of calls.
        let mut outside = Vec::new();
        let list = messages.list();
        let received = messages.received(at).iter().map(|it| &list[*it as usize]);
        let sent = messages.sent(at).iter().map(|it| &list[*it as usize]);
        let ends = received.map(|message| (message.recv(), message.end));
        for (state, time) in ends.chain(sent.map(|message| (message.send(), message.start))) {
            match state {
                Some(state) => has_message[state] = true,
                None => outside.push(time),
            }
        }
        outside.sort_by(f64::total_cmp);
        let is_outside = |piece: &Piece| {
            let first = outside.partition_point(|time| *time < piece.start);
            outside.get(first).is_some_and(|time| *time <= piece.end)
        };
        let mut waits: Vec<(f64, f64)> =
            self.of_track(at).iter().map(|wait| (wait.from, wait.until)).collect();
        waits.sort_by(|a, b| a.0.total_cmp(&b.0));
        let classes = self.facts.tracks.classes().of_type(track.type_);
        let (mut since, mut ahead) = (start, 0);
        for (from, until) in waits.into_iter().chain([(end, end)]) {
            let from = from.min(end);
            while track.start.get(ahead).is_some_and(|start| *start < from) {
                ahead += 1;
            }
            for piece in track.pieces_before(ahead, since, from) {
                let rest = match piece.state {
                    None if !outside.is_empty() && is_outside(&piece) => Rest::Unexplained,
                    None => Rest::Computing,
                    Some(state) => match classes[track.value[state].index()] {
                        Class::Compute => Rest::Computing,
                        Class::Send | Class::Recv | Class::SendRecv | Class::Wait => {
                            if has_message[state] { Rest::Transfer } else { Rest::Unexplained }
                        }
                        Class::Collective(_) => Rest::Collective,
                        Class::Io => Rest::Files,
                        Class::Other => Rest::Other,
                    },
                };
                see(rest, piece);
            }
            since = since.max(until);
        }
    }
}
