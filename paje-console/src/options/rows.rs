//! Options that select rows.

use clap::{Args, ValueEnum};
use paje_sim::{Glob, Selection, TimeRange, TypeNature};

use super::time;

/// Options that select rows.
#[derive(Args, Clone, Debug, Default)]
pub struct Which {
    /// Time window.
    #[command(flatten)]
    pub span: Span,

    /// Natures of rows.
    #[command(flatten)]
    pub natures: Natures,

    /// Types and containers of rows.
    #[command(flatten)]
    pub patterns: Patterns,
}

impl Which {
    /// Returns the selection for a replay.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        self.natures.narrow(&mut selection);
        self.patterns.narrow(&mut selection);
        selection.window = self.span.window();
        selection
    }
}

/// Time window, in seconds.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Span {
    /// Start of the time window
    ///
    /// In the trace's unit of time. The window has all rows that end at START or later, and all containers. Reports, pictures
    /// and pieces cut rows at START; pj_dump and pj_convert keep them whole
    #[arg(short, long, value_name = "START", value_parser = time, allow_hyphen_values = true)]
    pub start: Option<f64>,

    /// End of the time window
    ///
    /// In the trace's unit of time. The window has all rows that begin at END or earlier, and all containers. Reports, pictures
    /// and pieces cut rows at END; pj_dump and pj_convert keep them whole
    #[arg(short, long, value_name = "END", value_parser = time, allow_hyphen_values = true)]
    pub end: Option<f64>,
}

impl Span {
    /// Returns the window. Without options, it includes all times.
    #[must_use]
    pub fn window(&self) -> TimeRange {
        TimeRange {
            from: self.start.unwrap_or(f64::NEG_INFINITY),
            to: self.end.unwrap_or(f64::INFINITY),
        }
    }

    /// Returns whether the user gave a window.
    #[must_use]
    pub const fn is_asked(&self) -> bool {
        self.start.is_some() || self.end.is_some()
    }
}

/// Option for the natures of rows.
#[derive(Args, Clone, Debug, Default)]
pub struct Natures {
    /// Only rows of these natures: container, state, variable, event or link
    ///
    /// Separate several with commas, or repeat the option
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub nature: Vec<Nature>,
}

impl Natures {
    /// Restricts the selection to these natures, if any were given.
    pub fn narrow(&self, selection: &mut Selection) {
        if !self.nature.is_empty() {
            selection.natures = self.nature.iter().map(|nature| nature.of_types()).collect();
        }
    }
}

/// Natures of rows, as command lines name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)] // The format defines these natures.
pub enum Nature {
    #[value(alias = "containers")]
    Container,
    #[value(alias = "states")]
    State,
    #[value(alias = "variables")]
    Variable,
    #[value(alias = "events")]
    Event,
    #[value(alias = "links")]
    Link,
}

impl Nature {
    /// Returns the nature that the types of these rows have.
    #[must_use]
    pub const fn of_types(self) -> TypeNature {
        match self {
            Nature::Container => TypeNature::Container,
            Nature::State => TypeNature::State,
            Nature::Variable => TypeNature::Variable,
            Nature::Event => TypeNature::Event,
            Nature::Link => TypeNature::Link,
        }
    }
}

/// Name patterns for types and containers. `voice::all_met` refuses patterns that match nothing.
#[derive(Args, Clone, Debug, Default)]
pub struct Patterns {
    /// Only types whose name matches, such as 'MPI_*'
    ///
    /// Only rows of types whose name or alias matches GLOB, or one of the GLOBs if the option is
    /// repeated. The row of a container is of the container's type
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    pub of_type: Vec<Glob>,

    /// Only containers such as 'rank-1*', and all inside
    ///
    /// Only rows in containers whose name or alias matches GLOB, or one of the GLOBs if the option
    /// is repeated, and in the containers below them. The row of a container is in that container
    #[arg(long = "in", value_name = "GLOB", allow_hyphen_values = true)]
    pub inside: Vec<Glob>,
}

impl Patterns {
    /// Restricts the selection to the patterns.
    pub fn narrow(&self, selection: &mut Selection) {
        selection.types.clone_from(&self.of_type);
        selection.containers.clone_from(&self.inside);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        which: Which,
    }

    fn selection(words: &[&str]) -> Result<Selection, clap::Error> {
        let cli = Cli::try_parse_from([&["it"], words].concat())?;
        Ok(cli.which.selection())
    }

    #[test]
    fn all_rows_are_selected_by_default() {
        assert_eq!(selection(&[]).expect("no words"), Selection::default());
    }

    #[test]
    fn natures_have_the_same_names_everywhere() {
        for word in ["state,link", "States,LINK", "links,state"] {
            let found = selection(&["--nature", word]).expect("natures").natures;
            assert_eq!(
                found,
                [TypeNature::Link, TypeNature::State].into_iter().collect(),
                "{word}"
            );
        }
        let all = ["--nature=container", "--nature=variables,event", "--nature=link,states"];
        assert_eq!(selection(&all).expect("natures").natures, Selection::default().natures);
        assert!(selection(&["--nature", "row"]).is_err());
    }

    #[test]
    fn times_and_patterns_are_parsed() {
        let found = selection(&["-s", "-1", "-e", "2", "--of-type", "-x", "--in", "a*", "--in=b"]);
        let found = found.expect("a selection");
        assert_eq!(found.window, TimeRange { from: -1.0, to: 2.0 });
        assert_eq!((found.types.len(), found.containers.len()), (1, 2));
        assert!(selection(&["--start", "soon"]).is_err());
    }
}
