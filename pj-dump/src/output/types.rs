//! The type tree in PajeNG's order, and its graph for graphviz (`-d`).

use paje_sim::{Trace, TypeId, TypeNature};

use super::Quotes;

/// Returns the type tree in graphviz's language.
#[must_use]
pub fn dot(trace: &Trace, quotes: Quotes) -> Vec<u8> {
    let types = trace.types();
    let mut out = b"digraph PajeTypes {\n".to_vec();
    trace.each_type(quotes.order(), |id, inside| {
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
        // The root's type has no alias, but its name is printed as its alias.
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
