//! SVG drawings.
//!
//! Rows that are wider than a pixel are drawn one by one. Where rows are narrower, each pixel shows
//! their shares. Files are small because each colour has a single path.

mod overlays;
mod text;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use paje_parser::TypeNature;
use paje_pictures::colours::{Rgb, hex};
use paje_pictures::numbers::step;
use paje_pictures::{escaped, tenth};
use paje_sim::{LaneView, TimeRange, TypeId, ValueId};

use crate::frame::{GUTTER, MARGIN, level};
use crate::picture::{DEEPEST, Line, lines};
use crate::pyramid::{Key, Level, Row, Summary};
use crate::tiles::{OTHERS, Share, push_shares};
use crate::view::View;
pub(crate) use overlays::Overlays;
use text::{push_rect, shortened, significant};

const AXIS: f64 = 24.0;

/// Height of the note on units of time.
const NOTE: f64 = 12.0;

const LETTER: f64 = 6.0;

const MOST_LINKS: usize = 4000;

/// Colour of the sum of all small shares.
const GREY: Rgb = [0x88; 3];

const MOST_NAMES: usize = 30;

pub(crate) fn write(
    view: &View,
    width: u32,
    height: Option<u32>,
    overlays: &Overlays<'_>,
) -> String {
    let mut lines = lines(view);
    let legend = Legend::of(view, width, overlays);
    let natural = lines.last().map_or(0.0, |line| line.top + line.height);
    let around = MARGIN * 2.0 + AXIS + legend.height + NOTE;
    let scale =
        height.map_or(1.0, |height| ((f64::from(height) - around).max(1.0) / natural).min(20.0));
    for line in &mut lines {
        (line.top, line.height) = (line.top * scale + MARGIN, line.height * scale);
    }
    let bottom = natural * scale + MARGIN;
    let mut drawing = Drawing::new(view, f64::from(width));
    for line in &lines {
        drawing.line(line);
    }
    drawing.links(&lines);
    let total = (bottom + AXIS + legend.height + NOTE + MARGIN).ceil();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{total}\" viewBox=\"0 0 {width} {total}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        escaped(&view.name)
    );
    drawing.finish(&mut out);
    overlays.draw(&drawing, &lines, &mut out);
    axis(&mut out, &drawing, bottom);
    legend.draw(&mut out, bottom + AXIS);
    let _ = writeln!(
        out,
        "<text x=\"2\" y=\"{}\" fill=\"#444\" font-size=\"9\">time axis in seconds; the trace has {}</text>",
        tenth(total - MARGIN),
        view.trace.time_scale()
    );
    out.push_str("</svg>\n");
    out
}

struct Drawing<'v> {
    view: &'v View,
    width: f64,
    fills: BTreeMap<Rgb, String>,
    strokes: BTreeMap<Rgb, String>,
    labels: String,
}

impl<'v> Drawing<'v> {
    fn new(view: &'v View, width: f64) -> Self {
        let (fills, strokes) = (BTreeMap::new(), BTreeMap::new());
        Drawing { view, width, fills, strokes, labels: String::new() }
    }

    fn x(&self, time: f64) -> f64 {
        let window = self.view.window;
        let part = (time - window.from) / (window.to - window.from);
        GUTTER + part.clamp(0.0, 1.0) * (self.width - GUTTER - MARGIN)
    }

    fn rect(&mut self, color: Rgb, left: f64, right: f64, top: f64, height: f64) {
        push_rect(self.fills.entry(color).or_default(), left, right, top, height);
    }

