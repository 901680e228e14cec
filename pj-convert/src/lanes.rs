//! Converts the rows of a lane to slices, counters and events on a track.

use std::collections::VecDeque;
use std::convert::Infallible;

use paje_sim::{
    Annotations, Events, LaneView, Side, States, TimeRange, TimeUnit, ValueId, Variables, Visitor,
};

use crate::clock::{Clock, Losses};
use crate::encoder::{Encoder, Slice, Track};

#[derive(Debug, Default)]
pub(crate) struct LaneState {
    pub(crate) track: Option<Track>,
    clock: Clock,
    carried: Vec<Carried>,
    /// Time in seconds up to which the states are final.
    pub(crate) known_until: Option<f64>,
    pub(crate) covered: Covered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    Begun,
    /// The state began before the time window and may reach into it.
    Waiting,
    /// The state began after the time window.
    Unwanted,
}

/// Most recent intervals in which a track has slices, in nanoseconds and sorted.
#[derive(Debug, Default)]
pub(crate) struct Covered {
    closed: VecDeque<(i64, i64)>,
    open_since: Option<i64>,
}

impl LaneState {
    /// Creates the state of a lane before its first row.
    pub(crate) fn new(unit: TimeUnit) -> Self {
        LaneState { clock: Clock::new(unit), ..LaneState::default() }
    }
}

impl Covered {
    /// Returns the intervals that may contain this time, the nanosecond before it or the nanosecond
    /// after it.
    pub(crate) fn around(&self, at: i64) -> Around {
        let behind = self.closed.partition_point(|(start, _)| *start <= at + 1);
        // Intervals are at least a nanosecond long.
        let closed = [1, 2, 3].map(|back| match behind.checked_sub(back) {
            Some(index) => self.closed[index],
            None => Around::NOTHING,
        });
        Around { closed, open_since: self.open_since.unwrap_or(i64::MAX) }
    }

    fn add(&mut self, start: i64, end: i64) {
        match self.closed.back_mut() {
            Some((_, last)) if *last >= start => *last = end.max(*last),
            _ if start < end => self.closed.push_back((start, end)),
            _ => {}
        }
    }

    pub(crate) fn keep(&mut self, most: usize) {
        let surplus = self.closed.len().saturating_sub(most);
        self.closed.drain(..surplus);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    closed: [(i64, i64); 3],
    open_since: i64,
}

impl Around {
    const NOTHING: (i64, i64) = (i64::MAX, i64::MIN);

    /// Returns whether a slice contains a time. The end of a slice does not belong to it. If
    /// `inside` is true, its start does not belong to it either.
    pub(crate) fn has(&self, at: i64, inside: bool) -> bool {
        let latest = at - i64::from(inside);
        let closed = |(start, end): &(i64, i64)| *start <= latest && at < *end;
        self.open_since <= latest || self.closed.iter().any(closed)
    }
}

#[derive(Debug)]
struct Open {
    imbrication: u32,
    value: ValueId,
    start: f64,
    begun: Option<i64>,
    /// End in seconds, or NaN if the state was open at the end of the portion.
    end: f64,
    carried: Option<usize>,
    /// User-defined fields of the opening event, followed by those of the closing event, which
    /// begin at index `closing`.
    fields: Vec<u8>,
    closing: usize,
}

#[derive(Debug)]
pub(crate) struct LaneWriter<'e, E> {
    encoder: &'e E,
    window: TimeRange,
    all: bool,
    track: Track,
    state: LaneState,
    seen: usize,
    stack: Vec<Open>,
    carried: Vec<Carried>,
    fields: Vec<u8>,
    out: Vec<u8>,
    pub(crate) losses: Losses,
}

impl<'e, E: Encoder> LaneWriter<'e, E> {
    pub(crate) fn new(encoder: &'e E, window: TimeRange, out: Vec<u8>) -> Self {
        let nothing = Track {
            container: paje_sim::ContainerId::ROOT,
            type_: paje_sim::TypeId::ROOT,
            number: 0,
        };
        LaneWriter {
            encoder,
            window,
            all: window == TimeRange::ALWAYS,
            track: nothing,
            state: LaneState::default(),
            seen: 0,
            stack: Vec::new(),
            carried: Vec::new(),
            fields: Vec::new(),
            out,
            losses: Losses::default(),
        }
    }

    pub(crate) fn write(
        &mut self,
        lane: LaneView<'_>,
        track: Track,
        state: LaneState,
    ) -> LaneState {
        (self.track, self.state, self.seen) = (track, state, 0);
        let Ok(()) = lane.visit(self);
        while self.stack.last().is_some_and(|open| !open.end.is_nan()) {
            self.close(f64::INFINITY);
        }
        let open = self.stack.iter().find_map(|open| open.begun);
        self.state.covered.open_since = open;
        self.stack.clear();
        self.state.carried.clear();
        self.state.carried.append(&mut self.carried);
        std::mem::take(&mut self.state)
    }

