//! The replay of one strand of a lane, by itself, block after block.

use paje_parser::TypeNature;
use rustc_hash::FxHashMap;

use crate::decode::decoded::{LaneEvent, Op};
use crate::lanes::events::EventLane;
use crate::lanes::links::{KeyMemory, LinkStrand, Opened};
use crate::lanes::refusal::{Refusal, Refusals, Refused};
use crate::lanes::states::StateLane;
use crate::lanes::variables::VariableLane;
use crate::memory::{EventChunk, Rows, StateChunk, Store, Written};
use crate::names::ids::LaneId;
use crate::replay::completion::{Completion, home_of};
use crate::replay::slice::{Slice, begin_event, half_link, links, points, states, variables};
use crate::replay::unwanted::Unwanted;

/// The objects of one strand, and what is open in it. There may be millions, each of which is somewhere in memory that
/// nothing has looked at for long: so one is a line of the caches, see `strands_are_small`.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Strand {
    /// The byte of the last event, [`NEVER`] before the first; and [`ENDED`] if the container has ended.
    last_at: u64,
    /// The time of the last event.
    last_time: f64,
    /// None of links, whose homes have them.
    pub(crate) rows: Rows,
    pub(crate) lane: LaneId,
    pub(crate) objects: Objects,
}

/// The bit beside the byte of the last event that tells whether the container has ended. By which line, the model says;
/// whether what comes later counts is for the `Cuts` to say.
const ENDED: u64 = 1 << 63;
const NEVER: u64 = !ENDED;

/// A strand by the nature of its lane's type.
#[derive(Debug)]
pub(crate) enum Objects {
    State(StateLane),
    Variable(VariableLane),
    Event(EventLane),
    Link(Box<LinkStrand>),
    /// Of a lane without rows.
    Unwanted(Unwanted),
}

/// Results of replaying a slice that are left for others.
#[derive(Debug)]
pub(crate) struct Left {
    /// The bytes of events that came after their containers' ends.
    pub(crate) ignored: Vec<u64>,
    /// Links that have both ends now, by the homes of their lanes.
    pub(crate) completed: Vec<Vec<Completion>>,
    /// Links whose keys have not been remembered yet, while a strand's events of one block are replayed.
    pub(crate) opened: Vec<Opened>,
    /// Events that were refused, if the replay goes on after them.
    pub(crate) refusals: Refusals,
    /// The latest time of lanes whose last event is earlier, if the replay goes on after events that are
    /// refused: those of links. (Their last event is another where they are spread over another number of
    /// strands.)
    pub(crate) latest: FxHashMap<LaneId, f64>,
}

impl Strand {
    /// A link strand remembers so much of keys. The options' `no_imbrication` applies to states that are `flat`.
    pub(crate) fn new(lane: LaneId, nature: TypeNature, flat: bool, keys: KeyMemory) -> Self {
        let objects = match nature {
            TypeNature::State | TypeNature::Container => Objects::State(StateLane::new(flat)),
            TypeNature::Variable => Objects::Variable(VariableLane::default()),
            TypeNature::Event => Objects::Event(EventLane::default()),
            TypeNature::Link => Objects::Link(Box::new(LinkStrand::new(keys))),
        };
        Strand { last_at: NEVER, last_time: 0.0, rows: Rows::default(), lane, objects }
    }

    /// The same of a lane whose rows nobody wants.
    pub(crate) fn unwanted(self) -> Self {
        let objects = match self.objects {
            Objects::State(lane) => Objects::Unwanted(Unwanted::states(lane.is_flat())),
            Objects::Variable(_) => Objects::Unwanted(Unwanted::VARIABLES),
            Objects::Event(_) => Objects::Unwanted(Unwanted::EVENTS),
            Objects::Link(links) => Objects::Link(Box::new(links.unwanted())),
            unwanted @ Objects::Unwanted(_) => unwanted,
        };
        Strand { objects, ..self }
    }

    /// The same of a sound trace, of which lines may be missing.
    pub(crate) fn ignored(self) -> Self {
        Strand { objects: Objects::Unwanted(Unwanted::Anything), ..self }
    }

    /// The container has ended.
    pub(crate) fn end(&mut self) {
        self.last_at |= ENDED;
    }

