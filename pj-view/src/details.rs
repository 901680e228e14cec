//! Details of a row.

use std::convert::Infallible;

use paje_parser::TypeNature;
use paje_sim::{
    Annotations, ContainerId, Events, LaneId, LaneView, LineNumber, Links, States, Variables,
    Visitor,
};
use serde_json::{Value, json};

use crate::pyramid::Row;
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
pub(crate) fn without_links(view: &View, lane: LaneId, row: u64) -> Option<Value> {
    let lane = view.lane(lane).filter(|lane| row < lane.len())?;
    let mut before = 0;
    let mut chunk = 0;
    for count in lane.chunks_from(0) {
        if row < before + count as u64 {
            break;
        }
        (before, chunk) = (before + count as u64, chunk + 1);
    }
    let mut details =
        Details { row: (row - before) as usize, answer: Value::Null, line: None, files: &[] };
    details.files = view.trace.files();
    let Ok(()) = lane.visit_chunks(chunk..chunk + 1, &mut details);
    let mut answer = details.answer;
    answer["lane"] = json!(lane.id().0);
    answer["row"] = json!(row);
    Some(answer)
}

struct Details<'t> {
    row: usize,
    answer: Value,
    line: Option<LineNumber>,
    files: &'t [Option<std::sync::Arc<std::path::Path>>],
}

impl Details<'_> {
    fn set(&mut self, mut answer: Value, fields: &Annotations<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields_of = fields.of(self.row).map(|(name, value)| json!([name, text(value)]));
        answer["fields"] = fields_of.collect();
        self.line = fields.line(self.row);
        if let Some(line) = self.line {
            answer["line"] = json!(line.line);
            let file = self.files.get(line.file as usize).and_then(Option::as_deref);
            answer["file"] = json!(file.map(|path| path.display().to_string()));
        }
        self.answer = answer;
    }
}

impl Visitor for Details<'_> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), Infallible> {
        let i = self.row;
        let (start, end) = (it.start[i], it.end[i]);
        let answer = json!({"start": start, "end": end, "value": it.value[i].0, "imbrication": it.imbrication[i]});
        self.set(answer, &it.user_defined);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        let i = self.row;
        self.set(
            json!({"start": it.start[i], "end": it.end(i), "height": it.value[i]}),
            &it.user_defined,
        );
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), Infallible> {
        let (i, time) = (self.row, it.time[self.row]);
        self.set(json!({"start": time, "end": time, "value": it.value[i].0}), &it.user_defined);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        let i = self.row;
        let answer = json!({
            "start": it.start[i], "end": it.end[i], "value": it.value[i].0,
            "from": it.from[i].0, "to": it.to[i].0, "key": String::from_utf8_lossy(it.raw_key(i)),
        });
        self.set(answer, &it.user_defined);
        Ok(())
    }
}

fn links(view: &View, container: ContainerId, start: f64, end: f64) -> Value {
    let clock = view.pyramid.clock();
    let inside = |time: f64| start <= time && time <= end;
    let mut all = Vec::new();
    for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
        view.pyramid.near(lane, clock.ticks(start), clock.ticks(end), |row: Row| {
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
    let mut found: Option<(LaneId, Row)> = None;
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
