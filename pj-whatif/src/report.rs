//! Report that compares a run before and after the change.

use std::collections::BTreeMap;
use std::fmt::Write;

use paje_console::fill::fill;
use paje_console::options::Format;
use paje_decimal::amounts::{amount, duration, percent};
use paje_sim::TimeScale;
use paje_whatif::tasks::TaskPrediction;
use paje_whatif::{Graph, Plan, Retimed};
use serde_json::{Map, Value, json};

use crate::analysis::RunAnalysis;
use crate::many::{Outcome, Spread};

/// Error of the model that is shown beside the prediction.
const LARGE: f64 = 0.05;

#[derive(Debug)]
pub(crate) struct Report {
    /// Unit of the times that are added.
    scale: TimeScale,
    /// Numbers, with times in seconds.
    rows: Vec<Row>,
    /// Sentences on the reliability of the result.
    confidence: Vec<String>,
    /// Error of the model in the recorded run, as a share of the time of all containers.
    pub(crate) misfit: f64,
    /// Key of a sweep.
    key: String,
}

#[derive(Debug)]
pub(crate) struct Row {
    what: What,
    pub(crate) name: String,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// Subject of the numbers in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Makespan,
    Interval,
    NotWaiting,
    Container,
    Waiting,
    Critical,
    Sweep,
    Random,
}

impl What {
    pub(crate) const ALL: [What; 8] = [
        What::Makespan,
        What::Interval,
        What::NotWaiting,
        What::Container,
        What::Waiting,
        What::Critical,
        What::Sweep,
        What::Random,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            What::Makespan => "makespan",
            What::Interval => "interval",
            What::NotWaiting => "not waiting",
            What::Container => "end",
            What::Waiting => "waiting",
            What::Critical => "critical path",
            What::Sweep => "sweep",
            What::Random => "random",
        }
    }

    /// Formats a number for people.
    pub(crate) fn shown(self, number: f64) -> String {
        match self {
            What::NotWaiting => percent(number),
            _ if number.is_finite() => duration(number),
            _ => "–".into(),
        }
    }
}

impl Report {
    pub(crate) fn new(scale: TimeScale) -> Self {
        let confidence = vec![scale.to_string()];
        Report { scale, rows: Vec::new(), confidence, misfit: 0.0, key: String::new() }
    }

    /// Adds a row. Times are in the trace's unit.
    fn add(&mut self, what: What, name: impl Into<String>, before: f64, after: f64) {
        let [before, after] = [before, after].map(|number| match what {
            What::NotWaiting => number,
            _ => self.seconds(number),
        });
        self.rows.push(Row { what, name: name.into(), before, after });
    }

    pub(crate) fn seconds(&self, time: f64) -> f64 {
        self.scale.seconds(time)
    }

    /// Formats a duration in the trace's unit for people.
    pub(crate) fn duration(&self, time: f64) -> String {
        duration(self.seconds(time))
    }

    /// Formats a rate in bytes per unit of the trace's time for people.
    pub(crate) fn rate(&self, rate: f64) -> String {
        let amount = amount(self.scale.time(rate));
        let gap = if amount.ends_with(char::is_alphabetic) { "" } else { " " };
        format!("{amount}{gap}B/s")
    }

