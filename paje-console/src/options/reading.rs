//! Options for reading and replaying a trace.

use clap::{Args, ValueEnum};
use paje_sim::{FieldNames, Options, Precision};
use splitter::Limits;

use super::{LongestLine, NamedFiles, time};
use crate::voice::SORTED_BY_FILE;

/// Options of reading: accepted deviations, named files and the length of lines.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    /// Accepted deviations.
    #[command(flatten)]
    pub accepted: Accepted,

    /// Skip or repair what is wrong in the trace
    ///
    /// No problem ends the replay. All are reported at the end by kind, even with --no-warnings,
    /// and the exit status is 1 if there were any
    #[arg(long)]
    pub recover: bool,

    /// Options for the files to which the trace refers.
    #[command(flatten)]
    pub named: NamedFiles,

    /// Limit on the length of lines.
    #[command(flatten)]
    pub longest: LongestLine,
}

impl Reading {
    /// Returns the options of a replay, with blocks of the size in `limits`.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = Options::default();
        self.accepted.set(&mut options);
        options.recover = self.recover;
        options.limits = limits.with_line(self.longest.max_line);
        options
    }
}

/// Accepted deviations: old field names, open links, and any order of lines.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Accepted {
    /// Accept the field names of older traces
    ///
    /// Such as ContainerType and SourceContainer
    #[arg(short, long)]
    pub no_strict: bool,

    /// Ignore links that have no end
    ///
    /// Otherwise they are an error
    #[arg(short = 'z', long)]
    pub ignore_incomplete_links: bool,

    /// Replay events in time order
    ///
    /// The order of their lines does not matter; the whole text is kept in memory
    #[arg(long)]
    pub sort: bool,
}

impl Accepted {
    /// Sets these options for a replay.
    pub fn set(&self, options: &mut Options) {
        options.field_names = if self.no_strict { FieldNames::Old } else { FieldNames::Strict };
        options.ignore_incomplete_links = self.ignore_incomplete_links;
        options.sort = self.sort;
    }

    /// Returns the hint that [`Voice::recovered`](crate::Voice::recovered) prints for events that
    /// came too late.
    #[must_use]
    pub const fn late_events(&self) -> &'static str {
        match self.sort {
            true => SORTED_BY_FILE,
            false => "`--sort` keeps events that come too late",
        }
    }

    /// Returns the hint for a replay that ended at an event that came too late.
    #[must_use]
    pub const fn on_disorder(&self) -> &'static str {
        match self.sort {
            true => SORTED_BY_FILE,
            false => "`--sort` replays the trace sorted by time, as `sort -s` would",
        }
    }
}

/// Precision of the values of variables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Variables {
    /// Precision of the values of variables
    ///
    /// Default: single for rows and pieces, as in PajeNG, and double for tables
    #[arg(long, value_enum, value_name = "PRECISION", hide_short_help = true)]
    pub variable_precision: Option<VariablePrecision>,
}

/// Precision of the values of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariablePrecision {
    /// Single precision, as in PajeNG: 16777217 becomes 16777216
    Single,
    /// Double precision, correctly rounded
    Double,
}

impl Variables {
    /// Returns the precision of a replay.
    #[must_use]
    pub fn precision(self, default: Precision) -> Precision {
        match self.variable_precision {
            Some(VariablePrecision::Single) => Precision::Single,
            Some(VariablePrecision::Double) => Precision::Double,
            None => default,
        }
    }
}

/// Options that replay only part of the trace's information.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Less {
    /// Ignore events later than TIME; open states, containers and variables end there
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, hide_short_help = true)]
    pub stop_at: Option<f64>,

    /// Ignore imbrication: pushes and pops become changes of one state
    #[arg(short = 'i', long, hide_short_help = true)]
    pub no_imbrication: bool,
}

impl Less {
    /// Sets these options for a replay.
    pub const fn set(&self, options: &mut Options) {
        options.stop_at = self.stop_at;
        options.no_imbrication = self.no_imbrication;
    }
}
