//! Compares `--sort` with the replay of the sorted lines. Both give the same rows and warnings, or
//! the same problem at its position in the unsorted trace.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use datasets::{Rng, Shape, invalid, random};
use paje_parser::{ByteOffset, FieldNames, Position};
use paje_sim::error::EventName;
use paje_sim::{ErrorKind, Options, Progress, Source, Trace, WarningKind};
use paje_workers::Workers;
use proptest::prelude::*;
use splitter::Input;

use crate::agree::{options_of, rows};
use crate::order::{DISORDERS, Disorder, disordered, sorted};
use crate::world::{dump, lines_before, said, trace};

static TEAMS: LazyLock<[Workers; 4]> = LazyLock::new(testkit::teams);

/// Rows, warnings and amounts read. For an invalid trace: code, sentence, position and line of the
/// problem.
type Result = std::result::Result<
    (Vec<u8>, Vec<(WarningKind, Option<EventName>, u64, u64)>, [u64; 3]),
    (&'static str, String, Option<(Position, Vec<u8>)>),
>;

fn replay(source: Source<'_>, options: &Options, workers: &Workers) -> Result {
    match Trace::read_with(source, options, workers, &Progress::default()) {
        Ok(trace) => {
            let warnings = trace.warnings().iter();
            let warnings = warnings.map(|w| (w.kind, w.event.clone(), w.first_line, w.count));
            let read = [trace.lines(), trace.bytes(), trace.event_lines()];
            Ok((rows(&trace, workers), warnings.collect(), read))
        }
        Err(error) => {
            let ErrorKind::Invalid(problem) = error.kind() else {
                panic!("memory can be read: {error}");
            };
            let place = error.place().map(|place| (place.position, place.text.clone()));
            Err((problem.code(), problem.to_string(), place))
        }
    }
}

/// Returns the result of sorting and replaying, with the positions of the unsorted trace.
fn expected(text: &[u8], options: &Options) -> Result {
    let lines = sorted(text, options.field_names);
    let plain: Vec<u8> = lines.iter().flat_map(|line| [line.text, b"\n"].concat()).collect();
    let line = |number: u64| &lines[number as usize - 1];
    let result = replay(Source::stream(&plain[..]), options, &Workers::one());
    result
        .map(|(rows, mut warnings, [count, _, events])| {
            for (_, _, first, _) in &mut warnings {
                *first = line(*first).number;
            }
            (rows, warnings, [count, text.len() as u64, events])
        })
        .map_err(|(code, sentence, place)| {
            let place = place.map(|(at, shown)| {
                let found = line(at.line);
                assert!(found.text.starts_with(&shown));
                let byte = ByteOffset(found.byte + at.column - 1);
                (Position { byte, line: found.number, column: at.column }, shown)
            });
            (code, sentence, place)
        })
}

/// Compares the results of each team of workers, in blocks whose size depends on the length of the
/// text. Returns the expected result.
fn compare(text: &[u8], options: &Options, teams: &[Workers], told: &str) -> Result {
    let wanted = expected(text, options);
    let mut options = options.clone();
    options.sort = true;
    for team in teams {
        let block = [1, 100, 900, 5000, 1 << 17][(text.len() + team.threads()) % 5];
        options.limits.block = block;
        options.decoder_symbols = 4;
        let found = replay(Source::stream(text), &options, team);
        assert_eq!(
            found,
            wanted,
            "{told}, {} workers, blocks of {block}\n{}",
            team.threads(),
            String::from_utf8_lossy(text)
        );
    }
    wanted
}

#[test]
fn random_traces_are_sorted() {
    let mut valid = [0; DISORDERS.len()];
    for seed in 0..50 {
        let trace = random::trace(seed);
        let options = options_of(&trace);
        for how in DISORDERS {
            let mut rng = Rng::new(seed);
            let text = disordered(&trace.bytes, how, options.field_names, &mut rng);
            let told = format!("seed {seed}, {how:?}");
            valid[how as usize] += usize::from(compare(&text, &options, &*TEAMS, &told).is_ok());
        }
    }
    // Most sorted traces are valid. Shuffled traces may have lines of the same time in the wrong
    // order.
    assert!(valid[0] > 10 && valid[1] == valid[0], "{valid:?}");
}

#[test]
fn shapes_are_sorted() {
    for shape in Shape::ALL {
        let bytes = datasets::generate(shape, 20_000, 5);
        let options = Options::default();
        for how in DISORDERS {
            let mut rng = Rng::new(shape as u64);
            let text = disordered(&bytes, how, options.field_names, &mut rng);
            let told = format!("{shape}, {how:?}");
            let result = compare(&text, &options, &*TEAMS, &told);
            if matches!(how, Disorder::None | Disorder::KeepsTies) {
                assert!(result.is_ok(), "{told}: {result:?}");
            }
        }
    }
}

#[test]
fn planted_faults_are_reported_in_sorted_order() {
    for fault in invalid::Fault::ALL {
        for seed in 0..3 {
            let bytes = invalid::trace(fault, seed).bytes;
            for how in DISORDERS {
                let mut rng = Rng::new(seed);
                let text = disordered(&bytes, how, FieldNames::Strict, &mut rng);
                let told = format!("{fault}, seed {seed}, {how:?}");
                drop(compare(&text, &Options::default(), &TEAMS[..2], &told));
            }
        }
    }
}

#[test]
fn unusual_lines_are_sorted() {
    let lines = "\
set 1e1 S p a\nset \"+2.5\" S p b\n\t set\t0x1p-1 S p c # 0\nset 00009 S p d\nset 9.0 S p e\nset -0 S p f\n\
set 0 S p g\ncreate -8.5 r P g\nset -1e-300 S r h\nset -3 S r i\ncreate -9 g H 0\nset 123456789012345678 S p j\nset 0.1234567890123456789 S p k\n\
#set -99 S p k\n  # 5 %\n\n \t \r\nset 4 S p l\r\nvset 7 V p 1\n\"set\" 6 S q m\n\"set\" \"6\" S \"q\" n\n\
 %EventDef PajeSetState 99 # 98\n %  Type string\n99 S q o 3\n  %  Container string # % x\n%Value string\n\
99 S q p 2.5\n%Time date\n%EndEventDef\nset 5. S q \"q r\"\nset .5 S q s\nstype Other P O\n99 O q t 2.4\nset 8 O q u";
    let text = trace(lines.as_bytes());
    let result = compare(&text, &Options::default(), &*TEAMS, "odd lines");
    assert!(result.is_ok(), "{result:?}");
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let how = DISORDERS[seed as usize % DISORDERS.len()];
        let text = disordered(&text, how, FieldNames::Strict, &mut rng);
        drop(compare(&text, &Options::default(), &*TEAMS, &format!("seed {seed}, {how:?}")));
    }
}

