//! The type tree in the order in which PajeNG shows it, and its picture for graphviz (`-d`).

use std::cmp::Reverse;

use paje_sim::{NameOrder, Trace, TypeId, TypeNature};

use super::Quotes;

/// Goes through the type tree from the root: `show` gets each type and the types in it, in reverse
/// byte order of their identifiers. The types then come up in byte order, each with all that is in
/// it before the next: PajeNG 1.3.6 behaviour.
pub(crate) fn each_type(trace: &Trace, order: NameOrder, mut show: impl FnMut(TypeId, &[TypeId])) {
    let types = trace.types();
    let mut children = vec![Vec::new(); types.len()];
    for id in types.ids().skip(1) {
        children[types.parent(id).index()].push(id);
    }
    let mut stack = vec![TypeId::ROOT];
    while let Some(id) = stack.pop() {
        let inside = &mut children[id.index()];
        inside.sort_by_cached_key(|child| Reverse(order.key(types.identifier(*child))));
        show(id, inside);
        stack.extend_from_slice(inside);
    }
}

/// The type tree in graphviz's language.
#[must_use]
pub fn dot(trace: &Trace, quotes: Quotes) -> Vec<u8> {
    let types = trace.types();
    let mut out = b"digraph PajeTypes {\n".to_vec();
    each_type(trace, quotes.order(), |id, inside| {
        let shape: &[u8] = match types.nature(id) {
            TypeNature::Container => b"folder",
            TypeNature::State => b"rectangle",
            TypeNature::Variable => b"plaintext",
            TypeNature::Event => b"oval",
            TypeNature::Link => b"rarrow",
        };
        let name = |id, out: &mut Vec<u8>| quotes.write(types.name(id), out);
        out.push(b'"');
        name(id, &mut out);
        out.extend_from_slice(b"\" [shape=");
        out.extend_from_slice(shape);
        out.extend_from_slice(b", label=\"");
        name(id, &mut out);
        out.extend_from_slice(b" (");
        // The root's type has no alias, but it is shown as if it had one.
        match types.alias(id) {
            Some(alias) => quotes.write(alias, &mut out),
            None if id == TypeId::ROOT => name(id, &mut out),
            None => {}
        }
        out.extend_from_slice(b")\"];\n");
        for child in inside {
            out.push(b'"');
            name(id, &mut out);
            out.extend_from_slice(b"\" -> \"");
            name(*child, &mut out);
            out.extend_from_slice(b"\";\n");
        }
    });
    out.extend_from_slice(b"}\n");
    out
}
