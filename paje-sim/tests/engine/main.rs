//! The result of a replay does not depend on the spelling of lines, the size of blocks, or the number of workers.

mod listing;
mod packed;
mod selection;
mod sorted;

use std::io::{self, Read};
use std::ops::ControlFlow;

use datasets::Shape;

use paje_sim::{ErrorKind, Limits, NameOrder, Options, Portion, Progress, Source, Trace};
use paje_workers::Workers;

/// Returns the result of a replay: its objects, or the problem without the column.
fn replay(input: impl Read + Send, limits: Limits) -> Result<Vec<String>, (Option<u64>, String)> {
    replay_with(input, limits, &Workers::one())
}

fn replay_with(
    input: impl Read + Send,
    limits: Limits,
    workers: &Workers,
) -> Result<Vec<String>, (Option<u64>, String)> {
    let mut options = Options::default();
    options.limits = limits;
    options.decoder_symbols = 4;
    let replayed = Trace::read_with(Source::stream(input), &options, workers, &Progress::default());
    let told = |error: paje_sim::Error| (error.position().map(|at| at.line), error.to_string());
    replayed.map(|trace| listing::of(&trace)).map_err(told)
}

fn traces() -> impl Iterator<Item = Vec<u8>> {
    let shapes = Shape::ALL.iter().map(|shape| datasets::generate(*shape, 30_000, 7));
    shapes.chain((0..150).map(|seed| datasets::random::trace(seed).bytes))
}

/// Events with a blank at the start of their line are not decoded in batches.
#[test]
fn short_lines() {
    for text in traces() {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        let blank = lines.flat_map(|line| [b" ", line].concat()).collect::<Vec<u8>>();
        let expected = replay(&text[..], Limits::default());
        assert_eq!(replay(&blank[..], Limits::default()), expected);
    }
}

/// Inserted and removed bytes make lines that resemble lines whose names are known as one text.
#[test]
fn almost_usual_lines() {
    for shape in [Shape::Mpi, Shape::AllLinks, Shape::Variables, Shape::Deep, Shape::TaskRuntime] {
        let text = datasets::generate(shape, 40_000, 3);
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        for seed in 0..36 {
            let at = lines.len() - 1 - seed * 7 % (lines.len() / 2);
            let place = seed * 31 % lines[at].len();
            let mut line = lines[at].to_vec();
            match seed % 6 {
                0 => line.retain({
                    let mut index = 0..;
                    move |_| index.next() != Some(place)
                }),
                1 => line.insert(place, b"\0\"#\r"[seed / 6 % 4]),
                // Doubles a blank, or appends a blank to the line.
                2 => {
                    let blank = line.iter().rposition(u8::is_ascii_whitespace);
                    line.insert(blank.unwrap_or(0), b' ');
                }
                3 => {
                    let blanks = line.iter().enumerate().filter(|(_, byte)| **byte == b' ');
                    let last = blanks.map(|(blank, _)| blank).next_back().unwrap_or(place);
                    line.insert(last, b' ');
                }
                // Removes the last field, with or without the blank before it.
                kind => {
                    let last = line[..line.len() - 1].iter().rposition(u8::is_ascii_whitespace);
                    line.truncate(last.unwrap_or(place) + kind - 4);
                    line.push(b'\n');
                }
            }
            let changed = [&lines[..at], &[&line[..]], &lines[at + 1..]].concat();
            let blank = changed.iter().flat_map(|line| [b" ", *line].concat()).collect::<Vec<u8>>();
            let expected = replay(&blank[..], Limits::default());
            let shown = String::from_utf8_lossy(&line);
            assert_eq!(replay(&changed.concat()[..], Limits::default()), expected, "{shown:?}");
        }
    }
}

#[test]
fn blocks_of_any_size() {
    for text in traces() {
        let expected = replay(&text[..], Limits::default());
        for block in [1, 100, 1000, 5000] {
            let limits = Limits { block, ..Limits::default() };
            assert_eq!(replay(&text[..], limits), expected, "blocks of {block} bytes");
        }
    }
}

