//! Profile of a lane in a time window.

use std::collections::BTreeMap;

use paje_parser::TypeNature;
use paje_sim::LaneView;

use super::bins::{Bins, Key};
use super::lane::key;
use super::{Pyramid, Summary};

/// Amounts of a lane in a half-open window of ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By key: ticks of states, number of events, or number of links that begin in the window.
    pub amounts: BTreeMap<Key, u64>,
    /// Number of rows that begin in the window.
    pub starts: u64,
}

impl Profile {
    /// Adds up the widest bins that are within the window, and the rows at its ends. Variables have
    /// no profile.
    pub(crate) fn new(pyramid: &Pyramid, lane: LaneView<'_>, from: u64, to: u64) -> Self {
        let mut profile = Profile::default();
        if lane.nature() == TypeNature::Variable || from >= to {
            return profile;
        }
        let Some(finest) = pyramid.finest(lane.id()) else {
            profile.add_rows(pyramid, lane, from, to);
            return profile;
        };
        // Starts with the finest level. At each level, adds the bins at both ends that the next
        // level does not cover.
        let (mut low, mut high) = (from.div_ceil(1 << finest), to >> finest);
        if low >= high {
            profile.add_rows(pyramid, lane, from, to);
            return profile;
        }
        profile.add_rows(pyramid, lane, from, low << finest);
        profile.add_rows(pyramid, lane, high << finest, to);
        let mut level = finest;
        while low < high {
            if low % 2 == 1 {
                profile.add(&pyramid.summary(lane, level, low..low + 1));
                low += 1;
            }
            if high % 2 == 1 && low < high {
                high -= 1;
                profile.add(&pyramid.summary(lane, level, high..high + 1));
            }
            if high - low <= 2 {
                profile.add(&pyramid.summary(lane, level, low..high));
                return profile;
            }
            (low, high, level) = (low / 2, high / 2, level + 1);
        }
        profile
    }

    fn add(&mut self, summary: &Summary) {
        let (Summary::States(bins) | Summary::Events(bins) | Summary::Links(bins)) = summary else {
            return;
        };
        self.add_bins(bins);
    }

    fn add_bins(&mut self, bins: &Bins) {
        for bin in bins.iter() {
            self.starts += u64::from(bin.starts());
            for it in bin.amounts() {
                *self.amounts.entry(it.key).or_default() += it.amount;
            }
        }
    }

    fn add_rows(&mut self, pyramid: &Pyramid, lane: LaneView<'_>, from: u64, to: u64) {
        let (clock, nature) = (pyramid.clock(), lane.nature());
        pyramid.near(lane, from, to, |row| {
            let (start, end) = (clock.ticks(row.start), clock.ticks(row.end));
            let begins = (from..to).contains(&start);
            let amount = match nature {
                TypeNature::State => end.min(to).saturating_sub(start.max(from)),
                _ => u64::from(begins),
            };
            self.starts += u64::from(begins);
            if begins || amount > 0 {
                *self.amounts.entry(key(nature, &row)).or_default() += amount;
            }
        });
    }
}
