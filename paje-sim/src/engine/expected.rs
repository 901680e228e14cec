//! Values that the lines of a wave name, looked up by all workers.

use std::sync::{Mutex, PoisonError};

use paje_workers::exclusive;

use super::Engine;
use super::round::Wave;
use crate::decode::Decoder;
use crate::model::value_names::{PARTS, ValueNamePart};
use crate::resolve::expected::ExpectedOfBlock;

/// With fewer notes than this in a wave, waking the workers would cost more than they do.
const MANY_NOTES: usize = 1000;

impl Engine<'_> {
    /// Looks up the values that the wave's blocks name, with all workers if there are several. Not where a trace is
    /// damaged: values may wait for their types there.
    pub(super) fn expect_values(&mut self, wave: &Wave) {
        let notes: usize = wave.blocks.iter().map(|block| block.decoded.noted.len()).sum();
        if self.findings.tally.is_some() || notes < MANY_NOTES || self.team.desks.len() == 1 {
            return;
        }
        let mut names = self.model.types.take_value_names();
        let desks = self.team.desks.iter_mut().map(exclusive);
        let decoders: Vec<&Decoder> = desks.map(|desk| &desk.decoder).collect();
        let of = |index: usize| (&*wave.blocks[index], decoders[wave.blocks[index].worker]);
        let (types, value_names) = (&self.model.types, self.job.options.value_names);
        let expected: Vec<ExpectedOfBlock> = self.job.workers.map(wave.blocks.len(), |index| {
            let (block, decoder) = of(index);
            ExpectedOfBlock::new(block, decoder, types)
        });
        // A part is always the same worker's, for it is near it.
        let team = decoders.len().min(PARTS);
        let mut shares: Vec<Vec<(usize, &mut ValueNamePart)>> = Vec::new();
        shares.resize_with(team, Vec::new);
        for (number, part) in names.parts_mut().enumerate() {
            shares[number % team].push((number, part));
        }
        let shares: Vec<Mutex<Vec<(usize, &mut ValueNamePart)>>> =
            shares.into_iter().map(Mutex::new).collect();
        self.job.workers.on_first(team, |worker| {
            let mut parts = shares[worker].lock().unwrap_or_else(PoisonError::into_inner);
            for (number, part) in parts.iter_mut() {
                for (index, expected) in expected.iter().enumerate() {
                    let (block, decoder) = of(index);
                    expected.expect((*number, part), block, decoder, value_names);
                }
            }
        });
        drop(shares);
        self.model.types.expect_values(names);
    }
}
