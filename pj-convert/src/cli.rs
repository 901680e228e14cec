//! The command line: options that `pj_dump` has are called as there.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser, ValueEnum};
use console::Quotes;
use console::generate::Generate;
use console::options::{LongestLine, Memory, NamedFiles, Parallel, Warnings, time};
use paje_sim::{Glob, Natures, Selection, TypeNature};

use crate::convert::Format;
use crate::manual::MANUAL;

/// Headings of the help. They come in the order of their first options.
const WHAT: &str = "What is written";
const WHICH: &str = "Which rows";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// Converts a Pajé trace for Perfetto, Chrome and Pipit, or to a normalised Pajé trace.
///
/// A file is there when all of it is complete, and not if the trace is invalid.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_convert",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if it is `-`
    #[arg(value_name = "TRACE")]
    pub file: PathBuf,

    /// Where to write: a file whose name ends in .pftrace, .json, .csv or .paje, and perhaps .gz, which is
    /// compressed then; or `-`, which is standard output
    #[arg(short, long, value_name = "OUT", help_heading = WHAT)]
    pub output: PathBuf,

    /// The format, whatever the file is called
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = WHAT)]
    pub to: Option<To>,

    /// How names are written: keep has the quotes of the trace, the others have none
    #[arg(long, value_enum, default_value_t = Quotes::Auto, hide_possible_values = true, help_heading = WHAT)]
    pub quotes: Quotes,

    /// Only rows that end at START or later
    #[arg(short, long, value_name = "START", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub start: Option<f64>,

    /// Only rows that begin at END or earlier
    #[arg(short, long, value_name = "END", value_parser = time, allow_hyphen_values = true, help_heading = WHICH)]
    pub end: Option<f64>,

    /// Only container, state, variable, event or link; several stand between commas, or the option is given more
    /// than once
    #[arg(long, value_parser = nature, value_name = "LIST", value_delimiter = ',', help_heading = WHICH)]
    pub nature: Vec<TypeNature>,

    /// Only types whose name or alias matches, such as 'MPI_*'
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub of_type: Vec<Glob>,

    /// Only what is in containers whose name or alias matches, such as 'rank-1*'
    #[arg(long = "in", value_name = "GLOB", allow_hyphen_values = true, help_heading = WHICH)]
    pub inside: Vec<Glob>,

    /// Know the field names of older traces (ContainerType, SourceContainer, …)
    #[arg(short, long, help_heading = READING)]
    pub no_strict: bool,

    /// Drop links that lack an end instead of refusing the trace
    #[arg(short = 'z', long, help_heading = READING)]
    pub ignore_incomplete_links: bool,

    /// Take events in the order of time, whatever the order of their lines; the whole text is kept in memory
    #[arg(long, help_heading = READING)]
    pub sort: bool,

    /// Leave out or mend what is wrong; what was made of it is told, and the exit status is 1 if there was
    /// anything to tell. The whole trace is kept in memory
    #[arg(long, help_heading = READING)]
    pub recover: bool,

    /// Which of the files that a trace names are read
    #[command(flatten, next_help_heading = READING)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten, next_help_heading = READING)]
    pub longest: LongestLine,

    /// What is told
    #[command(flatten, next_help_heading = READING)]
    pub warnings: Warnings,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How much memory there is, where a trace is kept
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// Tell on standard error what the trace is read from, how many threads run where, and the memory taken
    #[arg(long, help_heading = SPEED)]
    pub verbose: bool,

    /// Do not show progress; it is shown only if standard error is a terminal, and after a second
    #[arg(long, help_heading = SPEED)]
    pub no_progress: bool,

    /// What to generate instead
    #[command(flatten, next_help_heading = OTHER)]
    pub generate: Generate,

    /// Print this help
    #[arg(short = '?', long, action = ArgAction::Help, help_heading = OTHER)]
    help: Option<bool>,

    /// Print the version
    #[arg(short, long, action = ArgAction::Version, help_heading = OTHER)]
    version: Option<bool>,
}

/// What the option for the format takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// Perfetto's protocol buffers, for ui.perfetto.dev and trace_processor (.pftrace)
    Perfetto,
    /// Chrome's trace events, for chrome://tracing, Perfetto and speedscope (.json)
    Chrome,
    /// Rows of events for the Python package Pipit (.csv)
    Pipit,
    /// A Pajé trace that says the same in the order of time (.paje)
    Paje,
    /// Not written: says what to do instead
    Otf2,
}

