//! Answers to requests.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use paje_sim::{ContainerId, LaneId, LaneView, Phase, Progress, TimeRange, TypeId, ValueId};
use paje_workers::Workers;
use serde_json::{Value, json};

use crate::comm::{self, Order};
use crate::explain::{Explained, Once};
use crate::find::{self, Spot};
use crate::hits::{self, Within};
use crate::request::Request;
use crate::serve::Answer;
use crate::view::View;
use crate::{details, fields, flame, histogram, model, page, profile, tiles};

/// Maximum number of bins in a tile, and of lanes in a request. No screen shows more.
const MOST_BINS: u64 = 1 << 13;
const MOST_LANES: usize = 1 << 10;

/// Maximum number of rows in a request for fields.
const MOST_ROWS: usize = 1 << 10;

/// Maximum length of a searched text in bytes, number of rows in an answer, and number of rows
/// before them.
const LONGEST_TEXT: usize = 1 << 10;
const MOST_LISTED: usize = 200;
const MOST_SKIPPED: usize = 10_000;

/// The served traces.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) traces: Vec<Served>,
}

impl Shared {
    /// Answers a request. If there are two traces, paths begin with the number of a trace, and the
    /// other paths are those of the page that shows both.
    pub(crate) fn answer(&self, request: &Request) -> Answer {
        if let [only] = self.traces.as_slice() {
            return only.answer(&request.path, request);
        }
        let numbered = request.path.split_once('/');
        let number = numbered.and_then(|(number, _)| number.parse::<usize>().ok());
        match number.and_then(|number| self.traces.get(number)).zip(numbered) {
            Some((trace, (_, path))) => trace.answer(path, request),
            None => page::find(page::PAIR, &request.path).map_or_else(not_found, of_file),
        }
    }
}

/// A trace that is being read, or its view.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) progress: Arc<Progress>,
    pub(crate) size: Option<u64>,
    pub(crate) taken: Arc<std::sync::atomic::AtomicU64>,
    pub(crate) view: OnceLock<Arc<View>>,
    pub(crate) explained: Once,
    pub(crate) workers: Arc<Workers>,
    /// Overlays that the page shows first.
    pub(crate) shown: Vec<&'static str>,
}

impl Served {
    fn answer(&self, path: &str, request: &Request) -> Answer {
        if let Some(file) = page::find(page::FILES, path) {
            return of_file(file);
        }
        if path == "progress" {
            return json(&self.status());
        }
        let Some(view) = self.view.get() else { return unavailable() };
        let found = match path {
            "model" => Some(model::of(view, model::VALUES, &self.shown)),
            "values" => values(view, request),
            "value" => request.words("text").map(|text| find::value(view, &text)),
            "tiles" => return blocks(view, request).unwrap_or_else(bad_request),
            "folded" => return folded(view, request).unwrap_or_else(bad_request),
            "row" => row(view, request, self.explained.found()),
            "profile" => window(request).map(|window| profile::of(view, window.from, window.to)),
            "find" => spot(view, request),
            "classes" => Some(model::classes(view)),
            "flame" => flames(view, request),
            "fields" => field_values(view, request),
            "matrix" => window(request).map(|window| comm::matrix(view, window, &self.workers)),
            "messages" => messages(view, request),
            "histogram" => durations(view, request),
            "hits" => search(view, request),
            "explained" | "verdict" => Some(match self.explained.start(view) {
                None => json!({"state": "computing"}),
                Some(explained) if path == "verdict" => explained.verdict(view),
                Some(explained) => explained.overview(),
            }),
            "waits" | "path" => {
                let Some(explained) = self.explained.found() else { return unavailable() };
                return match (path, request.text("containers")) {
                    ("path", _) => path_blocks(explained, request),
                    (_, None) => wait_blocks(explained, request),
                    (_, Some(_)) => folded_waits(view, explained, request),
                }
                .unwrap_or_else(bad_request);
            }
            _ => return not_found(),
        };
        found.map_or_else(bad_request, |value| json(&value))
    }

