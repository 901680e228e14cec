//! A replayed trace as tables: Arrow record batches, and Parquet, Arrow and CSV files of them.
//!
//! There is one table for each nature of rows, with a column for each of theirs but the nature, which
//! is the table, and the duration, which is `End` minus `Start`; and one for each of the two hierarchies:
//!
//! | table | columns |
//! |---|---|
//! | `container` | `Parent`, `Type`, `Start`, `End`, `Name` |
//! | `state` | `Container`, `Type`, `Start`, `End`, `Imbrication`, `Value` |
//! | `variable` | `Container`, `Type`, `Start`, `End`, `Value` |
//! | `event` | `Container`, `Type`, `Time`, `Value` |
//! | `link` | `Container`, `Type`, `Start`, `End`, `Value`, `StartContainer`, `EndContainer`, `Key` |
//! | `type_hierarchy` | `Parent`, `Name`, `Nature` |
//! | `entity_hierarchy` | `Parent`, `Name`, `Type`, `Nature` |
//!
//! Times are in seconds, in double precision, as are values of variables; imbrications are integers;
//! names are texts, each of them kept once (an Arrow dictionary), and keys of links are texts. Rows are in
//! the order of `pj_dump`. If the replay kept lines, `Line` is that of the event that opened the object, in
//! the file of column `File` if the trace is in several; user-defined fields, if the replay kept them, are
//! columns after these.
//!
//! ```
//! use paje_export::{Table, TableOptions, Tables};
//! use paje_sim::{Options, Trace};
//! use paje_workers::Workers;
//!
//! let trace = datasets::generate(datasets::Shape::Mpi, 10_000, 1);
//! let trace = Trace::read(&trace[..], &Options::default())?;
//! let tables = Tables::new(&trace, TableOptions::default());
//! let states = tables.read(Table::State, &Workers::one())?;
//! let rows: usize = states.iter().map(|batch| batch.num_rows()).sum();
//! assert_eq!(rows as u64, trace.counts().states);
//! assert!(states[0].column_by_name("Imbrication").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod error;
mod extras;
mod gather;
mod hierarchy;
mod lines;
mod names;
mod rows;
mod table;
mod tables;
mod write;

pub use batches::Batches;
pub use error::Error;
pub use table::Table;
pub use tables::{TableOptions, Tables};
pub use write::{Format, Times, Written, write};
