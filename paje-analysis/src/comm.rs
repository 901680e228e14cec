//! Count, bytes and duration of the links between containers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;

use paje_sim::{
    Annotations, ContainerId, LaneView, Links, TimeRange, Trace, TypeId, TypeNature, ValueId,
    Visitor,
};
use paje_workers::Workers;
use rustc_hash::FxHashMap;

use crate::bytes::{Bytes, Left};
use crate::lanes;
use crate::scope::{Scope, ancestor, part_in, places};
use crate::{Data, Label, Seconds, Table};

pub use paje_comm::messages::BYTES;

/// Analysis of links, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct Comm {
    scope: Scope,
    bytes: Vec<String>,
    lanes: Vec<FxHashMap<Pair, Cell>>,
    /// Only links that start at one of these times are counted.
    begins: Option<Range<f64>>,
}

/// Containers between which links are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// Each pair of containers.
    #[default]
    Containers,
    /// Nearest enclosing container of this type. If no container of this type encloses the end of a
    /// link, the container in which the link starts or ends.
    Level(Label),
}

/// Links of one value from one container to another.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Row {
    pub type_: Label,
    pub value: Label,
    pub from: Label,
    pub to: Label,
    /// The two containers.
    pub ends: [ContainerId; 2],
    pub count: u64,
    /// Sum of the bytes, if any link has them.
    pub bytes: Option<f64>,
    /// Shortest duration in seconds. It is negative if a link ends before it starts.
    pub min: f64,
    pub mean: Seconds,
    /// Longest duration in seconds.
    pub max: f64,
    /// Start of the first link, in seconds.
    pub first: f64,
    /// End of the last link, in seconds.
    pub last: f64,
}

type Pair = (ValueId, ContainerId, ContainerId);

/// The type, the value, and both containers.
type Key = (TypeId, Label, [ContainerId; 2]);

/// Sort key of a row: the type, the value, and the positions of both containers in output order.
type Place = (TypeId, Label, [usize; 2]);

#[derive(Clone, Copy, Debug)]
struct Cell {
    count: u64,
    bytes: Option<Seconds>,
    seconds: Seconds,
    min: f64,
    max: f64,
    first: f64,
    last: f64,
}

impl Default for Cell {
    fn default() -> Self {
        Cell {
            count: 0,
            bytes: None,
            seconds: Seconds::ZERO,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
        }
    }
}

impl Cell {
    #[inline]
    fn add_link(&mut self, start: f64, end: f64, bytes: Option<Seconds>) {
        self.count += 1;
        if let Some(bytes) = bytes {
            self.bytes = Some(self.bytes.map_or(bytes, |all| all + bytes));
        }
        self.seconds += Seconds::between(start, end);
        self.min = self.min.min(end - start);
        self.max = self.max.max(end - start);
        self.first = self.first.min(start);
        self.last = self.last.max(end);
    }

    fn add(&mut self, other: &Cell) {
        self.count += other.count;
        self.bytes = match (self.bytes, other.bytes) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.seconds += other.seconds;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

impl Comm {
    /// Creates the analysis. `bytes` is the user-defined field with the size of a link. By default,
    /// it is one of [`BYTES`]. The trace must be read with user-defined fields.
    #[must_use]
    pub fn new(scope: Scope, bytes: Option<&str>) -> Self {
        let names: Vec<String> = match bytes {
            Some(name) => vec![name.to_owned()],
            None => BYTES.map(str::to_owned).into(),
        };
        Comm { scope, bytes: names, lanes: Vec::new(), begins: None }
    }

    /// Counts only the links that start in this range, for [`part`](Self::part).
    pub(crate) const fn beginning_in(mut self, times: Range<f64>) -> Self {
        self.begins = Some(times);
        self
    }

    /// Adds the next portion of a trace, or a whole trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let (window, bytes, begins) = (self.scope.window(), &self.bytes, self.begins.as_ref());
        let lanes = self.scope.lanes(trace, TypeNature::Link);
        lanes::each(lanes, &mut self.lanes, workers, |lane, pairs, (): &mut ()| {
            let Ok(()) = lane.visit(&mut Adding { window, begins, bytes, pairs });
        });
    }

    /// Returns the rows, given the trace or its last portion. Types are in definition order, values
    /// in alphabetical order, and containers in output order.
    #[must_use]
    pub fn rows(&self, trace: &Trace, ends: &Ends) -> Vec<Row> {
        rows(trace, ends, self.cells(trace))
    }

    fn cells(&self, trace: &Trace) -> impl Iterator<Item = (Key, &Cell)> {
        trace.lanes().flat_map(|lane| {
            let pairs = self.lanes.get(lane.id().index()).into_iter().flatten();
            pairs.map(move |((value, from, to), cell)| {
                ((lane.type_id(), lane.value_name(*value).into(), [*from, *to]), cell)
            })
        })
    }

    /// Returns the links that [start](Self::beginning_in) in a part of a trace.
    pub(crate) fn part(&self, trace: &Trace) -> CommParts {
        let mut part = CommParts::default();
        for (key, cell) in self.cells(trace) {
            part.0.entry(key).or_default().add(cell);
        }
        part
    }
}

/// Sum of the links of parts of a trace.
#[derive(Debug, Default)]
pub struct CommParts(BTreeMap<Key, Cell>);

impl CommParts {
    /// Encodes the links for [`add`](Self::add).
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.number(self.0.len() as u64);
        for ((type_, name, ends), cell) in &self.0 {
            out.number(type_.index() as u64);
            out.label(name.name());
            ends.iter().for_each(|id| out.number(id.index() as u64));
            out.number(cell.count);
            out.number(cell.bytes.is_some().into());
            out.seconds(cell.bytes.unwrap_or_default());
            out.seconds(cell.seconds);
            for time in [cell.min, cell.max, cell.first, cell.last] {
                out.float(time);
            }
        }
        out.0
    }

