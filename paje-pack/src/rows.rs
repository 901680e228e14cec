//! The rows of a segment, for who adds them up while it is packed.

use hashbrown::HashMap;
use paje_parser::Field;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::passage::{Kept, LaneName};
use crate::texts::{fold, hash};

/// States and links of a segment, as far as its lines tell them without those before: a row for each that ends here.
///
/// Lines that do what one before them did are told by numbers alone. Whatever is new about a line, it is among the lines that
/// [`Borders::sample`](crate::Borders::sample) gives, so that a replay of these knows the names, and is asked whether they make sense.
#[derive(Debug, Default)]
pub struct Rows {
    /// All lanes that lines of the segment are of, links' too.
    pub lanes: Vec<Lane>,
    /// Values of types of states: the type's name, and the value as it is written.
    pub values: Vec<LaneName<Kept>>,
    /// Numbers of a lane and of a value, together; or [`NO_CELL`] for both, of what begins in a state from before the segment.
    pub cells: Vec<(u32, u32)>,
    /// States that begin and end here, in the order of their ends, of all lanes.
    pub states: Vec<StateRow>,
    /// Ends of links that are alike.
    pub ends: Vec<LinkEnd>,
    /// Links in the order of their second lines.
    pub links: Vec<LinkRow>,
    /// Ends of links whose other one is elsewhere, in the order of their lines.
    pub halves: Vec<HalfLink>,
    /// A hash for each link that has both ends here, its lane's name included.
    pub keys: Vec<u64>,
    /// Names of the user-defined fields that lines of links have.
    pub link_fields: Vec<Kept>,
    /// Lanes with events that are not all among the samples: their values, none of them in quotes, may be others.
    pub lanes_of_events: Vec<u32>,
    /// Containers that the segment destroys, as its lines name them.
    pub ended: Vec<Kept>,
    /// Its latest time.
    pub latest: f64,
    /// Number of its lines that end, as a replay counts them.
    pub lines: u64,
    /// Number of those that are events.
    pub events: u64,
}

/// A lane that has lines in a segment.
#[derive(Debug)]
pub struct Lane {
    /// As lines name it.
    pub container: Kept,
    /// As lines name it.
    pub type_: Kept,
    /// Times of its first line and of its last; of links, nothing and the latest.
    pub first: f64,
    #[allow(missing_docs)]
    pub last: f64,
    /// Ends of states from before the segment, in order.
    pub endings: Vec<Ending>,
    /// Cell of what began in states from before that are still open, behind these; or [`NO_CELL`].
    pub around: u32,
    /// Beginnings and cells of states that are still open, from the bottom up.
    pub open: Vec<(f64, u32)>,
}

/// Number of no cell.
pub const NO_CELL: u32 = u32::MAX;

/// End of states that began before the segment: of the one on top, or of all.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// All of them end.
    pub all: bool,
    /// In seconds.
    pub end: f64,
    /// Cell of what began directly in the one on top, until then; or [`NO_CELL`].
    pub inner: u32,
}

/// A state that begins and ends in the segment.
#[derive(Clone, Copy, Debug)]
pub struct StateRow {
    /// Its lane and value.
    pub cell: u32,
    /// Cell of the state that it is directly in, or [`NO_CELL`].
    pub around: u32,
    /// In seconds.
    pub start: f64,
    /// In seconds.
    pub end: f64,
}

/// No time of a segment with rows is so late: so their sums may be taken in any order, and subtracted.
pub(crate) const FAR: f64 = (1_u64 << 40) as f64;

/// Ends of links that are alike.
#[derive(Debug, PartialEq, Eq, Hash, Clone)]
pub struct LinkEnd {
    /// Lane of the link.
    pub lane: u32,
    /// They are starts.
    pub is_start: bool,
    /// The container where the link starts or ends, as lines name it.
    pub container: Kept,
    /// The link's value, as it is written.
    pub value: Kept,
}

impl LinkEnd {
    /// The link's value without quotes.
    #[must_use]
    pub fn bare_value(&self) -> &[u8] {
        Field::new(&self.value).bare()
    }
}

/// A link of which both ends are in the segment: numbers of these, and their times in seconds.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct LinkRow {
    pub from: u32,
    pub to: u32,
    pub start: f64,
    pub end: f64,
}

/// One end of a link.
#[derive(Debug)]
pub struct HalfLink {
    /// Its number among [`Rows::ends`].
    pub end: u32,
    /// In seconds.
    pub time: f64,
    /// Its key, without quotes, and the hash of it that [`Rows::keys`] would have.
    pub key: Kept,
    #[allow(missing_docs)]
    pub hash: u64,
}

