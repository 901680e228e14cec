//! Formats differences as `diff` does: first the part that both traces have, then the differing
//! parts of each.

use std::io::{self, Write};

use paje_sim::{ContainerId, Trace, TypeId, TypeNature};

use crate::difference::{Difference, Differences, LaneRow};
use crate::rules::{Rules, What};

const MARKS: [&str; 2] = ["  < ", "  > "];
const BOTH: &str = "    ";
/// Mark of differences that the rules accept.
const NEAR: &str = "  ~ ";

impl Differences {
    /// Writes the first differences and the number of all differences. Writes nothing if there are
    /// none.
    pub fn write(
        &self,
        traces: [&Trace; 2],
        rules: &Rules,
        names: [&str; 2],
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.is_none() {
            return Ok(());
        }
        let names = names.map(|name| text(name.as_bytes()));
        writeln!(out, "< {}\n> {}", names[0], names[1])?;
        for difference in &self.first {
            DiffWriter { traces, rules, names: &names, out }.write(difference)?;
        }
        writeln!(out, "in all: {}", self.sum())
    }

    fn sum(&self) -> String {
        let count = |count: u64, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            more => Some(format!("{more} {what}s")),
        };
        let lanes = count(self.lanes, "lane").unwrap_or_default();
        let rows = count(self.rows, "row").map(|rows| format!("{rows} in {lanes}"));
        let all = [count(self.types, "type"), count(self.containers, "container"), rows];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

struct DiffWriter<'t, 'o, W> {
    traces: [&'t Trace; 2],
    rules: &'t Rules,
    names: &'t [String; 2],
    out: &'o mut W,
}

impl<W: Write> DiffWriter<'_, '_, W> {
    fn write(&mut self, difference: &Difference) -> io::Result<()> {
        match difference {
            Difference::Type { side, id } => {
                let types = self.traces[*side].types();
                let (nature, path) = (types.nature(*id).name(), self.type_path(*side, *id));
                writeln!(self.out, "{nature} type {path}: only in {}", self.names[*side])
            }
            Difference::LinkEnds(ids) => {
                writeln!(self.out, "Link type {}", self.type_path(0, ids[0]))?;
                let ends = [0, 1].map(|side| {
                    let (from, to) = self.traces[side].types().link_ends(ids[side])?;
                    Some([self.type_path(side, from), self.type_path(side, to)])
                });
                let [a, b] = ends.map(Option::unwrap_or_default);
                self.texts("From", [Some(&a[0]), Some(&b[0])])?;
                self.texts("To", [Some(&a[1]), Some(&b[1])])
            }
            Difference::Container { side, id } => {
                let containers = self.traces[*side].containers();
                let type_ = self.type_path(*side, containers.type_of(*id));
                let path = self.path(*side, *id);
                let name = &self.names[*side];
                writeln!(self.out, "Container {path} of type {type_}: only in {name}")
            }
            Difference::Times(ids) => {
                writeln!(self.out, "Container {}", self.path(0, ids[0]))?;
                let [a, b] = self.traces.map(Trace::containers);
                self.times("Start", [Some(a.start(ids[0])), Some(b.start(ids[1]))])?;
                self.times("End", [Some(a.end(ids[0])), Some(b.end(ids[1]))])
            }
            Difference::Row { containers, types, rows } => self.row(*containers, *types, rows),
        }
    }