    fn status(&self) -> Value {
        if self.view.get().is_some() {
            return json!({"state": "ready"});
        }
        let taken = self.taken.load(std::sync::atomic::Ordering::Relaxed);
        let (phase, done, all) = self.progress.phase();
        let (state, done, all) = match phase {
            Phase::Reading => ("reading", taken, self.size),
            Phase::Sorting => ("sorting", done, Some(all)),
            Phase::Replaying => ("replaying", done, Some(all)),
        };
        json!({"state": state, "done": done, "all": all, "events": self.progress.events()})
    }
}

fn of_file(file: &page::File) -> Answer {
    Answer::new(file.kind, file.text.as_bytes().to_vec())
}

fn unavailable() -> Answer {
    Answer::status(503, "Service Unavailable")
}

fn not_found() -> Answer {
    Answer::status(404, "Not Found")
}

fn bad_request() -> Answer {
    Answer::status(400, "Bad Request")
}

fn json(value: &Value) -> Answer {
    Answer::new("application/json", value.to_string().into_bytes())
}

fn bins(request: &Request) -> Option<(u32, Range<u64>)> {
    let level: u32 = request.number("level").filter(|level| *level <= 63)?;
    let (first, count): (u64, u64) = (request.number("first")?, request.number("count")?);
    let end =
        first.checked_add(count).filter(|end| count <= MOST_BINS && *end <= 1 << (63 - level))?;
    Some((level, first..end))
}

/// Returns the containers and the hidden types of a request for folded containers.
fn containers(view: &View, request: &Request) -> Option<(Vec<ContainerId>, Vec<u32>)> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        let words = text.split(',').filter(|word| !word.is_empty());
        words.take(MOST_LANES).map(|word| word.parse().ok()).collect()
    };
    let hidden = numbers(request.text("hidden").unwrap_or(""))?;
    let containers = numbers(request.text("containers")?)?;
    let are_there = containers.iter().all(|id| (*id as usize) < view.trace.containers().len());
    are_there.then(|| (containers.into_iter().map(ContainerId).collect(), hidden))
}

/// Returns the lanes of a request.
fn lanes(request: &Request) -> Option<Vec<LaneId>> {
    let lanes = request.text("lanes")?.split(',').map(|lane| lane.parse().ok().map(LaneId));
    let lanes: Vec<LaneId> = lanes.take(MOST_LANES + 1).collect::<Option<_>>()?;
    (lanes.len() <= MOST_LANES).then_some(lanes)
}

/// Returns up to how many rows are wanted instead of bins.
fn rows(request: &Request) -> usize {
    request.number("rows").unwrap_or(0).min(1 << 14)
}

fn blocks_of(body: Vec<u8>) -> Answer {
    Answer::new("application/octet-stream", body)
}

fn folded(view: &View, request: &Request) -> Option<Answer> {
    let ((level, bins), (containers, hidden)) = (bins(request)?, containers(view, request)?);
    let mut body = Vec::new();
    for id in containers {
        tiles::write_folded(view, id, level, bins.clone(), &hidden, &mut body);
    }
    Some(blocks_of(body))
}

fn blocks(view: &View, request: &Request) -> Option<Answer> {
    let (level, bins) = bins(request)?;
    let mut body = Vec::new();
    for lane in lanes(request)? {
        tiles::write(view, view.lane(lane)?, level, bins.clone(), rows(request), &mut body);
    }
    Some(blocks_of(body))
}

fn values(view: &View, request: &Request) -> Option<Value> {
    let type_ = TypeId(request.number("type")?);
    let is_there = view.trace.types().ids().any(|id| id == type_);
    let first = request.number("first")?;
    is_there.then(|| model::values(view, type_, first, model::VALUES))
}

fn row(view: &View, request: &Request, explained: Option<&Explained>) -> Option<Value> {
    let (lane, row) = (request.number("lane")?, request.number("row")?);
    let mut answer = details::row(view, LaneId(lane), row)?;
    if let Some(explained) = explained {
        [answer["waits"], answer["causes"]] = explained.of_row(lane, row);
    }
    Some(answer)
}

fn window(request: &Request) -> Option<TimeRange> {
    let (from, to): (f64, f64) = (request.number("from")?, request.number("to")?);
    let window = TimeRange { from: from.min(to), to: from.max(to) };
    (from.is_finite() && to.is_finite()).then_some(window)
}

fn flames(view: &View, request: &Request) -> Option<Value> {
    let (window, id): (TimeRange, u32) = (window(request)?, request.number("container")?);
    let is_there = (id as usize) < view.trace.containers().len();
    is_there.then(|| flame::of(view, &view.lanes_within(ContainerId(id)), window))
}