    fn line(&mut self, line: &Line<'v>) {
        let indent = MARGIN + 10.0 * line.indent.min(8) as f64;
        if line.height >= 7.0 {
            let scale = self.scale(line);
            let room = ((GUTTER - indent - 4.0 - scale) / LETTER) as usize;
            let (x, y) = (tenth(indent), tenth(line.top + line.height / 2.0 + 4.0));
            let _ = writeln!(
                self.labels,
                "<text x=\"{x}\" y=\"{y}\">{}</text>",
                escaped(&shortened(&line.label, room))
            );
        }
        let Some(lane) = line.lane else { return };
        let clock = self.view.pyramid.clock();
        let window = self.view.window;
        let (from, to) = (clock.ticks(window.from), clock.ticks(window.to));
        let pixels = self.width - GUTTER - MARGIN;
        let rows = self.view.pyramid.rows(lane, from, to, pixels as usize);
        match (lane.nature(), rows) {
            (TypeNature::State, Some(rows)) => {
                rows.iter().for_each(|row| self.state(line, lane, row))
            }
            (TypeNature::Event, Some(rows)) => {
                for row in rows {
                    let x = self.x(row.start);
                    let color = self.color(lane.type_id(), row.value);
                    self.rect(color, x - 0.5, x + 0.5, line.top + 2.0, line.height - 4.0);
                }
            }
            _ => {
                let level = level(clock, window, self.width);
                let bins = from >> level..(to >> level) + 1;
                let summary = self.view.pyramid.summary(lane, level, bins);
                self.summary(line, lane, &summary);
            }
        }
    }

    /// Labels a variable with its range of values, if there is room. Returns the width of the
    /// labels.
    fn scale(&mut self, line: &Line<'v>) -> f64 {
        let is_variable = line.lane.is_some_and(|lane| lane.nature() == TypeNature::Variable);
        if !is_variable || line.height < 24.0 {
            return 0.0;
        }
        let [_, least, greatest] = line.heights;
        let texts =
            [(greatest.max(0.0), line.top + 9.0), (least.min(0.0), line.top + line.height - 2.0)]
                .map(|(value, y)| (significant(value), tenth(y)));
        let x = GUTTER - 4.0;
        for (value, y) in &texts {
            let _ = writeln!(
                self.labels,
                "<text x=\"{x}\" y=\"{y}\" fill=\"#666\" font-size=\"8\" text-anchor=\"end\">{value}</text>"
            );
        }
        let letters = texts.iter().map(|(value, _)| value.len()).max().unwrap_or(0);
        letters as f64 * LETTER * 0.8 + 6.0
    }

    fn state(&mut self, line: &Line<'v>, lane: LaneView<'v>, row: &Row) {
        let (top, height) = sublane(line, row.imbrication);
        let (left, right) = (self.x(row.start), self.x(row.end));
        let color = self.color(lane.type_id(), row.value);
        // A gap separates neighbours of the same colour.
        let gap = if right - left > 2.5 { 0.5 } else { 0.0 };
        self.rect(color, left, (right - gap).max(left + 0.1), top, height);
        let name = lane.value_name(row.value).to_string();
        if height >= 9.0 && right - left > name.chars().count() as f64 * LETTER + 6.0 {
            let (x, y) = (tenth((left + right) / 2.0), tenth(top + height / 2.0 + 3.5));
            let ink = if luminance(color) > 0.5 { "" } else { " fill=\"#fff\"" };
            let _ = writeln!(
                self.labels,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"10\" text-anchor=\"middle\"{ink}>{}</text>",
                escaped(&name)
            );
        }
    }

