//! Prefetching of lanes that are read one after the other. Where lanes are many, each step from a lane to its rows is
//! a cache miss; independent loads overlap.

use std::hint::black_box;
use std::ops::Range;

use paje_parser::TypeNature;

use crate::memory::{Chunk, StateChunk};
use crate::trace::Trace;
use crate::trace::lane::LaneView;
use crate::trace::walk::Step;

/// Fewest lanes that are prefetched: fewer stay in a core's second-level cache. Low with debug assertions, so that
/// tests cover this.
const MANY: usize = if cfg!(debug_assertions) { 4 } else { 10_000 };

/// Most objects of a chunk that is prefetched: larger ones are read sequentially.
const SMALL: usize = 64;

/// Words of a cache line.
const CACHE_LINE: usize = 8;

impl Trace {
    /// Looks up the lanes of some steps of a walk; `lanes` gets one entry for each step.
    pub fn lanes_at<'t>(&'t self, steps: &[Step], lanes: &mut Vec<Option<LaneView<'t>>>) {
        let owner = |step: &Step| match *step {
            Step::Container(_) => None,
            Step::Type(container, type_) => Some((container, type_)),
        };
        let is_far = self.model.lanes.len() > MANY;
        if is_far {
            let containers = steps.iter().filter_map(owner).map(|(container, _)| container);
            self.model.expect(std::iter::empty(), containers);
        }
        lanes.clear();
        let lane = |(container, type_)| self.lane(container, type_);
        lanes.extend(steps.iter().map(|step| owner(step).and_then(lane)));
        if is_far {
            let rows = || lanes.iter().flatten().map(|lane| self.rows.rows(lane.id));
            black_box(rows().fold(0, |all, rows| all ^ usize::from(rows.is_empty())));
            let looks = lanes.iter().flatten().map(|lane| lane.len());
            black_box(looks.fold(0, |all, len| all ^ len));
        }
    }

    /// Prefetches the objects in some chunks of these lanes.
    pub fn prefetch<'t>(&self, lanes: impl Iterator<Item = (LaneView<'t>, Range<usize>)>) {
        if self.model.lanes.len() <= MANY {
            return;
        }
        let looks = lanes.map(|(lane, range)| {
            let (arena, nature) = (lane.arena(), lane.nature());
            let chunks = self.rows.rows(lane.id).chunks_from(arena, range.start).take(range.len());
            let chunks = chunks.filter(|chunk| chunk.size() <= SMALL);
            let looks = chunks.map(|chunk| {
                let words = arena.words(chunk.place, 0, words(nature, &chunk));
                words.iter().step_by(CACHE_LINE).fold(0, |all, word| all ^ word)
            });
            looks.fold(0, |all, look| all ^ look)
        });
        black_box(looks.fold(0, |all, look| all ^ look));
    }
}

/// Returns the number of words of a chunk's columns, without those that only links have and user-defined fields.
fn words(nature: TypeNature, chunk: &Chunk) -> usize {
    let size = chunk.size();
    match nature {
        TypeNature::State | TypeNature::Container | TypeNature::Link => {
            StateChunk::words(size, chunk.width, false)
        }
        TypeNature::Variable => 2 * size,
        TypeNature::Event => size + chunk.width.words(size),
    }
}
