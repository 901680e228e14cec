//! Reports stored in a packed trace. They can be read without a replay.
//!
//! A [`Keeper`] reads a trace like an analysis, and returns the reports named in [`REPORTS`] as
//! bytes. [`Kept`] decodes these bytes without loss.
//!
//! A report begins with the end of the trace in seconds, a double, and a byte for the assumed unit of time: 0 if the writer
//! is unknown, 1 for StarPU, 2 for SimGrid, 3 for EZTrace, 4 for Akypuera. The numbers of bytes, lines, events, containers
//! and types of the trace, without the root, and the number of rows follow in 8 bytes each, and the number of columns in
//! one byte. Each column has its name and a value per row. A name is a byte (0 bare, 1 quoted, 2 without the second quote),
//! its length in 4 bytes, and its bytes. Counts have 8 bytes. A time is a byte 1 and an integer in 16 bytes, in units of
//! 2^-64 s. Any other number is a byte 1 and a double. A byte 0 stands for a missing value.

mod lanes;

use std::sync::Arc;

use paje_parser::{EventDef, EventKind, FieldNames, LineDecoder};
use paje_sim::{Options, Selection, TimeScale, Trace, TypeNature};
use paje_workers::Workers;

pub use lanes::{LANES, Lanes};

use crate::bytes::{Bytes, Left};
use crate::comm::{self, BYTES, Comm, Ends};
use crate::states::{self, States};
use crate::{By, Column, Data, Scope, Seconds, Table};

/// Version of the format. It changes with the encoding and with the contents of the reports.
pub const VERSION: u64 = 3;

/// Names of the stored reports.
pub const REPORTS: [&str; 2] = ["states", "comm"];

/// General facts about a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // The names are self-explanatory.
pub struct Facts {
    /// End of the trace, in seconds.
    pub end: f64,
    /// Conversion of the trace's times to seconds.
    pub scale: TimeScale,
    pub bytes: u64,
    pub lines: u64,
    pub events: u64,
    /// Number of containers, without the root.
    pub containers: u64,
    /// Number of types, without the root's type.
    pub types: u64,
}

impl Facts {
    /// Returns the facts of a trace that was read to its end.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        Facts {
            end: trace.time_scale().seconds(trace.end()),
            scale: trace.time_scale(),
            bytes: trace.bytes(),
            lines: trace.lines(),
            events: trace.event_lines(),
            containers: trace.containers().len() as u64 - 1,
            types: trace.types().len() as u64 - 1,
        }
    }
}

/// A stored report.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Facts of the trace.
    pub facts: Facts,
    /// The report.
    pub table: Table,
}

/// Computes the reports to store while a trace is read.
#[derive(Clone, Debug)]
pub struct Keeper {
    pub(crate) states: States,
    pub(crate) comm: Comm,
}

impl Default for Keeper {
    fn default() -> Self {
        let [states, comm] = Keeper::scopes();
        Keeper { states: States::new(states, By::Value), comm: Comm::new(comm, None) }
    }
}

impl Keeper {
    pub(crate) fn scopes() -> [Scope; 2] {
        [TypeNature::State, TypeNature::Link].map(|nature| {
            let mut selection = Selection::default();
            selection.natures = [nature].into_iter().collect();
            Scope::new(&selection)
        })
    }

    /// Returns the replay options for a trace whose first lines are these. The replay keeps
    /// user-defined fields only if the lines define an event whose fields give the bytes of a link.
    #[must_use]
    pub fn options(text: &[u8]) -> Options {
        let mut decoder = LineDecoder::new(FieldNames::Strict);
        let mut header = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"%"));
        let is_sound = header.all(|line| decoder.line(line).is_ok());
        let mut options = Options::default();
        options.user_defined = !is_sound || gives_bytes(decoder.defs().defs().iter());
        options.selection.natures = [TypeNature::State, TypeNature::Link].into_iter().collect();
        options
    }

    /// Adds the next portion of a trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.states.see(trace, workers);
        self.comm.see(trace, workers);
    }

    /// Returns the reports in the order of [`REPORTS`]. Returns `None` if the trace has warnings, or
    /// if the replay did not keep the bytes of links.
    #[must_use]
    pub fn reports(&self, trace: &Trace, facts: Facts) -> Option<[Kept; REPORTS.len()]> {
        let lacks_bytes = !trace.has_user_defined() && gives_bytes(trace.defs().iter());
        if lacks_bytes || !trace.warnings().is_empty() {
            return None;
        }
        let states = states::table(&self.states.rows(trace));
        let comm = comm::table(&self.comm.rows(trace, &Ends::Containers));
        Some([states, comm].map(|table| Kept { facts, table }))
    }

    /// Returns the lanes with states, or `None` if there are too many lanes.
    #[must_use]
    pub fn lanes(&self, trace: &Trace) -> Option<Lanes> {
        Lanes::of(trace, self.states.lanes(trace))
    }
}

/// Returns whether any of these events has a field with the bytes of a link.
fn gives_bytes<'d>(defs: impl IntoIterator<Item = &'d Arc<EventDef>>) -> bool {
    let of_links =
        |def: &&Arc<EventDef>| matches!(def.kind(), EventKind::StartLink | EventKind::EndLink);
    let mut links = defs.into_iter().filter(of_links);
    links.any(|def| def.extras().any(|(field, _)| BYTES.contains(&field)))
}