/// Each trace is replayed by only two teams. Over many traces, every team replays with every size of blocks.
#[test]
fn any_number_of_workers() {
    let teams: Vec<Workers> = (2..=8).map(testkit::team).collect();
    for (i, text) in traces().enumerate() {
        let expected = replay(&text[..], Limits::default());
        for turn in [i, i + 3] {
            let team = &teams[turn % teams.len()];
            let block = [1, 700, 4000, 1 << 20][turn / teams.len() % 4];
            let limits = Limits { block, ..Limits::default() };
            let found = replay_with(&text[..], limits, team);
            assert_eq!(found, expected, "{} workers, blocks of {block} bytes", team.threads());
        }
    }
}

#[test]
fn definitions_anywhere() {
    let mut text = datasets::generate(Shape::Mpi, 3_000, 1);
    for id in 0..200 {
        let head =
            format!("%EventDef PajeSetVariable {}\n% Time date\n% Type string\n", 90_000 + id);
        text.extend(head.bytes());
        // Some definitions are only finished several lines later.
        let tail = "% Container string\n% Value double\n%EndEventDef\n";
        let mut rest = tail.as_bytes().to_vec();
        for _ in 0..id % 5 {
            rest.extend(b"# a comment that takes up some room\n");
        }
        text.extend(rest);
    }
    let expected = replay(&text[..], Limits::default());
    assert!(expected.is_ok(), "{expected:?}");
    for count in 1..=4 {
        for block in [1, 64, 300, 2000] {
            let limits = Limits { block, ..Limits::default() };
            assert_eq!(replay_with(&text[..], limits, &testkit::team(count)), expected);
        }
    }
}

/// Most lines use the same lanes, in several spellings. Other lines use new lanes.
#[test]
fn lanes_in_any_spelling() {
    let header = datasets::definitions([
        ("0", "DefineContainerType", "Name Type"),
        ("1", "DefineStateType", "Name Type"),
        ("2", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "SetState", "Time:date Type Container Value"),
        ("5", "SetState", "Time:date Container Type Value"),
        ("6", "SetState", "Time:date Container Value Type"),
        ("7", "StartLink", "Time:date Type Container Value StartContainer Key"),
        ("8", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ]);
    let mut text = (header + "0 P 0\n1 S P\n1 \"T U\" P\n2 L 0 P P\n2 M P P P\n").into_bytes();
    let mut created = 0;
    for step in 0..1500_u32 {
        if step % 40 == 0 {
            for name in ["c", "\"d ", "a-name-of-many-bytes-"] {
                let quote = if name.starts_with('"') { "\"" } else { "" };
                text.extend(format!("3 {step} {name}{created}{quote} P 0\n").bytes());
            }
            created += 1;
        }
        let number = step * step % 31 % created;
        let value = step % 7;
        let line = match step % 13 {
            0 => format!("4 {step} S c{number} v{value}\n"),
            1 => format!("4 {step} S  c{number} v{value}\n"),
            2 => format!("4 {step} \"S\" \"c{number}\" v{value}\n"),
            3 => format!("5 {step} c{number} S v{value}\n"),
            4 => format!("6 {step} c{number} v{value} S\n"),
            5 => format!("4 {step} S\tc{number} v{value}\n"),
            6 => format!("4 {step} \"T U\" c{number} v{value}\n"),
            7 => format!("4 {step} S \"d {number}\" v{value}\n"),
            8 => format!("4 {step} S a-name-of-many-bytes-{number} v{value}\n"),
            9 => format!(
                "7 {step} M c{number} v{value} c0 k{step}\n8 {step} M c{number} v{value} c0 k{step}\n"
            ),
            10 => format!(
                "7 {step} L 0 v{value} c{number} k{step}\n8 {step} L 0 v{value} c0 k{step}\n"
            ),
            _ => format!("4 {step} S c{number} w{value}\n"),
        };
        text.extend(line.bytes());
    }
    let mut options = Options::default();
    options.recover = true;
    let progress = Progress::default();
    let plain = Trace::read_with(Source::stream(&text[..]), &options, &Workers::one(), &progress);
    let plain = plain.expect("a trace");
    assert!(plain.recovered().problems.is_empty(), "{:?}", plain.recovered());
    let expected = listing::of(&plain);
    assert!(expected.len() > 1000, "{} rows", expected.len());
    for count in 1..=4 {
        for block in [300, 2000, 1 << 17] {
            let limits = Limits { block, ..Limits::default() };
            let found = replay_with(&text[..], limits, &testkit::team(count));
            assert_eq!(found.as_ref(), Ok(&expected), "{count} workers, blocks of {block} bytes");
        }
    }
}

/// Reads one byte at a time.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn input_in_any_pieces() {
    for text in traces() {
        let expected = replay(&text[..], Limits::default());
        assert_eq!(replay(Trickle(&text), Limits::default()), expected);
    }
}

