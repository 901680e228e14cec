//! The command line: PajeNG's options, long and short, and ours.
//!
//! A long option may be cut short as long as no other one begins alike. Where one of ours begins like
//! one of PajeNG's, what stood for PajeNG's alone still does: that is what the aliases are for.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Parser};
use paje_console::generate::Generate;
use paje_console::options::{Accepted, LongestLine, Memory, NamedFiles, Parallel, Talk, time};
use paje_parser::number::parse_f64;

use crate::exact::{Case, Rules, TimeRange, What};
use crate::manual::MANUAL;

/// The heading of the options that PajeNG does not have.
const OURS: &str = "Beyond PajeNG";

/// Returns whether two Pajé traces are equal: prints 1 if they are, 0 if not.
///
/// Without options of ours, traces are equal if they are for PajeNG, which compares their shape and the
/// values of states, events and links, but no times, numbers or names of containers. With --exact, they are if
/// all their rows are the same; with --diff, it is told where they are not.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_equals",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    args_override_self = true,
    max_term_width = 100,
    group = ArgGroup::new("what").multiple(false),
    mut_arg("no_strict", |arg| arg.aliases(["n", "no", "no-"])),
    mut_arg("sort", |arg| arg.help_heading(OURS)),
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// A trace, plain or compressed with gzip, zstd, xz or bzip2; `-` is standard input
    #[arg(value_name = "FILE1", required = true)]
    pub file1: Option<PathBuf>,

    /// The trace that it is compared with, likewise
    #[arg(value_name = "FILE2", required = true)]
    pub file2: Option<PathBuf>,

    /// Ignore events of FILE1 later than TIME; what is open ends there
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub stop_at1: Option<f64>,

    /// Ignore events of FILE2 later than TIME; what is open ends there
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

    /// Accepted for PajeNG's sake; there is one reader only
    #[arg(short, long, alias = "f")]
    pub flex: bool,

    /// Upper and lower case of ASCII letters do not matter where names are compared
    #[arg(short, long)]
    pub icase: bool,

    /// What is accepted of sound traces
    #[command(flatten)]
    pub accepted: Accepted,

    /// Print nothing, and warn of nothing; the exit status is the answer
    #[arg(short, long)]
    pub quiet: bool,

    /// Tell the first N differences, one if no N is given, and how many there are: everything is compared,
    /// as with --exact
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", help_heading = OURS)]
    pub diff: Option<NonZeroUsize>,

    /// Compare everything: types, containers and their times, and all that rows have. What has the same name in
    /// the same place is compared, whatever its alias and wherever it was created
    #[arg(long, group = "what", help_heading = OURS)]
    pub exact: bool,

    /// Compare types, containers, and the rows' values in their order, but no times, values of variables, or
    /// keys of links
    #[arg(long, group = "what", help_heading = OURS)]
    pub names_only: bool,

    /// Compare types and containers only
    #[arg(long, group = "what", help_heading = OURS)]
    pub structure_only: bool,

    /// By how much times may differ; with this, all else is compared as with --exact
    #[arg(long, value_name = "SECONDS", value_parser = tolerance, conflicts_with_all = ["names_only", "structure_only"], help_heading = OURS)]
    pub tolerance: Option<f64>,

    /// By which part of the larger one two times, or values of a variable, may differ, such as 0.01; all else is
    /// compared as with --exact
    #[arg(long, value_name = "PART", value_parser = tolerance, conflicts_with_all = ["names_only", "structure_only"], help_heading = OURS)]
    pub relative: Option<f64>,

    /// Do not compare the keys of links; all else is compared as with --exact
    #[arg(long, help_heading = OURS)]
    pub no_keys: bool,

    /// How much memory there is, for each of the traces
    #[command(flatten, next_help_heading = OURS)]
    pub memory: Memory,

    /// Which of the files that a trace names are read
    #[command(flatten, next_help_heading = OURS)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten, next_help_heading = OURS)]
    pub longest: LongestLine,

    /// How many threads there are, and where
    #[command(flatten, next_help_heading = OURS)]
    pub parallel: Parallel,

    /// Tell on standard error what each of the traces holds
    #[arg(long, help_heading = OURS)]
    pub stats: bool,

    /// What is told beside it
    #[command(flatten, next_help_heading = OURS)]
    pub talk: Talk,

    /// Tell on standard error what the traces are read from, how many threads run where, and the memory taken
    #[arg(long, help_heading = OURS)]
    pub verbose: bool,

    /// What to generate instead
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
    /// Rules by which the traces are compared; `None` if as PajeNG compares them.
    #[must_use]
    pub fn rules(&self) -> Option<Rules> {
        let what = match (self.names_only, self.structure_only) {
            (true, _) => What::Names,
            (_, true) => What::Structure,
            _ => What::Everything,
        };
        let exact = self.exact || self.tolerance.is_some() || self.relative.is_some();
        let ours = exact || self.diff.is_some() || self.no_keys || what != What::Everything;
        ours.then(|| Rules {
            what,
            case: self.case(),
            tolerance: self.tolerance.unwrap_or(0.0),
            relative: self.relative.unwrap_or(0.0),
            keys: !self.no_keys,
            windows: self.windows(),
        })
    }

    /// Which rows count.
    #[must_use]
    pub fn windows(&self) -> [TimeRange; 2] {
        let window = |from: Option<f64>, to: Option<f64>| TimeRange {
            from: from.unwrap_or(f64::NEG_INFINITY),
            to: to.unwrap_or(f64::INFINITY),
        };
        [window(self.start1, self.end1), window(self.start2, self.end2)]
    }

    /// Case of letters in the comparison of names.
    #[must_use]
    pub fn case(&self) -> Case {
        if self.icase { Case::Ignored } else { Case::Matters }
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = parse_f64(text.as_bytes()).filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or more".into())
}

#[cfg(test)]
mod tests;
