//! Tests that iterators over rows give the same rows as visitors.

use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::ControlFlow;

use datasets::Shape;
use paje_sim::options::MemoryLimit;
use paje_sim::{
    ContainerId, Error, Events, Lane, LineNumber, Links, NameOrder, Options, Progress, Row, Source,
    States, Trace, TypeNature, Variables, Visitor,
};
use paje_workers::Workers;

/// Rows as texts, with all bits of their numbers, and with their fields and lines.
#[derive(Default, PartialEq, Debug)]
struct Listing(Vec<String>);

impl Listing {
    fn push<'f>(
        &mut self,
        row: impl Debug,
        fields: impl Iterator<Item = (&'f str, &'f [u8])>,
        line: Option<LineNumber>,
    ) {
        self.0.push(format!("{row:?} {:?} {line:?}", fields.collect::<Vec<_>>()));
    }

    fn of<'t>(rows: impl Iterator<Item = Row<'t>>) -> Self {
        let mut listing = Listing::default();
        for row in rows {
            let lane = row.lane().map(Lane::id);
            let bits = (lane, row.start().to_bits(), row.end().to_bits());
            match row {
                Row::Container(it) => listing.push(it.id(), it.fields(), it.line()),
                Row::State(it) => {
                    assert_eq!(it.value_name(), it.lane.value_name(it.value));
                    listing.push((bits, it.value, it.imbrication), it.fields(), it.line());
                }
                Row::Variable(it) => {
                    listing.push((bits, it.value.to_bits()), it.fields(), it.line());
                }
                Row::Event(it) => {
                    assert_eq!(it.value_name(), it.lane.value_name(it.value));
                    listing.push((bits, it.value), it.fields(), it.line());
                }
                Row::Link(it) => {
                    assert_eq!(it.value_name(), it.lane.value_name(it.value));
                    let mut key = Vec::new();
                    it.key().write_raw(&mut key);
                    listing.push((bits, it.value, it.from, it.to, key), it.fields(), it.line());
                }
            }
        }
        listing
    }
}

impl Visitor for Listing {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        if id != ContainerId::ROOT {
            self.push(id, trace.container_fields(id), trace.container_line(id));
        }
        Ok(())
    }

    fn states(&mut self, lane: Lane<'_>, all: States<'_>) -> Result<(), Infallible> {
        let notes = all.user_defined;
        for (i, value) in all.value.iter().enumerate() {
            let bits = (Some(lane.id()), all.start[i].to_bits(), all.end[i].to_bits());
            self.push((bits, value, all.imbrication[i]), notes.of(i), notes.line(i));
        }
        Ok(())
    }

    fn variables(&mut self, lane: Lane<'_>, all: Variables<'_>) -> Result<(), Infallible> {
        let notes = all.user_defined;
        for (i, value) in all.value.iter().enumerate() {
            let bits = (Some(lane.id()), all.start[i].to_bits(), all.end(i).to_bits());
            self.push((bits, value.to_bits()), notes.of(i), notes.line(i));
        }
        Ok(())
    }

    fn events(&mut self, lane: Lane<'_>, all: Events<'_>) -> Result<(), Infallible> {
        let notes = all.user_defined;
        for (i, value) in all.value.iter().enumerate() {
            let bits = (Some(lane.id()), all.time[i].to_bits(), all.time[i].to_bits());
            self.push((bits, value), notes.of(i), notes.line(i));
        }
        Ok(())
    }

    fn links(&mut self, lane: Lane<'_>, all: Links<'_>) -> Result<(), Infallible> {
        let notes = all.user_defined;
        for (i, value) in all.value.iter().enumerate() {
            let bits = (Some(lane.id()), all.start[i].to_bits(), all.end[i].to_bits());
            let row = (bits, value, all.from[i], all.to[i], all.raw_key(i).to_vec());
            self.push(row, notes.of(i), notes.line(i));
        }
        Ok(())
    }
}

