use paje_parser::TypeNature;
use rustc_hash::FxHashMap;

use crate::lanes::events::EventLane;
use crate::lanes::links::{KeyMemory, LinkStrand, Opened};
use crate::lanes::refusal::{Refusal, Refusals, Refused};
use crate::lanes::states::StateLane;
use crate::lanes::variables::VariableLane;
use crate::replay::check_only::CheckOnlyLane;
use crate::replay::completion::{Completion, merger_of};
use crate::replay::slice::{Slice, begin_event, half_link, links, points, states, variables};
use paje_decode::decode::decoded::{LaneEvent, Op};
use paje_model::memory::{EventChunk, Rows, StateChunk, Store, Written};
use paje_model::names::ids::LaneId;

/// Rows and open objects of a strand. A strand fits in one cache line, because there may be millions of strands.
#[derive(Debug)]
#[repr(align(64))]
pub struct Strand {
    /// Byte offset of the last event, or [`NEVER`]. The bit [`ENDED`] is set if the container has ended.
    last_at: u64,
    last_time: f64,
    /// Empty for links. Their rows are in a `LinkMerger`.
    pub(crate) rows: Rows,
    pub(crate) lane: LaneId,
    pub(crate) objects: Objects,
}

/// Bit of `last_at` that is set once the container has ended. The model knows which line ended the container.
const ENDED: u64 = 1 << 63;
const NEVER: u64 = !ENDED;

#[derive(Debug)]
pub enum Objects {
    State(StateLane),
    Variable(VariableLane),
    Event(EventLane),
    Link(Box<LinkStrand>),
    CheckOnly(CheckOnlyLane),
}

#[derive(Debug)]
pub struct ShardOutput {
    pub(crate) ignored: Vec<u64>,
    pub(crate) completed: Vec<Vec<Completion>>,
    /// Links that the current slice has opened, and whose keys must still be remembered.
    pub(crate) opened: Vec<Opened>,
    pub(crate) refusals: Refusals,
    /// Latest time of each lane whose last event is earlier. Only set during recovery, which keeps late links.
    pub(crate) latest: FxHashMap<LaneId, f64>,
}

impl Strand {
    /// Creates a strand. `keys` says how a link strand remembers its keys. If `flat` is true, `no_imbrication` applies
    /// to states.
    pub fn new(lane: LaneId, nature: TypeNature, flat: bool, keys: KeyMemory) -> Self {
        let objects = match nature {
            TypeNature::State | TypeNature::Container => Objects::State(StateLane::new(flat)),
            TypeNature::Variable => Objects::Variable(VariableLane::default()),
            TypeNature::Event => Objects::Event(EventLane::default()),
            TypeNature::Link => Objects::Link(Box::new(LinkStrand::new(keys))),
        };
        Strand { last_at: NEVER, last_time: 0.0, rows: Rows::default(), lane, objects }
    }

    /// Turns the strand into a strand that checks events but keeps no rows.
    pub fn unwanted(self) -> Self {
        let objects = match self.objects {
            Objects::State(lane) => Objects::CheckOnly(CheckOnlyLane::states(lane.is_flat())),
            Objects::Variable(_) => Objects::CheckOnly(CheckOnlyLane::VARIABLES),
            Objects::Event(_) => Objects::CheckOnly(CheckOnlyLane::EVENTS),
            Objects::Link(links) => Objects::Link(Box::new(links.unwanted())),
            unwanted @ Objects::CheckOnly(_) => unwanted,
        };
        Strand { objects, ..self }
    }

    /// Turns the strand into a strand that ignores its events, because some of them may have been left out.
    pub fn ignored(self) -> Self {
        Strand { objects: Objects::CheckOnly(CheckOnlyLane::Anything), ..self }
    }

    pub fn end(&mut self) {
        self.last_at |= ENDED;
    }

    /// Loads the strand. Must be called before [`prefetch_rows`](Strand::prefetch_rows), which reads the strand.
    #[inline]
    pub fn prefetch(&self) -> u64 {
        self.last_at
    }

    /// Loads the columns that the next event will write.
    #[inline]
    pub fn prefetch_rows(&self, store: &Store) -> u64 {
        match &self.objects {
            Objects::State(_) => self.rows.prefetch(&store.arena, |chunk| {
                // The end of the last state is also loaded. In small chunks, imbrications are next to values.
                let value = StateChunk::value(chunk) + chunk.width.words(chunk.count() + 1) - 1;
                [value, chunk.size() + chunk.count() - 1]
            }),
            Objects::Variable(_) => self.rows.prefetch(&store.arena, |chunk| {
                let value = chunk.size() + chunk.count();
                [value, value - 1]
            }),
            Objects::Event(_) => self.rows.prefetch(&store.arena, |chunk| {
                let value = EventChunk::value(chunk) + chunk.width.words(chunk.count() + 1) - 1;
                [value, value]
            }),
            Objects::Link(_) | Objects::CheckOnly(_) => 0,
        }
    }

