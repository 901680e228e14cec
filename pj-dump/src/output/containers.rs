//! The container tree as text (`-c`).

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};

use paje_sim::{ContainerId, Trace};

use super::Quotes;

/// Writes one line per container, from the root down. Children are in byte order of their
/// identifiers, as in PajeNG 1.3.6. A line has `reportContainer |`, one column of indentation per
/// ancestor, and the name twice.
///
/// The text is not kept in memory: for containers nested 100,000 deep, the indentation alone takes
/// five gigabytes.
pub fn write_tree(trace: &Trace, quotes: Quotes, out: impl Write) -> io::Result<()> {
    let (containers, order) = (trace.containers(), quotes.order());
    let (mut out, mut line) = (BufWriter::new(out), Vec::new());
    let mut stack = vec![(ContainerId::ROOT, 0usize)];
    while let Some((id, depth)) = stack.pop() {
        line.clear();
        line.extend_from_slice(b"reportContainer |");
        // Prints "| " as `%*.*s` does with the depth as width and precision.
        let mark = &b"| "[..depth.min(2)];
        line.resize(line.len() + depth - mark.len(), b' ');
        line.extend_from_slice(mark);
        quotes.write(containers.name(id), &mut line);
        line.extend_from_slice(b" (");
        quotes.write(containers.name(id), &mut line);
        line.extend_from_slice(b")\n");
        out.write_all(&line)?;
        let mut inside: Vec<ContainerId> = containers.children(id).collect();
        inside.sort_by_cached_key(|child| Reverse(order.key(containers.identifier(*child))));
        stack.extend(inside.into_iter().map(|child| (child, depth + 1)));
    }
    out.flush()
}
