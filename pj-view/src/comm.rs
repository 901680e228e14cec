//! Communication in a time window: a matrix of pairs, and a list of messages.

use paje_analysis::Scope;
use paje_analysis::comm::{BYTES, Comm, Ends};
use paje_parser::TypeNature;
use paje_sim::{ContainerId, Selection, TimeRange, Trace};
use paje_workers::Workers;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::best::Best;
use crate::details;
use crate::view::View;

/// Maximum number of pairs. Those with the most links are listed.
const MOST_PAIRS: usize = 1 << 14;

/// Returns the links that overlap a window by pair of containers: count, bytes and seconds, clipped
/// to the window.
pub(crate) fn matrix(view: &View, window: TimeRange, workers: &Workers) -> Value {
    let trace = &view.trace;
    let mut selection = Selection::default();
    selection.window = window;
    let mut comm = Comm::new(Scope::new(&selection), None);
    comm.see(trace, workers);
    let mut pairs: FxHashMap<[u32; 2], (u64, Option<f64>, f64)> = FxHashMap::default();
    let types = view.lanes().filter(|lane| lane.nature() == TypeNature::Link);
    let types: Vec<_> = types.map(|lane| lane.type_name().to_string()).collect();
    for row in comm.rows(trace, &Ends::Containers) {
        if !types.contains(&row.type_.to_string()) {
            continue;
        }
        let (count, bytes, time) = pairs.entry(row.ends.map(|id| id.0)).or_default();
        *count += row.count;
        *bytes = match (*bytes, row.bytes) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        *time += trace.time_scale().time(row.mean.to_f64()) * row.count as f64;
    }
    let count: u64 = pairs.values().map(|pair| pair.0).sum();
    let mut all: Vec<_> = pairs.into_iter().collect();
    all.sort_by(|(a, (most, ..)), (b, (other, ..))| other.cmp(most).then(a.cmp(b)));
    let omitted = all.len().saturating_sub(MOST_PAIRS);
    all.truncate(MOST_PAIRS);
    let has_bytes = all.iter().any(|(_, (_, bytes, _))| bytes.is_some());
    let row = |(ends, sums): ([u32; 2], (u64, Option<f64>, f64))| {
        json!([ends[0], ends[1], sums.0, sums.1, sums.2])
    };
    json!({
        "from": window.from, "to": window.to, "count": count, "omitted": omitted,
        "noBytes": (count > 0 && !has_bytes).then(|| no_bytes(trace)),
        "pairs": all.into_iter().map(row).collect::<Value>(),
    })
}

fn no_bytes(trace: &Trace) -> String {
    let names = BYTES.join(", ");
    let mut fields = trace.defs().iter().flat_map(|def| def.extras());
    match fields.any(|(name, _)| BYTES.contains(&name)) && !trace.has_user_defined() {
        true => "Sizes are not kept; start pj_view with --fields".into(),
        false => format!("The trace has no sizes; record them in a field of links: {names}"),
    }
}

/// Order of a list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Start,
    Longest,
}

/// Selection of a list of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) window: TimeRange,
    pub(crate) from: Option<ContainerId>,
    pub(crate) to: Option<ContainerId>,
    pub(crate) order: Order,
    /// Number of skipped messages, and maximum number of listed ones.
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// Lists the links that overlap a window.
pub(crate) fn messages(view: &View, asked: &Asked) -> Value {
    let clock = view.pyramid.clock();
    let mut best = Best::new(asked.first + asked.count);
    for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
        let (low, high) = (clock.ticks(asked.window.from), clock.ticks(asked.window.to));
        view.pyramid.near(lane, low, high, |row| {
            let is_pair = asked.from.is_none_or(|id| id == row.ends.0)
                && asked.to.is_none_or(|id| id == row.ends.1);
            if !is_pair || !asked.window.overlaps(row.start, row.end) {
                return;
            }
            let key = match asked.order {
                Order::Start => row.start,
                Order::Longest => row.start - row.end,
            };
            best.push((key, lane.id(), row.number));
        });
    }
    let total = best.total();
    let page = best.sorted().into_iter().skip(asked.first);
    let page = page.filter_map(|(_, lane, row)| {
        let mut message = details::without_links(view, lane, row)?;
        let fields = message["fields"].as_array()?;
        let size = |name: &&str| fields.iter().find(|field| field[0] == **name);
        let size = BYTES.iter().find_map(size).and_then(|field| field[1].as_str());
        let size = size.and_then(|text| text.trim_matches('"').parse::<f64>().ok());
        message["bytes"] = json!(size);
        Some(message)
    });
    json!({"total": total, "first": asked.first, "messages": page.collect::<Value>()})
}
