//! The replay of one strand of a lane, by itself, block after block.

use paje_parser::TypeNature;
use rustc_hash::FxHashMap;

use crate::decode::decoded::{LaneEvent, Op};
use crate::lanes::events::EventLane;
use crate::lanes::links::{KeyMemory, LinkStrand};
use crate::lanes::refusal::{Refusal, Refusals, Refused};
use crate::lanes::states::StateLane;
use crate::lanes::variables::VariableLane;
use crate::memory::{Rows, Store, Written};
use crate::names::ids::LaneId;
use crate::replay::completion::{Completion, home_of};
use crate::replay::slice::{Slice, begin_event, half_link, links, points, states, variables};
use crate::replay::unwanted::Unwanted;

/// The objects of one strand, and what is open in it. There may be millions: see `strands_are_small`.
#[derive(Debug)]
pub(crate) struct Strand {
    /// None of links, whose homes have them.
    pub(crate) rows: Rows,
    pub(crate) objects: Objects,
    /// The byte of the event that ended the container, `NEVER` while it lives. Whether what comes
    /// later counts is for the `Cuts` to say.
    pub(crate) ended_at: u64,
    /// The byte and the time of the last event; `NEVER` before the first.
    last: (u64, f64),
    pub(crate) lane: LaneId,
    /// The options' `no_imbrication` applies. It does not in the root container: PajeNG 1.3.6
    /// behaviour.
    flat: bool,
    /// Its rows are.
    wanted: bool,
}

const NEVER: u64 = u64::MAX;

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
    /// Events that were refused, if the replay goes on after them.
    pub(crate) refusals: Refusals,
    /// The latest time of lanes whose last event is earlier, if the replay goes on after events that are
    /// refused: those of links. (Their last event is another where they are spread over another number of
    /// strands.)
    pub(crate) latest: FxHashMap<LaneId, f64>,
}

impl Strand {
    /// A link strand remembers so much of keys.
    pub(crate) fn new(
        lane: LaneId,
        nature: TypeNature,
        ended_at: u64,
        flat: bool,
        keys: KeyMemory,
    ) -> Self {
        let objects = match nature {
            TypeNature::State | TypeNature::Container => Objects::State(StateLane::default()),
            TypeNature::Variable => Objects::Variable(VariableLane::default()),
            TypeNature::Event => Objects::Event(EventLane::default()),
            TypeNature::Link => Objects::Link(Box::new(LinkStrand::new(keys))),
        };
        let (rows, last) = (Rows::default(), (NEVER, 0.0));
        Strand { rows, objects, ended_at, last, lane, flat, wanted: true }
    }

    /// The same of a lane whose rows nobody wants.
    pub(crate) fn unwanted(self, nature: TypeNature) -> Self {
        let objects = Unwanted::new(nature).map_or(self.objects, Objects::Unwanted);
        Strand { objects, wanted: false, ..self }
    }

    /// Looks at what replaying will need: see [`Shard::replay`](crate::replay::shard::Shard::replay).
    #[inline]
    pub(crate) fn touch(&self, store: &Store) -> u64 {
        self.ended_at
            ^ match &self.objects {
                Objects::State(lane) => lane.touch(&self.rows, store),
                Objects::Variable(_) | Objects::Event(_) => self.rows.touch(&store.arena),
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
        if last > self.ended_at
            && let Some(cut) = slice.cuts.first(self.lane, self.ended_at, lines())
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
                Objects::State(lane) => states(lane, rest, slice, written, self.flat),
                Objects::Variable(lane) => variables(lane, rest, slice, written),
                Objects::Event(lane) => points(lane, rest, slice, written),
                Objects::Link(strand) => {
                    let home = home_of(self.lane, left.completed.len());
                    let completed = &mut left.completed[home];
                    links(strand, (self.lane, self.wanted), rest, slice, store, completed)
                }
                Objects::Unwanted(lane) => lane.check(rest, self.flat),
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
            self.last = (base + u64::from(last.at), last.time);
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
                let padded = slice.block.text.at_hand();
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

    /// Takes note of when events were.
    fn note_times(&mut self, events: &[LaneEvent], base: u64, left: &mut Left) {
        let Some(last) = events.last() else { return };
        let before = self.latest(left);
        let latest = events.iter().fold(before, |latest, event| latest.max(event.time));
        self.last = (base + u64::from(last.at), last.time);
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
        (self.last.0 != NEVER).then_some(self.last)
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
        assert!(size_of::<Strand>() <= 80, "{} bytes", size_of::<Strand>());
    }
}