    /// Looks at the strand itself, before [`touch`](Strand::touch), which depends on it.
    #[inline]
    pub(crate) fn look(&self) -> u64 {
        self.last_at
    }

    /// Looks at what replaying will need: see [`Shard::replay`](crate::replay::shard::Shard::replay).
    #[inline]
    pub(crate) fn touch(&self, store: &Store) -> u64 {
        match &self.objects {
            Objects::State(_) => self.rows.touch(&store.arena, |chunk| {
                // The last end too, which may be yet to come; imbrications lie beside values where lanes are many.
                let value = StateChunk::value(chunk) + chunk.width.words(chunk.count() + 1) - 1;
                [value, chunk.size() + chunk.count() - 1]
            }),
            Objects::Variable(_) => self.rows.touch(&store.arena, |chunk| {
                let value = chunk.size() + chunk.count();
                [value, value - 1]
            }),
            Objects::Event(_) => self.rows.touch(&store.arena, |chunk| {
                let value = EventChunk::value(chunk) + chunk.width.words(chunk.count() + 1) - 1;
                [value, value]
            }),
            Objects::Link(_) | Objects::Unwanted(_) => 0,
        }
    }

    /// Replays a block's events of this strand.
    ///
    /// # Errors
    /// The first event that the lane refuses.
    pub(crate) fn replay(
        &mut self,
        events: &[LaneEvent],
        slice: &Slice<'_>,
        store: &mut Store,
        left: &mut Left,
    ) -> Result<(), Refusal> {
        let base = slice.block.text.start().0;
        // In file order: what was replayed before, what is to be replayed, what is to be ignored.
        let before = |byte: u64| events.partition_point(|event| base + u64::from(event.at) < byte);
        let last = events.last().map_or(0, |event| base + u64::from(event.at));
        let (mut live, mut end) = (events.len(), events.len());
        let start = if base < slice.bytes.start { before(slice.bytes.start) } else { 0 };
        if last >= slice.bytes.end {
            end = before(slice.bytes.end);
            live = end;
        }
        let lines = || slice.block.origin.start..last + 1;
        if self.last_at & ENDED != 0
            && let ended_at = slice.model.ended_at(self.lane)
            && last > ended_at
            && let Some(cut) = slice.cuts.first(self.lane, ended_at, lines())
        {
            live = before(cut + 1).clamp(start, end.max(start));
            let ignored = events.get(live..end).unwrap_or_default();
            left.ignored.extend(ignored.iter().map(|event| base + u64::from(event.at)));
        }
        let events = events.get(start..live).unwrap_or_default();
        let Some(last) = events.last() else { return Ok(()) };
        let mut rest = events;
        loop {
            let written = Written { rows: &mut self.rows, store };
            let replayed = match &mut self.objects {
                Objects::State(lane) => states(lane, rest, slice, written),
                Objects::Variable(lane) => variables(lane, rest, slice, written),
                Objects::Event(lane) => points(lane, rest, slice, written),
                Objects::Link(strand) => {
                    let home = home_of(self.lane, left.completed.len());
                    let Left { opened, completed, .. } = &mut *left;
                    links(strand, self.lane, rest, slice, store, opened, &mut completed[home])
                }
                Objects::Unwanted(lane) => lane.check(rest),
            };
            if slice.recovers {
                match replayed {
                    Ok(()) => self.note_times(rest, base, left),
                    Err((index, why)) => {
                        self.note_times(&rest[..index], base, left);
                        self.pass_over(&rest[index], why, slice, store, left);
                        rest = &rest[index + 1..];
                        continue;
                    }
                }
                return Ok(());
            }
            // If an event is refused, nobody will ask for the last.
            self.note_last(last, base);
            return replayed.map_err(|(index, why)| {
                let event = events[index];
                let at = base + u64::from(event.at);
                Refusal { at, lane: self.lane, time: event.time, why }
            });
        }
    }