    fn summary(&mut self, line: &Line<'v>, lane: LaneView<'v>, summary: &Summary) {
        let clock = self.view.pyramid.clock();
        match summary {
            Summary::States(bins) | Summary::Events(bins) => {
                let width = (-f64::from(bins.level())).exp2();
                let (mut all, mut shares) = (Vec::new(), Vec::new());
                for (at, bin) in bins.range().zip(bins.iter()) {
                    let time = |bin: u64| clock.time(bin << bins.level());
                    let (left, right) = (self.x(time(at)), self.x(time(at + 1)));
                    let scale = match lane.nature() {
                        TypeNature::State => width,
                        _ => 1.0 / f64::from(bin.starts().max(1)),
                    };
                    all.clear();
                    all.extend(bin.amounts().filter(|it| it.amount > 0));
                    shares.clear();
                    push_shares(&mut all, scale, &mut shares);
                    self.shares(line, lane, &shares, left..right);
                }
            }
            Summary::Variable(ranges) => {
                let [_, least, greatest] = line.heights;
                let (low, high) = (least.min(0.0), greatest.max(0.0));
                let span = if high > low { high - low } else { 1.0 };
                let y = |value: f64| line.top + 2.0 + (line.height - 4.0) * (high - value) / span;
                let color = self.view.colors.variable(self.view.trace.types(), lane.type_id());
                for (at, range) in ranges.range().zip(ranges.iter()) {
                    let Some(mean) = range.mean(clock) else { continue };
                    let time = |bin: u64| clock.time(bin << ranges.level());
                    let (left, right) = (self.x(time(at)), self.x(time(at + 1)));
                    let (top, bottom) = (y(mean.max(0.0)), y(mean.min(0.0)));
                    self.rect(color, left, right, top, (bottom - top).max(0.8));
                }
            }
            _ => {}
        }
    }

    fn shares(&mut self, line: &Line<'v>, lane: LaneView<'v>, shares: &[Share], x: Range<f64>) {
        let mut bases: BTreeMap<u32, f64> = BTreeMap::new();
        for Share { pair: (value, imbrication), amount, .. } in shares {
            let (top, height) = sublane(line, *imbrication);
            let base = bases.entry(*imbrication).or_default();
            let share = amount.min(1.0 - *base);
            let color = match *value {
                OTHERS => GREY,
                value => self.color(lane.type_id(), ValueId(value)),
            };
            let above = top + height * (1.0 - *base - share);
            self.rect(color, x.start, x.end, above, height * share);
            *base += share;
        }
    }

    fn links(&mut self, lines: &[Line<'v>]) {
        let middle = |line: &Line<'_>| line.top + line.height / 2.0;
        // Links end at the first lane of a container, or at the container's heading if it has
        // several lanes.
        let (lanes, names): (Vec<_>, Vec<_>) = lines.iter().rev().partition(|it| it.lane.is_some());
        let first = names.into_iter().chain(lanes);
        let places: BTreeMap<u32, f64> =
            first.map(|line| (line.container.0, middle(line))).collect();
        let clock = self.view.pyramid.clock();
        let (from, to) = (clock.ticks(self.view.window.from), clock.ticks(self.view.window.to));
        let view = self.view;
        for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
            for row in view.pyramid.rows(lane, from, to, MOST_LINKS).unwrap_or_default() {
                let (Some(start), Some(end)) =
                    (places.get(&row.ends.0.0), places.get(&row.ends.1.0))
                else {
                    continue;
                };
                let color = self.color(lane.type_id(), row.value);
                let (left, right) = (tenth(self.x(row.start)), tenth(self.x(row.end)));
                let path = self.strokes.entry(color).or_default();
                let _ = write!(path, "M{left} {}L{right} {}", tenth(*start), tenth(*end));
            }
        }
    }

    fn color(&self, type_: TypeId, value: ValueId) -> Rgb {
        self.view.colors.value(self.view.trace.types(), type_, value)
    }

    fn finish(&self, out: &mut String) {
        for (color, path) in &self.fills {
            // Pale colours get an outline.
            let is_pale = color.iter().all(|part| *part > 0xf0);
            let edge = if is_pale { " stroke=\"#888\" stroke-width=\".4\"" } else { "" };
            let _ = writeln!(out, "<path fill=\"{}\"{edge} d=\"{path}\"/>", hex(*color));
        }
        for (color, path) in &self.strokes {
            let _ = writeln!(
                out,
                "<path fill=\"none\" stroke=\"{}\" stroke-width=\".6\" opacity=\".7\" d=\"{path}\"/>",
                hex(*color)
            );
        }
        out.push_str(&self.labels);
    }
}

