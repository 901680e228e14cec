//! Options of a replay.

use std::path::PathBuf;

use paje_parser::FieldNames;
use splitter::Limits;

use crate::names::selection::{Natures, Selection};
use crate::names::time_unit::TimeUnit;

/// Precision of variables' values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Reads like C's `strtof`, then converts to double, as PajeNG 1.3.6 does.
    Single,
    /// Rounds correctly to double.
    #[default]
    Double,
}

/// Whether quotes are part of a value's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueNames {
    /// Quotes are not part of the name: `"In"` is the value defined as `In`.
    #[default]
    Bare,
    /// Quotes are part of the name: `"In"` and `In` are different values, as in PajeNG's development version since
    /// February 2026.
    AsWritten,
}

/// A memory limit for a replay, and the folder for rows beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes of memory for the whole process. Only rows move to the file, and only on systems where a process can
    /// query its memory (Linux). Names, user-defined fields and open objects stay in memory.
    pub bytes: u64,
    /// Folder for the temporary file. The file has no name and disappears when the trace is dropped
    /// or the process ends.
    pub folder: PathBuf,
}

impl MemoryLimit {
    /// Smallest useful limit, in bytes. The blocks that are read at the same time need 32 MiB.
    #[doc(hidden)]
    pub const LEAST: u64 = 32 << 20;

    /// Returns a useful limit. The default folder is not `/tmp`, which is often in memory.
    #[must_use]
    #[doc(hidden)]
    pub fn new(bytes: u64, folder: Option<PathBuf>) -> Self {
        let folder = folder.unwrap_or_else(|| {
            let named = std::env::var_os("TMPDIR").filter(|name| !name.is_empty());
            named.map(PathBuf::from).unwrap_or_else(|| {
                let large = PathBuf::from("/var/tmp");
                if large.is_dir() { large } else { std::env::temp_dir() }
            })
        });
        MemoryLimit { bytes: bytes.max(Self::LEAST), folder }
    }
}

impl Options {
    /// Returns which parts of events are kept with their objects.
    #[doc(hidden)]
    pub fn keeps(&self) -> Keeps {
        let Options { user_defined: fields, keep_lines, sort, lines_of, .. } = *self;
        Keeps { fields, lines: keep_lines && !sort, lines_of }
    }

    /// Returns whether these options select a time window without changing its rows, so that it is enough to read the
    /// window of a packed trace. Options about warnings do not matter, because only traces without warnings have
    /// windows.
    #[must_use]
    #[doc(hidden)]
    pub fn takes_window(&self) -> bool {
        let (window, usual) = (self.selection.window, Options::default());
        let changes = self.no_imbrication || self.sort || self.recover;
        let keeps_more = self.keep_times || self.keep_lines || self.usage;
        window.from <= window.to
            && !window.is_always()
            && self.field_names == usual.field_names
            && self.stop_at.is_none()
            && !changes
            && !keeps_more
            && self.limits.line >= usual.limits.line
    }

    /// Returns whether uses of definitions are recorded.
    #[doc(hidden)]
    pub const fn keeps_usage(&self) -> bool {
        self.usage && !self.sort && !self.recover
    }
}

/// Parts of events to keep with their objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeps {
    /// User-defined fields.
    pub fields: bool,
    /// Numbers of the events' lines.
    pub lines: bool,
    /// Natures whose lines are kept even without user-defined fields.
    pub lines_of: Natures,
}

impl Keeps {
    /// Returns whether anything is kept.
    pub const fn anything(self) -> bool {
        self.fields || self.lines
    }
}

