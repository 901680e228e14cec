//! Quadrants: how time is divided among four kinds.
//!
//! Each half axis is one kind. An interval of only one kind is at the end of its axis, and an even
//! mixture is in the middle. Darker cells have more intervals, and a ring marks the maximum. The
//! picture follows the MPI quadrant of J.-B. Besnard's thesis (2014, section 12.4.5).

use std::collections::BTreeMap;

use crate::colours::Colour;
use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH, tenth};

/// Quadrant.
#[derive(Clone, Debug, Default)]
pub struct Quadrant {
    /// Title of the picture.
    pub title: String,
    /// Kinds at the top, right, bottom and left.
    pub kinds: [&'static str; 4],
    /// Seconds of each kind, by interval.
    pub points: Vec<[f64; 4]>,
}

const PLACES: i32 = 41;

const RADIUS: f64 = 190.0;

impl Quadrant {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let mut places: BTreeMap<(i32, i32), u64> = BTreeMap::new();
        let (mut all, mut sums) = (0u64, [0.0; 4]);
        for point in &self.points {
            let total: f64 = point.iter().sum();
            if total <= 0.0 {
                continue;
            }
            let [top, right, bottom, left] = point.map(|seconds| seconds / total);
            let place = |part: f64| ((part + 1.0) / 2.0 * f64::from(PLACES - 1)).round() as i32;
            *places.entry((place(right - left), place(bottom - top))).or_default() += 1;
            all += 1;
            sums.iter_mut().zip(point).for_each(|(sum, seconds)| *sum += seconds);
        }
        let (x, y) = (WIDTH / 2.0, MARGIN + 40.0 + RADIUS);
        let side = 2.0 * RADIUS / f64::from(PLACES - 1);
        let at = |place: i32, middle: f64| middle - RADIUS + side * f64::from(place);
        let [w, e, n, s] = [x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS].map(tenth);
        canvas.line(format_args!("M{w} {y}H{e}M{x} {n}V{s}M{x} {n}L{e} {y}L{x} {s}L{w} {y}z"));
        let most = places.values().copied().max().unwrap_or(1);
        for ((right, down), count) in &places {
            let (cx, cy) = (at(*right, x), at(*down, y));
            // The square root keeps rare cells visible.
            let part = (*count as f64 / most as f64).sqrt();
            canvas.tile(Colour::Plain, part, [cx - side / 2.0, cy - side / 2.0, side, side]);
        }
        let peak = places.iter().rev().max_by_key(|(_, count)| **count);
        if let Some(((right, down), count)) = peak {
            let (cx, cy) = (tenth(at(*right, x)), tenth(at(*down, y)));
            canvas.raw(format_args!(
                "<circle class=\"p-ring\" stroke-width=\"2\" cx=\"{cx}\" cy=\"{cy}\" r=\"10\"/>"
            ));
            let part = paje_decimal::amounts::percent(*count as f64 / all as f64);
            let note = format!(
                "of {} stretches of time, {part} are in the ring",
                paje_decimal::amounts::count(all)
            );
            canvas.quiet(x, y + RADIUS + 46.0, Anchor::Middle, &note);
        }
        let sum: f64 = sums.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let [top, right, bottom, left]: [String; 4] = [0, 1, 2, 3].map(|kind| {
            format!("{} {}", self.kinds[kind], paje_decimal::amounts::percent(sums[kind] / sum))
        });
        canvas.text(x, y - RADIUS - 18.0, Anchor::Middle, &top);
        canvas.text(x + RADIUS + 18.0, y + 4.0, Anchor::Start, &right);
        canvas.text(x, y + RADIUS + 26.0, Anchor::Middle, &bottom);
        canvas.text(x - RADIUS - 18.0, y + 4.0, Anchor::End, &left);
        canvas.finish(&self.title, y + RADIUS + 52.0 + MARGIN)
    }
}
