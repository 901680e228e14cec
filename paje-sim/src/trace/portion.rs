//! Portions of a trace.

use crate::trace::Trace;
use crate::trace::order::NameOrder;
use crate::trace::walk::{Step, Walk};
use paje_model::names::ids::ContainerId;

/// A portion of a trace: the objects that the events in a range of bytes completed. See [`Trace::read_in_portions`].
///
/// Lanes contain only the objects that the portion completed. Types, values and containers are those that the trace has
/// defined so far.
#[derive(Debug)]
pub struct Portion<'t> {
    trace: &'t Trace,
    /// Whether each container ended in the portion.
    ended: Vec<bool>,
    /// Whether the walk visits each container: it ended, has objects, or is an ancestor of such a container.
    walked: Vec<bool>,
}

impl<'t> Portion<'t> {
    pub(crate) fn new(trace: &'t Trace, ended: &[ContainerId]) -> Self {
        let containers = trace.containers();
        let mut portion = Portion {
            trace,
            ended: vec![false; containers.len()],
            walked: vec![false; containers.len()],
        };
        for id in ended {
            portion.ended[id.index()] = true;
            portion.mark(*id);
        }
        for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
            portion.mark(lane.container());
        }
        portion
    }

    fn mark(&mut self, mut id: ContainerId) {
        while !std::mem::replace(&mut self.walked[id.index()], true) {
            id = self.trace.containers().parent(id);
        }
    }

    /// Returns the trace up to the portion's end.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Returns, in output order, the containers that ended and the lanes with objects.
    pub fn walk(&self, order: NameOrder) -> impl Iterator<Item = Step> + use<'t> {
        let steps: Walk<'t> = self.trace.walk(order).among(self.walked.clone());
        let ended = self.ended.clone();
        steps.filter(move |step| match step {
            Step::Container(id) => ended[id.index()],
            Step::Type(..) => true,
        })
    }
}
