//! Steps and edges as they come in an order that the edges allow, for sweeps.

use super::{Edges, NONE, TAKEN};

/// The schedule of a run: which line completes its next step, again and again, and what that waits for.
///
/// A step is called by its *slot* here, which says when it begins: the first step of each line has the line's number, and
/// a step that follows another, the number of lines and the place at which the one before it is complete. So a sweep
/// goes through all that is kept by slot, or by place, from the begin to the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// Line that completes its next step, by place.
    pub(super) sequence: Vec<u32>,
    /// By step.
    pub(super) slot: Vec<u32>,
    /// First edge of the step completed at each place.
    first: Vec<u32>,
    /// Slots of the steps that delay it, with [`TAKEN`].
    from: Vec<u32>,
    /// Number of edges that begin at each slot.
    pub(super) uses: Vec<u32>,
}

impl Schedule {
    /// Builds the schedule of lines with these first steps, in this sequence.
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

    /// Returns the slots of the steps that delay the step completed at a place.
    pub(super) fn edges(&self, place: usize) -> &[u32] {
        &self.from[self.first[place] as usize..self.first[place + 1] as usize]
    }

    /// Returns the line of the step with a slot.
    pub(super) fn line(&self, slot: u32, lines: usize) -> usize {
        match (slot as usize).checked_sub(lines) {
            Some(place) => self.sequence[place] as usize,
            None => slot as usize,
        }
    }
}
