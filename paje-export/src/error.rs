//! Errors while tables are made and written.

use std::{fmt, io};

/// Why there is no table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The texts of a column do not fit in what Arrow's offsets can count: two gigabytes for the names of
    /// a column, or for the keys of one batch.
    TooMuchText(&'static str),
    /// A file cannot be written.
    Io(io::Error),
    /// Arrow refused what we made.
    Arrow(arrow_schema::ArrowError),
    /// Parquet refused what we made.
    Parquet(parquet::errors::ParquetError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooMuchText(column) => {
                write!(f, "the texts of column {column} take more than two gigabytes")
            }
            Error::Io(error) => error.fmt(f),
            Error::Arrow(error) => error.fmt(f),
            Error::Parquet(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::TooMuchText(_) => None,
            Error::Io(error) => Some(error),
            Error::Arrow(error) => Some(error),
            Error::Parquet(error) => Some(error),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        match error {
            arrow_schema::ArrowError::IoError(_, error) => Error::Io(error),
            error => Error::Arrow(error),
        }
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Self {
        match error {
            parquet::errors::ParquetError::External(error) => match error.downcast() {
                Ok(error) => Error::Io(*error),
                Err(error) => Error::Parquet(parquet::errors::ParquetError::External(error)),
            },
            error => Error::Parquet(error),
        }
    }
}
