//! The lines of a normalised trace, to be put in order.

use std::convert::Infallible;
use std::io::Write;

use paje_parser::Field;
use paje_sim::{
    Annotations, ContainerId, EventFields, Events, LaneView, Links, Name, Side, States, TimeRange,
    Trace, ValueId, Variables, Visitor,
};

use super::aliases::{Aliases, short};
use super::definitions::{Definitions, Line};
use super::{Times, put_name, put_number};

/// Where a line comes.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its time, or a later one before which it makes no sense.
    not_before: f64,
    /// Of one time: creations, then rows, then destructions. What is created in a container that is no more comes
    /// behind these, and so on.
    phase: u32,
    /// Of one time and phase, if it matters.
    rank: u32,
    start: u64,
}

/// The time when a container's lines may come.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    created: f64,
    phase: u32,
}

const CREATION: u32 = 0;
const ROW: u32 = 1;
const DESTRUCTION: u32 = 2;
const PHASES: u32 = 3;

/// Lines, each with its place.
pub(super) struct Lines<'t, 'd, T> {
    trace: &'t Trace,
    aliases: &'d Aliases,
    definitions: &'d mut Definitions,
    window: TimeRange,
    times: &'d T,
    /// How many rows of the lane at hand are behind.
    row: u64,
    lives: Vec<Life>,
    places: Vec<Place>,
    text: Vec<u8>,
    /// Of the lane at hand: its alias and its container's, as words, and where its next line comes.
    lane: Vec<u8>,
    life: Life,
    last: f64,
    /// States that are open: how many are below, when they end, and the end of their line.
    open: Vec<(u32, f64, Option<PopFields>)>,
    rank: u32,
}

/// The user-defined fields of what closes a state: their definition, and words.
type PopFields = (usize, Vec<u8>);

/// The lines in order.
pub(super) struct Ordered {
    places: Vec<Place>,
    text: Vec<u8>,
}

impl Ordered {
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| {
            let rest = &self.text[place.start as usize..];
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            &rest[..end]
        })
    }
}

impl<'t, 'd, T: Times> Lines<'t, 'd, T> {
    pub(super) fn new(
        trace: &'t Trace,
        aliases: &'d Aliases,
        definitions: &'d mut Definitions,
        window: TimeRange,
        times: &'d T,
    ) -> Self {
        let mut lives = vec![Life::default(); trace.containers().len()];
        lives[0].created = f64::NEG_INFINITY;
        Lines {
            trace,
            aliases,
            definitions,
            window,
            times,
            row: 0,
            lives,
            places: Vec::new(),
            text: Vec::new(),
            lane: Vec::new(),
            life: Life::default(),
            last: f64::NEG_INFINITY,
            open: Vec::new(),
            rank: 0,
        }
    }

    /// The lines that create and destroy a container; its parent's come before.
    pub(super) fn add_container(&mut self, id: ContainerId) {
        let all = self.trace.containers();
        let parent = all.parent(id);
        let (start, end) = self.times.container(self.trace, id);
        let end_of = |id| self.times.container(self.trace, id).1;
        let mut life = self.lives[parent.index()];
        if all.is_destroyed(parent) && end > end_of(parent) {
            // Else it would have gone with its parent, or with what that was in.
            let mut above = parent;
            while above != ContainerId::ROOT {
                if all.is_destroyed(above) && end > end_of(above) {
                    life.created = life.created.max(end_of(above));
                    life.phase = life.phase.max(self.lives[above.index()].phase + PHASES);
                }
                above = all.parent(above);
            }
        }
        life.created = life.created.max(start);
        self.lives[id.index()] = life;
        let fields = self.trace.container_event(id);
        self.rank = id.0;
        self.begin(life.created, life.phase + CREATION, Line::Create, fields, start);
        let words = [
            self.aliases.container(id),
            self.aliases.type_(all.type_of(id)),
            self.aliases.container(parent),
        ];
        put_words(&words, &mut self.text);
        put_name(all.name(id), &mut self.text);
        self.end(fields);
        if all.is_destroyed(id) {
            // What is in a container goes before it does.
            self.rank = u32::MAX - id.0;
            let not_before = life.created.max(end);
            self.begin(not_before, life.phase + DESTRUCTION, Line::Destroy, None, end);
            put_words(&words[..2].iter().rev().copied().collect::<Vec<_>>(), &mut self.text);
            self.end(None);
        }
        self.rank = 0;
    }

