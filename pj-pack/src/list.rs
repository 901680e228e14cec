//! Contents of a packed trace, as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;

use console::Failure;
use paje_pack::{Error, KIND_NAMES, Outline, Reader};
use paje_parser::error::shown;
use rustc_hash::FxHashMap;
use serde_json::json;

/// Contents of a packed trace.
#[derive(Default)]
pub(crate) struct Contents {
    segments: u64,
    lines: u64,
    text: u64,
    packed: u64,
    sizes: [u64; KIND_NAMES.len()],
    /// Lines by the name of their event; those that are none have no name.
    events: BTreeMap<&'static str, u64>,
    /// Lines by container, in the order in which they come.
    containers: Vec<(Vec<u8>, u64)>,
}

impl Contents {
    /// Contents of the packed trace that `from` gives. No time is read, and no number.
    pub(crate) fn read(from: impl Read) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        let mut places: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let mut reader = Reader::new(from);
        let mut outline = Outline::default();
        while let Some(segment) = reader.next_segment()? {
            contents.segments += 1;
            contents.lines += segment.line_count();
            contents.text += segment.text_len();
            for (sum, size) in contents.sizes.iter_mut().zip(segment.sizes()) {
                *sum += size;
            }
            outline.visit(&segment, |line| {
                *contents.events.entry(line.kind.map_or("", |kind| kind.name())).or_default() += 1;
                if line.lane.is_empty() {
                    return;
                }
                let place = places.get(line.lane).copied().unwrap_or_else(|| {
                    places.insert(line.lane.to_vec(), contents.containers.len());
                    contents.containers.push((line.lane.to_vec(), 0));
                    contents.containers.len() - 1
                });
                contents.containers[place].1 += 1;
            })?;
        }
        contents.packed = reader.position();
        for (sum, size) in contents.sizes.iter_mut().zip(reader.other_sizes()) {
            *sum += size;
        }
        contents.sizes[0] = contents.packed - contents.sizes.iter().sum::<u64>();
        Ok(contents)
    }

    /// Kinds of pages that there are, and their bytes.
    fn pages(&self) -> impl Iterator<Item = (&'static str, u64)> {
        KIND_NAMES.into_iter().zip(self.sizes).filter(|(_, size)| *size > 0)
    }

    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        let mut row = |name: &str, number: u64, note: String| {
            let _ = writeln!(table, "{name:<24} {number:>14}{note}");
        };
        row("text, bytes", self.text, String::new());
        row("packed, bytes", self.packed, format!(" {:>6.2} %", percent(self.packed, self.text)));
        row("lines", self.lines, String::new());
        row("segments", self.segments, String::new());
        row("containers with lines", self.containers.len() as u64, String::new());
        let _ = writeln!(table, "\nbytes by kind of page");
        for (name, size) in self.pages() {
            let _ =
                writeln!(table, "  {name:<22} {size:>14} {:>6.2} %", percent(size, self.packed));
        }
        let _ = writeln!(table, "\nlines by event");
        for (name, count) in &self.events {
            let name = if name.is_empty() { "(no event)" } else { name };
            let _ =
                writeln!(table, "  {name:<22} {count:>14} {:>6.2} %", percent(*count, self.lines));
        }
        if !self.containers.is_empty() {
            let _ = writeln!(table, "\nlines by container");
        }
        for (name, count) in &self.containers {
            let name = shown(name);
            let name = name.trim_matches('\'');
            let _ =
                writeln!(table, "  {name:<22} {count:>14} {:>6.2} %", percent(*count, self.lines));
        }
        table
    }

    pub(crate) fn json(&self) -> Result<String, Failure> {
        let containers: Vec<_> = self
            .containers
            .iter()
            .map(|(name, lines)| json!({ "name": String::from_utf8_lossy(name), "lines": lines }))
            .collect();
        let events: BTreeMap<_, _> =
            self.events.iter().filter(|(name, _)| !name.is_empty()).collect();
        let pages: BTreeMap<_, _> = self.pages().collect();
        let all = json!({
            "text_bytes": self.text,
            "packed_bytes": self.packed,
            "lines": self.lines,
            "segments": self.segments,
            "page_bytes": pages,
            "events": events,
            "containers": containers,
        });
        let text = serde_json::to_string_pretty(&all);
        text.map(|text| text + "\n").map_err(|error| Failure::Other(error.to_string()))
    }
}
