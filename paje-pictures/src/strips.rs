//! Strips over time: what each was about, or how much of something it had, from left to right.

use crate::colours::Colour;
use crate::svg::{
    Anchor, Canvas, MARGIN, Picture, WIDTH, label_every, line_height, tenth, together,
};
use crate::text::widest;

/// Contents of one bin of a strip.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Parts of the bin, each of a colour, from below.
    Parts(Vec<(Colour, f64)>),
    /// The amount, as a part of the most there is.
    Shade(f64),
}

/// The strip of one.
#[derive(Clone, Debug)]
pub struct Strip {
    /// Whose it is.
    pub name: String,
    /// By bin; without those in which there is nothing.
    pub bins: Vec<(usize, Fill)>,
}

/// Strips on one axis of time.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Title of the picture.
    pub title: String,
    /// From above; a heading stands above each group.
    pub groups: Vec<(String, Vec<Strip>)>,
    /// The number of bins.
    pub bins: usize,
    /// The times when the first one begins and the last one ends, in seconds.
    pub times: [f64; 2],
    /// Meanings of the colours.
    pub legend: Vec<(Colour, String)>,
    /// Meaning of the shades, and what the darkest is.
    pub shades: Option<(String, String)>,
}

/// Of more, neighbours are put together to one line.
const MOST: usize = 96;

/// So many pixels high are the strips of a group at most, where they can be read so.
const HIGH: f64 = 420.0;

impl Strips {
    /// The picture.
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
            // Of what is together, each has its part of the line's colours.
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
            let told = format!("each line is the mean of {each} neighbours");
            canvas.quiet(right, y + 10.0, Anchor::End, &told);
            y += 14.0;
        }
        y
    }
}