    pub(crate) fn of(&self, what: What) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.what == what)
    }

    pub(crate) fn caveats(&self) -> &[String] {
        &self.confidence
    }

    pub(crate) fn caveat(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.confidence.contains(&sentence) {
            self.confidence.push(sentence);
        }
    }

    /// Adds the result of a run. `before` is the analysis of the recorded run.
    pub(crate) fn add_run(
        &mut self,
        graph: &Graph<'_>,
        plan: &Plan,
        retimed: &Retimed,
        before: &RunAnalysis,
    ) {
        let (begin, end) = graph.span().unwrap_or((0.0, 0.0));
        self.add(What::Makespan, "", end - begin, retimed.makespan());
        for (at, track) in graph.tracks().list().iter().enumerate() {
            let before = track.last_exit() - begin;
            self.add(What::Container, graph.name(at as u32), before, retimed.finish[at] - begin);
        }
        let after = match retimed.is_recorded(plan) {
            true => before.clone(),
            false => RunAnalysis::changed(graph, plan, retimed),
        };
        // Share of the containers' time that is not spent waiting.
        let not_waiting = |makespan: f64, finish: &dyn Fn(usize) -> f64, waiting: &[f64]| {
            let busy = waiting.iter().enumerate().map(|(at, waits)| finish(at) - begin - waits);
            let whole = makespan * waiting.len() as f64;
            if whole > 0.0 { busy.sum::<f64>() / whole } else { 1.0 }
        };
        let recorded = |at: usize| graph.tracks().list()[at].last_exit();
        self.add(
            What::NotWaiting,
            "",
            not_waiting(end - begin, &recorded, &before.waiting),
            not_waiting(retimed.makespan(), &|at| retimed.finish[at], &after.waiting),
        );
        for (at, (before, after)) in before.waiting.iter().zip(&after.waiting).enumerate() {
            self.add(What::Waiting, graph.name(at as u32), *before, *after);
        }
        let mut path: BTreeMap<&String, (f64, f64)> = BTreeMap::new();
        before
            .on_path
            .iter()
            .for_each(|(name, seconds)| path.entry(name).or_default().0 = *seconds);
        after.on_path.iter().for_each(|(name, seconds)| path.entry(name).or_default().1 = *seconds);
        let mut path: Vec<_> = path.into_iter().collect();
        path.sort_by(|a, b| (b.1.0 + b.1.1).total_cmp(&(a.1.0 + a.1.1)));
        for (name, (before, after)) in path {
            self.add(What::Critical, name, before, after);
        }
    }

    /// Adds the interval in which the makespan of the changed run is.
    pub(crate) fn add_interval(&mut self, least: f64, most: f64) {
        self.add(What::Interval, "", least, most);
    }

    /// Adds the prediction for a run of tasks.
    pub(crate) fn add_tasks(&mut self, found: &TaskPrediction) {
        self.add(What::Makespan, "", found.recorded, found.makespan);
        self.add(What::Makespan, "at least", found.recorded, found.range.0);
        self.add(What::Makespan, "at most", found.recorded, found.range.1);
        for (kind, [before, after], share) in &found.kinds {
            let workers =
                if before == after { format!("{before}") } else { format!("{before} to {after}") };
            self.add(What::NotWaiting, format!("{kind} ({workers})"), share[0], share[1]);
        }
        let (policy, misfit) = (found.policy.0.name(), found.policy.1 * 100.0);
        self.caveat(format!(
            "tasks scheduled like StarPU's {policy}, which gives {misfit:+.1} % of the recorded makespan"
        ));
        found.doubts.iter().for_each(|doubt| self.caveat(doubt));
    }

    pub(crate) fn add_sweep(
        &mut self,
        key: &str,
        values: &[String],
        before: f64,
        runs: &[Outcome],
    ) {
        self.key = key.to_owned();
        for (value, run) in values.iter().zip(runs) {
            let name = format!("{key}={value}");
            match run {
                Ok(makespan) => self.add(What::Sweep, name, before, *makespan),
                Err(cycle) => {
                    self.caveat(format!("{name}: the run never ends: {cycle}"));
                    self.add(What::Sweep, name, before, f64::INFINITY);
                }
            }
        }
    }

    pub(crate) fn add_random(&mut self, before: f64, makespans: &[f64]) {
        let spread = Spread::of(makespans);
        self.add(What::Random, "mean", before, spread.mean);
        self.add(What::Random, "mean, low", before, spread.mean - spread.of_mean);
        self.add(What::Random, "mean, high", before, spread.mean + spread.of_mean);
        self.add(What::Random, "2.5 %", before, spread.low);
        self.add(What::Random, "median", before, spread.median);
        self.add(What::Random, "97.5 %", before, spread.high);
    }

    /// Formats the report; as text for a terminal or another file of this width, if known.
    pub(crate) fn text(&self, format: Format, is_terminal: bool, width: Option<usize>) -> String {
        match format {
            Format::Text | Format::Parquet => self.for_people(is_terminal, width),
            Format::Csv => self.csv(),
            Format::Json => self.json(),
        }
    }

    fn for_people(&self, is_terminal: bool, width: Option<usize>) -> String {
        let mut text = String::new();
        let most =
            self.rows.iter().filter(|row| row.after.is_finite() && row.what != What::NotWaiting);
        let most = most.flat_map(|row| [row.before, row.after]).fold(0.0, f64::max);
        let columns = width.unwrap_or(100);
        let width = self.rows.iter().map(|row| shown(&row.name).chars().count()).max();
        let room = columns.saturating_sub(NUMBERS).clamp(13, 40);
        let width = width.unwrap_or(0).clamp(13, room);
        let cells = columns.saturating_sub(width + NUMBERS + 2).min(CELLS);
        for what in What::ALL {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.what == what).collect();
            if rows.is_empty() {
                continue;
            }
            if what == What::Interval {
                rows.iter().for_each(|row| text += &self.interval(row));
                continue;
            }
            let title = what.name();
            let (before, after, change_of) = ("before", "after", "change");
            let _ = writeln!(text, "{title:width$}  {before:>9}  {after:>9}  {change_of:>10}");
            let shown_rows = if is_terminal { rows.len().min(40) } else { rows.len() };
            for row in &rows[..shown_rows] {
                let change = match row.before {
                    before if before > 0.0 => change(row.after / before - 1.0),
                    _ => String::new(),
                };
                let mut name = shown(&row.name);
                if name.chars().count() > width {
                    name = name.chars().take(width - 1).collect::<String>() + "…";
                }
                let (before, after) = (what.shown(row.before), what.shown(row.after));
                let line = format!("{name:width$}  {before:>9}  {after:>9}  {change:>10}");
                let has_bars = is_terminal && most > 0.0 && what != What::NotWaiting && cells > 3;
                let bars = match has_bars {
                    true => format!("  {}", bars(row.before / most, row.after / most, cells)),
                    false => String::new(),
                };
                let _ = writeln!(text, "{}", (line + &bars).trim_end());
            }
            if rows.len() > shown_rows {
                let _ = writeln!(text, "… and {} more", rows.len() - shown_rows);
            }
            if what == What::Makespan && self.misfit > LARGE {
                let misfit = percent(self.misfit);
                let _ = writeln!(text, "error of the model in the recorded run: {misfit}");
            }
            text.push('\n');
        }
        if !self.confidence.is_empty() {
            text.push_str("confidence\n");
            for sentence in &self.confidence {
                text += &fill(&format!("- {}\n", shown(sentence)), columns);
            }
        }
        text
    }

    /// Formats the interval of the makespan, and its change from the recorded one.
    fn interval(&self, row: &Row) -> String {
        let recorded = self.of(What::Makespan).next().map_or(0.0, |row| row.before);
        let [from, to] = [row.before, row.after].map(duration);
        let changes = match [row.before, row.after].map(|it| change(it / recorded - 1.0)) {
            [from, to] if recorded > 0.0 => format!(" ({from} to {to})"),
            _ => String::new(),
        };
        format!("interval of the makespan: {from} to {to}{changes}\n\n")
    }

    fn csv(&self) -> String {
        let mut text = "what,name,before,after\n".to_owned();
        let quoted = |name: &str| match name.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.to_owned(),
        };
        let in_order = |what| self.rows.iter().filter(move |row| row.what == what);
        for row in What::ALL.into_iter().flat_map(in_order) {
            let (what, name) = (row.what.name(), quoted(&row.name));
            let _ = writeln!(text, "{what},{name},{:.9},{:.9}", row.before, row.after);
        }
        for sentence in &self.confidence {
            let _ = writeln!(text, "confidence,{},,", quoted(sentence));
        }
        text
    }

    fn json(&self) -> String {
        let mut all = Map::new();
        for what in What::ALL {
            let rows = self.rows.iter().filter(|row| row.what == what);
            let rows: Vec<Value> = rows
                .map(|row| json!({ "name": row.name, "before": row.before, "after": row.after }))
                .collect();
            if !rows.is_empty() {
                all.insert(what.name().replace(' ', "_"), Value::Array(rows));
            }
        }
        all.insert("confidence".into(), json!(self.confidence));
        let text = serde_json::to_string_pretty(&Value::Object(all)).unwrap_or_default();
        text + "\n"
    }
}

