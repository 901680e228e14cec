//! Decoders that know too much, and those that take their place.

use crate::decode::symbols::SymbolTable;
use crate::decode::{Decoder, Symbols};
use crate::names::options::Options;

/// From so many lanes and ends of links on, they are looked at: those of most traces are fewer.
pub(super) const MOST_PLACES: usize = 1 << 14;

/// With fewer lines than this for each lane or end, these are taken for fleeting: a trace that has a
/// container for each task names each of them a few times, and then never again.
const LINES_PER_PLACE: u64 = 4;

impl Decoder {
    /// True if so many values or lanes have come up, most of them once it seems, that a
    /// [successor](Decoder::successor) would be faster, or take much less memory.
    pub(crate) fn is_crowded(&self) -> bool {
        let lanes = self.places();
        let by_values = self.symbols.values.are_crowded()
            && self.symbols.values.len() > 4 * self.symbols.lanes.len();
        by_values || lanes > self.most_places && self.decoded < LINES_PER_PLACE * lanes as u64
    }

    /// Number of lanes and ends of links that it knows.
    fn places(&self) -> usize {
        self.symbols.lanes.len() + self.symbols.link_ends.len()
    }

    /// A decoder for this one's place, and with its memory, that knows nothing, but what values have been
    /// like; and that there had been so many lanes before that it learned again.
    pub(crate) fn successor(&mut self, options: &Options, again: usize) -> Self {
        // Lanes that come up again and again are not worth forgetting: do it less and less.
        let most_places = match 2 * again > self.symbols.lanes.len() {
            true => self.most_places.saturating_mul(4),
            false => self.most_places,
        };
        let values = self.symbols.values.successors(self.decoded);
        let cleared = |table: &mut SymbolTable| {
            table.clear();
            std::mem::take(table)
        };
        self.symbols.lanes.clear();
        let mut next = Decoder::new(options, self.known.spread, self.asked.follows);
        next.symbols = Symbols {
            values,
            types: cleared(&mut self.symbols.types),
            lanes: std::mem::take(&mut self.symbols.lanes),
            link_ends: cleared(&mut self.symbols.link_ends),
        };
        self.known.by_pair.clear();
        next.known.by_pair = std::mem::take(&mut self.known.by_pair);
        next.grouping.unsorted = std::mem::take(&mut self.grouping.unsorted);
        next.most_places = most_places;
        next
    }
}
