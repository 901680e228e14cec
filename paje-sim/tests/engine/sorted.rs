//! With `sort`, a trace is replayed like its lines in the documented order.

use paje_parser::{FieldName, Line, LineDecoder};
use paje_sim::{FieldNames, Options, Progress, Source, Trace};
use paje_workers::Workers;
use testkit::team;

use crate::listing;
use crate::traces;

/// Lines with the time in seconds of those that have one.
fn timed(text: &[u8]) -> Vec<(Option<f64>, &[u8])> {
    let mut decoder = LineDecoder::new(FieldNames::Old);
    let mut time = |line| match decoder.line(line) {
        Ok(Line::Event(event)) if event.def().kind().obligatory().contains(&FieldName::Time) => {
            Some(event.time().expect("times are numbers"))
        }
        _ => None,
    };
    text.split_inclusive(|byte| *byte == b'\n').map(|line| (time(line), line)).collect()
}

/// Reverses every few lines with times, so that events are out of order but follow their definitions.
fn disordered(text: &[u8]) -> Vec<u8> {
    let mut lines = timed(text);
    lines
        .chunk_by_mut(|one, other| one.0.is_some() == other.0.is_some())
        .filter(|run| run[0].0.is_some())
        .for_each(|run| run.chunks_mut(5).for_each(<[_]>::reverse));
    lines.into_iter().flat_map(|(_, line)| line).copied().collect()
}

/// Returns the lines without a time, then the others in the order of their times.
fn in_order(text: &[u8]) -> Vec<u8> {
    let mut lines = timed(text);
    lines.sort_by(|one, other| match (one.0, other.0) {
        (Some(one), Some(other)) => one.partial_cmp(&other).expect("times are not NaN"),
        (one, other) => one.is_some().cmp(&other.is_some()),
    });
    lines.into_iter().flat_map(|(_, line)| line).copied().collect()
}

#[test]
fn unsorted_traces() {
    let teams = [1, 3].map(team);
    let mut valid = 0;
    for (number, mut text) in traces().enumerate() {
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let text = disordered(&text);
        let mut options = Options::default();
        options.field_names = FieldNames::Old;
        options.user_defined = number % 2 == 0;
        options.ignore_incomplete_links = number % 3 == 0;
        let read = |text: &[u8], options: &Options, team: &Workers| {
            let found = Trace::read_with(Source::stream(text), options, team, &Progress::default());
            found.map(|trace| listing::of(&trace)).map_err(|error| error.to_string())
        };
        let expected = read(&in_order(&text), &options, &teams[0]);
        options.sort = true;
        options.limits.block = [1 << 20, 2000, 300][number % 3];
        let found = read(&text, &options, &teams[number / 3 % teams.len()]);
        assert_eq!(found, expected, "trace {number}");
        valid += usize::from(found.is_ok());
    }
    assert!(valid > 50, "{valid}");
}
