//! The lines of definitions, which come before all events.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::archive::Archive;
use crate::definitions::{Definition, Definitions};
use crate::lines::{Used, line};
use crate::messages::Link;
use crate::model::Model;
use crate::paje::START;
use crate::record::UNDEFINED;
use crate::scan::Scan;
use crate::table::{DEFINITIONS, EVENTS, Reference, Type};
use crate::text::Sink;

/// The lines that define events. Their numbers are those in [`line`](crate::lines::line).
const EVENT_DEFINITIONS: &str = "\
PajeDefineContainerType 0 Alias:string Type:string Name:string
PajeDefineStateType 1 Alias:string Type:string Name:string
PajeDefineEventType 2 Alias:string Type:string Name:string
PajeDefineVariableType 3 Alias:string Type:string Name:string Unit:string Mode:string
PajeDefineLinkType 4 Alias:string Type:string StartContainerType:string EndContainerType:string Name:string
PajeDefineEntityValue 5 Alias:string Type:string Name:string
PajeCreateContainer 6 Time:date Alias:string Type:string Container:string Name:string
PajePushState 7 Time:date Container:string Type:string Value:string
PajePopState 8 Time:date Container:string Type:string
PajeSetVariable 9 Time:date Container:string Type:string Value:double
PajeDestroyContainer 10 Time:date Type:string Name:string
PajeNewEvent 11 Time:date Container:string Type:string Value:string Fields:string
PajeStartLink 12 Time:date Container:string Type:string StartContainer:string Value:string Key:string Size:int Tag:int
PajeEndLink 13 Time:date Container:string Type:string EndContainer:string Value:string Key:string Size:int Tag:int
PajeTraceFile 14 Time:date Container:string Type:string Filename:string
PajeDefineEntityValue 15 Alias:string Type:string Name:string Role:string Paradigm:string File:string Line:int
PajeNewEvent 16 Time:date Container:string Type:string Value:string
PajePushState 17 Time:date Container:string Type:string Value:string Fields:string
PajePopState 18 Time:date Container:string Type:string Fields:string
PajeSetVariable 19 Time:date Container:string Type:string Value:double Fields:string
PajeNewEvent 20 Time:date Container:string Type:string Value:string Fields:string
PajeStartLink 22 Time:date Container:string Type:string StartContainer:string Value:string Key:string Size:int Tag:int Request:int
PajeEndLink 23 Time:date Container:string Type:string EndContainer:string Value:string Key:string Size:int Tag:int Request:int
";

/// Kind of the records of markers.
const MARKER: u8 = 6;

/// A type of links: types of the containers at their ends, and the communicator that has its name,
/// with the container that the links belong to.
pub(crate) type LinkType = (u32, u32, Option<(u64, u32)>);

/// Writes the beginning of the trace.
pub(crate) struct Header<'m> {
    pub(crate) archive: &'m Archive,
    /// The locations that are read.
    pub(crate) locations: &'m [u64],
    pub(crate) model: &'m Model,
    pub(crate) scans: &'m [Scan],
    pub(crate) links: &'m [Link],
    pub(crate) markers: &'m Definitions,
    /// Time at which the trace ends, if locations that are not read have later lines.
    pub(crate) end: Option<u64>,
}

