//! Prints an archive as `otf2-print` does, to compare the two. With `-G`, prints its definitions.

mod values;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use paje_otf2::table::{DEFINITIONS, EVENTS, Field, Item, Record, Reference, Type};
use paje_otf2::{Archive, Definition, Definitions, Entry, Ranks, UNDEFINED, Values};

use values::{date, flags, general, screaming, type_name};

fn main() -> ExitCode {
    let mut paths = std::env::args().skip(1);
    let Some(first) = paths.next() else { return ExitCode::FAILURE };
    let (only_definitions, path) = match &*first {
        "-G" => (true, paths.next().unwrap_or_default()),
        _ => (false, first),
    };
    match print(Path::new(&path), only_definitions) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(path: &Path, only_definitions: bool) -> Result<String, paje_otf2::Error> {
    let archive = Archive::open(path, Arc::new(paje_otf2::open_regular))?;
    let all = archive.definitions();
    let mut printer = Printer { all, ranks: Ranks::new(all), location: 0, known: usize::MAX };
    let mut text = String::new();
    if only_definitions {
        for (number, it) in all.all.iter().enumerate() {
            printer.known = number;
            let _ = writeln!(text, "{}", printer.definition(it));
        }
        return Ok(text);
    }
    let mut events = Vec::new();
    for location in archive.locations() {
        let printer = Printer { ranks: Ranks::new(printer.all), location: *location, ..printer };
        archive.events(*location, |event, values| {
            events.push((event.time, *location, printer.event(event.kind, event.time, values)));
        })?;
    }
    events.sort_by_key(|(time, location, _)| (*time, *location));
    text.extend(events.into_iter().map(|(_, _, line)| line));
    Ok(text)
}

struct Printer<'d> {
    all: &'d Definitions,
    ranks: Ranks,
    location: u64,
    /// Number of definitions that have been read: otf2-print prints one before it reads the next.
    known: usize,
}

/// Order of the fields of some definitions, where it is not that of the file.
const ORDERS: [(u8, &str); 6] = [
    (11, "Name Description Type"),
    (15, "Name Descr. Role Paradigm Flags File Begin End"),
    (18, "Name Type Paradigm Flags Members"),
    (20, "Occurrence Kind Members"),
    (38, "Operation Window Level_of_Synchronicity Root Sent Received"),
    (8, "Identification Name Class Flags Properties"),
];

/// Events that otf2-print calls otherwise.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("IO_CHANGE_STATUS_FLAGS", "IO_CHANGE_FLAGS"),
    ("PARAMETER_INT", "PARAMETER_INT64"),
    ("PARAMETER_UNSIGNED_INT", "PARAMETER_UINT64"),
];

