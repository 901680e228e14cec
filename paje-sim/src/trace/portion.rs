//! Portions of a trace.

use crate::trace::Trace;
use crate::trace::lane::Lane;
use crate::trace::order::NameOrder;
use crate::trace::selected::Selected;
use crate::trace::visit::{Events, Links, States, Variables, Visitor};
use crate::trace::walk::{Step, Walk};
use paje_model::names::ids::ContainerId;

/// A portion of a trace: the objects that the events in a range of bytes completed. See [`Trace::read_in_portions`].
///
/// Lanes contain the objects that the portion completed, and open states, whose end is NaN. Types, values and containers are those that the trace has
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

    /// Shows the wanted containers that ended and the wanted lanes to the visitor, in output order. Open states are
    /// left out, because a later portion shows them.
    ///
    /// # Errors
    /// The first error of the visitor.
    pub fn visit<V: Visitor>(
        &self,
        order: NameOrder,
        wanted: &Selected,
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        for step in self.walk(order).filter(|step| wanted.wants_step(*step)) {
            match step {
                Step::Container(id) => visitor.container(self.trace, id)?,
                Step::Type(container, type_) => {
                    if let Some(lane) = self.trace.lane(container, type_) {
                        lane.visit(&mut Complete(visitor))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Shows only the complete states of each slice.
struct Complete<'v, V>(&'v mut V);

impl<V: Visitor> Visitor for Complete<'_, V> {
    type Error = V::Error;

    fn states(&mut self, lane: Lane<'_>, states: States<'_>) -> Result<(), V::Error> {
        let mut first = 0;
        for run in states.end.split(|end| end.is_nan()) {
            if !run.is_empty() {
                self.0.states(lane, states.slice(first..first + run.len()))?;
            }
            first += run.len() + 1;
        }
        Ok(())
    }

    fn variables(&mut self, lane: Lane<'_>, variables: Variables<'_>) -> Result<(), V::Error> {
        self.0.variables(lane, variables)
    }

    fn events(&mut self, lane: Lane<'_>, events: Events<'_>) -> Result<(), V::Error> {
        self.0.events(lane, events)
    }

    fn links(&mut self, lane: Lane<'_>, links: Links<'_>) -> Result<(), V::Error> {
        self.0.links(lane, links)
    }
}
