//! Summary of a trace on one page.

use std::cmp::Ordering;

use paje_decimal::amounts::duration;
use paje_sim::{ContainerId, State, Trace, TypeId, TypeNature, ValueId};
use paje_workers::Workers;

use crate::comm::{Comm, Ends};
use crate::states::States;
use crate::time::range;
use crate::{By, Data, Label, Scope, Seconds, Table, lanes};

const MOST: usize = 10;

/// Summary of states and links, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct Summary {
    scope: Scope,
    states: States,
    comm: Comm,
    /// The longest states of each lane, and the time in states.
    lanes: Vec<(Vec<Long>, Covered)>,
    backwards: Vec<Backwards>,
}

#[derive(Clone, Copy, Debug)]
struct Long {
    seconds: Seconds,
    start: f64,
    value: ValueId,
}

impl Long {
    /// Orders by length, the longest first, then by start, then by value.
    fn order(&self, other: &Long) -> Ordering {
        let longer = other.seconds.cmp(&self.seconds);
        let earlier = longer.then_with(|| self.start.total_cmp(&other.start));
        earlier.then_with(|| self.value.cmp(&other.value))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Covered {
    seconds: Seconds,
    last: Option<f64>,
    gap: (Seconds, f64),
}

impl Covered {
    fn add(&mut self, start: f64, end: f64, first: f64) {
        self.seconds += Seconds::between(start, end);
        self.meet(self.last.unwrap_or(first), start);
        self.last = Some(end);
    }

    fn meet(&mut self, from: f64, until: f64) {
        let gap = Seconds::between(from, until);
        if gap > self.gap.0 {
            self.gap = (gap, from);
        }
    }
}

/// Links that end before they start. They show that clocks disagree.
#[derive(Clone, Copy, Debug, Default)]
struct Backwards {
    count: u64,
    by: f64,
}

/// Line of the summary: section, name and value.
type Row = [Label; 3];

impl Summary {
    /// Creates the summary. For `bytes`, see [`Comm::new`].
    #[must_use]
    pub fn new(scope: Scope, bytes: Option<&str>) -> Self {
        Summary {
            states: States::new(scope.clone(), By::Value),
            comm: Comm::new(scope.clone(), bytes),
            scope,
            lanes: Vec::new(),
            backwards: Vec::new(),
        }
    }

    /// Adds the next portion of a trace, or a whole trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.states.see(trace, workers);
        self.comm.see(trace, workers);
        self.scope.extend(trace);
        let scope = &self.scope;
        let all = scope.lanes(trace, TypeNature::State);
        lanes::each(all, &mut self.lanes, workers, |lane, (longest, covered), (): &mut ()| {
            let window = scope.window();
            let first = scope.clip(trace.containers().start(lane.container()));
            // Open states have no end yet.
            let is_in =
                |state: &State<'_>| !state.end.is_nan() && window.overlaps(state.start, state.end);
            for state in lane.states().filter(is_in) {
                let (start, end) = (scope.clip(state.start), scope.clip(state.end));
                if state.imbrication == 0 {
                    covered.add(start, end, first);
                }
                let seconds = Seconds::between(start, end);
                let long = Long { seconds, start, value: state.value };
                // The position is searched for each state, because a portion begins with older
                // states that were still open.
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

    /// Returns the summary.
    #[must_use]
    pub fn table(&self, trace: &Trace) -> Table {
        let mut page = Page(Vec::new());
        self.trace(trace, &mut page);
        self.states(trace, &mut page);
        self.longest(trace, &mut page);
        self.stateless(trace, &mut page);
        self.traffic(trace, &mut page);
        self.suspicious(trace, &mut page);
        let rows = page.0;
        Table::new("summary")
            .with("section", Data::text(&rows, |row| &row[0]))
            .with("name", Data::text(&rows, |row| &row[1]))
            .with("value", Data::text(&rows, |row| &row[2]))
    }

    fn trace(&self, trace: &Trace, page: &mut Page) {
        let (start, end) = range(trace, &self.scope);
        let scale = trace.time_scale();
        page.add("trace", "from", moment(scale.seconds(start)));
        page.add("trace", "until", moment(scale.seconds(end)));
        page.add("trace", "unit", scale.to_string());
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
            page.add(
                "where the time went",
                name,
                format!("{}, {share:.1} %", duration(seconds.to_f64())),
            );
        }
        // Leaves out values that take hardly any time. Their imbalance is unimportant.
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
            let Some((longest, _)) = self.lanes.get(lane.id().index()) else { continue };
            all.extend(longest.iter().map(|long| (*long, lane.type_id(), lane.container())));
        }
        all.sort_by(|(a, ..), (b, ..)| a.order(b));
        let scale = trace.time_scale();
        for (long, type_, container) in all.iter().take(MOST) {
            let name = trace.types().value_name(*type_, long.value).to_string();
            let container = trace.containers().name(*container);
            let (seconds, start) = (long.seconds.scaled(scale), moment(scale.seconds(long.start)));
            let text = format!("{} in {container}, from {start}", duration(seconds.to_f64()));
            page.add("the longest states", name, text);
        }
    }

    /// Lists the longest times without a state. In such a time, the container is idle, or it
    /// computes and the tracer records only calls.
    fn stateless(&self, trace: &Trace, page: &mut Page) {
        let (types, containers, scale) = (trace.types(), trace.containers(), trace.time_scale());
        let mut all = Vec::new();
        for lane in trace.lanes() {
            let Some((_, covered)) = self.lanes.get(lane.id().index()) else { continue };
            let mut covered = *covered;
            let id = lane.container();
            let end = self.scope.clip(containers.end(id));
            let Some(last) = covered.last else { continue };
            covered.meet(last, end);
            let life = self.scope.lifetime(trace, id);
            let idle = life - covered.seconds;
            all.push((idle, idle.share_of(life), covered.gap, lane.type_id(), id));
        }
        all.sort_by_key(|(idle, _, _, type_, id)| (std::cmp::Reverse(*idle), *type_, *id));
        for (idle, share, (gap, from), type_, id) in all.iter().take(MOST / 2) {
            if *share < 0.01 {
                break;
            }
            let (name, container) = (types.name(*type_), containers.name(*id));
            let [idle, gap] = [idle, gap].map(|time| duration(time.scaled(scale).to_f64()));
            let (share, from) = (share * 100.0, moment(scale.seconds(*from)));
            let text = format!("{idle}, {share:.1} %; the longest {gap}, from {from}");
            page.add("time without a state", format!("{container} {name}"), text);
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
            let text = format!("{count} links of {} on average", duration(mean.to_f64()));
            page.add("traffic", format!("{from} to {to}"), text);
        }
    }

    fn suspicious(&self, trace: &Trace, page: &mut Page) {
        let backwards: u64 = self.backwards.iter().map(|found| found.count).sum();
        if backwards > 0 {
            let by = self.backwards.iter().map(|found| found.by).fold(0.0, f64::max);
            let by = Seconds::new(by).scaled(trace.time_scale());
            let text = format!("{backwards}, by up to {}", duration(by.to_f64()));
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
        self.0.push([section.into(), name.as_ref().into(), value.as_ref().into()]);
    }
}

/// Returns a time in seconds with at most nine decimals.
fn moment(seconds: f64) -> String {
    let text = format!("{seconds:.9}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use paje_sim::{Options, Trace};

    use super::*;

    #[test]
    fn long_times_without_a_state_are_reported() {
        let text = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
1 P 0\n2 S P\n3 0 p P 0\n3 0 q P 0\n4 0 S q run\n4 1 S p run\n4 2 S p io\n5 2.5 S p\n5 3 S p\n4 7 S p run\n5 8 S p\n5 10 S q\n";
        let trace = Trace::read(text.as_bytes(), &Options::default()).expect("the trace is valid");
        let mut summary = Summary::new(Scope::default(), None);
        summary.see(&trace, &Workers::one());
        let table = summary.table(&trace);
        let columns = ["section", "name", "value"].map(|name| match table.column(name) {
            Some(Data::Text(all)) => all,
            _ => panic!("expected a text column"),
        });
        let rows = (0..table.len()).filter(|row| columns[0][*row] == "time without a state".into());
        let found: Vec<_> =
            rows.map(|row| format!("{}: {}", columns[1][row], columns[2][row])).collect();
        // Container p is in a state from 1 to 3 and from 7 to 8. Container q is always in a state.
        assert_eq!(found, ["p S: 7.00 s, 70.0 %; the longest 4.00 s, from 3 s"]);
    }

    #[test]
    fn moments_have_no_digits_of_rounding() {
        let all = [0.0, 0.000_180_999_999_999_999_98, 1.25, 100.0, 1e-12];
        assert_eq!(all.map(moment), ["0 s", "0.000181 s", "1.25 s", "100 s", "0 s"]);
    }
}