/// Each complete row is shown once, and the shown rows do not depend on workers and blocks.
#[test]
fn portions() {
    let teams: Vec<Workers> = [1, 3].map(testkit::team).into();
    for (i, text) in traces().enumerate() {
        let mut options = Options::default();
        options.user_defined = i / 2 % 2 == 0;
        options.no_imbrication = i % 3 == 0;
        options.ignore_incomplete_links = i % 2 == 0;
        let whole = Trace::read(&text[..], &options);
        let mut first = None;
        // Each trace is read in only some of these ways, because all combinations would take too long.
        let ways = [
            (1000, 1 << 20, &teams[i / 4 % 2]),
            (1000, [1, 700][i / 8 % 2], &teams[(i / 4 + 1) % 2]),
            (1 << 30, 2000, &teams[i / 16 % 2]),
        ];
        for (size, block, team) in ways {
            options.limits.block = block;
            let (shown, result) = in_portions(&text, &options, team, size);
            match (&whole, result) {
                (Ok(whole), Ok(())) => {
                    let mut all: Vec<String> = shown.concat();
                    let mut expected = listing::of(whole);
                    all.sort();
                    expected.sort();
                    assert_eq!(all, expected);
                }
                // Reused keys are not detected in portions.
                (Err(error), found) => assert!(
                    found == Err(error.to_string()) || error.to_string().contains("key"),
                    "{error} {found:?}"
                ),
                (Ok(_), Err(error)) => panic!("{error}"),
            }
            if size == 1000 {
                assert_eq!(first.get_or_insert_with(|| shown.clone()), &shown);
            }
        }
    }
}

fn in_portions(
    text: &[u8],
    options: &Options,
    workers: &Workers,
    size: u64,
) -> (Vec<Vec<String>>, Result<(), String>) {
    let mut shown = Vec::new();
    let mut show = |portion: &Portion<'_>| {
        shown.push(listing::of_steps(portion.trace(), portion.walk(NameOrder::Bare)));
        ControlFlow::Continue(())
    };
    let source = Source::stream(text);
    let progress = Progress::default();
    let result = Trace::read_in_portions(source, options, workers, &progress, size, &mut show);
    (shown, result.map(|_| ()).map_err(|error| error.to_string()))
}

#[test]
fn stopped_replays() {
    struct Teller<'a>(&'a [u8], &'a Progress, usize);
    impl Read for Teller<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.len() <= self.2 {
                self.1.stop();
            }
            self.0.read(buffer)
        }
    }
    let trace = datasets::generate(datasets::Shape::Mpi, 4 << 20, 1);
    for threads in 1..=3 {
        let workers = testkit::team(threads);
        for left in [usize::MAX, 3 << 20, 2 << 20] {
            let progress = Progress::default();
            let source = Source::stream(Teller(&trace, &progress, left));
            let replayed = Trace::read_with(source, &Options::default(), &workers, &progress);
            assert!(matches!(replayed.unwrap_err().kind(), ErrorKind::Stopped));
            assert!(progress.bytes() < trace.len() as u64, "{}", progress.bytes());
        }
    }
}
