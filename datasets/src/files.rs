//! One trace cut into many files, in ways in which tracers may do it.
//!
//! lang-paje 1.3.1, "Parallel reading": a file may name others, which hold the events of some containers, with
//! PajeTraceFile or in the `Filename` of a PajeCreateContainer. [`cut`] takes a whole trace and spreads it over such files by
//! container; their replay must be that of the whole trace.
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
    /// How files hold the trace, and are named.
    #[non_exhaustive]
    pub Style {
        /// Each file is a valid trace by itself: it repeats the event definitions, types and values and the creations and
        /// destructions that it needs, and ends with the destruction of the root container when the whole trace ends.
        /// PajeTraceFile names it, once for each of its containers.
        Full "full",
        /// Files without event definitions, which are in the file that names them. They have the events of their containers,
        /// and the destructions of these and their ancestors. PajeTraceFile names them.
        Bare "bare",
        /// Each file has its own event definitions, with other numbers than any other file, and the lines of
        /// [`Style::Bare`]. The `Filename` of PajeCreateContainer names it. Events of the root container are in the
        /// file of the first other one.
        Filename "filename",
    }
}

/// A trace in many files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFiles {
    /// The file that names the others: event definitions, types, values, creations and destructions.
    pub root: Vec<u8>,
    /// The others, in the order of their names; not all of them are named in this order.
    pub pieces: Vec<Piece>,
}

/// One file with the events of some containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its name, relative to the folder of the root's file.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl TraceFiles {
    /// The name that [`TraceFiles::write`] gives the root's file.
    pub const ROOT: &'static str = "root.trace";

    /// Writes all files into a folder, which is created if needed.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join(Self::ROOT), &self.root)?;
        self.pieces.iter().try_for_each(|piece| fs::write(folder.join(&piece.name), &piece.bytes))
    }
}

/// Cuts a trace into at most `pieces` files and the one that names them. There are never more than containers, the root
/// container counted, nor fewer than one.
///
/// Containers are dealt out in turn, so that neighbours end up in different files. Everything of a container stays together and
/// in order. The trace must be valid; its times are read as decimal numbers. In an invalid trace, lines that belong to no
/// known container stay in the root's file, and the files may be invalid in another way. Comments and empty
/// lines are dropped. Works in memory.
pub fn cut(trace: &[u8], style: Style, pieces: usize) -> TraceFiles {
    Cutter::new(Lines::new(trace), style, pieces).cut()
}

#[cfg(test)]
mod tests {
    use super::{Style, cut};
    use crate::testing::fnv;
    use crate::{Shape, generate, random};

    #[test]
    fn files_never_change() {
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
        assert_eq!(
            sum, 3498177825700207575,
            "cut traces changed: was that meant? Then write the new sum here"
        );
    }

    #[test]
    fn every_event_stands_in_one_file() {
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
    fn a_line_of_its_own_ends_a_full_piece() {
        let files = cut(&generate(Shape::OneContainer, 5_000, 1), Style::Full, 9);
        let piece = std::str::from_utf8(&files.pieces[1].bytes).unwrap();
        let last: Vec<&str> = piece.lines().last().unwrap().split(' ').collect();
        assert!(matches!(last[..], ["7", _, "0", "0"]), "{last:?}");
        let before = piece.lines().rev().nth(1).unwrap();
        assert!(before.contains(last[1]), "the whole trace ends at the time of {before}");
    }

    #[test]
    fn styles_are_read_back() {
        for style in Style::ALL {
            assert_eq!(style.name().parse(), Ok(style));
        }
        assert!("half".parse::<Style>().unwrap_err().to_string().contains("bare"));
    }
}
