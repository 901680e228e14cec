//! Writes tables to files (`--tables`, `--format`).

mod partitions;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use paje_export::{Batches, Format, Table, TableOptions, Tables, Times};
use paje_sim::Trace;
use paje_workers::Workers;

use super::export::Exported;
use super::together::Together;
use crate::cli::{Cli, TableFormat, TimeEncoding};
use paje_console::Failure;
use paje_console::progress::Display;

/// Writes the tables of the selected natures, and both hierarchies, to a folder, which is created if needed. Files appear
/// when all are complete. Tables of other natures that an earlier run has left are removed.
pub(crate) fn write(
    cli: &Cli,
    folder: &Path,
    name: &Path,
    trace: &Trace,
    display: Display,
    workers: &Workers,
) -> Result<Exported, Failure> {
    let began = Instant::now();
    let files = Together::in_folder(folder);
    let mut files = files.map_err(|error| Failure::File(folder.to_owned(), error))?;
    let format = format(cli);
    let options = TableOptions {
        order: cli.quotes.order(),
        selection: cli.which.selection(),
        metadata: metadata(name, trace),
    };
    let natures = options.selection.natures;
    let is_wanted = |table: &Table| table.nature().is_none_or(|it| natures.contains(it));
    let (wanted, others): (Vec<_>, Vec<_>) = Table::ALL.into_iter().partition(is_wanted);
    let tables = Tables::new(trace, options);
    if cli.partition_by.is_some() && !files.is_new() {
        let why = io::Error::new(ErrorKind::AlreadyExists, "a dataset needs a new folder");
        return Err(Failure::File(folder.to_owned(), why));
    }
    let parts = match cli.partition_by {
        None => wanted.iter().map(|table| whole(&tables, *table, format)).collect(),
        Some(by) => partitions::parts(&tables, &wanted, trace, by, format),
    };
    for (_, path) in &parts {
        files.add(folder.join(path))?;
    }
    let outputs = parts.into_iter().map(|(batches, _)| batches);
    let outputs = outputs.zip(files.files().map(|(_, file)| file)).collect();
    // A table that is divided has several files.
    let path = |table: Table| match cli.partition_by {
        None => folder.join(file_name(table, format)),
        Some(_) => folder.join(table.name()),
    };
    let done = Arc::new(AtomicU64::new(0));
    let counts = trace.counts();
    let objects = counts.states + counts.variables + counts.events + counts.links;
    let shown = display.tables(counts.containers + 1 + objects, &done);
    let written = paje_export::write::<&File>(outputs, format, &done, workers);
    drop(shown);
    let written = written.map_err(|(table, error)| match error {
        paje_export::Error::Io(error) => Failure::File(path(table), error),
        error => Failure::Unsuitable(path(table), error.to_string()),
    })?;
    files.take_places()?;
    for path in others.into_iter().map(path) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::File(path, error));
            }
            _ => {}
        }
    }
    Ok(Exported {
        rows: written.iter().map(|written| written.rows).sum(),
        bytes: written.iter().map(|written| written.bytes).sum(),
        wall: began.elapsed(),
        ..Exported::default()
    })
}

fn file_name(table: Table, format: Format) -> PathBuf {
    format!("{}.{}", table.name(), format.ending()).into()
}

/// Returns a table and its file.
fn whole<'a, 't>(
    tables: &'a Tables<'t>,
    table: Table,
    format: Format,
) -> (Batches<'a, 't>, PathBuf) {
    (tables.batches(table), file_name(table, format))
}

fn metadata(name: &Path, trace: &Trace) -> BTreeMap<String, String> {
    let comments = String::from_utf8_lossy(trace.comments()).into_owned();
    [
        ("paje.writer", concat!("pj_dump ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("paje.trace", name.display().to_string()),
        ("paje.end", trace.end().to_string()),
        ("paje.bytes", trace.bytes().to_string()),
        ("paje.lines", trace.lines().to_string()),
        ("paje.comments", comments),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

fn format(cli: &Cli) -> Format {
    match cli.format {
        TableFormat::Parquet => Format::Parquet {
            times: match cli.encoding {
                TimeEncoding::Split => Times::Split,
                TimeEncoding::Decimal => Times::Decimal,
            },
        },
        TableFormat::Arrow => Format::Arrow,
        TableFormat::Csv => Format::Csv { precision: usize::from(cli.float_precision) },
    }
}
