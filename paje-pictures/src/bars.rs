use crate::colours::Colour;
use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH};
use crate::text::{pixels, widest};

/// Bar of a chart.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name beside the bar.
    pub name: String,
    /// Colours, lengths and tooltips of the parts from left to right. Lengths are not negative.
    pub parts: Vec<(Colour, f64, String)>,
    /// Text after the bar.
    pub text: String,
}

/// A bar chart.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// Title of the picture.
    pub title: String,
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
    /// End of the axis. The default is the longest bar.
    pub whole: Option<f64>,
    /// Label of the axis: quantity and unit.
    pub axis: String,
    /// Factor of the axis's labels, such as 100 for per cent.
    pub scale: f64,
    /// Legend of the colours.
    pub legend: Vec<(Colour, String)>,
}

const MOST: usize = 100;

impl Bars {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let shown = &self.bars[..self.bars.len().min(MOST)];
        let mut canvas = Canvas::default();
        let names = widest(shown.iter().map(|bar| bar.name.as_str()), WIDTH * 0.32);
        let texts = widest(shown.iter().map(|bar| bar.text.as_str()), WIDTH * 0.3);
        let (left, right) = (MARGIN + names + 8.0, WIDTH - MARGIN - texts - 10.0);
        let length = |bar: &Bar| bar.parts.iter().map(|(_, part, _)| part.max(0.0)).sum::<f64>();
        let longest = shown.iter().map(length).fold(0.0, f64::max);
        let whole = self.whole.unwrap_or(longest).max(longest).max(f64::MIN_POSITIVE);
        let mut y = MARGIN + self.legend_above(&mut canvas, left);
        for bar in shown {
            canvas.name(left - 8.0, y + 13.0, Anchor::End, names, &bar.name);
            let mut x = left;
            for (colour, part, what) in &bar.parts {
                let wide = part.max(0.0) / whole * (right - left);
                if wide > 0.0 {
                    canvas.rect(*colour, [x, y + 2.0, wide.max(0.3), 15.0], what);
                }
                x += wide;
            }
            canvas.text(right + 10.0, y + 13.0, Anchor::Start, &bar.text);
            y += 20.0;
        }
        if self.bars.len() > MOST {
            let more = format!("and {} more", self.bars.len() - MOST);
            canvas.quiet(left - 8.0, y + 13.0, Anchor::End, &more);
            y += 20.0;
        }
        canvas.axis(y + 2.0, [left, right], [0.0, whole * self.scale]);
        let middle = ((left + right) / 2.0).max(MARGIN + pixels(&self.axis) / 2.0);
        canvas.quiet(middle, y + 32.0, Anchor::Middle, &self.axis);
        canvas.finish(&self.title, y + 32.0 + MARGIN)
    }

    fn legend_above(&self, canvas: &mut Canvas, left: f64) -> f64 {
        if self.legend.is_empty() { 0.0 } else { canvas.legend(left, 0.0, &self.legend) }
    }
}
