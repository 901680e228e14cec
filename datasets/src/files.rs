//! Cuts a trace into several files, in the ways that tracers do.
//!
//! A trace may refer to files with the events of some containers, in a PajeTraceFile or in the
//! `Filename` of a PajeCreateContainer (lang-paje 1.3.1, "Parallel reading"). [`cut`] distributes a
//! trace over such files by container. Their replay must equal that of the whole trace.
//!
//! ```
//! use datasets::files::{Style, cut};
//! use datasets::{Shape, generate};
//!
//! let files = cut(&generate(Shape::Mpi, 20_000, 1), Style::Bare, 3);
//! assert_eq!(files.pieces.len(), 3);
//! assert_eq!(files.pieces[2].name, "piece-002.trace");
//! assert!(files.root.starts_with(b"%EventDef"));
//! assert!(!files.pieces[2].bytes.contains(&b'%'));
//! ```

mod cutter;
mod lines;
mod pieces;

use std::fs;
use std::io;
use std::path::Path;

use cutter::Cutter;
use lines::Lines;

use crate::named::named;

named! {
    /// Contents of the files, and how a file refers to other files.
    #[non_exhaustive]
    pub Style {
        /// Each file is a valid trace. It repeats the event definitions, types, values, creations
        /// and destructions that it needs. At the end of the trace it destroys the root container.
        /// The root file refers to each file in a PajeTraceFile for each of the file's containers.
        Full "full",
        /// The files have no event definitions, so the root file's definitions apply. They hold the
        /// events of their containers, and the destructions of these containers and of their
        /// ancestors. The root file refers to them in PajeTraceFile.
        Bare "bare",
        /// Each file has its own event definitions with other numbers. Its lines are the same as
        /// with [`Style::Bare`]. The root file refers to it in the `Filename` of a
        /// PajeCreateContainer. Events of the root container are in the file of the first other
        /// container.
        Filename "filename",
    }
}

/// A trace in several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFiles {
    /// Content of the root file: event definitions, types, values, creations and destructions.
    pub root: Vec<u8>,
    /// The other files in the order of their names. The root file may refer to these files in
    /// another order.
    pub pieces: Vec<Piece>,
}

/// A file with the events of some containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Name relative to the folder of the root file.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl TraceFiles {
    /// Name of the root file.
    pub const ROOT: &'static str = "root.trace";

    /// Writes all files into a folder, which is created if necessary.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join(Self::ROOT), &self.root)?;
        self.pieces.iter().try_for_each(|piece| fs::write(folder.join(&piece.name), &piece.bytes))
    }
}

/// Cuts a trace into a root file and at most `pieces` other files. Their number is limited by the
/// number of containers, including the root container.
///
/// Containers are assigned to files in turn, so neighbours are in different files. All lines of a
/// container are in the same file, in order. Comments and empty lines are dropped. The trace must
/// be valid, with decimal times. In an invalid trace, lines without a known container stay in the
/// root file, and the files may also be invalid in other ways.
pub fn cut(trace: &[u8], style: Style, pieces: usize) -> TraceFiles {
    Cutter::new(Lines::new(trace), style, pieces).cut()
}

#[cfg(test)]
mod tests {
    use super::{Style, cut};
    use crate::testing::fnv;
    use crate::{Shape, generate, random};

    #[test]
    fn cut_files_never_change() {
        let traces = Shape::ALL.map(|shape| generate(shape, 16 << 10, 1));
        let random = (0..20).map(|seed| random::trace(seed).bytes);
        let mut sum: u64 = 0;
        for trace in traces.into_iter().chain(random) {
            for style in Style::ALL {
                let files = cut(&trace, style, 3);
                let pieces = files.pieces.iter().map(|piece| &piece.bytes);
                for bytes in pieces.chain([&files.root]) {
                    sum = sum.wrapping_mul(31).wrapping_add(fnv(bytes));
                }
            }
        }
        assert_eq!(sum, 3498177825700207575, "cut traces changed; if intended, update the sum");
    }

    #[test]
    fn every_event_is_in_one_file() {
        let trace = generate(Shape::Mpi, 40_000, 1);
        let events = |bytes: &[u8]| {
            let lines = bytes.split(|byte| *byte == b'\n');
            let number =
                |line: &[u8]| std::str::from_utf8(line).ok()?.split(' ').next()?.parse().ok();
            lines.filter_map(number).filter(|number: &u32| (8..18).contains(number)).count()
        };
        for style in [Style::Full, Style::Bare] {
            for pieces in [1, 2, 7, 1000] {
                let files = cut(&trace, style, pieces);
                let found: usize = files.pieces.iter().map(|piece| events(&piece.bytes)).sum();
                assert_eq!(found, events(&trace), "{style}, {pieces}");
            }
        }
    }

    #[test]
    fn a_full_piece_ends_with_the_trace() {
        let files = cut(&generate(Shape::OneContainer, 5_000, 1), Style::Full, 9);
        let piece = std::str::from_utf8(&files.pieces[1].bytes).unwrap();
        let last: Vec<&str> = piece.lines().last().unwrap().split(' ').collect();
        assert!(matches!(last[..], ["7", _, "0", "0"]), "{last:?}");
        let before = piece.lines().rev().nth(1).unwrap();
        assert!(before.contains(last[1]), "the piece does not end with the trace: {before}");
    }

    #[test]
    fn names_of_styles_parse_to_the_same() {
        for style in Style::ALL {
            assert_eq!(style.name().parse(), Ok(style));
        }
        assert!("half".parse::<Style>().unwrap_err().to_string().contains("bare"));
    }
}
