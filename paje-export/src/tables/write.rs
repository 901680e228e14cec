//! Writes tables to files.

mod csv;
mod ipc;
mod parquet;

use std::cmp::Reverse;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use paje_workers::Workers;

use crate::tables::{Batches, Error, Table};
use paje_workers::in_order;

pub use parquet::Times;

/// File format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with zstd. Each batch is a row group, with statistics of columns
    /// and pages.
    Parquet {
        /// Encoding of times.
        times: Times,
    },
    /// Arrow's file format (Feather 2), uncompressed so that it can be mapped into memory.
    Arrow,
    /// Comma-separated values (RFC 4180) with a header line and a column `Duration` after `End`.
    Csv {
        /// Digits after the decimal point of times, durations and values of variables.
        precision: usize,
    },
}

impl Format {
    /// Returns the file extension.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Format::Parquet { .. } => "parquet",
            Format::Arrow => "arrow",
            Format::Csv { .. } => "csv",
        }
    }
}

/// Size of a written table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The table.
    pub table: Table,
    /// Number of rows.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// Writes each table, or a part of one, to its output. Workers encode batches in parallel. `done` counts the rows that
/// are written, for progress displays.
///
/// # Errors
/// An output fails, or a table does not fit the format. Returns the first error and its table.
/// Outputs are then incomplete.
pub fn write<W: Write + Send>(
    mut outputs: Vec<(Batches<'_, '_>, W)>,
    format: Format,
    done: &AtomicU64,
    workers: &Workers,
) -> Result<Vec<Written>, (Table, Error)> {
    let mut encoders = Vec::new();
    let mut sinks = Vec::new();
    let mut jobs = Vec::new();
    // The smallest tables come last, so that workers finish at about the same time.
    outputs.sort_by_key(|(batches, _)| Reverse(batches.work()));
    for (place, (batches, out)) in outputs.into_iter().enumerate() {
        let table = batches.table();
        let opened = open(format, &batches, Counted::new(out));
        let (encoder, sink) = opened.map_err(|error| (table, error))?;
        jobs.extend((0..batches.len()).map(|batch| (place, batch)));
        encoders.push((batches, encoder));
        sinks.push((table, Some(sink), 0));
    }
    let mut written = Vec::new();
    let mut finish = |(table, sink, rows): &mut (Table, Option<Sink<W>>, u64)| {
        if let Some(sink) = sink.take() {
            let bytes = sink.finish().map_err(|error| (*table, error))?;
            written.push(Written { table: *table, rows: *rows, bytes });
        }
        Ok(())
    };
    let make = |job: usize| {
        let (place, batch) = jobs[job];
        let (batches, encoder): &(Batches<'_, '_>, Encoder) = &encoders[place];
        let encoded = batches.read(batch).and_then(|batch| {
            let rows = batch.num_rows();
            Ok((rows, encoder.encode(batch)?))
        });
        encoded.map_err(|error| (batches.table(), error))
    };
    let put = |job: usize, (rows, piece)| {
        let (place, _) = jobs[job];
        // Batches are written in order, so all earlier tables are complete.
        sinks[..place].iter_mut().try_for_each(&mut finish)?;
        let (table, sink, count) = &mut sinks[place];
        *count += rows as u64;
        done.fetch_add(rows as u64, Ordering::Relaxed);
        let put = sink.as_mut().map_or(Ok(()), |sink| sink.put(piece));
        put.map_err(|error| (*table, error))
    };
    in_order(workers, jobs.len(), make, put)?;
    sinks.iter_mut().try_for_each(&mut finish)?;
    written.sort_by_key(|written| written.table);
    Ok(written)
}

enum Encoder {
    Parquet(parquet::Encoder),
    Arrow,
    Csv(csv::Encoder),
}

enum Piece {
    Parquet(parquet::RowGroup),
    Arrow(RecordBatch),
    Csv(Vec<u8>),
}

enum Sink<W: Write + Send> {
    Parquet(parquet::Sink<Counted<W>>),
    Arrow(ipc::Sink<Counted<W>>),
    Csv(Counted<W>),
}

fn open<W: Write + Send>(
    format: Format,
    batches: &Batches<'_, '_>,
    out: Counted<W>,
) -> Result<(Encoder, Sink<W>), Error> {
    Ok(match format {
        Format::Parquet { times } => {
            let (encoder, sink) = parquet::open(batches, times, out)?;
            (Encoder::Parquet(encoder), Sink::Parquet(sink))
        }
        Format::Arrow => (Encoder::Arrow, Sink::Arrow(ipc::Sink::new(batches.schema(), out)?)),
        Format::Csv { precision } => {
            let encoder = csv::Encoder::new(batches.schema(), precision);
            let mut out = out;
            out.write_all(&encoder.header()?)?;
            (Encoder::Csv(encoder), Sink::Csv(out))
        }
    })
}

impl Encoder {
    fn encode(&self, batch: RecordBatch) -> Result<Piece, Error> {
        Ok(match self {
            Encoder::Parquet(encoder) => Piece::Parquet(encoder.encode(&batch)?),
            Encoder::Csv(encoder) => Piece::Csv(encoder.encode(&batch)?),
            Encoder::Arrow => Piece::Arrow(batch),
        })
    }
}

impl<W: Write + Send> Sink<W> {
    fn put(&mut self, piece: Piece) -> Result<(), Error> {
        match (self, piece) {
            (Sink::Parquet(sink), Piece::Parquet(group)) => sink.put(group),
            (Sink::Arrow(sink), Piece::Arrow(batch)) => sink.put(&batch),
            (Sink::Csv(out), Piece::Csv(text)) => Ok(out.write_all(&text)?),
            _ => unreachable!("encoder and sink have the same format"),
        }
    }

    fn finish(self) -> Result<u64, Error> {
        let mut out = match self {
            Sink::Parquet(sink) => sink.finish()?,
            Sink::Arrow(sink) => sink.finish()?,
            Sink::Csv(out) => out,
        };
        out.flush()?;
        Ok(out.bytes)
    }
}

struct Counted<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    fn new(out: W) -> Self {
        Counted { out: BufWriter::with_capacity(1 << 16, out), bytes: 0 }
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
