//! Errors of showing a trace to a visitor.

use std::fmt;

use paje_sim::Error;

/// Reason why a trace could not be shown to a visitor.
pub enum VisitError<E> {
    /// The trace could not be read, or has a problem.
    Trace(Error),
    /// The visitor failed.
    Visitor(E),
}

impl<E> From<Error> for VisitError<E> {
    fn from(error: Error) -> Self {
        VisitError::Trace(error)
    }
}

impl<E: fmt::Display> fmt::Display for VisitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VisitError::Trace(error) => error.fmt(f),
            VisitError::Visitor(error) => error.fmt(f),
        }
    }
}

/// Shows the error inside, because a `main` that returns an error prints it in this form.
impl<E: fmt::Debug> fmt::Debug for VisitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VisitError::Trace(error) => error.fmt(f),
            VisitError::Visitor(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for VisitError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            VisitError::Trace(error) => error.source(),
            VisitError::Visitor(error) => error.source(),
        }
    }
}
