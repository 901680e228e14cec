//! Opens Pajé traces and reads them in blocks of whole lines.
//!
//! [`Input`] opens a trace, compressed or not. [`Blocks`] cuts a stream into blocks one after the
//! other. A [`Plan`] reads a file's blocks in any order, by any thread. [`Input::segments`] returns
//! the segments of a packed trace or an archive, each of them a [`ColumnSegment`]. [`Folders`]
//! limit the files to which a trace may refer. A [`Block`] holds its byte offset in the trace. The
//! contents of lines do not matter here.
//!
//! ```
//! use splitter::{Block, Blocks, Limits};
//!
//! let trace: &[u8] = b"% a header line\n1 2 3\n4 5 6\n";
//! let mut blocks = Blocks::new(trace, Limits { block: 20, ..Limits::default() });
//! let mut block = Block::default();
//! let mut lines = 0;
//! while blocks.read(&mut block)? {
//!     lines += block.text().split_inclusive(|byte| *byte == b'\n').count();
//! }
//! assert_eq!(lines, 3);
//! # Ok::<(), splitter::ReadError>(())
//! ```

pub mod blocks;
mod cause;
pub mod folders;
pub mod input;
pub mod plan;
mod regular;

pub use blocks::{
    BYTE_ORDER_MARK, Block, Blocks, ColumnSegment, LaterLine, Limits, PADDING, ReadError, Segment,
};
pub use cause::cause;
pub use folders::{Folders, Refusal};
pub use input::{Compression, Input, Kind, Segments, Unpacking, is_damaged_archive};
pub use plan::Plan;
pub use regular::read_exact_at;
