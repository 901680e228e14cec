//! A naive implementation of the reports, which loops over a list of all rows.

use std::collections::{BTreeMap, BTreeSet};

use paje_sim::{ContainerId, Trace, TypeId};

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) container: ContainerId,
    pub(crate) type_: TypeId,
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: String,
    number: f64,
    imbrication: u32,
    ends: [ContainerId; 2],
    fields: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) by: Option<String>,
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    pub(crate) level: Option<String>,
    pub(crate) bytes: Option<String>,
    pub(crate) bins: Option<u32>,
    pub(crate) inclusive: bool,
}

pub(crate) struct Naive<'t> {
    trace: &'t Trace,
    asked: Asked,
    pub(crate) states: Vec<Row>,
    inner: Vec<Vec<usize>>,
    /// Next outer state of each state.
    around: Vec<Option<usize>>,
    variables: Vec<Row>,
    events: Vec<Row>,
    links: Vec<Row>,
}

fn fixed(seconds: f64) -> i128 {
    (seconds * 2f64.powi(70)) as i128
}

fn float(fixed: i128) -> f64 {
    fixed as f64 / 2f64.powi(70)
}

fn nine(fixed: i128) -> String {
    let (whole, part) = (fixed.abs() >> 70, fixed.abs() & ((1 << 70) - 1));
    let (mut digits, rest) =
        ((part * 1_000_000_000) >> 70, (part * 1_000_000_000) & ((1 << 70) - 1));
    if rest > 1 << 69 || (rest == 1 << 69 && digits % 2 == 1) {
        digits += 1;
    }
    let all = whole * 1_000_000_000 + digits;
    let sign = if fixed < 0 && all > 0 { "-" } else { "" };
    format!("{sign}{}.{:09}", all / 1_000_000_000, all % 1_000_000_000)
}

fn mean(sum: i128, count: usize) -> i128 {
    // The lost digits are far behind the ninth decimal.
    sum / count as i128
}

fn quantile(all: &[f64], part: f64) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

impl<'t> Naive<'t> {
    pub(crate) fn of(trace: &'t Trace, asked: Asked) -> Self {
        let (states, variables, events, links) = Default::default();
        let (inner, around) = (Vec::new(), Vec::new());
        let mut naive = Naive { trace, asked, states, inner, around, variables, events, links };
        trace.rows().for_each(|row| naive.add(&row));
        // StarPU writes each task twice.
        let is_job = |(name, _): (&str, _)| name == "JobId";
        if trace.defs().iter().any(|def| def.extras().any(is_job)) {
            let is_first: Vec<bool> =
                (0..naive.states.len()).map(|i| naive.is_written_again(i)).collect();
            let mut is_first = is_first.into_iter();
            naive.states.retain(|_| is_first.next() != Some(true));
        }
        naive
    }

    fn add(&mut self, given: &paje_sim::Row<'_>) {
        let Some(lane) = given.lane() else { return };
        let mut row = Row {
            container: lane.container(),
            type_: lane.type_id(),
            start: given.start(),
            end: given.end(),
            value: String::new(),
            number: 0.0,
            imbrication: 0,
            ends: [ContainerId::ROOT; 2],
            fields: Vec::new(),
        };
        let all = match given {
            paje_sim::Row::Container(_) => return,
            paje_sim::Row::State(it) => {
                (row.value, row.imbrication) = (it.value_name().to_string(), it.imbrication);
                &mut self.states
            }
            paje_sim::Row::Variable(it) => {
                row.number = it.value;
                &mut self.variables
            }
            paje_sim::Row::Event(it) => {
                row.value = it.value_name().to_string();
                &mut self.events
            }
            paje_sim::Row::Link(it) => {
                (row.value, row.ends) = (it.value_name().to_string(), [it.from, it.to]);
                let field = |(name, text): (&str, &[u8])| {
                    (name.to_owned(), String::from_utf8_lossy(text).into_owned())
                };
                row.fields = it.fields().map(field).collect();
                &mut self.links
            }
        };
        all.push(row);
    }

    /// Returns whether a state has no length, and the next one in its place has the same value.
    fn is_written_again(&self, i: usize) -> bool {
        let row = &self.states[i];
        let lane = (row.container, row.type_);
        let mut behind = self.states[i + 1..].iter().filter(|it| (it.container, it.type_) == lane);
        let next = behind.find(|it| it.imbrication <= row.imbrication);
        row.start == row.end
            && next.is_some_and(|it| {
                (it.imbrication, it.start, &it.value) == (row.imbrication, row.end, &row.value)
            })
    }

