//! Reads the tags of messages from user-defined fields.

use std::str;

use paje_comm::messages::channel;

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
            None if is_simulated => channel(link.key().text).map(|[.., tag]| tag as f64),
            None => None,
        };
    });
    tags
}

fn number(text: &[u8]) -> Option<f64> {
    str::from_utf8(text).ok()?.trim().trim_matches('"').parse().ok()
}
