//! Summaries and rows of lanes as arrays that a page reads in place.
//!
//! A block is 32 bytes: lane, kind, level, length (`n`), entries (`m`), 0, as 32-bit integers, and the number of
//! its first bin as a double; then its arrays, each beginning at a multiple of eight bytes. All is little-endian.
//!
//! | kind | | arrays |
//! |---|---|---|
//! | 1, 4, 5 | bins of states, events, links | where amounts end, starts (`n`); value or origin, imbrication or goal, amount, delay (`m`) |
//! | 2 | rows | start, end, height, number as doubles; value, imbrication or origin, goal (`n`) |
//! | 3 | bins of variables | least, greatest, mean as doubles (`n`) |
//!
//! Amounts are parts of the bin's width for states, else counts; delays are sums of seconds.

use std::ops;

use paje_parser::TypeNature;
use paje_pyramid::{Amount, Bins, Key, Range, Ranges, Row, Summary};
use paje_sim::LaneView;

use crate::view::View;

/// So many shares of a bin are told; what is beyond becomes one.
const MOST_SHARES: usize = 8;

/// The value of what is beyond.
const OTHERS: u32 = u32::MAX;

/// Appends what is in some bins of a lane: rows if there are not more than `rows`.
pub(crate) fn write(
    view: &View,
    lane: LaneView<'_>,
    level: u32,
    bins: ops::Range<u64>,
    rows: usize,
    out: &mut Vec<u8>,
) {
    let (from, to) = (bins.start << level, (bins.end << level).saturating_sub(1));
    let id = lane.id().0;
    if let Some(rows) = view.pyramid.rows(lane, from, to, rows) {
        return write_rows(id, level, bins.start, &rows, lane.nature(), out);
    }
    match view.pyramid.summary(lane, level, bins) {
        Summary::Variable(ranges) => write_ranges(id, &ranges, view, out),
        Summary::Events(bins) => write_bins(id, 4, &bins, 1.0, out),
        Summary::Links(bins) => write_bins(id, 5, &bins, 1.0, out),
        Summary::States(bins) => write_bins(id, 1, &bins, (-f64::from(bins.level())).exp2(), out),
        _ => {}
    }
}

fn head(out: &mut Vec<u8>, words: [u32; 6], first: u64) {
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out.extend_from_slice(&(first as f64).to_le_bytes());
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

fn doubles(out: &mut Vec<u8>, all: impl Iterator<Item = f64>) {
    all.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn words(out: &mut Vec<u8>, all: impl Iterator<Item = u32>) {
    all.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    pad(out);
}

fn floats(out: &mut Vec<u8>, all: impl Iterator<Item = f64>) {
    all.for_each(|number| out.extend_from_slice(&(number as f32).to_le_bytes()));
    pad(out);
}

fn write_rows(
    lane: u32,
    level: u32,
    first: u64,
    rows: &[Row],
    nature: TypeNature,
    out: &mut Vec<u8>,
) {
    head(out, [lane, 2, level, rows.len() as u32, 0, 0], first);
    doubles(out, rows.iter().map(|row| row.start));
    doubles(out, rows.iter().map(|row| row.end));
    doubles(out, rows.iter().map(|row| row.height));
    doubles(out, rows.iter().map(|row| row.number as f64));
    words(out, rows.iter().map(|row| row.value.0));
    let second =
        |row: &Row| if nature == TypeNature::Link { row.ends.0.0 } else { row.imbrication };
    words(out, rows.iter().map(second));
    words(out, rows.iter().map(|row| row.ends.1.0));
}

fn write_ranges(lane: u32, ranges: &Ranges, view: &View, out: &mut Vec<u8>) {
    let (range, level) = (ranges.range(), ranges.level());
    head(out, [lane, 3, level, ranges.iter().len() as u32, 0, 0], range.start);
    doubles(out, ranges.iter().map(|it| it.min));
    doubles(out, ranges.iter().map(|it| it.max));
    // A value that lasts no time is its own mean.
    let mean = |it: Range| it.mean(view.pyramid.clock()).unwrap_or((it.min + it.max) / 2.0);
    doubles(out, ranges.iter().map(mean));
}

fn write_bins(lane: u32, kind: u32, bins: &Bins, scale: f64, out: &mut Vec<u8>) {
    let mut shares: Vec<Amount> = Vec::new();
    let mut ends = Vec::with_capacity(bins.iter().len());
    for bin in bins.iter() {
        let from = shares.len();
        shares.extend(bin.amounts());
        if shares.len() - from > MOST_SHARES {
            shares[from..].sort_by_key(|it| std::cmp::Reverse(it.amount));
            let rest = shares.split_off(from + MOST_SHARES);
            let mut others = Amount { key: rest[0].key, amount: 0, delay: 0.0 };
            others.amount = rest.iter().map(|it| it.amount).sum();
            others.key = match others.key {
                Key::State(imbrication, _) => Key::State(imbrication, paje_sim::ValueId(OTHERS)),
                Key::Event(_) => Key::Event(paje_sim::ValueId(OTHERS)),
                // Of links, which ones are left out makes no difference to see.
                Key::Link(from, to) => Key::Link(from, to),
            };
            others.delay = rest.iter().map(|it| it.delay).sum();
            shares.push(others);
        }
        ends.push(shares.len() as u32);
    }
    head(
        out,
        [lane, kind, bins.level(), ends.len() as u32, shares.len() as u32, 0],
        bins.range().start,
    );
    words(out, ends.into_iter());
    words(out, bins.iter().map(|bin| bin.starts()));
    let pair = |it: &Amount| match it.key {
        Key::State(imbrication, value) => (value.0, imbrication),
        Key::Event(value) => (value.0, 0),
        Key::Link(from, to) => (from.0, to.0),
    };
    words(out, shares.iter().map(|it| pair(it).0));
    words(out, shares.iter().map(|it| pair(it).1));
    floats(out, shares.iter().map(|it| it.amount as f64 * scale));
    floats(out, shares.iter().map(|it| it.delay));
}
