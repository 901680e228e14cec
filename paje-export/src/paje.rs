//! Writes a replayed trace as a normalised Pajé trace, sorted by time.
//!
//! Each kind of event has one definition for each set of user-defined fields. Aliases are short,
//! all values are defined with their colours, and states are pushed and popped. Lines are sorted by
//! time, but no line comes before the creation of its container, or after its destruction.
//!
//! Workers encode lanes in parallel, then lines are merged span by span. If not all lines fit in
//! memory, each pass over the rows encodes only the lines of one span of time.

mod aliases;
mod containers;
mod definitions;
mod lines;
mod numbers;
mod order;
mod places;
mod times;

use std::io::{self, Write};

use paje_parser::token;
use paje_sim::{
    ContainerId, ErrorKind, LaneView, Name, NameOrder, Precision, Problem, Quoting, Selected,
    Trace, TypeId, TypeNature, ValueId,
};
use paje_workers::Workers;

use aliases::Aliases;
use containers::Source;
use definitions::{Definitions, Line};
use lines::{LineEncoder, put_words};
use order::{EncodedLines, Span, bounds, merged};
use places::{Place, places};
pub use times::{AsRecorded, Times};

/// Maximum number of lines in memory. A line takes about 70 bytes.
const AT_ONCE: u64 = 4 << 20;

const MERGED: u64 = 1 << 15;

const ROWS: u64 = 1 << 15;

/// Options of the written trace.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Order of names among lines of the same time.
    pub order: NameOrder,
    /// Precision in which variables were [read](paje_sim::Options::variable_precision). Reading the
    /// written trace in the same precision gives the same values.
    pub precision: Precision,
}

/// Writes the selected rows of a trace with the times that `times` returns. The number of workers
/// does not affect the output.
///
/// # Errors
/// The output fails.
pub fn write(
    trace: &Trace,
    selected: &Selected,
    form: Form,
    times: &(impl Times + Sync),
    workers: &Workers,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    workers.run(|| write_some(trace, selected, form, times, workers, AT_ONCE, out))
}

/// Implements [`write`] with at most `at_once` lines in memory.
fn write_some(
    trace: &Trace,
    selected: &Selected,
    form: Form,
    times: &(impl Times + Sync),
    workers: &Workers,
    at_once: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut definitions = Definitions::default();
    let mut head = Vec::new();
    let aliases = Aliases::new(trace, times.keeps_aliases());
    put_types(trace, &aliases, &places(trace, form.order), &mut definitions, &mut head);
    let lanes: Vec<LaneView<'_>> =
        trace.walk(form.order).filter_map(|step| wanted_lane(trace, selected, step)).collect();
    let needed = times.needed(trace, selected, &lanes);
    let window = selected.window();
    let is_single = form.precision == Precision::Single;
    let mut problems = trace.recovered().problems.iter().map(|problem| problem.error.kind());
    let is_reuse = |kind: &ErrorKind| matches!(kind, ErrorKind::Invalid(Problem::KeyReused { .. }));
    let reuses_keys = problems.any(is_reuse);
    let lifetimes = Vec::new();
    let mut source =
        Source { trace, aliases: &aliases, window, times, is_single, reuses_keys, lifetimes };
    let containers = source.containers(&needed);
    let (source, groups) = (&source, &groups(&lanes));
    let make = |span: Span, is_sampled: bool| {
        workers.map(groups.len(), |at| {
            let empty = if is_sampled { EncodedLines::sampled() } else { EncodedLines::default() };
            LineEncoder::new(source, span, empty).of(groups[at])
        })
    };
    // Definitions are numbered in the order of their first use: containers, then lane by lane.
    let number = |definitions: &mut Definitions, all: &[EncodedLines]| -> Vec<Vec<Vec<u8>>> {
        all.iter().map(|written| written.used.numbers(definitions)).collect()
    };
    // This is an estimate, since variables with many digits take more than two lines.
    let lines = 2 * lanes.iter().map(|lane| lane.len()).sum::<u64>();
    let (spans, mut all) = if lines > at_once {
        let sampled = make(Span::default(), true);
        let spans = Span::between(&bounds(&sampled, at_once));
        (spans, sampled)
    } else {
        (vec![Span::default()], make(Span::default(), false))
    };
    let is_sampled = lines > at_once;
    all.push(containers);
    all.rotate_right(1);
    number(&mut definitions, &all);
    let (line, rest) = match times.end_type() {
        Some(name) => (Line::PlainEnd, format!("{name} 0")),
        None => (Line::End, "0 0 \"\"".to_owned()),
    };
    let end = definitions.id(line, None);
    out.write_all(&first_lines(trace, &definitions))?;
    out.write_all(&head)?;
    for span in spans {
        if is_sampled {
            all.truncate(1);
            all.extend(make(span, false));
        }
        let numbers = number(&mut definitions, &all);
        let parts = span.cut(&bounds(&all, MERGED));
        // These are enough parts to keep all workers busy, and few enough to bound memory.
        for parts in parts.chunks(4 * workers.threads()) {
            let texts = workers.map(parts.len(), |at| merged(&all, &numbers, &parts[at]));
            texts.iter().try_for_each(|text| out.write_all(text))?;
        }
    }
    // The latest line determines the end of the trace. An empty file name leaves the file
    // unchanged.
    writeln!(out, "{end} {:?} {rest}", times.end(trace))
}

