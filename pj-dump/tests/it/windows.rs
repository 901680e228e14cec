//! Reads time windows of packed traces. Only parts of the traces are read, and the rows are the
//! same as for the plain text.

use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use datasets::{Rng, Shape, WORLD, lively, random};
use paje_sim::{Options, Precision, Progress, Selection, Source, TimeRange, Trace};
use paje_workers::Workers;
use pj_dump::output::export::{Written, write_selected};
use pj_dump::output::header::Header;
use pj_dump::output::{Quotes, Style};
use splitter::Input;
use tempfile::TempDir;

use crate::select::selection;
use crate::world::sandbox;

static TEAMS: LazyLock<[Workers; 3]> = LazyLock::new(testkit::teams);

fn is_plain(text: &[u8]) -> bool {
    let mut options = Options::default();
    options.usage = true;
    Trace::read(text, &options).is_ok_and(|trace| trace.is_plain())
}

fn rows(
    source: Source<'_>,
    options: &Options,
    selection: &Selection,
    quotes: Quotes,
    workers: &Workers,
) -> (Vec<u8>, u64) {
    let trace = Trace::read_with(source, options, workers, &Progress::default());
    let trace = trace.unwrap_or_else(|error| panic!("{error}"));
    assert!(trace.warnings().is_empty(), "{:?}", trace.warnings());
    let TimeRange { from, to } = selection.window;
    let style = Style { quotes, precision: 9, as_released: false, from, to };
    let selected = trace.select(selection);
    let steps = trace.walk(quotes.order()).filter(|step| selected.wants_step(*step));
    let mut out = Header::new(style, selection).lines(&trace, steps);
    write_selected(&trace, &selected, style, workers, &mut out, &Written::default())
        .expect("memory can be written");
    (out, trace.end().to_bits())
}

fn time(text: &[u8], end: f64, rng: &mut Rng) -> f64 {
    let at = rng.index(text.len());
    let words = text[at..].split(u8::is_ascii_whitespace);
    let number =
        |word: &[u8]| str::from_utf8(word).ok()?.parse().ok().filter(|it: &f64| it.is_finite());
    let near = words.take(30).find_map(number).unwrap_or(0.0);
    match rng.index(4) {
        0 => end * rng.index(1000) as f64 / 1000.0,
        1 => near + 1e-6,
        _ => near,
    }
}

/// Compares some windows of a trace. Returns the number of windows for which only a part of the
/// trace was read.
fn look_at(what: &str, text: &[u8], segment: usize, rng: &mut Rng) -> usize {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("t.pjp");
    let step = [1, 1, 2, 5][rng.index(4)];
    // Windows need several boundaries.
    let step = if text.len() > 4 * step * segment { step } else { 1 };
    let packed = pj_pack::pack::pack_in_steps(text, segment, step).expect("memory");
    fs::write(&path, packed).expect("the folder is writable");
    let quotes = [Quotes::Strip, Quotes::Keep, Quotes::Auto][rng.index(3)];
    let mut options = Options::default();
    (options.value_names, options.user_defined) = (quotes.value_names(), rng.index(2) == 0);
    options.limits.block = [100, 3000, 1 << 20][rng.index(3)];
    options.variable_precision = [Precision::Single, Precision::Double][rng.index(2)];
    options.decoder_symbols = 4;
    let whole = Trace::read(text, &options).expect("a valid trace");
    let mut parts = 0;
    for turn in 0..8 {
        let (one, other) = (time(text, whole.end(), rng), time(text, whole.end(), rng));
        let mut selection = match turn % 2 {
            0 => Selection::default(),
            _ => selection(rng, &whole),
        };
        let (from, to) = (one.min(other), one.max(other));
        selection.window = [
            TimeRange { from, to },
            TimeRange { from, to: from },
            TimeRange { from, to: f64::INFINITY },
            TimeRange { from: f64::NEG_INFINITY, to },
            TimeRange { from: whole.end() + 1.0, to: whole.end() + 2.0 },
            TimeRange { from: -2.0, to: -1.0 },
        ][[0, 0, 0, 1, 1, 2, 3, 4, 5][rng.index(9)]];
        options.selection = [Selection::default(), selection.clone()][rng.index(2)].clone();
        let workers = &TEAMS[turn % 3];
        let expected = rows(Source::stream(text), &options, &selection, quotes, workers);
        let input = Input::open(Some(&path)).expect("it was written");
        let (taken, size) = (input.read_so_far(), input.size().expect("a file"));
        let TimeRange { from, to } = selection.window;
        let part = Source::from(input.within(from, to));
        let found = rows(part, &options, &selection, quotes, workers);
        let what = format!("{what}, segments of {segment} x {step}, {:?}", selection.window);
        assert!(
            found == expected,
            "{what}\n{}\nwhere there should be\n{}",
            String::from_utf8_lossy(&found.0),
            String::from_utf8_lossy(&expected.0)
        );
        parts += usize::from(taken.load(Ordering::Relaxed) < size);
    }
    parts
}

