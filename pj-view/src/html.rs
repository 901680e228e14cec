//! Writes the page and a trace as a single file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use paje_workers::Workers;

use crate::explain::Explained;
use crate::pyramid::TOP;
use crate::view::View;
use crate::{comm, model, page, profile, tiles};

/// Forbids the page to load anything.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

const MOST_ROWS: usize = 1 << 16;

/// Maximum number of rows that the page draws one by one (`MOST_ROWS` in the page).
const FEW_ROWS: u64 = 768;

/// Returns the text of the file, and whether the file has the finest levels. The page first shows
/// the overlays of these names.
pub(crate) fn write(
    view: &View,
    explained: &Explained,
    most: u64,
    shown: &[&str],
    workers: &Workers,
) -> (String, bool) {
    let mut model = model::of(view, usize::MAX, shown);
    let all = view.extent();
    model["classes"] = model::classes(view);
    model["profile"] = profile::of(view, all.from, all.to);
    model["matrix"] = comm::matrix(view, all, workers);
    model["explained"] = explained.overview();
    model["verdict"] = explained.verdict(view);
    let model = escape(&model.to_string());
    let fixed = model.len() + page::FILES.iter().map(|file| file.text.len()).sum::<usize>();
    let room = most.saturating_sub(fixed as u64) / 4 * 3;
    // Overlays take at most a quarter of the room.
    let overlays = fit_overlays(view, explained, room / 4);
    let (blocks, whole) = fit(view, room - overlays.len() as u64);
    let mut style = String::new();
    let mut body = String::new();
    for file in page::FILES {
        match file.name {
            "style.css" => style = file.text.replace("</", "<\\/"),
            "index.html" => body = file.text.to_owned(),
            _ => {}
        }
    }
    let mut head = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n");
    let _ = write!(head, "<style>\n{style}</style>\n");
    body = body.replace("<link rel=\"stylesheet\" href=\"style.css\">\n", &head);
    let data = format!(
        "<script type=\"application/json\" id=\"embedded-model\">{model}</script>\n\
         <script type=\"text/plain\" id=\"embedded-blocks\">{}</script>\n\
         <script type=\"text/plain\" id=\"embedded-overlays\">{}</script>\n\
         <script type=\"module\">\n{}</script>\n",
        STANDARD.encode(&blocks),
        STANDARD.encode(&overlays),
        page::script().replace("</script", "<\\/script"),
    );
    body = body.replace("<script type=\"module\" src=\"main.js\"></script>\n", &data);
    (body, whole)
}