    /// Takes note of an event that was refused, and takes it for what it comes closest to, if there is
    /// that.
    #[cold]
    fn pass_over(
        &mut self,
        event: &LaneEvent,
        why: Refused,
        slice: &Slice<'_>,
        store: &mut Store,
        left: &mut Left,
    ) {
        let base = slice.block.text.start().0;
        let at = base + u64::from(event.at);
        left.refusals.add(Refusal { at, lane: self.lane, time: event.time, why });
        begin_event(event, slice, store);
        match (&mut self.objects, why) {
            (Objects::Variable(lane), Refused::Unset) => {
                let change = f64::from_bits(event.argument);
                let value = if event.op() == Op::SubVariable { -change } else { change };
                let mut written = Written { rows: &mut self.rows, store };
                lane.set(&mut written, event.time, value);
            }
            (Objects::Link(strand), Refused::ValuesDiffer { .. }) => {
                let padded = slice.block.bytes();
                let (half, key) = half_link(event, slice, padded, store.extra());
                if let Some(link) = strand.complete_as_begun(store, half, key) {
                    let home = home_of(self.lane, left.completed.len());
                    let (lane, time) = (self.lane, half.time);
                    left.completed[home].push(Completion { at, lane, time, link });
                }
            }
            _ => return,
        }
        self.note_times(&[*event], base, left);
    }

    /// Takes note of the last event, of a block that begins at byte `base`.
    #[inline(always)]
    fn note_last(&mut self, last: &LaneEvent, base: u64) {
        self.last_at = (base + u64::from(last.at)) | (self.last_at & ENDED);
        self.last_time = last.time;
    }

    /// Takes note of when events were.
    fn note_times(&mut self, events: &[LaneEvent], base: u64, left: &mut Left) {
        let Some(last) = events.last() else { return };
        let before = self.latest(left);
        let latest = events.iter().fold(before, |latest, event| latest.max(event.time));
        self.note_last(last, base);
        if latest > last.time {
            left.latest.insert(self.lane, latest);
        }
    }

    /// Lets the rows of what is open not be seen, until they are carried over; `ends` keeps the ends that
    /// they have.
    pub(crate) fn hide_open(&mut self, store: &mut Store, ends: &mut Vec<f64>) {
        if let Objects::State(lane) = &mut self.objects {
            lane.hide_open(&mut Written { rows: &mut self.rows, store }, ends);
        }
    }

    /// Forgets all rows, and carries what is open over to a new store; `ends` has what was hidden.
    pub(crate) fn start_afresh(
        &mut self,
        (old, new): (&Store, &mut Store),
        ends: &mut impl Iterator<Item = f64>,
    ) {
        match &mut self.objects {
            Objects::State(lane) => return lane.start_afresh(&mut self.rows, (old, new), ends),
            Objects::Variable(lane) => lane.start_afresh(old, new),
            Objects::Link(strand) => strand.start_afresh(old, new),
            Objects::Event(_) | Objects::Unwanted(_) => {}
        }
        self.rows = Rows::default();
    }

    /// Since when a variable has the value that it still has.
    pub(crate) fn variable_since(&self) -> Option<f64> {
        match &self.objects {
            Objects::Variable(lane) => lane.current_start(),
            _ => None,
        }
    }

    /// The byte and the time of the strand's last event.
    pub(crate) fn last(&self) -> Option<(u64, f64)> {
        let at = self.last_at & !ENDED;
        (at != NEVER).then_some((at, self.last_time))
    }

    /// The latest time of its events; only if the replay goes on after refused ones.
    pub(crate) fn latest(&self, left: &Left) -> f64 {
        let last = self.last().map_or(f64::NEG_INFINITY, |(_, time)| time);
        left.latest.get(&self.lane).map_or(last, |latest| latest.max(last))
    }

    /// The container ends at `time`.
    pub(crate) fn close(&mut self, store: &mut Store, time: f64) {
        let mut written = Written { rows: &mut self.rows, store };
        match &mut self.objects {
            Objects::State(lane) => lane.close_all(&mut written, time),
            Objects::Variable(lane) => lane.close(&mut written),
            Objects::Event(_) | Objects::Unwanted(_) => {}
            Objects::Link(strand) => strand.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace may have a million lanes of a few events each.
    #[test]
    fn strands_are_small() {
        assert!(size_of::<Strand>() <= 64, "{} bytes", size_of::<Strand>());
    }
}