impl Header<'_> {
    /// Returns the type of a link, by the types of the containers at its ends.
    fn link_type(&self, link: &Link) -> LinkType {
        let location = |index: u32| self.locations[index as usize];
        let type_ = |index: u32| self.model.type_of_location(location(index));
        let name = self.model.link_type(self.archive.definitions(), link.comm);
        (type_(link.from.0), type_(link.to.0), name)
    }

    /// Writes the lines, except those that follow all other lines of the trace.
    pub(crate) fn write(&self, text: &mut impl Sink) {
        self.comments(text);
        let needed = self.needed();
        for definition in EVENT_DEFINITIONS.lines() {
            let mut words = definition.split(' ');
            let (name, number) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            if !number.parse().is_ok_and(|number: u32| needed >> number & 1 == 1) {
                continue;
            }
            text.plain(format!("%EventDef {name} {number}\n").as_bytes());
            for (field, type_) in words.filter_map(|word| word.split_once(':')) {
                text.plain(format!("% {field} {type_}\n").as_bytes());
            }
            text.plain(b"%EndEventDef\n");
        }
        self.types(text);
        self.values(text);
        self.containers(text);
        self.marks(text);
    }

    /// Returns a bit for the number of each existing kind of line.
    fn needed(&self) -> u32 {
        let mut needed = self.scans.iter().fold(0, |lines, scan| lines | scan.used.lines);
        let kinds = self.used(|it| &it.kinds);
        let has_links = !self.links.is_empty();
        let has_end = |end: usize, has_request: bool| {
            self.links.iter().any(|link| (link.requests[end] != UNDEFINED) == has_request)
        };
        let has_markers = self.markers.of(MARKER).next().is_some();
        if kinds.is_empty() {
            // Events of messages. Links have the same information.
            needed &= !(1 << line::EVENT);
        }
        let is_paje = self.model.is_paje;
        let parameters = self.used(|it| &it.parameters);
        for (line, is_needed) in [
            (0, !self.model.types.is_empty()),
            (1, !self.used(|it| &it.states).is_empty()),
            (2, !kinds.is_empty() || !parameters.is_empty() || has_markers),
            (3, !self.used(|it| &it.variables).is_empty()),
            (4, has_links),
            (5, !kinds.is_empty() || has_links),
            (6, !self.model.containers.is_empty()),
            (line::START_LINK, has_end(0, false)),
            (line::END_LINK, has_end(1, false)),
            (line::START_LINK_MORE, has_end(0, true)),
            (line::END_LINK_MORE, has_end(1, true)),
            (line::DESTROY, is_paje),
            (line::END, is_paje || self.end.is_some()),
            (15, !self.used(|it| &it.regions).is_empty()),
            (20, has_markers),
        ] {
            needed |= u32::from(is_needed) << line;
        }
        needed
    }

    /// Writes comments that describe the archive, and the parts of it that the trace cannot
    /// represent.
    fn comments(&self, text: &mut impl Sink) {
        let anchor = self.archive.anchor();
        let [major, minor, fix] = anchor.version;
        let all = self.archive.definitions();
        comment(
            "OTF2 archive, written with version ",
            format!("{major}.{minor}.{fix}").as_bytes(),
            text,
        );
        for (label, value) in ["Machine: ", "Creator: ", "Description: "].iter().zip(&anchor.texts)
        {
            comment(label, value, text);
        }
        for (name, value) in &anchor.properties {
            comment("Property: ", &[name, &b" = "[..], value].concat(), text);
        }
        let (resolution, offset) = all.clock();
        let clock = format!("{resolution} ticks per second, from tick {offset} on");
        comment("Clock: ", clock.as_bytes(), text);
        let sum = |of: fn(&Scan) -> usize| self.scans.iter().map(of).sum::<usize>();
        let (sends, receives) = (sum(|it| it.sends.len()), sum(|it| it.receives.len()));
        let count = self.links.len();
        let messages = format!(
            "{count} links; {} sends without a receive and {} receives without a send are events",
            sends - count,
            receives - count
        );
        comment("Messages: ", messages.as_bytes(), text);
        let mut absent: FxHashMap<&str, u64> = FxHashMap::default();
        for it in &all.all {
            // These definitions become objects, or their names are written in lines.
            let has_place = matches!(
                it.kind,
                5 | 8 | 10..=15 | 18..=24 | 33 | 34 | 36 | 38..=40 | 43
            );
            if let Some(record) = it.record(&DEFINITIONS).filter(|_| !has_place) {
                *absent.entry(record.name).or_default() += 1;
            }
        }
        let entered: BTreeSet<u64> =
            self.used(|it| &it.regions).into_iter().map(|it| it.1).collect();
        let unused = self.model.regions.values().filter(|first| !entered.contains(first)).count();
        if unused > 0 {
            absent.insert("Region that is never entered", unused as u64);
        }
        let mut absent: Vec<_> = absent.into_iter().collect();
        absent.sort_unstable();
        for (name, count) in absent {
            comment("Not in this trace: ", format!("{count} × {name}").as_bytes(), text);
        }
        if all.unknown > 0 {
            let count = format!("{} definitions of unknown kinds", all.unknown);
            comment("Not in this trace: ", count.as_bytes(), text);
        }
        for (name, count) in ["snapshots", "thumbnails"].iter().zip(anchor.others) {
            if count > 0 {
                comment("Not in this trace: ", format!("{count} {name}").as_bytes(), text);
            }
        }
    }

    fn types(&self, text: &mut impl Sink) {
        let all = self.archive.definitions();
        let types = (0..).zip(&self.model.types);
        for (index, type_) in types.filter(|(index, _)| !self.model.is_root(*index)) {
            text.alias(b"0 T", index.into());
            match type_.parent {
                Some(parent) => text.alias(b" T", parent.into()),
                None => text.plain(b" 0"),
            }
            text.plain(b" \"");
            text.name(&type_.name);
            text.plain(b"\"\n");
        }
        for state in self.used(|it| &it.states) {
            let (type_, name) = &self.model.states[state as usize];
            text.plain(format!("1 S{state} {} \"", self.alias(*type_)).as_bytes());
            text.name(name);
            text.plain(b"\"\n");
        }
        for (type_, parameter) in self.used(|it| &it.parameters) {
            text.plain(format!("2 P{type_}_{parameter} {} \"", self.alias(type_)).as_bytes());
            text.name(all.name(Reference::Parameter, parameter).unwrap_or_default());
            text.plain(b"\"\n");
        }
        let of_events: BTreeSet<u32> =
            self.used(|it| &it.kinds).into_iter().map(|it| it.0).collect();
        for type_ in of_events {
            text.plain(format!("2 E{type_} {} Event\n", self.alias(type_)).as_bytes());
        }
        for (type_, member_id) in self.used(|it| &it.variables) {
            let Some(member) = all.get(Reference::MetricMember, member_id) else { continue };
            text.plain(format!("3 V{type_}_{member_id} {} \"", self.alias(type_)).as_bytes());
            text.name(all.string(member.fields[1]).unwrap_or(b"unnamed metric"));
            text.plain(b"\" \"");
            let exponent = member.fields[7].cast_signed();
            if exponent != 0 {
                let base = if member.fields[6] == 0 { 2 } else { 10 };
                text.plain(format!("{base}^{exponent} ").as_bytes());
            }
            text.name(all.string(member.fields[8]).unwrap_or_default());
            text.plain(b"\" ");
            self.enumerated(member, 4, text);
            text.plain(b"\n");
        }
        for type_ in self.link_types() {
            let (from, to) = (self.alias(type_.0), self.alias(type_.1));
            let owner = type_.2.map(|(_, owner)| self.model.containers[owner as usize].type_);
            let owner = owner.map_or_else(|| "0".into(), |type_| self.alias(type_));
            let line = format!("4 {} {owner} {from} {to} \"", link_alias(type_));
            text.plain(line.as_bytes());
            let name = type_.2.and_then(|(comm, _)| all.name(Reference::Comm, comm));
            text.name(name.unwrap_or(b"Message"));
            text.plain(b"\"\n");
        }
    }

    /// Returns the identifier of a type of containers.
    fn alias(&self, type_: u32) -> String {
        if self.model.is_root(type_) { "0".into() } else { format!("T{type_}") }
    }

    /// Returns all types and values that the lines of the locations use.
    fn used<T: Ord + Copy>(&self, of: fn(&Used) -> &FxHashSet<T>) -> BTreeSet<T> {
        self.scans.iter().flat_map(|scan| of(&scan.used).iter().copied()).collect()
    }

    fn link_types(&self) -> BTreeSet<LinkType> {
        self.links.iter().map(|link| self.link_type(link)).collect()
    }

    fn values(&self, text: &mut impl Sink) {
        let all = self.archive.definitions();
        for (state, region) in self.used(|it| &it.regions) {
            if let Some(region) = all.get(Reference::Region, region) {
                self.region(state, region, text);
            }
        }
        for (type_, kind) in self.used(|it| &it.kinds) {
            if let Some(record) = EVENTS.get(kind) {
                text.plain(format!("5 K{kind} E{type_} {}\n", record.name).as_bytes());
            }
        }
        let comms: BTreeSet<(LinkType, u64)> =
            self.links.iter().map(|link| (self.link_type(link), link.comm)).collect();
        for (type_, comm) in comms {
            text.plain(format!("5 C{comm} {} \"", link_alias(type_)).as_bytes());
            match self.model.comms.get(&comm) {
                Some(name) => text.name(name),
                None => text.alias(b"communicator ", comm),
            }
            text.plain(b"\"\n");
        }
    }

    fn region(&self, state: u32, it: &Definition, text: &mut impl Sink) {
        let all = self.archive.definitions();
        let string = |field: usize| all.string(it.fields[field]);
        text.plain(format!("15 R{} S{state} \"", it.fields[0]).as_bytes());
        match string(1).filter(|name| self.model.is_paje || !name.is_empty()) {
            Some(name) => text.name(name),
            None => text.alias(b"region ", it.fields[0]),
        }
        text.plain(b"\"");
        for field in [8, 9] {
            text.plain(b" ");
            self.enumerated(it, field, text);
        }
        text.plain(b" \"");
        text.name(string(4).unwrap_or_default());
        text.alias(b"\" ", it.fields[5]);
        text.plain(b"\n");
    }

    /// Writes the name of an enumeration's value.
    fn enumerated(&self, it: &Definition, field: usize, text: &mut impl Sink) {
        let value = it.fields[field];
        let name = it.record(&DEFINITIONS).and_then(|record| match record.fields[field].type_ {
            Type::One(names) => names.get(value),
            _ => None,
        });
        match name {
            Some(name) => text.plain(name.as_bytes()),
            None => text.number(value),
        }
    }

    fn containers(&self, text: &mut impl Sink) {
        let seconds = &self.model.seconds;
        let first = self.scans.iter().filter_map(|scan| scan.first);
        // Most traces begin at 0.
        let start = first.map(|tick| seconds.units(tick)).chain([0]).min().unwrap_or(0);
        let starts = self.times(START);
        for container in &self.model.containers[usize::from(self.model.is_paje)..] {
            text.plain(b"6 ");
            let created = starts.get(&container.id).map(|tick| seconds.units(*tick));
            seconds.write(created.unwrap_or(start), text);
            text.plain(b" ");
            text.alias(container.letter, container.id);
            text.alias(b" T", container.type_.into());
            text.plain(b" ");
            match container.parent.map(|parent| &self.model.containers[parent as usize]) {
                Some(parent) => text.alias(parent.letter, parent.id),
                None => text.plain(b"0"),
            }
            text.plain(b" \"");
            text.name(&container.name);
            text.plain(b"\"\n");
        }
    }

    /// Writes the markers, which are events of the whole trace. Their times are not corrected.
    fn marks(&self, text: &mut impl Sink) {
        let seconds = &self.model.seconds;
        let mut markers: Vec<&Definition> = self.markers.of(MARKER).collect();
        markers.sort_by_key(|it| seconds.units(it.fields[0]));
        if markers.is_empty() {
            return;
        }
        let definitions = self.markers.all.iter().filter(|it| it.kind != MARKER);
        let categories: FxHashMap<u64, &[u8]> =
            definitions.map(|it| (it.fields[0], self.markers.text(it, 1))).collect();
        text.plain(b"2 Marker 0 Marker\n");
        for it in markers {
            let category = categories.get(&it.fields[2]).copied().unwrap_or_default();
            text.plain(b"20 ");
            seconds.write(seconds.units(it.fields[0]), text);
            text.plain(b" 0 Marker \"");
            text.name(category);
            let [_, duration, _, scope, place, ..] = it.fields;
            text.plain(format!("\" \"Duration={duration}; Scope={scope}; Place=").as_bytes());
            match place {
                UNDEFINED => text.plain(b"UNDEFINED"),
                place => text.number(place),
            }
            text.plain(b"; Text=");
            text.name(self.markers.text(it, 0));
            text.plain(b"\"\n");
        }
    }
}

fn comment(label: &str, value: &[u8], text: &mut impl Sink) {
    if !value.is_empty() {
        text.plain(b"# ");
        text.plain(label.as_bytes());
        text.name(value);
        text.plain(b"\n");
    }
}

/// Returns the identifier of a type of links.
fn link_alias((from, to, name): LinkType) -> String {
    let name = name.map_or_else(String::new, |(name, _)| format!("_{name}"));
    format!("M{from}_{to}{name}")
}