fn groups<'l, 't>(mut lanes: &'l [LaneView<'t>]) -> Vec<&'l [LaneView<'t>]> {
    let mut groups = Vec::new();
    while !lanes.is_empty() {
        let mut rows = 0;
        let enough = lanes.iter().position(|lane| {
            rows += lane.len();
            rows >= ROWS
        });
        let (group, rest) = lanes.split_at(enough.map_or(lanes.len(), |last| last + 1));
        groups.push(group);
        lanes = rest;
    }
    groups
}

fn first_lines(trace: &Trace, definitions: &Definitions) -> Vec<u8> {
    let mut first = Vec::new();
    for line in trace.comments().split_inclusive(|byte| *byte == b'\n') {
        first.extend_from_slice(b"# ");
        first.extend_from_slice(line);
    }
    if first.last().is_some_and(|byte| *byte != b'\n') {
        first.push(b'\n');
    }
    definitions.write(trace, &mut first);
    first
}

/// Returns the lane of a step, if it is selected and has rows.
pub fn wanted_lane<'t>(
    trace: &'t Trace,
    selected: &Selected,
    step: paje_sim::Step,
) -> Option<LaneView<'t>> {
    let paje_sim::Step::Type(container, type_) = step else { return None };
    if !selected.wants_step(step) {
        return None;
    }
    trace.lane(container, type_).filter(|lane| !lane.is_empty())
}

/// For each container, returns whether selected rows, ends of links or descendants need it.
pub fn needed_containers<'t>(
    trace: &'t Trace,
    selected: &Selected,
    lanes: impl Iterator<Item = LaneView<'t>>,
) -> Vec<bool> {
    let containers = trace.containers();
    let mut needed = vec![selected.is_everything(); containers.len()];
    needed[0] = true;
    if selected.is_everything() {
        return needed;
    }
    let mut mark = |mut id: ContainerId| {
        while !std::mem::replace(&mut needed[id.index()], true) {
            id = containers.parent(id);
        }
    };
    containers.ids().filter(|id| selected.wants_container(*id)).for_each(&mut mark);
    for lane in lanes {
        mark(lane.container());
        for link in lane.links() {
            mark(link.from);
            mark(link.to);
        }
    }
    needed
}

fn put_types(
    trace: &Trace,
    aliases: &Aliases,
    places: &[Place],
    definitions: &mut Definitions,
    out: &mut Vec<u8>,
) {
    let types = trace.types();
    let above = |type_: usize| {
        let Place { parent, ends: [from, to] } = places[type_];
        [parent, from, to].map(TypeId::index)
    };
    for id in parents_first(types.len(), above).into_iter().skip(1) {
        let id = TypeId(id as u32);
        let event = match types.nature(id) {
            TypeNature::Container => Line::DefineContainer,
            TypeNature::State => Line::DefineState,
            TypeNature::Variable => Line::DefineVariable,
            TypeNature::Event => Line::DefineEvent,
            TypeNature::Link => Line::DefineLink,
        };
        paje_decimal::write_u64(out, definitions.id(event, None) as u64);
        let Place { parent, ends } = places[id.index()];
        let ends = if event == Line::DefineLink { &ends[..] } else { &[] };
        for type_ in [id, parent].iter().chain(ends) {
            put_words(&[aliases.type_(*type_)], out);
        }
        put_name(types.name(id), out);
        out.push(b'\n');
    }
    let has_values = |type_: &TypeId| {
        !matches!(types.nature(*type_), TypeNature::Container | TypeNature::Variable)
    };
    for type_ in types.ids().filter(has_values) {
        for value in 0..types.value_count(type_) as u32 {
            put_value(trace, aliases, definitions, type_, ValueId(value), out);
        }
    }
}

