//! The container tree as text (`-c`).

use std::cmp::Reverse;

use paje_sim::{ContainerId, Trace};

use super::Quotes;

/// One line a container, from the root down, children in byte order of their identifiers:
/// `reportContainer |`, as many columns of indentation as it has ancestors, and its name twice.
/// PajeNG 1.3.6 behaviour.
#[must_use]
pub fn tree(trace: &Trace, quotes: Quotes) -> Vec<u8> {
    let (containers, order) = (trace.containers(), quotes.order());
    let mut out = Vec::new();
    let mut stack = vec![(ContainerId::ROOT, 0usize)];
    while let Some((id, depth)) = stack.pop() {
        out.extend_from_slice(b"reportContainer |");
        // `%*.*s` of "| " with the depth as width and as precision.
        let mark = &b"| "[..depth.min(2)];
        out.resize(out.len() + depth - mark.len(), b' ');
        out.extend_from_slice(mark);
        quotes.write(containers.name(id), &mut out);
        out.extend_from_slice(b" (");
        quotes.write(containers.name(id), &mut out);
        out.extend_from_slice(b")\n");
        let mut inside: Vec<ContainerId> = containers.children(id).collect();
        inside.sort_by_cached_key(|child| Reverse(order.key(containers.identifier(*child))));
        stack.extend(inside.into_iter().map(|child| (child, depth + 1)));
    }
    out
}
