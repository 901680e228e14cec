//! The command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Parser, ValueEnum};
use paje_console::generate::Generate;
use paje_console::options::{Coloured, Formatted, LongestLine, NamedFiles, Parallel, Talk, whole};

use crate::check::Options;
use crate::finding::kinds::{ERRORS, WARNINGS};
use crate::manual::MANUAL;

/// Find all problems in Pajé traces
#[derive(Clone, Debug, Parser)]
#[command(
    name = "pj_validate",
    version,
    disable_help_flag = true,
    disable_version_flag = true,
    infer_long_args = true,
    about = "Find all problems in Pajé traces",
    long_about = "Finds all problems in Pajé traces. Each is reported with its place, a sentence that \
says what is wrong and what is expected, and the line with a caret: first errors in file order, \
then warnings by kind. The verdict comes before them.\n\n\
Warnings are about doubtful lines of sound traces: more words than an event has fields, names with \
and without quotes, unused definitions, states that never end. They do not change the exit status \
without --strict.\n\n\
Files that a trace names (PajeTraceFile, the Filename of PajeCreateContainer) are checked with it, \
each after the one that names it.",
    after_help = MANUAL.after_help(),
    after_long_help = MANUAL.after_long_help()
)]
pub struct Cli {
    /// Traces, compressed or not, each checked separately; standard input if there is none, or for
    /// `-`
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub files: Vec<PathBuf>,

    /// Accept the field names of older traces
    ///
    /// Such as ContainerType and SourceContainer
    #[arg(short = 'n', long)]
    pub no_strict: bool,

    /// Print only problems, with the verdict if there are any
    #[arg(short, long)]
    pub quiet: bool,

    /// Print the duration of the check in seconds
    #[arg(short, long)]
    pub time: bool,

    /// Choice of named files.
    #[command(flatten)]
    pub named: NamedFiles,

    /// Ignore links that have no end
    ///
    /// Otherwise they are an error
    #[arg(short = 'z', long)]
    pub ignore_incomplete_links: bool,

    /// Print the tree of containers
    #[arg(short, long)]
    pub container_hierarchy: bool,

    /// Print the tree of types
    #[arg(short = 'd', long)]
    pub type_hierarchy: bool,

    /// Exit with status 1 if there are warnings, except about unused definitions
    #[arg(long)]
    pub strict: bool,

    /// With --strict, accept warnings of this kind; can be repeated
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(WARNINGS), hide_possible_values = true)]
    pub allow: Vec<String>,

    /// List only problems of this kind, with each of its warnings; can be repeated
    #[arg(
        long,
        value_name = "KIND",
        value_parser = PossibleValuesParser::new(ERRORS.iter().chain(&WARNINGS)),
        hide_possible_values = true,
        long_help = only()
    )]
    pub only: Vec<String>,

    /// List at most N errors and N warnings, and count the others; 0 lists all
    #[arg(long, aliases = ["m", "ma", "max", "max-"], value_name = "N", default_value_t = Options::MAX_FINDINGS, value_parser = whole::<usize>(0..=u64::MAX))]
    pub max_errors: usize,

    /// Limit on the length of lines.
    #[command(flatten)]
    pub longest: LongestLine,

    /// Choice of messages.
    #[command(flatten)]
    pub talk: Talk,

    /// Format of the report.
    #[command(flatten)]
    pub formatted: Formatted,

    /// Method of checking: auto or careful; the report is the same
    ///
    /// auto: replay with all threads, then line by line if there may be problems; careful: always
    /// line by line
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Checker::Auto, hide_short_help = true)]
    pub checker: Checker,

    /// Number and place of threads.
    #[command(flatten)]
    pub parallel: Parallel,

    /// Choice of colours.
    #[command(flatten)]
    pub coloured: Coloured,

    /// Ignored; accepted for compatibility with PajeNG
    #[arg(short = 'f', long, alias = "f", hide_short_help = true)]
    pub flex: bool,

    /// Option to generate documentation.
    #[command(flatten)]
    pub generate: Generate,

    /// Print this help; -h is shorter
    #[arg(short = 'h', visible_short_alias = '?', long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print the version
    #[arg(short, visible_short_alias = 'V', long, aliases = ["v", "ve", "ver"], action = ArgAction::Version)]
    version: Option<bool>,
}

fn only() -> String {
    format!(
        "List only problems of this kind, with each of its warnings, which are otherwise combined; can be \
         repeated. The verdict considers all problems. Kinds of errors: {}. Kinds of warnings: {}",
        ERRORS.join(", "),
        WARNINGS.join(", ")
    )
}

/// Method of checking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Checker {
    /// Replay with all threads, and check line by line only if a line may have a problem
    #[default]
    Auto,
    /// Check line by line
    Careful,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_getopt() {
        let cli = Cli::parse_from(["pj_validate", "-nqtf", "--max=3", "a.trace"]);
        assert!(cli.no_strict && cli.quiet && cli.time && cli.flex);
        assert_eq!(cli.max_errors, 3);
        assert_eq!(cli.files, [PathBuf::from("a.trace")]);
        assert_eq!(cli.longest.max_line, Options::default().longest_line);
        let cli = Cli::parse_from(["pj_validate", "--max-l", "1MB"]);
        assert_eq!((cli.max_errors, cli.longest.max_line), (Options::MAX_FINDINGS, 1_000_000));
        assert!(Cli::try_parse_from(["pj_validate", "--max-line=2G"]).is_err());
    }
}
