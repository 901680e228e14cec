//! Lexer and decoder of the Pajé trace format.
//!
//! Bytes go in, line by line; typed events that borrow from them come out, or a [`Fault`] with the byte that is wrong
//! and what would be right. What lines mean is in a [`DefTable`], which the trace's own `%` lines fill. Nothing is
//! allocated per event; there are no threads and no input or output here, and nothing is known of what events do.
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
//! The data's way: [`scan`] (bytes to fields) → [`definition`] (what the fields are) → [`event`].
//! The format is described in the report "lang-paje" 1.3.1; its corners are as PajeNG behaves.

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
