//! Links of a segment: which ends belong together.
//!
//! Who writes keys knows most of it: the link that a key ends is the first open one with that key. Where there is more to a key than that, or
//! where keys of many lanes are the same, they are looked up by lane.

use std::collections::VecDeque;

use paje_parser::Field;
use rustc_hash::FxHashMap;

use super::Look;
use super::lanes::{NO_LINE, Opener};
use crate::keys;
use crate::texts::hash;
use crate::trail::NotedKey;

/// Number of no line of a link.
pub(super) const ALONE: u32 = u32::MAX;

/// A line of a link: its lane, what the recorder knows this end by, its time, number, and key; and whether it is a sample.
#[derive(Clone, Copy)]
pub(super) struct LinkLine {
    pub(super) lane: u32,
    pub(super) end: u32,
    pub(super) time: f64,
    pub(super) line: u32,
    /// Number of its key among those of the segment.
    pub(super) key: u32,
    pub(super) is_start: bool,
    pub(super) is_sample: bool,
}

/// A link that has begun, as [`LinkLine`] has its first line.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) lane: u32,
    pub(super) end: u32,
    /// Number of its value without quotes.
    pub(super) bare: u32,
    pub(super) time: f64,
    /// [`NO_LINE`] if it has ended, or is none.
    pub(super) line: u32,
    pub(super) key: u32,
    pub(super) is_sample: bool,
}

impl Begun {
    /// None of this number.
    pub(super) const NONE: Begun =
        Begun { lane: 0, end: 0, bare: 0, time: 0.0, line: NO_LINE, key: 0, is_sample: false };

    /// Its first line, if it has not ended.
    pub(super) fn left(&self) -> Option<LinkLine> {
        let Begun { lane, end, time, line, key, is_sample, .. } = *self;
        let half = LinkLine { lane, end, time, line, key, is_start: true, is_sample };
        (line != NO_LINE).then_some(half)
    }
}

/// Value of an end, and its number, as it is written and without quotes.
#[derive(Clone, Copy)]
pub(super) struct End<'t> {
    pub(super) value: &'t [u8],
    pub(super) end: u32,
    pub(super) bare: u32,
}

/// Keys of a text, in the order of their lines.
#[derive(Clone, Copy)]
pub(super) struct Keys<'t> {
    pub(super) text: &'t [u8],
    pub(super) keys: &'t [NotedKey],
    /// Those of which nothing was noted, numbered behind the others.
    pub(super) odd: &'t [NotedKey],
}

impl<'t> Keys<'t> {
    fn get(self, key: u32) -> &'t NotedKey {
        let key = key as usize;
        self.keys.get(key).unwrap_or_else(|| &self.odd[key - self.keys.len()])
    }

    /// A key without quotes.
    pub(super) fn bare(self, key: u32) -> &'t [u8] {
        Field::new(&self.text[self.get(key).place()]).bare()
    }

    /// The hash of a key without quotes.
    #[inline]
    pub(super) fn hash(self, key: u32) -> u64 {
        hash(self.bare(key))
    }

    /// For each line of a link, the one with its other end, or [`ALONE`]: a link ends with the first end behind it, and an end is that of the
    /// first open link with its lane and key.
    pub(super) fn others(self, lines: &[LinkLine]) -> Vec<u32> {
        let mut others = vec![ALONE; lines.len()];
        let mut open: FxHashMap<(u32, &[u8]), VecDeque<u32>> = FxHashMap::default();
        for (place, line) in (0..).zip(lines) {
            let key = (line.lane, self.bare(line.key));
            if line.is_start {
                open.entry(key).or_default().push_back(place);
            } else if let Some(start) = open.get_mut(&key).and_then(VecDeque::pop_front) {
                (others[start as usize], others[place as usize]) = (place, start);
            }
        }
        others
    }
}

impl Look<'_> {
    /// A line of a link.
    pub(super) fn link(&mut self, line: LinkLine) -> Opener {
        let last = &mut self.lanes.all[line.lane as usize].last;
        *last = last.max(line.time);
        if line.time < 0.0 || line.time.is_nan() {
            self.recorder = None;
        }
        if self.by_key {
            self.links.push(line);
            return Opener::Lacking;
        }
        let Some(NotedKey { link, .. }) = self.trail.keys.get(line.key as usize) else {
            self.is_mixed = true;
            return Opener::Lacking;
        };
        let number = *link as usize;
        let bare = self.recorder.as_ref().map_or(0, |recorder| recorder.bare(line.end));
        if line.is_start {
            self.is_mixed |= number < self.begun.len();
            // Those that are no links have none.
            self.begun.resize(number, Begun::NONE);
            let LinkLine { lane, end, time, line, key, is_sample, .. } = line;
            self.begun.push(Begun { lane, end, bare, time, line, key, is_sample });
            return Opener::Lacking;
        }
        if *link == keys::NONE {
            self.loose.push(line);
            return Opener::Lacking;
        }
        let start = self.begun.get_mut(number).filter(|start| start.line != NO_LINE);
        let Some(start) = start.filter(|start| start.lane == line.lane) else {
            self.is_mixed = true;
            return Opener::Lacking;
        };
        if start.is_sample {
            self.samples.push(line.line);
        }
        if bare != start.bare {
            self.recorder = None;
        }
        if let Some(recorder) = &mut self.recorder {
            let keys = Keys { text: self.text, keys: &self.trail.keys, odd: &self.odd_keys };
            let ends = ((start.end, start.time), (line.end, line.time));
            recorder.link(ends, line.lane, keys.hash(line.key));
        }
        Opener::Line(std::mem::replace(&mut start.line, NO_LINE))
    }

    /// Ends of links whose other one is elsewhere, in the order of their lines.
    pub(super) fn halves(&mut self) -> Vec<LinkLine> {
        if self.by_key {
            return self.match_links();
        }
        let mut halves = std::mem::take(&mut self.loose);
        halves.extend(self.begun.iter().filter_map(Begun::left));
        halves.sort_unstable_by_key(|half| half.line);
        halves
    }

    /// Brings all ends of links together; those that have no other are left.
    #[cold]
    fn match_links(&mut self) -> Vec<LinkLine> {
        let lines = std::mem::take(&mut self.links);
        let keys = Keys { text: self.text, keys: &self.trail.keys, odd: &self.odd_keys };
        let mut halves = Vec::new();
        for (line, other) in lines.iter().zip(keys.others(&lines)) {
            let Some(other) = lines.get(other as usize) else {
                halves.push(*line);
                continue;
            };
            if line.is_sample {
                self.samples.push(other.line);
            }
            if line.is_start {
                continue;
            }
            if self.latest == Some(line.line) {
                self.latest_opener = Opener::Line(other.line);
            }
            if let Some(recorder) = &mut self.recorder {
                if recorder.bare(other.end) != recorder.bare(line.end) {
                    self.recorder = None;
                    continue;
                }
                let ends = ((other.end, other.time), (line.end, line.time));
                recorder.link(ends, line.lane, keys.hash(line.key));
            }
        }
        halves
    }
}
