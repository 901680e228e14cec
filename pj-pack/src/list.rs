//! Formats the contents of a packed trace as a table and as JSON.

mod contents;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use paje_console::Failure;
use paje_pack::KIND_NAMES;
use paje_parser::TypeNature;
use paje_parser::error::Escaped;
use serde_json::{Value, json};

pub(crate) use self::contents::Contents;
use self::contents::Entry;

impl Entry {
    /// Returns the name for the table. If the identifier is different, it follows the name.
    fn shown(&self) -> String {
        match &self.name {
            Some(name) if *name != self.id => {
                format!("{} ({})", Escaped(name), Escaped(&self.id))
            }
            _ => Escaped(&self.id).to_string(),
        }
    }

    fn name(&self) -> String {
        String::from_utf8_lossy(self.name.as_ref().unwrap_or(&self.id)).into_owned()
    }

    fn id(&self) -> String {
        String::from_utf8_lossy(&self.id).into_owned()
    }
}

/// Appends a row of the table: a number, its share, and a name. The name comes last because it may
/// be long.
fn row(table: &mut String, number: u64, all: u64, name: &str) {
    let _ = writeln!(table, "{number:>16} {:>6.2} %  {name}", percent(number, all));
}

fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

impl Contents {
    fn pages(&self) -> impl Iterator<Item = (&'static str, u64)> {
        KIND_NAMES.into_iter().zip(self.sizes).filter(|(_, size)| *size > 0)
    }

    fn type_of(&self, container: &Entry) -> Option<&Entry> {
        container.type_.and_then(|type_| self.types.all.get(type_))
    }

    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        let mut line = |value: &str, name: &str| {
            let _ = writeln!(table, "{value:>16}  {name}");
        };
        line(&self.text.to_string(), "bytes of text");
        let packed = format!("bytes packed, {:.2} %", percent(self.packed, self.text));
        line(&self.packed.to_string(), &packed);
        line(&self.lines.to_string(), "lines");
        line(&self.segments.to_string(), "segments");
        if let Some((first, last)) = self.times {
            line(&format!("{first:.6}"), "s, the first time");
            line(&format!("{last:.6}"), "s, the last time");
        }
        table.push_str("\nbytes by kind of page\n");
        self.pages().for_each(|(name, size)| row(&mut table, size, self.packed, name));
        table.push_str("\nlines by event\n");
        for (name, count) in &self.events {
            let name = if name.is_empty() { "(no event)" } else { name };
            row(&mut table, *count, self.lines, name);
        }
        self.table_of_types(&mut table);
        if !self.containers.all.is_empty() {
            table.push_str("\nlines by container\n");
        }
        for container in &self.containers.all {
            let name = match self.type_of(container) {
                Some(type_) => {
                    format!("{}: {}", Escaped(type_.name().as_bytes()), container.shown())
                }
                None => container.shown(),
            };
            row(&mut table, container.lines, self.lines, &name);
        }
        table
    }

    /// Adds a row for each type that has lines, and a row for the number of types without lines.
    fn table_of_types(&self, table: &mut String) {
        let all = &self.types.all;
        let of_containers = |type_: &&Entry| type_.nature == Some(TypeNature::Container);
        let used = all.iter().filter(|type_| type_.lines > 0);
        let unused = all.iter().filter(|type_| type_.lines == 0 && !of_containers(type_)).count();
        if used.clone().next().is_none() {
            return;
        }
        table.push_str("\nlines by type");
        if unused > 0 {
            let _ = write!(table, " (none of {unused} more)");
        }
        table.push('\n');
        for type_ in used {
            let nature = type_.nature.map_or("not defined", TypeNature::name);
            row(table, type_.lines, self.lines, &format!("{nature}: {}", type_.shown()));
        }
    }

    pub(crate) fn json(&self) -> Result<String, Failure> {
        let types = self.types.all.iter().map(|type_| {
            let nature = type_.nature.map(TypeNature::name);
            json!({ "name": type_.name(), "id": type_.id(), "nature": nature, "lines": type_.lines })
        });
        let containers = self.containers.all.iter().map(|container| {
            let type_ = self.type_of(container).map(Entry::name);
            json!({ "name": container.name(), "id": container.id(), "type": type_, "lines": container.lines })
        });
        let (types, containers): (Vec<Value>, Vec<Value>) = (types.collect(), containers.collect());
        let events: BTreeMap<_, _> =
            self.events.iter().filter(|(name, _)| !name.is_empty()).collect();
        let pages: BTreeMap<_, _> = self.pages().collect();
        let all = json!({
            "text_bytes": self.text,
            "packed_bytes": self.packed,
            "lines": self.lines,
            "segments": self.segments,
            "first_time": self.times.map(|(first, _)| first),
            "last_time": self.times.map(|(_, last)| last),
            "page_bytes": pages,
            "events": events,
            "types": types,
            "containers": containers,
        });
        let text = serde_json::to_string_pretty(&all);
        text.map(|text| text + "\n").map_err(|error| Failure::Other(error.to_string()))
    }
}
