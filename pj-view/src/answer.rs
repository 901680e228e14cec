//! Answers to requests.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use paje_sim::{ContainerId, LaneId, Phase, Progress, TypeId, ValueId};
use serde_json::{Value, json};

use crate::find::{self, Spot};
use crate::request::Request;
use crate::serve::Answer;
use crate::view::View;
use crate::{details, fields, flame, model, page, profile, tiles};

/// Maximum number of bins in a tile, and of lanes in a request. No screen shows more.
const MOST_BINS: u64 = 1 << 13;
const MOST_LANES: usize = 1 << 10;

/// Maximum number of rows in a request for fields.
const MOST_ROWS: usize = 1 << 10;

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) progress: Arc<Progress>,
    pub(crate) size: Option<u64>,
    pub(crate) taken: Arc<std::sync::atomic::AtomicU64>,
    pub(crate) view: OnceLock<Arc<View>>,
}

impl Shared {
    pub(crate) fn answer(&self, request: &Request) -> Answer {
        if let Some(file) = page::file(&request.path) {
            return Answer::new(file.kind, file.text.as_bytes().to_vec());
        }
        if request.path == "progress" {
            return json(&self.status());
        }
        let Some(view) = self.view.get() else { return Answer::status(503, "Service Unavailable") };
        let found = match request.path.as_str() {
            "model" => Some(model::of(view, model::VALUES)),
            "values" => values(view, request),
            "value" => request.words("text").map(|text| find::value(view, &text)),
            "tiles" => return blocks(view, request).unwrap_or_else(bad_request),
            "folded" => return folded(view, request).unwrap_or_else(bad_request),
            "row" => row(view, request),
            "profile" => window(view, request),
            "find" => spot(view, request),
            "flame" => flames(view, request),
            "fields" => field_values(view, request),
            _ => return Answer::status(404, "Not Found"),
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

fn folded(view: &View, request: &Request) -> Option<Answer> {
    let (level, bins) = bins(request)?;
    let numbers = |text: &str| -> Option<Vec<u32>> {
        let words = text.split(',').filter(|word| !word.is_empty());
        words.take(MOST_LANES).map(|word| word.parse().ok()).collect()
    };
    let hidden = numbers(request.text("hidden").unwrap_or(""))?;
    let mut body = Vec::new();
    for container in numbers(request.text("containers")?)? {
        if container as usize >= view.trace.containers().len() {
            return None;
        }
        let id = ContainerId(container);
        tiles::write_folded(view, id, level, bins.clone(), &hidden, &mut body);
    }
    Some(Answer::new("application/octet-stream", body))
}

fn blocks(view: &View, request: &Request) -> Option<Answer> {
    let (level, bins) = bins(request)?;
    let rows: usize = request.number("rows").unwrap_or(0);
    let mut lanes = request.text("lanes")?.split(',');
    let mut body = Vec::new();
    for lane in lanes.by_ref().take(MOST_LANES) {
        let lane = view.lane(LaneId(lane.parse().ok()?))?;
        tiles::write(view, lane, level, bins.clone(), rows.min(1 << 14), &mut body);
    }
    lanes.next().is_none().then(|| Answer::new("application/octet-stream", body))
}

fn values(view: &View, request: &Request) -> Option<Value> {
    let type_ = TypeId(request.number("type")?);
    let is_there = view.trace.types().ids().any(|id| id == type_);
    let first = request.number("first")?;
    is_there.then(|| model::values(view, type_, first, model::VALUES))
}

fn row(view: &View, request: &Request) -> Option<Value> {
    details::row(view, LaneId(request.number("lane")?), request.number("row")?)
}

fn window(view: &View, request: &Request) -> Option<Value> {
    let (from, to): (f64, f64) = (request.number("from")?, request.number("to")?);
    (from.is_finite() && to.is_finite()).then(|| profile::of(view, from.min(to), from.max(to)))
}

fn flames(view: &View, request: &Request) -> Option<Value> {
    let (from, to): (f64, f64) = (request.number("from")?, request.number("to")?);
    let id: u32 = request.number("container")?;
    let is_there = (id as usize) < view.trace.containers().len();
    let fine = from.is_finite() && to.is_finite() && is_there;
    fine.then(|| flame::of(view, &view.lanes_within(ContainerId(id)), from.min(to), from.max(to)))
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
    let (type_, value) = (TypeId(request.number("type")?), ValueId(request.number("value")?));
    let after: f64 = request.number("time")?;
    let from = Spot(after, request.number("lane")?, request.number("row")?);
    let found = find::next(view, type_, value, from, request.text("back") != Some("1"));
    Some(found.unwrap_or(Value::Null))
}
