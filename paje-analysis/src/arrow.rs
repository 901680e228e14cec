//! Tables as Arrow has them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::{Data, Seconds, Table};

impl Table {
    /// The table as one record batch: names are texts, counts unsigned integers, and all else is in double precision:
    /// seconds, parts of a whole, amounts; null where there is nothing to say.
    ///
    /// # Errors
    /// Never: columns are of one length.
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
        Data::Number(all) | Data::Amount(all) => {
            (DataType::Float64, Arc::new(all.iter().copied().collect::<Float64Array>()))
        }
    };
    let nullable = !matches!(data, Data::Text(_) | Data::Count(_));
    (Field::new(name, type_, nullable), array)
}
