//! The rows of a segment, for who adds them up while it is packed.

use hashbrown::HashMap;
use paje_parser::{EventKind, Field};
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
    /// Numbers of a lane and of a value, together.
    pub cells: Vec<(u32, u32)>,
    /// States in the order of their ends, of all lanes.
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
    /// Beginnings and cells of states that are still open, from the bottom up.
    pub open: Vec<(f64, u32)>,
    /// States that were open before the segment are not any more.
    pub is_anew: bool,
}

impl Lane {
    /// Its next line; none if its time is not in order.
    #[inline]
    fn pass(&mut self, time: f64) -> Option<()> {
        let in_order = time >= self.last;
        if self.first == f64::INFINITY {
            self.first = time;
        }
        self.last = time;
        in_order.then_some(())
    }
}

/// A state that ends in the segment.
#[derive(Clone, Copy, Debug)]
pub struct StateRow {
    /// Its lane.
    pub lane: u32,
    /// Its lane and value; [`StateRow::BEFORE`] if it began before the segment, or [`StateRow::ALL`] for all that did.
    pub cell: u32,
    /// Number of states of its lane that it is in, not counting those from before.
    pub depth: u32,
    /// Its beginning in seconds, if it is here.
    pub start: f64,
    /// Its end in seconds.
    pub end: f64,
}

impl StateRow {
    /// The state on top of those that were open before the segment.
    pub const BEFORE: u32 = u32::MAX;
    /// All states that were open before the segment and still are.
    pub const ALL: u32 = u32::MAX - 1;
}

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

/// Recorder of the rows of a segment, while its lines go by.
#[derive(Default)]
pub(crate) struct Recorder {
    rows: Rows,
    values: FxHashMap<LaneName<Kept>, u32>,
    cells: FxHashMap<(u32, u32), u32>,
    ends: HashMap<LinkEnd, u32, FxBuildHasher>,
    /// Part of the hash of a lane's keys.
    salts: Vec<u64>,
    lanes: FxHashMap<LaneName<Kept>, u32>,
    /// Number of lines that are no events.
    others: u64,
}