    pub(crate) fn only(mut self, wanted: impl Fn(&Trace, &Row) -> bool) -> Self {
        let trace = self.trace;
        for rows in [&mut self.states, &mut self.variables, &mut self.events, &mut self.links] {
            rows.retain(|row| wanted(trace, row));
        }
        self.inner = vec![Vec::new(); self.states.len()];
        self.around = (0..self.states.len()).map(|i| self.outer(i)).collect();
        for i in 0..self.states.len() {
            if let Some(outer) = self.around[i] {
                self.inner[outer].push(i);
            }
        }
        self
    }

    fn clip(&self, time: f64) -> f64 {
        let time = self.asked.from.map_or(time, |from| time.max(from));
        self.asked.to.map_or(time, |to| time.min(to))
    }

    fn is_in(&self, row: &Row) -> bool {
        let (first, last) = (row.start.min(row.end), row.start.max(row.end));
        self.asked.to.is_none_or(|to| first <= to)
            && self.asked.from.is_none_or(|from| last >= from)
    }

    fn clipped(&self, row: &Row) -> i128 {
        fixed(self.clip(row.end)) - fixed(self.clip(row.start))
    }

    fn lifetime(&self, id: ContainerId) -> i128 {
        let all = self.trace.containers();
        (fixed(self.clip(all.end(id))) - fixed(self.clip(all.start(id)))).max(0)
    }

    fn name(&self, id: ContainerId) -> String {
        self.trace.containers().name(id).to_string()
    }

    fn above(&self, id: ContainerId, type_: &str) -> Option<ContainerId> {
        let (containers, types) = (self.trace.containers(), self.trace.types());
        let mut path = vec![id];
        while *path.last()? != ContainerId::ROOT {
            path.push(containers.parent(*path.last()?));
        }
        path.into_iter().find(|id| {
            let of = containers.type_of(*id);
            let alias = types.alias(of).map(|alias| alias.to_string());
            types.name(of) == type_ || alias.as_deref() == Some(type_)
        })
    }

    fn group(&self, id: ContainerId) -> Option<ContainerId> {
        match self.asked.by.as_deref() {
            None | Some("value") => Some(ContainerId::ROOT),
            Some("container") => Some(id),
            Some("kind") => {
                let same = |it: &ContainerId| {
                    let types = [id, *it].map(|id| self.trace.containers().type_of(id));
                    types[0] == types[1] && self.kind(id) == self.kind(*it)
                };
                self.trace.containers().ids().find(same)
            }
            Some(type_) => self.above(id, type_),
        }
    }

    /// Returns the letters with which a container's name begins.
    fn kind(&self, id: ContainerId) -> String {
        let name = String::from_utf8_lossy(self.trace.containers().name(id).text).into_owned();
        let end = name.find(|c: char| !c.is_ascii_alphabetic()).filter(|end| *end > 0);
        name[..end.unwrap_or(name.len())].to_owned()
    }

    /// Returns the name of a group.
    fn title(&self, id: ContainerId) -> String {
        match self.asked.by.as_deref() {
            Some("kind") => self.kind(id),
            _ => self.name(id),
        }
    }

    fn exclusive(&self) -> Vec<i128> {
        let own = |row: &Row| self.clipped(row);
        let of = |(row, inner): (&Row, &Vec<usize>)| {
            own(row) - inner.iter().map(|i| own(&self.states[*i])).sum::<i128>()
        };
        self.states.iter().zip(&self.inner).map(of).collect()
    }

    fn outer(&self, inner: usize) -> Option<usize> {
        let row = &self.states[inner];
        (0..inner).rev().find(|outer| {
            let other = &self.states[*outer];
            (other.container, other.type_) == (row.container, row.type_)
                && other.imbrication + 1 == row.imbrication
                && other.start <= row.start
                && row.end <= other.end
        })
    }

    /// Whether a state is inside another one of the same value.
    fn is_repeated(&self, inner: usize) -> bool {
        let mut around = std::iter::successors(self.around[inner], |outer| self.around[*outer]);
        around.any(|outer| self.states[outer].value == self.states[inner].value)
    }

