//! Tests `--recover` for all kinds of input. `paje-sim/tests/recover` tests the rules, and golden
//! files show them.

use std::sync::LazyLock;

use datasets::invalid::{self, Fault};
use datasets::{Shape, generate};
use paje_sim::{Options, Progress, Selection, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;

use crate::agree::{self, rows};
use crate::world::{sandbox, trace};
use testkit::pack;

static TEAMS: LazyLock<[Workers; 4]> = LazyLock::new(testkit::teams);

fn options(block: usize) -> Options {
    let mut options = Options::default();
    options.recover = true;
    options.limits.block = block;
    options.decoder_symbols = 4;
    options
}

fn damaged(seed: u64) -> Vec<u8> {
    let mut lines = Vec::new();
    for (turn, fault) in Fault::ALL.into_iter().enumerate() {
        let other = invalid::trace(fault, seed + turn as u64).bytes;
        let others: Vec<Vec<u8>> =
            other.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        match turn {
            0 => lines = others,
            _ => lines.extend(others.into_iter().rev().take(9).rev()),
        }
    }
    lines.concat()
}

fn in_portions(text: &[u8], bytes: u64, block: usize, workers: &Workers) -> (Vec<u8>, String) {
    let (options, all) = (options(block), Selection::default());
    let (source, style) = (Source::stream(text), Style::DEFAULT);
    let (rows, trace) = agree::in_portions(source, &options, bytes, true, style, &all, workers);
    (rows, format!("{:#?}", trace.expect("a trace that is not empty").recovered()))
}

#[test]
fn portions_do_not_depend_on_workers_and_blocks() {
    for seed in 0..12 {
        let text = damaged(seed);
        for bytes in [300, 2000, 1 << 20] {
            let wanted = in_portions(&text, bytes, 1 << 20, &TEAMS[0]);
            for (turn, block) in [1, 64, 500, 4096].into_iter().enumerate() {
                let workers = &TEAMS[(turn + seed as usize) % 4];
                let found = in_portions(&text, bytes, block, workers);
                assert!(found == wanted, "seed {seed}, portions of {bytes}, blocks of {block}");
            }
        }
    }
}

#[test]
fn sorted_traces_do_not_depend_on_workers_and_blocks() {
    for seed in 0..12 {
        let text = damaged(seed);
        let replay = |block, workers: &Workers| {
            let mut options = options(block);
            options.sort = true;
            let source = Source::stream(&text[..]);
            let trace = Trace::read_with(source, &options, workers, &Progress::default());
            let trace = trace.expect("a trace that is not empty");
            (rows(&trace, workers), format!("{:#?}", trace.recovered()))
        };
        let wanted = replay(1 << 20, &TEAMS[0]);
        assert!(!wanted.1.contains("not-time-ordered"), "{}", wanted.1);
        for (turn, block) in [1, 64, 500, 4096].into_iter().enumerate() {
            let found = replay(block, &TEAMS[(turn + seed as usize) % 4]);
            assert!(found == wanted, "seed {seed}, blocks of {block}");
        }
    }
}

#[test]
fn with_sort_nothing_is_skipped() {
    let text = generate(Shape::Unsorted, 20_000, 1);
    let folder = sandbox(&[]);
    folder.write("t", text);
    let sorted = folder.run(&["--sort", "t"]);
    assert_eq!(folder.run(&["--sort", "--recover", "t"]), sorted);
    let (status, _, said) = folder.run(&["--recover", "t"]);
    assert_eq!(status, 1);
    assert!(said.contains(": skipped: time ") && said.contains("hint: `--sort` keeps"), "{said}");
}

#[test]
fn cut_compressed_data_are_kept() {
    let folder = sandbox(&[]);
    let text = generate(Shape::Mpi, 200_000, 1);
    for how in ["gzip", "zstd", "xz", "bzip2"] {
        // bzip2 data come in pieces of 900,000 bytes.
        let (first, second) = text.split_at(if how == "bzip2" { text.len() / 2 } else { 0 });
        let first = if first.is_empty() { Vec::new() } else { pack(how, first) };
        let packed = [first, pack(how, second)].concat();
        folder.write("t", &packed[..packed.len() * 2 / 3]);
        assert_eq!(folder.run(&["-z", "t"]).0, 2);
        let wanted = folder.run(&["-z", "--recover", "--threads", "1", "t"]);
        assert_eq!(wanted.0, 1, "{how}: {}", wanted.2);
        assert!(wanted.2.contains(": cut off: "), "{how}: {}", wanted.2);
        assert!(wanted.2.contains("open where the trace was cut off"), "{how}: {}", wanted.2);
        assert!(wanted.1.len() > 5000, "{how}: {} bytes", wanted.1.len());
        let found = folder.run(&["-z", "--recover", "--threads", "3", "t"]);
        assert!(found == wanted, "{how}");
        for block in [100, 3000, 70_000] {
            let input = splitter::Input::open(Some(&folder.path("t"))).expect("written");
            let mut options = options(block);
            options.ignore_incomplete_links = true;
            options.variable_precision = paje_sim::Precision::Single;
            let trace = Trace::read(input, &options);
            let trace = trace.expect("a trace that is not empty");
            let kept = String::from_utf8(rows(&trace, &TEAMS[0])).expect("text");
            assert!(kept == wanted.1, "{how}, blocks of {block}");
        }
    }
}

/// All messages name an invented container in the same way, even if a later event, perhaps in
/// another block, renames the container.
#[test]
fn invented_containers_have_one_name() {
    let text = trace(
        b"set 1 S x a\npop 2 S x\npop 3 S x\ncreate_as 4 rank-9 P h x\nset 5 S x b\nset 4 S x c\n",
    );
    let told = |block: usize, workers: &Workers| -> Vec<String> {
        let source = Source::stream(text.as_slice());
        let trace = Trace::read_with(source, &options(block), workers, &Progress::default());
        let trace = trace.expect("a trace that is not empty");
        assert_eq!(
            trace.containers().name(trace.containers().find(b"x").expect("it is")).text,
            b"rank-9"
        );
        trace.recovered().problems.iter().map(|problem| problem.error.to_string()).collect()
    };
    let wanted = told(1, &TEAMS[0]);
    assert!(wanted.iter().any(|text| text.contains("is open in container 'x';")), "{wanted:?}");
    for block in [64, 300, 1 << 20] {
        for workers in &*TEAMS {
            assert_eq!(told(block, workers), wanted, "{block}, {}", workers.threads());
        }
    }
}
