//! Rows of results, and their conversion to Arrow.

/// A row of a result.
pub trait Record: Sized {
    /// Names of the columns.
    const COLUMNS: &'static [&'static str];

    /// Returns the columns of some rows.
    #[cfg(feature = "arrow")]
    #[doc(hidden)]
    fn arrays(rows: &[Self]) -> Vec<arrow_array::ArrayRef>;
}

/// Defines the type of a row with public fields.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$of_field])* pub $field: $type,)*
        }

        impl crate::analysis::Record for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            #[cfg(feature = "arrow")]
            fn arrays(rows: &[Self]) -> Vec<arrow_array::ArrayRef> {
                use crate::analysis::record::Cell;
                vec![$(<$type>::array(rows.iter().map(|row| row.$field.clone()))),*]
            }
        }
    };
}
pub(super) use record;

/// Converts rows to a record batch. Columns have the names of the fields. Missing values are null.
///
/// # Errors
/// Never fails, because all columns have the same length.
#[cfg(feature = "arrow")]
pub fn record_batch<R: Record>(
    rows: &[R],
) -> Result<arrow_array::RecordBatch, arrow_schema::ArrowError> {
    let columns = R::COLUMNS.iter().copied().zip(R::arrays(rows));
    arrow_array::RecordBatch::try_from_iter_with_nullable(columns.map(|(n, a)| (n, a, true)))
}

/// A value that can be in a column.
#[cfg(feature = "arrow")]
pub(super) trait Cell: Sized {
    fn array(values: impl Iterator<Item = Self>) -> arrow_array::ArrayRef;
}

#[cfg(feature = "arrow")]
mod cells {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};

    use super::Cell;

    macro_rules! cells {
        ($($type:ty => $array:ty,)*) => {$(
            impl Cell for $type {
                fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                    Arc::new(values.map(Option::from).collect::<$array>())
                }
            }

            impl Cell for Option<$type> {
                fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                    Arc::new(values.collect::<$array>())
                }
            }
        )*};
    }

    cells! {
        String => StringArray,
        u64 => UInt64Array,
        f64 => Float64Array,
    }
}
