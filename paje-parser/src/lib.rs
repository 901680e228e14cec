//! Lexer and decoder of the Pajé trace format.
//!
//! The crate decodes lines to typed events that borrow from the text, or to a [`Fault`] with the
//! position of the error and what is expected there. A [`DefTable`] holds the definitions of the
//! trace's `%` lines. Decoding allocates nothing per event. The crate has no threads and no input
//! or output, and does not apply events.
//!
//! ```
//! use paje_parser::{Event, FieldNames, Line, LineDecoder};
//!
//! let trace = b"%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n1 Host 0\n";
//! let mut decoder = LineDecoder::new(FieldNames::Strict);
//! let mut names = Vec::new();
//! for line in trace.split(|byte| *byte == b'\n') {
//!     let line = decoder.line(line).expect("a valid trace");
//!     if let Line::Event(event) = line
//!         && let Event::DefineType { name, .. } = event.decode().expect("a valid event")
//!     {
//!         names.push(name.bare().to_vec());
//!     }
//! }
//! assert_eq!(names, [b"Host"]);
//! ```
//!
//! Data flows through [`scan`] (bytes to fields), [`definition`] (meaning of fields) and [`event`].
//! The format is described in the report "lang-paje" 1.3.1. Corner cases follow PajeNG.

pub mod color;
pub mod columns;
pub mod decode;
pub mod definition;
pub mod error;
pub mod event;
pub mod number;
pub mod position;
pub mod scan;
pub mod token;

pub use decode::{Line, LineDecoder};
pub use definition::{DefTable, EventDef, FieldNames, Numbering};
pub use error::{Fault, FaultKind, Instead};
pub use event::{EntityOp, Event, EventKind, FieldName, LinkEnd, RawEvent, TypeNature};
pub use position::{ByteOffset, Position};
pub use token::{Field, Quoting, Span};