/// Returns the indices below `count`, each after its parents, which `parents` returns. The root has
/// index 0.
fn parents_first<const N: usize>(
    count: usize,
    parents: impl Fn(usize) -> [usize; N],
) -> Vec<usize> {
    let (mut is_listed, mut list) = (vec![false; count], Vec::with_capacity(count));
    let mut waiting: Vec<usize> = (0..count).rev().collect();
    while let Some(here) = waiting.pop() {
        let missing = parents(here).into_iter().find(|above| *above != 0 && !is_listed[*above]);
        if let Some(above) = missing.filter(|_| here != 0 && !is_listed[here]) {
            waiting.extend([here, above]);
        } else if !std::mem::replace(&mut is_listed[here], true) {
            list.push(here);
        }
    }
    list
}

fn put_value(
    trace: &Trace,
    aliases: &Aliases,
    definitions: &mut Definitions,
    type_: TypeId,
    value: ValueId,
    out: &mut Vec<u8>,
) {
    let types = trace.types();
    let color = types.value_color(type_, value);
    let event = if color.is_some() { Line::ColoredValue } else { Line::Value };
    paje_decimal::write_u64(out, definitions.id(event, None) as u64);
    aliases.put_value(trace, type_, value, out);
    put_words(&[aliases.type_(type_)], out);
    put_name(types.value_name(type_, value), out);
    if let Some(paje_parser::color::Color([red, green, blue, opacity])) = color {
        let text = match opacity {
            1.0 => format!(" \"{red} {green} {blue}\""),
            _ => format!(" \"{red} {green} {blue} {opacity}\""),
        };
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'\n');
}

/// Appends a name as it was written, with a closing quote. Names that recovery made up get quotes
/// if they need them.
fn put_name(name: Name<'_>, out: &mut Vec<u8>) {
    out.push(b' ');
    let quoting = match name.quoting {
        Quoting::Bare if is_word(name.text) => Quoting::Bare,
        _ => Quoting::Quoted,
    };
    Name { quoting, ..name }.write_raw(out);
}

fn is_word(text: &[u8]) -> bool {
    !text.is_empty() && !text.iter().any(|byte| token::is_white(*byte) || *byte == b'#')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use paje_sim::{Options, Selection};
    use testkit::team;

    use super::*;

    fn written(trace: &Trace, threads: usize, at_once: u64) -> Vec<u8> {
        let workers = team(threads);
        let selected = trace.select(&Selection::default());
        let mut out = Vec::new();
        let form = Form { order: NameOrder::Bare, precision: Precision::Single };
        let run = || write_some(trace, &selected, form, &AsRecorded, &workers, at_once, &mut out);
        workers.run(run).expect("memory");
        out
    }

    #[test]
    fn sums_beyond_single_precision_are_exact() {
        let head = testkit::definitions([
            ("0", "DefineContainerType", "Alias Type Name"),
            ("1", "DefineVariableType", "Alias Type Name"),
            ("2", "CreateContainer", "Time:date Alias Type Container Name"),
            ("3", "SetVariable", "Time:date Type Container Value:double"),
            ("4", "AddVariable", "Time:date Type Container Value:double"),
        ]);
        let mut text = head + "0 C 0 Node\n1 V C Used\n2 0 c C 0 node\n3 0 V c 16777216\n";
        for (time, change) in [1.0, 1.0, 0.1, 1e9, -3.0, 1e-9].iter().enumerate() {
            text += &format!("4 {} V c {change}\n", time + 1);
        }
        let mut options = Options::default();
        options.variable_precision = Precision::Single;
        let read = |text: &[u8]| Trace::read(text, &options).expect("a trace");
        let rows = |trace: &Trace| -> Vec<(f64, f64)> {
            trace.variables().map(|row| (row.start, row.value)).collect()
        };
        let trace = read(text.as_bytes());
        assert_eq!(rows(&trace)[1], (1.0, 16_777_217.0));
        assert_eq!(rows(&trace), rows(&read(&written(&trace, 1, u64::MAX))));
        assert_eq!(rows(&trace), rows(&read(&written(&trace, 2, 0))));
    }

    #[test]
    fn threads_and_spans_do_not_affect_the_output() {
        for entry in fs::read_dir("../datasets/examples").expect("a folder") {
            let path = entry.expect("readable").path();
            if path.extension().is_none_or(|it| it != "trace") {
                continue;
            }
            let text = fs::read(&path).expect("readable");
            let mut options = Options::default();
            (options.user_defined, options.variable_precision) = (true, Precision::Single);
            let Ok(trace) = Trace::read(&text[..], &options) else { continue };
            let once = written(&trace, 1, u64::MAX);
            for (threads, at_once) in [(2, u64::MAX), (1, 0), (2, 600), (3, 3000)] {
                let again = written(&trace, threads, at_once);
                assert!(once == again, "{} {threads} {at_once}", path.display());
            }
        }
    }
}
