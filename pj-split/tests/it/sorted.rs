//! Tests of `--sort`. The pieces of an unsorted trace are sorted, and give the rows of `pj_dump
//! --sort`.

use datasets::invalid::{self, Fault};
use datasets::{Shape, random};
use paje_parser::{FieldNames, Line, LineDecoder};
use paje_sim::Trace;

use crate::rows::options;
use crate::splitting::{Place, Split};
use testkit::said;

fn assert_sorted(about: &str, split: &Split) {
    for file in split.pieces.iter().chain([&split.root]) {
        let (mut decoder, mut last) = (LineDecoder::new(FieldNames::Old), f64::NEG_INFINITY);
        for line in file.split(|byte| *byte == b'\n') {
            if let Line::Event(event) = decoder.line(line).expect("a valid piece")
                && let Some(time) = event.decode().expect("a valid piece").time()
            {
                assert!(time >= last, "{about}: {time} behind {last}");
                last = time;
            }
        }
    }
}

#[test]
fn every_shape_is_sorted() {
    let mut unsorted = 0;
    for (turn, shape) in Shape::ALL.into_iter().enumerate() {
        let place = Place::new(&datasets::generate(shape, 30_000, 1));
        for count in ["1", "3"] {
            // This also compares the rows of the pieces with the sorted trace.
            let split = place.split(&["--sort", "--no-warnings", "-p", count], 1 << (9 + turn % 8));
            assert_sorted(shape.name(), &split);
        }
        unsorted += usize::from(!shape.is_sorted());
    }
    assert!(unsorted > 0);
}

#[test]
fn random_traces_are_sorted() {
    let (mut options, mut compared) = (options(), 0);
    options.sort = true;
    for seed in 0..200 {
        let trace = random::trace(seed).bytes;
        if !trace.is_empty() && Trace::read(&trace[..], &options).is_ok() {
            let split = Place::new(&trace).split(&["--sort", "--no-warnings", "-nzp", "3"], 300);
            assert_sorted(&format!("seed {seed}"), &split);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// The hint appears when it is needed. Following it helps for files and pipes, and with
/// `--recover`.
#[test]
fn the_hint_about_sort_helps() {
    let trace = invalid::trace(Fault::StateOutOfOrder, 1).bytes;
    let place = Place::new(&trace);
    let output = place.run(&["t", "-o", "d"]);
    assert_eq!(output.status.code(), Some(1));
    let hint = "pj_split: hint: `--sort` splits the trace sorted by time, as `sort -s` would\n";
    assert!(said(&output).ends_with(hint), "{}", said(&output));
    for options in [&["--sort"][..], &["--sort", "--recover"]] {
        let words = [&["t", "-o", "d", "-p", "2"], options].concat();
        let output = place.run(&words);
        assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""), "{options:?}");
        std::fs::remove_dir_all(place.path("d")).expect("it was made");
    }
}
