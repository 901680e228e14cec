//! Waits and the critical path over the lanes of a drawing.

use std::collections::BTreeMap;
use std::fmt::Write;

use paje_analysis::waits::Kind;
use paje_pictures::colours::{Rgb, hex};
use paje_pictures::tenth;
use paje_sim::LaneId;
use rustc_hash::FxHashMap;

use super::Drawing;
use super::text::push_rect;
use crate::explain::{COLOURS, LaneWaits, PATH_COLOUR, Path, number};
use crate::frame::level;
use crate::picture::Line;
use crate::pyramid::{Key, Level};

/// Pixels per part of the path from which the parts are joined to a line. If they are narrower, the
/// line would hide everything, so each lane shows which share of each bin the path is in it.
const JOINED: usize = 8;

/// Number of opacities that show shares.
const SHADES: f64 = 8.0;

/// What is drawn over the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overlays<'e> {
    pub(crate) waits: Option<&'e FxHashMap<u32, LaneWaits>>,
    pub(crate) path: Option<&'e Path>,
}

impl Overlays<'_> {
    /// Returns the entries of the legend.
    pub(super) fn legend(&self) -> impl Iterator<Item = (String, Rgb)> {
        let is_there = |kind: Kind| {
            let mut waits = self.waits.into_iter().flat_map(FxHashMap::values);
            waits.any(|it| it.list.iter().any(|wait| wait.kind == kind))
        };
        let kinds = Kind::ALL.into_iter().filter(|kind| is_there(*kind));
        let kinds = kinds.map(|kind| (kind.name().to_owned(), COLOURS[number(kind) as usize]));
        let path = self.path.map(|_| ("critical path".to_owned(), PATH_COLOUR));
        kinds.chain(path).collect::<Vec<_>>().into_iter()
    }

    pub(super) fn draw(&self, drawing: &Drawing<'_>, lines: &[Line<'_>], out: &mut String) {
        let lines = lines.iter().filter_map(|line| Some((line.lane?.id(), line)));
        let lines: BTreeMap<LaneId, &Line<'_>> = lines.collect();
        let mut fills: BTreeMap<Rgb, String> = BTreeMap::new();
        for (id, waits) in self.waits.into_iter().flatten() {
            let Some(line) = lines.get(&LaneId(*id)) else { continue };
            draw_waits(drawing, line, waits, &mut fills);
        }
        for (color, path) in &fills {
            let _ = writeln!(
                out,
                "<path class=\"waits\" fill=\"{}\" stroke=\"#fff\" stroke-width=\".3\" d=\"{path}\"/>",
                hex(*color)
            );
        }
        if let Some(path) = self.path {
            draw_path(drawing, &lines, path, out);
        }
    }
}

/// Draws waits as a strip at the lower edge of their line.
fn draw_waits(
    drawing: &Drawing<'_>,
    line: &Line<'_>,
    waits: &LaneWaits,
    fills: &mut BTreeMap<Rgb, String>,
) {
    let (level, from, to) = window(drawing);
    let height = (line.height * 0.35).max(2.0);
    let bottom = line.top + line.height - 1.0;
    let near = waits.spans.near(from, to);
    if near.len() <= drawing.width as usize {
        for wait in &waits.list[near] {
            let (left, right) = (drawing.x(wait.start), drawing.x(wait.end));
            if left < right {
                let path = fills.entry(COLOURS[number(wait.kind) as usize]).or_default();
                push_rect(path, left, right.max(left + 0.1), bottom - height, height);
            }
        }
        return;
    }
    let bins = waits.spans.bins(level, from >> level..(to >> level) + 1);
    let scale = (-f64::from(level)).exp2();
    for (at, bin) in bins.range().zip(bins.iter()) {
        let (left, right) = (edge(drawing, level, at), edge(drawing, level, at + 1));
        let mut base = bottom;
        for it in bin.amounts() {
            let Key::State(_, kind) = it.key else { continue };
            let share = (it.amount as f64 * scale).min(1.0) * height;
            base -= share;
            push_rect(fills.entry(COLOURS[kind.index()]).or_default(), left, right, base, share);
        }
    }
}

/// Returns the level of bins, and the first and last tick of the window.
fn window(drawing: &Drawing<'_>) -> (u32, u64, u64) {
    let (clock, window) = (drawing.view.pyramid.clock(), drawing.view.window);
    (level(clock, window, drawing.width), clock.ticks(window.from), clock.ticks(window.to))
}

/// Returns the position of the first edge of a bin.
fn edge(drawing: &Drawing<'_>, level: u32, bin: u64) -> f64 {
    drawing.x(drawing.view.pyramid.clock().time(bin << level))
}

/// Draws a line through the lanes of the path. Lanes that are not drawn interrupt it.
fn draw_path(
    drawing: &Drawing<'_>,
    lines: &BTreeMap<LaneId, &Line<'_>>,
    path: &Path,
    out: &mut String,
) {
    let (level, from, to) = window(drawing);
    let middle = |lane: u32| lines.get(&LaneId(lane)).map(|line| line.top + line.height / 2.0);
    let near = path.spans.near(from, to);
    if near.len() * JOINED <= drawing.width as usize {
        let (mut line, mut last) = (String::new(), None);
        for (lane, start, end) in &path.parts[near] {
            let y = middle(*lane);
            if let Some(y) = y {
                let letter = if last.is_some() { 'L' } else { 'M' };
                let (x, end) = (tenth(drawing.x(*start)), tenth(drawing.x(*end)));
                let _ = write!(line, "{letter}{x} {}H{end}", tenth(y));
            }
            last = y;
        }
        // A white edge separates the line from the states.
        push_line(out, "#fff", 3.5, 1.0, &line);
        return push_line(out, &hex(PATH_COLOUR), 1.8, 1.0, &line);
    }
    let bins = path.spans.bins(level, from >> level..(to >> level) + 1);
    let scale = (-f64::from(level)).exp2();
    let mut shades: BTreeMap<u32, String> = BTreeMap::new();
    for (at, bin) in bins.range().zip(bins.iter()) {
        let (left, right) = (edge(drawing, level, at), edge(drawing, level, at + 1));
        for it in bin.amounts().filter(|it| it.amount > 0) {
            let Key::State(_, lane) = it.key else { continue };
            let Some(y) = middle(lane.0) else { continue };
            let shade = ((it.amount as f64 * scale).min(1.0).sqrt() * SHADES).ceil();
            let line = shades.entry(shade as u32).or_default();
            let _ = write!(line, "M{} {}H{}", tenth(left), tenth(y), tenth(right));
        }
    }
    for (shade, line) in shades {
        push_line(out, &hex(PATH_COLOUR), 2.5, f64::from(shade) / SHADES, &line);
    }
}

fn push_line(out: &mut String, color: &str, width: f64, opacity: f64, line: &str) {
    let _ = writeln!(
        out,
        "<path class=\"critical-path\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
         stroke-opacity=\"{opacity}\" stroke-linejoin=\"round\" d=\"{line}\"/>"
    );
}
