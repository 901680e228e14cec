//! What a trace is, on one page.

use std::cmp::Ordering;

use paje_sim::{ContainerId, State, Trace, TypeId, TypeNature, ValueId};
use workers::Workers;

use crate::comm::{Comm, Ends};
use crate::states::States;
use crate::time::range;
use crate::{By, Data, Label, Scope, Seconds, Table, lanes};

/// Of each list, so many.
const MOST: usize = 10;

/// Adds up states and links, and looks for the longest states, while they go by.
#[derive(Clone, Debug)]
pub struct Summary {
    scope: Scope,
    states: States,
    comm: Comm,
    longest: Vec<Vec<Long>>,
    backwards: Vec<Backwards>,
}

/// A long state of a lane.
#[derive(Clone, Copy, Debug)]
struct Long {
    seconds: Seconds,
    start: f64,
    value: ValueId,
}

impl Long {
    /// The longest first, then the earliest; then by value, and what still is the same looks the same.
    fn order(&self, other: &Long) -> Ordering {
        let longer = other.seconds.cmp(&self.seconds);
        let earlier = longer.then_with(|| self.start.total_cmp(&other.start));
        earlier.then_with(|| self.value.cmp(&other.value))
    }
}

/// Links that end before they start: their clocks disagree.
#[derive(Clone, Copy, Debug, Default)]
struct Backwards {
    count: u64,
    by: f64,
}

/// A line of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is about.
    pub section: Label,
    /// Of whom it tells something.
    pub name: Label,
    /// What it tells.
    pub value: Label,
}

impl Summary {
    /// Of this part of a trace; `bytes` as in [`Comm::new`].
    #[must_use]
    pub fn new(scope: Scope, bytes: Option<&str>) -> Self {
        Summary {
            states: States::new(scope.clone(), By::Value),
            comm: Comm::new(scope.clone(), bytes),
            scope,
            longest: Vec::new(),
            backwards: Vec::new(),
        }
    }

