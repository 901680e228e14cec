//! Writes the report as a web page, with both runs on one time axis and the tables.

use std::collections::BTreeMap;

use paje_analysis::tracks::{Track, Tracks};
use paje_decimal::amounts::duration;
use paje_pictures::{
    Cell, Colours, Fill, Page, PageTable, Picture, Section, Strip, Strips, ValueColours,
};
use paje_sim::{TypeId, ValueId};
use paje_whatif::{Graph, Retimed};
use rayon::prelude::*;

use crate::report::{Report, What, change};

const BINS: usize = 320;

const MAKER: &str = concat!("pj_whatif ", env!("CARGO_PKG_VERSION"));

/// Seconds of each innermost state in one bin of a container.
type Bin = BTreeMap<(TypeId, ValueId), f64>;

pub(crate) fn page(
    name: &str,
    different: &[String],
    report: &Report,
    graph: &Graph<'_>,
    retimed: &Retimed,
) -> String {
    let mut facts = vec![("trace".to_owned(), name.to_owned())];
    let what = if different.is_empty() { "none".to_owned() } else { different.join("; ") };
    facts.push(("changes".into(), what));
    for row in report.of(What::Makespan) {
        let (before, after) = (duration(row.before), duration(row.after));
        facts.push(("makespan before".into(), before));
        facts.push(("makespan after".into(), after));
        if row.before > 0.0 {
            facts.push(("change".into(), change(row.after / row.before - 1.0)));
        }
    }
    let both = Section {
        heading: "Before and after".into(),
        pictures: vec![both(report, graph, retimed)],
        ..Section::default()
    };
    let all = What::ALL.into_iter().filter(|what| report.of(*what).next().is_some());
    let tables = all.map(|what| (what.name().to_owned(), table(report, what)));
    let numbers =
        Section { heading: "In numbers".into(), tables: tables.collect(), ..Section::default() };
    let notes = report.caveats().to_vec();
    let confidence = Section { heading: "Confidence".into(), notes, ..Section::default() };
    let mut sections = vec![both, numbers, confidence];
    sections.retain(|section| section.heading != "Confidence" || !section.notes.is_empty());
    let title = format!("What if: {name}");
    Page { title, facts, sections, maker: MAKER.into() }.file()
}

fn table(report: &Report, what: What) -> PageTable {
    let number = |number: f64| Cell { text: what.shown(number), number: Some(number) };
    let rows = report.of(what).map(|row| {
        let part = (row.before > 0.0).then(|| row.after / row.before - 1.0);
        let part = part.filter(|_| what != What::Interval);
        let text = part.map(change).unwrap_or_default();
        let name = Cell { text: row.name.clone(), number: None };
        vec![name, number(row.before), number(row.after), Cell { text, number: part }]
    });
    let [before, after, change] = match what {
        What::Interval => ["from", "to", ""],
        _ => ["before", "after", "change"],
    };
    let columns = [("", false), (before, true), (after, true), (change, true)];
    let columns = columns.map(|(name, is_number)| (name.to_owned(), is_number)).to_vec();
    PageTable { columns, rows: rows.collect() }
}

/// Draws both runs on one time axis.
fn both(report: &Report, graph: &Graph<'_>, retimed: &Retimed) -> Picture {
    let changed = graph.tracks().at_times(&retimed.start, &retimed.end);
    let spans = [&**graph.tracks(), &changed].map(|tracks| tracks.span().unwrap_or((0.0, 0.0)));
    let times = [spans[0].0.min(spans[1].0), spans[0].1.max(spans[1].1)];
    let bins = [&**graph.tracks(), &changed].map(|tracks| binned(tracks, times));
    let mut sums: Bin = BTreeMap::new();
    for (key, seconds) in bins.iter().flatten().flatten().flat_map(|(_, bin)| bin) {
        *sums.entry(*key).or_default() += seconds;
    }
    let types = graph.tracks().trace().types();
    let name = |(type_, value): (TypeId, ValueId)| types.value_name(type_, value).to_string();
    let mut largest: Vec<_> = sums.into_iter().collect();
    largest.sort_by(|a, b| b.1.total_cmp(&a.1));
    let colours =
        Colours::of(largest.into_iter().map(|(key, _)| name(key)), &ValueColours::new(types));
    let length = ((times[1] - times[0]) / BINS as f64).max(f64::MIN_POSITIVE);
    let strip = |(track, bins): (usize, &Vec<(usize, Bin)>)| {
        let fill = |bin: &Bin| {
            let part = |(key, seconds): (&_, &f64)| (colours.colour(&name(*key)), seconds / length);
            Fill::Parts(bin.iter().map(part).collect())
        };
        let bins = bins.iter().map(|(at, bin)| (*at, fill(bin))).collect();
        Strip { name: graph.name(track as u32), bins }
    };
    let headings = ["before", "after"].into_iter().zip(spans);
    let groups = headings.zip(&bins).map(|((heading, (begin, end)), bins)| {
        let heading = format!("{heading}: {}", report.duration(end - begin));
        (heading, bins.iter().enumerate().map(strip).collect())
    });
    let strips = Strips {
        title: "states of containers, before and after".into(),
        groups: groups.collect(),
        bins: BINS,
        times: times.map(|time| report.seconds(time)),
        legend: colours.legend(),
        shades: None,
    };
    strips.picture()
}

/// Returns the bins of each track that are not empty.
fn binned(tracks: &Tracks<'_>, times: [f64; 2]) -> Vec<Vec<(usize, Bin)>> {
    tracks.list().par_iter().map(|track| of_track(track, times)).collect()
}

fn of_track(track: &Track, [begin, end]: [f64; 2]) -> Vec<(usize, Bin)> {
    let mut bins: BTreeMap<usize, Bin> = BTreeMap::new();
    let length = (end - begin) / BINS as f64;
    let place = |time: f64| ((time - begin) / length).clamp(0.0, BINS as f64);
    for piece in track.pieces_back(begin, end) {
        let Some(state) = piece.state else { continue };
        let key = (track.type_, track.value[state]);
        let (mut from, until) = (place(piece.start), place(piece.end));
        while from < until {
            let next = (from.floor() + 1.0).min(until);
            let bin = bins.entry((from as usize).min(BINS - 1)).or_default();
            *bin.entry(key).or_default() += (next - from) * length;
            from = next;
        }
    }
    bins.into_iter().collect()
}
