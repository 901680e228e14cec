//! Rows that are open where one segment ends and the next begins.
//!
//! Of a sound trace, some lines make a sound trace again if of each row there are both the line that opens it and the one that
//! closes it: its rows are those of the whole, with the same times, fields and imbrication, and so are those of the segments that it has.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::excerpt::put_excerpt;
use crate::format::{LARGEST_SUMMARY, put_number};
use crate::passage::{Change, Kept, LaneName, Latest, LinkKey, Numbered, Passage};

/// Entries of all borders, at most: of windows of traces that leave more open, all is read.
const MOST_OPEN: usize = 1 << 22;

/// Rows that a short trace may have in its sample if its borders are left out.
const MOST_ROWS: u64 = 1 << 12;

/// A row that crosses a border.
#[derive(Debug)]
struct Row {
    opener: Numbered,
    /// The line that closes it; none if its container's end does, or the trace's.
    closer: Option<Numbered>,
}

/// Number of a row.
type RowId = u32;

/// A lane, as far as rows are open in it.
#[derive(Debug, Default)]
struct Lane {
    open: Vec<RowId>,
    /// Number of the segment that changed it last.
    changed: usize,
}

/// Rows that are open at the borders between segments, while these go by in order.
#[derive(Debug, Default)]
pub struct Borders {
    /// First line, earliest and latest time of each segment.
    segments: Vec<(u64, f64, f64)>,
    lines: u64,
    /// The last line goes on in the next segment.
    is_cut: bool,
    fixed: Vec<Numbered>,
    fixed_bytes: usize,
    samples: Vec<Numbered>,
    latest: Latest,
    latest_time: Option<f64>,
    /// Names that have an alias, and those that lanes are known by.
    aliased: FxHashSet<Kept>,
    named: FxHashSet<Kept>,
    places: FxHashMap<LaneName<Kept>, usize>,
    lanes: Vec<Lane>,
    of_container: FxHashMap<Kept, Vec<usize>>,
    links: FxHashMap<LinkKey<Kept>, RowId>,
    rows: Vec<Row>,
    open: FxHashSet<RowId>,
    /// Rows that are open behind each segment.
    borders: Vec<Box<[RowId]>>,
    entries: usize,
    /// More is open at them than is kept.
    left_out: bool,
    failed: bool,
}

/// Contents of summaries.
pub(crate) struct Pages<B> {
    pub(crate) windows: Vec<u8>,
    pub(crate) borders: B,
}

impl Borders {
    /// Takes in the next segment; none if it cannot be read by itself, and then no other can.
    pub fn pass(&mut self, passage: Option<Passage>) {
        if self.failed {
            return;
        }
        let passed = passage.and_then(|passage| self.take(passage));
        if self.entries > MOST_OPEN {
            self.leave_out();
        }
        // A sample is kept in memory until the end, and one that has many lines is no better than all of them.
        let most = MOST_ROWS + self.lines / 64;
        let is_too_much = self.left_out && self.rows.len() as u64 > most;
        if passed.is_none() || is_too_much || self.fixed_bytes as u64 > LARGEST_SUMMARY {
            self.give_up();
        }
    }

    /// Leaving out of what is open at the borders; the sample still is kept.
    fn leave_out(&mut self) {
        (self.left_out, self.borders, self.entries) = (true, Vec::new(), 0);
    }

    fn give_up(&mut self) {
        *self = Borders { failed: true, ..Borders::default() };
    }

    /// No part of the trace can be read by itself: nothing more is to be looked for.
    #[must_use]
    pub const fn have_failed(&self) -> bool {
        self.failed
    }

    /// Leaves the borders out if so much is open there that what tells it takes more than so many bytes.
    pub fn fit_in(&mut self, bytes: u64) {
        // An entry has two lines and their numbers; packed, it still takes a byte.
        if self.entries as u64 > bytes {
            self.leave_out();
        }
    }

    /// They are left out: there is no more to them than a [sample](Self::sample).
    #[must_use]
    pub const fn are_left_out(&self) -> bool {
        self.left_out
    }

    fn take(&mut self, passage: Passage) -> Option<()> {
        if std::mem::replace(&mut self.is_cut, !passage.ends_with_newline) {
            return None;
        }
        let before = self.lines;
        let place = move |(number, line): Numbered| (before + number, line);
        let segment = self.segments.len() + 1;
        let (first, last) = passage.times;
        self.segments.push((before, first, last));
        self.lines += passage.lines;
        self.fixed_bytes += passage.fixed.iter().map(|(_, line)| line.len() + 1).sum::<usize>();
        self.fixed.extend(passage.fixed.into_iter().map(place));
        self.samples.extend(passage.samples.into_iter().map(place));
        self.aliased.extend(passage.aliased);
        let latest_here = first <= last && self.latest_time.is_none_or(|time| time <= last);
        if latest_here {
            let Latest { line, opener, wants_opener } = passage.latest;
            let (line, opener) = (line.map(place), opener.map(place));
            (self.latest, self.latest_time) = (Latest { line, opener, wants_opener }, Some(last));
        }
        for (name, change) in passage.lanes {
            let lane = self.lane(name);
            self.lanes[lane].changed = segment;
            let opens = self.change(lane, change, place)?;
            let set =
                self.lanes[lane].open.first().map(|row| self.rows[*row as usize].opener.clone());
            for opener in opens {
                let opener = place(opener);
                if self.latest.is(opener.0) && self.latest.opener.is_none() {
                    self.latest.opener.clone_from(&set);
                }
                let row = self.open(opener)?;
                self.lanes[lane].open.push(row);
            }
        }
        for container in passage.ended {
            for lane in self.of_container.get(&container).into_iter().flatten() {
                let lane = &mut self.lanes[*lane];
                if lane.changed < segment {
                    for row in lane.open.drain(..) {
                        self.open.remove(&row);
                    }
                }
            }
        }
        for (key, end) in passage.links {
            let (lane, _) = &key;
            for name in [&lane.0, &lane.1] {
                if !self.named.contains(name) {
                    self.named.insert(name.clone());
                }
            }
            match self.links.remove(&key) {
                Some(row) => self.close(row, place(end)),
                None => {
                    let row = self.open(place(end))?;
                    self.links.insert(key, row);
                }
            }
        }
        if !self.left_out {
            self.entries += self.open.len();
            self.borders.push(self.open.iter().copied().collect());
        }
        Some(())
    }

