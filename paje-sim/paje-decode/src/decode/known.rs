use crate::decode::decoded::StrandSymbol;
use crate::decode::line_names::LineNamesTable;
use crate::decode::partitioning::Partitioning;
use crate::decode::symbols::{Symbol, WordTable};

/// Maximum number of texts in a decoder's table of the names of whole lines. With more texts, the table is dropped.
/// Only traces with many containers have more texts for links.
const MOST_LINE_NAMES: usize = 1 << 9;
const MOST_LINK_LINE_NAMES: usize = 1 << 12;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownLane {
    pub(super) type_: Symbol,
    /// First strand of the lane. A lane of links has [several](Partitioning::per_link_lane) consecutive strands.
    pub(super) strand: StrandSymbol,
}

#[derive(Debug)]
pub(super) struct KnownLanes {
    /// Lanes by the text of an adjacent type and container. See [`short`](super::short).
    pub(super) by_pair: WordTable<KnownLane, true>,
    /// Names of lines by the text of the type, the container, the value, and the other end of a link. See
    /// [`line_names`](super::line_names).
    line_names: LineNamesTable,
    link_line_names: LineNamesTable,
    pub(super) lanes: Vec<KnownLane>,
    pub(super) shards: Vec<u8>,
    pub(super) partitioning: Partitioning,
}

impl KnownLanes {
    pub(super) fn new(partitioning: Partitioning) -> Self {
        KnownLanes {
            by_pair: WordTable::default(),
            line_names: LineNamesTable::new(MOST_LINE_NAMES),
            link_line_names: LineNamesTable::new(MOST_LINK_LINE_NAMES),
            lanes: Vec::new(),
            shards: Vec::new(),
            partitioning,
        }
    }

    pub(super) fn clear(&mut self) {
        self.by_pair.clear();
        self.line_names = LineNamesTable::new(MOST_LINE_NAMES);
        self.link_line_names = LineNamesTable::new(MOST_LINK_LINE_NAMES);
        self.lanes.clear();
        self.shards.clear();
    }

    #[inline(always)]
    pub(super) const fn line_names(&self, of_links: bool) -> &LineNamesTable {
        if of_links { &self.link_line_names } else { &self.line_names }
    }

    pub(super) const fn line_names_mut(&mut self, of_links: bool) -> &mut LineNamesTable {
        if of_links { &mut self.link_line_names } else { &mut self.line_names }
    }
}