impl Printer<'_> {
    fn event(&self, kind: u8, time: u64, values: &Values) -> String {
        let (name, fields) = match EVENTS.get(kind) {
            None => ("UNKNOWN".into(), String::new()),
            Some(record) => {
                let order = if kind == 38 { ORDERS[4].1 } else { "" };
                let fields = self.fields(record, order, &values.fields, 0, &values.list);
                (screaming(record.name), fields)
            }
        };
        let other = OTHER_NAMES.iter().find(|(ours, _)| *ours == name);
        let name = other.map_or(name, |(_, theirs)| (*theirs).to_owned());
        let mut line = format!("{name} {} {time} {fields}\n", self.location);
        if !values.attributes.is_empty() {
            let attributes = values.attributes.iter().map(|it| {
                let name = self.reference(Reference::Attribute, it.tag);
                format!("({name}; {}; {})", type_name(it.type_), self.value(it.type_, it.value))
            });
            let attributes: Vec<String> = attributes.collect();
            let _ = writeln!(line, " ADDITIONAL ATTRIBUTES: {}", attributes.join(", "));
        }
        line
    }

    fn get(&self, reference: Reference, id: u64) -> Option<&Definition> {
        let found = self.all.get(reference, id)?;
        let Some(known) = self.all.all.get(..self.known) else { return Some(found) };
        if known.iter().any(|it| std::ptr::eq(it, found)) {
            return Some(found);
        }
        let defines = |it: &Definition| it.record(&DEFINITIONS).and_then(Record::defines);
        known.iter().rfind(|it| it.fields[0] == id && defines(it) == Some(reference))
    }

    fn definition(&self, it: &Definition) -> String {
        let Some(record) = it.record(&DEFINITIONS) else { return String::new() };
        let name = screaming(record.name);
        let id = match (it.kind, record.defines()) {
            (6, _) => format!("{} ", it.fields[0]),
            (_, Some(_)) => format!("{} ", it.fields[0]),
            (_, None) => String::new(),
        };
        let fields = if it.kind == 10 {
            format!("\"{}\"", String::from_utf8_lossy(self.all.text(it, 0)))
        } else {
            let order = ORDERS.iter().find(|(kind, _)| *kind == it.kind && *kind != 38);
            let order = order.map_or("", |(_, order)| order);
            self.fields(record, order, &it.fields, it.value_type, &it.list)
        };
        format!("{name} {id}{fields}")
    }

    fn fields(
        &self,
        record: &Record,
        order: &str,
        fields: &[u64],
        value_type: u8,
        list: &[Entry],
    ) -> String {
        let mut parts = Vec::new();
        let mut add = |number: usize, field: &Field| {
            let value = fields[number];
            let label = field.label.replace('_', " ");
            match (record.name, field.label) {
                (_, "*" | "Old_Value") => {}
                ("MetricInstance", "Place") => {}
                ("MetricInstance", "Class") | ("Callpath", "Parent") if value != UNDEFINED => {
                    parts.push(format!("{label}: {value}"));
                }
                ("MetricInstance", "Scope") => {
                    let kinds = [
                        Reference::Location,
                        Reference::LocationGroup,
                        Reference::SystemTreeNode,
                        Reference::Group,
                    ];
                    let place = self.reference(kinds[value as usize & 3], fields[number + 1]);
                    parts.push(format!(
                        "{label}: {} {place}",
                        self.field(record, field, value, fields)
                    ));
                }
                ("Paradigm", "Paradigm") => {
                    parts.push(self.field(record, field, value, fields));
                }
                ("ParadigmProperty", "Paradigm") => {
                    parts.push(format!("{label}: {}", self.paradigm(value)));
                }
                ("Region", "Name") => {
                    let (name, other) = (self.reference(Reference::String, value), fields[7]);
                    let other = self.reference(Reference::String, other);
                    parts.push(format!("{label}: {name} (Aka. {other})"));
                }
                ("ClockProperties", "Date") => parts.push(format!("{label}: {}", date(value))),
                ("Metric", "Metric") => parts.push(format!("{label}: {value}")),
                ("Metric", "Values") => parts.push(self.metric(fields[0], list)),
                (_, "Value") if matches!(field.type_, Type::Value) => {
                    let (name, value) = (type_name(value_type), self.value(value_type, value));
                    match record.name == "ParadigmProperty" && fields[1] == 2 {
                        true => {
                            let value = if value == "0" { "FALSE" } else { "TRUE" };
                            parts.push(format!("Type: BOOLEAN, Value: {value}"));
                        }
                        false => parts.push(format!("Type: {name}, Value: {value}")),
                    }
                }
                ("CartCoordinate", "Coordinates") => {
                    let list: Vec<String> = list.iter().map(|it| it.value.to_string()).collect();
                    parts.push(format!("{label}: ({})", list.join(", ")));
                }
                ("Group" | "MetricClass" | "CartTopology" | "ProgramBegin" | "IoParadigm", _)
                    if matches!(field.type_, Type::List { .. }) =>
                {
                    parts.push(self.list(record, field, fields, list));
                }
                _ => parts.push(format!("{label}: {}", self.field(record, field, value, fields))),
            }
        };
        if order.is_empty() {
            record.fields.iter().enumerate().for_each(|(number, field)| add(number, field));
        } else {
            for label in order.split(' ') {
                if let Some(number) = record.field(label) {
                    add(number, &record.fields[number]);
                }
            }
        }
        parts.join(", ")
    }

    fn list(&self, record: &Record, field: &Field, fields: &[u64], list: &[Entry]) -> String {
        let label = field.label.replace('_', " ");
        let label = match list.len() {
            1 => label.trim_end_matches('s').to_owned(),
            _ => label,
        };
        let show = |entry: &Entry| match field.type_ {
            Type::List { item: Item::Reference(reference), .. } => {
                self.reference(reference, entry.value)
            }
            _ if record.name == "Group" => self.group_member(fields, entry.value),
            _ => entry.value.to_string(),
        };
        let items: Vec<String> = list.iter().map(show).collect();
        let items = items.join(", ");
        match (record.name, list.is_empty()) {
            (_, true) => format!("0 {label}"),
            ("CartTopology", _) => format!("{} {label}: ({items})", list.len()),
            _ => format!("{} {label}: {items}", list.len()),
        }
    }

    fn group_member(&self, fields: &[u64], member: u64) -> String {
        match fields[4] {
            1 | 4 => self.reference(Reference::Location, member),
            2 => self.reference(Reference::Region, member),
            3 => self.reference(Reference::Metric, member),
            5 => {
                let world = self
                    .all
                    .all
                    .iter()
                    .find(|it| it.kind == 18 && it.fields[4] == 4 && it.fields[5] == fields[5]);
                let found = world.and_then(|it| it.list.get(member as usize));
                self.rank(member, found.map(|it| it.value))
            }
            _ => member.to_string(),
        }
    }

    fn metric(&self, metric: u64, list: &[Entry]) -> String {
        let class = self.all.get(Reference::Metric, metric);
        let class = class.and_then(|it| match it.kind {
            21 => self.all.get(Reference::Metric, it.fields[1]),
            _ => Some(it),
        });
        let members = class.map_or(&[][..], |it| &it.list);
        let show = |(number, it): (usize, &Entry)| {
            let member = members.get(number).map_or(UNDEFINED, |it| it.value);
            let name = self.reference(Reference::MetricMember, member);
            format!("({name}; {}; {})", type_name(it.type_), self.value(it.type_, it.value))
        };
        let values: Vec<String> = list.iter().enumerate().map(show).collect();
        let label = if list.len() == 1 { "Value" } else { "Values" };
        format!("{} {label}: {}", list.len(), values.join(", "))
    }

    fn field(&self, record: &Record, field: &Field, value: u64, fields: &[u64]) -> String {
        const UNDEFINED_WORD: u64 = u32::MAX as u64;
        match field.type_ {
            Type::One(names) if names.name == "Paradigm" && record.name != "Paradigm" => {
                self.paradigm(value)
            }
            Type::One(names) => {
                names.get(value).map_or_else(|| format!("INVALID <{value}>"), str::to_owned)
            }
            Type::Flags(names) => flags(names, value),
            Type::Signed if value == 1 << 63 && field.label == "Exit_status" => "UNDEFINED".into(),
            Type::Signed => value.cast_signed().to_string(),
            Type::Word if value == UNDEFINED_WORD && field.label == "Unwind_Distance" => {
                "UNDEFINED".into()
            }
            Type::Reference(reference) => self.reference(reference, value),
            Type::Root if value == UNDEFINED_WORD => "NONE".into(),
            Type::Root if value == UNDEFINED_WORD - 1 => "SELF".into(),
            Type::Root if value == UNDEFINED_WORD - 2 => "THIS_GROUP".into(),
            Type::Rank if value == UNDEFINED_WORD => "UNDEFINED".into(),
            Type::Rank | Type::Root => {
                let of = |label| record.field(label).map(|number| fields[number]);
                let of = |label| of(label).or_else(|| of("Thread_Team"));
                let comm = match (of("Window"), of("Cartesian_Topology")) {
                    (Some(id), _) if record.field("Window").is_some() => {
                        self.all.get(Reference::RmaWin, id).map(|it| it.fields[2])
                    }
                    (_, Some(id)) if record.field("Cartesian_Topology").is_some() => {
                        self.all.get(Reference::CartTopology, id).map(|it| it.fields[2])
                    }
                    _ => of("Communicator"),
                };
                let comm = comm.unwrap_or(UNDEFINED);
                self.rank(value, self.ranks.location(self.all, comm, value, self.location))
            }
            _ => value.to_string(),
        }
    }

    fn rank(&self, rank: u64, location: Option<u64>) -> String {
        match location {
            Some(id) => format!("{rank} ({})", self.reference(Reference::Location, id)),
            None => format!("{rank} (INVALID)"),
        }
    }

    fn paradigm(&self, value: u64) -> String {
        let found = self.all.all.iter().rfind(|it| it.kind == 6 && it.fields[0] == value);
        let name = found.and_then(|it| self.all.string(it.fields[1]));
        match name {
            Some(name) => format!("\"{}\" <{value}>", String::from_utf8_lossy(name)),
            None => {
                let names = EVENTS.get(54).map(|record| record.fields[0].type_);
                let Some(Type::One(names)) = names else { return value.to_string() };
                names.get(value).map_or_else(|| value.to_string(), str::to_owned)
            }
        }
    }

    fn reference(&self, reference: Reference, id: u64) -> String {
        if id == UNDEFINED {
            return "UNDEFINED".into();
        }
        let Some(found) = self.get(reference, id) else { return format!("INVALID <{id}>") };
        let named = found.record(&DEFINITIONS).and_then(|it| it.field("Name"));
        if named.is_some_and(|name| found.fields[name] == UNDEFINED) {
            return id.to_string();
        }
        let string = |id: u64| match self.all.string(id) {
            Some(text) => String::from_utf8_lossy(text).into_owned(),
            None => "UNDEFINED".into(),
        };
        let name = match reference {
            Reference::String => string(id),
            Reference::SystemTreeNode => {
                format!("{}::{}", string(found.fields[2]), string(found.fields[1]))
            }
            Reference::SourceCodeLocation => {
                format!("{}:{}", string(found.fields[1]), found.fields[2] as i32)
            }
            Reference::CallingContext => {
                let region = self.all.name(Reference::CallingContext, id).unwrap_or_default();
                let region = String::from_utf8_lossy(region).into_owned();
                match self.all.get(Reference::SourceCodeLocation, found.fields[2]) {
                    None => region,
                    Some(at) => {
                        format!("{region}@{}:{}", string(at.fields[1]), at.fields[2] as i32)
                    }
                }
            }
            Reference::IoFile => {
                let kind = if found.kind == 39 { "directory" } else { "file" };
                format!("{kind}://{}", string(found.fields[1]))
            }
            Reference::IoParadigm => string(found.fields[2]),
            Reference::IoHandle if string(found.fields[1]).is_empty() => {
                let of = |reference, id| self.reference(reference, id);
                let bare = |text: String| match text.rsplit_once("\" <") {
                    Some((name, _)) => name.trim_start_matches('"').to_owned(),
                    None => text,
                };
                let paradigm = bare(of(Reference::IoParadigm, found.fields[3]));
                format!("[{paradigm}]{}", bare(of(Reference::IoFile, found.fields[2])))
            }
            _ => match named {
                Some(name) => string(found.fields[name]),
                None => String::new(),
            },
        };
        format!("\"{name}\" <{id}>")
    }

    fn value(&self, type_: u8, bits: u64) -> String {
        match type_ {
            5..=8 => bits.cast_signed().to_string(),
            9 => general(f32::from_bits(bits as u32).into()),
            10 => general(f64::from_bits(bits)),
            _ => match Reference::of_type(type_) {
                Some(reference) => self.reference(reference, bits),
                None => bits.to_string(),
            },
        }
    }
}
