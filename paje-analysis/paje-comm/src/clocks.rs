//! Clocks of ranks that are apart by a constant time.
//!
//! A message cannot be received before it is sent, and nobody leaves a barrier before the last
//! rank has entered. Each such pair of times limits how far two clocks are apart. Every clock is
//! set to the middle between its limits.

use std::sync::Arc;

use crate::classes::{Class, Collective};
use crate::collectives::Collectives;
use crate::facts::{Facts, Options};
use crate::messages::Messages;
use crate::tracks::Tracks;

/// Largest number of ranks. The time that alignment takes grows with the third power.
const MOST: usize = 1024;

/// Limits of the differences between clocks.
struct Limits {
    ranks: usize,
    /// For ranks i and j, the least time by which the clock of j has to be put forward if that of i
    /// is right.
    least: Vec<f64>,
}

impl Limits {
    fn of(tracks: &Tracks<'_>, messages: &Messages) -> Self {
        let ranks = tracks.list().len();
        let mut limits = Limits { ranks, least: vec![f64::NEG_INFINITY; ranks * ranks] };
        for it in messages.list().iter().filter(|it| it.send().is_some() && it.recv().is_some()) {
            limits.add(it.from as usize, it.start, it.to as usize, it.end);
        }
        let is_common = |class: &Class| {
            matches!(class, Class::Collective(Collective::Barrier | Collective::NxN))
        };
        let Some(first) = tracks.list().first() else { return limits };
        let classes = tracks.classes().of_type(first.type_).iter().enumerate();
        for (value, _) in classes.filter(|(_, class)| is_common(class)) {
            let all = tracks.list().iter().map(|track| {
                let of_value = |state: &usize| track.value[*state].index() == value;
                (0..track.len()).filter(of_value).collect::<Vec<usize>>()
            });
            let all: Vec<Vec<usize>> = all.collect();
            // If the numbers differ, the k-th calls do not belong together.
            let count = all[0].len();
            if all.iter().any(|calls| calls.len() != count) {
                continue;
            }
            for (i, (a, enters)) in tracks.list().iter().zip(&all).enumerate() {
                for (j, (b, exits)) in tracks.list().iter().zip(&all).enumerate() {
                    for (enter, exit) in enters.iter().zip(exits) {
                        limits.add(i, a.start[*enter], j, b.end[*exit]);
                    }
                }
            }
        }
        limits
    }

    /// Adds that a time of one rank is not after a time of another rank.
    fn add(&mut self, i: usize, before: f64, j: usize, after: f64) {
        let least = &mut self.least[i * self.ranks + j];
        *least = least.max(before - after);
    }

    /// Adds what follows from several limits.
    fn close(&mut self) {
        let ranks = self.ranks;
        for k in 0..ranks {
            for i in 0..ranks {
                let first = self.least[i * ranks + k];
                for j in 0..ranks {
                    let both = first + self.least[k * ranks + j];
                    let least = &mut self.least[i * ranks + j];
                    *least = least.max(both);
                }
            }
        }
    }
}

impl Facts<'_> {
    /// Aligns the clocks of the ranks. Also returns the largest error that is still possible for
    /// any clock, in the trace's unit of time.
    ///
    /// # Errors
    /// Fails if messages and barriers do not limit the difference of two clocks, or if the
    /// differences are not constant.
    pub fn aligned(self, options: &Options) -> Result<(Self, f64), String> {
        let (tracks, ranks) = (&self.tracks, self.tracks.list().len());
        if ranks > MOST {
            return Err(format!("clocks can be aligned for up to {MOST} ranks"));
        }
        let name =
            |at: usize| tracks.trace().containers().name(tracks.list()[at].container).to_string();
        let mut limits = Limits::of(tracks, &self.messages);
        limits.close();
        let mut shifts = Vec::with_capacity(ranks);
        let mut error: f64 = 0.0;
        for at in 0..ranks {
            let (least, most) = (limits.least[at], -limits.least[at * ranks]);
            if at > 0 && !(least.is_finite() && most.is_finite()) {
                return Err(format!(
                    "the clocks of {} and {} cannot be aligned: no messages in both directions, and \
                     no barriers, connect them",
                    name(0),
                    name(at)
                ));
            }
            let (shift, slack) =
                if at == 0 { (0.0, 0.0) } else { (0.5 * (least + most), most - least) };
            if slack < 0.0 || limits.least[at * ranks + at] > 0.0 {
                return Err(format!(
                    "the clocks of {} and {} cannot be aligned: their difference is not constant",
                    name(0),
                    name(at)
                ));
            }
            error = error.max(0.5 * slack);
            shifts.push(shift);
        }
        let moved = |times: fn(&crate::tracks::Track) -> &Vec<f64>| -> Vec<Vec<f64>> {
            let all = tracks.list().iter().zip(&shifts);
            all.map(|(track, shift)| times(track).iter().map(|time| time + shift).collect())
                .collect()
        };
        let new = tracks.at_times(&moved(|track| &track.start), &moved(|track| &track.end));
        let messages = self.messages.at_times(|_, it| {
            let [from, to] = [it.from, it.to].map(|track| shifts[track as usize]);
            (it.send().is_some() && it.recv().is_some()).then_some((it.start + from, it.end + to))
        });
        let collectives = Arc::new(Collectives::new(&new, &options.grouping));
        let mut facts = self.changed(new, messages);
        facts.collectives = collectives;
        Ok((facts, error))
    }
}
