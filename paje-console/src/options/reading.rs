//! Options for reading and replaying a trace.

use clap::Args;
use paje_sim::{FieldNames, Options};
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

    /// Choice of named files.
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
    /// Sets the options of a replay.
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
    /// Sets the options of a replay.
    pub const fn set(&self, options: &mut Options) {
        options.stop_at = self.stop_at;
        options.no_imbrication = self.no_imbrication;
    }
}
