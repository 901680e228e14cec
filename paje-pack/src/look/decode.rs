//! Lines that nothing seen before tells: they are decoded, and say what others of their step do.

use std::ops::Range;

use paje_parser::{EventKind, Field, FieldName, Line as Decoded};

use super::{Cut, Deed, Doing, Look, NO_LANE, Seen, Spot};
use crate::lines::{RAW, holes};
use crate::passage::Change;
use crate::rows::LinkEnd;
use crate::template::Roles;
use crate::times::Moment;

/// Lines of such events change the state of a lane, or its variable.
const fn changes_lane(kind: EventKind) -> bool {
    use EventKind as E;
    matches!(
        kind,
        E::SetState
            | E::PushState
            | E::PopState
            | E::ResetState
            | E::SetVariable
            | E::AddVariable
            | E::SubVariable
    )
}

/// Such events are those of a lane.
const fn is_of_lane(kind: EventKind) -> bool {
    use EventKind as E;
    changes_lane(kind) || matches!(kind, E::NewEvent | E::StartLink | E::EndLink)
}

impl Look<'_> {
    /// A line of an action or a lane that have not come before, or do not tell all.
    #[cold]
    pub(super) fn decode(
        &mut self,
        &Seen { step, action, ref content, .. }: &Seen,
        spot: Spot,
        roles: &Roles,
    ) -> Option<()> {
        use EventKind as E;
        use FieldName as F;
        let line = self.line_at(spot);
        let event = match self.decoder.line(line).ok()? {
            Decoded::Blank => {
                self.recorder.as_mut().into_iter().for_each(|recorder| recorder.other());
                return Some(());
            }
            Decoded::Header => {
                self.recorder.as_mut().into_iter().for_each(|recorder| recorder.other());
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
        let (mut is_kept, mut is_sample) = (false, true);
        let value = place(F::Value);
        let mut recorder = self.recorder.as_deref_mut();
        // The lane as the recorder has it; none either if it cannot tell what the line does.
        let recorded = match (&mut recorder, names()) {
            (Some(recorder), Some((container, type_))) if is_of_lane(kind) => {
                recorder.lane(container, type_)
            }
            (None, _) => Some(0),
            _ => None,
        };
        let mut is_told = recorded.is_some() && time.is_some();
        let deed = match kind {
            E::TraceFile => return None,
            _ if changes_lane(kind) => {
                let names = names()?;
                let lane = self.lanes.place(names);
                if lane as usize == self.changes.len() {
                    self.changes.push(Change::default());
                    self.of_container.entry(names.0).or_default().push(lane);
                }
                let cell = match (&mut recorder, recorded, &value) {
                    (Some(all), Some(lane), Some(value))
                        if matches!(kind, E::SetState | E::PushState) =>
                    {
                        all.cell(lane, Field::new(&line[value.clone()]).bare())
                    }
                    _ => {
                        is_told &= !matches!(kind, E::SetState | E::PushState);
                        0
                    }
                };
                Deed::Lane(kind, lane, (recorded.unwrap_or_default(), cell))
            }
            E::StartLink | E::EndLink => {
                let is_start = kind == E::StartLink;
                let side = bare(if is_start { F::StartContainer } else { F::EndContainer });
                let end = match (&mut recorder, recorded, side, &value) {
                    (Some(all), Some(lane), Some(container), Some(value)) => {
                        let value = line[value.clone()].into();
                        let end = LinkEnd { lane, is_start, container: container.into(), value };
                        let fields = event.def().extras();
                        all.link_end(end, fields.map(|(name, _)| name.as_bytes().into()))
                    }
                    (None, ..) => Some(0),
                    _ => None,
                };
                is_told &= end.is_some();
                Deed::Link(self.link_lanes.place(names()?), end.unwrap_or_default())
            }
            E::NewEvent => {
                // Such lines change nothing: one of them tells whether the others' names make sense, but for their values.
                let is_usual = event.surplus() == 0 && memchr::memchr(b'"', line).is_none();
                is_sample = match (&mut recorder, recorded) {
                    (Some(all), Some(lane)) if is_usual => all.is_first_event(lane),
                    _ => true,
                };
                Deed::Event(recorded.unwrap_or(NO_LANE))
            }
            _ => {
                is_told = true;
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
                    // Steps of the container are decoded again.
                    recorder.into_iter().for_each(|recorder| recorder.end(name));
                    self.deeds.clear();
                } else if kind != E::DefineEntityValue
                    && bare(F::Alias).is_some_and(|alias| !alias.is_empty() && alias != name)
                {
                    self.aliased.push(name.into());
                }
                Deed::Event(NO_LANE)
            }
        };
        if self.recorder.is_some() && !is_told {
            self.recorder = None;
        }

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
        let is_first = |place: Option<&Range<usize>>| {
            let mut values = kinds().zip(fields).filter(|(hole, _)| **hole == holes::VALUE);
            place.is_some() && values.next().map(|(_, place)| place) == place
        };
        let tells_time = is_cut && is_only(&[holes::TIME], time.as_ref().map(|time| &time.0));
        let tells_all = match deed {
            _ if is_kept || !tells_time => false,
            Deed::Unknown | Deed::Event(_) => true,
            Deed::Lane(..) => {
                of_lane(container.as_ref())
                    && is_same(type_.as_ref())
                    && (!deed.is_on_variable() || is_first(value.as_ref()))
            }
            Deed::Link(..) => {
                is_first(value.as_ref())
                    && is_same(container.as_ref())
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

        let seconds = time.as_ref().map_or(0.0, |(_, seconds)| *seconds);
        let is_latest = match (content.moment, time) {
            (_, None) => false,
            (Moment::Units(units), _) if tells_time => self.clock.units(units),
            (_, Some((_, seconds))) => self.clock.seconds(seconds),
        };
        let key = match deed {
            Deed::Link(..) => key?,
            _ => 0..0,
        };
        let at = spot.at as usize;
        let key = at + key.start..at + key.end;
        is_sample &= !is_kept;
        self.act(Doing { deed, spot, time: seconds, key, is_latest, is_sample })?;
        if is_latest && is_kept {
            self.latest.line = None;
        }
        Some(())
    }
}
