//! Writes a trace as an OTF2 archive, which `docs/otf2.md` describes.
//!
//! Each container is a node of the system tree. A container with rows also has a process of the same
//! name, with one location for each stack of states. The first location has all other rows, too.

mod events;
mod messages;
mod names;
mod ticks;

use std::io;
use std::path::Path;

use paje_export::paje::{needed_containers, wanted_lane};
use paje_otf2::writer::{END, LINKS, LocationKind, START, Writer};
use paje_sim::{ContainerId, LaneView, NameOrder, Selected, Trace, TypeNature};
use paje_workers::Workers;

use crate::clock::Losses;
use events::{Clock, Order, Record, Records, Region, Stack, What};
use messages::Messages;
use names::Names;
use ticks::{Needs, Ticks};

/// Parts of a trace that an archive lacks, with their number.
pub(crate) type Lacks = Vec<(u64, &'static str)>;

/// A container with rows: a process, and its locations.
#[derive(Debug)]
struct Place<'t> {
    container: ContainerId,
    stacks: Vec<LaneView<'t>>,
    others: Vec<LaneView<'t>>,
    has_messages: bool,
    /// Identifier of its first location, and its rank.
    first: u64,
    rank: u32,
}

/// Containers with rows, and their number for each container.
#[derive(Debug)]
struct Places<'t>(Vec<Place<'t>>, Vec<Option<u32>>);

impl<'t> Places<'t> {
    fn number(&mut self, container: ContainerId) -> u32 {
        *self.1[container.index()].get_or_insert_with(|| {
            let (stacks, others) = (Vec::new(), Vec::new());
            let place = Place { container, stacks, others, has_messages: false, first: 0, rank: 0 };
            self.0.push(place);
            self.0.len() as u32 - 1
        })
    }

    fn add(&mut self, lane: LaneView<'t>) {
        let number = self.number(lane.container());
        let place = &mut self.0[number as usize];
        match lane.nature() {
            TypeNature::State => place.stacks.push(lane),
            _ => place.others.push(lane),
        }
    }

    fn message(&mut self, container: ContainerId) -> u32 {
        let number = self.number(container);
        self.0[number as usize].has_messages = true;
        number
    }

    /// Numbers locations and ranks.
    fn finish(mut self) -> Vec<Place<'t>> {
        let (mut first, mut rank) = (0, 0);
        for place in &mut self.0 {
            (place.first, place.rank) = (first, rank);
            first += place.locations();
            rank += u32::from(place.has_messages);
        }
        self.0
    }
}

impl Place<'_> {
    fn locations(&self) -> u64 {
        self.stacks.len().max(1) as u64
    }

    fn kind(&self) -> LocationKind {
        let is_metric = |lane: &LaneView<'_>| lane.nature() == TypeNature::Variable;
        let is_thread = self.has_messages || !self.stacks.is_empty();
        match !is_thread && self.others.iter().all(is_metric) {
            true => LocationKind::Metric,
            false => LocationKind::Thread,
        }
    }
}

struct Otf2<'t> {
    trace: &'t Trace,
    selected: &'t Selected,
    places: Vec<Place<'t>>,
    /// Rank of each place.
    ranks: Vec<u32>,
    messages: Messages,
    names: Names,
    ticks: Ticks,
}

