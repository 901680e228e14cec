//! Traces that are shown in portions, each of which is dropped afterwards.
//!
//! A portion ends at a multiple of its size in bytes: the current wave is replayed up to there, and then
//! from there on. So portions do not depend on the number of workers or the size of blocks.

use std::ops::ControlFlow;

use crate::names::error::Error;
use crate::names::ids::ContainerId;
use crate::trace::Trace;
use crate::trace::portion::Portion;

/// Receives the portions.
pub(crate) type Show<'o> = &'o mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send);

/// The current portion.
pub(crate) struct Portions<'o> {
    show: Show<'o>,
    /// In bytes.
    pub(super) size: u64,
    /// The byte where it ends.
    pub(super) end: u64,
    /// Containers that ended in it.
    ended: Vec<ContainerId>,
}

impl<'o> Portions<'o> {
    pub(crate) fn new(size: u64, show: Show<'o>) -> Self {
        let size = size.max(1);
        Portions { show, size, end: size, ended: Vec::new() }
    }

    pub(crate) fn ended(&mut self, container: ContainerId) {
        self.ended.push(container);
    }

    /// Shows a portion.
    pub(super) fn show(&mut self, trace: &Trace) -> Result<(), Error> {
        let portion = Portion::new(trace, &self.ended);
        self.ended.clear();
        match (self.show)(&portion) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::stopped()),
        }
    }

    /// Shows the last portion.
    pub(crate) fn finish(mut self, trace: &Trace) -> Result<(), Error> {
        self.show(trace)
    }
}
