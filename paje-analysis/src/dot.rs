//! Graphs in the language of Graphviz.

use std::fmt::Write;

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge<'a> {
    /// The names of the nodes that it is from and to.
    pub ends: [&'a str; 2],
    /// Label beside it.
    pub label: String,
    /// Weight, which gives its width.
    pub weight: f64,
}

/// Writes a directed graph. The name is a word; heavier edges are wider.
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

/// Quotes a name or label: in labels, a backslash begins a command, and some readers end a text at a control character.
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
    fn names_are_only_names() {
        let name = "\\N\"]; b [label=\"x\n\0";
        let edge = Edge { ends: [name, "<b>"], label: "1".into(), weight: 2.0 };
        assert_eq!(
            digraph("g", &[edge]),
            "digraph g {\n  node [shape=box];\n  \"\\\\N\\\"]; b [label=\\\"x\u{fffd}\u{fffd}\" -> \"<b>\" \
             [label=\"1\", penwidth=5.0];\n}\n"
        );
    }
}
