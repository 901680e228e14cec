//! Values that the lines of a wave name, looked up by all workers.

use std::sync::{Mutex, PoisonError};

use workers::exclusive;

use super::Engine;
use super::round::Wave;
use crate::decode::Decoder;
use crate::model::value_names::ValueNamePart;
use crate::resolve::expected::expect_values;

/// With fewer notes than this in a wave, waking the workers would cost more than they do.
const MANY_NOTES: usize = 1000;

impl Engine<'_> {
    /// Looks up the values that the wave's blocks name, with all workers if there are several. Not where a trace is
    /// damaged: values may wait for their types there.
    pub(super) fn expect_values(&mut self, wave: &Wave) {
        let notes: usize = wave.blocks.iter().map(|block| block.decoded.noted.len()).sum();
        let team = self.team.desks.len();
        if self.findings.tally.is_some() || notes < MANY_NOTES || team == 1 {
            return;
        }
        let mut names = self.model.types.take_value_names();
        let desks = self.team.desks.iter_mut().map(exclusive);
        let decoders: Vec<&Decoder> = desks.map(|desk| &desk.decoder).collect();
        let mut shares: Vec<Vec<&mut ValueNamePart>> = (0..team).map(|_| Vec::new()).collect();
        for (number, part) in names.parts_mut().enumerate() {
            shares[number % team].push(part);
        }
        let shares: Vec<Mutex<Vec<&mut ValueNamePart>>> =
            shares.into_iter().map(Mutex::new).collect();
        let (types, value_names) = (&self.model.types, self.job.options.value_names);
        self.job.workers.on_first(team, |worker| {
            let mut parts = shares[worker].lock().unwrap_or_else(PoisonError::into_inner);
            let blocks = wave.blocks.iter().map(|block| (&**block, decoders[block.worker]));
            expect_values(blocks, types, value_names, &mut parts, (worker, team));
        });
        drop(shares);
        self.model.types.expect_values(names);
    }
}
