//! Lines that nothing seen before tells: they are decoded, and say what others of their step do.

use std::ops::Range;

use paje_parser::{EventKind, Field, FieldName, Line as Decoded};

use super::lanes::{changes_lane, changes_state};
use super::links::End;
use super::{Cut, Deed, Doing, Look, What};
use crate::keys;
use crate::lines::holes;
use crate::rows::{LinkEnd, NO_CELL};
use crate::template::is_header;
use crate::trail::NotedKey;

/// No effect but on time.
const NOTHING: Deed = Deed { what: What::Nothing, lane: 0, cell: 0 };

/// Such events are those of a lane.
const fn is_of_lane(kind: EventKind) -> bool {
    use EventKind as E;
    changes_lane(kind) || matches!(kind, E::NewEvent | E::StartLink | E::EndLink)
}

impl Look<'_> {
    /// A line of an action or a lane that have not come before, or do not tell all.
    #[cold]
    pub(super) fn decode(&mut self, number: u32) -> Option<()> {
        use EventKind as E;
        use FieldName as F;
        let line = self.line_at(number);
        let is_header = is_header(line);
        if is_header {
            self.roles.learn(line);
        }
        let event = match self.decoder.line(line).ok()? {
            Decoded::Blank => {
                self.recorder.as_mut().into_iter().for_each(|recorder| recorder.other());
                return Some(());
            }
            Decoded::Header => {
                self.recorder.as_mut().into_iter().for_each(|recorder| recorder.other());
                self.fixed.push(self.keep(number));
                // Actions are decoded anew: within a definition, the same line is refused.
                self.forget();
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
        let (mut is_kept, mut is_sample) = (false, true);
        let value = place(F::Value);
        let mut recorder = self.recorder.as_deref_mut();
        let lane = match names() {
            Some(names) if is_of_lane(kind) => Some(self.lanes.place(names)),
            _ => None,
        };
        // The recorder may not be able to tell what the line does.
        let recorded = match (&mut recorder, names(), lane) {
            (Some(recorder), Some((container, type_)), Some(lane)) => {
                recorder.lane(lane, container, type_)
            }
            (None, ..) => Some(()),
            _ => None,
        };
        let mut is_told = recorded.is_some() && time.is_some();
        let deed = match kind {
            E::TraceFile => return None,
            _ if changes_lane(kind) => {
                let (_, type_) = names()?;
                let lane = lane?;
                self.lanes.all[lane as usize].is_changed = true;
                let opens = matches!(kind, E::SetState | E::PushState);
                let cell = match (&mut recorder, &value) {
                    (Some(all), Some(value)) if opens => {
                        all.cell(lane, type_, Field::new(&line[value.clone()]).bare())
                    }
                    _ => {
                        is_told &= !opens;
                        NO_CELL
                    }
                };
                if let Some(all) = &mut recorder
                    && changes_state(kind)
                {
                    self.lanes.all[lane as usize].begin_states(all);
                }
                let what = match kind {
                    E::PushState => What::Push,
                    E::PopState => What::Pop,
                    E::SetState => What::Set,
                    E::ResetState => What::Reset,
                    E::SetVariable => What::SetVariable,
                    _ => What::AddToVariable,
                };
                Deed { what, lane, cell }
            }
            E::StartLink | E::EndLink => {
                let is_start = kind == E::StartLink;
                let side = bare(if is_start { F::StartContainer } else { F::EndContainer });
                let lane = lane?;
                let end = match (&mut recorder, side, &value) {
                    (Some(all), Some(container), Some(value)) => {
                        let value = line[value.clone()].into();
                        let end = LinkEnd { lane, is_start, container: container.into(), value };
                        let fields = event.def().extras();
                        all.link_end(end, fields.map(|(name, _)| name.as_bytes().into()))
                    }
                    (None, ..) => Some(0),
                    _ => None,
                };
                is_told &= end.is_some();
                let what = if is_start { What::Start } else { What::End };
                Deed { what, lane, cell: end.unwrap_or_default() }
            }
            E::NewEvent => {
                // Such lines change nothing: one of them tells whether the others' names make sense, but for their values.
                let is_usual = event.surplus() == 0 && memchr::memchr(b'"', line).is_none();
                is_sample = match (&mut recorder, lane) {
                    (Some(all), Some(lane)) if is_usual => all.is_first_event(lane),
                    _ => true,
                };
                lane.map_or(NOTHING, |lane| Deed { what: What::Event, lane, cell: 0 })
            }
            _ => {
                is_told = true;
                if bare(F::Filename).is_some_and(|file| !file.is_empty()) {
                    return None;
                }
                is_kept = true;
                self.fixed.push((number.into(), line.into()));
                let name = bare(F::Name)?;
                if kind == E::DestroyContainer {
                    self.lanes.end(name);
                    self.ended.push(name.into());
                    // Steps of the container are decoded again.
                    recorder.into_iter().for_each(|recorder| recorder.end(name));
                    self.forget();
                } else if kind != E::DefineEntityValue
                    && bare(F::Alias).is_some_and(|alias| !alias.is_empty() && alias != name)
                {
                    self.aliased.push(name.into());
                }
                NOTHING
            }
        };
        if self.recorder.is_some() && !is_told {
            self.recorder = None;
        }

        // Others of the step do the same if they have their names in the same places, their only time, and their only key.
        let is_cut = !is_header && self.cut.cut(line, &self.roles);
        let Cut { action: text, fields, lane: cut_lane } = &self.cut;
        let hole = |place: &Range<usize>| fields.iter().position(|field| field == place);
        let of_lane = |place: Option<&Range<usize>>| place.is_some_and(|place| place == cut_lane);
        let is_same = |place: Option<&Range<usize>>| place.is_some_and(|it| hole(it).is_none());
        let kinds = || text.iter().filter(|byte| (holes::LANE..=holes::VALUE).contains(*byte));
        let is_only = |of: &[u8], place: Option<&Range<usize>>| {
            let mut same = kinds().zip(fields).filter(|(hole, _)| of.contains(hole));
            same.next().map(|(_, place)| place) == place && same.next().is_none()
        };
        let is_first = |place: Option<&Range<usize>>| {
            let mut values = kinds().zip(fields).filter(|(hole, _)| **hole == holes::VALUE);
            place.is_some() && values.next().map(|(_, place)| place) == place
        };
        let tells_time = is_cut && is_only(&[holes::TIME], time.as_ref().map(|time| &time.0));
        let tells_all = match deed.what {
            _ if is_kept || !tells_time => false,
            What::Unknown | What::Nothing | What::Event => true,
            What::Start | What::End => {
                is_first(value.as_ref())
                    && is_same(container.as_ref())
                    && is_same(type_.as_ref())
                    && key.is_some()
                    && is_only(&[holes::START, holes::END], key.as_ref())
            }
            _ => {
                of_lane(container.as_ref())
                    && is_same(type_.as_ref())
                    && (!deed.what.is_on_variable() || is_first(value.as_ref()))
            }
        };
        let noted = self.trail.lines[number as usize];
        let seconds = time.as_ref().map_or(0.0, |(_, seconds)| *seconds);
        let is_latest = match (noted.time(), time) {
            (_, None) => false,
            (Some(units), _) if tells_time => self.clock.units(units),
            (_, Some((_, seconds))) => self.clock.seconds(seconds),
        };
        if let Some(lane) = lane
            && !matches!(deed.what, What::Start | What::End)
        {
            self.lanes.all[lane as usize].begin(seconds);
        }
        let (mut of_step, mut key_number) = (deed, 0);
        if matches!(deed.what, What::Start | What::End) {
            let (at, key) = (noted.at as usize, key?);
            key_number = self.noted_key(number, at + key.start..at + key.end);
            if let Some(key) = self.trail.keys.get(key_number as usize)
                && tells_all
            {
                of_step.cell = self.ends.len() as u32;
                let bare = self.recorder.as_ref().map_or(0, |recorder| recorder.bare(deed.cell));
                let end = End { value: &self.text[key.value()], end: deed.cell, bare };
                self.ends.push(end);
                self.ends_by_value.insert((noted.step(), end.value), end);
            }
        }
        if tells_all {
            self.deeds[noted.step()] = of_step;
        }
        is_sample &= !is_kept;
        self.act(Doing {
            line: number,
            deed,
            time: seconds,
            key: key_number,
            is_latest,
            is_sample,
        })?;
        if is_latest && is_kept {
            self.latest = None;
        }
        Some(())
    }

    /// All lines are decoded again, until they tell what others do.
    fn forget(&mut self) {
        self.deeds.fill(Deed::default());
        self.ends.clear();
        self.ends_by_value.clear();
    }

    /// Number of the key at a place of the text, in a line.
    fn noted_key(&mut self, line: u32, place: Range<usize>) -> u32 {
        let known = self.key_of(line);
        let noted = self.trail.keys.get(known as usize);
        if noted.is_some_and(|noted| noted.line == line && noted.place() == place) {
            return known;
        }
        self.odd_keys.push(NotedKey::new(line, place, keys::NONE));
        (self.trail.keys.len() + self.odd_keys.len() - 1) as u32
    }
}
