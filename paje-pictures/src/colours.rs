//! Colours: those of values, which people tell apart with any eyes, and the shades of how much there is.
//!
//! They are classes of a style sheet, of which a dark page has another one.

use std::collections::HashMap;
use std::fmt::Write;

/// Colours of values on light and on dark paper: those of Okabe and Ito, and of Tol's muted scheme where they differ
/// from these.
const PALETTE: [(&str, &str); 12] = [
    ("#0072b2", "#4aa3dd"),
    ("#e69f00", "#e9ab2b"),
    ("#009e73", "#1fb58b"),
    ("#cc79a7", "#d68fb6"),
    ("#56b4e9", "#8accf2"),
    ("#d55e00", "#e57a2e"),
    ("#332288", "#8378d6"),
    ("#999933", "#b5b54f"),
    ("#882255", "#c25a92"),
    ("#44aa99", "#69c5b6"),
    ("#b9a900", "#f0e442"),
    ("#7a7a7a", "#b8bcc4"),
];

/// Colour of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Of the palette, or, beyond it, that of all others.
    Of(usize),
    /// Colour of what is counted or measured, without a name of its own.
    Plain,
    /// Colour of what became more, or is to be seen first.
    Hot,
}

impl Colour {
    /// The class that has it.
    pub(crate) fn class(self) -> String {
        match self {
            Colour::Of(place) if place < PALETTE.len() => format!("p-c{place}"),
            Colour::Of(_) => "p-rest".into(),
            Colour::Plain => "p-heat".into(),
            Colour::Hot => "p-hot".into(),
        }
    }
}

/// The colours of names.
#[derive(Clone, Debug, Default)]
pub struct Colours(HashMap<String, usize>);

impl Colours {
    /// Each name gets the next colour: those that matter most come first.
    #[must_use]
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        let mut places = HashMap::new();
        for name in names {
            let next = places.len();
            places.entry(name).or_insert(next);
        }
        Colours(places)
    }

    /// The colour of a name.
    #[must_use]
    pub fn colour(&self, name: &str) -> Colour {
        Colour::Of(self.0.get(name).copied().unwrap_or(usize::MAX))
    }

    /// The names that have a colour of their own, in the order of these.
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

/// The style sheet of pictures.
pub(crate) fn style() -> String {
    let theme = |dark: bool| {
        let pick = |light: &'static str, other: &'static str| if dark { other } else { light };
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
            let _ = write!(css, ".p-c{place}{{fill:{}}}", pick(light, dark));
        }
        css
    };
    format!("{}\n@media (prefers-color-scheme:dark){{{}}}", theme(false), theme(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_palette_are_others() {
        let colours = Colours::of((0..20).map(|i| format!("value {i}")));
        assert_eq!(colours.colour("value 3"), Colour::Of(3));
        assert_eq!(colours.colour("value 19").class(), "p-rest");
        assert_eq!(colours.colour("nobody").class(), "p-rest");
        let legend = colours.legend();
        assert_eq!((legend.len(), legend[12].1.as_str()), (13, "others"));
    }
}
