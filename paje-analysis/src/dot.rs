//! Graphs in Graphviz's DOT language.

use std::fmt::Write;

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge<'a> {
    /// Names of the source and target nodes.
    pub ends: [&'a str; 2],
    /// Label next to the edge.
    pub label: String,
    /// Weight. It determines the width of the line.
    pub weight: f64,
}

/// Formats a directed graph, with wider lines for heavier edges. `name` must be a DOT identifier.
#[must_use]
pub fn digraph(name: &str, edges: &[Edge<'_>]) -> String {
    let mut dot = format!("digraph {name} {{\n  node [shape=box];\n");
    let most = edges.iter().map(|edge| edge.weight).fold(0.0, f64::max);
    for edge in edges {
        let [from, to] = edge.ends.map(quoted);
        let wide = if most > 0.0 { 1.0 + 4.0 * edge.weight / most } else { 1.0 };
        let label = quoted(&edge.label);
        let _ = writeln!(dot, "  {from} -> {to} [label={label}, penwidth={wide:.1}];");
    }
    dot.push_str("}\n");
    dot
}

/// Quotes a name or label. Escapes backslashes and replaces control characters.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            letter if letter.is_control() => quoted.push('\u{fffd}'),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_quotes() {
        let name = "\\N\"]; b [label=\"x\n\0";
        let edge = Edge { ends: [name, "<b>"], label: "1".into(), weight: 2.0 };
        assert_eq!(
            digraph("g", &[edge]),
            "digraph g {\n  node [shape=box];\n  \"\\\\N\\\"]; b [label=\\\"x\u{fffd}\u{fffd}\" -> \"<b>\" \
             [label=\"1\", penwidth=5.0];\n}\n"
        );
    }
}