/// Compares all rows of a trace. Returns their number by nature.
fn check(trace: &Trace) -> [u64; 4] {
    let mut visited = Listing::default();
    let Ok(()) = trace.visit(NameOrder::Bare, &mut visited);
    assert_eq!(Listing::of(trace.rows()), visited);
    for lane in trace.lanes() {
        let all =
            [lane.states().len(), lane.variables().len(), lane.events().len(), lane.links().len()];
        let mut left = lane.len() as usize;
        assert_eq!(all.iter().sum::<usize>(), left);
        let mut rows = lane.states();
        while rows.next().is_some() {
            left -= 1;
            assert_eq!(rows.len(), left);
        }
        assert!(rows.next().is_none());
    }
    let in_lanes: Vec<_> = trace.lanes().map(Lane::id).collect();
    let natures = [
        trace.states().count() as u64,
        trace.variables().count() as u64,
        trace.events().count() as u64,
        trace.links().count() as u64,
    ];
    let counts = trace.counts();
    assert_eq!(natures, [counts.states, counts.variables, counts.events, counts.links]);

    // Every lane belongs to its container, and to each ancestor of the container.
    let mut of_containers = Vec::new();
    for id in trace.containers().ids() {
        let own: Vec<_> = trace.lanes_of(id).map(Lane::id).collect();
        assert!(own.is_sorted() && trace.lanes_of(id).all(|lane| lane.container() == id));
        of_containers.extend(own);
    }
    of_containers.sort();
    assert_eq!(of_containers, in_lanes);
    let mut within: Vec<_> = trace.lanes_within(ContainerId::ROOT).map(Lane::id).collect();
    within.sort();
    assert_eq!(within, in_lanes);
    natures
}

fn read(text: &[u8], options: &Options, workers: &Workers) -> Result<Trace, Error> {
    Trace::read_with(Source::stream(text), options, workers, &Progress::default())
}

fn traces() -> impl Iterator<Item = Vec<u8>> {
    let shapes = Shape::ALL.iter().map(|shape| datasets::generate(*shape, 60_000, 7));
    shapes.chain((0..120).map(|seed| datasets::random::trace(seed).bytes))
}

#[test]
fn rows_equal_those_of_a_visitor() {
    let three = testkit::team(3);
    let teams = [Workers::one(), three];
    let (mut all, mut with_fields) = ([0; 4], 0);
    for (i, text) in traces().enumerate() {
        let mut options = Options::default();
        (options.user_defined, options.no_imbrication) = (i / 4 % 2 == 0, i % 5 == 0);
        options.keep_lines = i % 3 == 0;
        // Without recovery, invalid traces would have no rows.
        options.recover = true;
        options.limits.block = 5000;
        let workers = &teams[i / 2 % 2];
        let trace = read(&text, &options, workers).unwrap();
        let found = check(&trace);
        assert!(trace.links().all(|link| link.line().is_some() == options.keep_lines));
        with_fields += trace.links().filter(|link| link.fields().next().is_some()).count();
        all.iter_mut().zip(found).for_each(|(all, found)| *all += found);
        if i % 4 != 0 {
            continue;
        }
        // Reads the trace again with everything in a temporary file.
        options.memory = Some(MemoryLimit { bytes: 1, folder: std::env::temp_dir() });
        let outside = read(&text, &options, workers).unwrap();
        assert_eq!(check(&outside), found);
        if cfg!(target_os = "linux") && found.iter().any(|count| *count > 0) {
            assert!(outside.spilled() > 0);
        }
    }
    assert!(all.iter().all(|count| *count > 900) && with_fields > 300, "{all:?} {with_fields}");
}

/// The last value of a variable in a portion ends where the first value of the next portion begins.
#[test]
fn rows_of_portions_equal_those_of_a_visitor() {
    for text in traces() {
        let (options, mut portions) = (Options::default(), 0);
        let mut show = |portion: &paje_sim::Portion<'_>| {
            check(portion.trace());
            portions += 1;
            ControlFlow::Continue(())
        };
        let (source, progress) = (Source::stream(&text[..]), Progress::default());
        let workers = Workers::one();
        // The portions of an invalid trace before its problem are also shown.
        let _ = Trace::read_in_portions(source, &options, &workers, &progress, 2000, &mut show);
        assert!(portions > 0 || text.len() < 20_000);
    }
}