    pub(crate) fn into_output(self) -> Vec<u8> {
        self.out
    }

    fn wants(&self, start: f64, end: f64) -> bool {
        self.all || self.window.overlaps(start, end)
    }

    fn read(&mut self, seconds: f64) -> i64 {
        self.state.clock.read(seconds, E::EARLIEST, &mut self.losses)
    }

    fn begin(&mut self, index: usize) {
        let start = self.state.clock.read(self.stack[index].start, E::EARLIEST, &mut self.losses);
        let open = &mut self.stack[index];
        open.begun = Some(start);
        if let Some(carried) = open.carried {
            self.carried[carried] = Carried::Begun;
        }
        if E::WRITES_BEGINNINGS {
            let slice = Slice {
                track: self.track,
                value: open.value,
                start,
                end: start,
                opening: &open.fields[..open.closing],
                closing: &[],
            };
            self.encoder.begin(&slice, &mut self.out);
        }
    }

    /// Pops a state and writes its end, no later than `next`.
    fn close(&mut self, next: f64) {
        let Some(open) = self.stack.pop() else { return };
        let Some(start) = open.begun else { return };
        let mut end = open.end;
        // The next state of the same imbrication ends this one early.
        if end > next || end.is_nan() {
            end = next;
            self.losses.cut += 1;
        }
        let end = self.read(end).max(start);
        if self.stack.iter().all(|below| below.begun.is_none()) {
            self.state.covered.add(start, end);
        }
        let (opening, closing) = open.fields.split_at(open.closing);
        let slice = Slice { track: self.track, value: open.value, start, end, opening, closing };
        self.encoder.end(&slice, &mut self.out);
    }

    fn write_fields(&mut self, all: &Annotations<'_>, i: usize) {
        self.fields.clear();
        if all.is_kept() {
            self.encoder.fields(all, i, Side::Opening, &mut self.fields);
        }
    }
}

impl<E: Encoder> Visitor for LaneWriter<'_, E> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, (start, end)) in
            states.start.iter().copied().zip(states.end.iter().copied()).enumerate()
        {
            let before = self.state.carried.get(self.seen).copied();
            self.seen += 1;
            let known = if end > start { end } else { start };
            if self.state.known_until.is_none_or(|until| until < known) {
                self.state.known_until = Some(known);
            }
            let imbrication = states.imbrication[i];
            while self.stack.last().is_some_and(|open| open.imbrication >= imbrication) {
                self.close(start);
            }
            let is_open = end.is_nan();
            let now = match before {
                Some(Carried::Begun) => Carried::Begun,
                _ if !is_open && self.wants(start, end) => Carried::Begun,
                _ if !is_open || start > self.window.to => Carried::Unwanted,
                _ if start >= self.window.from => Carried::Begun,
                _ => Carried::Waiting,
            };
            let carried = is_open.then_some(self.carried.len());
            if is_open {
                self.carried.push(now);
            }
            if now == Carried::Unwanted {
                continue;
            }
            let mut open = Open {
                imbrication,
                value: states.value[i],
                start,
                begun: None,
                end,
                carried,
                fields: Vec::new(),
                closing: 0,
            };
            if states.user_defined.is_kept() {
                self.encoder.fields(&states.user_defined, i, Side::Opening, &mut open.fields);
                open.closing = open.fields.len();
                self.encoder.fields(&states.user_defined, i, Side::Closing, &mut open.fields);
            }
            self.stack.push(open);
            let top = self.stack.len() - 1;
            if before == Some(Carried::Begun) {
                // Losses were counted when the start of the state was written.
                let mut again = Losses::default();
                let mut clock = self.state.clock.afresh();
                let start = clock.read(start, E::EARLIEST, &mut again);
                self.stack[top].begun = Some(start);
            } else if now == Carried::Begun {
                // The enclosing states overlap the window too.
                for index in 0..=top {
                    if self.stack[index].begun.is_none() {
                        self.begin(index);
                    }
                }
            }
        }
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, variables: Variables<'_>) -> Result<(), Infallible> {
        for (i, (start, value)) in variables.start.iter().zip(variables.value).enumerate() {
            if !self.wants(*start, variables.end(i)) {
                continue;
            }
            self.write_fields(&variables.user_defined, i);
            let at = self.read(*start);
            let written = self.encoder.counter(self.track, at, *value, &self.fields, &mut self.out);
            self.losses.not_numbers += u64::from(!written);
        }
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            if !self.wants(*time, *time) {
                continue;
            }
            self.write_fields(&events.user_defined, i);
            let at = self.read(*time);
            self.encoder.instant(self.track, at, *value, &self.fields, &mut self.out);
        }
        Ok(())
    }
}
