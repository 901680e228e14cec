//! The command line.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{ArgGroup, Parser, ValueEnum};
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{Accepted, Parallel, Talk, count, time};
use splitter::parse_size;

use crate::manual::MANUAL;
use crate::pack::Compress;

/// The help of options that mean a little more here than elsewhere.
const OPEN_LINKS: &str =
    "Accept links that lack an end instead of refusing the trace; they are split like others";
const SORT: &str = "Split the trace as sorted by time, as `pj_dump --sort` replays it: pieces are in time order, \
                    whatever the trace is. The trace is kept in memory meanwhile";

/// Splits a Pajé trace into pieces by container, each of which is a trace of its own.
///
/// DIR gets a file piece-000.trace, piece-001.trace, … for each piece, and root.trace, which has all
/// definitions, creations and destructions, and names the piece of each container (PajeTraceFile).
/// All events of a container are in one piece, as they stand in the trace. A piece also creates what
/// its own containers are in, and what its links begin or end in, and ends when the trace ends; so any
/// Pajé tool dumps it as that part of the trace, and what one file cannot hold, several programs or
/// machines can work on. `pj_dump DIR/root.trace` dumps the whole.
///
/// The trace is checked as pj_dump does before anything appears at DIR. It is read twice; what cannot
/// be read twice (a pipe, compressed data) is kept in a temporary file beside DIR meanwhile. Memory does
/// not grow with the trace.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_split",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 100,
    group = ArgGroup::new("how").multiple(false),
    mut_arg("ignore_incomplete_links", |arg| arg.help(OPEN_LINKS).long_help(Resettable::Reset)),
    mut_arg("sort", |arg| arg.help(SORT).long_help(Resettable::Reset)),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is none, or
    /// if it is `-`
    #[arg(value_name = "TRACE")]
    pub file: Option<PathBuf>,

    /// The folder to make; there may be an empty one. With --from or --to alone, the file to write
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// How many pieces, as even as containers allow: fewer if fewer containers have events. If none of
    /// --pieces, --piece-size and --by is given, one for each CPU that this process may use
    #[arg(short, long, value_name = "N", group = "how", value_parser = count)]
    pub pieces: Option<NonZeroUsize>,

    /// As many pieces as the trace has times this size, in bytes or with K, M, G or T (powers of 1024) or
    /// KB, MB, GB or TB (powers of 1000)
    #[arg(short = 's', long, value_name = "SIZE", group = "how", value_parser = size)]
    pub piece_size: Option<NonZeroU64>,

    /// A piece for each container of this type with all that is in it, and one for the rest; TYPE is a
    /// name or an alias
    #[arg(short, long, value_name = "TYPE", group = "how")]
    pub by: Option<String>,

    /// Only a window of time, from here on, in seconds: a trace that is valid by itself and has the rows of
    /// `pj_dump --start`, cut to the window. It is written to one file, or split, if --pieces, --piece-size or
    /// --by is given
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true, conflicts_with = "recover")]
    pub from: Option<f64>,

    /// The same, up to here
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true, conflicts_with = "recover")]
    pub to: Option<f64>,

    /// How values of variables are read for --from and --to: as PajeNG reads them, or in full
    #[arg(long, value_enum, value_name = "PRECISION", default_value = "single")]
    pub variable_precision: VariablePrecision,

    /// Compress the pieces; root.trace stays as it is
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub compress: Option<Compress>,

    /// Pieces without PajeTraceFile, for programs that do not know it, such as ViTE: their end is told by the
    /// definition of a type of events that has none
    #[arg(long)]
    pub plain: bool,

    /// What is accepted of a sound trace
    #[command(flatten)]
    pub accepted: Accepted,

    /// Leave out or mend what is wrong with the trace, as pj_dump --recover does, and tell it afterwards, with
    /// --no-warnings too.
    /// The pieces are sound traces, and root.trace is dumped as pj_dump --recover dumps the trace. What no
    /// sound trace can say stays in them and is told, too: then --recover is needed to dump them
    #[arg(long)]
    pub recover: bool,

    /// How pj_dump will print names: with keep, a value in quotes is another than one without, and traces
    /// are split that are valid only so
    #[arg(long, value_enum, default_value_t = Quotes::Auto)]
    pub quotes: Quotes,

    /// Do not warn of doubtful lines; the same as --no-warnings
    #[arg(short, long)]
    pub quiet: bool,

    /// How many threads there are, and where
    #[command(flatten)]
    pub parallel: Parallel,

    /// What is told beside it
    #[command(flatten)]
    pub talk: Talk,

    /// Tell on standard error what the trace is read from, how many threads run where, and what each
    /// piece holds
    #[arg(long)]
    pub verbose: bool,

    /// Tell on standard error how much was read and written, how long that took, and the memory used
    #[arg(long)]
    pub stats: bool,

    /// About the program
    #[command(flatten)]
    pub about: About,
}

/// Precision with which values of variables are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariablePrecision {
    /// As PajeNG does: 16777217 becomes 16777216
    Single,
    /// Correctly rounded to double
    Double,
}

impl Cli {
    /// Whether pieces are asked for.
    pub(crate) const fn wants_pieces(&self) -> bool {
        self.pieces.is_some() || self.piece_size.is_some() || self.by.is_some()
    }
}

fn size(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(parse_size(text)?).ok_or_else(|| "expected at least one byte".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("512M").map(NonZeroU64::get), Ok(512 << 20));
        for wrong in ["", "0", "K", "0.1"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_way_to_split() {
        let read = |words: &[&str]| Cli::try_parse_from([&["pj_split"], words].concat());
        assert!(read(&["t", "-o", "d", "-p", "3"]).is_ok());
        assert!(read(&["t"]).is_err());
        assert!(read(&["t", "-o", "d", "-p", "0"]).is_err());
        assert!(read(&["t", "-o", "d", "-p", "3", "--by", "x"]).is_err());
        assert!(read(&["t", "-o", "d", "--piece-size", "3", "--by", "x"]).is_err());
    }
}
