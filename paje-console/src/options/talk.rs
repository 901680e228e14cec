//! Options of messages on standard error.

use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use paje_workers::Workers;
use splitter::Input;

use crate::Voice;

/// Choice of messages on standard error.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Talk {
    /// Print what was read, the time and the memory
    ///
    /// Printed to standard error at the end; as text if no FORMAT is given
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        hide_possible_values = true,
    )]
    pub stats: Option<StatsFormat>,

    /// Print the kind of input and the CPUs of threads to standard error
    #[arg(long, hide_short_help = true)]
    pub verbose: bool,

    /// Do not show progress
    ///
    /// It is shown only after a second, and only if standard error is a terminal
    #[arg(long, hide_short_help = true)]
    pub no_progress: bool,

    /// Choice of warnings.
    #[command(flatten)]
    pub warnings: Warnings,
}

/// Format of `--stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// Text for people
    Text,
    /// One JSON object, as the last line of standard error
    Json,
}

impl Talk {
    /// With `--verbose`, prints the input and the threads.
    pub fn begin(&self, voice: Voice, input: &Input, workers: &Workers) {
        if self.verbose {
            voice.input(input);
            voice.workers(workers);
        }
    }
}

/// Choice of warnings.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Warnings {
    /// Do not print warnings; errors are still printed
    #[arg(long, env = NO_WARNINGS, hide_env_values = true, value_parser = FalseyValueParser::new(), hide_short_help = true)]
    pub no_warnings: bool,
}

/// Environment variable with the same effect as `--no-warnings`, for calls of the program that
/// cannot be changed.
pub const NO_WARNINGS: &str = "PAJE_NO_WARNINGS";

/// Entry for this variable in manuals: its name and its effect.
pub const NO_WARNINGS_TERM: (&str, &str) =
    (NO_WARNINGS, "Unless it is unset, empty, 0, no or false: the same as --no-warnings.");
