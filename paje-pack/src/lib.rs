//! Packed traces: smaller than any general compressor makes them, and the very bytes back.
//!
//! A trace is cut into segments of whole lines. Each line is an action, which is its text with holes, in a lane; in the holes are
//! its time, the key of its link, and whatever differs from line to line. All are predicted from what
//! came before; what is left goes into columns of bytes, which zstd compresses. `docs/pack.md` tells the format byte by byte.
//!
//! ```
//! use std::io::Read;
//!
//! let trace = b"%EventDef PajeCreateContainer 6\n% Time date\n% Alias string\n% Type string\n% Container string\n\
//!     % Name string\n%EndEventDef\n6 0.5 r1 R 0 \"rank 1\"\n# any bytes";
//! let packed = paje_pack::pack(&trace[..], Vec::new(), paje_pack::Settings::default())?;
//! let mut text = Vec::new();
//! paje_pack::Text::new(&packed[..]).read_to_end(&mut text)?;
//! assert_eq!(text, trace);
//! # Ok::<(), std::io::Error>(())
//! ```

mod coder;
mod columns;
mod definitions;
mod digits;
mod excerpt;
mod fields;
mod format;
mod grid;
mod index;
mod keys;
mod lines;
mod numbers;
mod out;
mod outline;
mod passing;
mod patterns;
mod reader;
mod segment;
mod sheet;
mod spare;
mod stencils;
mod steps;
mod structure;
mod table;
mod template;
mod texts;
mod times;
mod units;
mod untell;
mod value;
mod window;
mod writer;

pub use columns::{Asked, ColumnLine, Content, Hole, HoleKind, Lines, Linked, Wanted};
pub use definitions::Definitions;
pub use format::{Error, ErrorKind};
pub use index::Summaries;
pub use outline::{Outline, OutlinedLine};
pub use reader::{KIND_NAMES, Packed, Reader, Text};
pub use structure::{Iterations, Structure, Token};
pub use window::{Border, Piece, TextLine, Window, WindowIndex};
pub use writer::{Segment, Segments, Settings, Writer, pack};