fn sublane(line: &Line<'_>, imbrication: u32) -> (f64, f64) {
    let gap = (line.height * 0.1).min(2.0);
    let depth = line.heights[0].min(DEEPEST);
    let height = (line.height - 2.0 * gap) / depth;
    (line.top + gap + height * f64::from(imbrication).min(depth - 1.0), height)
}

fn axis(out: &mut String, drawing: &Drawing<'_>, top: f64) {
    let scale = drawing.view.trace.time_scale();
    let TimeRange { from, to } = drawing.view.window;
    let window = TimeRange { from: scale.seconds(from), to: scale.seconds(to) };
    let step = step((window.to - window.from) / ((drawing.width - GUTTER) / 110.0).max(1.0));
    let digits = (-step.log10().floor()).clamp(0.0, 15.0) as usize;
    let mut mark = (window.from / step).ceil();
    while mark * step <= window.to {
        let x = tenth(drawing.x(scale.time(mark * step)));
        let (line, y) = (tenth(top), tenth(top + 16.0));
        // The last label must stay inside the drawing.
        let (at, anchor) = match x + 24.0 > drawing.width {
            true => (tenth(drawing.width - 1.0), "end"),
            false => (x, "middle"),
        };
        let _ = writeln!(
            out,
            "<path stroke=\"#888\" d=\"M{x} {line}v4\"/><text x=\"{at}\" y=\"{y}\" fill=\"#444\" font-size=\"10\" \
             text-anchor=\"{anchor}\">{:.digits$} s</text>",
            mark * step
        );
        mark += 1.0;
    }
}

struct Legend {
    entries: Vec<(Rgb, String, f64, f64)>,
    height: f64,
}

impl Legend {
    fn of(view: &View, width: u32, overlays: &Overlays<'_>) -> Self {
        let (types, clock) = (view.trace.types(), view.pyramid.clock());
        let (from, to) = (clock.ticks(view.window.from), clock.ticks(view.window.to));
        let mut ticks: BTreeMap<(String, Rgb), u128> = BTreeMap::new();
        for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::State) {
            for (key, amount) in view.pyramid.profile(lane, from, to).amounts {
                let Key::State(_, value) = key else { continue };
                let color = view.colors.value(types, lane.type_id(), value);
                let name = types.value_name(lane.type_id(), value).to_string();
                *ticks.entry((name, color)).or_default() += u128::from(amount);
            }
        }
        let mut named: Vec<_> = ticks.into_iter().collect();
        named.sort_by(|(a, most), (b, other)| other.cmp(most).then_with(|| a.cmp(b)));
        let (mut x, mut y) = (GUTTER, 12.0);
        let mut entries = Vec::new();
        let named = named.into_iter().map(|(named, _)| named).take(MOST_NAMES);
        for (name, color) in named.chain(overlays.legend()) {
            let name = shortened(&name, 40);
            let letter = |c: char| if c.is_uppercase() { 1.4 * LETTER } else { LETTER };
            let room = 24.0 + name.chars().map(letter).sum::<f64>();
            if x + room > f64::from(width) && x > GUTTER {
                (x, y) = (GUTTER, y + 16.0);
            }
            entries.push((color, name, x, y));
            x += room;
        }
        let height = if entries.is_empty() { 0.0 } else { y + 8.0 };
        Legend { entries, height }
    }

    fn draw(&self, out: &mut String, top: f64) {
        for (color, name, x, y) in &self.entries {
            let (color, name, left, y) =
                (hex(*color), escaped(name), tenth(x + 14.0), tenth(top + y));
            let (x, above) = (tenth(*x), tenth(y - 9.0));
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{above}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{color}\" stroke=\"#888\"/>\
                 <text x=\"{left}\" y=\"{y}\">{name}</text>"
            );
        }
    }
}

fn luminance([red, green, blue]: Rgb) -> f64 {
    (0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue)) / 255.0
}