/// Writes the selected rows of a trace as an archive in an empty folder.
pub(crate) fn write(
    trace: &Trace,
    selected: &Selected,
    workers: &Workers,
    folder: &Path,
) -> io::Result<(Losses, Lacks)> {
    let walk = trace.walk(NameOrder::Bare);
    let lanes: Vec<LaneView<'_>> =
        walk.filter_map(|step| wanted_lane(trace, selected, step)).collect();
    let ticks = Ticks::new(needs(trace, &lanes, workers), trace.time_scale().unit());
    let (links, rows): (Vec<LaneView<'_>>, Vec<LaneView<'_>>) =
        lanes.iter().partition(|lane| lane.nature() == TypeNature::Link);
    let mut places = Places(Vec::new(), vec![None; trace.containers().len()]);
    rows.into_iter().for_each(|lane| places.add(lane));
    if lanes.is_empty() {
        // Readers refuse archives without locations.
        places.number(ContainerId::ROOT);
    }
    let clock = Clock::new(ticks);
    let window = selected.window();
    let messages = Messages::new(&links, window, &clock, |container| places.message(container));
    let (places, names) = (places.finish(), Names::new(trace));
    let ranks = places.iter().map(|place| place.rank).collect();
    let mut archive = Otf2 { trace, selected, places, ranks, messages, names, ticks };
    let writer = Writer::new(folder)?;
    let written = workers
        .run(|| workers.map(archive.places.len(), |number| archive.write_place(number, &writer)));
    let (mut counts, mut losses) = (Vec::new(), clock.losses());
    for written in written {
        let (events, lost) = written?;
        counts.extend(events);
        losses.add(&lost);
    }
    let lacks = archive.lacks();
    archive.define(&needed_containers(trace, selected, lanes.into_iter()), &counts, writer)?;
    Ok((losses, lacks))
}

/// Finds the decimals and the range of all times.
fn needs(trace: &Trace, lanes: &[LaneView<'_>], workers: &Workers) -> Needs {
    let of_lane = |lane: LaneView<'_>| {
        let mut needs = Needs::default();
        let mut add = |times: [f64; 2]| times.iter().for_each(|time| needs.add(*time));
        lane.states().for_each(|it| add([it.start, it.end]));
        lane.variables().for_each(|it| add([it.start, it.start]));
        lane.events().for_each(|it| add([it.time, it.time]));
        lane.links().for_each(|it| add([it.start, it.end]));
        needs
    };
    let found = workers.run(|| workers.map(lanes.len(), |lane| of_lane(lanes[lane])));
    let (mut needs, containers) = (Needs::default(), trace.containers());
    needs.add(trace.end());
    for id in containers.ids() {
        needs.add(containers.start(id));
        needs.add(containers.end(id));
    }
    found.into_iter().fold(needs, Needs::and)
}

