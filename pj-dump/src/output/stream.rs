//! Writes rows as they complete, for `-o`.
//!
//! The rows of each portion of the trace are written in output order and dropped. The output of a
//! trace that fits in one portion is the same as without `-o`. For an invalid trace, the rows of
//! the portions before the problem are written.

use std::io::{self, Write};
use std::ops::ControlFlow;

use paje_sim::{Portion, Selected, Selection};
use paje_workers::Workers;

use super::Style;
use super::export::{Exported, Written, write_steps};
use super::header::Header;
use super::names::Names;

/// Size of a portion of the trace in bytes. Its rows and objects take a few times that much memory.
pub const PORTION: u64 = 16 << 20;

/// Writer of the rows of successive portions.
#[derive(Debug)]
pub struct RowStream<'w, W> {
    style: Style,
    workers: &'w Workers,
    out: W,
    written: &'w Written,
    header: Option<Header>,
    selected: Selected,
    names: Option<Names>,
    exported: Exported,
    error: Option<io::Error>,
}

impl<'w, W: Write + Send> RowStream<'w, W> {
    /// Writes rows in this style, with or without a header. The header's line for a nature precedes
    /// the first portion with rows of it. The selection restricts the rows to its natures, types and
    /// containers. The window of time is part of the style.
    pub fn new(
        style: Style,
        header: bool,
        selection: &Selection,
        workers: &'w Workers,
        out: W,
        written: &'w Written,
    ) -> Self {
        let header = header.then(|| Header::new(style, selection));
        let (selected, exported) = (Selected::new(selection), Exported::default());
        RowStream {
            style,
            workers,
            out,
            written,
            header,
            selected,
            names: None,
            exported,
            error: None,
        }
    }

    /// Writes the rows of a portion. Breaks if the output fails.
    pub fn show(&mut self, portion: &Portion<'_>) -> ControlFlow<()> {
        match self.write(portion) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn write(&mut self, portion: &Portion<'_>) -> io::Result<()> {
        let (trace, order) = (portion.trace(), self.style.quotes.order());
        self.selected.extend(trace);
        let selected = &self.selected;
        let steps = || portion.walk(order).filter(|step| selected.wants_step(*step));
        if let Some(header) = &mut self.header {
            self.out.write_all(&header.lines(trace, steps()))?;
        }
        let names = self.names.get_or_insert_with(|| Names::new(trace));
        names.extend(trace, self.style.quotes);
        let (style, workers, written) = (self.style, self.workers, self.written);
        let exported = write_steps(trace, names, style, workers, &mut self.out, written, steps())?;
        self.exported.add(&exported);
        Ok(())
    }

    /// Returns the amount of output, and the time that the export took.
    pub fn finish(self) -> io::Result<Exported> {
        self.error.map_or(Ok(self.exported), Err)
    }
}
