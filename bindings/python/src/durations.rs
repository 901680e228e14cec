//! Adds the column `Duration` to tables.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// Returns a schema with `Duration` after `End`. Schemas without `Start` or `End` are unchanged.
pub(crate) fn schema_with(schema: &SchemaRef) -> SchemaRef {
    let Some((_, end)) = ends(schema) else { return Arc::clone(schema) };
    let mut fields = schema.fields().to_vec();
    // `paje_export` reserves this name, so no other column has it.
    fields.insert(end + 1, Arc::new(Field::new("Duration", DataType::Float64, false)));
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

pub(crate) fn rows_with(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let Some((start, end)) = ends(batch.schema_ref()) else { return Ok(batch) };
    let times = |index: usize| batch.column(index).as_primitive::<Float64Type>().values();
    let durations = times(start).iter().zip(times(end)).map(|(start, end)| end - start);
    let durations: ArrayRef = Arc::new(Float64Array::from_iter_values(durations));
    let mut columns = batch.columns().to_vec();
    columns.insert(end + 1, durations);
    RecordBatch::try_new(Arc::clone(schema), columns)
}

fn ends(schema: &SchemaRef) -> Option<(usize, usize)> {
    Some((schema.index_of("Start").ok()?, schema.index_of("End").ok()?))
}