    /// Adds the links of a part. Returns `None` if the bytes are invalid.
    pub(crate) fn add(&mut self, part: &[u8]) -> Option<()> {
        let mut left = Left(part);
        for _ in 0..left.number()? {
            let (type_, name) = (TypeId(left.index()?), left.label()?);
            let ends = [ContainerId(left.index()?), ContainerId(left.index()?)];
            let (count, has_bytes) = (left.number()?, left.number()? == 1);
            let (bytes, seconds) = (left.seconds()?, left.seconds()?);
            let bytes = has_bytes.then_some(bytes);
            let mut time = || left.float();
            let (min, max, first, last) = (time()?, time()?, time()?, time()?);
            let cell = Cell { count, bytes, seconds, min, max, first, last };
            self.0.entry((type_, name, ends)).or_default().add(&cell);
        }
        left.0.is_empty().then_some(())
    }

    /// Returns the rows as [`Comm::rows`] does for the whole trace. `trace` may have been read in
    /// part.
    pub(crate) fn rows(&self, trace: &Trace, ends: &Ends) -> Vec<Row> {
        rows(trace, ends, self.0.iter().map(|(key, cell)| (key.clone(), cell)))
    }
}

fn rows<'c>(trace: &Trace, ends: &Ends, cells: impl Iterator<Item = (Key, &'c Cell)>) -> Vec<Row> {
    let places = places(trace);
    let mut all: BTreeMap<Place, ([ContainerId; 2], Cell)> = BTreeMap::new();
    for ((type_, name, both), cell) in cells {
        let both = both.map(|id| ends.of(trace, id));
        let key = (type_, name, both.map(|id| places[&id]));
        all.entry(key).or_insert_with(|| (both, Cell::default())).1.add(cell);
    }
    let scale = trace.time_scale();
    let row = |((type_, value, _), (ends, cell)): (Place, ([ContainerId; 2], Cell))| {
        let [from, to] = ends.map(|id| trace.containers().name(id).into());
        Row {
            type_: trace.types().name(type_).into(),
            value,
            from,
            to,
            ends,
            count: cell.count,
            bytes: cell.bytes.map(Seconds::to_f64),
            min: scale.seconds(cell.min),
            mean: cell.seconds.mean(cell.count).scaled(scale),
            max: scale.seconds(cell.max),
            first: scale.seconds(cell.first),
            last: scale.seconds(cell.last),
        }
    };
    all.into_iter().map(row).collect()
}

impl Ends {
    /// Returns the containers of the type with this name, or all containers.
    pub(crate) fn of_level(name: Option<&str>) -> Ends {
        name.map_or(Ends::Containers, |name| Ends::Level(name.into()))
    }

    fn of(&self, trace: &Trace, id: ContainerId) -> ContainerId {
        match self {
            Ends::Containers => id,
            Ends::Level(type_) => ancestor(trace, id, type_).unwrap_or(id),
        }
    }
}

struct Adding<'a> {
    window: TimeRange,
    begins: Option<&'a Range<f64>>,
    bytes: &'a [String],
    pairs: &'a mut FxHashMap<Pair, Cell>,
}

impl Visitor for Adding<'_> {
    type Error = Infallible;

    fn links(&mut self, _: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for (i, (start, end)) in links.start.iter().zip(links.end).enumerate() {
            if self.begins.is_some_and(|begins| !begins.contains(start)) {
                continue;
            }
            let Some((start, end)) = part_in(self.window, *start, *end) else { continue };
            let bytes = bytes(self.bytes, &links.user_defined, i);
            let pair = (links.value[i], links.from[i], links.to[i]);
            self.pairs.entry(pair).or_default().add_link(start, end, bytes);
        }
        Ok(())
    }
}

/// Returns the size of a link, which is in the first of these fields that the link has.
fn bytes(names: &[String], fields: &Annotations<'_>, link: usize) -> Option<Seconds> {
    if fields.are_none_of(link) {
        return None;
    }
    let rank = |field: &str| names.iter().position(|name| name == field);
    let ranked = fields.of(link).filter_map(|(field, text)| Some((rank(field)?, text)));
    // If both ends have the field, the value at the start counts.
    let (_, text) = ranked.min_by_key(|(rank, _)| *rank)?;
    let text = std::str::from_utf8(text).ok()?.trim_matches('"');
    text.parse().ok().filter(|bytes: &f64| bytes.is_finite()).map(Seconds::new)
}

/// Converts the rows to a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("comm")
        .with("type", Data::text(rows, |row| &row.type_))
        .with("value", Data::text(rows, |row| &row.value))
        .with("from", Data::text(rows, |row| &row.from))
        .with("to", Data::text(rows, |row| &row.to))
        .with("count", Data::count(rows, |row| row.count))
        .with("bytes", Data::amount(rows, |row| row.bytes))
        .with("min", Data::seconds(rows, |row| Seconds::new(row.min)))
        .with("mean", Data::seconds(rows, |row| row.mean))
        .with("max", Data::seconds(rows, |row| Seconds::new(row.max)))
        .with("first", Data::seconds(rows, |row| Seconds::new(row.first)))
        .with("last", Data::seconds(rows, |row| Seconds::new(row.last)))
}