/// Recorder of the rows of a segment, while its lines are looked at.
#[derive(Default)]
pub(crate) struct Recorder {
    rows: Rows,
    values: FxHashMap<LaneName<Kept>, u32>,
    cells: FxHashMap<(u32, u32), u32>,
    ends: HashMap<LinkEnd, u32, FxBuildHasher>,
    /// For each end, a number of its value without quotes.
    bare: Vec<u32>,
    bare_values: FxHashMap<Kept, u32>,
    /// For each lane, part of the hash of its keys, once it is known.
    salts: Vec<u64>,
    /// Number of lines that are no events.
    others: u64,
}

impl Recorder {
    /// One with room for the rows of so many lines, of which so many are of links.
    pub(crate) fn new(lines: usize, links: usize) -> Self {
        let mut rows = Rows::default();
        rows.states.reserve(lines.saturating_sub(links) / 2);
        rows.links.reserve(links / 2);
        rows.keys.reserve(links / 2);
        Recorder { rows, ..Recorder::default() }
    }

    /// A line is of a lane; none if its container has ended.
    pub(crate) fn lane(&mut self, lane: u32, container: &[u8], type_: &[u8]) -> Option<()> {
        self.living(container)?;
        let lane = lane as usize;
        if self.salts.len() <= lane {
            self.salts.resize(lane + 1, 0);
        }
        self.salts[lane] = fold(hash(container), hash(type_));
        Some(())
    }

    /// No event of a lane has been a sample.
    pub(crate) fn is_first_event(&mut self, lane: u32) -> bool {
        let is_first = !self.rows.lanes_of_events.contains(&lane);
        if is_first {
            self.rows.lanes_of_events.push(lane);
        }
        is_first
    }

    fn living(&self, container: &[u8]) -> Option<()> {
        (!self.rows.ended.iter().any(|ended| **ended == *container)).then_some(())
    }

    /// A container ends.
    pub(crate) fn end(&mut self, container: &[u8]) {
        self.rows.ended.push(container.into());
    }

    /// The number of a value in a lane of a type.
    pub(crate) fn cell(&mut self, lane: u32, type_: &[u8], value: &[u8]) -> u32 {
        let name = (type_.into(), value.into());
        let next = self.rows.values.len() as u32;
        let value = *self.values.entry(name).or_insert_with_key(|name| {
            self.rows.values.push(name.clone());
            next
        });
        let next = self.rows.cells.len() as u32;
        *self.cells.entry((lane, value)).or_insert_with(|| {
            self.rows.cells.push((lane, value));
            next
        })
    }

    /// A cell for what begins in a state of which no more is known.
    pub(crate) fn cell_around(&mut self) -> u32 {
        self.rows.cells.push((NO_CELL, NO_CELL));
        self.rows.cells.len() as u32 - 1
    }

    /// The number of ends of links that are like this one; none if its container has ended.
    pub(crate) fn link_end(
        &mut self,
        end: LinkEnd,
        fields: impl Iterator<Item = Kept>,
    ) -> Option<u32> {
        self.living(&end.container)?;
        let next = self.rows.ends.len() as u32;
        let rows = &mut self.rows;
        let (bare, values) = (&mut self.bare, &mut self.bare_values);
        Some(*self.ends.entry(end).or_insert_with_key(|end| {
            rows.ends.push(end.clone());
            rows.link_fields.extend(fields);
            let next_value = values.len() as u32;
            bare.push(*values.entry(end.bare_value().into()).or_insert(next_value));
            next
        }))
    }

    /// A line that is no event.
    pub(crate) fn other(&mut self) {
        self.others += 1;
    }

    /// A state has ended.
    #[inline]
    pub(crate) fn state(&mut self, state: StateRow) {
        self.rows.states.push(state);
    }

    /// Number of the value of an end, without quotes.
    pub(crate) fn bare(&self, end: u32) -> u32 {
        self.bare[end as usize]
    }

    /// Two ends of a link in a lane, whose values are the same, and whose key has this hash.
    #[inline]
    pub(crate) fn link(
        &mut self,
        ((from, start), (to, end)): ((u32, f64), (u32, f64)),
        lane: u32,
        of_key: u64,
    ) {
        self.rows.links.push(LinkRow { from, to, start, end });
        self.rows.keys.push(hash_in(self.salts[lane as usize], of_key));
    }

    /// One end of a link whose other is elsewhere.
    pub(crate) fn half_link(&self, (end, time): (u32, f64), lane: u32, key: &[u8]) -> HalfLink {
        HalfLink { end, time, key: key.into(), hash: hash_in(self.salts[lane as usize], hash(key)) }
    }

    /// All that was seen.
    pub(crate) fn rows(
        self,
        lanes: Vec<Lane>,
        halves: Vec<HalfLink>,
        latest: f64,
        (lines, is_cut): (u64, bool),
    ) -> Rows {
        let events = lines - self.others;
        Rows { lanes, halves, latest, lines: lines - u64::from(is_cut), events, ..self.rows }
    }
}

/// The hash of a key whose own is this, with the part that its lane has.
#[inline]
const fn hash_in(salt: u64, of_key: u64) -> u64 {
    fold(of_key ^ salt, 0x9e37_79b9_7f4a_7c15)
}