    /// Replays a block's events of this strand.
    ///
    /// # Errors
    /// Returns the first event that the lane refuses.
    pub fn replay(
        &mut self,
        events: &[LaneEvent],
        slice: &Slice<'_>,
        store: &mut Store,
        output: &mut ShardOutput,
    ) -> Result<(), Refusal> {
        let base = slice.block.text.start().0;
        // The events are in file order. The first of them have already been replayed, the next are to be replayed, and
        // the last are to be ignored.
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
            output.ignored.extend(ignored.iter().map(|event| base + u64::from(event.at)));
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
                    let home = merger_of(self.lane, output.completed.len());
                    let ShardOutput { opened, completed, .. } = &mut *output;
                    links(strand, self.lane, rest, slice, store, opened, &mut completed[home])
                }
                Objects::CheckOnly(lane) => lane.check(rest),
            };
            if slice.recovers {
                match replayed {
                    Ok(()) => self.note_times(rest, base, output),
                    Err((index, why)) => {
                        self.note_times(&rest[..index], base, output);
                        self.pass_over(&rest[index], why, slice, store, output);
                        rest = &rest[index + 1..];
                        continue;
                    }
                }
                return Ok(());
            }
            // After a refused event, the last event does not matter.
            self.note_last(last, base);
            return replayed.map_err(|(index, why)| {
                let event = events[index];
                let at = base + u64::from(event.at);
                Refusal { at, lane: self.lane, time: event.time, why }
            });
        }
    }

    /// Lists a refused event. Applies the most similar valid event instead, if there is one.
    #[cold]
    fn pass_over(
        &mut self,
        event: &LaneEvent,
        why: Refused,
        slice: &Slice<'_>,
        store: &mut Store,
        output: &mut ShardOutput,
    ) {
        let base = slice.block.text.start().0;
        let at = base + u64::from(event.at);
        output.refusals.add(Refusal { at, lane: self.lane, time: event.time, why }, 1);
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
                    let home = merger_of(self.lane, output.completed.len());
                    let (lane, time) = (self.lane, half.time);
                    output.completed[home].push(Completion { at, lane, time, link });
                }
            }
            _ => return,
        }
        self.note_times(&[*event], base, output);
    }

    #[inline(always)]
    fn note_last(&mut self, last: &LaneEvent, base: u64) {
        self.last_at = (base + u64::from(last.at)) | (self.last_at & ENDED);
        self.last_time = last.time;
    }

    fn note_times(&mut self, events: &[LaneEvent], base: u64, output: &mut ShardOutput) {
        let Some(last) = events.last() else { return };
        let before = self.latest(output);
        let latest = events.iter().fold(before, |latest, event| latest.max(event.time));
        self.note_last(last, base);
        if latest > last.time {
            output.latest.insert(self.lane, latest);
        }
    }

    /// Hides open rows until [`Strand::forget_rows`] is called, and appends their ends to `ends`.
    pub fn hide_open(&mut self, store: &mut Store, ends: &mut Vec<f64>) {
        if let Objects::State(lane) = &mut self.objects {
            lane.hide_open(&mut Written { rows: &mut self.rows, store }, ends);
        }
    }

    /// Forgets all rows except open rows, which move to a new store together with their hidden `ends`.
    pub fn forget_rows(
        &mut self,
        old: &Store,
        new: &mut Store,
        ends: &mut impl Iterator<Item = f64>,
    ) {
        match &mut self.objects {
            Objects::State(lane) => return lane.forget_rows(&mut self.rows, old, new, ends),
            Objects::Variable(lane) => lane.forget_rows(old, new),
            Objects::Link(strand) => strand.forget_rows(old, new),
            Objects::Event(_) | Objects::CheckOnly(_) => {}
        }
        self.rows = Rows::default();
    }

    pub fn variable_since(&self) -> Option<f64> {
        match &self.objects {
            Objects::Variable(lane) => lane.current_start(),
            _ => None,
        }
    }

    pub fn last(&self) -> Option<(u64, f64)> {
        let at = self.last_at & !ENDED;
        (at != NEVER).then_some((at, self.last_time))
    }

    pub fn latest(&self, output: &ShardOutput) -> f64 {
        let last = self.last().map_or(f64::NEG_INFINITY, |(_, time)| time);
        output.latest.get(&self.lane).map_or(last, |latest| latest.max(last))
    }

    pub fn close(&mut self, store: &mut Store, time: f64) {
        let mut written = Written { rows: &mut self.rows, store };
        match &mut self.objects {
            Objects::State(lane) => lane.close_all(&mut written, time),
            Objects::Variable(lane) => lane.close(&mut written),
            Objects::Event(_) | Objects::CheckOnly(_) => {}
            Objects::Link(strand) => strand.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_small() {
        assert!(size_of::<Strand>() <= 64, "{} bytes", size_of::<Strand>());
    }
}
