//! Traces that are shown in portions, each forgotten when it has been shown.
//!
//! A portion ends at a multiple of its size in bytes: the wave at hand is replayed up to there, and
//! then from there on. So what is in a portion does not depend on the waves, and thus neither on the
//! number of workers nor on the size of blocks.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::Engine;
use crate::engine::round::Wave;
use crate::model::Model;
use crate::names::error::Error;
use crate::names::ids::ContainerId;
use crate::trace::portion::Portion;
use crate::trace::{Counted, Trace};

/// Who is shown the portions.
pub(crate) type Show<'o> = &'o mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send);

/// The portion at hand.
pub(crate) struct Portions<'o> {
    show: Show<'o>,
    /// In bytes.
    size: u64,
    /// The byte where it ends.
    end: u64,
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

    fn show(&mut self, trace: &Trace) -> Result<(), Error> {
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

impl Engine<'_> {
    /// Replays and shows the portions that end in this wave, before its first problem.
    pub(crate) fn show_portions(&mut self, wave: &Wave) -> Result<(), Error> {
        let known = self
            .findings
            .first
            .as_ref()
            .map_or(self.read.bytes, |error| error.at().min(self.read.bytes));
        while let Some(portions) = &self.portions
            && portions.end <= known
        {
            let end = portions.end;
            self.replay_to(wave, end);
            self.settle_to(wave, end)?;
            self.read.replayed_to = end;
            self.show_portion()?;
        }
        Ok(())
    }

    fn show_portion(&mut self) -> Result<(), Error> {
        let Some(mut portions) = self.portions.take() else { return Ok(()) };
        self.lanes.hide_open();
        let model = std::mem::replace(&mut self.model, Model::new(self.job.options.value_names));
        let (rows, defs) = (self.lanes.lend(), Arc::clone(self.definitions.at_hand()));
        self.settle_usage(false);
        let mut trace = Trace::new(
            model,
            rows,
            defs,
            Vec::new(),
            self.read.last_time,
            Vec::new(),
            Counted::default(),
        );
        trace.usage = self.read.usage.take();
        let shown = portions.show(&trace);
        let Trace { model, rows, usage, .. } = trace;
        self.read.usage = usage;
        self.model = model;
        self.lanes.take_back(rows);
        self.lanes.start_afresh();
        portions.end += portions.size;
        self.portions = Some(portions);
        shown
    }
}