/// The first problem is the first in sorted order. Lines without a time come first, then lines with
/// unreadable times, then all others.
#[test]
fn problems_have_their_line_in_the_unsorted_trace() {
    let first = lines_before() + 1;
    for (lines, line, column, code) in [
        ("pop 2 S p\nset 3 S p a\npop 1 S q\n", 3, 9, "pop-on-empty"),
        ("pop 1 S p\nset 3x S p a\nset nan S p a\n", 2, 5, "bad-time"),
        ("set 1e999 S p a\nset 3x S p a\nstype Other P S\n", 3, 15, "type-exists"),
        ("set 1 S p a\nset\nset 0 S nobody a\n", 2, 4, "missing-field"),
        ("set 2 S p a\nset 1 S p\n0 set\nset 1 S\n", 3, 1, "unknown-id"),
        ("pop 1 S p\n%EventDef PajeSetState set\n", 2, 24, "redefined-id"),
        ("99 2 S p a\n%EventDef PajeSetState 99\n% Time date\n", 1, 1, "unknown-id"),
        (
            "destroy 1 P q\nset 2 S q a\nfrom 3 L h x p k\n from 1 L h x p k\n",
            3,
            16,
            "key-repeated",
        ),
        ("destroy 4 H h\n\nset 5 S p a\nfrom 3 L h x p k", 1, 13, "open-links"),
        ("set 1 S p a\ncreate 0.5 p P h\n  create 0.3 r H h\n", 3, 16, "not-child-type"),
    ] {
        let text = trace(lines.as_bytes());
        let result = compare(&text, &Options::default(), &TEAMS[..2], lines);
        let Err((found, _, Some((at, _)))) = result else { panic!("{lines}: {result:?}") };
        assert_eq!((found, at.line, at.column), (code, first + line - 1, column), "{lines}");
        let begin =
            lines.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>();
        let byte = (trace(b"").len() + begin) as u64 + column - 1;
        assert_eq!(at.byte, ByteOffset(byte), "{lines}");
    }
}

