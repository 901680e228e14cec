//! Opening a Pajé trace, where it may be cut, and the blocks that it is read in.
//!
//! [`Input`] opens a trace, compressed or not. A stream is cut into blocks one after the other by
//! [`Blocks`]; a file's blocks are read in any order, by any thread, through a [`Plan`]. [`Folders`] say which
//! files a trace may name. What flows in are names of files and bytes, what flows out are [`Block`]s: whole lines,
//! with room behind them, and the byte of the trace where they begin. What lines say is not looked at.
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
mod size;

pub use blocks::{
    BYTE_ORDER_MARK, Block, Blocks, ColumnSegment, LaterLine, Limits, PADDING, ReadError, Segment,
};
pub use cause::cause;
pub use folders::{Folders, Refusal};
pub use input::{Compression, Input, Kind, Segments, Unpacking};
pub use plan::Plan;
pub use regular::read_exact_at;
pub use size::parse_size;
