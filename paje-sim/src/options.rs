//! What a replay is asked to do.

use paje_parser::FieldNames;
use splitter::Limits;

/// How the values of variables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As C's `strtof`, then in double: PajeNG 1.3.6 behaviour.
    Single,
    /// Correctly rounded to double.
    #[default]
    Double,
}

/// What tells the values of a type apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueNames {
    /// Their names without quotes: `"In"` is the value defined as `In`.
    #[default]
    Bare,
    /// Their names as they are written: `"In"` is another value than `In`. PajeNG's development
    /// version since February 2026.
    AsWritten,
}

/// How a trace is replayed. `Options::default()` is what the format says; PajeNG's `pj_dump`
/// differs by [`Precision::Single`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Whether field names of older traces are understood.
    pub field_names: FieldNames,
    /// How the values of variables are read.
    pub variable_precision: Precision,
    /// What tells the values of a type apart.
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
    /// Sizes of blocks and lines.
    pub limits: Limits,
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
            limits: Limits::default(),
        }
    }
}
