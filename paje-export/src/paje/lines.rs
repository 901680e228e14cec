//! Encodes rows as lines.

use std::convert::Infallible;

use paje_parser::Field;
use paje_sim::{
    Annotations, EventFields, Events, LaneView, Links, Name, Side, States, Trace, TypeId, ValueId,
    Variables, Visitor,
};

use super::containers::{Lifetime, ROW, Source};
use super::definitions::Line;
use super::numbers::{parts, put_float, put_single};
use super::order::{EncodedLines, SortKey, Span};
use super::{Times, put_name};

pub(super) struct LineEncoder<'s, 't, T> {
    source: &'s Source<'t, T>,
    span: Span,
    written: EncodedLines,
    // Current lane: type, number of encoded rows, aliases of type and container, time of the
    // previous line.
    type_: TypeId,
    row: u64,
    lane: Vec<u8>,
    lifetime: Lifetime,
    last: f64,
    /// Whether the lane has a line later than the end of its container. This is valid if the
    /// container has another line after it, so the lane's lines come first.
    is_late: bool,
    /// Open states: nesting depth, end, and user-defined fields of the closing line.
    open: Vec<(u32, f64, Option<PopFields>)>,
}

/// User-defined fields of the event that closes a state: their definition and text.
type PopFields = (usize, Vec<u8>);

impl<'s, 't, T: Times> LineEncoder<'s, 't, T> {
    pub(super) fn new(source: &'s Source<'t, T>, span: Span, written: EncodedLines) -> Self {
        LineEncoder {
            source,
            span,
            written,
            type_: TypeId::ROOT,
            row: 0,
            lane: Vec::new(),
            lifetime: Lifetime::default(),
            last: f64::NEG_INFINITY,
            is_late: false,
            open: Vec::new(),
        }
    }

    pub(super) fn of(mut self, lanes: &[LaneView<'_>]) -> EncodedLines {
        lanes.iter().for_each(|lane| self.add_lane(*lane));
        self.written.sort();
        self.written
    }

    fn add_lane(&mut self, lane: LaneView<'_>) {
        self.lane.clear();
        let (type_, container) = (lane.type_id(), lane.container());
        let aliases = self.source.aliases;
        put_words(&[aliases.type_(type_), aliases.container(container)], &mut self.lane);
        self.lifetime = self.source.lifetimes[container.index()];
        self.last = self.lifetime.created;
        (self.type_, self.row) = (type_, 0);
        let all = self.source.trace.containers();
        let end = all.end(container);
        self.is_late =
            all.is_destroyed(container) && lane.rows().any(|row| row.start().max(row.end()) > end);
        let Ok(()) = lane.visit(self);
        while let Some(open) = self.open.pop() {
            self.pop(open);
        }
    }

    /// Begins a line with its event and time. Returns whether the span contains the line.
    fn begin(&mut self, key: SortKey, event: Line, fields: Option<usize>, time: f64) -> bool {
        let def = self.written.used.id(event, fields);
        let Some(out) = self.written.begin(key, def, &self.span) else { return false };
        put_float(time, out);
        out.extend_from_slice(&self.lane);
        true
    }

    /// Begins a line of the current lane.
    fn begin_row(&mut self, event: Line, fields: Option<usize>, time: f64) -> bool {
        let at = self.moved_to(time);
        self.begin(self.key(at, self.lifetime.phase_at(at) + ROW), event, fields, time)
    }

    /// Moves the lane to the place of a line, no earlier than the lane's previous line.
    fn moved_to(&mut self, time: f64) -> f64 {
        if !self.is_late {
            self.last = self.last.max(time);
        }
        self.last
    }

    fn key(&self, at: f64, phase: u32) -> SortKey {
        SortKey::new(at, phase, u32::from(!self.is_late))
    }

    fn end(&mut self, fields: Option<EventFields<'_>>) {
        let out = self.written.text();
        if let Some(fields) = fields {
            put_fields(self.source.trace, fields, out);
        }
        out.push(b'\n');
    }

    fn put_value(&mut self, value: ValueId) {
        let Source { aliases, trace, .. } = self.source;
        aliases.put_value(trace, self.type_, value, self.written.text());
    }

    fn pop(&mut self, (_, end, fields): (u32, f64, Option<PopFields>)) {
        let def = fields.as_ref().map(|(def, _)| *def);
        if self.begin_row(Line::Pop, def, end) {
            if let Some((_, words)) = fields {
                self.written.text().extend_from_slice(&words);
            }
            self.end(None);
        }
    }

    /// Encodes one end of a link, no earlier than the creation of its containers.
    fn put_end(
        &mut self,
        links: &Links<'_>,
        i: usize,
        event: Line,
        time: f64,
        fields: Option<EventFields<'_>>,
        key: SortKey,
    ) {
        let at = if event == Line::StartLink { links.from[i] } else { links.to[i] };
        if self.begin(key, event, fields.map(EventFields::def), time) {
            self.put_value(links.value[i]);
            let out = self.written.text();
            put_words(&[self.source.aliases.container(at)], out);
            put_name(Name::from(Field::new(links.raw_key(i))), out);
            self.end(fields);
        }
    }

    fn wants(&self, start: f64, end: f64) -> bool {
        self.source.window.overlaps(start, end)
    }
}

pub(super) fn put_words(words: &[&[u8]], out: &mut Vec<u8>) {
    for word in words {
        out.push(b' ');
        out.extend_from_slice(word);
    }
}

/// Appends user-defined fields. Missing fields are empty.
pub(super) fn put_fields(trace: &Trace, fields: EventFields<'_>, out: &mut Vec<u8>) {
    let texts = fields.texts().chain(std::iter::repeat(&b""[..]));
    for (_, text) in trace.defs()[fields.def()].extras().zip(texts) {
        put_name(Name::from(Field::new(text)), out);
    }
}

/// Returns the user-defined fields of a row's opening and closing events.
fn fields_of<'u>(all: &Annotations<'u>, i: usize) -> [Option<EventFields<'u>>; 2] {
    let mut fields = [None; 2];
    if all.is_kept() {
        for (side, of) in all.events_of(i) {
            fields[usize::from(side == Side::Closing)] = Some(of);
        }
    }
    fields
}

