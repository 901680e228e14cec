use crate::trace::Trace;
use crate::trace::order::NameOrder;
use paje_model::names::ids::TypeId;

impl Trace {
    /// Iterates over the type tree from the root. Calls `show` with each type and its child types in reverse byte order
    /// of their identifiers. The result is PajeNG 1.3.6's order: types come in byte order, and the descendants of each
    /// type follow it.
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
