//! The command line: options that `pj_dump` has are called as there.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::Generate;
use paje_console::options::{Memory, Parallel, Reading, Talk, Which};

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
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is none, or if it is `-`
    #[arg(value_name = "TRACE", default_value = "-", hide_default_value = true)]
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

    /// Which rows are wanted
    #[command(flatten, next_help_heading = WHICH)]
    pub which: Which,

    /// How the trace is read
    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    /// How much memory there is, where a trace is kept
    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    /// What is told beside it
    #[command(flatten, next_help_heading = SPEED)]
    pub talk: Talk,

    /// Tell on standard error what the trace is read from, how many threads run where, and the memory taken
    #[arg(long, help_heading = SPEED)]
    pub verbose: bool,

    /// What to generate instead
    #[command(flatten, next_help_heading = OTHER)]
    pub generate: Generate,

    /// Print this help; -h is shorter
    #[arg(short = 'h', visible_short_alias = '?', long, action = ArgAction::Help, help_heading = OTHER)]
    help: Option<bool>,

    /// Print the version
    #[arg(short = 'V', short_alias = 'v', long, action = ArgAction::Version, help_heading = OTHER)]
    version: Option<bool>,
}

/// Values of the option for the format.
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

/// Reason why nothing is written as OTF2, and what to do.
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

    /// True if the output is compressed.
    #[must_use]
    pub fn compresses(&self) -> bool {
        self.ending().1
    }

    /// True if the output is no file.
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
}
