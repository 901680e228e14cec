//! A look at a segment while it is packed, for what crosses its ends.
//!
//! This is for traces that a replay finds sound, and asks no more of a line than which lane it is of, and whether it opens or
//! closes something there. Lines of the same action do the same: the first one is decoded, and tells what the others do.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use paje_parser::number::parse_time;
use paje_parser::{EventKind, Field, FieldName, Line as Decoded, LineDecoder};
use rustc_hash::FxHashMap;

use self::clock::Clock;
use crate::definitions::Definitions;
use crate::lines::{RAW, holes};
use crate::passage::{Change, Kept, LaneName, Latest, Numbered, Passage};
use crate::template::{Cut, Roles};
use crate::texts::{fold, hash};
use crate::times::{Moment, Scale};

mod clock;
#[cfg(test)]
mod tests;

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
    /// None but on time.
    Event,
    /// On a lane of states, or of a variable.
    Lane(EventKind, u32),
    /// An end of a link, in a lane.
    Link(u32),
}

/// A line, as it is packed: its step and action, its first byte, its time, and the place of its last key in the text.
pub(crate) struct Seen {
    pub(crate) step: u32,
    pub(crate) action: u32,
    pub(crate) at: usize,
    pub(crate) moment: Moment,
    pub(crate) key: Range<usize>,
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
        }
    }

    /// The next line. None if no part of the trace may be read by itself: it names other files, has lines that cannot be understood, or one
    /// that is not whole.
    #[inline(always)]
    pub(crate) fn see(&mut self, line: Seen, roles: &Roles) -> Option<()> {
        let deed = self.deeds.get(line.step as usize).copied().unwrap_or_default();
        let spot = Spot { number: self.lines, at: line.at as u32 };
        self.lines += 1;
        if matches!(deed, Deed::Unknown) {
            return self.decode(&line, spot, roles);
        }
        let is_latest = match line.moment {
            Moment::None => false,
            Moment::Units(units) => self.clock.units(units),
            Moment::Odd(first, end) => {
                let time = Field::new(&self.text[first..end]);
                self.clock.seconds(parse_time(time.bare())?)
            }
        };
        self.act(deed, spot, line.key, is_latest)
    }

    /// Does what a line does; its key is at this place of the text.
    #[inline(always)]
    fn act(&mut self, deed: Deed, spot: Spot, key: Range<usize>, is_latest: bool) -> Option<()> {
        let mut other = Latest::default();
        // Most lines are the latest so far.
        let latest = if is_latest { &mut self.latest } else { &mut other };
        *latest = Latest { line: Some(spot), opener: None, wants_opener: false };
        match deed {
            Deed::Unknown | Deed::Event => {}
            Deed::Lane(kind, lane) => self.changes[lane as usize].see(kind, spot, latest)?,
            Deed::Link(lane) => {
                latest.wants_opener = true;
                let key = Field::new(&self.text[key]).bare();
                let opener = self.link(lane, key, spot);
                if is_latest {
                    self.latest.opener = opener;
                }
            }
        }
        Some(())
    }

    /// One end of a link; the other one if it has come.
    #[inline]
    fn link(&mut self, lane: u32, key: &'t [u8], line: Spot) -> Option<Spot> {
        let hash = fold(hash(key) ^ u64::from(lane), 0x9e37_79b9_7f4a_7c15);
        let same = |end: &End<'_>| end.lane == lane && end.key == key;
        match self.links.entry(hash, same, |end| end.hash) {
            Entry::Occupied(other) => Some(other.remove().0.line),
            Entry::Vacant(none) => {
                none.insert(End { hash, lane, key, line });
                None
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

    /// A line of an action or a lane that have not come before, or do not tell all.
    #[cold]
    fn decode(
        &mut self,
        &Seen { step, action, moment, .. }: &Seen,
        spot: Spot,
        roles: &Roles,
    ) -> Option<()> {
        use EventKind as E;
        use FieldName as F;
        let line = self.line_at(spot);
        let event = match self.decoder.line(line).ok()? {
            Decoded::Blank => return Some(()),
            Decoded::Header => {
                self.fixed.push(self.keep(spot));
                // Actions are decoded anew: within a definition, the same line is refused.
                self.deeds.clear();
                return Some(());
            }
            Decoded::Event(event) => event,
        };
        let place = |field| event.span(field).map(|span| span.start as usize..span.end as usize);
        let bare = |field| event.span(field).map(|span| span.of(line).bare());
        let (kind, container, type_, key) =
            (event.def().kind(), place(F::Container), place(F::Type), place(F::Key));
        let names = || Some((bare(F::Container)?, bare(F::Type)?));
        let time = match place(F::Time) {
            Some(place) => Some((place, event.time().ok()?)),
            None => None,
        };
        let mut is_kept = false;
        let deed = match kind {
            E::TraceFile => return None,
            E::SetState
            | E::PushState
            | E::PopState
            | E::ResetState
            | E::SetVariable
            | E::AddVariable
            | E::SubVariable => {
                let names = names()?;
                let lane = self.lanes.place(names);
                if lane as usize == self.changes.len() {
                    self.changes.push(Change::default());
                    self.of_container.entry(names.0).or_default().push(lane);
                }
                Deed::Lane(kind, lane)
            }
            E::StartLink | E::EndLink => Deed::Link(self.link_lanes.place(names()?)),
            E::NewEvent => Deed::Event,
            _ => {
                if bare(F::Filename).is_some_and(|file| !file.is_empty()) {
                    return None;
                }
                is_kept = true;
                self.fixed.push((spot.number.into(), line.into()));
                let name = bare(F::Name)?;
                if kind == E::DestroyContainer {
                    for lane in self.of_container.get(name).into_iter().flatten() {
                        self.changes[*lane as usize].end();
                    }
                    self.ended.push(name.into());
                } else if kind != E::DefineEntityValue
                    && bare(F::Alias).is_some_and(|alias| !alias.is_empty() && alias != name)
                {
                    self.aliased.push(name.into());
                }
                Deed::Event
            }
        };

        // Others of the step do the same if they have their names in the same places, their only time, and their only key.
        let is_cut = action != RAW && self.cut.cut(line, roles);
        let Cut { action: text, fields, lane: cut_lane } = &self.cut;
        let hole = |place: &Range<usize>| fields.iter().position(|field| field == place);
        let of_lane = |place: Option<&Range<usize>>| place.is_some_and(|place| place == cut_lane);
        let is_same = |place: Option<&Range<usize>>| place.is_some_and(|it| hole(it).is_none());
        let kinds = || text.iter().filter(|byte| (holes::LANE..=holes::VALUE).contains(*byte));
        let is_only = |of: &[u8], place: Option<&Range<usize>>| {
            let mut same = kinds().zip(fields).filter(|(hole, _)| of.contains(hole));
            same.next().map(|(_, place)| place) == place && same.next().is_none()
        };
        let tells_time = is_cut && is_only(&[holes::TIME], time.as_ref().map(|time| &time.0));
        let tells_all = match deed {
            _ if is_kept || !tells_time => false,
            Deed::Unknown | Deed::Event => true,
            Deed::Lane(..) => of_lane(container.as_ref()) && is_same(type_.as_ref()),
            Deed::Link(_) => {
                is_same(container.as_ref())
                    && is_same(type_.as_ref())
                    && key.is_some()
                    && is_only(&[holes::START, holes::END], key.as_ref())
            }
        };
        if tells_all {
            let step = step as usize;
            if self.deeds.len() <= step {
                self.deeds.resize(step + 1, Deed::Unknown);
            }
            self.deeds[step] = deed;
        }

        let is_latest = match (moment, time) {
            (_, None) => false,
            (Moment::Units(units), _) if tells_time => self.clock.units(units),
            (_, Some((_, seconds))) => self.clock.seconds(seconds),
        };
        let key = match deed {
            Deed::Link(_) => key?,
            _ => 0..0,
        };
        let at = spot.at as usize;
        self.act(deed, spot, at + key.start..at + key.end, is_latest)?;
        if is_latest && is_kept {
            self.latest.line = None;
        }
        Some(())
    }

    /// All that was seen, when there are no more lines.
    pub(crate) fn passage(mut self) -> Passage {
        let owned = |(one, other): LaneName<&[u8]>| (one.into(), other.into());
        let changes = std::mem::take(&mut self.changes);
        let mut links: Vec<_> = std::mem::take(&mut self.links).into_iter().collect();
        links.sort_unstable_by_key(|end| end.line.number);
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
            fixed: self.fixed,
            aliased: self.aliased,
            ended: self.ended,
        }
    }
}
