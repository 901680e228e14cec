use crate::decode::Decoder;
use crate::decode::decoded::{Decoded, NO_STRAND, OrderedItem, STRUCTURAL, StrandSymbol, WORDLESS};

impl Decoder {
    #[inline]
    pub(super) fn follow(&mut self, start: u32, whose: StrandSymbol) {
        if self.config.follows {
            self.strandless.push((start, whose));
        }
    }

    pub(super) fn follow_strandless(&mut self, start: u32, decoded: &Decoded) {
        let structural = matches!(decoded.ordered.last(), Some((line, OrderedItem::Structural(_))) if *line == start);
        self.follow(start, if structural { STRUCTURAL } else { WORDLESS });
    }

    /// Lists the owners of the block's lines in file order, for a ledger. `lines` is the number of lines with words.
    pub(super) fn list_lines(&mut self, lines: usize, decoded: &mut Decoded) {
        // Most lines are in order already, so sorting only merges them.
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