    /// The lines of a lane.
    pub(super) fn add_lane(&mut self, lane: LaneView<'_>) {
        self.lane.clear();
        let (type_, container) = (lane.type_id(), lane.container());
        put_words(&[self.aliases.type_(type_), self.aliases.container(container)], &mut self.lane);
        self.life = self.lives[container.index()];
        self.last = self.life.created;
        self.row = 0;
        let Ok(()) = lane.visit(self);
        while let Some(open) = self.open.pop() {
            self.pop(open);
        }
    }

    /// The lines in the order of their places; those of one lane stay as they came.
    pub(super) fn in_order(self) -> Ordered {
        let (mut places, text) = (self.places, self.text);
        places.sort_by(|a, b| {
            let times = a.not_before.total_cmp(&b.not_before);
            times.then(a.phase.cmp(&b.phase)).then(a.rank.cmp(&b.rank))
        });
        Ordered { places, text }
    }

    /// Begins a line: its place, its event and its time.
    fn begin(
        &mut self,
        not_before: f64,
        phase: u32,
        event: Line,
        fields: Option<EventFields<'_>>,
        time: f64,
    ) {
        // No minus zero: it would come before zero.
        let place = Place {
            not_before: not_before + 0.0,
            phase,
            rank: self.rank,
            start: self.text.len() as u64,
        };
        self.places.push(place);
        let id = self.definitions.id(event, fields.map(EventFields::def));
        put_number(id as u64, &mut self.text);
        put_float(time, &mut self.text);
    }

    /// Begins a line of the lane at hand.
    fn begin_row(&mut self, event: Line, fields: Option<EventFields<'_>>, time: f64) {
        self.last = self.last.max(time);
        self.begin(self.last, self.life.phase + ROW, event, fields, time);
        self.text.extend_from_slice(&self.lane);
    }

    /// Ends a line with its user-defined fields.
    fn end(&mut self, fields: Option<EventFields<'_>>) {
        if let Some(fields) = fields {
            put_fields(self.trace, fields, &mut self.text);
        }
        self.text.push(b'\n');
    }

    fn put_value(&mut self, value: ValueId) {
        self.text.push(b' ');
        self.text.extend_from_slice(short(u64::from(value.0)).as_bytes());
    }

    /// The line that ends a state.
    fn pop(&mut self, (_, end, fields): (u32, f64, Option<PopFields>)) {
        self.last = self.last.max(end);
        let def = fields.as_ref().map(|(def, _)| *def);
        let id = self.definitions.id(Line::Pop, def);
        self.begin_numbered(id, end);
        self.text.extend_from_slice(&self.lane);
        if let Some((_, words)) = fields {
            self.text.extend_from_slice(&words);
        }
        self.text.push(b'\n');
    }

    fn begin_numbered(&mut self, id: usize, time: f64) {
        let (not_before, phase) = (self.last + 0.0, self.life.phase + ROW);
        let start = self.text.len() as u64;
        self.places.push(Place { not_before, phase, rank: self.rank, start });
        put_number(id as u64, &mut self.text);
        put_float(time, &mut self.text);
    }

    /// One end of a link: its place is not before its containers are there.
    fn put_end(
        &mut self,
        links: &Links<'_>,
        i: usize,
        (event, time): (Line, f64),
        fields: Option<EventFields<'_>>,
        (not_before, phase): (f64, u32),
    ) {
        let at = if event == Line::StartLink { links.from[i] } else { links.to[i] };
        self.begin(not_before, phase + ROW, event, fields, time);
        self.text.extend_from_slice(&self.lane);
        self.put_value(links.value[i]);
        put_words(&[self.aliases.container(at)], &mut self.text);
        put_name(Name::from(Field::new(links.raw_key(i))), &mut self.text);
        self.end(fields);
    }

    fn wants(&self, start: f64, end: f64) -> bool {
        self.window.overlaps(start, end)
    }
}

