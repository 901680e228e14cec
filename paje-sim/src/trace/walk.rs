//! Output order: PajeNG's. A stack starts with the root; the top container comes next, then, through the child types
//! of its type in byte order of their identifiers, the objects of each lane in lane order, while the containers in it
//! go on the stack in byte order of their identifiers (and so come off it in reverse).

use paje_parser::TypeNature;

use super::Trace;
use super::order::NameOrder;
use paje_model::names::ids::{ContainerId, TypeId};

/// One step of a walk through a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A container; its lanes follow.
    Container(ContainerId),
    /// A type (not of containers) of the container before: its lane comes here, if it has one.
    Type(ContainerId, TypeId),
}

impl Trace {
    /// Goes through the trace in output order.
    pub fn walk(&self, order: NameOrder) -> Walk<'_> {
        let mut children = vec![Vec::new(); self.types().len()];
        for id in self.types().ids().skip(1) {
            children[self.types().parent(id).index()].push(id);
        }
        for list in &mut children {
            order.sort(list, |_| 0, |id| self.types().identifier(id));
        }
        let mut ranks = vec![0; self.types().len()];
        for list in &children {
            for (rank, id) in list.iter().enumerate() {
                ranks[id.index()] = rank as u32;
            }
        }
        let stack = vec![ContainerId::ROOT];
        Walk { trace: self, order, children, ranks, stack, current: None, among: None }
    }
}

/// An iterator over a trace in output order.
#[derive(Debug)]
pub struct Walk<'t> {
    trace: &'t Trace,
    order: NameOrder,
    /// The child types of each type, sorted; and the place of each type among its siblings.
    children: Vec<Vec<TypeId>>,
    ranks: Vec<u32>,
    stack: Vec<ContainerId>,
    /// The container at hand, and how many of its type's child types are behind.
    current: Option<(ContainerId, usize)>,
    /// The containers that are walked through, if not all are.
    among: Option<Vec<bool>>,
}

impl Walk<'_> {
    /// Walks only through these containers.
    pub(crate) fn among(self, containers: Vec<bool>) -> Self {
        Walk { among: Some(containers), ..self }
    }

    fn push_children(&mut self, id: ContainerId) {
        let first = self.stack.len();
        let containers = self.trace.containers();
        let among = self.among.as_deref();
        let walked = |id: &ContainerId| among.is_none_or(|among| among[id.index()]);
        self.stack.extend(containers.children(id).filter(walked));
        let ranks = &self.ranks;
        let order = self.order;
        if self.stack.len() < first + 2 {
            return;
        }
        order.sort(
            &mut self.stack[first..],
            |child| ranks[containers.type_of(child).index()],
            |child| containers.identifier(child),
        );
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some((container, behind)) = self.current {
            let types = &self.children[self.trace.containers().type_of(container).index()];
            let nature = |id: &TypeId| self.trace.types().nature(*id);
            let mut ahead = types.iter().enumerate().skip(behind);
            if let Some((at, id)) = ahead.find(|(_, id)| nature(id) != TypeNature::Container) {
                self.current = Some((container, at + 1));
                return Some(Step::Type(container, *id));
            }
        }
        let container = self.stack.pop()?;
        self.push_children(container);
        self.current = Some((container, 0));
        Some(Step::Container(container))
    }
}
