//! Columns have the same contents as the text.

use paje_otf2::Trace;
use paje_parser::columns::{Asked, Content, HoleKind, Lines, Wanted};
use testkit::Rng;

use super::random::fill;
use super::{open, world};

/// Compares the columns of a piece with its text. `choice` decides on the forms of its steps.
/// Returns the number of lines without text, and of lines that are left out.
fn compare(trace: &Trace, piece: usize, choice: u64) -> (usize, u64) {
    let wanted = trace.text(piece).unwrap();
    let (mut text, mut lines) = (Vec::new(), Lines::default());
    let mut steps = 0;
    let mut judge = |line: &[u8], holes: &[paje_parser::columns::Hole]| {
        steps += 1;
        assert!(wanted.windows(line.len()).any(|part| part == line));
        assert_eq!(holes[0].kind, HoleKind::Time);
        let is_variable = line.starts_with(b"9 ");
        match (choice + steps) % 5 {
            0 => Wanted::Text,
            1 => Wanted::Nothing,
            _ => Wanted::Columns(is_variable.then_some(Asked { hole: 1, numbers: true })),
        }
    };
    if !trace.columns(piece, &mut text, &mut lines, &mut judge) {
        return (0, 0);
    }
    let mut starts = Vec::new();
    for (at, byte) in wanted.iter().enumerate() {
        if at == 0 || wanted[at - 1] == b'\n' {
            starts.push(at);
        }
        assert!(*byte != 0);
    }
    assert_eq!(lines.lines.len() as u64 + lines.left_out, starts.len() as u64);
    let line_at = |start: u32| {
        let line = &wanted[start as usize..];
        &line[..memchr(line)]
    };
    for line in &lines.lines {
        let start = line.start as usize;
        assert!(starts.binary_search(&start).is_ok());
        let wanted = line_at(line.start);
        if line.has_text() {
            assert_eq!(&text[start..start + wanted.len()], wanted);
        } else {
            let time = wanted.split(|byte| *byte == b' ').nth(1).unwrap();
            let digits: Vec<u8> = time.iter().copied().filter(|byte| *byte != b'.').collect();
            assert_eq!(String::from_utf8(digits).unwrap().parse(), Ok(line.time));
        }
    }
    for content in &lines.contents {
        let line = lines.lines[content.line as usize];
        let words: Vec<&[u8]> = line_at(line.start).split(|byte| *byte == b' ').collect();
        if line.has_text() {
            continue;
        }
        if line_at(line.start).starts_with(b"9 ") {
            let (from, to) = content.value_at;
            match from {
                Content::NUMBER => {
                    let number = (content.value as i64).to_string();
                    assert_eq!((words[4], to), (number.as_bytes(), 0));
                }
                _ => assert_eq!(&text[from as usize..to as usize], words[4]),
            }
        } else {
            let (from, to) = content.linked.key_at;
            assert_eq!(&text[from as usize..to as usize], words[6]);
            assert_eq!(&wanted[content.linked.at as usize..][..words[6].len()], words[6]);
        }
    }
    let without = lines.lines.iter().filter(|line| !line.has_text()).count();
    assert_eq!(lines.counts.iter().sum::<u32>() as usize, without);
    (without, lines.left_out)
}

fn memchr(line: &[u8]) -> usize {
    line.iter().position(|byte| *byte == b'\n').unwrap()
}

#[test]
fn columns_say_the_same_as_the_text() {
    let mut found = (0, 0);
    for seed in 0..20 {
        let mut archive = world();
        super::metrics(&mut archive);
        fill(&mut archive, &mut Rng::new(seed), 2000);
        let folder = tempfile::tempdir().unwrap();
        let trace = open(&archive.write(folder.path())).unwrap();
        for piece in 0..trace.pieces() {
            let (without, left_out) = compare(&trace, piece, seed);
            found = (found.0 + without, found.1 + left_out);
        }
    }
    assert!(found.0 > 10_000 && found.1 > 1000, "{found:?}");
}
