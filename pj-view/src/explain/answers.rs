//! Answers from the analyses.

use std::cmp::Ordering;
use std::ops::Range;

use paje_analysis::waits::Kind;
use paje_analysis::{Data, Seconds};
use paje_pictures::colours::hex;
use serde_json::{Value, json};

use super::{COLOURS, Explained, LaneWaits, PATH_COLOUR, Path, Wait, number};
use crate::tiles::{self, WaitRow};
use crate::view::View;

/// Lane of blocks with the critical path.
const PATH_LANE: u32 = u32::MAX;

/// Number of listed waits.
const LONGEST: usize = 50;

/// Returns whether a block has single rows: if at most `most` of them overlap the window.
fn rows(near: Range<usize>, overlaps: impl Fn(usize) -> bool, most: usize) -> Option<Vec<usize>> {
    if near.len() > most.saturating_mul(4) {
        return None;
    }
    let found: Vec<usize> = near.filter(|at| overlaps(*at)).collect();
    (found.len() <= most).then_some(found)
}

impl LaneWaits {
    /// Appends the waits of a lane in some bins: at most `most` waits, or else the time of each
    /// kind in each bin.
    pub(crate) fn write(
        &self,
        lane: u32,
        level: u32,
        bins: Range<u64>,
        most: usize,
        out: &mut Vec<u8>,
    ) {
        let (from, to) = (bins.start << level, (bins.end << level).saturating_sub(1));
        let spans = &self.spans;
        let Some(found) = rows(spans.near(from, to), |at| spans.overlaps(at, from, to), most)
        else {
            return tiles::write_spans(lane, &spans.bins(level, bins), out);
        };
        let found: Vec<WaitRow> = found.iter().map(|at| self.list[*at].row()).collect();
        tiles::write_waits(lane, level, bins.start, &found, out);
    }
}

impl Wait {
    fn row(&self) -> WaitRow {
        WaitRow {
            start: self.start,
            end: self.end,
            released: self.released,
            row: self.row,
            value: number(self.kind),
            whom: self.whom,
            release: self.release.unwrap_or(u32::MAX),
        }
    }

    fn json(&self, lane: u32) -> Value {
        json!({
            "lane": lane, "row": self.row, "kind": number(self.kind), "start": self.start, "end": self.end,
            "whom": self.whom, "release": self.release, "released": self.released,
        })
    }
}

impl Path {
    /// Appends the parts of the path in some bins, and the ones before and after: at most `most`
    /// parts, or else the time of each lane in each bin.
    pub(crate) fn write(&self, level: u32, bins: Range<u64>, most: usize, out: &mut Vec<u8>) {
        let (from, to) = (bins.start << level, (bins.end << level).saturating_sub(1));
        let near = self.spans.near(from, to);
        if near.len() > most {
            return tiles::write_spans(PATH_LANE, &self.spans.bins(level, bins), out);
        }
        let around = near.start.saturating_sub(1)..(near.end + 1).min(self.parts.len());
        let part = |at: usize| {
            let (lane, start, end) = self.parts[at];
            let (released, whom, release) = (end, lane, 0);
            WaitRow { start, end, released, row: at as u32, value: lane, whom, release }
        };
        let parts: Vec<WaitRow> = around.map(part).collect();
        tiles::write_waits(PATH_LANE, level, bins.start, &parts, out);
    }
}

impl Explained {
    /// Returns an overview: the time of each kind of waits, the longest waits, the length of the
    /// path, and reasons if something is missing.
    pub(crate) fn overview(&self) -> Value {
        json!({
            "state": "ready",
            "kinds": Kind::ALL.map(Kind::name),
            "colours": COLOURS.map(hex),
            "pathColour": hex(PATH_COLOUR),
            "waits": match &self.waits {
                Ok(waits) => of_waits(waits.iter().flat_map(|(lane, it)| {
                    it.list.iter().map(|wait| (*lane, wait))
                })),
                Err(why) => json!({"refused": why}),
            },
            "path": match &self.path {
                Ok(path) => json!({"parts": path.parts.len()}),
                Err(why) => json!({"refused": why}),
            },
        })
    }

    /// Returns the verdict as rows: kind, name, share, text, and the commands that show more and that predict the
    /// run without the cause.
    pub(crate) fn verdict(&self, view: &View) -> Value {
        let verdict = match &self.verdict {
            Ok(verdict) => verdict,
            Err(why) => return json!({"refused": why}),
        };
        let table = verdict.table(&quoted(&view.name));
        let text = |column: &str, at: usize| match table.column(column) {
            Some(Data::Text(all)) => all[at].to_string(),
            _ => String::new(),
        };
        let share = |at: usize| match table.column("share") {
            Some(Data::Number(all)) => all[at],
            _ => None,
        };
        let row = |at: usize| {
            json!({
                "kind": text("kind", at), "name": text("name", at), "share": share(at), "text": text("text", at),
                "next": text("next", at), "whatif": text("whatif", at),
            })
        };
        json!({"state": "ready", "rows": (0..table.len()).map(row).collect::<Value>()})
    }

    /// Returns the waits of a row, and the waits that it ends.
    pub(crate) fn of_row(&self, lane: u32, row: u64) -> [Value; 2] {
        let Ok(waits) = &self.waits else { return [json!([]), json!([])] };
        let own = waits.get(&lane).into_iter().flat_map(|it| &it.list);
        let own = own.filter(|wait| u64::from(wait.row) == row).map(|wait| wait.json(lane));
        let mut caused: Vec<(u32, &Wait)> = Vec::new();
        for (waiter, it) in waits {
            let is_released = |wait: &&Wait| {
                wait.whom == lane && wait.release.is_some_and(|it| u64::from(it) == row)
            };
            caused.extend(it.list.iter().filter(is_released).map(|wait| (*waiter, wait)));
        }
        caused.sort_by(longest_first);
        let caused = caused.into_iter().take(LONGEST).map(|(lane, wait)| wait.json(lane));
        [own.collect(), caused.collect()]
    }
}

fn longest_first(a: &(u32, &Wait), b: &(u32, &Wait)) -> Ordering {
    let length = |wait: &Wait| wait.end - wait.start;
    let place = |(lane, wait): &(u32, &Wait)| (*lane, wait.row, number(wait.kind));
    length(b.1).total_cmp(&length(a.1)).then_with(|| place(a).cmp(&place(b)))
}

fn of_waits<'e>(waits: impl Iterator<Item = (u32, &'e Wait)>) -> Value {
    let mut all: Vec<(u32, &Wait)> = waits.collect();
    let mut sums = Kind::ALL.map(|_| (0u64, Seconds::ZERO));
    for (_, wait) in &all {
        let (count, seconds) = &mut sums[number(wait.kind) as usize];
        *count += 1;
        *seconds += Seconds::between(wait.start, wait.end);
    }
    let most = all.len().min(LONGEST);
    if most < all.len() {
        all.select_nth_unstable_by(most, longest_first);
        all.truncate(most);
    }
    all.sort_by(longest_first);
    json!({
        "sums": sums.map(|(count, seconds)| json!([count, seconds.to_f64()])),
        "longest": all.into_iter().map(|(lane, wait)| wait.json(lane)).collect::<Value>(),
    })
}

/// Quotes a file's name for a shell, if it needs quotes.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    match name.chars().all(is_plain) && name != "-" && name != "standard input" {
        true => name.to_owned(),
        false => "FILE".into(),
    }
}