    /// Looks at the next portion of a trace, or at a whole one.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.states.see(trace, workers);
        self.comm.see(trace, workers);
        self.scope.extend(trace);
        let scope = &self.scope;
        let all = scope.lanes(trace, TypeNature::State);
        lanes::each(all, &mut self.longest, workers, |lane, longest, (): &mut ()| {
            let window = scope.window();
            // What is open has no end yet.
            let is_in =
                |state: &State<'_>| !state.end.is_nan() && window.overlaps(state.start, state.end);
            for state in lane.states().filter(is_in) {
                let (start, end) = (scope.clip(state.start), scope.clip(state.end));
                let seconds = Seconds::between(start, end);
                let long = Long { seconds, start, value: state.value };
                // In a portion, states that were open come before others: the order of coming is not to matter.
                let place = longest.partition_point(|other: &Long| other.order(&long).is_lt());
                if place < MOST {
                    longest.insert(place, long);
                    longest.truncate(MOST);
                }
            }
        });
        let all = scope.lanes(trace, TypeNature::Link);
        lanes::each(all, &mut self.backwards, workers, |lane, found, (): &mut ()| {
            for link in lane.links().filter(|link| link.end < link.start) {
                found.count += 1;
                found.by = found.by.max(link.start - link.end);
            }
        });
    }

    /// What was found.
    #[must_use]
    pub fn rows(&self, trace: &Trace) -> Vec<Row> {
        let mut page = Page(Vec::new());
        self.trace(trace, &mut page);
        self.states(trace, &mut page);
        self.longest(trace, &mut page);
        self.traffic(trace, &mut page);
        self.suspicious(trace, &mut page);
        page.0
    }

    fn trace(&self, trace: &Trace, page: &mut Page) {
        let (start, end) = range(trace, &self.scope);
        page.add("trace", "from", format!("{start} s"));
        page.add("trace", "until", format!("{end} s"));
        page.add("trace", "containers", (trace.containers().len() - 1).to_string());
        let containers = trace.containers();
        let mut counts = vec![0u64; trace.types().len()];
        containers.ids().skip(1).for_each(|id| counts[containers.type_of(id).index()] += 1);
        for (id, count) in (0..).map(TypeId).zip(counts).filter(|(_, count)| *count > 0) {
            page.add("trace", format!("of type {}", trace.types().name(id)), count.to_string());
        }
    }

    fn states(&self, trace: &Trace, page: &mut Page) {
        let mut rows = self.states.rows(trace);
        rows.sort_by_key(|row| std::cmp::Reverse(row.exclusive));
        for row in rows.iter().take(MOST) {
            let name = format!("{} {}", row.type_, row.value);
            let (share, seconds) = (row.share * 100.0, row.exclusive);
            page.add("where the time went", name, format!("{seconds:.6} s, {share:.1} %"));
        }
        // What takes next to no time may well be uneven.
        rows.retain(|row| row.share > 0.01 && row.lanes > 1);
        rows.sort_by(|a, b| b.imbalance.total_cmp(&a.imbalance));
        for row in rows.iter().take(MOST / 2) {
            let name = format!("{} {}", row.type_, row.value);
            let (most, lanes) = (row.imbalance * 100.0, row.lanes);
            let text = format!("the longest of {lanes} is {most:.1} % above the mean");
            page.add("imbalance", name, text);
        }
    }

    fn longest(&self, trace: &Trace, page: &mut Page) {
        let mut all: Vec<(Long, TypeId, ContainerId)> = Vec::new();
        for lane in trace.lanes() {
            let of_lane = self.longest.get(lane.id().index()).into_iter().flatten();
            all.extend(of_lane.map(|long| (*long, lane.type_id(), lane.container())));
        }
        // Lanes are in the order of their first events.
        all.sort_by(|(a, ..), (b, ..)| a.order(b));
        for (long, type_, container) in all.iter().take(MOST) {
            let name = trace.types().value_name(*type_, long.value).to_string();
            let container = trace.containers().name(*container);
            let text = format!("{:.6} s in {container}, from {} s", long.seconds, long.start);
            page.add("the longest states", name, text);
        }
    }

    fn traffic(&self, trace: &Trace, page: &mut Page) {
        let mut rows = self.comm.rows(trace, &Ends::Containers);
        if rows.is_empty() {
            return;
        }
        let links: u64 = rows.iter().map(|row| row.count).sum();
        page.add("traffic", "links", links.to_string());
        let bytes: Seconds = rows.iter().filter_map(|row| row.bytes).map(Seconds::new).sum();
        if !bytes.is_zero() {
            page.add("traffic", "bytes", bytes.to_f64().to_string());
        }
        page.add("traffic", "pairs", rows.len().to_string());
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        for row in rows.iter().take(MOST / 2) {
            let (from, to, count, mean) = (&row.from, &row.to, row.count, row.mean);
            let text = format!("{count} links of {mean:.6} s on average");
            page.add("traffic", format!("{from} to {to}"), text);
        }
    }

    fn suspicious(&self, trace: &Trace, page: &mut Page) {
        let backwards: u64 = self.backwards.iter().map(|found| found.count).sum();
        if backwards > 0 {
            let by = self.backwards.iter().map(|found| found.by).fold(0.0, f64::max);
            let text = format!("{backwards}, by up to {:.6} s", Seconds::new(by));
            page.add("suspicious", "links that end before they start", text);
        }
        for warning in trace.warnings() {
            let sentence = warning.kind.sentence(warning.event.as_ref());
            page.add("suspicious", format!("line {}", warning.first_line), sentence);
        }
    }
}

struct Page(Vec<Row>);

impl Page {
    fn add(&mut self, section: &str, name: impl AsRef<str>, value: impl AsRef<str>) {
        let (name, value) = (name.as_ref().into(), value.as_ref().into());
        self.0.push(Row { section: section.into(), name, value });
    }
}

/// The summary as a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("summary")
        .with("section", Data::text(rows, |row| &row.section))
        .with("name", Data::text(rows, |row| &row.name))
        .with("value", Data::text(rows, |row| &row.value))
}
