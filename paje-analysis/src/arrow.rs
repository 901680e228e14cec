use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::{Data, Seconds, Table};

impl Table {
    /// Converts the table to a record batch. Its columns are strings, unsigned integers, and
    /// doubles for seconds, shares and amounts. Undefined values are null.
    ///
    /// # Errors
    /// Never fails, because all columns have the same length.
    pub fn record_batch(&self) -> Result<RecordBatch, ArrowError> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
            self.columns.iter().map(|column| array(column.name, &column.data)).unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

fn array(name: &str, data: &Data) -> (Field, ArrayRef) {
    let (type_, array): (DataType, ArrayRef) = match data {
        Data::Text(all) => {
            let all = all.iter().map(|label| Some(label.to_string()));
            (DataType::Utf8, Arc::new(all.collect::<StringArray>()))
        }
        Data::Count(all) => (DataType::UInt64, Arc::new(UInt64Array::from(all.clone()))),
        Data::Seconds(all) => {
            let all = all.iter().map(|seconds| seconds.map(Seconds::to_f64));
            (DataType::Float64, Arc::new(all.collect::<Float64Array>()))
        }
        Data::Time(all) | Data::Number(all) | Data::Amount(all) => {
            (DataType::Float64, Arc::new(all.iter().copied().collect::<Float64Array>()))
        }
    };
    let nullable = !matches!(data, Data::Text(_) | Data::Count(_));
    (Field::new(name, type_, nullable), array)
}