#[test]
fn windows_of_random_traces_are_equal() {
    let mut rng = Rng::new(41);
    let mut plain = 0;
    for seed in 0..testkit::number("PAJE_SEEDS").unwrap_or(120) {
        let text = random::trace(seed).bytes;
        if is_plain(&text) {
            plain += 1;
            let segment = [150, 400, 1500][rng.index(3)];
            look_at(&format!("seed {seed}"), &text, segment, &mut rng);
        }
    }
    assert!(plain > 5, "{plain}");
}

#[test]
fn windows_of_busy_traces_are_equal() {
    let mut rng = Rng::new(47);
    for turn in 0..testkit::number("PAJE_SEEDS").unwrap_or(15) {
        let text = lively(turn);
        assert!(is_plain(&text), "{}", String::from_utf8_lossy(&text));
        let segment = [150, 400, 1500, 4000][rng.index(4)];
        let parts = look_at(&format!("turn {turn}"), &text, segment, &mut rng);
        assert_eq!(parts, 8, "turn {turn}");
    }
}

/// Returns the lines of a trace grouped by container, as programs with a buffer per thread write
/// them. So times start again with each container.
fn streams(text: &[u8], apart: &[&str]) -> Vec<u8> {
    let text = str::from_utf8(text).expect("ASCII");
    let (head, lines) = text.split_once(WORLD).expect("the common head");
    let mut streams = vec![String::new(); apart.len() + 1];
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [end, time, "L", "h", value, _, key] => {
                let number = key[1..].parse().unwrap_or(0);
                let (stream, name) = (number % apart.len(), ["p", "q"][number % 2]);
                streams[stream] += &format!("{end} {time} L{stream} h {value} {name} {key}\n");
            }
            _ => {
                let name = words.iter().skip(2).map(|word| word.trim_end_matches('0'));
                let name = name.into_iter().find(|name| ["p", "q", "a", "b", "c"].contains(name));
                let of = |names: &&str| name.is_some_and(|name| names.contains(name));
                let stream = apart.iter().position(of).unwrap_or(apart.len());
                streams[stream].extend([line, "\n"]);
            }
        }
    }
    let types = (0..apart.len()).map(|type_| format!("ltype M{type_} H P P L{type_}\n"));
    [head, WORLD, &types.collect::<String>(), &streams.concat()].concat().into_bytes()
}

#[test]
fn windows_are_equal_if_time_starts_again() {
    let mut rng = Rng::new(59);
    let mut plain = 0;
    for turn in 0..testkit::number("PAJE_SEEDS").unwrap_or(40) {
        let apart: &[&str] = [&["pq"][..], &["p", "q"], &["p", "a", "q", "b"]][rng.index(3)];
        let text = streams(&lively(turn), apart);
        if is_plain(&text) {
            plain += 1;
            let segment = [400, 1500, 4000][rng.index(3)];
            let parts = look_at(&format!("turn {turn}"), &text, segment, &mut rng);
            assert_eq!(parts, 8, "turn {turn}");
        }
    }
    assert!(plain > 3, "{plain}");
}

#[test]
fn windows_of_every_shape_are_equal() {
    let mut rng = Rng::new(43);
    for shape in Shape::ALL {
        let text = datasets::generate(shape, 60_000, 3);
        if is_plain(&text) {
            let parts = look_at(&format!("{shape:?}"), &text, 4000, &mut rng);
            assert_eq!(parts, 8, "{shape:?}");
        }
    }
}

/// With these options, rows or the end of the trace depend on lines outside the window, so
/// everything is read.
#[test]
fn options_that_need_all_lines_read_them() {
    let text = lively(53);
    let packed = pj_pack::pack::pack_all(&text, 400).expect("memory");
    let folder = sandbox(&[("t", &text), ("t.pjp", &packed)]);
    let options = [
        "",
        "-n",
        "-z",
        "-i",
        "-u",
        "-h",
        "-o",
        "-q",
        "-c",
        "-d",
        "-a 30",
        "--sort",
        "--recover",
        "-p State",
        "--max-line 1K",
        "--quotes keep",
        "--quotes strip",
        "--variable-precision double",
        "--nature state,link",
        "--in p",
        "--in nobody",
        "--type-hierarchy t.csv",
        "--entity-hierarchy t.csv",
        "--no-files",
        "--threads 3",
    ];
    for (turn, words) in options.into_iter().enumerate() {
        let window = ["-s 20 -e 21.5", "-s 21.5 -e 20", "-e 0.5", "-s 1e9"][turn % 4];
        for window in ["-s 11 -e 12", window] {
            let run = |name: &str| {
                let words = words.split_whitespace().chain(window.split(' ')).chain([name]);
                let (status, out, said) = folder.run(&words.collect::<Vec<_>>());
                let tree = fs::read(folder.path("t.csv")).ok();
                (status, out, said.replace(".pjp", ""), tree)
            };
            let (text, packed) = (run("t"), run("t.pjp"));
            assert!(packed == text, "{words} {window}: {}, {}", packed.2, text.2);
        }
    }
}
