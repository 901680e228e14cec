//! Command line. Options that `pj_dump` also has have the same names.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{Memory, Parallel, Reading, Talk, Units, Which};

use crate::convert::Format;
use crate::manual::MANUAL;

const OUTPUT: &str = "Output";
const WHICH: &str = "Which rows";
const READING: &str = "Reading";
const SPEED: &str = "Speed and memory";
const OTHER: &str = "Other";

/// Converts a Pajé trace to the formats of Perfetto, Chrome, Pipit or OTF2, or to normalised Pajé.
///
/// The output appears once it is complete. An invalid trace leaves no file or folder.
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
#[allow(missing_docs)]
pub struct Cli {
    /// Trace to read, plain or compressed with gzip, zstd, xz or bzip2 [default: standard input]
    #[arg(value_name = "TRACE", default_value = "-", hide_default_value = true)]
    pub file: PathBuf,

    /// File to write, ending in .pftrace, .json, .csv or .paje, with .gz to compress it; `-` is
    /// standard output. With --to otf2, a new folder
    #[arg(short, long, value_name = "OUT", help_heading = OUTPUT)]
    pub output: PathBuf,

    /// Output format, regardless of the file's name
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = OUTPUT)]
    pub to: Option<To>,

    /// Quotes around names
    #[arg(long, value_enum, default_value_t = Quotes::Auto, hide_possible_values = true, help_heading = OUTPUT)]
    pub quotes: Quotes,

    #[command(flatten, next_help_heading = WHICH)]
    pub which: Which,

    #[command(flatten, next_help_heading = READING)]
    pub units: Units,

    #[command(flatten, next_help_heading = READING)]
    pub reading: Reading,

    #[command(flatten, next_help_heading = SPEED)]
    pub parallel: Parallel,

    #[command(flatten, next_help_heading = SPEED)]
    pub memory: Memory,

    #[command(flatten, next_help_heading = SPEED)]
    pub talk: Talk,

    #[command(flatten, next_help_heading = OTHER)]
    pub about: About,
}

/// Values of `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// Perfetto's protocol buffers, for ui.perfetto.dev and trace_processor (.pftrace)
    Perfetto,
    /// Chrome's trace events, for chrome://tracing, Perfetto and speedscope (.json)
    Chrome,
    /// Table of events for the Python package Pipit (.csv)
    Pipit,
    /// The same Pajé trace, sorted by time (.paje)
    Paje,
    /// OTF2 archive for Vampir, Scalasca and Cube, in a new folder
    Otf2,
}

const NO_STREAM: &str = "an OTF2 archive is a folder: name a new one, without .gz";

impl Cli {
    /// Returns the output format, from `--to` or the file's name.
    pub(crate) fn format(&self) -> Result<Format, String> {
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
            Some(To::Otf2) if self.writes_to_standard_output() || self.compresses() => {
                Err(NO_STREAM.into())
            }
            Some(To::Otf2) => Ok(Format::Otf2),
            None if self.writes_to_standard_output() => {
                Err("standard output needs a format: --to perfetto, chrome, pipit or paje".into())
            }
            None => {
                let output = paje_parser::error::shown_path(&self.output);
                Err(format!(
                    "{output}: unknown format; use a name that ends in .pftrace, .json, .csv, .paje (and \
                     .gz) or .otf2, or --to"
                ))
            }
        }
    }

    /// Returns whether the output is compressed.
    pub(crate) fn compresses(&self) -> bool {
        self.ending().1
    }

    /// Returns whether the output is standard output.
    pub(crate) fn writes_to_standard_output(&self) -> bool {
        self.output == Path::new("-")
    }

    /// Returns the output's name in lower case without `.gz`, and whether it had that suffix.
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
    use super::*;

    #[test]
    fn the_format_follows_from_the_file_name_or_the_option() {
        let cli = |words: &[&str]| Cli::parse_from([&["pj_convert", "a.trace"], words].concat());
        let format = |words: &[&str]| cli(words).format();
        assert_eq!(format(&["-o", "a.pftrace"]), Ok(Format::Perfetto));
        assert_eq!(format(&["-o", "A.JSON.GZ"]), Ok(Format::Chrome));
        assert!(cli(&["-o", "A.JSON.GZ"]).compresses() && !cli(&["-o", "a.csv"]).compresses());
        assert_eq!(format(&["-o", "x/a.csv"]), Ok(Format::Pipit));
        assert_eq!(format(&["-o", "a.csv", "--to", "paje"]), Ok(Format::Paje));
        assert_eq!(format(&["-o", "-", "--to", "chrome"]), Ok(Format::Chrome));
        assert_eq!(format(&["-o", "a", "--to", "otf2"]), Ok(Format::Otf2));
        for words in [&["-o", "-"][..], &["-o", "a.out"], &["-o", "a.otf2.gz"], &["-o", "json"]] {
            assert!(format(words).is_err(), "{words:?}");
        }
        assert!(Cli::try_parse_from(["pj_convert", "a.trace"]).is_err());
    }
}
