//! Strips over time: shares or amounts from left to right.

use crate::colours::Colour;
use crate::svg::{
    Anchor, Canvas, MARGIN, Picture, WIDTH, label_every, line_height, tenth, together,
};
use crate::text::widest;

/// Contents of one bin of a strip.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Coloured fractions of the bin, from the bottom.
    Parts(Vec<(Colour, f64)>),
    /// Amount, as a fraction of the largest.
    Shade(f64),
}

/// Strip of a picture.
#[derive(Clone, Debug)]
pub struct Strip {
    /// Name beside the strip.
    pub name: String,
    /// Contents of the bins that are not empty, by bin.
    pub bins: Vec<(usize, Fill)>,
}

/// Strips on a common time axis.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Title of the picture.
    pub title: String,
    /// Groups of strips from top to bottom, with headings.
    pub groups: Vec<(String, Vec<Strip>)>,
    /// Number of bins.
    pub bins: usize,
    /// Start of the first bin and end of the last, in seconds.
    pub times: [f64; 2],
    /// Legend of the colours.
    pub legend: Vec<(Colour, String)>,
    /// Label of the shades, and the largest amount.
    pub shades: Option<(String, String)>,
}

/// Maximum number of strips. If there are more, neighbours are merged.
const MOST: usize = 96;

const HIGH: f64 = 420.0;

impl Strips {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let names = self.groups.iter().flat_map(|(_, strips)| strips);
        let names = widest(names.map(|strip| strip.name.as_str()), WIDTH * 0.25);
        let (left, right) = (MARGIN + names + 8.0, WIDTH - MARGIN - 14.0);
        let mut y = MARGIN;
        for (heading, strips) in &self.groups {
            if !heading.is_empty() {
                canvas.name(left, y + 12.0, Anchor::Start, right - left, heading);
                y += 18.0;
            }
            y = self.strips(&mut canvas, strips, [left, right], names, y);
            y += 6.0;
        }
        y += canvas.seconds(y - 2.0, [left, right], self.times);
        y += canvas.legend(left, y, &self.legend);
        if let Some((what, most)) = &self.shades {
            y += canvas.shades(left, y, what, most);
        }
        canvas.finish(&self.title, y + MARGIN)
    }

    fn strips(
        &self,
        canvas: &mut Canvas,
        strips: &[Strip],
        [left, right]: [f64; 2],
        names: f64,
        mut y: f64,
    ) -> f64 {
        let each = together(strips.len(), MOST);
        let lines = strips.chunks(each);
        let high = line_height(lines.len(), HIGH);
        let gap = if high > 8.0 { 1.0 } else { 0.0 };
        let every = label_every(high);
        let top = y;
        let wide = (right - left) / self.bins.max(1) as f64;
        for (place, line) in lines.enumerate() {
            if place.is_multiple_of(every) {
                let name = &line[0].name;
                canvas.name(left - 8.0, y + high / 2.0 + 4.0, Anchor::End, names, name);
            }
            // Merged strips share a line.
            let part = 1.0 / line.len() as f64;
            let mut base = vec![0.0; self.bins];
            for (bin, fill) in line.iter().flat_map(|strip| &strip.bins) {
                let x = left + wide * *bin as f64;
                match fill {
                    Fill::Shade(shade) => base[*bin] += shade * part,
                    Fill::Parts(parts) => {
                        for (colour, share) in parts {
                            let share = (share * part).clamp(0.0, 1.0 - base[*bin]);
                            let up = (base[*bin] + share) * (high - gap);
                            let tall = share * (high - gap);
                            canvas.tile(*colour, 1.0, [x, y + high - gap - up, wide, tall]);
                            base[*bin] += share;
                        }
                    }
                }
            }
            if self.shades.is_some() {
                for (bin, shade) in base.iter().enumerate() {
                    let x = left + wide * bin as f64;
                    canvas.tile(Colour::Plain, *shade, [x, y, wide, high - gap]);
                }
            }
            y += high;
        }
        canvas.line(format_args!("M{} {}V{}", tenth(left), tenth(top), tenth(y)));
        if each > 1 {
            let note = format!("each line is the mean of {each} neighbours");
            canvas.quiet(right, y + 10.0, Anchor::End, &note);
            y += 14.0;
        }
        y
    }
}
