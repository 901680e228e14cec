//! Output order, which is the same as in PajeNG. The walk keeps a stack of containers, which holds only the root at
//! first. It takes the container on top, and visits the child types of the container's type in byte order of their
//! identifiers. If the child type is not a container type, the walk shows the objects of the lane in lane order.
//! Otherwise, it pushes the child containers of this type in byte order of their identifiers, so that they are visited
//! in reverse order.

use paje_parser::TypeNature;

use super::Trace;
use super::order::NameOrder;
use paje_model::names::ids::{ContainerId, TypeId};

/// One step of a walk through a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A container. The container's lanes follow.
    Container(ContainerId),
    /// A type of objects in the previous container. If the container has a lane of this type, the lane comes here.
    Type(ContainerId, TypeId),
}

impl Trace {
    /// Returns an iterator over the trace in output order.
    #[doc(hidden)]
    pub fn walk(&self, order: NameOrder) -> Walk<'_> {
        let children = self.child_types(order);
        let mut ranks = vec![0; self.types().len()];
        for list in &children {
            for (rank, id) in list.iter().enumerate() {
                ranks[id.index()] = rank as u32;
            }
        }
        let stack = vec![ContainerId::ROOT];
        Walk { trace: self, order, children, ranks, stack, current: None, among: None }
    }

    /// Returns the child types of each type in byte order of their identifiers.
    fn child_types(&self, order: NameOrder) -> Vec<Vec<TypeId>> {
        let types = self.types();
        let mut children = vec![Vec::new(); types.len()];
        for id in types.ids().skip(1) {
            children[types.parent(id).index()].push(id);
        }
        children.iter_mut().for_each(|list| order.sort(list, |_| 0, |id| types.identifier(id)));
        children
    }

    /// Iterates over the type tree from the root. Calls `show` with each type and its child types in reverse byte order
    /// of their identifiers. The result is PajeNG 1.3.6's order: types come in byte order, and the descendants of each
    /// type follow it.
    pub fn each_type(&self, order: NameOrder, mut show: impl FnMut(TypeId, &[TypeId])) {
        let mut children = self.child_types(order);
        let mut stack = vec![TypeId::ROOT];
        while let Some(id) = stack.pop() {
            let inside = &mut children[id.index()];
            inside.reverse();
            show(id, inside);
            stack.extend_from_slice(inside);
        }
    }
}

/// An iterator over a trace in output order.
#[derive(Debug)]
pub struct Walk<'t> {
    trace: &'t Trace,
    order: NameOrder,
    /// Sorted child types of each type. `ranks` has the index of each type among its siblings.
    children: Vec<Vec<TypeId>>,
    ranks: Vec<u32>,
    stack: Vec<ContainerId>,
    /// Current container, and how many child types of its type have been visited.
    current: Option<(ContainerId, usize)>,
    /// Whether to visit each container, or `None` to visit all.
    among: Option<Vec<bool>>,
}

impl Walk<'_> {
    /// Restricts the walk to these containers.
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
