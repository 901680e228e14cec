//! Looks at what decoding a block will look at, for who times it and has done the work of other workers since.

use super::Decoder;
use super::block::DecodedBlock;

impl Decoder {
    /// Looks at the tables by which short lines are looked up, at the buffer of their events, and at the buffers of the block that comes: then
    /// they are near, whatever was done since this decoder's last block.
    pub(crate) fn bring_near(&self, block: &DecodedBlock) {
        let Decoder { symbols, known, grouping, .. } = self;
        let (line_names, link_line_names) = known.all_line_names();
        let tables = line_names.look_at_all()
            ^ link_line_names.look_at_all()
            ^ known.by_pair.look_at_all()
            ^ symbols.link_ends.look_at_all()
            ^ symbols.values.look_at_all();
        let unsorted = grouping.unsorted.iter().fold(0, |all, (_, event)| all ^ event.argument);
        let events = block.decoded.events.iter().fold(0, |all, event| all ^ event.argument);
        let text = block.text.at_hand().iter().step_by(64).fold(0, |all, byte| all ^ byte);
        std::hint::black_box((tables, unsorted, events, text));
    }
}
