//! The lanes that a decoder knows.

use crate::decode::decoded::StrandSymbol;
use crate::decode::strands::Strands;
use crate::decode::symbols::{Symbol, WordTable};
use crate::decode::tails::Tails;

/// A decoder with more tails than this gives them up. Those of links are many only if containers are.
const MOST_TAILS: usize = 1 << 9;
const MOST_LINK_TAILS: usize = 1 << 12;

/// A lane as a decoder knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownLane {
    pub(super) type_: Symbol,
    /// Its first strand. A link lane has [several](Strands::per_link_lane), one after the other.
    pub(super) strand: StrandSymbol,
}

/// The lanes that a decoder knows.
#[derive(Debug)]
pub(super) struct KnownLanes {
    /// By the text of a type and a container that stand side by side: see [`short`](super::short).
    pub(super) by_pair: WordTable<KnownLane, true>,
    /// By that text, a value, and the other end of a link: see [`tails`](super::tails).
    tails: Tails,
    link_tails: Tails,
    /// By their symbols.
    pub(super) lanes: Vec<KnownLane>,
    /// The shard of each strand.
    pub(super) shards: Vec<u8>,
    pub(super) spread: Strands,
}

impl KnownLanes {
    pub(super) fn new(spread: Strands) -> Self {
        KnownLanes {
            by_pair: WordTable::default(),
            tails: Tails::new(MOST_TAILS),
            link_tails: Tails::new(MOST_LINK_TAILS),
            lanes: Vec::new(),
            shards: Vec::new(),
            spread,
        }
    }

    /// Forgets all lanes and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.by_pair.clear();
        self.tails = Tails::new(MOST_TAILS);
        self.link_tails = Tails::new(MOST_LINK_TAILS);
        self.lanes.clear();
        self.shards.clear();
    }

    /// Returns the names of lines as one text: those of links, or of all other lines.
    #[inline(always)]
    pub(super) const fn tails(&self, of_links: bool) -> &Tails {
        if of_links { &self.link_tails } else { &self.tails }
    }

    /// The same, to be changed.
    pub(super) const fn tails_mut(&mut self, of_links: bool) -> &mut Tails {
        if of_links { &mut self.link_tails } else { &mut self.tails }
    }

    /// Returns the names of lines that are no links, and of links.
    pub(super) const fn all_tails(&self) -> (&Tails, &Tails) {
        (&self.tails, &self.link_tails)
    }
}