/// The numbers of 70,000 values need four bytes each.
#[test]
fn rows_of_many_values() {
    let mut text = b"\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineEventType 3\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 4\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 5\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeNewEvent 6\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 Host 0\n2 S Host\n3 E Host\n4 0 h Host 0
"
    .to_vec();
    for i in 0..70_000 {
        text.extend_from_slice(format!("5 {i} S h s{i}\n6 {i} E h e{i}\n").as_bytes());
    }
    let trace = read(&text, &Options::default(), &Workers::one()).unwrap();
    assert_eq!(check(&trace), [70_000, 0, 70_000, 0]);
    for (i, state) in trace.states().enumerate() {
        assert_eq!(state.value_name().to_string(), format!("s{i}"));
    }
}

#[test]
fn parents_come_before_their_children() {
    let text = datasets::generate(Shape::Deep, 60_000, 7);
    let trace = read(&text, &Options::default(), &Workers::one()).unwrap();
    let all = trace.containers();
    let mut found: Vec<_> = all.within(ContainerId::ROOT).collect();
    for (i, id) in found.iter().enumerate().skip(1) {
        assert!(found[..i].contains(&all.parent(*id)));
    }
    for id in all.ids() {
        let is_inside = |other: &ContainerId| {
            let mut at = *other;
            while at != id && at != ContainerId::ROOT {
                at = all.parent(at);
            }
            at == id
        };
        assert_eq!(all.within(id).count(), all.ids().filter(is_inside).count());
    }
    found.sort();
    assert!(found.len() > 3 && found.into_iter().eq(all.ids()));
}

/// A visitor without methods ignores everything.
#[test]
fn visitors_need_no_methods() {
    struct Blind;
    impl Visitor for Blind {
        type Error = Infallible;
    }
    let text = datasets::generate(Shape::Mpi, 30_000, 7);
    let trace = read(&text, &Options::default(), &Workers::one()).unwrap();
    assert_eq!(trace.visit(NameOrder::Bare, &mut Blind), Ok(()));
}

/// Collects the starts of states and of links, with their lines.
#[derive(Default)]
struct Lines {
    states: Vec<(f64, Option<u64>)>,
    links: Vec<(f64, Option<u64>)>,
}

impl Visitor for Lines {
    type Error = Infallible;

    fn states(&mut self, _: Lane<'_>, all: States<'_>) -> Result<(), Infallible> {
        let line = |i| all.user_defined.line(i).map(|place| place.line);
        self.states.extend(all.start.iter().enumerate().map(|(i, start)| (*start, line(i))));
        Ok(())
    }

    fn links(&mut self, _: Lane<'_>, all: Links<'_>) -> Result<(), Infallible> {
        let line = |i| all.user_defined.line(i).map(|place| place.line);
        self.links.extend(all.start.iter().enumerate().map(|(i, start)| (*start, line(i))));
        Ok(())
    }
}

#[test]
fn only_lines_of_selected_natures_are_kept() {
    let text = datasets::generate(Shape::Mpi, 60_000, 5);
    let time = |line: u64| -> f64 {
        let line = text.split(|byte| *byte == b'\n').nth(line as usize - 1).expect("a line");
        let word = line.split(|byte| *byte == b' ').nth(1).expect("a time");
        std::str::from_utf8(word).expect("ASCII").parse().expect("a number")
    };
    let three = testkit::team(3);
    let lines = |lines_of: &[TypeNature], workers: &Workers| {
        let mut options = Options::default();
        (options.keep_lines, options.limits.block) = (true, 700);
        if !lines_of.is_empty() {
            options.lines_of = lines_of.iter().copied().collect();
        }
        let trace = read(&text, &options, workers).unwrap();
        let mut lines = Lines::default();
        let Ok(()) = trace.visit(NameOrder::Bare, &mut lines);
        lines
    };
    let all = lines(&[], &Workers::one());
    assert!(all.states.len() > 100 && all.links.len() > 20);
    for (start, line) in all.states.iter().chain(&all.links) {
        assert_eq!(line.map(time), Some(*start));
    }
    for workers in [&Workers::one(), &three] {
        let of_links = lines(&[TypeNature::Link], workers);
        assert_eq!(of_links.links, all.links);
        assert!(of_links.states.iter().all(|(_, line)| line.is_none()));
        let of_states = lines(&[TypeNature::State], workers);
        assert_eq!(of_states.states, all.states);
        assert!(of_states.links.iter().all(|(_, line)| line.is_none()));
    }
}
