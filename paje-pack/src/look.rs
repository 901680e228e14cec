//! A look at a segment while it is packed, for what crosses its ends.
//!
//! This is for traces that a replay finds sound, and asks no more of a line than which lane it is of, and whether it opens or
//! closes something there. Lines of the same action do the same: the first one is decoded, and tells what the others do.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use paje_parser::number::parse_time;
use paje_parser::{EventKind, Field, LineDecoder};
use rustc_hash::FxHashMap;

use self::clock::Clock;
use crate::definitions::Definitions;
use crate::passage::{Change, Kept, LaneName, Latest, Numbered, Passage};
use crate::rows::Recorder;
use crate::segment::Content;
use crate::template::{Cut, Roles};
use crate::texts::{fold, hash};
use crate::times::{Moment, Scale};

mod clock;
mod decode;
#[cfg(test)]
mod tests;

/// Number of no lane.
const NO_LANE: u32 = u32::MAX;

/// Samples that a short segment may have.
const MOST_SAMPLES: usize = 1 << 10;

/// A line: its number in the segment, and its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spot {
    number: u32,
    at: u32,
}

/// Effect that a line has, or all lines of a step.
#[derive(Clone, Copy, Default)]
enum Deed {
    /// Each line is to be decoded.
    #[default]
    Unknown,
    /// None but on time, that of a lane as the recorder numbers it.
    Event(u32),
    /// On a lane of states, or of a variable, which the recorder numbers otherwise, with its cell.
    Lane(EventKind, u32, (u32, u32)),
    /// An end of a link, in a lane, and what the recorder knows it by.
    Link(u32, u32),
}

impl Deed {
    const fn is_on_variable(self) -> bool {
        use EventKind as E;
        matches!(self, Deed::Lane(E::SetVariable | E::AddVariable | E::SubVariable, ..))
    }
}

/// A line, as it is packed: its step and action, its first byte, and what is in its holes.
pub(crate) struct Seen {
    pub(crate) step: u32,
    pub(crate) action: u32,
    pub(crate) at: usize,
    pub(crate) content: Content,
}

/// Doing of a line: its deed and place, its time if anybody asks, its key, and whether no time was later.
struct Doing {
    deed: Deed,
    spot: Spot,
    time: f64,
    key: Range<usize>,
    is_latest: bool,
    /// It is among the samples.
    is_sample: bool,
}

/// Lanes by number, in the order in which they come.
#[derive(Default)]
struct Lanes<'t> {
    places: FxHashMap<LaneName<&'t [u8]>, u32>,
    names: Vec<LaneName<&'t [u8]>>,
}

impl<'t> Lanes<'t> {
    fn place(&mut self, name: LaneName<&'t [u8]>) -> u32 {
        let next = self.names.len() as u32;
        *self.places.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }
}

/// An end of a link, of which the other has not come.
struct End<'t> {
    hash: u64,
    lane: u32,
    key: &'t [u8],
    line: Spot,
    /// For the recorder, and its time.
    end: (u32, f64),
    is_sample: bool,
}

/// A look at the lines of a text, in order.
pub(crate) struct Look<'t> {
    text: &'t [u8],
    decoder: LineDecoder,
    cut: Cut,
    lines: u32,
    /// For each step.
    deeds: Vec<Deed>,
    clock: Clock,
    latest: Latest<Spot>,
    fixed: Vec<Numbered>,
    aliased: Vec<Kept>,
    ended: Vec<Kept>,
    lanes: Lanes<'t>,
    changes: Vec<Change<Spot>>,
    of_container: FxHashMap<&'t [u8], Vec<u32>>,
    link_lanes: Lanes<'t>,
    links: HashTable<End<'t>>,
    /// None if nobody asks, or nobody but a replay can tell.
    recorder: Option<Box<Recorder>>,
    samples: Vec<Spot>,
}

impl<'t> Look<'t> {
    /// A look at a text, whose times have this scale, with the definitions that stand before it.
    pub(crate) fn new(text: &'t [u8], scale: Scale, definitions: &Definitions) -> Self {
        Look {
            text,
            decoder: LineDecoder::after(definitions.strict().clone()),
            cut: Cut::default(),
            lines: 0,
            deeds: Vec::new(),
            clock: Clock::new(scale),
            latest: Latest::default(),
            fixed: Vec::new(),
            aliased: Vec::new(),
            ended: Vec::new(),
            lanes: Lanes::default(),
            changes: Vec::new(),
            of_container: FxHashMap::default(),
            link_lanes: Lanes::default(),
            links: HashTable::new(),
            recorder: None,
            samples: Vec::new(),
        }
    }

    /// The same for who wants all rows.
    pub(crate) fn with_rows(self) -> Self {
        Look { recorder: Some(Box::default()), ..self }
    }

    /// The next line. None if no part of the trace may be read by itself: it names other files, has lines that cannot be understood, or one
    /// that is not whole.
    #[inline(always)]
    pub(crate) fn see(&mut self, line: &Seen, roles: &Roles) -> Option<()> {
        let mut deed = self.deeds.get(line.step as usize).copied().unwrap_or_default();
        let spot = Spot { number: self.lines, at: line.at as u32 };
        self.lines += 1;
        if matches!(deed, Deed::Unknown) {
            return self.decode(line, spot, roles);
        }
        let Content { moment, key, value, is_text, has_odd_quotes } = &line.content;
        let mut time = 0.0;
        let is_latest = match *moment {
            Moment::None => false,
            Moment::Units(units) => {
                if let Some(recorder) = &mut self.recorder {
                    if *has_odd_quotes || *is_text && deed.is_on_variable() {
                        return self.decode(line, spot, roles);
                    }
                    time = self.clock.seconds_of(units);
                    if let Deed::Link(_, end) = &mut deed {
                        let Some(same) = recorder.with_value(*end, &self.text[value.clone()])
                        else {
                            return self.decode(line, spot, roles);
                        };
                        *end = same;
                    }
                }
                self.clock.units(units)
            }
            Moment::Odd(..) if self.recorder.is_some() => return self.decode(line, spot, roles),
            Moment::Odd(first, end) => {
                let time = Field::new(&self.text[first..end]);
                self.clock.seconds(parse_time(time.bare())?)
            }
        };
        let key = key.clone();
        self.act(Doing { deed, spot, time, key, is_latest, is_sample: false })
    }

