//! Writes replayed traces as Pajé traces ([`paje`]) and, with the feature `tables`, as tables.
//!
//! Tables are Arrow record batches, and Parquet, Arrow and CSV files of such batches. There is one
//! table for each nature of rows, and one table for each of the two hierarchies. The nature and the
//! duration (`End` minus `Start`) are not columns:
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
//! Times are seconds in double precision, and values of variables are doubles. Imbrications are
//! integers, names are dictionary-encoded strings, and keys of links are strings. Rows are in the
//! order of `pj_dump`. If the replay kept line numbers, the column `Line` has the line of the row's
//! opening event. If there are several files, `File` has its file. User-defined fields, if the
//! replay kept them, follow as additional columns.
//!
//! ```
//! # #[cfg(feature = "tables")] {
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
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod paje;
#[cfg(feature = "tables")]
mod tables;

#[cfg(feature = "tables")]
pub use tables::{Batches, Error, Format, Table, TableOptions, Tables, Times, Written, write};