/// Returns the columns of a report as an empty table, or `None` if the report is not stored.
fn columns(report: &str) -> Option<Table> {
    match report {
        "states" => Some(states::table(&[])),
        "comm" => Some(comm::table(&[])),
        _ => None,
    }
}

impl Kept {
    /// Encodes the report.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Facts { end, scale, bytes, lines, events, containers, types } = self.facts;
        let mut out = Bytes::default();
        out.float(end);
        out.0.push(scale.to_byte());
        let numbers = [bytes, lines, events, containers, types, self.table.len() as u64];
        numbers.into_iter().for_each(|number| out.number(number));
        out.0.push(self.table.columns.len() as u8);
        for Column { name, data } in &self.table.columns {
            out.text(0, name.as_bytes());
            out.data(data);
        }
        out.0
    }

    /// Decodes a report. Returns `None` if the bytes are invalid or have another version.
    #[must_use]
    pub fn parse(report: &str, bytes: &[u8]) -> Option<Kept> {
        let mut table = columns(report)?;
        let mut left = Left(bytes);
        let end = f64::from_bits(left.number()?);
        let scale = TimeScale::from_byte(left.take::<1>()?[0])?;
        let [bytes, lines, events, containers, types] = left.numbers()?;
        let rows = usize::try_from(left.number()?).ok()?;
        if usize::from(left.take::<1>()?[0]) != table.columns.len() {
            return None;
        }
        for Column { name, data } in &mut table.columns {
            let (_, found) = left.text()?;
            if found != name.as_bytes() {
                return None;
            }
            left.data(data, rows)?;
        }
        let facts = Facts { end, scale, bytes, lines, events, containers, types };
        left.0.is_empty().then_some(Kept { facts, table })
    }
}

impl Bytes {
    fn data(&mut self, data: &Data) {
        match data {
            Data::Text(all) => all.iter().for_each(|label| self.label(label.name())),
            Data::Count(all) => all.iter().for_each(|count| self.number(*count)),
            Data::Seconds(all) => {
                all.iter().for_each(|seconds| self.maybe(seconds.map(Seconds::to_le_bytes)));
            }
            Data::Time(all) | Data::Number(all) | Data::Amount(all) => {
                all.iter().for_each(|number| self.maybe(number.map(f64::to_le_bytes)));
            }
        }
    }
}

impl Left<'_> {
    fn numbers<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    fn maybe<const N: usize>(&mut self) -> Option<Option<[u8; N]>> {
        match self.take()? {
            [0] => Some(None),
            [1] => self.take().map(Some),
            _ => None,
        }
    }

    fn maybe_float(&mut self) -> Option<Option<f64>> {
        let bits = self.maybe()?;
        Some(bits.map(|bits| f64::from_bits(u64::from_le_bytes(bits))))
    }

    fn data(&mut self, data: &mut Data, rows: usize) -> Option<()> {
        if rows > self.0.len() {
            return None;
        }
        let rows = 0..rows;
        match data {
            Data::Text(all) => *all = rows.map(|_| self.label()).collect::<Option<_>>()?,
            Data::Count(all) => *all = rows.map(|_| self.number()).collect::<Option<_>>()?,
            Data::Seconds(all) => {
                let mut next = || self.maybe().map(|bytes| bytes.map(Seconds::from_le_bytes));
                *all = rows.map(|_| next()).collect::<Option<_>>()?;
            }
            Data::Time(all) | Data::Number(all) | Data::Amount(all) => {
                *all = rows.map(|_| self.maybe_float()).collect::<Option<_>>()?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use paje_sim::{Name, Quoting};

    use super::*;
    use crate::Label;

    fn kept() -> Kept {
        let quoted = Label::from(Name { text: b"rank 1", quoting: Quoting::Quoted });
        let mut table = comm::table(&[]);
        for Column { data, .. } in &mut table.columns {
            match data {
                Data::Text(all) => all.push(quoted.clone()),
                Data::Count(all) => all.push(7),
                Data::Seconds(all) => all.push(Some(Seconds::new(-0.1))),
                Data::Time(all) | Data::Number(all) | Data::Amount(all) => all.push(None),
            }
        }
        let scale = TimeScale::from_byte(1).expect("a writer");
        let facts = Facts {
            end: 0.1,
            scale,
            bytes: 1,
            lines: 2,
            events: 3,
            containers: 4,
            types: u64::MAX,
        };
        Kept { facts, table }
    }

    #[test]
    fn reports_survive_encoding_and_decoding() {
        let (kept, bytes) = (kept(), kept().to_bytes());
        assert_eq!(Kept::parse("comm", &bytes), Some(kept.clone()));
        let Some(Data::Text(names)) = kept.table.column("from") else { panic!("a column") };
        assert_eq!(names[0].name().quoting, Quoting::Quoted);
        for other in ["states", "time", ""] {
            assert_eq!(Kept::parse(other, &bytes), None);
        }
    }

    #[test]
    fn invalid_reports_are_refused() {
        let bytes = kept().to_bytes();
        for len in 0..bytes.len() {
            assert_eq!(Kept::parse("comm", &bytes[..len]), None, "{len}");
        }
        assert_eq!(Kept::parse("comm", &[&bytes[..], &[0]].concat()), None);
        // Any of these bytes may be part of a huge number of rows or length of a name.
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] = 255;
            let _ = Kept::parse("comm", &damaged);
        }
    }
}