impl Otf2<'_> {
    /// Writes the locations of a place. Returns their numbers of events.
    fn write_place(&self, number: usize, writer: &Writer) -> io::Result<(Vec<u64>, Losses)> {
        let (place, window) = (&self.places[number], self.selected.window());
        let clock = Clock::new(self.ticks);
        let clock = &clock;
        let (mut counts, mut moved) = (Vec::new(), 0);
        for at in 0..place.locations() {
            let mut records: Vec<Records<'_>> = Vec::new();
            if at == 0 {
                records.push(Box::new(self.messages.of(number as u32, &self.ranks)));
            }
            if let Some(lane) = place.stacks.get(at as usize) {
                let states = lane.states().filter(move |it| window.overlaps(it.start, it.end));
                let states = states.map(move |it| Region {
                    start: clock.at(it.start),
                    end: clock.at(it.end),
                    depth: it.imbrication,
                    region: self.names.value(lane.type_id(), it.value),
                });
                records.push(Box::new(Stack::new(states, clock)));
            }
            let others = if at == 0 { &place.others[..] } else { &[] };
            for lane in others {
                let number = self.names.number(lane.type_id());
                let values = lane.variables().filter(move |it| window.overlaps(it.start, it.end));
                let values = values.map(move |it| (it.start, What::Value(number, it.value)));
                let texts = lane.events().filter(move |it| window.overlaps(it.time, it.time));
                let texts = texts.map(move |it| {
                    let string = self.names.value(lane.type_id(), it.value);
                    (it.time, What::Text(number, string))
                });
                let record =
                    |(time, what)| Record { tick: clock.at(time), order: Order::Other, what };
                records.push(Box::new(values.chain(texts).map(record)));
            }
            let (count, back) = events::write(records, writer.events(place.first + at)?)?;
            counts.push(count);
            moved += back;
        }
        Ok((counts, Losses { shared: moved, ..clock.losses() }))
    }

    /// Writes the definitions, and ends the archive. `needed` says which containers it has, and
    /// `counts` how many events each location has.
    fn define(&mut self, needed: &[bool], counts: &[u64], writer: Writer) -> io::Result<()> {
        let mut out = writer.definitions()?;
        let (types, containers) = (self.trace.types(), self.trace.containers());
        let [none, start, end] = [b"", START, END].map(|text| self.names.id(text));
        // A node cannot have two properties of the same name.
        let links = |id: usize| [LINKS, b"::", id.to_string().as_bytes()].concat();
        let links: Vec<u32> =
            (0..self.messages.types.len()).map(|id| self.names.id(&links(id))).collect();
        let (rows, ranks) = (self.names.id(b"rows"), self.names.id(b"ranks"));
        let tick = |time: f64| self.ticks.at(time).0;
        let named: Vec<u32> =
            containers.ids().map(|id| self.names.id(containers.name(id).text)).collect();
        let classes: Vec<u32> = types.ids().map(|id| self.names.id(types.name(id).text)).collect();
        let kinds = self.messages.values.iter();
        let kinds: Vec<u32> = kinds
            .map(|(_, type_, value)| self.names.id(types.value_name(*type_, *value).text))
            .collect();
        for (id, text) in (0..).zip(&self.names.texts) {
            out.string(id, text)?;
        }
        out.clock(self.ticks.resolution, self.ticks.start, tick(self.trace.end()))?;
        for id in containers.ids().filter(|id| needed[id.index()]) {
            let parent = (id != ContainerId::ROOT).then(|| containers.parent(id).0);
            let class = classes[containers.type_of(id).index()];
            out.node(id.0, named[id.index()], class, parent)?;
            if id == ContainerId::ROOT {
                out.tick(id.0, end, tick(self.trace.end()))?;
                continue;
            }
            out.tick(id.0, start, tick(containers.start(id)))?;
            // Containers in a destroyed one end, too.
            let within = std::iter::successors(Some(id), |id| Some(containers.parent(*id)));
            let mut within = within.take_while(|id| *id != ContainerId::ROOT);
            if within.any(|id| containers.is_destroyed(id)) {
                out.tick(id.0, end, tick(containers.end(id)))?;
            }
        }
        for (id, place) in (0..).zip(&self.places) {
            let name = named[place.container.index()];
            out.process(id, name, place.container.0)?;
            for at in 0..place.locations() {
                let stack = place.stacks.get(at as usize);
                let name = stack.map_or(rows, |lane| classes[lane.type_id().index()]);
                let location = place.first + at;
                out.location(location, name, place.kind(), counts[location as usize], id)?;
            }
        }
        for (id, name) in (0..).zip(&self.names.regions) {
            let text = &self.names.texts[*name as usize];
            let is_mpi = text.starts_with(b"MPI_") || text.starts_with(b"PMPI_");
            out.region(id, *name, is_mpi)?;
        }
        for (id, name) in (0..).zip(&self.names.metrics) {
            out.metric(id, *name, none)?;
        }
        for (id, name) in (0..).zip(&self.names.parameters) {
            out.parameter(id, *name)?;
        }
        if !self.messages.types.is_empty() {
            let ranked = self.places.iter().filter(|place| place.has_messages);
            out.ranks(ranks, &ranked.map(|place| place.first).collect::<Vec<_>>())?;
        }
        let types = &self.messages.types;
        for (id, (type_, container)) in (0..).zip(types) {
            out.communicator(id, classes[type_.index()], None)?;
            out.links(container.0, links[id as usize], id)?;
        }
        let values = kinds.iter().zip(&self.messages.values);
        for (id, (name, (type_, ..))) in (types.len() as u32..).zip(values) {
            out.communicator(id, *name, Some(*type_))?;
        }
        writer.finish(out, counts.len() as u64)
    }

    /// Counts the parts of the trace that the archive lacks.
    fn lacks(&self) -> Lacks {
        let types = self.trace.types();
        let values = types.ids().flat_map(|id| types.values(id).map(move |value| (id, value)));
        let colors = values.filter(|(id, value)| types.value_color(*id, *value).is_some()).count();
        let fields: usize = self.trace.defs().iter().map(|def| def.extras().count()).sum();
        let all = [
            (self.messages.count, "keys of links"),
            (colors as u64, "colours of values"),
            (fields as u64, "user-defined fields of event definitions"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}