/// Why nothing is written as OTF2, and what to do.
const NO_OTF2: &str = "OTF2 is not written: it needs a library in C, and Rust has no package for it. Pipit reads \
                       --to pipit as it reads OTF2; Perfetto shows --to perfetto, as Vampir shows OTF2";

impl Cli {
    /// The format that is asked for, by name or by the file's.
    ///
    /// # Errors
    /// There is none, in a sentence.
    pub fn format(&self) -> Result<Format, String> {
        let (name, _) = self.ending();
        let to = self.to.or(match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("pftrace" | "perfetto-trace") => Some(To::Perfetto),
            Some("json") => Some(To::Chrome),
            Some("csv") => Some(To::Pipit),
            Some("paje" | "trace") => Some(To::Paje),
            Some("otf2") => Some(To::Otf2),
            _ => None,
        });
        match to {
            Some(To::Perfetto) => Ok(Format::Perfetto),
            Some(To::Chrome) => Ok(Format::Chrome),
            Some(To::Pipit) => Ok(Format::Pipit),
            Some(To::Paje) => Ok(Format::Paje),
            Some(To::Otf2) => Err(NO_OTF2.into()),
            None if self.writes_to_standard_output() => {
                Err("--to says in which format standard output is written: perfetto, chrome, pipit or paje".into())
            }
            None => {
                let output = paje_parser::error::shown_path(&self.output);
                Err(format!(
                    "{output}: the name tells no format; let it end in .pftrace, .json, .csv or .paje (and .gz), or \
                     use --to"
                ))
            }
        }
    }

    /// Whether the output is compressed.
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.ending().1
    }

    /// Whether the output is no file.
    #[must_use]
    pub fn writes_to_standard_output(&self) -> bool {
        self.output == Path::new("-")
    }

    /// The name of the output in small letters, without what says that it is compressed, and whether it is.
    fn ending(&self) -> (String, bool) {
        let name = self.output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        match name.strip_suffix(".gz") {
            Some(inner) => (inner.to_owned(), true),
            None => (name, false),
        }
    }

    /// The rows that are wanted.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::default();
        if !self.nature.is_empty() {
            selection.natures = self.nature.iter().copied().collect::<Natures>();
        }
        selection.types.clone_from(&self.of_type);
        selection.containers.clone_from(&self.inside);
        selection.window.from = self.start.unwrap_or(f64::NEG_INFINITY);
        selection.window.to = self.end.unwrap_or(f64::INFINITY);
        selection
    }
}

fn nature(text: &str) -> Result<TypeNature, String> {
    let text = text.to_lowercase();
    let natures = [
        ("container", TypeNature::Container),
        ("state", TypeNature::State),
        ("variable", TypeNature::Variable),
        ("event", TypeNature::Event),
        ("link", TypeNature::Link),
    ];
    let singular = text.strip_suffix('s').unwrap_or(&text);
    let found = natures.into_iter().find(|(name, _)| *name == singular);
    found
        .map(|(_, nature)| nature)
        .ok_or_else(|| "expected container, state, variable, event or link".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn formats_by_name() {
        let cli = |words: &[&str]| Cli::parse_from([&["pj_convert", "a.trace"], words].concat());
        let format = |words: &[&str]| cli(words).format();
        assert_eq!(format(&["-o", "a.pftrace"]), Ok(Format::Perfetto));
        assert_eq!(format(&["-o", "A.JSON.GZ"]), Ok(Format::Chrome));
        assert!(cli(&["-o", "A.JSON.GZ"]).compresses() && !cli(&["-o", "a.csv"]).compresses());
        assert_eq!(format(&["-o", "x/a.csv"]), Ok(Format::Pipit));
        assert_eq!(format(&["-o", "a.csv", "--to", "paje"]), Ok(Format::Paje));
        assert_eq!(format(&["-o", "-", "--to", "chrome"]), Ok(Format::Chrome));
        for words in [&["-o", "-"][..], &["-o", "a.out"], &["-o", "a.otf2"], &["-o", "json"]] {
            assert!(format(words).is_err(), "{words:?}");
        }
        assert!(Cli::try_parse_from(["pj_convert", "a.trace"]).is_err());
    }

    #[test]
    fn natures() {
        let words = ["pj_convert", "a", "-o", "b", "--nature", "States,link"];
        let natures = Cli::parse_from(words).selection().natures;
        assert!(natures.contains(TypeNature::State) && natures.contains(TypeNature::Link));
        assert!(!natures.contains(TypeNature::Event));
        assert!(Cli::try_parse_from(["pj_convert", "a", "-o", "b", "--nature", "row"]).is_err());
    }
}
