//! Colours of values, and shades of amounts.
//!
//! Pictures use classes of a style sheet, which follows the reader's light or dark mode.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// Colours of values in light and dark mode, suitable for colour-blind readers: Okabe and Ito's
/// palette, then the colours of Tol's muted scheme that differ from it.
const PALETTE: [(Rgb, Rgb); 14] = [
    ([0x00, 0x72, 0xb2], [0x4a, 0xa3, 0xdd]),
    ([0xe6, 0x9f, 0x00], [0xe9, 0xab, 0x2b]),
    ([0x00, 0x9e, 0x73], [0x1f, 0xb5, 0x8b]),
    ([0xcc, 0x79, 0xa7], [0xd6, 0x8f, 0xb6]),
    ([0x56, 0xb4, 0xe9], [0x8a, 0xcc, 0xf2]),
    ([0xd5, 0x5e, 0x00], [0xe5, 0x7a, 0x2e]),
    ([0x33, 0x22, 0x88], [0x83, 0x78, 0xd6]),
    ([0x99, 0x99, 0x33], [0xb5, 0xb5, 0x4f]),
    ([0x88, 0x22, 0x55], [0xc2, 0x5a, 0x92]),
    ([0x44, 0xaa, 0x99], [0x69, 0xc5, 0xb6]),
    ([0xb9, 0xa9, 0x00], [0xf0, 0xe4, 0x42]),
    ([0xcc, 0x66, 0x77], [0xdd, 0x88, 0x96]),
    ([0x11, 0x77, 0x33], [0x3f, 0xa8, 0x63]),
    ([0xaa, 0x44, 0x99], [0xc9, 0x75, 0xbb]),
];

/// Returns a colour in the hexadecimal notation of CSS and SVG.
#[must_use]
pub fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns a colour for each name. A name gets the colour of its hash, or the next free colour, so
/// it usually has the same colour in other traces. Once all colours are used, lighter and darker
/// shades follow.
#[must_use]
pub fn by_name(names: BTreeSet<Vec<u8>>) -> BTreeMap<Vec<u8>, Rgb> {
    let mut uses = [0; PALETTE.len()];
    let coloured = names.into_iter().map(|name| {
        let first = hash(&name) as usize % PALETTE.len();
        let least = uses.iter().min().copied().unwrap_or(0);
        let mut places = (0..PALETTE.len()).map(|i| (first + i) % PALETTE.len());
        let place = places.find(|place| uses[*place] == least).unwrap_or(first);
        uses[place] += 1;
        (name, shade(PALETTE[place].0, least))
    });
    coloured.collect()
}

fn shade(colour: Rgb, round: usize) -> Rgb {
    let to = |part: u8, goal: f64, by: f64| (f64::from(part) + (goal - f64::from(part)) * by) as u8;
    match round % 3 {
        0 => colour,
        1 => colour.map(|part| to(part, 255.0, 0.45)),
        _ => colour.map(|part| to(part, 0.0, 0.35)),
    }
}

/// Returns the FNV-1a hash.
fn hash(name: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    name.iter()
        .fold(start, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Colour in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Colour of the palette with this index. An index beyond the end stands for the colour of all
    /// other names.
    Of(usize),
    /// Colour of amounts.
    Plain,
    /// Highlight.
    Hot,
}

impl Colour {
    pub(crate) fn class(self) -> String {
        match self {
            Colour::Of(place) if place < PALETTE.len() => format!("p-c{place}"),
            Colour::Of(_) => "p-rest".into(),
            Colour::Plain => "p-heat".into(),
            Colour::Hot => "p-hot".into(),
        }
    }
}

/// Colours of names.
#[derive(Clone, Debug, Default)]
pub struct Colours(HashMap<String, usize>);

impl Colours {
    /// Assigns the next colour of the palette to each name. Put important names first.
    #[must_use]
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        let mut places = HashMap::new();
        for name in names {
            let next = places.len();
            places.entry(name).or_insert(next);
        }
        Colours(places)
    }

    /// Returns the colour of a name.
    #[must_use]
    pub fn colour(&self, name: &str) -> Colour {
        Colour::Of(self.0.get(name).copied().unwrap_or(usize::MAX))
    }

    /// Returns the legend: first the names that have a colour, in order, then the others.
    #[must_use]
    pub fn legend(&self) -> Vec<(Colour, String)> {
        let mut all: Vec<(usize, &String)> =
            self.0.iter().map(|(name, place)| (*place, name)).collect();
        all.sort_unstable();
        let beyond = all.len() > PALETTE.len();
        let named = all.into_iter().take(PALETTE.len());
        let mut all: Vec<_> =
            named.map(|(place, name)| (Colour::Of(place), name.clone())).collect();
        if beyond {
            all.push((Colour::Of(PALETTE.len()), "others".into()));
        }
        all
    }
}

pub(crate) fn style() -> String {
    let theme = |is_dark: bool| {
        let pick = |light: &'static str, dark: &'static str| if is_dark { dark } else { light };
        let mut css = format!(
            ".p-back{{fill:{}}}.p-ink{{fill:{}}}.p-quiet{{fill:{}}}.p-line{{stroke:{};fill:none}}\
             .p-edge{{stroke:{};fill:none}}.p-heat{{fill:{}}}.p-hot{{fill:{}}}.p-ring{{stroke:{};fill:none}}\
             .p-rest{{fill:{}}}",
            pick("#fff", "#14171d"),
            pick("#1d2330", "#e6e9ef"),
            pick("#566073", "#a9b2c0"),
            pick("#c9cfda", "#3d4553"),
            pick("#1d5fb8", "#7fb0ff"),
            pick("#1d5fb8", "#7fb0ff"),
            pick("#c0392b", "#ff8a75"),
            pick("#c0392b", "#ff8a75"),
            pick("#c4c8d0", "#565e6c"),
        );
        for (place, (light, dark)) in PALETTE.into_iter().enumerate() {
            let fill = hex(if is_dark { dark } else { light });
            let _ = write!(css, ".p-c{place}{{fill:{fill}}}");
        }
        css
    };
    format!("{}\n@media (prefers-color-scheme:dark){{{}}}", theme(false), theme(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_different_colours() {
        let colours = by_name((0..42).map(|i| format!("value {i}").into_bytes()).collect());
        let distinct: BTreeSet<Rgb> = colours.values().copied().collect();
        assert_eq!((colours.len(), distinct.len()), (42, 42));
        assert_eq!(hex([1, 0xab, 255]), "#01abff");
    }

    #[test]
    fn names_beyond_the_palette_are_others() {
        let colours = Colours::of((0..20).map(|i| format!("value {i}")));
        assert_eq!(colours.colour("value 3"), Colour::Of(3));
        assert_eq!(colours.colour("value 14").class(), "p-rest");
        assert_eq!(colours.colour("nobody").class(), "p-rest");
        let legend = colours.legend();
        assert_eq!((legend.len(), legend[14].1.as_str()), (15, "others"));
    }
}