    /// Does what a line does.
    #[inline(always)]
    fn act(&mut self, doing: Doing) -> Option<()> {
        let Doing { deed, spot, time, key, is_latest, is_sample } = doing;
        let mut other = Latest::default();
        // Most lines are the latest so far.
        let latest = if is_latest { &mut self.latest } else { &mut other };
        *latest = Latest { line: Some(spot), opener: None, wants_opener: false };
        let mut opener = None;
        let mut recorded = Some(());
        match deed {
            Deed::Unknown => {}
            Deed::Event(lane) => {
                if lane != NO_LANE
                    && let Some(recorder) = &mut self.recorder
                {
                    recorded = recorder.pass(lane, time).map(|_| ());
                }
            }
            Deed::Lane(kind, lane, place) => {
                self.changes[lane as usize].see(kind, spot, latest)?;
                opener = latest.opener;
                if let Some(recorder) = &mut self.recorder {
                    recorded = recorder.state(kind, place, time);
                }
            }
            Deed::Link(lane, end) => {
                latest.wants_opener = true;
                let key = Field::new(&self.text[key]).bare();
                let found;
                (found, recorded) = self.link(lane, key, spot, (end, time), is_sample);
                opener = found;
                if is_latest {
                    self.latest.opener = opener;
                }
            }
        }
        if recorded.is_none() {
            self.recorder = None;
        }
        if is_sample {
            self.samples.push(spot);
            self.samples.extend(opener);
        }
        Some(())
    }

    /// One end of a link; the other one if it has come, and none if no recorder can tell what is between them.
    #[inline]
    fn link(
        &mut self,
        lane: u32,
        key: &'t [u8],
        line: Spot,
        end: (u32, f64),
        is_sample: bool,
    ) -> (Option<Spot>, Option<()>) {
        let of_key = hash(key);
        let hash = fold(of_key ^ u64::from(lane), 0x9e37_79b9_7f4a_7c15);
        let same = |end: &End<'_>| end.lane == lane && end.key == key;
        let recorder = &mut self.recorder;
        match self.links.entry(hash, same, |end| end.hash) {
            Entry::Occupied(other) => {
                let other = other.remove().0;
                if other.is_sample {
                    self.samples.push(line);
                }
                let link = |all: &mut Box<Recorder>| all.link(other.end, end, of_key);
                (Some(other.line), recorder.as_mut().map_or(Some(()), link))
            }
            Entry::Vacant(none) => {
                none.insert(End { hash, lane, key, line, end, is_sample });
                let begin = |all: &mut Box<Recorder>| all.half(end);
                (None, recorder.as_mut().map_or(Some(()), begin))
            }
        }
    }

    fn line_at(&self, spot: Spot) -> &'t [u8] {
        let line = &self.text[spot.at as usize..];
        &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
    }

    fn keep(&self, spot: Spot) -> Numbered {
        (spot.number.into(), self.line_at(spot).into())
    }

    /// All that was seen, when there are no more lines.
    pub(crate) fn passage(mut self) -> Passage {
        let owned = |(one, other): LaneName<&[u8]>| (one.into(), other.into());
        let changes = std::mem::take(&mut self.changes);
        let mut links: Vec<_> = std::mem::take(&mut self.links).into_iter().collect();
        links.sort_unstable_by_key(|end| end.line.number);
        let latest_time = self.clock.times().map_or(0.0, |(_, last)| last);
        let mut samples = std::mem::take(&mut self.samples);
        samples.extend(self.latest.line.iter().chain(&self.latest.opener));
        samples.sort_unstable_by_key(|line| line.number);
        samples.dedup();
        // Where most lines are unlike others, a replay of all is no dearer.
        let is_short = samples.len() <= MOST_SAMPLES + self.lines as usize / 8;
        let recorder = self.recorder.take().filter(|_| is_short);
        let rows = recorder.map(|all| {
            let halves = links.iter().map(|half| all.half_link(half.end, half.key)).collect();
            let is_cut = !self.text.ends_with(b"\n");
            all.rows(halves, latest_time, (self.lines.into(), is_cut))
        });
        if rows.is_none() {
            samples.clear();
        }
        let links = links.iter().map(|End { lane, key, line, .. }| {
            ((owned(self.link_lanes.names[*lane as usize]), (*key).into()), self.keep(*line))
        });
        let Latest { line, opener, wants_opener } = self.latest;
        let keep = |spot| self.keep(spot);
        let latest = Latest { line: line.map(keep), opener: opener.map(keep), wants_opener };
        let changed = self.lanes.names.iter().zip(changes);
        let changed = changed.filter(|(_, change)| *change != Change::default());
        Passage {
            lines: self.lines.into(),
            ends_with_newline: self.text.ends_with(b"\n"),
            times: self.clock.times().unwrap_or((f64::INFINITY, f64::NEG_INFINITY)),
            latest,
            lanes: changed.map(|(name, change)| (owned(*name), change.map(keep))).collect(),
            links: links.collect(),
            samples: samples.into_iter().map(keep).collect(),
            rows,
            fixed: self.fixed,
            aliased: self.aliased,
            ended: self.ended,
        }
    }
}
