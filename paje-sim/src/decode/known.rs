//! The lanes that a decoder knows: those that it has met, and those that all decoders share.

use std::sync::Arc;

use crate::decode::decoded::StrandSymbol;
use crate::decode::pairs::{KnownLane, PairTable};
use crate::decode::partitioning::Partitioning;
use crate::decode::shared::SharedLanes;
use crate::decode::symbols::Symbol;
use crate::decode::tails::Tails;
use crate::names::hash::Word;

/// With more than so many, tails are given up. Those of links are many only where containers are.
const MOST_TAILS: usize = 1 << 9;
const MOST_LINK_TAILS: usize = 1 << 12;

/// The lanes that a decoder knows.
#[derive(Debug)]
pub(super) struct KnownLanes {
    /// By the texts of a type and a container: see [`short`](super::short).
    pub(super) by_pair: PairTable,
    /// By these, a value, and the other end of a link: see [`tails`](super::tails).
    tails: Tails,
    link_tails: Tails,
    /// By their symbols; not those that are shared.
    pub(super) lanes: Vec<KnownLane>,
    /// Of each of these, the [plain](super::shared::is_plain_pair) text of its names, as it is shared by; without a context where
    /// the line that named it first had none. Empty where nothing is shared.
    pub(super) pairs: Vec<(Word, u64)>,
    /// The shard of each strand: first of those that are shared.
    pub(super) shards: Vec<u8>,
    pub(super) spread: Partitioning,
    /// Lanes that all decoders know. Of them, this one knows those whose strands come before its own: others may be
    /// among its own, and a lane has one number for each decoder.
    pub(super) shared: Arc<SharedLanes>,
    pub(super) first_own: StrandSymbol,
    /// Its symbols of the types of these lanes, by their numbers.
    pub(super) shared_types: Vec<Option<Symbol>>,
    /// Number of events of these lanes that it has decoded.
    pub(super) shared_events: u64,
}

impl KnownLanes {
    pub(super) fn new(spread: Partitioning) -> Self {
        KnownLanes {
            by_pair: PairTable::default(),
            tails: Tails::new(MOST_TAILS),
            link_tails: Tails::new(MOST_LINK_TAILS),
            lanes: Vec::new(),
            pairs: Vec::new(),
            shards: Vec::new(),
            spread,
            shared: Arc::default(),
            first_own: 0,
            shared_types: Vec::new(),
            shared_events: 0,
        }
    }

    /// No lanes but those that are shared, with the memory of a decoder before.
    pub(super) fn after(before: &mut KnownLanes, shared: &Arc<SharedLanes>) -> Self {
        let mut by_pair = std::mem::take(&mut before.by_pair);
        by_pair.clear();
        let mut shards = std::mem::take(&mut before.shards);
        shards.truncate(before.first_own as usize);
        shards.extend_from_slice(&shared.shards()[shards.len()..]);
        KnownLanes {
            by_pair,
            first_own: shards.len() as StrandSymbol,
            shards,
            shared: Arc::clone(shared),
            ..KnownLanes::new(before.spread)
        }
    }

    /// The names of lines as one text: of those of links, or of all others.
    #[inline(always)]
    pub(super) const fn tails(&self, of_links: bool) -> &Tails {
        if of_links { &self.link_tails } else { &self.tails }
    }

    /// The same, to be changed.
    pub(super) const fn tails_mut(&mut self, of_links: bool) -> &mut Tails {
        if of_links { &mut self.link_tails } else { &mut self.tails }
    }

    /// The lane of a type and a container that stand side by side.
    #[inline(always)]
    pub(super) fn find(&self, word: Word, context: u64) -> Option<KnownLane> {
        self.by_pair.find(word, context).or_else(|| self.find_shared(word[0], word[1], context))
    }

    /// The same among those that are shared, if their types have symbols here. (A word as one argument would be put in
    /// memory by whoever may come to ask.)
    #[inline(never)]
    pub(super) fn find_shared(&self, low: u64, high: u64, context: u64) -> Option<KnownLane> {
        let lane = self.shared_lane([low, high], context)?;
        let type_ = self.shared_types.get(lane.type_ as usize).copied().flatten()?;
        Some(KnownLane { type_, ..lane })
    }

    /// A lane that is shared, with the number of its type.
    pub(super) fn shared_lane(&self, word: Word, context: u64) -> Option<KnownLane> {
        if self.first_own == 0 {
            return None;
        }
        self.shared.by_pair().find(word, context).filter(|lane| lane.strand < self.first_own)
    }

    /// The plain text of a lane's names, if it is at hand.
    pub(super) fn plain_pair(&self, lane: Symbol) -> Option<(Word, u64)> {
        self.pairs.get(lane as usize).copied().filter(|(_, context)| *context != 0)
    }

    /// Tells whether looks ahead pay.
    pub(super) fn are_many(&self) -> bool {
        self.by_pair.is_large() || self.first_own > 0 && self.shared.by_pair().is_large()
    }

    /// Looks at where [`KnownLanes::find`] will.
    #[inline(always)]
    pub(super) fn look(&self, word: Word) -> u64 {
        self.by_pair.look(word) ^ self.shared.by_pair().look(word)
    }
}
