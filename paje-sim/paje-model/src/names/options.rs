//! Options of a replay.

use std::path::PathBuf;

use paje_parser::FieldNames;
use splitter::Limits;

use crate::names::selection::{Natures, Selection};
use crate::names::time_unit::TimeUnit;

/// The precision in which values of variables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As C's `strtof`, then in double: PajeNG 1.3.6 behaviour.
    Single,
    /// Correctly rounded to double.
    #[default]
    Double,
}

/// The part of a name that tells the values of a type apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueNames {
    /// Their names without quotes: `"In"` is the value defined as `In`.
    #[default]
    Bare,
    /// Their names as they are written: `"In"` is another value than `In`. PajeNG's development
    /// version since February 2026.
    AsWritten,
}

/// A limit of memory for a replay, and the folder for objects that it has no room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes of memory that the whole process may have. Only objects go elsewhere, and only on
    /// systems that tell a process what it takes (Linux): names, user-defined fields, and what is open
    /// stay in memory whatever the limit.
    pub bytes: u64,
    /// Where the temporary file is made. It has no name, and is gone when the trace is dropped, or the
    /// program ends in any way.
    pub folder: PathBuf,
}

impl Options {
    /// The parts of events that are kept beside their objects.
    pub fn keeps(&self) -> Keeps {
        let Options { user_defined: fields, keep_lines, sort, lines_of, .. } = *self;
        Keeps { fields, lines: keep_lines && !sort, lines_of }
    }

    /// True if the trace's use of its definitions is kept.
    pub const fn keeps_usage(&self) -> bool {
        self.usage && !self.sort && !self.recover
    }
}

/// The parts of events that are kept beside their objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeps {
    /// User-defined fields.
    pub fields: bool,
    /// Their lines.
    pub lines: bool,
    /// The natures whose lines are kept, where there are no user-defined fields.
    pub lines_of: Natures,
}

impl Keeps {
    /// Tells whether anything is kept.
    pub const fn anything(self) -> bool {
        self.fields || self.lines
    }
}

/// Options of a replay. `Options::default()` is as the format says; PajeNG's `pj_dump`
/// differs by [`Precision::Single`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The field names that are understood: those of older traces, too, or not.
    pub field_names: FieldNames,
    /// The precision in which values of variables are read.
    pub variable_precision: Precision,
    /// The part of a name that tells the values of a type apart.
    pub value_names: ValueNames,
    /// Events later than this time, in seconds, are ignored, and everything open ends at it.
    pub stop_at: Option<f64>,
    /// Pushes and pops become changes of one state: a push also ends the state below it, a pop
    /// opens that one again as a new row.
    pub no_imbrication: bool,
    /// Links that lack an end when their container ends are dropped; otherwise they are an error.
    pub ignore_incomplete_links: bool,
    /// User-defined fields are kept.
    pub user_defined: bool,
    /// The events are replayed in the order of their times, whatever the order of their lines.
    ///
    /// The result is that of the same trace with its lines in another order: first those without a
    /// time, as they come (definitions of events, types and values, also those further down; comments
    /// and blank lines; lines that no definition fits); then those of events whose definitions have a
    /// `Time` that the event needs, creations and destructions of containers among them, by time, and
    /// as they come where times are the same. Between the two come lines whose time cannot be read:
    /// the first of them is an error. So "the first problem" is the first in this order; the place
    /// that is told is that in the trace as it was given.
    ///
    /// Lines that name files come behind all others, and each file is sorted by itself.
    ///
    /// The whole text stays in memory, with eight bytes for each line more (forty while the lines are
    /// being sorted), beside what any replay takes. It is read to its end before anything else is
    /// looked at: a failed read, and a line that is too long, come before all other problems.
    pub sort: bool,
    /// Beyond this, objects go to a temporary file. `None`: they are kept in memory, all of them. It has
    /// no effect where a trace is read in portions.
    pub memory: Option<MemoryLimit>,
    /// The times of all lines are kept, for `Trace::times_of_lines`.
    pub keep_times: bool,
    /// Of each object, the line of the event that opened it is kept. It has no effect where events are
    /// replayed in another order than that of their lines.
    pub keep_lines: bool,
    /// The natures of objects whose lines are kept at least, with `keep_lines`; all if nothing is said. A line takes some 24 bytes.
    pub lines_of: Natures,
    /// The trace's use of its definitions, and what is doubtful in its spelling, are kept, for
    /// `Trace::usage`. It has no effect with `sort` or `recover`.
    pub usage: bool,
    /// A problem does not end the replay: what is wrong is left out or mended, by rules that lose only
    /// what is contradictory (`docs/recover.md`), and told by `Trace::recovered`.
    /// Of a trace without any problem, the result is the same.
    pub recover: bool,
    /// Which rows are wanted. Lanes of other natures, types and containers are checked, but have no objects; all
    /// objects of the others are kept, whatever their times. With `recover`, all lanes have theirs. So
    /// whoever shows the trace must ask what `Trace::select` gives, all the same.
    pub selection: Selection,
    /// Unit of the trace's times, for `Trace::time_scale`. Rows keep the times of the trace.
    pub time_unit: Option<TimeUnit>,
    /// Sizes of blocks and lines.
    pub limits: Limits,
    /// Number of names that a worker may know before it starts over if they hardly come up again. Results do not depend
    /// on it: it is for tests and measurements.
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
            user_defined: false,
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
            // Their tables still fit in a core's second-level cache.
            decoder_symbols: 1 << 14,
        }
    }
}
