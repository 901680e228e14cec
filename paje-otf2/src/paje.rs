//! Archives that were made from a Pajé trace. They have the names and times that the trace had.

use rustc_hash::FxHashMap;

use crate::anchor::Anchor;
use crate::definitions::{Definitions, definition};
use crate::header::Header;
use crate::text::Sink;

/// Property of the anchor file of these archives.
pub(crate) const PROPERTY: [&[u8]; 2] = [b"PAJE::CONTAINERS", b"NODES"];

/// Name of the property of a node whose value is the time at which its container is created.
pub const START: &[u8] = b"PAJE::START";
/// Name of the property of a node whose value is the time at which its container is destroyed. At
/// the root, it is the end of the trace.
pub const END: &[u8] = b"PAJE::END";

/// Beginning of the names of the properties of a node whose value is a communicator: the links of
/// communicators within it belong to the container.
pub const LINKS: &[u8] = b"PAJE::LINKS";

/// Returns whether an archive was made from a Pajé trace.
pub(crate) fn is_made_from_paje(anchor: &Anchor) -> bool {
    anchor.properties.iter().any(|(name, value)| PROPERTY == [&name[..], &value[..]])
}

/// Returns the nodes that have a property whose name begins with `name`, and its values.
pub(crate) fn properties(all: &Definitions, name: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let properties = all.of(definition::SYSTEM_TREE_NODE_PROPERTY);
    let properties = properties
        .filter(move |it| all.string(it.fields[1]).is_some_and(|it| it.starts_with(name)));
    properties.map(|it| (it.fields[0], it.fields[3]))
}

impl Header<'_> {
    /// Returns the values of a property of the nodes of an archive that was made from a Pajé trace.
    pub(crate) fn times(&self, name: &[u8]) -> FxHashMap<u64, u64> {
        if self.model.is_paje {
            properties(self.archive.definitions(), name).collect()
        } else {
            FxHashMap::default()
        }
    }

    /// Writes the lines that end the containers and the trace.
    pub(crate) fn ends(&self, text: &mut impl Sink) {
        let (ends, seconds) = (self.times(END), &self.model.seconds);
        // Containers are destroyed before those that they are in.
        for it in self.model.containers.iter().skip(1).rev() {
            let Some(end) = ends.get(&it.id) else { continue };
            text.plain(b"10 ");
            seconds.write(seconds.units(*end), text);
            text.alias(b" T", it.type_.into());
            text.plain(b" ");
            text.alias(it.letter, it.id);
            text.plain(b"\n");
        }
        if let Some(end) = ends.get(&0).copied().max(self.end) {
            text.plain(b"14 ");
            seconds.write(seconds.units(end), text);
            text.plain(b" 0 0 \"\"\n");
        }
    }
}
