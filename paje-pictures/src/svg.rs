//! Canvas of all pictures.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::colours::{Colour, style};
use crate::numbers::step;
use crate::text::{SIZE, escaped, pixels, shortened};

pub(crate) const WIDTH: f64 = 760.0;

pub(crate) const MARGIN: f64 = 8.0;

/// Number of shades. All tiles of one shade are one path.
const SHADES: usize = 24;

/// Finished picture.
#[derive(Clone, Debug)]
pub struct Picture {
    title: String,
    height: f64,
    body: String,
}

impl Picture {
    /// Returns the title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Sets the title.
    pub fn name(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// Returns the picture as an SVG file.
    #[must_use]
    pub fn file(&self) -> String {
        let style = format!(
            "<style>{}</style>\n<rect class=\"p-back\" width=\"100%\" height=\"100%\"/>\n",
            style()
        );
        self.element(&style)
    }

    /// Returns an element for a page that has the style sheet.
    pub(crate) fn part(&self) -> String {
        self.element("")
    }

    fn element(&self, style: &str) -> String {
        let (height, title) = (self.height.ceil(), escaped(&self.title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
             font-size=\"{SIZE}\">\n<title>{title}</title>\n{style}{}</svg>\n",
            self.body
        )
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    const fn attribute(self) -> &'static str {
        match self {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Canvas {
    fills: BTreeMap<(Colour, usize), String>,
    body: String,
}

impl Canvas {
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.label("p-ink", x, y, anchor, "", text);
    }

    pub(crate) fn quiet(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.label("p-quiet", x, y, anchor, "", text);
    }

    pub(crate) fn turned(&mut self, x: f64, y: f64, degrees: f64, anchor: Anchor, text: &str) {
        let turn = format!(" transform=\"rotate({degrees} {} {})\"", tenth(x), tenth(y));
        self.label("p-quiet", x, y, anchor, &turn, text);
    }

    fn label(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, more: &str, text: &str) {
        let (x, y, anchor, text) = (tenth(x), tenth(y), anchor.attribute(), escaped(text));
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}{more}>{text}</text>"
        );
    }

    /// Draws a name in `room` pixels. A shortened name has a tooltip.
    pub(crate) fn name(&mut self, x: f64, y: f64, anchor: Anchor, room: f64, name: &str) {
        let cut = shortened(name, room);
        if cut == name {
            return self.text(x, y, anchor, name);
        }
        let (x, y, anchor) = (tenth(x), tenth(y), anchor.attribute());
        let (cut, whole) = (escaped(&cut), escaped(name));
        let _ = writeln!(
            self.body,
            "<text class=\"p-ink\" x=\"{x}\" y=\"{y}\"{anchor}>{cut}<title>{whole}</title></text>"
        );
    }

    pub(crate) fn rect(&mut self, colour: Colour, at: [f64; 4], title: &str) {
        let [x, y, width, height] = at.map(tenth);
        let (colour, title) = (colour.attributes(), escaped(title));
        let _ = writeln!(
            self.body,
            "<rect {colour} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><title>{title}</title></rect>"
        );
    }

    /// Draws a rectangle with opacity `part`. Equal colours and shades become one path.
    pub(crate) fn tile(&mut self, colour: Colour, part: f64, at: [f64; 4]) {
        let shade = (part.clamp(0.0, 1.0) * SHADES as f64).ceil() as usize;
        let [x, y, width, height] = at;
        // Rounding both edges keeps neighbours from overlapping or leaving a gap.
        let (left, top) = (tenth(x), tenth(y));
        let (right, bottom) = (tenth(x + width), tenth(y + height));
        let (width, height) = (tenth(right - left), tenth(bottom - top));
        if shade == 0 || width <= 0.0 || height <= 0.0 {
            return;
        }
        let path = self.fills.entry((colour, shade)).or_default();
        let _ = write!(path, "M{left} {top}h{width}v{height}H{left}z");
    }

    pub(crate) fn line(&mut self, path: impl Display) {
        let _ = writeln!(self.body, "<path class=\"p-line\" d=\"{path}\"/>");
    }

    pub(crate) fn raw(&mut self, element: impl Display) {
        let _ = writeln!(self.body, "{element}");
    }

    /// Draws a labelled time axis below `top`. Returns its height.
    pub(crate) fn seconds(&mut self, top: f64, ends: [f64; 2], times: [f64; 2]) -> f64 {
        let ([left, right], [start, end]) = (ends, times);
        let (scale, unit) = match (end - start).max(start.abs() * 1e-6) {
            0.5.. => (1.0, "s"),
            0.0005.. => (1e3, "ms"),
            _ => (1e6, "µs"),
        };
        self.axis(top, ends, [start * scale, end * scale]);
        self.quiet((left + right) / 2.0, top + 30.0, Anchor::Middle, &format!("time [{unit}]"));
        36.0
    }

    pub(crate) fn axis(&mut self, top: f64, ends: [f64; 2], numbers: [f64; 2]) {
        let ([left, right], [from, to]) = (ends, numbers);
        self.line(format_args!("M{} {}H{}", tenth(left), tenth(top), tenth(right)));
        if to <= from || !(to - from).is_finite() {
            return;
        }
        let wide = pixels(&format!("{:.0}", to.abs().max(from.abs()))) + 40.0;
        let step = step((to - from) / ((right - left) / wide.max(64.0)).max(1.0));
        let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let first = (from / step).ceil();
        // The number of marks is bounded, since steps below the precision of doubles would never
        // end.
        for mark in (0..100).map(|i| (first + f64::from(i)) * step) {
            if mark > to + step * 1e-9 {
                break;
            }
            let x = left + (right - left) * ((mark - from) / (to - from)).clamp(0.0, 1.0);
            self.line(format_args!("M{} {}v4", tenth(x), tenth(top)));
            self.quiet(x, top + 16.0, Anchor::Middle, &format!("{:.digits$}", mark + 0.0));
        }
    }

    /// Draws a legend below `top`. Returns its height.
    pub(crate) fn legend(&mut self, left: f64, top: f64, entries: &[(Colour, String)]) -> f64 {
        if entries.is_empty() {
            return 0.0;
        }
        let (mut x, mut y) = (left, top + 14.0);
        for (colour, name) in entries {
            let name = shortened(name, 220.0);
            let room = 30.0 + pixels(&name);
            if x + room > WIDTH - MARGIN && x > left {
                (x, y) = (left, y + 17.0);
            }
            self.rect(*colour, [x, y - 9.0, 10.0, 10.0], &name);
            self.text(x + 15.0, y, Anchor::Start, &name);
            x += room;
        }
        y - top + 10.0
    }

    /// Draws a scale of shades below `top`. Returns its height.
    pub(crate) fn shades(&mut self, left: f64, top: f64, what: &str, most: &str) -> f64 {
        let y = top + 8.0;
        let width = 120.0;
        for shade in 0..12 {
            let part = f64::from(shade + 1) / 12.0;
            let x = left + width / 12.0 * f64::from(shade);
            self.tile(Colour::Plain, part, [x, y, width / 12.0, 10.0]);
        }
        let end = left + width;
        self.line(format_args!(
            "M{} {}H{}V{}H{}z",
            tenth(left),
            y,
            tenth(end),
            y + 10.0,
            tenth(left)
        ));
        let text = format!("0 to {most}: {what}");
        self.quiet(left + width + 8.0, y + 9.0, Anchor::Start, &text);
        26.0
    }

    pub(crate) fn finish(self, title: &str, height: f64) -> Picture {
        let mut body = String::new();
        for ((colour, shade), path) in &self.fills {
            let colour = colour.attributes();
            let opacity = match *shade {
                SHADES => String::new(),
                shade => format!(" fill-opacity=\"{:.2}\"", shade as f64 / SHADES as f64),
            };
            let _ = writeln!(body, "<path {colour}{opacity} d=\"{path}\"/>");
        }
        body.push_str(&self.body);
        Picture { title: title.to_owned(), height, body }
    }
}

/// Rounds pixels to tenths, without minus zero.
#[must_use]
pub fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}

/// Returns the height of a line in pixels. All lines fit into `pixels` unless they would be too
/// small to read.
pub(crate) fn line_height(lines: usize, pixels: f64) -> f64 {
    (pixels / lines.max(1) as f64).clamp(3.0, 18.0)
}

/// Returns how many lines share a label, so that labels do not overlap.
pub(crate) fn label_every(height: f64) -> usize {
    (12.0 / height).ceil().max(1.0) as usize
}

/// Returns the number of items to merge into each line, so that there are at most `most` lines.
pub(crate) fn together(count: usize, most: usize) -> usize {
    count.div_ceil(most.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_for_all_numbers() {
        for ends in
            [[0.0, 0.0], [0.0, f64::INFINITY], [1e300, 1e301], [5.0, 5.0 + 1e-15], [-2.0, 2.0]]
        {
            let mut canvas = Canvas::default();
            canvas.axis(0.0, [0.0, 700.0], ends);
            assert!(canvas.body.len() < 40_000, "{ends:?}");
        }
    }

    #[test]
    fn a_picture_is_one_element_with_escaped_names() {
        let mut canvas = Canvas::default();
        canvas.name(0.0, 0.0, Anchor::End, 50.0, "<script>alert('a very long name')</script>");
        canvas.rect(Colour::Hot, [0.0; 4], "\"><script>");
        let file = canvas.finish("</title><script>", 10.0).file();
        assert!(!file.contains("<script"), "{file}");
        assert_eq!(file.matches("<svg").count(), 1);
    }
}