    pub(crate) fn states(&self) -> BTreeSet<String> {
        let exclusive = self.exclusive();
        type Key = (ContainerId, TypeId, String);
        let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        let mut lanes: BTreeMap<(ContainerId, TypeId), BTreeSet<ContainerId>> = BTreeMap::new();
        for (i, row) in self.states.iter().enumerate() {
            let Some(group) = self.group(row.container) else { continue };
            lanes.entry((group, row.type_)).or_default().insert(row.container);
            if self.is_in(row) {
                groups.entry((group, row.type_, row.value.clone())).or_default().push(i);
            }
        }
        let mut lines = BTreeSet::new();
        for ((group, type_, value), rows) in groups {
            let all = &lanes[&(group, type_)];
            let durations: Vec<f64> = rows
                .iter()
                .map(|i| self.clip(self.states[*i].end) - self.clip(self.states[*i].start))
                .collect();
            let length = |i: &usize| self.clipped(&self.states[*i]);
            let all_durations: i128 = rows.iter().map(length).sum();
            let once = rows.iter().filter(|i| !self.is_repeated(**i));
            let inclusive: i128 = once.map(length).sum();
            let sum: i128 = rows.iter().map(|i| exclusive[*i]).sum();
            let life: i128 = all.iter().map(|id| self.lifetime(*id)).sum();
            let share = if life == 0 { 0.0 } else { float(sum) / float(life) };
            let mut by: BTreeMap<ContainerId, i128> = BTreeMap::new();
            for i in &rows {
                *by.entry(self.states[*i].container).or_default() += exclusive[*i];
            }
            let most = by.values().copied().max().unwrap_or(0).max(0);
            let average = float(sum) / all.len() as f64;
            let imbalance = if average > 0.0 { float(most) / average - 1.0 } else { 0.0 };
            let container = match self.asked.by.as_deref() {
                None | Some("value") => String::new(),
                Some(_) => format!("{},", self.title(group)),
            };
            lines.insert(format!(
                "{container}{},{value},{},{},{},{share:.9},{:.9},{},{:.9},{:.9},{:.9},{},{imbalance:.9}",
                self.trace.types().name(type_),
                rows.len(),
                nine(inclusive),
                nine(sum),
                durations.iter().copied().fold(f64::INFINITY, f64::min),
                nine(mean(all_durations, rows.len())),
                quantile(&durations, 0.5),
                quantile(&durations, 0.95),
                durations.iter().copied().fold(0.0, f64::max),
                by.len(),
            ));
        }
        lines
    }

    pub(crate) fn comm(&self) -> BTreeSet<String> {
        let mut groups: BTreeMap<(TypeId, String, [ContainerId; 2]), Vec<&Row>> = BTreeMap::new();
        for row in self.links.iter().filter(|row| self.is_in(row)) {
            let ends = row.ends.map(|id| match &self.asked.level {
                Some(level) => self.above(id, level).unwrap_or(id),
                None => id,
            });
            groups.entry((row.type_, row.value.clone(), ends)).or_default().push(row);
        }
        let names: Vec<String> = match &self.asked.bytes {
            Some(name) => vec![name.clone()],
            None => ["Size", "size", "Bytes", "MessageSize"].map(String::from).into(),
        };
        let bytes = |row: &Row| -> Option<f64> {
            let of = |name: &String| row.fields.iter().find(|(field, _)| field == name);
            let (_, text) = names.iter().find_map(of)?;
            text.trim_matches('"').parse().ok().filter(|bytes: &f64| bytes.is_finite())
        };
        let line =
            |((type_, value, ends), rows): (&(TypeId, String, [ContainerId; 2]), &Vec<&Row>)| {
                let durations = || rows.iter().map(|row| self.clip(row.end) - self.clip(row.start));
                let sum: i128 = rows.iter().map(|row| self.clipped(row)).sum();
                let all: Vec<f64> = rows.iter().filter_map(|row| bytes(row)).collect();
                let size = if all.is_empty() {
                    String::new()
                } else {
                    all.iter().sum::<f64>().to_string()
                };
                let first =
                    rows.iter().map(|row| self.clip(row.start)).fold(f64::INFINITY, f64::min);
                let last =
                    rows.iter().map(|row| self.clip(row.end)).fold(f64::NEG_INFINITY, f64::max);
                format!(
                    "{},{value},{},{},{},{size},{},{},{},{},{}",
                    self.trace.types().name(*type_),
                    self.name(ends[0]),
                    self.name(ends[1]),
                    rows.len(),
                    nine(fixed(durations().fold(f64::INFINITY, f64::min))),
                    nine(mean(sum, rows.len())),
                    nine(fixed(durations().fold(f64::NEG_INFINITY, f64::max))),
                    nine(fixed(first)),
                    nine(fixed(last)),
                )
            };
        groups.iter().map(line).collect()
    }

    pub(crate) fn events(&self) -> BTreeSet<String> {
        let mut groups: BTreeMap<(TypeId, String, ContainerId), Vec<f64>> = BTreeMap::new();
        for row in self.events.iter().filter(|row| self.is_in(row)) {
            let key = (row.type_, row.value.clone(), row.container);
            groups.entry(key).or_default().push(row.start);
        }
        let line = |((type_, value, id), times): (&(TypeId, String, ContainerId), &Vec<f64>)| {
            let life = float(self.lifetime(*id));
            let rate = if life == 0.0 {
                String::new()
            } else {
                format!("{:.9}", times.len() as f64 / life)
            };
            let first = times.iter().copied().fold(f64::INFINITY, f64::min);
            let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (type_, container) = (self.trace.types().name(*type_), self.name(*id));
            let (first, last) = (nine(fixed(first)), nine(fixed(last)));
            format!("{type_},{value},{container},{},{first},{last},{rate}", times.len())
        };
        groups.iter().map(line).collect()
    }

