//! Shows a trace in portions, and drops each portion afterwards.
//!
//! A portion ends at a multiple of its size in bytes. The current wave is replayed up to that byte, the portion is
//! shown, and the rest of the wave is replayed. Portions therefore do not depend on the number of workers or the size
//! of blocks.

use std::ops::ControlFlow;

use crate::trace::Trace;
use crate::trace::portion::Portion;
use paje_model::names::error::Error;
use paje_model::names::ids::ContainerId;

pub(crate) type Show<'o> = &'o mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send);

pub(crate) struct Portions<'o> {
    show: Show<'o>,
    pub(super) size: u64,
    pub(super) end: u64,
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

    pub(super) fn show(&mut self, trace: &Trace) -> Result<(), Error> {
        let portion = Portion::new(trace, &self.ended);
        self.ended.clear();
        match (self.show)(&portion) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::stopped()),
        }
    }
}