/// Escapes `<`, so that no name can end the element. In JSON, it occurs only in strings.
fn escape(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Maximum compression ratio, which bounds the browser's memory.
const MOST_OF_EACH: u64 = 12;

/// Returns compressed blocks of all lanes, in at most `room` bytes. Lanes have rows, or bins of the
/// finest level that fits and of all coarser levels, or both.
fn fit(view: &View, room: u64) -> (Vec<u8>, bool) {
    let lanes = view.lanes().count().max(1) as u64;
    // Each round halves the numbers of bins and rows, until everything fits.
    for round in 0..24 {
        let bins = (1u64 << 16) >> round;
        let rows = MOST_ROWS >> round;
        let smallest = lanes * 32 * 2;
        if bins < 16 && smallest < room {
            break;
        }
        let mut blocks = Blocks::default();
        let mut whole = true;
        for lane in view.lanes() {
            whole &= lane.len() <= rows as u64;
            blocks.add(|out| write_lane(view, lane, bins.max(16), rows, out));
            if blocks.bytes > room * MOST_OF_EACH || blocks.compressed() > room {
                break;
            }
        }
        let bytes = blocks.bytes;
        let compressed = blocks.finish();
        if bytes <= room * MOST_OF_EACH && compressed.len() as u64 <= room {
            return (compressed, whole);
        }
    }
    let mut blocks = Blocks::default();
    for lane in view.lanes() {
        blocks.add(|out| tiles::write(view, lane, TOP, 0..1, 0, out));
    }
    (blocks.finish(), false)
}

/// Appends bins of a level, or at most some number of rows.
type WriteBins<'a> = &'a dyn Fn(u32, Range<u64>, usize, &mut Vec<u8>);

/// Returns compressed blocks of waits and of the critical path, in at most `room` bytes. They have
/// rows, or bins of the finest level that fits and of all coarser levels.
fn fit_overlays(view: &View, explained: &Explained, room: u64) -> Vec<u8> {
    let clock = view.pyramid.clock();
    let end = clock.ticks(clock.end());
    for round in 0..16 {
        let (bins, rows) = ((1u64 << 16) >> round, MOST_ROWS >> round);
        let finest = (0..TOP).find(|level| end >> level < bins.max(1)).unwrap_or(TOP);
        let levels = || (finest..=TOP).map(|level| (level, 0..(end >> level) + 1));
        let mut blocks = Blocks::default();
        let mut write = |has_few: bool, add: WriteBins<'_>| {
            if has_few {
                return blocks.add(|out| add(TOP, 0..1, rows, out));
            }
            for (level, bins) in levels() {
                blocks.add(|out| add(level, bins.clone(), 0, out));
            }
        };
        if let Ok(waits) = &explained.waits {
            for lane in
                view.lanes().filter_map(|lane| Some((lane.id().0, waits.get(&lane.id().0)?)))
            {
                let (id, waits) = lane;
                write(waits.list.len() <= rows, &|level, bins, most, out| {
                    waits.write(id, level, bins, most, out);
                });
            }
        }
        if let Ok(path) = &explained.path {
            write(path.parts.len() <= rows, &|level, bins, most, out| {
                path.write(level, bins, most, out);
            });
        }
        let bytes = blocks.bytes;
        let compressed = blocks.finish();
        if bytes <= room * MOST_OF_EACH && compressed.len() as u64 <= room {
            return compressed;
        }
    }
    Blocks::default().finish()
}

struct Blocks {
    encoder: ZlibEncoder<Vec<u8>>,
    lane: Vec<u8>,
    bytes: u64,
}

impl Default for Blocks {
    fn default() -> Self {
        let encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        Blocks { encoder, lane: Vec::new(), bytes: 0 }
    }
}

impl Blocks {
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.lane.clear();
        write(&mut self.lane);
        self.bytes += self.lane.len() as u64;
        self.encoder.write_all(&self.lane).expect("writing to memory succeeds");
    }

    fn compressed(&self) -> u64 {
        self.encoder.get_ref().len() as u64
    }

    fn finish(self) -> Vec<u8> {
        self.encoder.finish().expect("writing to memory succeeds")
    }
}

/// Appends the rows of a lane, unless there are more than `rows`. For a lane with more than
/// [`FEW_ROWS`] rows, also appends bins of a level and of all coarser levels.
fn write_lane(
    view: &View,
    lane: paje_sim::LaneView<'_>,
    bins: u64,
    rows: usize,
    out: &mut Vec<u8>,
) {
    if lane.len() <= rows as u64 {
        tiles::write(view, lane, TOP, 0..1, rows, out);
        if lane.len() <= FEW_ROWS {
            return;
        }
    }
    let clock = view.pyramid.clock();
    let end = clock.ticks(clock.end());
    let finest = view.pyramid.finest(lane.id()).unwrap_or(0);
    let mut level = finest.max((0..TOP).find(|level| end >> level < bins).unwrap_or(TOP));
    while level < TOP {
        tiles::write(view, lane, level, 0..(end >> level) + 1, 0, out);
        level += 1;
    }
    tiles::write(view, lane, TOP, 0..1, 0, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_an_element() {
        let json = serde_json::json!({"name": "</script><script>alert(1)</script>"}).to_string();
        let escaped = escape(&json);
        assert!(!escaped.contains('<'));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).expect("the same"),
            serde_json::from_str::<serde_json::Value>(&json).expect("JSON")
        );
    }
}