    fn row(
        &mut self,
        containers: [ContainerId; 2],
        types: [TypeId; 2],
        rows: &[Option<LaneRow>; 2],
    ) -> io::Result<()> {
        let all = self.traces[0].types();
        let nature = all.nature(types[0]);
        let place = rows.iter().flatten().map(|row| row.row.place + 1);
        let places: Vec<String> = place.map(|place| place.to_string()).collect();
        // In windows, matching rows may have different numbers.
        let place = match places.as_slice() {
            [one, other] if one != other => format!("{one} and {other}"),
            all => all.first().cloned().unwrap_or_default(),
        };
        let (path, type_) = (self.path(0, containers[0]), text(all.name(types[0]).text));
        let only = match rows {
            [Some(_), None] => format!(": only in {}", self.names[0]),
            [None, Some(_)] => format!(": only in {}", self.names[1]),
            _ => String::new(),
        };
        writeln!(self.out, "{} {type_} of {path}, row {place}{only}", nature.name())?;
        let each = |get: &dyn Fn(usize, &LaneRow) -> String| {
            [0, 1].map(|side| rows[side].as_ref().map(|row| get(side, row)))
        };
        let number = |get: fn(&LaneRow) -> f64| [0, 1].map(|side| rows[side].as_ref().map(get));
        let value = |side: usize, row: &LaneRow| {
            text(self.traces[side].types().value_name(types[side], row.row.value).text)
        };
        let starts = number(|row| row.row.start);
        let ends = number(|row| row.row.end);
        match nature {
            TypeNature::Container => Ok(()),
            TypeNature::Event => {
                let values = each(&value);
                self.times("Time", starts)?;
                self.pair("Value", &values)
            }
            TypeNature::Variable => {
                self.times("Start", starts)?;
                self.times("End", ends)?;
                let numbers = number(|row| row.row.number);
                let rules = self.rules;
                self.numbers("Value", numbers, |a, b| rules.numbers(a, b))
            }
            TypeNature::State => {
                let values = each(&value);
                self.times("Start", starts)?;
                self.times("End", ends)?;
                self.pair("Imbrication", &each(&|_, row| row.row.imbrication.to_string()))?;
                self.pair("Value", &values)
            }
            TypeNature::Link => {
                let values = each(&value);
                let from = each(&|side, row| self.path(side, row.row.from));
                let to = each(&|side, row| self.path(side, row.row.to));
                self.times("Start", starts)?;
                self.times("End", ends)?;
                self.pair("Value", &values)?;
                self.pair("From", &from)?;
                self.pair("To", &to)?;
                match each(&|_, row| text(&row.key)) {
                    [Some(a), Some(b)] if a != b && !self.rules.keys() => {
                        writeln!(self.out, "{NEAR}{:<12}{a}, {b}", "Key")
                    }
                    keys => self.pair("Key", &keys),
                }
            }
        }
    }

    fn pair(&mut self, field: &str, texts: &[Option<String>; 2]) -> io::Result<()> {
        self.texts(field, [texts[0].as_deref(), texts[1].as_deref()])
    }

    fn texts(&mut self, field: &str, texts: [Option<&str>; 2]) -> io::Result<()> {
        if let [Some(a), Some(b)] = texts
            && a == b
        {
            return writeln!(self.out, "{BOTH}{field:<12}{a}");
        }
        for (mark, text) in MARKS.into_iter().zip(texts) {
            if let Some(text) = text {
                writeln!(self.out, "{mark}{field:<12}{text}")?;
            }
        }
        Ok(())
    }

    fn times(&mut self, field: &str, times: [Option<f64>; 2]) -> io::Result<()> {
        let rules = self.rules;
        self.numbers(field, times, |a, b| rules.times(a, b))
    }

    fn numbers(
        &mut self,
        field: &str,
        numbers: [Option<f64>; 2],
        near: impl Fn(f64, f64) -> bool,
    ) -> io::Result<()> {
        let texts = numbers.map(|number| number.map(decimal));
        if let ([Some(a), Some(b)], [Some(first), Some(second)]) = (numbers, &texts)
            && first != second
            && (self.rules.what != What::Everything || near(a, b))
        {
            return writeln!(self.out, "{NEAR}{field:<12}{first}, {second}");
        }
        self.pair(field, &texts)
    }

    fn path(&self, side: usize, id: ContainerId) -> String {
        let containers = self.traces[side].containers();
        path(id, ContainerId::ROOT, |id| containers.parent(id), |id| containers.name(id).text)
    }

    fn type_path(&self, side: usize, id: TypeId) -> String {
        let types = self.traces[side].types();
        path(id, TypeId::ROOT, |id| types.parent(id), |id| types.name(id).text)
    }
}

fn path<'t, I: Copy + PartialEq>(
    mut id: I,
    root: I,
    parent: impl Fn(I) -> I,
    name: impl Fn(I) -> &'t [u8],
) -> String {
    let mut names = vec![text(name(id))];
    while parent(id) != root && id != root {
        id = parent(id);
        names.push(text(name(id)));
    }
    names.reverse();
    names.join("/")
}

fn decimal(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-5..1e16 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// Escapes a name, so that it shows all bytes and is harmless on a terminal.
fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_briefly() {
        let all = [0.0, -0.0, 1.0, 0.1 + 0.2, 1e-5, 1e-7, 1e15, 1e16, 1e308, f64::INFINITY];
        let wanted = [
            "0",
            "-0",
            "1",
            "0.30000000000000004",
            "0.00001",
            "1e-7",
            "1000000000000000",
            "1e16",
            "1e308",
            "inf",
        ];
        assert_eq!(all.map(decimal), wanted);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(text(b"a \x1b[31m\xff\xc3\xa9"), "a \\u{1b}[31m\\xffé");
        assert_eq!(text(&[b'x'; 100]).len(), 100);
    }
}
