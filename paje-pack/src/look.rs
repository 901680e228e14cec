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

/// Effect that the lines of an action have.
#[derive(Clone, Copy)]
enum Deed {
    /// None but on time.
    Event,
    /// On a lane of states, or of a variable, of this type.
    Lane(EventKind, u32),
    /// An end of a link, in a lane; a hole has its key.
    Link(u32, u32),
}

/// Effect that a line has.
enum Effect {
    None,
    Lane(EventKind, u32),
    /// The key is at this place of the line.
    Link(u32, Range<usize>),
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
    /// For each action; none where each line is to be decoded.
    deeds: Vec<Option<Deed>>,
    types: FxHashMap<&'t [u8], u32>,
    /// Places of lanes, by the lanes of their lines, and by their types.
    known: FxHashMap<(u32, u32), u32>,
    /// Of these, the last one of each lane of lines: its type, and its place.
    recent: Vec<(u32, u32)>,
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
            types: FxHashMap::default(),
            known: FxHashMap::default(),
            recent: Vec::new(),
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

    /// The next line, which begins at byte `at`, is of these lane and action, has `hole`s at these places of itself, and such a time. None
    /// if no part of the trace may be read by itself: it names other files, has lines that cannot be understood, or one that is not whole.
    #[inline]
    pub(crate) fn see(
        &mut self,
        (lane, action): (u32, u32),
        at: usize,
        moment: Moment,
        roles: &Roles,
        hole: impl Fn(u32) -> Range<usize>,
    ) -> Option<()> {
        let spot = Spot { number: self.lines, at: at as u32 };
        self.lines += 1;
        let effect = match self.deeds.get(action as usize).copied().flatten() {
            Some(Deed::Event) => Some(Effect::None),
            Some(Deed::Lane(kind, type_)) => {
                self.known(lane, type_).map(|place| Effect::Lane(kind, place))
            }
            Some(Deed::Link(lane, key)) => Some(Effect::Link(lane, hole(key))),
            None => None,
        };
        let Some(effect) = effect else {
            return self.decode((lane, action), spot, moment, roles);
        };
        let latest = self.act(effect, spot)?;
        let is_latest = match moment {
            Moment::None => false,
            Moment::Units(units) => self.clock.units(units),
            Moment::Odd(number) => {
                let time = Field::new(&self.text[at..][hole(number)]);
                self.clock.seconds(parse_time(time.bare())?)
            }
        };
        if is_latest {
            self.latest = latest;
        }
        Some(())
    }

    /// Place of the lane of this type that lines of such a lane are of, if it is known.
    #[inline]
    fn known(&mut self, lane: u32, type_: u32) -> Option<u32> {
        match self.recent.get(lane as usize) {
            Some((recent, place)) if *recent == type_ => Some(*place),
            Some(_) => {
                let place = *self.known.get(&(lane, type_))?;
                self.recent[lane as usize] = (type_, place);
                Some(place)
            }
            None => None,
        }
    }

    fn learn(&mut self, lane: u32, type_: u32, place: u32) {
        if self.recent.len() <= lane as usize {
            self.recent.resize(lane as usize + 1, (u32::MAX, 0));
        }
        self.recent[lane as usize] = (type_, place);
        self.known.insert((lane, type_), place);
    }

    /// Does what a line does; how it would be the latest.
    #[inline]
    fn act(&mut self, effect: Effect, spot: Spot) -> Option<Latest<Spot>> {
        let mut latest = Latest { line: Some(spot), opener: None, wants_opener: false };
        match effect {
            Effect::None => {}
            Effect::Lane(kind, lane) => {
                self.changes[lane as usize].see(kind, spot, &mut latest)?;
            }
            Effect::Link(lane, key) => {
                let key = Field::new(&self.text[spot.at as usize..][key]).bare();
                latest.wants_opener = true;
                latest.opener = self.link(lane, key, spot);
            }
        }
        Some(latest)
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
        (line_lane, action): (u32, u32),
        spot: Spot,
        moment: Moment,
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
        let effect = match kind {
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
                Effect::Lane(kind, lane)
            }
            E::StartLink | E::EndLink => {
                Effect::Link(self.link_lanes.place(names()?), key.clone()?)
            }
            E::NewEvent => Effect::None,
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
                Effect::None
            }
        };
        let type_name = bare(F::Type).unwrap_or_default();

        // Others of the action do the same if they have their names in the same places, and their only time.
        let is_cut = action != RAW && self.cut.cut(line, roles);
        let Cut { action: text, fields, lane: cut_lane } = &self.cut;
        let hole = |place: &Range<usize>| fields.iter().position(|field| field == place);
        let of_lane = |place: Option<&Range<usize>>| place.is_some_and(|place| place == cut_lane);
        let is_same = |place: Option<&Range<usize>>| place.is_some_and(|it| hole(it).is_none());
        let kinds = text.iter().filter(|byte| (holes::LANE..=holes::VALUE).contains(*byte));
        let mut times = kinds.zip(fields).filter(|(hole, _)| **hole == holes::TIME);
        let first = times.next().map(|(_, place)| place);
        let tells_time =
            is_cut && times.next().is_none() && first == time.as_ref().map(|time| &time.0);
        let deed = match &effect {
            _ if is_kept || !tells_time => None,
            Effect::None => Some(Deed::Event),
            Effect::Lane(..) if of_lane(container.as_ref()) && is_same(type_.as_ref()) => {
                let next = self.types.len() as u32;
                let type_ = *self.types.entry(type_name).or_insert(next);
                Some(Deed::Lane(kind, type_))
            }
            Effect::Link(lane, key) if is_same(container.as_ref()) && is_same(type_.as_ref()) => {
                hole(key).map(|hole| Deed::Link(*lane, hole as u32))
            }
            _ => None,
        };
        if let Some(deed) = deed {
            let action = action as usize;
            if self.deeds.len() <= action {
                self.deeds.resize(action + 1, None);
            }
            self.deeds[action] = Some(deed);
            if let (Deed::Lane(_, type_), Effect::Lane(_, place)) = (deed, &effect) {
                self.learn(line_lane, type_, *place);
            }
        }

        let mut latest = self.act(effect, spot)?;
        if is_kept {
            latest.line = None;
        }
        let is_latest = match (moment, time) {
            (_, None) => false,
            (Moment::Units(units), _) if tells_time => self.clock.units(units),
            (_, Some((_, seconds))) => self.clock.seconds(seconds),
        };
        if is_latest {
            self.latest = latest;
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