/// Formats a change in percent with a sign. Zero never has a minus sign.
pub(crate) fn change(part: f64) -> String {
    let text = format!("{:+.2} %", part * 100.0);
    if text == "-0.00 %" { "+0.00 %".into() } else { text }
}

/// Replaces control characters, which could move a terminal's cursor.
fn shown(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// Largest number of characters of a full bar.
const CELLS: usize = 24;

/// Width of the columns of numbers.
const NUMBERS: usize = 34;

/// Returns a bar with the common part, followed by the part that was removed or added.
fn bars(before: f64, after: f64, full: usize) -> String {
    let cells = |part: f64| (part.clamp(0.0, 1.0) * full as f64).round() as usize;
    let (before, after) = (cells(before), cells(after));
    let same = before.min(after);
    let (gone, more) = (before - same, after - same);
    format!("{}{}{}", "█".repeat(same), "░".repeat(gone), "▓".repeat(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmful_names_are_escaped() {
        let mut report = Report::new(TimeScale::from_byte(0).expect("seconds"));
        report.add(What::Container, "a,\"b\"\u{1b}[2J", 1.0, 2.0);
        assert!(report.csv().contains("\"a,\"\"b\"\"\u{1b}[2J\",1.000000000,2.000000000"));
        assert!(!report.for_people(true, None).contains('\u{1b}'));
        let json: Value = serde_json::from_str(&report.json()).expect("valid JSON");
        assert_eq!(json["end"][0]["name"], "a,\"b\"\u{1b}[2J");
    }

    #[test]
    fn changes_are_never_negative_zero() {
        assert_eq!([-1e-9, 1e-9, -0.5].map(change), ["+0.00 %", "+0.00 %", "-50.00 %"]);
    }

    #[test]
    fn bars_show_what_changes() {
        assert_eq!(bars(1.0, 0.5, 24), "█".repeat(12) + &"░".repeat(12));
        assert_eq!(bars(0.5, 1.0, 24), "█".repeat(12) + &"▓".repeat(12));
    }
}
