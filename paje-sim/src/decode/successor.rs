//! Decoders that know too much, and those that take their place.

use std::sync::Arc;

use crate::decode::context::split_lane_context;
use crate::decode::decoded::StrandSymbol;
use crate::decode::known::KnownLanes;
use crate::decode::shared::{SharedLanes, plain_pair};
use crate::decode::symbols::{Symbol, SymbolTable};
use crate::decode::values::Met;
use crate::decode::{Decoder, Symbols};
use crate::model::Model;
use crate::names::ids::TypeId;
use crate::names::options::Options;

/// From so many lanes and ends of links on, they are looked at: those of most traces are fewer. With debug assertions,
/// few, so that all tests come by here.
pub(super) const MOST_PLACES: usize = if cfg!(debug_assertions) { 4 } else { 1 << 14 };

/// With fewer lines than this for each lane or end, these are taken for fleeting: a trace that has a
/// container for each task names each of them a few times, and then never again.
const LINES_PER_PLACE: u64 = 4;

/// Lanes that are looked for side by side.
const TOGETHER: usize = 64;

impl Decoder {
    /// True if so many values or lanes have come up, most of them once it seems, that a
    /// [successor](Decoder::successor) would be faster, or take much less memory.
    pub(crate) fn is_crowded(&self, met: &Met) -> bool {
        let lanes = self.places();
        let by_values = self.symbols.values.are_crowded(met)
            && met.news.max(self.values() as u64) > 4 * self.symbols.lanes.len() as u64;
        by_values || lanes > self.most_places && self.decoded < LINES_PER_PLACE * lanes as u64
    }

    /// Number of values that it knows, or has noted.
    pub(crate) fn values(&self) -> usize {
        self.symbols.values.len()
    }

    /// New values of its last blocks, if it seems that there will be more.
    pub(crate) const fn news(&self) -> u64 {
        self.symbols.values.news()
    }

    /// Number of lanes and ends of links that it knows.
    fn places(&self) -> usize {
        self.symbols.lanes.len() + self.symbols.link_ends.len()
    }

    /// True if its lanes had better be shared: they are many, and were there `again` that often before it met them.
    pub(crate) fn has_lanes_to_share(&self, again: usize) -> bool {
        let lanes = self.own_lanes();
        // A decoder that begins again learns anew what is not shared.
        let most = self.most_places.max(self.known.shared.len() / 8);
        if lanes <= most || !self.asked.may_share() {
            return false;
        }
        let come_again = 2 * again > lanes
            || self.known.shared_events > lanes as u64
            || self.decoded >= LINES_PER_PLACE * lanes as u64;
        come_again && 2 * self.known.by_pair.len() > lanes
    }

    /// Number of lanes that only it knows.
    pub(crate) fn own_lanes(&self) -> usize {
        self.symbols.lanes.len()
    }

    /// The first strand that only it knows.
    pub(crate) const fn first_own(&self) -> StrandSymbol {
        self.known.first_own
    }

    /// Lets go of what is shared, so that it can be changed.
    pub(crate) fn let_go_of_shared(&mut self) {
        self.known.shared = Arc::default();
    }

    /// Shares its lanes; `strands` are the numbers of their strands in their shards, as far as they have been resolved.
    /// Returns how many are shared now.
    pub(crate) fn share(&self, shared: &mut SharedLanes, strands: &[u32], model: &Model) -> usize {
        let mut types = vec![None::<Option<TypeId>>; self.symbols.types.len()];
        let mut known = 0;
        let mut pairs = Vec::with_capacity(TOGETHER);
        let count = self.symbols.lanes.len();
        for first in (0..count).step_by(TOGETHER) {
            let together = first as Symbol..count.min(first + TOGETHER) as Symbol;
            pairs.clear();
            pairs.extend(together.filter_map(|lane| {
                let type_ = self.known.lanes[lane as usize].type_;
                let pair = self.known.plain_pair(lane).or_else(|| {
                    let (container, context) = self.symbols.lanes.get(lane);
                    let (_, nature) = split_lane_context(context);
                    plain_pair(self.symbols.types.get(type_).0.text, container.text, nature)
                });
                Some((lane, type_, pair?))
            }));
            // Each is somewhere in memory that nothing has looked at for long: they are fetched side by side.
            let looks = pairs.iter().map(|(_, _, pair)| shared.by_pair().look(pair.0));
            std::hint::black_box(looks.fold(0, |all, look| all ^ look));
            for (lane, symbol, pair) in &pairs {
                if shared.by_pair().find(pair.0, pair.1).is_some() {
                    known += 1;
                    continue;
                }
                let name = self.symbols.types.get(*symbol).0.text;
                let type_ = types[*symbol as usize].get_or_insert_with(|| model.types.find(name));
                let first = self.known.lanes[*lane as usize].strand - self.known.first_own;
                let shards = self.shards_of(*lane);
                let numbers = strands.get(first as usize..first as usize + shards.len());
                if let (Some(type_), Some(numbers)) = (*type_, numbers) {
                    known += usize::from(shared.add(*pair, type_, shards, numbers));
                }
            }
        }
        known
    }

    /// A decoder for this one's place, and with its memory, that knows nothing but the lanes that are shared, and what
    /// values have been like. If the lanes that it forgets come up `again` and again, that is to be done less and less.
    pub(crate) fn successor(
        &mut self,
        options: &Options,
        (again, met): (bool, &Met),
        shared: &Arc<SharedLanes>,
    ) -> Self {
        let most_places = match again {
            true => self.most_places.saturating_mul(4),
            false => self.most_places,
        };
        let values = self.symbols.values.successors(self.decoded, met);
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
        next.known = KnownLanes::after(&mut self.known, shared);
        next.grouping.unsorted = std::mem::take(&mut self.grouping.unsorted);
        next.most_places = most_places;
        next
    }
}
