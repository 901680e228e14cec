//! Arrow's file format.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::Schema;

use crate::tables::Error;

pub(super) struct Sink<W: Write>(FileWriter<W>);

impl<W: Write> Sink<W> {
    pub(super) fn new(schema: &Schema, out: W) -> Result<Self, Error> {
        Ok(Sink(FileWriter::try_new(out, schema)?))
    }

    pub(super) fn put(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        Ok(self.0.write(batch)?)
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        Ok(self.0.into_inner()?)
    }
}