#[test]
fn lines_that_are_too_long_are_reported_first() {
    let lines = format!("nonsense\nset 0 S p {}\n", "x".repeat(300));
    let text = trace(lines.as_bytes());
    let mut options = Options::default();
    (options.limits.block, options.limits.line, options.sort) = (100, 200, true);
    for team in &*TEAMS {
        let result = replay(Source::stream(&text[..]), &options, team);
        let Err((code, _, Some((at, _)))) = result else { panic!("{result:?}") };
        let byte = ByteOffset(text.len() as u64 - 311);
        let position = Position { byte, line: lines_before() + 2, column: 1 };
        assert_eq!((code, at), ("line-too-long", position));
    }
    options.limits.line = 310;
    assert!(matches!(
        replay(Source::stream(&text[..]), &options, &Workers::one()),
        Err(("unknown-id", ..))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_are_sorted(
        lines in "((set|pop|vset|create|late|stype|%|%EventDef PajePopState late|%EndEventDef|#|\"set)( (-?[0-9]\\.?[0-9]?|S|V|P|p|q|h|\"|#|x|nan|Type string|Time date|Container string)){0,6}\r?\n?\n){0,30}",
        threads in 0..4_usize,
        block in 1..2000_usize,
    ) {
        let text = trace(lines.as_bytes());
        let wanted = expected(&text, &Options::default());
        let mut options = Options::default();
        (options.sort, options.limits.block) = (true, block);
        let found = replay(Source::stream(&text[..]), &options, &TEAMS[threads]);
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn files_are_sorted_in_chunks() {
    let bytes = datasets::generate(Shape::Unsorted, 60_000, 3);
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, &bytes).expect("writable");
    let wanted = expected(&bytes, &Options::default());
    for team in &*TEAMS {
        let mut options = Options::default();
        (options.sort, options.limits.block) = (true, 1000);
        let input = Input::open(Some(file.path())).expect("it is there");
        let taken = input.read_so_far();
        assert_eq!(replay(Source::from(input), &options, team), wanted);
        assert_eq!(taken.load(std::sync::atomic::Ordering::Relaxed), bytes.len() as u64);
    }
}

#[test]
fn other_options_apply_to_the_sorted_trace() {
    let text = datasets::generate(Shape::Unsorted, 20_000, 2);
    let lines = sorted(&text, FieldNames::Strict);
    let plain: Vec<u8> = lines.iter().flat_map(|line| [line.text, b"\n"].concat()).collect();
    for options in [
        &[][..],
        &["-u", "-h", "--threads", "3"],
        &["-p", "Worker State"],
        &["-p", "Worker State", "-l", "9"],
        &["-s", "0.02", "-e", "0.05"],
        &["-a", "0.03", "-z"],
        &["-i", "--quotes", "strip"],
        &["-c"],
        &["-d"],
        &["-q"],
    ] {
        let wanted = dump(options, &plain);
        assert_eq!(wanted.status.code(), Some(0), "{options:?}: {}", said(&wanted));
        for text in [&text, &plain] {
            let found = dump(&[options, &["--sort"]].concat(), text);
            assert_eq!(said(&found), "", "{options:?}");
            assert!(found.stdout == wanted.stdout, "{options:?}");
        }
    }
    // The trace is refused without `--sort`.
    assert_eq!(dump(&["-q"], &text).status.code(), Some(1));
}

/// This is the usual recipe for StarPU. All times have nine decimals, so `sort -V` is right.
#[test]
fn sort_gives_the_result_of_grep_and_sort() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = datasets::generate(Shape::Unsorted, 200_000, 4);
    std::fs::write(folder.path().join("paje.trace"), &bytes).expect("writable");
    let recipe = r"grep -e '^%' -e '^[1-6]\>' paje.trace > sorted.trace &&
                   grep -v -e '^%' -e '^[1-6]\>' paje.trace | sort -s -V --key=2,2 >> sorted.trace";
    if !runs(folder.path(), "printf '2 b\\n2 a\\n' | sort -s -V --key=1,1 | grep -q '^2\\>'")
        || !runs(folder.path(), recipe)
    {
        return eprintln!("skipped: no grep, or no sort that knows -V");
    }
    let sorted = std::fs::read(folder.path().join("sorted.trace")).expect("written");
    assert_eq!(sorted.len(), bytes.len());
    let (found, wanted) = (dump(&["--sort"], &bytes), dump(&[], &sorted));
    assert_eq!((said(&found), wanted.status.code()), (said(&wanted), Some(0)));
    assert!(found.stdout == wanted.stdout);
}

fn runs(folder: &Path, script: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).env("LC_ALL", "C").stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}
