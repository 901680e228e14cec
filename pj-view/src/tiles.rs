//! Writes summaries and rows of lanes as arrays for the page.
//!
//! A block begins with 32 bytes: lane, kind, level, length (`n`), entries (`m`) and 0 as 32-bit
//! integers, and the number of its first bin as a double. Its arrays follow, each aligned to eight
//! bytes. All numbers are little-endian.
//!
//! | kind | | arrays |
//! |---|---|---|
//! | 1, 4, 5 | bins of states, events, links | ends of amounts, starts (`n`); value or origin, imbrication or goal, amount, delay (`m`) |
//! | 2 | rows | start, end, height, number as doubles; value, imbrication or origin, goal (`n`) |
//! | 3 | bins of variables | least, greatest, mean as doubles (`n`) |
//! | 6 | bins of a folded container | as 1, with the type instead of the imbrication; the lane is the container |
//!
//! Amounts are fractions of the bin's width for states, and counts otherwise. Delays are sums of
//! seconds.

use std::ops;

use paje_parser::TypeNature;
use paje_sim::{ContainerId, LaneView};

use crate::picture::DEEPEST;
use crate::pyramid::{Amount, Bins, Key, Level, Ranges, Row, Summary, ValueRange};
use crate::view::View;

/// Maximum number of shares of each imbrication in a bin. All other shares are added up.
const MOST_SHARES: usize = 8;

/// Value of the sum of all other shares.
pub(crate) const OTHERS: u32 = u32::MAX;

type Shared = ((u32, u32), u128);

/// Appends the contents of some bins of a lane. If the lane has at most `rows` rows there, appends
/// the rows, otherwise the bins.
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
        Summary::States(bins) => write_spans(id, &bins, out),
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

/// A wait, or a part of the critical path. Parts have their lane as value.
pub(crate) struct WaitRow {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) released: f64,
    pub(crate) row: u32,
    pub(crate) value: u32,
    pub(crate) whom: u32,
    pub(crate) release: u32,
}

/// Appends waits as rows. Instead of a height, they have the time at which they end on the clock of
/// the lane that is waited for. Instead of the imbrication, they have this lane, and instead of the
/// goal, the row that ends the wait.
pub(crate) fn write_waits(lane: u32, level: u32, first: u64, waits: &[WaitRow], out: &mut Vec<u8>) {
    head(out, [lane, 2, level, waits.len() as u32, 0, 0], first);
    doubles(out, waits.iter().map(|wait| wait.start));
    doubles(out, waits.iter().map(|wait| wait.end));
    doubles(out, waits.iter().map(|wait| wait.released));
    doubles(out, waits.iter().map(|wait| f64::from(wait.row)));
    words(out, waits.iter().map(|wait| wait.value));
    words(out, waits.iter().map(|wait| wait.whom));
    words(out, waits.iter().map(|wait| wait.release));
}

/// Appends bins of states, or of other time spans.
pub(crate) fn write_spans(lane: u32, bins: &Bins, out: &mut Vec<u8>) {
    write_bins(lane, 1, bins, (-f64::from(bins.level())).exp2(), out);
}

fn write_ranges(lane: u32, ranges: &Ranges, view: &View, out: &mut Vec<u8>) {
    let (range, level) = (ranges.range(), ranges.level());
    head(out, [lane, 3, level, ranges.iter().len() as u32, 0, 0], range.start);
    doubles(out, ranges.iter().map(|it| it.min));
    doubles(out, ranges.iter().map(|it| it.max));
    // Values without duration have no mean over time.
    let mean = |it: ValueRange| it.mean(view.pyramid.clock()).unwrap_or((it.min + it.max) / 2.0);
    doubles(out, ranges.iter().map(mean));
}

/// Appends bins of a folded container. They have the outermost states of all lanes in it, except
/// those of hidden types. The shares of a bin add up to the fraction of time with a state, averaged
/// over the lanes.
pub(crate) fn write_folded(
    view: &View,
    container: ContainerId,
    level: u32,
    bins: ops::Range<u64>,
    hidden: &[u32],
    out: &mut Vec<u8>,
) {
    let states = |lane| match view.pyramid.summary(lane, level, bins.clone()) {
        Summary::States(bins) => Some(bins),
        _ => None,
    };
    write_averages(view, container, level, bins.clone(), hidden, states, out);
}

