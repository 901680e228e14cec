//! Compares summaries with simple computations from rows.

mod naive;
mod random;

use datasets::Rng;
use paje_sim::{LaneView, Options, Trace};
use paje_workers::Workers;
use pj_view::pyramid::{Pyramid, Summary};

fn read(text: &str) -> Trace {
    Trace::read(text.as_bytes(), &Options::default()).expect("the trace is valid")
}

/// Returns the examples and random traces, some of them large enough for summaries.
fn traces() -> Vec<(String, Trace)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");
    let files = std::fs::read_dir(folder).expect("there are examples");
    let mut all: Vec<_> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|it| it == "trace" || it == "paje"))
        .filter_map(|path| Some((path.display().to_string(), Trace::open(&path).ok()?)))
        .collect();
    assert!(all.len() > 3, "there are more than three traces");
    for seed in 0..12 {
        let text = random::trace(seed, if seed % 3 == 0 { 200 } else { 12_000 });
        all.push((format!("seed {seed}"), read(&text)));
    }
    all
}

/// Returns windows of all widths, in bins and in ticks.
fn windows(random: &mut Rng) -> Vec<(u64, u64)> {
    let mut all = vec![(0, 1 << 63), (0, 1)];
    for _ in 0..40 {
        let width = random.bits() >> (1 + random.below(40));
        let from = random.bits() >> 1;
        all.push((from.saturating_sub(width), from.saturating_add(width).min(1 << 63)));
    }
    all
}

fn summaries_of(name: &str, pyramid: &Pyramid, lane: LaneView<'_>, random: &mut Rng) {
    let clock = pyramid.clock();
    for (from, to) in windows(random) {
        let level = ((to - from).max(64).ilog2() - random.below(6) as u32).min(63);
        let bins = from >> level..(to >> level) + 1;
        let summary = pyramid.summary(lane, level, bins.clone());
        let case = format!("{name}, lane {}, level {level}, bins {bins:?}", lane.id().0);
        match &summary {
            Summary::Variable(ranges) => {
                let expected = naive::ranges(lane, clock, level, bins);
                naive::assert_ranges(ranges, &expected, &case);
            }
            Summary::States(found) | Summary::Events(found) | Summary::Links(found) => {
                let expected = naive::bins(lane, clock, level, bins);
                naive::assert_bins(found, &expected, &case);
            }
        }
        let profile = pyramid.profile(lane, from, to);
        assert_eq!(profile, naive::profile(lane, clock, from, to), "{case}, ticks {from} to {to}");
        let rows = pyramid.rows(lane, from, to, usize::MAX / 2).expect("no limit on rows");
        let expected = naive::rows(lane, clock, from, to);
        assert_eq!(rows, expected, "{case}, ticks {from} to {to}");
        if let Some(less) = expected.len().checked_sub(1) {
            assert_eq!(pyramid.rows(lane, from, to, less), None, "{case}");
        }
    }
}

#[test]
fn summaries_agree_with_rows() {
    let mut kept = 0;
    for (name, trace) in traces() {
        let pyramid = Pyramid::new(&trace, &Workers::one());
        let mut random = Rng::new(7);
        for lane in trace.lanes() {
            kept += u32::from(pyramid.finest(lane.id()).is_some());
            summaries_of(&name, &pyramid, lane, &mut random);
        }
    }
    assert!(kept > 30, "only {kept} lanes have summaries");
}

#[test]
fn answers_do_not_depend_on_summaries() {
    let (mut kept, mut left_out) = (0, 0);
    for (name, trace) in traces().into_iter().step_by(2) {
        let mut pyramid = Pyramid::outline(&trace, &Workers::one());
        // A third of the lanes have no summaries. The others have only wide bins.
        pyramid.summarise(&trace, &Workers::one(), |lane| (lane.id().0 % 3 != 1).then_some(57));
        let mut random = Rng::new(11);
        for lane in trace.lanes() {
            match pyramid.finest(lane.id()) {
                Some(level) => {
                    assert!(level >= 57 && lane.id().0 % 3 != 1);
                    kept += 1;
                }
                None => left_out += 1,
            }
            summaries_of(&name, &pyramid, lane, &mut random);
        }
    }
    assert!(kept > 10 && left_out > 10, "{kept} lanes with summaries, {left_out} without");
}

#[test]
fn levels_that_follow_later_are_those_of_a_single_pass() {
    let mut refined = 0;
    for (name, trace) in traces().into_iter().step_by(3) {
        let whole = Pyramid::new(&trace, &Workers::one());
        for level in [54, 59] {
            let mut pyramid = Pyramid::outline(&trace, &Workers::one());
            pyramid.summarise(&trace, &Workers::one(), |_| Some(level));
            let coarse: Vec<_> = trace.lanes().map(|lane| pyramid.finest(lane.id())).collect();
            pyramid.refine(&trace);
            assert_eq!(pyramid.bytes(), whole.bytes(), "{name}");
            let mut random = Rng::new(13);
            for (lane, coarse) in trace.lanes().zip(coarse) {
                let finest = pyramid.finest(lane.id());
                assert_eq!(finest, whole.finest(lane.id()), "{name}, lane {}", lane.id().0);
                refined += u32::from(finest != coarse);
                summaries_of(&name, &pyramid, lane, &mut random);
            }
        }
    }
    assert!(refined > 10, "only {refined} lanes have finer levels");
}

#[test]
fn a_level_is_the_sum_of_the_one_below() {
    for (name, trace) in traces() {
        let pyramid = Pyramid::new(&trace, &Workers::one());
        for lane in trace.lanes() {
            let Some(finest) = pyramid.finest(lane.id()) else { continue };
            for level in finest..63 {
                let (below, above) = (
                    pyramid.summary(lane, level, 0..u64::MAX),
                    pyramid.summary(lane, level + 1, 0..u64::MAX),
                );
                naive::assert_sum(&below, &above, &format!("{name}, lane {}", lane.id().0));
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let trace = read(&random::trace(5, 20_000));
    let one = Pyramid::new(&trace, &Workers::one());
    let three = Pyramid::new(&trace, &testkit::team(3));
    assert_eq!(one.bytes(), three.bytes());
    for lane in trace.lanes() {
        for level in 30..64 {
            let (a, b) = (one.summary(lane, level, 0..4096), three.summary(lane, level, 0..4096));
            assert_eq!(a, b);
        }
    }
}

#[test]
fn summaries_take_at_most_a_quarter_of_the_memory_of_rows() {
    for (name, trace) in traces() {
        let pyramid = Pyramid::new(&trace, &Workers::one());
        let counts = trace.counts();
        let rows =
            counts.states * 20 + counts.variables * 16 + counts.events * 10 + counts.links * 30;
        assert!(
            pyramid.bytes() * 4 <= rows,
            "{name}: {} bytes of summaries, {rows} bytes of rows",
            pyramid.bytes()
        );
    }
}

#[test]
fn lanes_with_as_many_values_as_rows_have_no_summaries() {
    let mut text = random::header();
    text.push_str("2 0 c c Host 0\n");
    for i in 0..5000 {
        text.push_str(&format!("3 {i} State c value-{i}\n"));
    }
    let trace = read(&text);
    let pyramid = Pyramid::new(&trace, &Workers::one());
    let lane = trace.lanes().next().expect("a lane");
    assert_eq!(pyramid.finest(lane.id()), None);
    summaries_of("values", &pyramid, lane, &mut Rng::new(1));
}
