//! The output and the error do not depend on compression, the size of blocks and the number of
//! threads. They are the same as for one thread that reads a single block.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use datasets::invalid::{self, Fault};
use datasets::{Shape, generate};
use paje_sim::{Options, Progress, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::{Quotes, Style, containers, hierarchy};
use splitter::Input;
use tempfile::TempDir;

use testkit::pack;

use crate::verdict;

/// Sizes of blocks in bytes. Lines are never cut, so blocks of 1 byte have one line. The last size
/// holds everything.
const BLOCKS: [usize; 7] = [1, 100, 500, 1500, 4096, 10_000, usize::MAX];
/// Sizes for large traces, which have too many lines for blocks of one line.
const LARGE_BLOCKS: [usize; 7] = [700, 4096, 10_000, 30_000, 1 << 16, 1 << 17, usize::MAX];

static TEAMS: LazyLock<[Workers; 8]> = LazyLock::new(testkit::teams);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    File,
    Pipe,
    Gzip,
    /// The trace is packed, in segments of the block size or of 200 bytes.
    Packed,
}

const MEDIA: [Medium; 4] = [Medium::File, Medium::Pipe, Medium::Gzip, Medium::Packed];

/// Position, kind and text of the error, or all output for the trace with the warnings first.
type Outcome = Result<Vec<u8>, String>;

fn outcome(trace: Result<Trace, paje_sim::Error>, workers: &Workers) -> Outcome {
    let trace = trace.map_err(|error| format!("{error:#?}"))?;
    let mut out = Vec::new();
    let mut warnings: Vec<_> = trace.warnings().iter().collect();
    warnings.sort_by_key(|warning| warning.first_line);
    writeln!(out, "{warnings:?}").expect("memory can be written");
    writeln!(out, "{:#?}", trace.recovered()).expect("memory can be written");
    out.extend(hierarchy::types(&trace, Quotes::Auto));
    out.extend(hierarchy::entities(&trace, Quotes::Auto));
    containers::write_tree(&trace, Quotes::Auto, &mut out).expect("memory can be written");
    let style = Style { precision: 9, ..Style::DEFAULT };
    out.extend(verdict::rows(&trace, style, workers));
    Ok(out)
}

struct Kept<'t> {
    text: &'t [u8],
    folder: TempDir,
}

impl<'t> Kept<'t> {
    fn new(text: &'t [u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in [("plain", text), ("packed", &pack("gzip", text))] {
            fs::write(folder.path().join(name), bytes).expect("the folder is writable");
        }
        Kept { text, folder }
    }

    fn open(&self, name: &str) -> Input {
        Input::open(Some(&self.folder.path().join(name))).expect("it was written")
    }

    fn segments(&self, size: usize) -> Input {
        let name = format!("segments of {size}");
        let path = self.folder.path().join(&name);
        if !path.exists() {
            let mut settings = paje_pack::Settings::default();
            (settings.segment, settings.level) = (size.clamp(200, 1 << 22), 1);
            let packed = paje_pack::pack(self.text, Vec::new(), settings).expect("memory");
            fs::write(path, packed).expect("the folder is writable");
        }
        self.open(&name)
    }

    fn replay(&self, medium: Medium, block: usize, threads: usize, options: &Options) -> Outcome {
        let mut options = options.clone();
        options.limits.block = block.min(self.text.len());
        options.decoder_symbols = 4;
        let workers = &TEAMS[threads - 1];
        let read = |source| Trace::read_with(source, &options, workers, &Progress::default());
        let trace = match medium {
            Medium::File => read(Source::from(self.open("plain"))),
            Medium::Gzip => read(Source::from(self.open("packed"))),
            Medium::Packed => read(Source::from(self.segments(block))),
            Medium::Pipe => thread::scope(|scope| {
                let (reader, mut writer) = io::pipe().expect("a pipe");
                // The rest of an invalid trace is not read.
                scope.spawn(move || drop(writer.write_all(self.text)));
                read(Source::stream(reader))
            }),
        };
        outcome(trace, workers)
    }

    fn wanted(&self, options: &Options) -> Outcome {
        let mut options = options.clone();
        options.limits.block = self.text.len();
        outcome(Trace::read(self.text, &options), &Workers::one())
    }
}

type Way = (Medium, usize, usize);

fn all_ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for medium in MEDIA {
        for block in BLOCKS {
            ways.extend((1..=8).map(|threads| (medium, block, threads)));
        }
    }
    ways
}

/// Returns one way of reading for each number of threads. With 21 consecutive values of `start`,
/// each number of threads is combined with every medium and block size.
fn some_ways(start: usize, blocks: [usize; 7]) -> impl Iterator<Item = Way> {
    (1..=8).map(move |threads| {
        let turn = start + threads;
        (MEDIA[turn % MEDIA.len()], blocks[turn % blocks.len()], threads)
    })
}