/// Appends bins of a folded container, with the bins that `of` returns for each lane.
pub(crate) fn write_averages<'v>(
    view: &'v View,
    container: ContainerId,
    level: u32,
    bins: ops::Range<u64>,
    hidden: &[u32],
    of: impl Fn(LaneView<'v>) -> Option<Bins>,
    out: &mut Vec<u8>,
) {
    let mut sums = vec![(0u32, Vec::<Shared>::new()); (bins.end - bins.start) as usize];
    let mut lanes = 0u32;
    for lane in view.lanes_within(container) {
        let type_ = lane.type_id().0;
        if lane.nature() != TypeNature::State || hidden.contains(&type_) {
            continue;
        }
        lanes += 1;
        let Some(found) = of(lane) else { continue };
        for (at, bin) in found.range().zip(found.iter()) {
            let (starts, shares) = &mut sums[(at - bins.start) as usize];
            *starts = starts.saturating_add(bin.starts());
            for it in bin.amounts() {
                let Key::State(0, value) = it.key else { continue };
                match shares.iter_mut().find(|share| share.0 == (value.0, type_)) {
                    Some(share) => share.1 += u128::from(it.amount),
                    None => shares.push(((value.0, type_), u128::from(it.amount))),
                }
            }
        }
    }
    let scale = (-f64::from(level)).exp2() / f64::from(lanes.max(1));
    let (mut ends, mut all) = (Vec::with_capacity(sums.len()), Vec::new());
    for (_, shares) in &mut sums {
        shares.sort_unstable();
        if shares.len() > MOST_SHARES {
            shares.sort_by_key(|share| std::cmp::Reverse(share.1));
            let rest = shares.split_off(MOST_SHARES);
            shares.push(((OTHERS, 0), rest.iter().map(|share| share.1).sum()));
        }
        all.append(shares);
        ends.push(all.len() as u32);
    }
    head(out, [container.0, 6, level, ends.len() as u32, all.len() as u32, 0], bins.start);
    words(out, ends.into_iter());
    words(out, sums.iter().map(|(starts, _)| *starts));
    words(out, all.iter().map(|share| share.0.0));
    words(out, all.iter().map(|share| share.0.1));
    floats(out, all.iter().map(|share| share.1 as f64 * scale));
    floats(out, all.iter().map(|_| 0.0));
}

/// Returns the sublane of an amount. The deepest states share the last one.
fn place(it: &Amount) -> u32 {
    match it.key {
        Key::State(imbrication, _) => imbrication.min(DEEPEST as u32 - 1),
        Key::Event(_) | Key::Link(..) => 0,
    }
}

pub(crate) struct Share {
    /// Value and imbrication of states, value of events, or origin and goal of links.
    pub(crate) pair: (u32, u32),
    /// Fraction of the bin's width, or a count.
    pub(crate) amount: f64,
    delay: f64,
}

impl Share {
    /// Adds up amounts, under the key of the first one. Sums of nested states may exceed 64 bits.
    fn of(amounts: &[Amount], scale: f64) -> Option<Share> {
        let pair = match amounts.first()?.key {
            Key::State(imbrication, value) => (value.0, imbrication),
            Key::Event(value) => (value.0, 0),
            Key::Link(from, to) => (from.0, to.0),
        };
        let amount: u128 = amounts.iter().map(|it| u128::from(it.amount)).sum();
        let delay = amounts.iter().map(|it| it.delay).sum();
        Some(Share { pair, amount: amount as f64 * scale, delay })
    }

    fn others(rest: &[Amount], scale: f64) -> Option<Share> {
        let mut share = Share::of(rest, scale)?;
        // For links, the sum keeps the key of the first one.
        if !matches!(rest.first()?.key, Key::Link(..)) {
            share.pair.0 = OTHERS;
        }
        Some(share)
    }
}

/// Appends the largest shares of a bin in each sublane, and the sum of all others. `scale` converts
/// amounts.
pub(crate) fn push_shares(all: &mut [Amount], scale: f64, shares: &mut Vec<Share>) {
    if all.len() > MOST_SHARES {
        all.sort_by_key(|it| (place(it), std::cmp::Reverse(it.amount)));
    }
    let few = all.len() <= MOST_SHARES;
    for same in all.chunk_by(|a, b| few || place(a) == place(b)) {
        let (most, rest) = same.split_at(same.len().min(MOST_SHARES));
        shares.extend(most.chunks(1).filter_map(|it| Share::of(it, scale)));
        shares.extend(Share::others(rest, scale));
    }
}

fn write_bins(lane: u32, kind: u32, bins: &Bins, scale: f64, out: &mut Vec<u8>) {
    let mut shares: Vec<Share> = Vec::new();
    let mut ends = Vec::with_capacity(bins.iter().len());
    let mut all: Vec<Amount> = Vec::new();
    for bin in bins.iter() {
        all.clear();
        all.extend(bin.amounts());
        push_shares(&mut all, scale, &mut shares);
        ends.push(shares.len() as u32);
    }
    head(
        out,
        [lane, kind, bins.level(), ends.len() as u32, shares.len() as u32, 0],
        bins.range().start,
    );
    words(out, ends.into_iter());
    words(out, bins.iter().map(|bin| bin.starts()));
    words(out, shares.iter().map(|it| it.pair.0));
    words(out, shares.iter().map(|it| it.pair.1));
    floats(out, shares.iter().map(|it| it.amount));
    floats(out, shares.iter().map(|it| it.delay));
}

#[cfg(test)]
mod tests {
    use paje_sim::ValueId;

    use super::*;

    #[test]
    fn ticks_of_deep_states_may_exceed_64_bits() {
        let deep = |imbrication| Amount {
            key: Key::State(imbrication, ValueId(7)),
            amount: 1 << 62,
            delay: 0.0,
        };
        let all: Vec<Amount> = (70..82).map(deep).collect();
        let share = Share::others(&all, (-62.0f64).exp2()).expect("there are some");
        assert_eq!((share.pair, share.amount), ((OTHERS, 70), 12.0));
    }
}