/// Options of a replay. `Options::default()` follows the format's definition. PajeNG's `pj_dump`
/// differs by [`Precision::Single`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Whether the field names of older traces are understood as well.
    pub field_names: FieldNames,
    /// Precision of variables' values.
    pub variable_precision: Precision,
    /// Whether quotes are part of a value's name.
    pub value_names: ValueNames,
    /// Events after this time, in the unit of the trace, are ignored, and all open objects end at this time.
    pub stop_at: Option<f64>,
    /// Whether states do not nest. A push then ends the state below it, and a pop opens that state again as a new row.
    pub no_imbrication: bool,
    /// Whether to ignore links that lack an end when their container ends. Otherwise they are an error.
    pub ignore_incomplete_links: bool,
    /// Whether `Trace::link_halves` keeps ignored links that lack a start or an end.
    pub keep_link_halves: bool,
    /// Whether user-defined fields are kept.
    pub user_defined: bool,
    /// User-defined fields that are needed. Definitions of events without any of them keep no fields. If this is empty,
    /// all definitions keep their fields.
    pub needed_fields: &'static [&'static str],
    /// Whether events are replayed in the order of their times instead of their lines.
    ///
    /// The result is that of the same trace with its lines reordered. First come the lines without a time, in file
    /// order: all definitions, comments and blank lines, and lines that match no definition. Next come the lines whose
    /// time cannot be read. The first of them is an error. Then come the events that need a `Time` according to their
    /// definition, including creations and destructions of containers. They are sorted by time, and equal times keep
    /// their file order. "The first problem" is the first problem in this order, but its position is the one in the
    /// original trace.
    ///
    /// Lines that refer to files come last, and each file is sorted separately.
    ///
    /// The whole text stays in memory, plus eight bytes for each line (forty during sorting). The text is read to its
    /// end before anything else is checked. A failed read or a line that is too long therefore precedes all other
    /// problems.
    pub sort: bool,
    /// Limit beyond which rows go to a temporary file; `None` keeps all rows in memory. Ignored if a trace is read in
    /// portions.
    pub memory: Option<MemoryLimit>,
    /// Whether the times of all lines are kept, for `Trace::times_of_lines`.
    pub keep_times: bool,
    /// Whether the line of the event that opened an object is kept. Ignored if events are not
    /// replayed in the order of their lines.
    pub keep_lines: bool,
    /// Natures whose lines are kept with `keep_lines`. The default is all natures. Keeping a line takes about 24 bytes.
    pub lines_of: Natures,
    /// Whether uses of definitions and doubtful spellings are recorded for `Trace::usage`. Ignored with `sort` or
    /// `recover`.
    pub usage: bool,
    /// Whether the replay continues after a problem. Wrong lines are left out or mended. The rules lose only
    /// contradictory information (`docs/dev/recover.md`). `Trace::recovered` lists the problems. The option does not change
    /// the result of a trace without problems.
    pub recover: bool,
    /// Wanted rows. Lanes of other natures, types and containers are checked, but their rows are dropped. Wanted lanes
    /// keep all rows, even those outside the time window. With `recover`, all lanes keep their rows. So always filter
    /// the rows with `Trace::select` as well.
    pub selection: Selection,
    /// Unit of the trace's times, for `Trace::time_scale`. Rows keep the times of the trace.
    pub time_unit: Option<TimeUnit>,
    /// Limits on the sizes of blocks and lines.
    pub limits: Limits,
    /// Number of names above which a worker forgets all of them if they are hardly used again. Results do not depend on
    /// this number. It is meant for tests and measurements.
    #[doc(hidden)]
    pub decoder_symbols: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            field_names: FieldNames::Strict,
            variable_precision: Precision::Double,
            value_names: ValueNames::Bare,
            stop_at: None,
            no_imbrication: false,
            ignore_incomplete_links: false,
            keep_link_halves: false,
            user_defined: false,
            needed_fields: &[],
            sort: false,
            memory: None,
            keep_times: false,
            keep_lines: false,
            lines_of: Natures::ALL,
            usage: false,
            recover: false,
            selection: Selection::default(),
            time_unit: None,
            limits: Limits::default(),
            // Tables with this number of names fit into a core's second-level cache.
            decoder_symbols: 1 << 14,
        }
    }
}