    fn lane(&mut self, name: LaneName<Kept>) -> usize {
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        let place = self.lanes.len();
        self.lanes.push(Lane::default());
        let (container, type_) = name.clone();
        self.named.insert(container.clone());
        self.named.insert(type_);
        self.of_container.entry(container).or_default().push(place);
        self.places.insert(name, place);
        place
    }

    /// Closes what a segment closes in a lane; the lines that open something there.
    fn change(
        &mut self,
        lane: usize,
        change: Change,
        place: impl Fn(Numbered) -> Numbered,
    ) -> Option<Vec<Numbered>> {
        // A value that is added to goes on to be needed, for the sum.
        if let (Some(line), Some(row)) = (change.adds, self.lanes[lane].open.last()) {
            self.rows[*row as usize].closer.get_or_insert(place(line));
        }
        for line in change.pops {
            let row = self.lanes[lane].open.pop()?;
            self.close(row, place(line));
        }
        if change.ends_all.is_some() || change.gone {
            let line = change.ends_all.map(place);
            for row in std::mem::take(&mut self.lanes[lane].open) {
                match &line {
                    Some(line) => self.close(row, line.clone()),
                    None => drop(self.open.remove(&row)),
                }
            }
        }
        Some(change.opens)
    }

    fn open(&mut self, opener: Numbered) -> Option<RowId> {
        let row = RowId::try_from(self.rows.len()).ok()?;
        self.rows.push(Row { opener, closer: None });
        self.open.insert(row);
        Some(row)
    }

    fn close(&mut self, row: RowId, line: Numbered) {
        self.open.remove(&row);
        let closed = &mut self.rows[row as usize];
        if self.latest.is(line.0) {
            self.latest.opener = Some(closed.opener.clone());
        }
        closed.closer.get_or_insert(line);
    }

    /// A trace of some of the lines: all definitions and containers, those that cross borders, and those that segments have
    /// as [samples](crate::Rows), with what they cannot do without. It is sound if the whole is, and if all rows make sense, not otherwise.
    /// None where segments cannot be read by themselves.
    #[must_use]
    pub fn sample(&self) -> Option<Vec<u8>> {
        if self.failed {
            return None;
        }
        let rows = self.rows.iter().flat_map(|row| std::iter::once(&row.opener).chain(&row.closer));
        let mut lines: Vec<_> = self.fixed.iter().chain(&self.samples).chain(rows).collect();
        lines.sort_unstable_by_key(|(number, _)| *number);
        lines.dedup_by_key(|(number, _)| *number);
        let mut text = Vec::new();
        for (_, line) in lines {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        Some(text)
    }

    /// The contents of the summaries, the borders' one by one; none where segments cannot be read by themselves.
    pub(crate) fn pages(self) -> Option<Pages<impl Iterator<Item = Vec<u8>>>> {
        let Latest { line, opener, wants_opener } = &self.latest;
        let lacks_opener = *wants_opener && opener.is_none();
        if self.failed
            || self.left_out
            || self.segments.len() < 2
            || lacks_opener
            || !self.aliased.is_disjoint(&self.named)
        {
            return None;
        }
        let mut windows = Vec::new();
        put_number(self.segments.len() as u64, &mut windows);
        for (_, first, last) in &self.segments {
            windows.extend_from_slice(&first.to_le_bytes());
            windows.extend_from_slice(&last.to_le_bytes());
        }
        put_lines(self.fixed.iter(), &mut windows);
        let latest = line.iter().chain(opener.iter().filter(|_| *wants_opener));
        put_lines(latest, &mut windows);
        // Rows that are open at the end cross no border.
        let count = self.segments.len() - 1;
        let Borders { segments, borders, rows, .. } = self;
        let borders = borders.into_iter().zip(1..).take(count).map(move |(open, segment)| {
            let mut page = Vec::new();
            let (first_line, ..) = segments[segment];
            let open = open.iter().map(|row| &rows[*row as usize]);
            put_lines(open.clone().map(|row| &row.opener), &mut page);
            let closers = open.filter_map(|row| row.closer.as_ref());
            // One that was added to before is closed already.
            put_lines(closers.filter(|(number, _)| *number >= first_line), &mut page);
            page
        });
        Some(Pages { windows, borders })
    }
}

/// Lines in their order, each once.
fn put_lines<'l>(lines: impl Iterator<Item = &'l Numbered>, out: &mut Vec<u8>) {
    let mut lines: Vec<_> = lines.map(|(number, line)| (*number, &line[..])).collect();
    lines.sort_unstable_by_key(|(number, _)| *number);
    lines.dedup_by_key(|(number, _)| *number);
    put_excerpt(lines.iter().copied(), out);
}
