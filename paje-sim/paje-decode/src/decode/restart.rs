//! Restarts of decoders whose tables are full of names that are hardly used again.

use crate::decode::Decoder;
use crate::decode::plan::Plans;
use crate::decode::usual::Batches;

/// A decoder with fewer lines than this per symbol meets most names only a few times, as in a trace
/// with a container for each task.
const LINES_PER_SYMBOL: u64 = 4;

/// A decoder with fewer lines than this per value keeps too many values: learning a value again every
/// few hundred lines costs less than a table that does not fit the caches.
const LINES_PER_VALUE: u64 = 256;

/// After this many restarts without interning values, values are interned again to see whether they now repeat.
const PROBES: u32 = 8;

impl Decoder {
    /// Returns whether the decoder knows many names that are hardly used again. Looking them up
    /// costs more than learning them again.
    pub fn is_crowded(&self) -> bool {
        let crowds = |names: usize, lines: u64| {
            names > self.most_symbols && self.decoded < lines * names as u64
        };
        crowds(self.symbols.len(), LINES_PER_SYMBOL)
            || crowds(self.symbols.values.len(), LINES_PER_VALUE)
    }

    /// Forgets all names and definitions, and keeps the memory. If the trace already knew most of the decoder's lanes
    /// (`known_before`), raises the limit on names. Otherwise, the decoder would forget recurring lanes again and
    /// again. If most names were values, stops interning values, as values do not repeat.
    pub fn restart(&mut self, known_before: usize) {
        if 2 * known_before > self.symbols.len() {
            self.most_symbols = self.most_symbols.saturating_mul(4);
        }
        self.symbols.unique_values = match self.symbols.unique_values {
            true => !self.unique_restarts.is_multiple_of(PROBES),
            false => self.is_crowded() && 2 * self.symbols.values.len() > self.symbols.len(),
        };
        self.unique_restarts =
            if self.symbols.unique_values { self.unique_restarts + 1 } else { 0 };
        self.symbols.clear();
        self.known.clear();
        let Plans { keeps_extras, needed, .. } = self.plans;
        self.plans = Plans { keeps_extras, needed, ..Plans::default() };
        self.waiting = Batches::default();
        self.decoded = 0;
    }
}
