//! Matrices: amounts for pairs, as shades.

use std::collections::BTreeMap;

use crate::colours::Colour;
use crate::svg::{Anchor, Canvas, MARGIN, Picture, WIDTH, label_every, tenth, together};
use crate::text::{shortened, widest};

/// Matrix of amounts from rows to columns.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Title of the picture.
    pub title: String,
    /// Names of rows and columns.
    pub names: Vec<String>,
    /// Amounts, by row and column.
    pub cells: BTreeMap<(usize, usize), f64>,
    /// Labels of rows and columns.
    pub axes: [String; 2],
    /// Label of the shades.
    pub what: String,
    /// Formats an amount.
    pub number: Option<fn(f64) -> String>,
}

/// Maximum number of rows. If there are more, neighbours are merged.
const MOST: usize = 128;

const TOOLTIPS: usize = 2000;

impl Matrix {
    /// Draws the picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut canvas = Canvas::default();
        let each = together(self.names.len(), MOST);
        let lines = self.names.len().div_ceil(each);
        let mut cells: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for ((from, to), amount) in &self.cells {
            *cells.entry((from / each, to / each)).or_default() += amount;
        }
        let most = cells.values().copied().fold(0.0, f64::max);
        let number = self.number.unwrap_or(paje_decimal::amounts::amount);
        let names = widest(self.names.iter().map(String::as_str), 130.0);
        let left = MARGIN + 18.0 + names + 6.0;
        let side = (440.0 / lines.max(1) as f64).clamp(3.0, 34.0);
        let every = label_every(side);
        let top = MARGIN + 18.0 + names + 6.0;
        let (right, bottom) = (left + side * lines as f64, top + side * lines as f64);
        for line in (0..lines).step_by(every) {
            let name = &self.names[line * each];
            let at = side * (line as f64 + 0.5);
            canvas.name(left - 6.0, top + at + 4.0, Anchor::End, names, name);
            let cut = shortened(name, names);
            canvas.turned(left + at + 4.0, top - 6.0, -90.0, Anchor::Start, &cut);
        }
        for ((from, to), amount) in &cells {
            let (x, y) = (left + side * *to as f64, top + side * *from as f64);
            canvas.tile(Colour::Plain, amount / most.max(f64::MIN_POSITIVE), [x, y, side, side]);
            if cells.len() <= TOOLTIPS {
                let [a, b] = [from, to].map(|line| crate::text::escaped(&self.names[line * each]));
                let (x, y, side, amount) = (tenth(x), tenth(y), tenth(side), number(*amount));
                canvas.raw(format_args!(
                    "<rect fill-opacity=\"0\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"><title>{a} → {b}: {amount}</title></rect>"
                ));
            }
        }
        let [l, t, r, b] = [left, top, right, bottom].map(tenth);
        canvas.line(format_args!("M{l} {t}H{r}V{b}H{l}z"));
        let [lines_are, columns_are] = &self.axes;
        canvas.quiet((left + right) / 2.0, MARGIN + 10.0, Anchor::Middle, columns_are);
        canvas.turned(MARGIN + 10.0, (top + bottom) / 2.0, -90.0, Anchor::Middle, lines_are);
        let mut y = bottom;
        if each > 1 {
            y += 16.0;
            let note = format!("each line and column is the sum of {each} neighbours");
            canvas.quiet(left, y, Anchor::Start, &note);
        }
        let legend = left.min(WIDTH - 400.0);
        y += canvas.shades(legend, y + 4.0, &self.what, &number(most));
        canvas.finish(&self.title, y + MARGIN)
    }
}
