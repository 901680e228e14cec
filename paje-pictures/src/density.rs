//! Density maps: amounts as shades on a grid.

use crate::colours::Colour;
use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH, tenth};
use crate::text::{escaped, pixels, shortened};

/// Density map.
#[derive(Clone, Debug)]
pub struct Density {
    /// Title of the picture.
    pub title: String,
    /// Names and amounts, row by row.
    pub cells: Vec<(String, f64)>,
    /// Cells per row. The default is a square.
    pub columns: Option<usize>,
    /// Label of the shades.
    pub what: String,
    /// Formats an amount.
    pub number: fn(f64) -> String,
}

impl Density {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let square = (self.cells.len() as f64).sqrt().ceil() as usize;
        let columns = self.columns.unwrap_or(square).max(1);
        let lines = self.cells.len().div_ceil(columns);
        let room = WIDTH - 2.0 * MARGIN;
        let wide = (room / columns as f64).clamp(2.0, 110.0);
        let high = (440.0 / lines.max(1) as f64).clamp(2.0, 44.0).min(wide.max(14.0));
        let numbers = self.cells.iter().map(|(_, amount)| *amount);
        let most = numbers.clone().fold(0.0, f64::max);
        let least = numbers.fold(f64::INFINITY, f64::min);
        let left = ((WIDTH - wide * columns as f64) / 2.0).max(MARGIN);
        for (place, (name, amount)) in self.cells.iter().enumerate() {
            let (x, y) =
                (left + wide * (place % columns) as f64, MARGIN + high * (place / columns) as f64);
            let part = amount / most.max(f64::MIN_POSITIVE);
            // This factor keeps shades pale, so that names remain readable.
            canvas.tile(Colour::Plain, part * 0.6, [x, y, wide, high]);
            let text = (self.number)(*amount);
            let (title, [tx, ty, tw, th]) =
                (escaped(&format!("{name}: {text}")), [x, y, wide, high].map(tenth));
            canvas.raw(format_args!(
                "<rect class=\"p-line\" fill-opacity=\"0\" x=\"{tx}\" y=\"{ty}\" width=\"{tw}\" height=\"{th}\"><title>{title}</title></rect>"
            ));
            let middle = x + wide / 2.0;
            if high >= 32.0 && wide >= 44.0 && pixels(&text) < wide {
                canvas.text(
                    middle,
                    y + high / 2.0 - 2.0,
                    Anchor::Middle,
                    &shortened(name, wide - 6.0),
                );
                canvas.quiet(middle, y + high / 2.0 + 12.0, Anchor::Middle, &text);
            } else if high >= 14.0 && pixels(name) < wide - 4.0 {
                canvas.text(middle, y + high / 2.0 + 4.0, Anchor::Middle, name);
            }
        }
        let mut y = MARGIN + high * lines as f64;
        let what = format!("{} (the least: {})", self.what, (self.number)(least.min(most)));
        y +=
            self.shades(&mut canvas, left.min(WIDTH - 400.0), y + 4.0, &what, &(self.number)(most));
        canvas.finish(&self.title, y + MARGIN)
    }

    fn shades(&self, canvas: &mut Canvas, left: f64, top: f64, what: &str, most: &str) -> f64 {
        for shade in 1..=12 {
            let x = left + 10.0 * f64::from(shade - 1);
            canvas.tile(Colour::Plain, f64::from(shade) / 12.0 * 0.6, [x, top + 8.0, 10.0, 10.0]);
        }
        canvas.quiet(left + 128.0, top + 17.0, Anchor::Start, &format!("0 to {most}: {what}"));
        26.0
    }
}