    fn edges(&self) -> Vec<i128> {
        let all = self.trace.containers();
        let first = all.ids().skip(1).map(|id| all.start(id)).fold(self.trace.end(), f64::min);
        let from = fixed(self.asked.from.unwrap_or(self.clip(first)));
        let to = fixed(self.asked.to.unwrap_or(self.clip(self.trace.end()))).max(from);
        let count = i128::from(self.asked.bins.unwrap_or(60));
        // Sums have the program's resolution of 2⁻⁶⁴ seconds.
        (0..=count).map(|i| ((from >> 6) + ((to >> 6) - (from >> 6)) * i / count) << 6).collect()
    }

    pub(crate) fn time(&self) -> BTreeSet<String> {
        let edges = self.edges();
        let mut sums: BTreeMap<(usize, Option<ContainerId>, TypeId, String), i128> =
            BTreeMap::new();
        let by_value = self.asked.by.as_deref() == Some("value");
        for (i, row) in self.states.iter().enumerate() {
            let id = match (by_value, self.asked.by.as_deref()) {
                (true, _) => None,
                (_, None | Some("container")) => Some(row.container),
                (_, Some(_)) => match self.group(row.container) {
                    Some(id) => Some(id),
                    None => continue,
                },
            };
            for bin in 0..edges.len() - 1 {
                let within = |row: &Row| {
                    let start = fixed(self.clip(row.start)).max(edges[bin]);
                    (fixed(self.clip(row.end)).min(edges[bin + 1]) - start).max(0)
                };
                let mut sum = within(row);
                if sum == 0 {
                    continue;
                }
                if self.asked.inclusive && self.is_repeated(i) {
                    continue;
                }
                if !self.asked.inclusive {
                    let inner = self.inner[i].iter();
                    sum -= inner.map(|j| within(&self.states[*j])).sum::<i128>();
                }
                *sums.entry((bin, id, row.type_, row.value.clone())).or_default() += sum;
            }
        }
        let line = |((bin, id, type_, value), sum): (
            &(usize, Option<ContainerId>, TypeId, String),
            &i128,
        )| {
            let container = id.map_or(String::new(), |id| self.title(id));
            let type_ = self.trace.types().name(*type_);
            let (start, end) = (nine(edges[*bin]), nine(edges[bin + 1]));
            format!("{bin},{start},{end},{container},{type_},{value},{}", nine(*sum))
        };
        sums.iter().filter(|(_, sum)| **sum != 0).map(line).collect()
    }

    pub(crate) fn variables(&self) -> BTreeSet<String> {
        let mut lanes: BTreeMap<(TypeId, ContainerId), Vec<&Row>> = BTreeMap::new();
        for row in self.variables.iter().filter(|row| self.is_in(row)) {
            lanes.entry((row.type_, row.container)).or_default().push(row);
        }
        let line = |((type_, id), rows): (&(TypeId, ContainerId), &Vec<&Row>)| {
            let seconds: i128 = rows.iter().map(|row| self.clipped(row)).sum();
            let integral: f64 = rows.iter().map(|row| row.number * float(self.clipped(row))).sum();
            let mean =
                if seconds == 0 { String::new() } else { (integral / float(seconds)).to_string() };
            let least = rows.iter().map(|row| row.number).fold(f64::INFINITY, f64::min);
            let most = rows.iter().map(|row| row.number).fold(f64::NEG_INFINITY, f64::max);
            let (type_, container) = (self.trace.types().name(*type_), self.name(*id));
            let count = rows.len();
            format!("{type_},{container},{count},{least},{most},{mean},{integral}")
        };
        lanes.iter().map(line).collect()
    }

    pub(crate) fn variable_bins(&self) -> BTreeSet<String> {
        let edges = self.edges();
        let mut sums: BTreeMap<(TypeId, ContainerId, usize), (i128, f64)> = BTreeMap::new();
        for row in &self.variables {
            for bin in 0..edges.len() - 1 {
                let start = fixed(self.clip(row.start)).max(edges[bin]);
                let seconds = fixed(self.clip(row.end)).min(edges[bin + 1]) - start;
                if seconds > 0 {
                    let sum = sums.entry((row.type_, row.container, bin)).or_default();
                    *sum = (sum.0 + seconds, sum.1 + row.number * float(seconds));
                }
            }
        }
        let line = |((type_, id, bin), (seconds, integral)): (
            &(TypeId, ContainerId, usize),
            &(i128, f64),
        )| {
            let (type_, container) = (self.trace.types().name(*type_), self.name(*id));
            let (start, end) = (nine(edges[*bin]), nine(edges[bin + 1]));
            format!("{bin},{start},{end},{type_},{container},{}", integral / float(*seconds))
        };
        sums.iter().map(line).collect()
    }
}
