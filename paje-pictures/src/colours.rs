//! Colours of values, and shades of amounts.
//!
//! Pictures use classes of a style sheet, which follows the reader's light or dark mode.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use paje_sim::{TypeId, TypeNature, Types, ValueId};

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
/// it usually has the same colour in all traces. Once all colours are used, lighter and darker
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

fn hash(name: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    name.iter()
        .fold(start, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Colours of all values of a trace: those that the trace sets, and colours of the palette.
#[derive(Clone, Debug, Default)]
pub struct ValueColours {
    by_name: BTreeMap<Vec<u8>, Rgb>,
    of_trace: BTreeMap<Vec<u8>, Rgb>,
}

impl ValueColours {
    /// Assigns a colour to each value and to each type of variables.
    #[must_use]
    pub fn new(types: &Types) -> Self {
        let (mut names, mut of_trace) = (BTreeSet::new(), BTreeMap::new());
        for id in types.ids() {
            if types.nature(id) == TypeNature::Variable {
                names.insert(types.name(id).text.to_vec());
            }
            for value in (0..types.value_count(id) as u32).map(ValueId) {
                let name = types.value_name(id, value).text.to_vec();
                if let Some(colour) = set_colour(types, id, value) {
                    of_trace.entry(name.clone()).or_insert(colour);
                }
                names.insert(name);
            }
        }
        ValueColours { by_name: by_name(names), of_trace }
    }

    /// Returns the colour of a value.
    #[must_use]
    pub fn value(&self, types: &Types, id: TypeId, value: ValueId) -> Rgb {
        let of_palette = || self.of_palette(types.value_name(id, value).text);
        set_colour(types, id, value).unwrap_or_else(of_palette)
    }

    /// Returns the colour of a type of variables.
    #[must_use]
    pub fn variable(&self, types: &Types, id: TypeId) -> Rgb {
        self.of_palette(types.name(id).text)
    }

    fn of_palette(&self, name: &[u8]) -> Rgb {
        self.by_name.get(name).copied().unwrap_or([0x88; 3])
    }

    /// Returns the colour of the values of this name, if there are any. If several types have the
    /// value, the first colour that the trace sets counts.
    fn named(&self, name: &str) -> Option<Rgb> {
        let name = name.trim_matches('"').as_bytes();
        self.of_trace.get(name).or_else(|| self.by_name.get(name)).copied()
    }
}

fn set_colour(types: &Types, id: TypeId, value: ValueId) -> Option<Rgb> {
    types.value_color(id, value).map(|colour| colour.rgb())
}

/// Colour in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Colour of the palette with this index. An index beyond the end stands for the colour of all
    /// other names.
    Of(usize),
    /// Colour that is the same in light and dark mode.
    Fixed(Rgb),
    /// Colour of amounts.
    Plain,
    /// Highlight.
    Hot,
}

impl Colour {
    /// Returns the attributes of a shape of this colour. Very light and very dark shapes have an
    /// outline.
    pub(crate) fn attributes(self) -> String {
        match self {
            Colour::Of(place) if place < PALETTE.len() => format!("class=\"p-c{place}\""),
            Colour::Of(_) => "class=\"p-rest\"".into(),
            Colour::Fixed(colour) => {
                let is_visible = |part: &u8| (0x30..=0xe0).contains(part);
                let edge = if colour.iter().any(is_visible) { "" } else { " stroke=\"#888\"" };
                format!("fill=\"{}\"{edge}", hex(colour))
            }
            Colour::Plain => "class=\"p-heat\"".into(),
            Colour::Hot => "class=\"p-hot\"".into(),
        }
    }
}

/// Colours of names.
#[derive(Clone, Debug, Default)]
pub struct Colours(HashMap<String, (usize, Colour)>);

impl Colours {
    /// Assigns colours to the names. Put important names first: only the first ones get a colour.
    /// Names of values have the colour of `values`. Others have the colours of [`by_name`].
    #[must_use]
    pub fn of(names: impl IntoIterator<Item = String>, values: &ValueColours) -> Self {
        let mut seen = BTreeSet::new();
        let mut names: Vec<String> = names.into_iter().collect();
        names.retain(|name| seen.insert(name.clone()));
        let others = names.iter().take(PALETTE.len()).filter(|name| values.named(name).is_none());
        let others = by_name(others.map(|name| name.clone().into_bytes()).collect());
        let colour = |place: usize, name: &String| {
            let rgb = values.named(name).or_else(|| others.get(name.as_bytes()).copied());
            let of_palette = |rgb| PALETTE.iter().position(|(light, _)| *light == rgb);
            match rgb.filter(|_| place < PALETTE.len()) {
                Some(rgb) => of_palette(rgb).map_or(Colour::Fixed(rgb), Colour::Of),
                None => Colour::Of(usize::MAX),
            }
        };
        let names = names.into_iter().enumerate();
        Colours(names.map(|(place, name)| (name.clone(), (place, colour(place, &name)))).collect())
    }

    /// Returns the colour of a name.
    #[must_use]
    pub fn colour(&self, name: &str) -> Colour {
        self.0.get(name).map_or(Colour::Of(usize::MAX), |(_, colour)| *colour)
    }

    /// Returns the legend: first the names that have a colour, in order, then the others.
    #[must_use]
    pub fn legend(&self) -> Vec<(Colour, String)> {
        let mut all: Vec<(usize, Colour, &String)> =
            self.0.iter().map(|(name, (place, colour))| (*place, *colour, name)).collect();
        all.sort_unstable();
        let beyond = all.len() > PALETTE.len();
        let named = all.into_iter().take(PALETTE.len());
        let mut all: Vec<_> = named.map(|(_, colour, name)| (colour, name.clone())).collect();
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
    fn values_have_the_colours_of_the_trace_or_different_ones() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
        let trace = paje_sim::Trace::open(path).expect("an example");
        let (types, values) = (trace.types(), ValueColours::new(trace.types()));
        let mut seen = BTreeMap::new();
        for id in types.ids() {
            for value in (0..types.value_count(id) as u32).map(ValueId) {
                let name = types.value_name(id, value).to_string();
                let colour = values.value(types, id, value);
                let pictures = Colours::of([name.clone()], &values).colour(&name);
                let of_picture = match pictures {
                    Colour::Of(place) => PALETTE[place].0,
                    Colour::Fixed(colour) => colour,
                    _ => unreachable!("values have colours of their own"),
                };
                assert_eq!(of_picture, colour, "{name}");
                if types.value_color(id, value).is_none() {
                    let other = seen.insert(colour, name.clone());
                    assert!(other.is_none_or(|other| other == name), "{name}");
                }
            }
        }
    }

    #[test]
    fn white_and_black_have_outlines() {
        let white = Colour::Fixed([255; 3]).attributes();
        assert_eq!(white, "fill=\"#ffffff\" stroke=\"#888\"");
        assert_eq!(Colour::Fixed([255, 0, 0x80]).attributes(), "fill=\"#ff0080\"");
    }

    #[test]
    fn names_beyond_the_palette_are_others() {
        let names = (0..20).map(|i| format!("value {i}"));
        let colours = Colours::of(names, &ValueColours::default());
        let all: BTreeSet<Colour> =
            (0..14).map(|i| colours.colour(&format!("value {i}"))).collect();
        assert_eq!(all, (0..14).map(Colour::Of).collect());
        assert_eq!(colours.colour("value 14").attributes(), "class=\"p-rest\"");
        assert_eq!(colours.colour("nobody").attributes(), "class=\"p-rest\"");
        let legend = colours.legend();
        assert_eq!((legend.len(), legend[14].1.as_str()), (15, "others"));
    }
}
