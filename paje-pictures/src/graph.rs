//! Graphs: names on a circle, and arrows between them.

use std::f64::consts::TAU;

use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH, tenth};
use crate::text::{escaped, shortened, widest};

/// Arrow of a graph.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Indices of the names at its start and end.
    pub ends: [usize; 2],
    /// Weight.
    pub weight: f64,
    /// Tooltip.
    pub text: String,
}

/// Graph, drawn as a circle.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Title of the picture.
    pub title: String,
    /// Names around the circle.
    pub names: Vec<String>,
    /// Arrows.
    pub edges: Vec<Edge>,
    /// Note on the widest arrow.
    pub note: String,
}

/// Maximum number of arrows. Only the heaviest are drawn.
const MOST: usize = 1500;

impl Graph {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let mut edges: Vec<&Edge> = self.edges.iter().collect();
        edges.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        edges.truncate(MOST);
        // The heaviest arrows are drawn last, on top of the others.
        edges.reverse();
        let names = widest(self.names.iter().map(String::as_str), 130.0);
        let count = self.names.len().max(1) as f64;
        let radius = (count * 7.0).clamp(90.0, 230.0);
        let (x, y) = (WIDTH / 2.0, MARGIN + names.max(20.0) + 14.0 + radius);
        let place = |node: usize, radius: f64| {
            let angle = TAU * (node as f64 / count - 0.25);
            [x + radius * angle.cos(), y + radius * angle.sin()]
        };
        let most = edges.last().map_or(1.0, |edge| edge.weight).max(f64::MIN_POSITIVE);
        canvas.raw(
            "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"p-heat\" d=\"M0 1L8 4L0 7z\"/></marker></defs>",
        );
        let widest_arrow = (100.0 / edges.len().max(1) as f64).clamp(1.0, 3.4);
        for edge in &edges {
            let part = (edge.weight / most).clamp(0.0, 1.0);
            let (wide, opacity) = (tenth(0.6 + widest_arrow * part), (0.25 + 0.75 * part).min(1.0));
            let [from, to] = edge.ends.map(|node| place(node, radius - 5.0).map(tenth));
            // Arrows bend to the right, so that both directions are visible.
            let towards = |i: usize| (from[i] + to[i]) / 2.0;
            let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
            let bend = [
                tenth(towards(0) * 0.75 + x * 0.25 - dy * 0.09),
                tenth(towards(1) * 0.75 + y * 0.25 + dx * 0.09),
            ];
            let path = if edge.ends[0] == edge.ends[1] {
                let [a, b] = [-0.12, 0.12].map(|side| {
                    let angle = TAU * (edge.ends[0] as f64 / count - 0.25) + side;
                    [x + (radius - 40.0) * angle.cos(), y + (radius - 40.0) * angle.sin()]
                        .map(tenth)
                });
                format!(
                    "M{} {}C{} {} {} {} {} {}",
                    from[0], from[1], a[0], a[1], b[0], b[1], to[0], to[1]
                )
            } else {
                format!("M{} {}Q{} {} {} {}", from[0], from[1], bend[0], bend[1], to[0], to[1])
            };
            let text = escaped(&edge.text);
            canvas.raw(format_args!(
                "<path class=\"p-edge\" stroke-width=\"{wide}\" stroke-opacity=\"{opacity:.2}\" marker-end=\"url(#arrow)\" \
                 d=\"{path}\"><title>{text}</title></path>"
            ));
        }
        // Omits some names if there are many, so that names do not overlap.
        let every = (13.0 * count / (TAU * radius)).ceil().max(1.0) as usize;
        for (node, name) in self.names.iter().enumerate() {
            let [cx, cy] = place(node, radius).map(tenth);
            let whole = escaped(name);
            canvas.raw(format_args!(
                "<circle class=\"p-ink\" cx=\"{cx}\" cy=\"{cy}\" r=\"3\"><title>{whole}</title></circle>"
            ));
            if node.is_multiple_of(every) {
                let [tx, ty] = place(node, radius + 8.0);
                let degrees = 360.0 * (node as f64 / count) - 90.0;
                let (degrees, anchor) = match degrees {
                    90.1.. => (degrees - 180.0, Anchor::End),
                    _ => (degrees, Anchor::Start),
                };
                canvas.turned(tx, ty + 3.0, tenth(degrees), anchor, &shortened(name, names));
            }
        }
        let bottom = y + radius + names.max(20.0) + 14.0;
        let mut note = self.note.clone();
        if self.edges.len() > MOST {
            note += &format!("; the heaviest {MOST} of {}", self.edges.len());
        }
        canvas.quiet(WIDTH / 2.0, bottom + 12.0, Anchor::Middle, &note);
        canvas.finish(&self.title, bottom + 18.0 + MARGIN)
    }
}
