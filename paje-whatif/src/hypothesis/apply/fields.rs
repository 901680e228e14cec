//! Reads the tags of messages from user-defined fields.

use std::str;

use paje_sim::Link;

use crate::graph::Graph;

/// Returns the tag of each message, which comes from the field `Tag` or from SimGrid's key
/// `from_to_tag_number`.
pub(super) fn tags(graph: &Graph<'_>) -> Vec<Option<f64>> {
    let is_simulated = graph.tracks().is_simulated();
    let mut tags = vec![None; graph.messages().list().len()];
    graph.messages().each_link(graph.tracks().trace(), |at, link| {
        let mut fields = link.fields();
        tags[at] = match fields.find(|(name, _)| name.eq_ignore_ascii_case("tag")) {
            Some((_, text)) => number(text),
            None if is_simulated => from_key(link),
            None => None,
        };
    });
    tags
}

fn from_key(link: &Link<'_>) -> Option<f64> {
    let key = str::from_utf8(link.key().text).ok()?;
    let parts: Vec<&str> = key.split('_').collect();
    parts.get(2).filter(|_| parts.len() == 4)?.parse().ok()
}

fn number(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.trim().trim_matches('"').parse().ok()
}
