//! A simple implementation of the rules in `docs/dev/recover.md`. It reads line by line, and uses maps
//! and vectors. A replay of a damaged trace must give the same result.

use std::collections::{BTreeMap, HashMap, HashSet};

use paje_parser::number::{parse_f64, parse_time};
use paje_parser::{
    DefTable, EntityOp, Event, Fault, FaultKind, FieldName, FieldNames, LinkEnd, RawEvent, Span,
    TypeNature, token,
};

mod lanes;

type Text = Vec<u8>;
/// Code of a kind of problem, and the word for its remedy.
pub(crate) type Kind = (&'static str, &'static str);

struct Type {
    name: Text,
    identifier: Text,
    nature: TypeNature,
    parent: usize,
    ends: Option<(usize, usize)>,
    /// Names of values by their identifiers.
    values: HashMap<Text, Text>,
}

struct Container {
    name: Text,
    identifier: Text,
    type_: usize,
    parent: usize,
    start: f64,
    /// Time of the container's end, and time of its destruction.
    end: Option<(f64, f64)>,
    made_up: bool,
}

#[derive(Clone)]
struct Half {
    end: LinkEnd,
    time: f64,
    value: Text,
    at: usize,
}

#[derive(Default)]
struct Lane {
    states: Vec<(f64, Option<f64>, usize, Text)>,
    stack: Vec<usize>,
    variable: Vec<(f64, f64)>,
    variable_end: f64,
    events: Vec<(f64, Text)>,
    links: Vec<(Half, Half, Text)>,
    open: Vec<(Text, Half)>,
    keys: HashSet<Text>,
    /// Line and time of the last event in the file. `latest` is the latest time of any event.
    last: Option<(usize, f64)>,
    latest: f64,
}

#[derive(Default)]
pub(crate) struct Naive {
    types: Vec<Type>,
    types_by: HashMap<Text, usize>,
    containers: Vec<Container>,
    containers_by: HashMap<Text, usize>,
    lanes: BTreeMap<(usize, usize), Lane>,
    doomed: HashMap<(Text, Text, TypeNature), &'static str>,
    nowhere: HashSet<(Text, LinkEnd, Text)>,
    awaited: HashMap<Text, Vec<Text>>,
    last_time: f64,
    line: usize,
    /// For each kind, the first line (or [`AT_THE_END`]) and the number of lines.
    pub(crate) told: BTreeMap<Kind, (usize, u64)>,
}

pub(crate) const AT_THE_END: usize = usize::MAX;

type Skip = &'static str;

