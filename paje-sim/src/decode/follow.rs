//! Whose each line of a block is, for who wants to know.

use crate::decode::Decoder;
use crate::decode::decoded::{Decoded, NO_STRAND, OrderedItem, STRUCTURAL, StrandSymbol, WORDLESS};

impl Decoder {
    /// Takes note of a line that is no strand's.
    #[inline]
    pub(super) fn follow(&mut self, start: u32, whose: StrandSymbol) {
        if self.config.follows {
            self.strandless.push((start, whose));
        }
    }

    /// The same, after a line without an event of a strand has been decoded.
    pub(super) fn follow_strandless(&mut self, start: u32, decoded: &Decoded) {
        let structural = matches!(decoded.ordered.last(), Some((line, OrderedItem::Structural(_))) if *line == start);
        self.follow(start, if structural { STRUCTURAL } else { WORDLESS });
    }

    /// Lists the block's lines in file order; so many of them have words.
    pub(super) fn list_lines(&mut self, lines: usize, decoded: &mut Decoded) {
        // In order already but for what was decoded line by line, so that this merges.
        self.strandless.sort_by_key(|(start, _)| *start);
        let mut strandless = self.strandless.drain(..).peekable();
        let list = &mut decoded.lines_of;
        for (strand, event) in &self.grouping.unsorted[..lines] {
            if *strand == NO_STRAND {
                continue;
            }
            while let Some(line) = strandless.next_if(|(start, _)| *start < event.at) {
                list.push(line);
            }
            list.push((event.at, *strand));
        }
        list.extend(strandless);
    }
}
