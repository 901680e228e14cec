//! The command line.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{ArgGroup, Parser};
use paje_console::Quotes;
use paje_console::generate::About;
use paje_console::options::{Accepted, Parallel, Span, Talk, Variables, count};
use paje_decimal::amounts;

use crate::manual::MANUAL;
use crate::pack::Compress;

const OPEN_LINKS: &str =
    "Accept links that have no end instead of refusing the trace; they are split like others";
const SORT: &str = "Split the trace as sorted by time, as `pj_dump --sort` replays it: pieces are in time order, \
                    whatever the trace is. The trace is kept in memory meanwhile";

/// Splits a Pajé trace into pieces by container, each of which is a complete trace.
///
/// DIR gets a file piece-000.trace, piece-001.trace, … for each piece, and root.trace, which has
/// all definitions, creations and destructions, and names the piece of each container
/// (PajeTraceFile). All events of a container are in one piece, as they are in the trace. A piece
/// also creates the ancestors of its containers and the containers at the ends of its links, and
/// ends when the trace ends; so any Pajé tool can dump it. Several programs or machines can then
/// work on a trace that is too large for one. `pj_dump DIR/root.trace` dumps the whole trace.
///
/// Before DIR appears, the trace is checked as by pj_dump. It is read twice; if that is not
/// possible (a pipe, compressed data), its text is kept in a temporary file beside DIR. Memory does
/// not grow with the length of the trace.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_split",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    group = ArgGroup::new("how").multiple(false),
    mut_arg("ignore_incomplete_links", |arg| arg.help(OPEN_LINKS).long_help(Resettable::Reset)),
    mut_arg("sort", |arg| arg.help(SORT).long_help(Resettable::Reset)),
    mut_arg("start", |arg| arg.conflicts_with("recover")),
    mut_arg("end", |arg| arg.conflicts_with("recover")),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// The trace, plain or compressed with gzip, zstd, xz or bzip2; standard input if there is
    /// none, or if it is `-`
    #[arg(value_name = "TRACE")]
    pub file: Option<PathBuf>,

    /// Folder to create; it may exist if it is empty. With --start or --end alone, the
    /// file to write
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Number of pieces of about equal size
    ///
    /// Fewer if fewer containers have events. Without --pieces, --piece-size and --by: one for each
    /// CPU that this process may use
    #[arg(short, long, value_name = "N", group = "how", value_parser = count)]
    pub pieces: Option<NonZeroUsize>,

    /// Approximate size of a piece
    ///
    /// In bytes, or with K, M, G or T (powers of 1024) or KB, MB, GB or TB (powers of 1000)
    #[arg(long, value_name = "SIZE", group = "how", value_parser = piece_size)]
    pub piece_size: Option<NonZeroU64>,

    /// Make a piece for each container of this type with everything below it, and one for the rest;
    /// TYPE is a name or an alias
    #[arg(short, long, value_name = "TYPE", group = "how")]
    pub by: Option<String>,

    /// Window of time to write instead of the whole trace.
    #[command(flatten)]
    pub span: Span,

    /// Precision of the values of variables in a window.
    #[command(flatten)]
    pub variables: Variables,

    /// Compress the pieces; root.trace stays uncompressed
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub compress: Option<Compress>,

    /// Write pieces for programs that do not know PajeTraceFile, such as ViTE
    ///
    /// The definition of an unused event type marks their end
    #[arg(long)]
    pub plain: bool,

    /// Accepted deviations.
    #[command(flatten)]
    pub accepted: Accepted,

    /// Skip or repair what is wrong in the trace, as pj_dump --recover does, and report it, even
    /// with --no-warnings. The pieces are valid traces, and root.trace is dumped as pj_dump
    /// --recover dumps the trace. Problems that no valid trace can express stay in them and are
    /// reported; then dumping the pieces needs --recover too
    #[arg(long)]
    pub recover: bool,

    /// Quotes around names
    #[arg(long, value_enum, default_value_t = Quotes::Auto)]
    pub quotes: Quotes,

    /// Number and place of threads.
    #[command(flatten)]
    pub parallel: Parallel,

    /// Choice of messages.
    #[command(flatten)]
    pub talk: Talk,

    /// Information about the program.
    #[command(flatten)]
    pub about: About,
}

impl Cli {
    pub(crate) const fn wants_pieces(&self) -> bool {
        self.pieces.is_some() || self.piece_size.is_some() || self.by.is_some()
    }
}

fn piece_size(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(amounts::size(text)?).ok_or_else(|| "expected at least one byte".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_split_exclude_each_other() {
        let read = |words: &[&str]| Cli::try_parse_from([&["pj_split"], words].concat());
        assert!(read(&["t", "-o", "d", "-p", "3"]).is_ok());
        assert!(read(&["t"]).is_err());
        assert!(read(&["t", "-o", "d", "-p", "0"]).is_err());
        assert!(read(&["t", "-o", "d", "-p", "3", "--by", "x"]).is_err());
        assert!(read(&["t", "-o", "d", "--piece-size", "3", "--by", "x"]).is_err());
    }
}
