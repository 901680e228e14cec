//! Places of links whose keys may have been used before, found while the text is at hand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use memchr::memchr_iter;
use paje_parser::FieldName;
use splitter::LaterLine;

use crate::decode::block::{BoxedBlock, DecodedBlock};
use crate::names::error::Place;
use crate::problems::found::{Where, key_place, place};
use crate::replay::lanes::{Lanes, SuspectId};

/// Suspects of a wave, block by block, for all workers.
#[derive(Debug)]
pub(crate) struct Suspects {
    of_blocks: Vec<OfBlock>,
    /// The next block that nobody has taken on.
    next: AtomicUsize,
}

/// The suspects of a block, and their places once they are found.
#[derive(Debug)]
struct OfBlock {
    index: usize,
    suspects: Vec<(u64, SuspectId)>,
    places: Mutex<Vec<(Place, Option<LaterLine>)>>,
}

impl Suspects {
    /// Those of a wave that has been replayed.
    pub(crate) fn of(lanes: &Lanes, blocks: &[BoxedBlock]) -> Self {
        let all = lanes.take_suspects();
        let mut rest = &all[..];
        let of_blocks = blocks.iter().enumerate().filter_map(|(index, block)| {
            let end = block.text.start().0 + block.text.text_len() as u64;
            let suspects = rest.split_off(..rest.partition_point(|(at, _)| *at < end))?;
            let suspects = suspects.to_vec();
            (!suspects.is_empty()).then(|| OfBlock { index, suspects, places: Mutex::default() })
        });
        Suspects { of_blocks: of_blocks.collect(), next: AtomicUsize::new(0) }
    }

    /// Finds the places in the next block that no worker has taken; returns false if none is left.
    pub(crate) fn place_next(&self, blocks: &[BoxedBlock]) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(of_block) = self.of_blocks.get(number) else { return false };
        let places = places(&blocks[of_block.index], &of_block.suspects);
        *of_block.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        true
    }

    /// Tells the suspects' lanes where they are.
    pub(crate) fn tell(self, lanes: &mut Lanes) {
        for OfBlock { suspects, places, .. } in self.of_blocks {
            let places = places.into_inner().unwrap_or_else(PoisonError::into_inner);
            for ((_, suspect), place) in suspects.into_iter().zip(places) {
                lanes.place_suspect(suspect, place);
            }
        }
    }
}

fn places(block: &DecodedBlock, suspects: &[(u64, SuspectId)]) -> Vec<(Place, Option<LaterLine>)> {
    let (mut counted, mut lines) = (0, block.lines_before + 1);
    let places = suspects.iter().map(|(at, _)| {
        let line = (at - block.text.start().0) as usize;
        if let Some(later) = block.text.later(line as u32) {
            return (key_place(block, line as u32), Some(later));
        }
        let between = &block.text.text()[counted..line];
        lines += memchr_iter(b'\n', between).count() as u64;
        counted = line;
        (place(block, line as u32, Where::Field(FieldName::Key), lines), None)
    });
    places.collect()
}
