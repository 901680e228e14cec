//! Options about how a trace is read and replayed.

use clap::Args;
use paje_sim::{FieldNames, Options};
use splitter::Limits;

use super::{LongestLine, NamedFiles, time};
use crate::voice::SORTED_BY_FILE;

/// Rules of reading: what is accepted of a trace, which other files it may name, and how long its lines may be.
#[derive(Args, Clone, Debug)]
pub struct Reading {
    /// What is accepted of a sound trace
    #[command(flatten)]
    pub accepted: Accepted,

    /// Leave out or mend what is wrong
    ///
    /// No problem ends the replay. What was made of each is told afterwards by kind, with --no-warnings too, and
    /// the exit status is 1 if there was anything to tell
    #[arg(long)]
    pub recover: bool,

    /// Which of the files that a trace names are read
    #[command(flatten)]
    pub named: NamedFiles,

    /// How long lines may be
    #[command(flatten)]
    pub longest: LongestLine,
}

impl Reading {
    /// The options of a replay that reads so, in blocks of this size.
    #[must_use]
    pub fn options(&self, limits: Limits) -> Options {
        let mut options = Options::default();
        self.accepted.set(&mut options);
        options.recover = self.recover;
        options.limits = limits.with_line(self.longest.max_line);
        options
    }
}

/// Liberties of a sound trace: old names, open links, any order of lines.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Accepted {
    /// Know the field names of older traces
    ///
    /// These are ContainerType, SourceContainer, and so on
    #[arg(short, long)]
    pub no_strict: bool,

    /// Drop links that lack an end
    ///
    /// Otherwise they are an error
    #[arg(short = 'z', long)]
    pub ignore_incomplete_links: bool,

    /// Take events in the order of time
    ///
    /// Replay them so whatever the order of their lines; the whole text is kept in memory
    #[arg(long)]
    pub sort: bool,
}

impl Accepted {
    /// Accepts as much in a replay.
    pub fn set(&self, options: &mut Options) {
        options.field_names = if self.no_strict { FieldNames::Old } else { FieldNames::Strict };
        options.ignore_incomplete_links = self.ignore_incomplete_links;
        options.sort = self.sort;
    }

    /// The advice of [`Voice::recovered`](crate::Voice::recovered) where events came too late.
    #[must_use]
    pub const fn late_events(&self) -> &'static str {
        match self.sort {
            true => SORTED_BY_FILE,
            false => "with `--sort` events that come too late are kept",
        }
    }

    /// The advice of a voice where events come too late, which ends the replay.
    #[must_use]
    pub const fn on_disorder(&self) -> &'static str {
        match self.sort {
            true => SORTED_BY_FILE,
            false => "`--sort` replays the trace sorted by time, as `sort -s` would",
        }
    }
}

/// A replay of less than the trace says.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Less {
    /// Ignore events later than TIME; what is open ends there
    #[arg(short = 'a', long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, hide_short_help = true)]
    pub stop_at: Option<f64>,

    /// No imbrication levels: pushes and pops become changes of one state
    #[arg(short = 'i', long, hide_short_help = true)]
    pub no_imbrication: bool,
}

impl Less {
    /// Leaves as much out of a replay.
    pub const fn set(&self, options: &mut Options) {
        options.stop_at = self.stop_at;
        options.no_imbrication = self.no_imbrication;
    }
}