impl Naive {
    pub(crate) fn replay(text: &[u8]) -> Naive {
        let mut naive = Naive { last_time: f64::NEG_INFINITY, ..Naive::default() };
        naive.add_type(b"0", b"0", TypeNature::Container, 0, None);
        naive.add_container(b"0", b"0", 0, 0, 0.0, false);
        let mut defs = DefTable::new(FieldNames::Strict);
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            naive.line = index + 1;
            let is_ended = line.ends_with(b"\n");
            naive.read_line(line.strip_suffix(b"\n").unwrap_or(line), is_ended, &mut defs);
        }
        if defs.is_open() {
            naive.tell("unfinished-definition", "cut off", 1, AT_THE_END);
        }
        naive.finish();
        naive
    }

    fn tell(&mut self, code: &'static str, remedy: &'static str, count: u64, line: usize) {
        let told = self.told.entry((code, remedy)).or_insert((line, 0));
        *told = (told.0.min(line), told.1 + count);
    }

    fn here(&mut self, code: &'static str, remedy: &'static str) {
        self.tell(code, remedy, 1, self.line);
    }

    fn fault(&mut self, fault: Fault, is_ended: bool) {
        use FaultKind as F;
        let remedy = match fault.kind {
            _ if !is_ended => "cut off",
            F::UnnamedField
            | F::MissingFieldType
            | F::UnknownFieldType
            | F::RepeatedField
            | F::NestedDefinition => "kept",
            _ => "skipped",
        };
        self.here(fault.kind.code(), remedy);
    }

    fn read_line(&mut self, line: &[u8], is_ended: bool, defs: &mut DefTable) {
        let mut words = Vec::new();
        token::fields(line, 0, &mut words);
        let Some(first) = words.first() else { return };
        if line[first.start as usize] == b'%' {
            if let Err(fault) = defs.mend_line(line) {
                self.fault(fault, is_ended);
            }
            return;
        }
        if defs.is_open() {
            defs.end_early();
            let remedy = if is_ended { "kept" } else { "cut off" };
            self.here("unfinished-definition", remedy);
        }
        let Some(def) = defs.find(first.of(line).bare()) else {
            return self.fault(Fault { at: 0, kind: FaultKind::UnknownId }, is_ended);
        };
        let def = &defs.defs()[def];
        let mut is_keyless = false;
        if words.len() + 1 == def.needed_words()
            && is_ended
            && matches!(def.kind().name(), "PajeStartLink" | "PajeEndLink")
            && def.word_of(FieldName::Key) == Some(words.len())
        {
            is_keyless = true;
            words.push(Span { start: line.len() as u32, end: line.len() as u32 });
        }
        let raw = match RawEvent::new(def, line, &words) {
            Ok(raw) => raw,
            Err(fault) => return self.fault(fault, is_ended),
        };
        let event = match raw.decode() {
            Ok(event) => event,
            Err(fault) => return self.fault(fault, is_ended),
        };
        if let Event::Entity { op, value: Some(value), .. } = event
            && op.nature() == TypeNature::Variable
            && parse_f64(value.bare()).is_none()
        {
            return self.fault(Fault { at: 0, kind: FaultKind::BadNumber }, is_ended);
        }
        if is_keyless {
            self.here("missing-field", "kept");
        }
        let other = || parse_time(raw.field(FieldName::Time)?.bare());
        if let Some(time) = event.time().or_else(other) {
            self.last_time = self.last_time.max(time);
        }
        if let Err(code) = self.event(&event) {
            self.here(code, "skipped");
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Skip> {
        match *event {
            Event::DefineType { nature, name, alias, parent } => {
                let parent = self.container_type(parent.bare())?;
                self.define_type(name.bare(), alias.map(|a| a.bare()), nature, parent, None)
            }
            Event::DefineLinkType { name, alias, parent, start, end } => {
                let parent = self.container_type(parent.bare())?;
                let start = self.container_type(start.bare())?;
                let ends = Some((start, self.container_type(end.bare())?));
                let alias = alias.map(|alias| alias.bare());
                self.define_type(name.bare(), alias, TypeNature::Link, parent, ends)
            }
            Event::DefineValue { name, alias, type_, .. } => {
                let type_ = *self.types_by.get(type_.bare()).ok_or("unknown-type")?;
                let type_ = &mut self.types[type_];
                if !has_values(type_.nature) {
                    return Err("value-of-type");
                }
                let identifier = alias.unwrap_or(name).bare().to_vec();
                if type_.values.contains_key(&identifier) {
                    return Err("value-exists");
                }
                type_.values.insert(identifier, name.bare().to_vec());
                Ok(())
            }
            Event::CreateContainer { time, name, alias, type_, parent, .. } => {
                let identifier = alias.unwrap_or(name).bare();
                self.create(time, name.bare(), identifier, type_.bare(), parent.bare())
            }
            Event::DestroyContainer { time, type_, name } => {
                self.destroy(time, type_.bare(), name.bare())
            }
            Event::Entity { op, time, type_, container, value } => {
                let (type_name, name) = (type_.bare(), container.bare());
                let lane = self.lane(name, type_name, op.nature(), time);
                let value = value.map(|value| value.bare().to_vec()).unwrap_or_default();
                if matches!(op, EntityOp::Event | EntityOp::SetState | EntityOp::PushState) {
                    self.use_value(type_name, &value);
                }
                self.apply(lane?, op, time, value)
            }
            Event::Link { end, time, type_, container, value, at, key } => {
                let (type_name, value) = (type_.bare(), value.bare().to_vec());
                let lane = self.lane(container.bare(), type_name, TypeNature::Link, time);
                let at = self.link_end(type_name, at.bare(), end, time);
                self.use_value(type_name, &value);
                let lane = lane?;
                if self.containers[lane.0].end.is_some() {
                    return Ok(());
                }
                let half = Half { end, time, value, at: at.ok_or("unknown-container")? };
                self.link(lane, half, key.bare())
            }
            _ => Ok(()),
        }
    }

    fn container_type(&self, name: &[u8]) -> Result<usize, Skip> {
        let type_ = *self.types_by.get(name).ok_or("unknown-type")?;
        let is_container = self.types[type_].nature == TypeNature::Container;
        if is_container { Ok(type_) } else { Err("not-a-container-type") }
    }

    fn define_type(
        &mut self,
        name: &[u8],
        alias: Option<&[u8]>,
        nature: TypeNature,
        parent: usize,
        ends: Option<(usize, usize)>,
    ) -> Result<(), Skip> {
        let identifier = alias.unwrap_or(name);
        if identifier == b"0" {
            return Err("reserved-type");
        }
        if self.types_by.contains_key(identifier) {
            return Err("type-exists");
        }
        self.add_type(name, identifier, nature, parent, ends);
        Ok(())
    }

    fn add_type(
        &mut self,
        name: &[u8],
        identifier: &[u8],
        nature: TypeNature,
        parent: usize,
        ends: Option<(usize, usize)>,
    ) -> usize {
        let mut values = HashMap::new();
        if has_values(nature) {
            let awaited = self.awaited.remove(identifier).unwrap_or_default();
            values.extend(awaited.into_iter().map(|value| (value.clone(), value)));
        }
        let (name, identifier_text) = (name.to_vec(), identifier.to_vec());
        self.types.push(Type { name, identifier: identifier_text, nature, parent, ends, values });
        self.types_by.insert(identifier.to_vec(), self.types.len() - 1);
        self.types.len() - 1
    }

    fn add_container(
        &mut self,
        name: &[u8],
        identifier: &[u8],
        type_: usize,
        parent: usize,
        start: f64,
        made_up: bool,
    ) {
        let (name, identifier) = (name.to_vec(), identifier.to_vec());
        self.containers_by.insert(identifier.clone(), self.containers.len());
        self.containers.push(Container {
            name,
            identifier,
            type_,
            parent,
            start,
            end: None,
            made_up,
        });
    }

    fn create(
        &mut self,
        time: f64,
        name: &[u8],
        identifier: &[u8],
        type_name: &[u8],
        parent_name: &[u8],
    ) -> Result<(), Skip> {
        let type_ = match self.container_type(type_name) {
            Err("unknown-type") => None,
            known => Some(known?),
        };
        let parent = self.containers_by.get(parent_name).copied();
        if type_ == Some(0) {
            return Err(if parent.is_some() { "not-child-type" } else { "unknown-container" });
        }
        let mut told = Vec::new();
        if parent.is_none() {
            told.push(("unknown-container", "kept"));
        }
        let parent = parent.unwrap_or(0);
        let inside = self.containers[parent].type_;
        let type_ = type_.unwrap_or_else(|| {
            told.push(("unknown-type", "created"));
            self.add_type(type_name, type_name, TypeNature::Container, inside, None)
        });
        if self.types[type_].parent != inside && told.is_empty() {
            told.push(("not-child-type", "kept"));
        }
        if identifier == b"0" {
            return Err("reserved-container");
        }
        match self.containers_by.get(identifier) {
            Some(&known) => {
                let mut above = parent;
                while above != 0 && above != known {
                    above = self.containers[above].parent;
                }
                let container = &mut self.containers[known];
                if !container.made_up || container.type_ != type_ || above == known {
                    return Err("container-exists");
                }
                (container.made_up, container.parent) = (false, parent);
                container.name = name.to_vec();
            }
            None => self.add_container(name, identifier, type_, parent, time, false),
        }
        for (code, remedy) in told {
            self.here(code, remedy);
        }
        Ok(())
    }

    fn destroy(&mut self, time: f64, type_name: &[u8], name: &[u8]) -> Result<(), Skip> {
        let type_ = *self.types_by.get(type_name).ok_or("unknown-type")?;
        let named = *self.containers_by.get(name).ok_or("unknown-container")?;
        if self.containers[named].type_ != type_ {
            return Err("wrong-container-type");
        }
        if let Some((_, said)) = self.containers[named].end {
            return if time < said { Err("destroyed-too-early") } else { Ok(()) };
        }
        for container in 0..self.containers.len() {
            let mut above = container;
            while above != named && above != 0 {
                above = self.containers[above].parent;
            }
            if above == named && self.containers[container].end.is_none() {
                self.end(container, time, container == named, self.line);
            }
        }
        Ok(())
    }

    fn end(&mut self, container: usize, time: f64, named: bool, line: usize) {
        let mut end = time;
        let lanes = || self.lanes.iter().filter(|(key, _)| key.0 == container);
        let last = lanes().filter_map(|(_, lane)| lane.last).max_by_key(|last| last.0);
        if named && last.is_some_and(|(_, last)| time < last) {
            end = lanes().fold(f64::NEG_INFINITY, |latest, (_, lane)| latest.max(lane.latest));
            self.tell("destroyed-too-early", "kept", 1, line);
        }
        let mut open = 0;
        for (_, lane) in self.lanes.iter_mut().filter(|(key, _)| key.0 == container) {
            for row in lane.stack.drain(..) {
                lane.states[row].1 = Some(end);
            }
            lane.variable_end = end;
            open += lane.open.len() as u64;
            lane.open.clear();
        }
        if open > 0 {
            self.tell("open-links", "skipped", open, line);
        }
        self.containers[container].end = Some((end, time));
    }

    fn finish(&mut self) {
        let end = if self.last_time.is_finite() { self.last_time } else { 0.0 };
        for container in 0..self.containers.len() {
            if self.containers[container].end.is_none() {
                self.end(container, end, false, AT_THE_END);
            }
        }
    }

    /// Returns all objects. The objects of a lane are in order.
    pub(crate) fn listing(&self) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut all = Vec::new();
        for container in &self.containers {
            let Container { name, identifier, type_, parent, start, end, .. } = container;
            let (type_, parent) = (&self.types[*type_].name, &self.containers[*parent].identifier);
            let end = end.map_or(f64::NAN, |(end, _)| end);
            let (identifier, name) = (text(identifier), text(name));
            let (type_, parent) = (text(type_), text(parent));
            all.push(format!("{identifier} {name} {type_} {parent} {start:?} {end:?}"));
        }
        for ((container, type_), lane) in &self.lanes {
            let owner = text(&self.containers[*container].identifier);
            let about = format!("{owner} {}", text(&self.types[*type_].identifier));
            let value = |value: &Text| text(&self.types[*type_].values[value]);
            let mut row = 0;
            let mut add = |what: String| {
                all.push(format!("{about} {row}: {what}"));
                row += 1;
            };
            for (start, end, level, name) in &lane.states {
                let end = end.unwrap_or(f64::NAN);
                add(format!("{start:?} {end:?} {level} {}", value(name)));
            }
            for (index, (start, number)) in lane.variable.iter().enumerate() {
                let next = lane.variable.get(index + 1);
                let end = next.map_or(lane.variable_end, |(start, _)| *start);
                add(format!("{start:?} {end:?} {number:?}"));
            }
            for (time, name) in &lane.events {
                add(format!("{time:?} {}", value(name)));
            }
            for (start, end, key) in &lane.links {
                let at = |half: &Half| text(&self.containers[half.at].identifier);
                let (name, key) = (value(&start.value), text(key));
                let (from, to) = (at(start), at(end));
                add(format!("{:?} {:?} {name} {from} {to} {key}", start.time, end.time));
            }
        }
        all.sort();
        all
    }
}

const fn has_values(nature: TypeNature) -> bool {
    matches!(nature, TypeNature::State | TypeNature::Event | TypeNature::Link)
}
