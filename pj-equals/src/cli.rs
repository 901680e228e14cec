//! The command line: PajeNG's long and short options, and ours.
//!
//! A long option may be abbreviated to a unique prefix. Where one of our options shares a prefix
//! with a PajeNG option, an alias makes the prefix select the PajeNG option.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Parser};
use paje_console::generate::Generate;
use paje_console::options::{Memory, Parallel, Reading, Talk, count, positive_time, time};
use paje_parser::number::parse_f64;

use crate::exact::{Case, Rules, TimeRange, What};
use crate::manual::MANUAL;

const OURS: &str = "Beyond PajeNG";

/// Compares two Pajé traces: prints 1 if they are equal, 0 if not.
///
/// By default, traces are equal if PajeNG considers them equal. It compares structure and the
/// values of states, events and links, but no times, numbers or names of containers. With --exact,
/// all rows must be the same; --diff prints where they differ.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_equals",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    group = ArgGroup::new("what").multiple(false),
    mut_arg("no_strict", |arg| arg.aliases(["n", "no", "no-"])),
    mut_args(|arg| match arg.get_id().as_str() {
        "sort" | "recover" | "no_files" | "files_from" | "max_line" => arg.help_heading(OURS),
        _ => arg,
    }),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
#[allow(missing_docs)]
pub struct Cli {
    /// A trace, plain or compressed with gzip, zstd, xz or bzip2; `-` is standard input
    #[arg(value_name = "FILE1", required = true)]
    pub file1: Option<PathBuf>,

    /// The trace to compare it with; the same formats
    #[arg(value_name = "FILE2", required = true)]
    pub file2: Option<PathBuf>,

    /// Ignore events of FILE1 later than TIME
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub stop_at1: Option<f64>,

    /// Ignore events of FILE2 later than TIME
    #[arg(short = 'o', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub stop_at2: Option<f64>,

    /// Only rows of FILE1 that end at START or later
    #[arg(short = 's', long, value_name = "START", value_parser = time, allow_hyphen_values = true)]
    pub start1: Option<f64>,

    /// Only rows of FILE2 that end at START or later
    #[arg(short = 't', long, value_name = "START", value_parser = time, allow_hyphen_values = true)]
    pub start2: Option<f64>,

    /// Only rows of FILE1 that begin at END or earlier
    #[arg(short = 'e', long, value_name = "END", value_parser = time, allow_hyphen_values = true)]
    pub end1: Option<f64>,

    /// Only rows of FILE2 that begin at END or earlier
    #[arg(short = 'd', long, value_name = "END", value_parser = time, allow_hyphen_values = true)]
    pub end2: Option<f64>,

    /// Ignored; accepted for compatibility with PajeNG
    #[arg(short, long, alias = "f")]
    pub flex: bool,

    /// Ignore the case of ASCII letters in names
    #[arg(short, long)]
    pub icase: bool,

    #[command(flatten)]
    pub reading: Reading,

    /// Print nothing, not even warnings; the exit status is the answer
    #[arg(short, long)]
    pub quiet: bool,

    /// Print the first N differences (default: 1) between all rows
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = count, help_heading = OURS)]
    pub diff: Option<NonZeroUsize>,

    /// Compare types, containers with their times, and all columns of rows
    ///
    /// Types and containers are matched by their names and parents, with any alias and in any order
    /// of creation
    #[arg(long, group = "what", help_heading = OURS)]
    pub exact: bool,

    /// Like --exact, but no times, values of variables, or keys of links
    #[arg(long, group = "what", help_heading = OURS)]
    pub names_only: bool,

    /// Compare types and containers only
    #[arg(long, group = "what", help_heading = OURS)]
    pub structure_only: bool,

    /// Like --exact, but accept differences of times up to SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = positive_time, conflicts_with_all = ["names_only", "structure_only"], help_heading = OURS)]
    pub tolerance: Option<f64>,

    /// Like --exact, but accept differences of numbers up to PART of the larger one, such as 0.01
    ///
    /// The numbers are times and values of variables
    #[arg(long, value_name = "PART", value_parser = part, conflicts_with_all = ["names_only", "structure_only"], help_heading = OURS)]
    pub relative: Option<f64>,

    /// Like --exact, but no keys of links
    #[arg(long, help_heading = OURS)]
    pub no_keys: bool,

    #[command(flatten, next_help_heading = OURS)]
    pub memory: Memory,

    #[command(flatten, next_help_heading = OURS)]
    pub parallel: Parallel,

    #[command(flatten, next_help_heading = OURS)]
    pub talk: Talk,

    #[command(flatten, next_help_heading = OURS)]
    pub generate: Generate,

    /// Print this help; -h is shorter
    #[arg(short = 'h', visible_short_alias = '?', long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print a short usage message
    #[arg(long, hide = true, exclusive = true)]
    pub usage: bool,

    /// Print the version
    #[arg(short, visible_short_alias = 'V', long, aliases = ["v", "ve", "ver"], action = ArgAction::Version)]
    version: Option<bool>,
}

impl Cli {
    /// Returns the rules of the comparison; `None` for PajeNG's.
    pub(crate) fn rules(&self) -> Option<Rules> {
        (self.chooses() || self.diff.is_some()).then(|| Rules {
            what: match (self.names_only, self.structure_only) {
                (true, _) => What::Names,
                (_, true) => What::Structure,
                _ => What::Everything,
            },
            case: self.case(),
            tolerance: self.tolerance.unwrap_or(0.0),
            relative: self.relative.unwrap_or(0.0),
            keys: !self.no_keys,
            windows: self.windows(),
        })
    }

    /// Returns whether an option chooses what is compared. `--diff` alone explains PajeNG's answer,
    /// too.
    pub(crate) fn chooses(&self) -> bool {
        let exact = self.exact || self.tolerance.is_some() || self.relative.is_some();
        exact || self.no_keys || self.names_only || self.structure_only
    }

    /// Returns the windows of rows to compare.
    pub(crate) fn windows(&self) -> [TimeRange; 2] {
        let window = |from: Option<f64>, to: Option<f64>| TimeRange {
            from: from.unwrap_or(f64::NEG_INFINITY),
            to: to.unwrap_or(f64::INFINITY),
        };
        [window(self.start1, self.end1), window(self.start2, self.end2)]
    }

    /// Returns whether the case of letters matters in names.
    pub(crate) fn case(&self) -> Case {
        if self.icase { Case::Ignored } else { Case::Matters }
    }
}

fn part(text: &str) -> Result<f64, String> {
    let number = parse_f64(text.as_bytes()).filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected a number of 0 or more, such as 0.01".into())
}

#[cfg(test)]
mod tests;
