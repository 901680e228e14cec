//! Encodes rows as lines.

use std::convert::Infallible;

use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, EventFields, Events, LaneView, Links, Name, Side, States, TimeRange,
    Trace, TypeId, ValueId, Variables, Visitor,
};

use super::aliases::Aliases;
use super::definitions::Line;
use super::numbers::{parts, put_float, put_single};
use super::order::{EncodedLines, SortKey, Span};
use super::{Times, put_name};

/// Earliest time of a container's lines, and their phase at that time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetime {
    created: f64,
    phase: u32,
}

impl Lifetime {
    /// Moves the earliest lines to this time and phase, if they are earlier.
    fn begin_after(&mut self, time: f64, phase: u32) {
        if time > self.created {
            *self = Lifetime { created: time, phase };
        } else if time == self.created {
            self.phase = self.phase.max(phase);
        }
    }

    const fn phase_at(self, time: f64) -> u32 {
        if time > self.created { 0 } else { self.phase }
    }
}

const CREATION: u32 = 0;
const ROW: u32 = 1;
const DESTRUCTION: u32 = 2;
const PHASES: u32 = 3;

pub(super) struct Source<'t, T> {
    pub(super) trace: &'t Trace,
    pub(super) aliases: &'t Aliases,
    pub(super) window: TimeRange,
    pub(super) times: &'t T,
    /// Whether values of variables are single-precision numbers or sums of them.
    pub(super) is_single: bool,
    pub(super) lifetimes: Vec<Lifetime>,
}

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
    /// Open states: nesting depth, end, and user-defined fields of the closing line.
    open: Vec<(u32, f64, Option<PopFields>)>,
}

/// User-defined fields of the event that closes a state: their definition and text.
type PopFields = (usize, Vec<u8>);

impl<'t, T: Times> Source<'t, T> {
    /// Encodes the creation and destruction of these containers, parents first.
    pub(super) fn containers(&mut self, ids: impl Iterator<Item = ContainerId>) -> EncodedLines {
        self.lifetimes = vec![Lifetime::default(); self.trace.containers().len()];
        self.lifetimes[0].created = f64::NEG_INFINITY;
        let mut written = EncodedLines::default();
        ids.for_each(|id| self.add_container(id, &mut written));
        written.sort();
        written
    }

    fn add_container(&mut self, id: ContainerId, written: &mut EncodedLines) {
        if id != ContainerId::ROOT {
            self.lifetimes[id.index()] = self.lifetime(id);
            self.create(id, written);
        }
        let all = self.trace.containers();
        if all.is_destroyed(id) {
            // Children are destroyed before their parent.
            let (lifetime, rank) = (self.lifetimes[id.index()], u32::MAX - id.0);
            let end = self.times.container(self.trace, id).1;
            let time = lifetime.created.max(end);
            let key = SortKey::new(time, lifetime.phase_at(time) + DESTRUCTION, rank);
            let def = written.used.id(Line::Destroy, None);
            if let Some(out) = written.begin(key, def, &Span::default()) {
                put_float(end, out);
                let type_ = self.aliases.type_(all.type_of(id));
                put_words(&[type_, self.aliases.container(id)], out);
                out.push(b'\n');
            }
        }
    }

    fn lifetime(&self, id: ContainerId) -> Lifetime {
        let all = self.trace.containers();
        let parent = all.parent(id);
        let (start, end) = self.times.container(self.trace, id);
        let end_of = |id| self.times.container(self.trace, id).1;
        let mut lifetime = self.lifetimes[parent.index()];
        if all.is_destroyed(parent) && end > end_of(parent) {
            // Without this, the container would be destroyed together with an ancestor.
            let mut above = parent;
            loop {
                if all.is_destroyed(above) && end > end_of(above) {
                    let time = end_of(above);
                    let phase = self.lifetimes[above.index()].phase_at(time);
                    lifetime.begin_after(time, phase + PHASES);
                }
                if above == ContainerId::ROOT {
                    break;
                }
                above = all.parent(above);
            }
        }
        lifetime.begin_after(start, 0);
        lifetime
    }

    fn create(&self, id: ContainerId, written: &mut EncodedLines) {
        let (all, lifetime) = (self.trace.containers(), self.lifetimes[id.index()]);
        let fields = self.trace.container_event(id);
        let def = written.used.id(Line::Create, fields.map(EventFields::def));
        let key = SortKey::new(lifetime.created, lifetime.phase + CREATION, id.0);
        if let Some(out) = written.begin(key, def, &Span::default()) {
            put_float(self.times.container(self.trace, id).0, out);
            let words = [
                self.aliases.container(id),
                self.aliases.type_(all.type_of(id)),
                self.aliases.container(all.parent(id)),
            ];
            put_words(&words, out);
            put_name(all.name(id), out);
            if let Some(fields) = fields {
                put_fields(self.trace, fields, out);
            }
            out.push(b'\n');
        }
    }
}

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

    /// Begins a line of the current lane, no earlier than the lane's previous line.
    fn begin_row(&mut self, event: Line, fields: Option<usize>, time: f64) -> bool {
        self.last = self.last.max(time);
        let key = SortKey::new(self.last, self.lifetime.phase_at(self.last) + ROW, 0);
        self.begin(key, event, fields, time)
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
fn put_fields(trace: &Trace, fields: EventFields<'_>, out: &mut Vec<u8>) {
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
            let at = created.max(first_time);
            let key = SortKey::new(at, phase_at(at), 0);
            self.put_end(&links, i, first, first_time, fields[0], key);
            self.last = self.last.max(at).max(second_time);
            let key = SortKey::new(self.last, phase_at(self.last), 0);
            self.put_end(&links, i, second, second_time, fields[1], key);
        }
        self.row += links.start.len() as u64;
        Ok(())
    }
}