/// Appends words, each behind a blank.
fn put_words(words: &[&str], out: &mut Vec<u8>) {
    for word in words {
        out.push(b' ');
        out.extend_from_slice(word.as_bytes());
    }
}

/// Appends the shortest text that is read as this number.
fn put_float(number: f64, out: &mut Vec<u8>) {
    let plain = number == 0.0 || (1e-5..1e16).contains(&number.abs());
    let written = match plain {
        true => write!(out, " {number}"),
        false => write!(out, " {number:e}"),
    };
    written.expect("memory can be written to");
}

/// Appends user-defined fields; those that the line lacked are empty.
fn put_fields(trace: &Trace, fields: EventFields<'_>, out: &mut Vec<u8>) {
    let texts = fields.texts().chain(std::iter::repeat(&b""[..]));
    for (_, text) in trace.defs()[fields.def()].extras().zip(texts) {
        put_name(Name::from(Field::new(text)), out);
    }
}

/// The fields of one of an object's events.
fn fields_of<'u>(all: &Annotations<'u>, i: usize, side: Side) -> Option<EventFields<'u>> {
    all.events_of(i).find(|(of, _)| *of == side).map(|(_, fields)| fields)
}

impl<T: Times> Visitor for Lines<'_, '_, T> {
    type Error = Infallible;

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, recorded) in
            states.start.iter().copied().zip(states.end.iter().copied()).enumerate()
        {
            let row = self.row + i as u64;
            let Some((start, end)) = self.times.state(lane, row, recorded) else { continue };
            let (start, end) = (&start, &end);
            if !self.wants(*start, *end) {
                continue;
            }
            let below = states.imbrication[i];
            while let Some(open) = self.open.pop_if(|open| open.0 >= below) {
                self.pop(open);
            }
            let opening = fields_of(&states.user_defined, i, Side::Opening);
            self.begin_row(Line::Push, opening, *start);
            self.put_value(states.value[i]);
            self.end(opening);
            let closing = fields_of(&states.user_defined, i, Side::Closing).map(|fields| {
                let mut words = Vec::new();
                put_fields(self.trace, fields, &mut words);
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
            let start = &self.times.within(lane.container(), *start);
            let fields = fields_of(&variables.user_defined, i, Side::Opening);
            self.begin_row(Line::Set, fields, *start);
            put_float(*value, &mut self.text);
            self.end(fields);
        }
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            if !self.wants(*time, *time) {
                continue;
            }
            let time = &self.times.within(lane.container(), *time);
            let fields = fields_of(&events.user_defined, i, Side::Opening);
            self.begin_row(Line::New, fields, *time);
            self.put_value(*value);
            self.end(fields);
        }
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for i in 0..links.start.len() {
            let recorded = (links.start[i], links.end[i]);
            let (row, ends) = (self.row + i as u64, (links.from[i], links.to[i]));
            let Some((start, end)) = self.times.link(lane.id(), row, ends, recorded) else {
                continue;
            };
            if !self.wants(start, end) {
                continue;
            }
            let lives = [links.from[i], links.to[i]].map(|id| self.lives[id.index()]);
            let phase = lives.iter().fold(self.life.phase, |phase, life| phase.max(life.phase));
            let created = lives.iter().fold(self.life.created, |at, life| at.max(life.created));
            // Of the fields, those of the link's first line in the file come first.
            // The lines of a link stay in their order, and so do their fields.
            let [first, second] = match recorded.0 <= recorded.1 {
                true => [(Line::StartLink, start), (Line::EndLink, end)],
                false => [(Line::EndLink, end), (Line::StartLink, start)],
            };
            let fields =
                [Side::Opening, Side::Closing].map(|side| fields_of(&links.user_defined, i, side));
            if !self.times.keeps_order() {
                self.last = created;
            }
            let at = created.max(first.1);
            self.put_end(&links, i, first, fields[0], (at, phase));
            self.last = self.last.max(at).max(second.1);
            self.put_end(&links, i, second, fields[1], (self.last, phase));
        }
        self.row += links.start.len() as u64;
        Ok(())
    }
}
