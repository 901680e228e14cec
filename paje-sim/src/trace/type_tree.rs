//! The tree of types, gone through in PajeNG's order.

use crate::trace::Trace;
use crate::trace::order::NameOrder;
use paje_model::names::ids::TypeId;

impl Trace {
    /// Goes through the type tree from the root: `show` gets each type and the types in it, in reverse
    /// byte order of their identifiers. The types then come up in byte order, each with all that is in
    /// it before the next: PajeNG 1.3.6 behaviour.
    pub fn each_type(&self, order: NameOrder, mut show: impl FnMut(TypeId, &[TypeId])) {
        let types = self.types();
        let mut children = vec![Vec::new(); types.len()];
        for id in types.ids().skip(1) {
            children[types.parent(id).index()].push(id);
        }
        let mut stack = vec![TypeId::ROOT];
        while let Some(id) = stack.pop() {
            let inside = &mut children[id.index()];
            order.sort(inside, |_| 0, |child| types.identifier(child));
            inside.reverse();
            show(id, inside);
            stack.extend_from_slice(inside);
        }
    }
}