impl Recorder {
    /// The number of a lane; none if its container has ended.
    pub(crate) fn lane(&mut self, container: &[u8], type_: &[u8]) -> Option<u32> {
        self.living(container)?;
        let next = self.rows.lanes.len() as u32;
        let name: LaneName<Kept> = (container.into(), type_.into());
        let rows = &mut self.rows;
        let salts = &mut self.salts;
        Some(*self.lanes.entry(name).or_insert_with_key(|(container, type_)| {
            salts.push(fold(hash(container), hash(type_)));
            let (container, type_) = (container.clone(), type_.clone());
            let (first, last) = (f64::INFINITY, 0.0);
            rows.lanes.push(Lane {
                container,
                type_,
                first,
                last,
                open: Vec::new(),
                is_anew: false,
            });
            next
        }))
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

    /// The number of a value in a lane.
    pub(crate) fn cell(&mut self, lane: u32, value: &[u8]) -> u32 {
        let name = (self.rows.lanes[lane as usize].type_.clone(), value.into());
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

    /// The number of ends of links that are like this one; none if its container has ended.
    pub(crate) fn link_end(
        &mut self,
        end: LinkEnd,
        fields: impl Iterator<Item = Kept>,
    ) -> Option<u32> {
        self.living(&end.container)?;
        let next = self.rows.ends.len() as u32;
        let rows = &mut self.rows;
        Some(*self.ends.entry(end).or_insert_with_key(|end| {
            rows.ends.push(end.clone());
            rows.link_fields.extend(fields);
            next
        }))
    }

    /// Ends that are like this one but for their value, which is this; none if none has come.
    #[inline]
    pub(crate) fn with_value(&mut self, end: u32, value: &[u8]) -> Option<u32> {
        let known = &self.rows.ends[end as usize];
        if *known.value == *value {
            return Some(end);
        }
        self.other_value(end, value)
    }

    fn other_value(&self, end: u32, value: &[u8]) -> Option<u32> {
        let known = LinkEnd { value: value.into(), ..self.rows.ends[end as usize].clone() };
        self.ends.get(&known).copied()
    }

    /// A line that is no event.
    pub(crate) fn other(&mut self) {
        self.others += 1;
    }

    /// A line of a lane; none if its time is not in order.
    #[inline]
    pub(crate) fn pass(&mut self, lane: u32, time: f64) -> Option<()> {
        self.rows.lanes[lane as usize].pass(time)
    }

    /// A line that changes a lane of states; none if that makes no sense.
    #[inline]
    pub(crate) fn state(
        &mut self,
        kind: EventKind,
        (number, cell): (u32, u32),
        time: f64,
    ) -> Option<()> {
        use EventKind as E;
        let Rows { lanes, states, .. } = &mut self.rows;
        let lane = &mut lanes[number as usize];
        lane.pass(time)?;
        match kind {
            E::PushState => lane.open.push((time, cell)),
            E::PopState => {
                let (cell, start) = match lane.open.pop() {
                    Some((start, cell)) => (cell, start),
                    None if lane.is_anew => return None,
                    None => (StateRow::BEFORE, time),
                };
                let depth = lane.open.len() as u32;
                states.push(StateRow { lane: number, cell, depth, start, end: time });
            }
            E::SetState | E::ResetState => {
                while let Some((start, cell)) = lane.open.pop() {
                    let depth = lane.open.len() as u32;
                    states.push(StateRow { lane: number, cell, depth, start, end: time });
                }
                if !lane.is_anew {
                    lane.is_anew = true;
                    let (cell, depth, start) = (StateRow::ALL, 0, time);
                    states.push(StateRow { lane: number, cell, depth, start, end: time });
                }
                if kind == E::SetState {
                    lane.open.push((time, cell));
                }
            }
            _ => {}
        }
        Some(())
    }

    /// A link of which this is the first line; none if there is no such time.
    #[inline]
    pub(crate) fn half(&mut self, end: (u32, f64)) -> Option<()> {
        self.note(end).map(|_| ())
    }

    /// The hash of a key whose own is this, in a lane.
    #[inline]
    fn hash(&self, lane: usize, of_key: u64) -> u64 {
        fold(of_key ^ self.salts[lane], 0x9e37_79b9_7f4a_7c15)
    }

    /// The lane of a link, which has an end at a time.
    #[inline]
    fn note(&mut self, (end, time): (u32, f64)) -> Option<usize> {
        let lane = self.rows.ends[end as usize].lane as usize;
        let last = &mut self.rows.lanes[lane].last;
        *last = last.max(time);
        (time >= 0.0).then_some(lane)
    }

    /// Two ends of a link; none if they are not those of one.
    #[inline]
    pub(crate) fn link(&mut self, one: (u32, f64), other: (u32, f64), of_key: u64) -> Option<()> {
        let lane = self.note(other)?;
        let hash = self.hash(lane, of_key);
        let ends = &self.rows.ends;
        let ((from, start), (to, end)) =
            if ends[one.0 as usize].is_start { (one, other) } else { (other, one) };
        let (first, second) = (&ends[from as usize], &ends[to as usize]);
        if !first.is_start || second.is_start || first.bare_value() != second.bare_value() {
            return None;
        }
        self.rows.links.push(LinkRow { from, to, start, end });
        self.rows.keys.push(hash);
        Some(())
    }

    /// One end of a link whose other is elsewhere.
    pub(crate) fn half_link(&self, (end, time): (u32, f64), key: &[u8]) -> HalfLink {
        let lane = self.rows.ends[end as usize].lane as usize;
        HalfLink { end, time, key: key.into(), hash: self.hash(lane, hash(key)) }
    }

    /// All that was seen.
    pub(crate) fn rows(
        self,
        halves: Vec<HalfLink>,
        latest: f64,
        (lines, is_cut): (u64, bool),
    ) -> Rows {
        let events = lines - self.others;
        Rows { halves, latest, lines: lines - u64::from(is_cut), events, ..self.rows }
    }
}
