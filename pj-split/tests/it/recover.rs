//! Tests of `--recover`. The pieces of a damaged trace have its recovered rows. They are valid if
//! the program says so.

use std::fs;

use clap::Parser;
use datasets::invalid::{self, Fault};
use datasets::{EVENTS, WORLD};
use paje_console::Failure;
use paje_sim::{Options, Precision, Progress, Source, Trace};
use pj_split::cli::Cli;
use pj_split::run::{Made, split};
use splitter::{Folders, Input, Limits};
use testkit::{Rng, damage, number, team};

use crate::rows::{Row, rows};
use crate::splitting::{Place, files};

fn options(recover: bool) -> Options {
    let mut options = Options::default();
    options.user_defined = true;
    options.recover = recover;
    options.variable_precision = Precision::Single;
    options
}

fn shown(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.text.as_str()).collect()
}

/// Splits a damaged trace and compares its pieces. Returns the program's verdict, or `None` if
/// there are no pieces because none can have its rows.
fn check(bytes: &[u8], count: &str, block: usize, threads: usize) -> Option<Made> {
    check_as(bytes, count, block, threads, false)
}

fn check_as(bytes: &[u8], count: &str, block: usize, threads: usize, sorted: bool) -> Option<Made> {
    let about = || format!("{count} pieces, blocks of {block}\n{}", String::from_utf8_lossy(bytes));
    let mut sorting = options(true);
    sorting.sort = sorted;
    let whole = Trace::read(bytes, &sorting);
    let whole = whole.unwrap_or_else(|error| panic!("{error}\n{}", about()));
    let place = Place::new(bytes);
    let (trace, output) = (place.path("t"), place.path("d"));
    let words =
        ["pj_split", "--recover", "--no-warnings", "-p", count, "--threads", &threads.to_string()]
            .map(std::ffi::OsString::from);
    let sort = sorted.then(|| "--sort".into());
    let words =
        words.into_iter().chain(sort).chain(["-o".into(), output.clone().into(), trace.into()]);
    let limits = Limits { block, ..Limits::default() };
    let made = split(&Cli::parse_from(words), limits);
    let made = match made {
        Err(Failure::Unsuitable(_, why)) if why.contains("no pieces can express") => return None,
        made => made.unwrap_or_else(|failure| panic!("{failure:?}\n{}", about())),
    };
    assert_eq!(made.was_sound, whole.recovered().problems.is_empty(), "{}", about());
    let workers = team(threads);
    let read = |paths: &[std::path::PathBuf]| {
        let path = &paths[0];
        let input = Input::open(Some(path)).expect("it was written");
        let folders = Folders::of(paths.iter().map(std::path::PathBuf::as_path));
        let source = Source::from(input).reading_files(Some(path.clone()), folders);
        let source = source.followed_by(paths[1..].to_vec());
        let options = options(!made.are_sound);
        let trace = Trace::read_with(source, &options, &workers, &Progress::default());
        trace.unwrap_or_else(|error| {
            let place = error.position();
            let text = fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            panic!("{error} {place:?}\n{}\n{}\n{text}", path.display(), about())
        })
    };
    let (mut pieces, wanted) = (files(&output), rows(&whole));
    let root = pieces.pop().expect("there is a root");
    for together in [std::slice::from_ref(&root), &pieces] {
        let found = rows(&read(together));
        assert_eq!(shown(&found), shown(&wanted), "{together:?}\n{}", about());
    }
    for piece in &pieces {
        read(std::slice::from_ref(piece));
    }
    Some(made)
}

const COUNTS: [&str; 3] = ["1", "3", "100"];

#[test]
fn every_fault_is_recovered() {
    for seed in 0..3 {
        for (turn, fault) in Fault::ALL.into_iter().enumerate() {
            let bytes = invalid::trace(fault, seed).bytes;
            if !bytes.is_empty() {
                let made = check(&bytes, COUNTS[turn % 3], 300, 1 + turn % 3);
                assert!(made.is_some_and(|made| !made.was_sound), "{fault}");
            }
        }
    }
}

/// The link has a key of a destroyed container, and its other end is in an unknown container.
#[test]
fn a_late_link_of_an_unknown_container_is_recovered() {
    let bytes = include_bytes!("recover/late-link.trace");
    assert!(check_as(bytes, COUNTS[2], 1 << 17, 1, false).is_some());
}

