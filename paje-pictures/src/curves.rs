//! Curves over a few steps, such as numbers of processes.

use crate::colours::Colour;
use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH, tenth};
use crate::text::pixels;

/// Curve of a picture.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Amount at each step, if known.
    pub points: Vec<Option<f64>>,
}

/// Curves on common axes. Steps are equally far apart.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    /// Title of the picture.
    pub title: String,
    /// Curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Labels of the steps.
    pub steps: Vec<String>,
    /// Label of the horizontal axis.
    pub axis: String,
}

const HIGH: f64 = 300.0;

impl Curves {
    /// Draws the picture. Amounts are shown in per cent, from 0 to at least 100.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let (left, right) = (MARGIN + pixels("1000 %") + 8.0, WIDTH - MARGIN - 40.0);
        let colour = |place: usize| Colour::Of(place);
        let legend: Vec<(Colour, String)> =
            (0..).zip(&self.curves).map(|(at, curve)| (colour(at), curve.name.clone())).collect();
        let top = MARGIN + canvas.legend(left, 0.0, &legend) + 8.0;
        let all = self.curves.iter().flat_map(|curve| curve.points.iter().flatten());
        let most = all.copied().filter(|it| it.is_finite()).fold(1.0, f64::max);
        let most = (most * 5.0).ceil() / 5.0;
        let y = |amount: f64| top + HIGH * (1.0 - amount.clamp(0.0, most) / most);
        let wide = (right - left) / self.steps.len().saturating_sub(1).max(1) as f64;
        let x = |step: usize| left + wide * step as f64;
        for mark in 0..=5 {
            let amount = most * f64::from(mark) / 5.0;
            let at = y(amount);
            canvas.line(format_args!("M{} {}H{}", tenth(left - 4.0), tenth(at), tenth(right)));
            let label = format!("{:.0} %", amount * 100.0);
            canvas.quiet(left - 8.0, at + 4.0, Anchor::End, &label);
        }
        for (step, label) in self.steps.iter().enumerate() {
            canvas.line(format_args!("M{} {}v4", tenth(x(step)), tenth(top + HIGH)));
            canvas.quiet(x(step), top + HIGH + 16.0, Anchor::Middle, label);
        }
        for (place, curve) in self.curves.iter().enumerate() {
            let known = |(step, point): (usize, &Option<f64>)| point.map(|it| (x(step), y(it)));
            let points: Vec<_> = curve.points.iter().enumerate().map(known).collect();
            for pair in points.windows(2) {
                if let [Some(from), Some(to)] = pair {
                    canvas.raw(line(colour(place), *from, *to));
                }
            }
            for ((at, step), point) in points.iter().zip(&self.steps).zip(&curve.points) {
                if let (Some((x, y)), Some(amount)) = (at, point) {
                    let tip = format!("{}, {step}: {:.1} %", curve.name, amount * 100.0);
                    canvas.rect(colour(place), [x - 3.0, y - 3.0, 6.0, 6.0], &tip);
                }
            }
        }
        canvas.quiet((left + right) / 2.0, top + HIGH + 34.0, Anchor::Middle, &self.axis);
        canvas.finish(&self.title, top + HIGH + 34.0 + MARGIN)
    }
}

/// Returns a line of two pixels as a filled shape, because colours are fills.
fn line(colour: Colour, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> String {
    let (dx, dy) = (to_x - x, to_y - y);
    let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
    let (across, down) = (-dy / length, dx / length);
    let at = |x: f64, y: f64, side: f64| {
        format!("{} {}", tenth(x + across * side), tenth(y + down * side))
    };
    let ends = [at(x, y, 1.0), at(to_x, to_y, 1.0), at(to_x, to_y, -1.0), at(x, y, -1.0)];
    format!("<path {} d=\"M{}z\"/>", colour.attributes(), ends.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_points_interrupt_a_curve() {
        let points = vec![Some(1.0), Some(0.5), None, Some(1.3)];
        let curves = vec![Curve { name: "a<b".into(), points }];
        let steps = ["4", "8", "16", "32"].map(String::from).to_vec();
        let file = Curves { curves, steps, ..Curves::default() }.picture().file();
        assert_eq!(file.matches("<path class=\"p-c0\"").count(), 1);
        assert_eq!(file.matches("a&lt;b, ").count(), 3);
        assert!(file.contains(">140 %<") && !file.contains("a<b"), "{file}");
    }
}
