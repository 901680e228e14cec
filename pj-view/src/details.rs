//! Details of a row.

use paje_parser::TypeNature;
use paje_sim::{ContainerId, LaneId, Link, Row};
use serde_json::{Value, json};

use crate::pyramid;
use crate::view::View;

const MOST_LINKS: usize = 60;

/// Returns a row, and the links of a state.
pub(crate) fn row(view: &View, lane: LaneId, row: u64) -> Option<Value> {
    let mut answer = without_links(view, lane, row)?;
    let lane = view.lane(lane)?;
    if lane.nature() == TypeNature::State {
        let time = |name: &str| answer[name].as_f64().unwrap_or(0.0);
        answer["links"] = links(view, lane.container(), time("start"), time("end"));
    }
    Some(answer)
}

/// Returns a row.
pub(crate) fn without_links(view: &View, lane: LaneId, number: u64) -> Option<Value> {
    let row = view.lane(lane)?.rows().nth(usize::try_from(number).ok()?)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut answer = match row {
        Row::Container(_) => return None,
        Row::State(it) => json!({"value": it.value.0, "imbrication": it.imbrication}),
        Row::Variable(it) => json!({"height": it.value}),
        Row::Event(it) => json!({"value": it.value.0}),
        Row::Link(it) => {
            let key = text(&raw_key(&it));
            json!({"value": it.value.0, "from": it.from.0, "to": it.to.0, "key": key})
        }
    };
    (answer["lane"], answer["row"]) = (json!(lane.0), json!(number));
    (answer["start"], answer["end"]) = (json!(row.start()), json!(row.end()));
    answer["fields"] = row.fields().map(|(name, value)| json!([name, text(value)])).collect();
    if let Some(line) = row.line() {
        answer["line"] = json!(line.line);
        let file = view.trace.files().get(line.file as usize).and_then(Option::as_deref);
        answer["file"] = json!(file.map(|path| path.display().to_string()));
    }
    Some(answer)
}

pub(crate) fn raw_key(link: &Link<'_>) -> Vec<u8> {
    let mut raw = Vec::new();
    link.key().write_raw(&mut raw);
    raw
}

fn links(view: &View, container: ContainerId, start: f64, end: f64) -> Value {
    let clock = view.pyramid.clock();
    let inside = |time: f64| start <= time && time <= end;
    let mut all = Vec::new();
    for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
        view.pyramid.near(lane, clock.ticks(start), clock.ticks(end), |row: pyramid::Row| {
            let leaves = row.ends.0 == container && inside(row.start);
            let reaches = row.ends.1 == container && inside(row.end);
            if (leaves || reaches) && all.len() < MOST_LINKS {
                all.push((lane, row, leaves));
            }
        });
    }
    all.sort_by(|(_, a, _), (_, b, _)| a.start.total_cmp(&b.start));
    let answer = all.into_iter().map(|(lane, row, leaves)| {
        let (other, time) = if leaves { (row.ends.1, row.end) } else { (row.ends.0, row.start) };
        json!({
            "lane": lane.id().0, "row": row.number, "start": row.start, "end": row.end,
            "value": row.value.0, "from": row.ends.0.0, "to": row.ends.1.0,
            "other": state_at(view, other, time),
        })
    });
    answer.collect()
}

fn state_at(view: &View, container: ContainerId, time: f64) -> Value {
    let tick = view.pyramid.clock().ticks(time);
    let mut found: Option<(LaneId, pyramid::Row)> = None;
    let lanes = view.trace.lanes_of(container);
    for lane in
        lanes.filter(|lane| lane.nature() == TypeNature::State && view.selected().wants_lane(*lane))
    {
        view.pyramid.near(lane, tick, tick, |row| {
            let deeper = found.is_none_or(|(_, best)| row.imbrication >= best.imbrication);
            if row.start <= time && time <= row.end && deeper {
                found = Some((lane.id(), row));
            }
        });
    }
    found.map_or(Value::Null, |(lane, row)| json!([lane.0, row.number]))
}
