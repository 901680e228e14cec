//! Steps and edges in a topological order, for sweeps.

use super::{Edges, NONE, TAKEN};

/// Schedule of a run. At each place of the order, a line completes a step. The schedule has this
/// line and the steps that delay this step.
///
/// A *slot* identifies a step by the place at which it begins. For the first step of a line, the
/// slot is the line's number. For any other step, it is the number of lines plus the place at which
/// the preceding step completes. A sweep therefore reads arrays indexed by slot or place from start
/// to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// For each position in the order, the line whose next step is completed there.
    pub(super) sequence: Vec<u32>,
    pub(super) slot: Vec<u32>,
    /// For each place, the index of the first edge that delays the step completed there.
    first: Vec<u32>,
    /// For each edge, the slot of the step that causes the delay, perhaps with the flag [`TAKEN`].
    from: Vec<u32>,
    /// Number of edges that start at each slot.
    pub(super) uses: Vec<u32>,
}

impl Schedule {
    pub(super) fn new(lines: &[u32], edges: &Edges, sequence: Vec<u32>) -> Self {
        let count = lines.len() - 1;
        let mut slot = vec![0; sequence.len()];
        let mut at = lines[..count].to_vec();
        for (line, (first, end)) in lines.iter().zip(&lines[1..]).enumerate() {
            if first < end {
                slot[*first as usize] = line as u32;
            }
        }
        for (place, line) in sequence.iter().enumerate() {
            let line = *line as usize;
            at[line] += 1;
            if at[line] < lines[line + 1] {
                slot[at[line] as usize] = (count + place) as u32;
            }
        }
        at.copy_from_slice(&lines[..count]);
        let mut first = Vec::with_capacity(sequence.len() + 1);
        let mut from = Vec::with_capacity(edges.from.len());
        let mut uses = vec![0; count + sequence.len()];
        for line in &sequence {
            first.push(from.len() as u32);
            let step = &mut at[*line as usize];
            for edge in edges.from[edges.to(*step as usize)].iter().filter(|edge| **edge != NONE) {
                let slot = slot[(edge & !TAKEN) as usize];
                uses[slot as usize] += 1;
                from.push(slot | edge & TAKEN);
            }
            *step += 1;
        }
        first.push(from.len() as u32);
        Schedule { sequence, slot, first, from, uses }
    }

    /// Returns the edges that delay the step completed at a place.
    pub(super) fn edges(&self, place: usize) -> &[u32] {
        &self.from[self.first[place] as usize..self.first[place + 1] as usize]
    }

    pub(super) fn line(&self, slot: u32, lines: usize) -> usize {
        match (slot as usize).checked_sub(lines) {
            Some(place) => self.sequence[place] as usize,
            None => slot as usize,
        }
    }
}
