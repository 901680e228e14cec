//! Errors while tables are made and written.

use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// Error while a table is made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The texts of a column exceed Arrow's 32-bit offsets: two gigabytes for the names of a column, or for the keys
    /// of one batch.
    #[error("the texts of column {0} take more than two gigabytes")]
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
