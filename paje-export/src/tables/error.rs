use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// Error while a table is read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column has more text than Arrow's 32-bit offsets reach: two gigabytes for the names of a
    /// column, or for the keys of one batch.
    #[error("column {0} has more than two gigabytes of text")]
    TooMuchText(&'static str),
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Error of the Arrow library.
    #[error(transparent)]
    Arrow(ArrowError),
    /// Error of the Parquet library.
    #[error(transparent)]
    Parquet(ParquetError),
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Error::Io(error),
            error => Error::Arrow(error),
        }
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast() {
                Ok(error) => Error::Io(*error),
                Err(error) => Error::Parquet(ParquetError::External(error)),
            },
            error => Error::Parquet(error),
        }
    }
}
