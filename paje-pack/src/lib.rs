//! Packed traces: the format, its writer and its reader.
//!
//! A trace is cut into segments of whole lines. Each line is an action in a lane. The action is the text of the line,
//! with holes for its time, the key of its link, and other values. Lines, times, values and keys are written to columns
//! of bytes, which are grouped by lane, action or step. zstd compresses the columns. `docs/dev/pack-format.md` describes the
//! format.
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

mod column_page;
mod column_reader;
mod decode;
mod digits;
mod excerpt;
mod fields;
mod format;
mod index;
mod keys;
mod line_cache;
mod lines;
mod out;
mod patterns;
mod reader;
mod segment;
mod steps;
mod stream;
mod table;
mod template;
mod texts;
mod times;
mod value;
mod window;
mod writer;

pub use format::{Error, ErrorKind};
pub use index::Summaries;
pub use reader::{KIND_NAMES, Packed, Reader, Text};
pub use template::Definitions;
pub use window::{Border, Piece, SegmentInfo, TextLine, Window, WindowIndex};
pub use writer::{Segment, Segments, Settings, Writer, pack};
