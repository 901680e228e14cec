//! Places of lines among all.

use std::ops::Range;

use super::definitions::Used;

/// Place of a line: one number, since lines are compared with one another more often than anything else is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u128);

impl Place {
    /// `not_before` is the line's time, or a later one before which it makes no sense. Of one time, `phase` has creations,
    /// then rows, then destructions; what is created in a container that is no more comes behind these, and so on. Of
    /// one time and phase, `rank` decides, if it matters.
    pub(super) fn new(not_before: f64, phase: u32, rank: u32) -> Self {
        // No minus zero: it would come before zero.
        let bits = (not_before + 0.0).to_bits();
        // In the order of the numbers: what is negative turned round and below.
        let time = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        Place(u128::from(time) << 64 | u128::from(phase) << 32 | u128::from(rank))
    }
}

/// Which lines are made at once: those with places from the first on, and before the second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    pub(super) from: Option<Place>,
    pub(super) until: Option<Place>,
}

impl Stretch {
    pub(super) fn has(&self, place: &Place) -> bool {
        self.from.is_none_or(|from| from <= *place) && self.until.is_none_or(|until| *place < until)
    }

    /// Parts of a stretch: these places, in order, cut it.
    pub(super) fn cut(self, bounds: &[Place]) -> Vec<Stretch> {
        let mut parts = Stretch::between(bounds);
        if let Some(first) = parts.first_mut() {
            first.from = self.from;
        }
        if let Some(last) = parts.last_mut() {
            last.until = self.until;
        }
        parts
    }

    /// The stretches that these places, in order, cut time into.
    pub(super) fn between(bounds: &[Place]) -> Vec<Stretch> {
        let from = std::iter::once(None).chain(bounds.iter().copied().map(Some));
        let until = bounds.iter().copied().map(Some).chain([None]);
        from.zip(until).map(|(from, until)| Stretch { from, until }).collect()
    }
}

/// Every so many places, one is kept to tell how they are spread.
const SAMPLED: usize = 256;

/// Places that cut lines into stretches of about `lines` each, told by samples of places. Those of one place stay together,
/// however many there are.
pub(super) fn bounds(all: &[Written], lines: u64) -> Vec<Place> {
    let mut samples: Vec<Place> = all.iter().flat_map(Written::samples).collect();
    samples.sort_unstable();
    let step = (lines / SAMPLED as u64).max(1) as usize;
    let mut bounds: Vec<Place> = samples.into_iter().skip(step).step_by(step).collect();
    bounds.dedup();
    bounds
}

/// The lines of some lanes, each with its place.
#[derive(Debug, Default)]
pub(super) struct Written {
    places: Vec<(Place, u64)>,
    /// Of each line the number of its definition among `used`, as bytes; then the line without that.
    text: Vec<u8>,
    pub(super) used: Used,
    /// Places of lines, if nothing is kept but these: one of so many.
    samples: Option<Vec<Place>>,
    count: usize,
}

/// Bytes of the number of a definition.
const NUMBER: usize = size_of::<u32>();

impl Written {
    /// Nothing but which definitions are used, and how lines are spread.
    pub(super) fn sampled() -> Self {
        Written { samples: Some(Vec::new()), ..Written::default() }
    }

    /// Begins a line with the definition of this number; where it goes on, unless it is not wanted.
    pub(super) fn begin(
        &mut self,
        place: Place,
        def: u32,
        stretch: &Stretch,
    ) -> Option<&mut Vec<u8>> {
        if let Some(samples) = &mut self.samples {
            self.count += 1;
            if self.count.is_multiple_of(SAMPLED) {
                samples.push(place);
            }
            return None;
        }
        if !stretch.has(&place) {
            return None;
        }
        self.places.push((place, self.text.len() as u64));
        self.text.extend_from_slice(&def.to_ne_bytes());
        Some(&mut self.text)
    }

    /// The line that was begun.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Puts the lines in order; those of one place stay as they came.
    pub(super) fn sort(&mut self) {
        self.places.sort_by_key(|(place, _)| *place);
    }

    /// Places that were sampled, or samples of those here.
    fn samples(&self) -> impl Iterator<Item = Place> + '_ {
        let here = self.places.iter().skip(SAMPLED - 1).step_by(SAMPLED).map(|(place, _)| *place);
        here.chain(self.samples.iter().flatten().copied())
    }

    fn within(&self, stretch: &Stretch) -> Range<usize> {
        let before = |bound: Place| self.places.partition_point(|(place, _)| *place < bound);
        stretch.from.map_or(0, before)..stretch.until.map_or(self.places.len(), before)
    }

    fn line(&self, start: u64) -> (u32, &[u8]) {
        let (number, rest) = self.text[start as usize..].split_at(NUMBER);
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let number = number.try_into().map_or(0, u32::from_ne_bytes);
        (number, &rest[..end])
    }
}

/// The text of the lines of a stretch, of all that was written. `numbers` has the definitions' numbers in the file.
pub(super) fn merged(all: &[Written], numbers: &[Vec<Vec<u8>>], stretch: &Stretch) -> Vec<u8> {
    let mut lines: Vec<(Place, u32, u64)> = Vec::new();
    for (at, written) in all.iter().enumerate() {
        let some = &written.places[written.within(stretch)];
        lines.extend(some.iter().map(|(place, start)| (*place, at as u32, *start)));
    }
    // Runs that are in order already are merged.
    lines.sort_by_key(|(place, ..)| *place);
    let mut text = Vec::with_capacity(lines.len() * 48);
    for (_, at, start) in lines {
        let (number, line) = all[at as usize].line(start);
        text.extend_from_slice(&numbers[at as usize][number as usize]);
        text.extend_from_slice(line);
    }
    text
}