/// `PAJE_SEEDS=100000 cargo test --release -p pj-split --test it damaged_in_any_way` tries more
/// traces.
#[test]
fn damaged_in_any_way_is_recovered() {
    let (first, seeds) = (number("PAJE_SEED").unwrap_or(0), number("PAJE_SEEDS").unwrap_or(300));
    let (mut mended, mut sound, mut refused) = (0, 0, 0);
    for seed in first..first + seeds {
        let mut rng = Rng::new(seed);
        let whole = match seed % 2 {
            0 => datasets::random::trace(seed).bytes,
            _ => invalid::trace(Fault::ALL[rng.index(Fault::ALL.len())], seed).bytes,
        };
        let bytes = damage(&whole, &mut rng);
        if bytes.is_empty() {
            continue;
        }
        println!("seed {seed}");
        let count = COUNTS[seed as usize % 3];
        let block = [100, 64, 1 << 17][seed as usize / 3 % 3];
        let threads = 1 + seed as usize % 2;
        let Some(made) = check_as(&bytes, count, block, threads, seed % 5 == 0) else {
            refused += 1;
            continue;
        };
        mended += u32::from(!made.was_sound);
        sound += u32::from(!made.was_sound && made.are_sound);
    }
    println!("{mended} mended, {sound} of them to sound pieces; {refused} refused");
    assert!(
        sound * 2 > mended && refused * 500 <= mended,
        "{sound} of {mended}; {refused} refused"
    );
}

#[test]
fn known_kinds_of_damage_are_recovered() {
    for (about, lines, are_sound) in [
        (
            "grouped links",
            "ctype Process H N\ncreate 0 n N h\nfrom 1 L h a p k\nto 2 L h a n k\n",
            true,
        ),
        (
            "links that end in several types",
            "ctype Link H N\ncreate 0 n N h\nfrom 1 L h a p k\nto 2 L h a n k\nfrom 1 L h a p l\n\
             to 2 L h a q l\n",
            false,
        ),
        ("pops", "pop 1 S p\npush 2 S p a\npop 3 S p\npop 4 S p\npush 5 S p b\n", true),
        ("unset variables", "vadd 1 V p 2\nvadd 2 V p 3\nvsub 2 V q 3\nvsub 3 V q -1\n", true),
        (
            "a container never created",
            "ctype Core 0 C\nstype S C T\npush 2 T c a\npop 3 T c\n",
            true,
        ),
        ("the same in a type of another", "push 2 S r a\npop 3 S r\n", false),
        ("created too late", "push 2 S r a\ncreate 3 r P h\npop 4 S r\n", true),
        (
            "an empty key",
            "from 1 L h m p\nto 2 L h m q\nfrom 3 L h m p k # \nto 4 L h m q k\n",
            true,
        ),
        ("out of time order", "push 3 S p a\npush 2 S p b\nvadd 1 V p 1\npop 4 S p\n", true),
        (
            "links out of order",
            "from 1 L h m p k\nfrom 1 L h m p l\nto 6 L h m q l\nto 5 L h m q k\n",
            false,
        ),
        (
            "a key used again",
            "from 1 L h m p k\nto 2 L h m q k\nfrom 3 L h m p k\nto 4 L h m q k\n",
            false,
        ),
        ("values that differ", "from 1 L h m p k\nto 3 L h other q k\n", true),
        ("a parent of another type", "ctype Core H C\ncreate 1 a C p\ncreate 2 b C q\n", true),
        ("parents of several types", "create 1 a P 0\npush 4 S a x\npush 4 S p x\n", false),
        ("an unknown parent", "ctype Core 0 C\ncreate 1 a C nowhere\n", true),
        ("destroyed too early", "push 5 S p a\ndestroy 3 P p\npush 6 S p b\npush 6 S q b\n", true),
        ("a link without an end", "from 1 L h m p k\npush 2 S p a\n", true),
        ("cut off", "push 1 S p a\npush 2 S q b\nfrom 2 L h m p k\npush 4 S", true),
        ("cut off in a definition", "push 1 S p a\n%EventDef PajeSetState 9\n% Time date\n", true),
        ("an unknown type", "push 1 Z p a\npush 2 S p b\n", true),
        (
            "quotes that are text, and no name",
            "%EventDef PajePushState a\"b\n% Time date\n% Type string\n% Container string\n\
             % Value string\n% c\"d int\n%\"e int\n% \"\" int\n%EndEventDef\n\
             a\"b 1 S p v 1 2 3\npop 5 S p\npop 6 S p\n",
            true,
        ),
    ] {
        let bytes = [&testkit::definitions(EVENTS), WORLD, lines].concat().into_bytes();
        for count in COUNTS {
            let made = check(&bytes, count, 200, 2).expect("pieces can express it");
            assert_eq!((made.was_sound, made.are_sound), (false, are_sound), "{about}");
        }
    }
}