impl<T: Times> Visitor for LineEncoder<'_, '_, T> {
    type Error = Infallible;

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, recorded) in
            states.start.iter().copied().zip(states.end.iter().copied()).enumerate()
        {
            let row = self.row + i as u64;
            let Some((start, end)) = self.source.times.state(lane, row, recorded) else { continue };
            let (start, end) = (&start, &end);
            if !self.wants(*start, *end) {
                continue;
            }
            let below = states.imbrication[i];
            while let Some(open) = self.open.pop_if(|open| open.0 >= below) {
                self.pop(open);
            }
            let [opening, closing] = fields_of(&states.user_defined, i);
            if self.begin_row(Line::Push, opening.map(EventFields::def), *start) {
                self.put_value(states.value[i]);
                self.end(opening);
            }
            let closing = closing.map(|fields| {
                let mut words = Vec::new();
                put_fields(self.source.trace, fields, &mut words);
                (fields.def(), words)
            });
            self.open.push((below, *end, closing));
        }
        self.row += states.start.len() as u64;
        Ok(())
    }

    fn variables(
        &mut self,
        lane: LaneView<'_>,
        variables: Variables<'_>,
    ) -> Result<(), Infallible> {
        for (i, (start, value)) in variables.start.iter().zip(variables.value).enumerate() {
            if !self.wants(*start, variables.end(i)) {
                continue;
            }
            let start = &self.source.times.within(lane.container(), *start);
            let [fields, _] = fields_of(&variables.user_defined, i);
            let (mut event, mut fields) = (Line::Set, fields);
            let is_short = self.source.is_single && f64::from(*value as f32) == *value;
            for part in parts(*value, self.source.is_single) {
                if self.begin_row(event, fields.map(EventFields::def), *start) {
                    // Parts of a sum are exact, whatever the precision in which they are read.
                    if is_short {
                        put_single(part, self.written.text());
                    } else {
                        put_float(part, self.written.text());
                    }
                    self.end(fields);
                }
                (event, fields) = (Line::Add, None);
            }
        }
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            if !self.wants(*time, *time) {
                continue;
            }
            let time = &self.source.times.within(lane.container(), *time);
            let [fields, _] = fields_of(&events.user_defined, i);
            if self.begin_row(Line::New, fields.map(EventFields::def), *time) {
                self.put_value(*value);
                self.end(fields);
            }
        }
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for i in 0..links.start.len() {
            let recorded = (links.start[i], links.end[i]);
            let (row, ends) = (self.row + i as u64, (links.from[i], links.to[i]));
            let Some((start, end)) = self.source.times.link(lane.id(), row, ends, recorded) else {
                continue;
            };
            if !self.wants(start, end) {
                continue;
            }
            let ends = [links.from[i], links.to[i]].map(|id| self.source.lifetimes[id.index()]);
            let lifetimes = [self.lifetime, ends[0], ends[1]];
            let created = lifetimes.iter().map(|it| it.created).fold(f64::NEG_INFINITY, f64::max);
            let phase_at =
                |time| ROW + lifetimes.iter().map(|it| it.phase_at(time)).max().unwrap_or(0);
            // The two ends of a link keep their order in the file, and each end keeps its fields.
            let [(first, first_time), (second, second_time)] = match recorded.0 <= recorded.1 {
                true => [(Line::StartLink, start), (Line::EndLink, end)],
                false => [(Line::EndLink, end), (Line::StartLink, start)],
            };
            let fields = fields_of(&links.user_defined, i);
            if !self.source.times.keeps_order() {
                self.last = created;
            }
            let mut at = if self.is_late { created } else { created.max(first_time) };
            self.last = self.last.max(at);
            let behind = self.moved_to(second_time);
            if self.source.reuses_keys {
                at = behind;
            }
            self.put_end(&links, i, first, first_time, fields[0], self.key(at, phase_at(at)));
            let key = self.key(behind, phase_at(behind));
            self.put_end(&links, i, second, second_time, fields[1], key);
        }
        self.row += links.start.len() as u64;
        Ok(())
    }
}
