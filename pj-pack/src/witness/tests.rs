//! Findings of who packs segments are those of a replay, or there are none.

use std::fs;
use std::path::Path;

use datasets::Shape;
use paje_analysis::parts::Part;
use paje_pack::{Definitions, Passage, Segment, Segments, Settings};
use proptest::prelude::*;
use testkit::{Rng, damage};

use super::*;

/// Findings of who packs a text in segments of so many bytes.
fn of_parts(text: &[u8], segment: usize) -> Option<Testimony> {
    let mut settings = Settings::default();
    (settings.segment, settings.level) = (segment, 1);
    let (mut segments, mut definitions) = (Segments::new(text, settings), Definitions::default());
    let (mut borders, mut parts) = (Borders::default(), Parts::default());
    while let Some(text) = segments.next_text().unwrap() {
        let (_, mut passage) = Segment::pack_with_rows(&text, &definitions, settings).unwrap();
        definitions.learn(&text);
        parts.add(passage.as_mut().and_then(Passage::rows).map(Part::of));
        borders.pass(passage);
    }
    Testimony::of_parts(parts, &borders, text.len() as u64, &Workers::one())
}

/// They are those of a replay; false if there are none.
fn assert_same(text: &[u8], segment: usize, of: &str) -> bool {
    let Some(told) = of_parts(text, segment) else { return false };
    let replayed = replay(text, &Workers::one()).map(|(seen, _)| seen);
    assert_eq!(Some(told), replayed, "{of}, in segments of {segment}");
    true
}

#[test]
fn segments_of_examples_tell_what_a_replay_does() {
    let (mut told, mut untold) = (0, 0);
    for folder in ["", "/files", "/warnings", "/sound", "/invalid"] {
        let path = format!("{}/../datasets/examples{folder}", env!("CARGO_MANIFEST_DIR"));
        let Ok(folder) = fs::read_dir(Path::new(&path)) else { continue };
        for path in folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let text = fs::read(&path).unwrap();
            for segment in [200, 2_000, 1 << 20] {
                match assert_same(&text, segment, &path.display().to_string()) {
                    true => told += 1,
                    false => untold += 1,
                }
            }
        }
    }
    assert!(told > 20 && untold > 5, "{told} and {untold}");
}

#[test]
fn segments_of_generated_traces_tell_what_a_replay_does() {
    let told = Shape::ALL.map(|shape| {
        let text = datasets::generate(shape, 30_000, 3);
        [3_000, 10_000, 1 << 20].map(|segment| assert_same(&text, segment, shape.name()))
    });
    let names = Shape::ALL.iter().zip(told).filter(|(_, told)| told[1]);
    let names: Vec<_> = names.map(|(shape, _)| shape.name()).collect();
    assert!(names.len() > Shape::ALL.len() / 2, "only {names:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::number("PROPTEST_CASES").unwrap_or(8) as u32))]

    #[test]
    fn segments_of_random_traces_tell_what_a_replay_does(seed: u64, segment in 60_usize..5_000) {
        let trace = datasets::random::trace(seed);
        assert_same(&trace.bytes, segment, "a random one");
        let mut rng = Rng::new(seed);
        assert_same(&damage(&trace.bytes, &mut rng), segment, "a damaged one");
        assert_same(&shuffled(&trace.bytes, &mut rng), segment, "another one");
        assert_same(&shuffled(&datasets::lively(seed), &mut rng), segment, "a lively one");
    }
}

/// A trace with some lines elsewhere, twice or not at all, and some words in the place of others.
fn shuffled(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=rng.index(3) {
        let events =
            lines.iter().rposition(|line| line.starts_with(b"%")).map_or(0, |last| last + 1);
        let count = lines.len() - events;
        if count < 3 {
            break;
        }
        let (one, other) = (events + rng.index(count - 1), events + rng.index(count - 1));
        match rng.index(4) {
            0 => lines.swap(one, other),
            1 => drop(lines.remove(one)),
            2 => lines.insert(one, lines[other].clone()),
            _ => {
                let words = |line: &[u8]| -> Vec<Vec<u8>> {
                    line.split(|byte| *byte == b' ').map(<[u8]>::to_vec).collect()
                };
                let (mut here, there) = (words(&lines[one]), words(&lines[other]));
                let place = rng.index(here.len().min(there.len()));
                here[place].clone_from(&there[place]);
                lines[one] = here.join(&b' ');
            }
        }
    }
    lines.join(&b'\n')
}
