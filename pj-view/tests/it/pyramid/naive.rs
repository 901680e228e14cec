//! Simple computations of summaries, for each row and each bin.

use std::collections::BTreeMap;
use std::ops::Range;

use paje_parser::TypeNature;
use paje_sim::{ContainerId, LaneView, ValueId};
use pj_view::pyramid::{Bins, Clock, Key, Level, Profile, Ranges, Row, Summary, ValueRange};

const ROOT: (ContainerId, ContainerId) = (ContainerId::ROOT, ContainerId::ROOT);

/// For each bin, the number of rows that begin in it, and amounts by key.
pub(crate) type Sums = BTreeMap<u64, (u32, BTreeMap<Key, u64>)>;

pub(crate) fn all(lane: LaneView<'_>) -> Vec<Row> {
    let value = ValueId(0);
    let plain =
        Row { number: 0, start: 0.0, end: 0.0, value, imbrication: 0, ends: ROOT, height: 0.0 };
    let states = lane.states().map(|it| Row {
        start: it.start,
        end: it.end,
        value: it.value,
        imbrication: it.imbrication,
        ..plain
    });
    let events =
        lane.events().map(|it| Row { start: it.time, end: it.time, value: it.value, ..plain });
    let variables =
        lane.variables().map(|it| Row { start: it.start, end: it.end, height: it.value, ..plain });
    let links = lane.links().map(|it| Row {
        start: it.start,
        end: it.end,
        value: it.value,
        ends: (it.from, it.to),
        ..plain
    });
    let rows = states.chain(events).chain(variables).chain(links);
    rows.zip(0..).map(|(row, number)| Row { number, ..row }).collect()
}

fn key(lane: LaneView<'_>, row: &Row) -> Key {
    match lane.nature() {
        TypeNature::Event => Key::Event(row.value),
        TypeNature::Link => Key::Link(row.ends.0, row.ends.1),
        _ => Key::State(row.imbrication, row.value),
    }
}

/// Returns whether a row begins between two ticks, and how many of its ticks are between them.
/// Returns `None` if the row does not overlap this window.
fn part(clock: Clock, row: &Row, from: u64, to: u64) -> Option<(bool, u64)> {
    let (start, end) = (clock.ticks(row.start), clock.ticks(row.end));
    let begins = (from..to).contains(&start);
    let overlap = end.min(to).saturating_sub(start.max(from));
    (begins || overlap > 0).then_some((begins, overlap))
}

pub(crate) fn bins(lane: LaneView<'_>, clock: Clock, level: u32, bins: Range<u64>) -> Sums {
    let mut sums = Sums::new();
    for row in all(lane) {
        let (start, end) = (clock.ticks(row.start) >> level, clock.ticks(row.end) >> level);
        let last = if lane.nature() == TypeNature::State { end.max(start) } else { start };
        for bin in start.max(bins.start)..(last + 1).min(bins.end) {
            let Some((begins, overlap)) = part(clock, &row, bin << level, (bin + 1) << level)
            else {
                continue;
            };
            let amount =
                if lane.nature() == TypeNature::State { overlap } else { u64::from(begins) };
            let (starts, amounts) = sums.entry(bin).or_default();
            *starts += u32::from(begins);
            *amounts.entry(key(lane, &row)).or_default() += amount;
        }
    }
    sums
}

pub(crate) fn profile(lane: LaneView<'_>, clock: Clock, from: u64, to: u64) -> Profile {
    let mut profile = Profile::default();
    if lane.nature() == TypeNature::Variable {
        return profile;
    }
    for row in all(lane) {
        let Some((begins, overlap)) = part(clock, &row, from, to) else { continue };
        let amount = if lane.nature() == TypeNature::State { overlap } else { u64::from(begins) };
        if begins || amount > 0 {
            profile.starts += u64::from(begins);
            *profile.amounts.entry(key(lane, &row)).or_default() += amount;
        }
    }
    profile
}

pub(crate) fn rows(lane: LaneView<'_>, clock: Clock, from: u64, to: u64) -> Vec<Row> {
    let reaches = |row: &Row| {
        let (start, end) = row.extent();
        clock.ticks(start) <= to && clock.ticks(end) >= from
    };
    all(lane).into_iter().filter(reaches).collect()
}

pub(crate) fn ranges(
    lane: LaneView<'_>,
    clock: Clock,
    level: u32,
    bins: Range<u64>,
) -> BTreeMap<u64, ValueRange> {
    let mut sums = BTreeMap::new();
    for row in all(lane) {
        let (start, end) = (clock.ticks(row.start) >> level, clock.ticks(row.end) >> level);
        for bin in start.max(bins.start)..(end.max(start) + 1).min(bins.end) {
            let Some((begins, held)) = part(clock, &row, bin << level, (bin + 1) << level) else {
                continue;
            };
            let more = ValueRange {
                min: row.height,
                max: row.height,
                integral: row.height * clock.seconds(held),
                held,
                starts: u32::from(begins),
            };
            let sum = sums.entry(bin).or_insert(ValueRange::NONE);
            *sum = sum.and(more);
        }
    }
    sums
}

fn sums(bins: &Bins) -> Sums {
    let all = bins.range().zip(bins.iter());
    let full = all.map(|(at, bin)| {
        (at, (bin.starts(), bin.amounts().map(|it| (it.key, it.amount)).collect()))
    });
    full.filter(|(_, (starts, amounts)): &(u64, (u32, BTreeMap<Key, u64>))| {
        *starts > 0 || !amounts.is_empty()
    })
    .collect()
}

pub(crate) fn assert_bins(found: &Bins, expected: &Sums, case: &str) {
    assert_eq!(&sums(found), expected, "{case}");
}

pub(crate) fn assert_ranges(found: &Ranges, expected: &BTreeMap<u64, ValueRange>, case: &str) {
    let full = found.range().zip(found.iter()).filter(|(_, it)| *it != ValueRange::NONE);
    let found: BTreeMap<_, _> = full.collect();
    assert!(found.keys().eq(expected.keys()), "{case}");
    for (bin, it) in &found {
        let wanted = expected[bin];
        assert_eq!(
            (it.min, it.max, it.held, it.starts),
            (wanted.min, wanted.max, wanted.held, wanted.starts),
            "{case}"
        );
        // Sums of doubles depend on the order of addition.
        let most = it.min.abs().max(it.max.abs()) * 1e-9 * (1.0 + it.integral.abs());
        assert!((it.integral - wanted.integral).abs() <= most, "{case}: {it:?}, {wanted:?}");
    }
}

pub(crate) fn assert_sum(below: &Summary, above: &Summary, case: &str) {
    match (below, above) {
        (Summary::Variable(below), Summary::Variable(above)) => {
            let mut sums = BTreeMap::new();
            for (at, it) in below.range().zip(below.iter()) {
                let sum = sums.entry(at / 2).or_insert(ValueRange::NONE);
                *sum = sum.and(it);
            }
            assert!(above.range().zip(above.iter()).eq(sums), "{case}");
        }
        (
            Summary::States(below) | Summary::Events(below) | Summary::Links(below),
            Summary::States(above) | Summary::Events(above) | Summary::Links(above),
        ) => {
            let mut sum = Sums::new();
            for (at, (starts, amounts)) in sums(below) {
                let (all, by_key) = sum.entry(at / 2).or_default();
                *all += starts;
                for (key, amount) in amounts {
                    *by_key.entry(key).or_default() += amount;
                }
            }
            assert_eq!(sums(above), sum, "{case}");
        }
        _ => panic!("{case}"),
    }
}