/// Answers with the values of a field in rows of a lane. The rows are sorted.
fn field_values(view: &View, request: &Request) -> Option<Value> {
    let lane = view.lane(LaneId(request.number("lane")?))?;
    let text = request.words("rows")?;
    let rows: Option<Vec<u64>> = text.split(',').map(|word| word.parse().ok()).collect();
    let rows = rows?;
    let fine = rows.len() <= MOST_ROWS
        && rows.is_sorted_by(|a, b| a < b)
        && rows.last().is_some_and(|row| *row < lane.len());
    let name = request.words("name").filter(|_| fine)?;
    Some(json!(fields::of(lane, &name, &rows)))
}

fn spot(view: &View, request: &Request) -> Option<Value> {
    let (type_, value) = value(request)?;
    let after: f64 = request.number("time")?;
    let from = Spot(after, request.number("lane")?, request.number("row")?);
    let found = find::next(view, type_, value, from, request.text("back") != Some("1"));
    Some(found.unwrap_or(Value::Null))
}

fn value(request: &Request) -> Option<(TypeId, ValueId)> {
    Some((TypeId(request.number("type")?), ValueId(request.number("value")?)))
}

fn durations(view: &View, request: &Request) -> Option<Value> {
    let (type_, value) = value(request)?;
    let mut types = view.trace.types().ids();
    let is_there =
        types.any(|id| id == type_) && value.index() < view.trace.types().value_count(type_);
    let window = window(request).filter(|_| is_there)?;
    Some(histogram::of(view, type_, value, window))
}

/// Returns the number of skipped rows, and the number of listed ones.
fn page_of(request: &Request) -> Option<(usize, usize)> {
    let (first, count) = (request.number("first")?, request.number("count")?);
    (first <= MOST_SKIPPED && count <= MOST_LISTED).then_some((first, count))
}

fn messages(view: &View, request: &Request) -> Option<Value> {
    let (first, count) = page_of(request)?;
    let container = |name: &str| match request.text(name) {
        None => Some(None),
        Some(text) => text.parse().ok().map(|id| Some(ContainerId(id))),
    };
    let order = match request.text("order") {
        None | Some("start") => Order::Start,
        Some("longest") => Order::Longest,
        Some(_) => return None,
    };
    let (from, to) = (container("origin")?, container("goal")?);
    let asked = comm::Asked { window: window(request)?, from, to, order, first, count };
    Some(comm::messages(view, &asked))
}

fn search(view: &View, request: &Request) -> Option<Value> {
    let (first, count) = page_of(request)?;
    let text = request.words("text").filter(|text| (1..=LONGEST_TEXT).contains(&text.len()))?;
    let within = Within::named(request.text("in")?)?;
    Some(hits::find(view, within, &text, first, count))
}

fn wait_blocks(explained: &Explained, request: &Request) -> Option<Answer> {
    let (level, bins) = bins(request)?;
    let (mut body, none) = (Vec::new(), Default::default());
    for LaneId(lane) in lanes(request)? {
        let waits = explained.waits.as_ref().ok().and_then(|waits| waits.get(&lane));
        waits.unwrap_or(&none).write(lane, level, bins.clone(), rows(request), &mut body);
    }
    Some(blocks_of(body))
}

fn folded_waits(view: &View, explained: &Explained, request: &Request) -> Option<Answer> {
    let ((level, bins), (containers, hidden)) = (bins(request)?, containers(view, request)?);
    let of_lane = |lane: LaneView<'_>| {
        let waits = explained.waits.as_ref().ok()?.get(&lane.id().0)?;
        Some(waits.spans.bins(level, bins.clone()))
    };
    let mut body = Vec::new();
    for id in containers {
        tiles::write_averages(view, id, level, bins.clone(), &hidden, of_lane, &mut body);
    }
    Some(blocks_of(body))
}

fn path_blocks(explained: &Explained, request: &Request) -> Option<Answer> {
    let (level, bins) = bins(request)?;
    let mut body = Vec::new();
    if let Ok(path) = &explained.path {
        path.write(level, bins, rows(request), &mut body);
    }
    Some(blocks_of(body))
}