fn assert_equal(
    name: &str,
    text: &[u8],
    options: &Options,
    ways: impl IntoIterator<Item = Way>,
) -> Outcome {
    let kept = Kept::new(text);
    let wanted = kept.wanted(options);
    for (medium, block, threads) in ways {
        let found = kept.replay(medium, block, threads, options);
        if found == wanted {
            continue;
        }
        let about = format!("{name}: {medium:?}, blocks of {block}, {threads} threads");
        let (Ok(found), Ok(wanted)) = (&found, &wanted) else {
            panic!("{about}\nfound {}\nwanted {}", brief(&found), brief(&wanted));
        };
        let lines = |bytes: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
        };
        for (found, wanted) in lines(found).iter().zip(&lines(wanted)) {
            assert_eq!(found, wanted, "{about}");
        }
        panic!("{about}: {} bytes instead of {}", found.len(), wanted.len());
    }
    wanted
}

fn brief(outcome: &Outcome) -> String {
    match outcome {
        Ok(rows) => format!("{} bytes of rows", rows.len()),
        Err(error) => error.clone(),
    }
}

fn options(user_defined: bool, no_imbrication: bool) -> Options {
    let mut options = Options::default();
    options.user_defined = user_defined;
    options.no_imbrication = no_imbrication;
    options
}

#[test]
fn shapes_are_equal_for_all_settings() {
    for shape in [Shape::MpiWild, Shape::TaskRuntime] {
        let text = generate(shape, 5_000, 1);
        let rows = assert_equal(shape.name(), &text, &options(true, false), all_ways());
        assert!(rows.is_ok_and(|rows| rows.len() > 1250), "{}", shape.name());
    }
}

#[test]
fn every_shape_is_equal_for_some_settings() {
    for (index, shape) in Shape::ALL.into_iter().enumerate() {
        let text = generate(shape, 10_000, 2);
        let ways = (0..3).flat_map(|turn| some_ways(5 * index + turn, BLOCKS));
        let rows = assert_equal(shape.name(), &text, &options(true, index % 2 == 1), ways);
        assert_eq!(rows.is_ok(), shape.is_sorted(), "{}: {}", shape.name(), brief(&rows));
    }
}

#[test]
fn every_fault_is_equal_for_some_settings() {
    for (index, fault) in Fault::ALL.into_iter().enumerate() {
        let text = invalid::trace(fault, index as u64).bytes;
        let ways = some_ways(index, BLOCKS);
        let error = assert_equal(fault.name(), &text, &options(false, false), ways);
        assert!(error.is_err(), "{fault}");
    }
}

#[test]
fn recovered_faults_are_equal_for_some_settings() {
    let mut options = options(true, false);
    options.recover = true;
    for (index, fault) in Fault::ALL.into_iter().enumerate() {
        let mut text = invalid::trace(fault, index as u64).bytes;
        for other in [index + 7, index + 20] {
            let more = invalid::trace(Fault::ALL[other % Fault::ALL.len()], index as u64).bytes;
            text.extend_from_slice(&more[more.len() / 2..]);
        }
        if !text.is_empty() {
            let rows = assert_equal(fault.name(), &text, &options, some_ways(index, BLOCKS));
            assert!(rows.is_ok(), "{fault}");
        }
    }
}

#[test]
fn the_first_of_two_faults_is_reported() {
    let shape = Shape::Mpi;
    let sound = generate(shape, 20_000, 3);
    let lines: Vec<&[u8]> = sound.split_inclusive(|byte| *byte == b'\n').collect();
    let unknown = &b"no_such_event 1\n"[..];
    let all = [unknown, b"% Time date\n", b"%EventDef PajeNoSuchEvent 4711\n"];
    let header =
        lines.iter().rposition(|line| line.starts_with(b"%EndEventDef")).expect("it has one");
    for (turn, first) in all.into_iter().enumerate() {
        for behind in [1, 2, 30, 250] {
            let at = header + 100 + 13 * turn;
            let mut faulty = lines.clone();
            faulty.insert(at, first);
            faulty.insert(at + behind, all[(turn + 1) % all.len()]);
            let ways = some_ways(turn + behind, BLOCKS);
            let error = assert_equal("two faults", &faulty.concat(), &options(false, false), ways);
            let line = format!("line: {},", at + 1);
            assert!(error.is_err_and(|error| error.contains(&line)), "line {line}");
        }
    }
}

/// Reads all files of up to 500 kB below the folder that `PAJE_CORPUS` names, also compressed. For
/// files that are not traces, the errors must be equal.
#[test]
fn a_corpus_is_equal_for_some_settings() {
    const MOST: u64 = 500_000;
    let Some(folder) = std::env::var_os("PAJE_CORPUS") else {
        return;
    };
    let mut compared = 0;
    for (index, path) in files(Path::new(&folder)).into_iter().enumerate() {
        let mut text = Vec::new();
        let input = Input::open(Some(&path)).expect("the corpus can be read");
        input.take(MOST + 1).read_to_end(&mut text).expect("the corpus can be read");
        if text.len() as u64 > MOST {
            continue;
        }
        let mut options = options(true, index % 2 == 1);
        options.ignore_incomplete_links = true;
        let blocks = if text.len() > 100_000 { LARGE_BLOCKS } else { BLOCKS };
        let ways = some_ways(index, blocks);
        let result = assert_equal(&path.display().to_string(), &text, &options, ways);
        compared += usize::from(result.is_ok());
    }
    assert!(compared > 0, "{} has no valid traces", folder.display());
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    found
}
