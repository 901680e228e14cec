//! Each piece has the right lines, and its dump is the corresponding part of the trace's dump.

use std::collections::BTreeSet;

use datasets::{Shape, random};
use paje_sim::Trace;

use crate::plain::Plain;
use crate::rows::{dump, options};
use crate::splitting::{Place, Split};

/// Numbers of pieces. The last one exceeds the number of containers of every trace.
const COUNTS: [&str; 5] = ["1", "2", "7", "64", "100000"];

pub(crate) fn check(about: &str, trace: &[u8], split: &Split) {
    let plain = Plain::new(trace);
    let owns = plain.owns(split);
    let mut named = BTreeSet::new();
    for own in &owns {
        for container in own {
            assert!(named.insert(container.clone()), "{about}: {container} is in two pieces");
        }
    }
    for container in plain.bytes.keys() {
        assert!(named.contains(container), "{about}: {container} is in no piece");
    }
    assert_text(&format!("{about}, root"), &split.root, &plain.root(&owns));
    let rows = dump(trace);
    for (number, (piece, own)) in split.pieces.iter().zip(&owns).enumerate() {
        let about = format!("{about}, piece {number}");
        assert_text(&about, piece, &plain.piece(own));
        let mut created = plain.created(own);
        created.insert("0".into());
        let found = dump(piece);
        let mut wanted = rows.iter().filter(|row| match row.about {
            true => created.contains(&row.of),
            false => own.contains(&row.of),
        });
        for row in &found {
            assert_eq!(Some(row), wanted.next(), "{about}");
        }
        assert_eq!(None, wanted.next(), "{about}");
    }
}

fn assert_text(about: &str, found: &[u8], wanted: &[u8]) {
    if found != wanted {
        let (found, wanted) = (String::from_utf8_lossy(found), String::from_utf8_lossy(wanted));
        for (number, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(found, wanted, "{about}, line {}", number + 1);
        }
        panic!("{about}: {} bytes instead of {}", found.len(), wanted.len());
    }
}

#[test]
fn every_shape_is_split_as_in_the_model() {
    for (turn, shape) in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()).enumerate() {
        let trace = datasets::generate(shape, 40_000, turn as u64);
        let place = Place::new(&trace);
        for count in COUNTS {
            let split = place.split(&["-p", count, "--no-warnings"], 1 << (10 + turn % 8));
            assert!(split.pieces.len() <= count.parse().unwrap());
            check(&format!("{shape}, {count} pieces"), &trace, &split);
        }
    }
}

/// `PAJE_SEEDS=20000 cargo test --release -p pj-split --test it random_traces -- --nocapture` tries
/// more traces.
#[test]
fn random_traces() {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("PAJE_SEED").unwrap_or(0);
    let (mut compared, mut destroyed) = (0_u64, 0_u64);
    let seeds = number("PAJE_SEEDS").unwrap_or(300);
    for seed in first..first + seeds {
        let trace = random::trace(seed);
        if !trace.is_valid() {
            continue;
        }
        let place = Place::new(&trace.bytes);
        let count = COUNTS[seed as usize % COUNTS.len()];
        let split = place.split(&["--no-warnings", "-nzp", count], 500);
        check(&format!("seed {seed}, {count} pieces"), &trace.bytes, &split);
        compared += 1;
        destroyed += u64::from(has_destructions(&trace.bytes));
    }
    println!("{compared} traces compared, {destroyed} of them with destructions");
    assert!(compared * 2 >= seeds && destroyed * 4 >= seeds, "{compared}, {destroyed} of {seeds}");
}

fn has_destructions(trace: &[u8]) -> bool {
    let trace = Trace::read(trace, &options()).expect("a valid trace");
    trace.containers().ids().any(|id| trace.containers().is_destroyed(id))
}

#[test]
fn children_end_with_a_destroyed_container_in_every_piece() {
    let header = "\
%EventDef PajeDefineContainerType 0\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeDestroyContainer 4\n% Time date\n% Name string\n% Type string\n%EndEventDef
0 H 0\n0 K H\n0 R K\n1 S R\n2 0 h H 0\n2 0 k K h\n";
    let both = "2 0 r1 R k\n2 0 r2 R k\n3 1 S r1 a\n3 1 S r2 b\n";
    let ends = [
        // The parent is destroyed, or the grandparent, or both.
        "4 2 k K\n2 9 h2 H 0\n",
        "4 2 h H\n2 9 h2 H 0\n",
        "4 2 k K\n4 3 h H\n2 9 h2 H 0\n",
        "4 2 k K\n4 2 h H\n2 9 h2 H 0\n",
        "4 2 h H\n4 2 k K\n2 9 h2 H 0\n",
        "4 2 0 0\n2 9 h2 H 0\n",
        // Ignored lines: events, and repeated destructions.
        "4 2 h H\n3 8 S r2 c\n4 3 r2 R\n2 9 h2 H 0\n",
        "4 2 h H\n4 3 k K\n4 3 h H\n2 9 h2 H 0\n",
        // Children created afterwards. They stay alive, or end with the grandparent.
        "4 2 k K\n2 3 r3 R k\n2 3 r4 R k\n3 4 S r3 a\n3 4 S r4 a\n2 9 h2 H 0\n",
        "4 2 k K\n2 3 r3 R k\n2 3 r4 R k\n3 4 S r3 a\n3 4 S r4 a\n4 5 h H\n2 9 h2 H 0\n",
        "4 2 h H\n2 3 l K h\n2 3 r3 R l\n2 3 r4 R l\n3 4 S r3 a\n3 4 S r4 a\n4 5 l K\n2 9 h2 H 0\n",
        "4 2 h H\n2 3 r3 R k\n2 3 r4 R k\n3 4 S r3 a\n3 4 S r4 a\n4 2 h H\n2 9 h2 H 0\n",
    ];
    for (number, end) in ends.iter().enumerate() {
        let trace = [header, both, end].concat().into_bytes();
        let place = Place::new(&trace);
        for count in ["2", "9"] {
            let split = place.split(&["-p", count, "--no-warnings"], 100);
            assert!(split.pieces.len() > 1);
            check(&format!("end {number}, {count} pieces"), &trace, &split);
        }
    }
}

#[test]
fn there_are_no_more_pieces_than_containers_with_events() {
    for shape in [Shape::Mpi, Shape::Deep, Shape::ManyContainers] {
        let trace = datasets::generate(shape, 40_000, 1);
        let split = Place::new(&trace).split(&["-p", "100000", "--no-warnings"], 4096);
        assert_eq!(split.pieces.len(), Plain::new(&trace).bytes.len(), "{shape}");
    }
}

#[test]
fn by_type_keeps_each_subtree_in_one_piece() {
    for shape in [Shape::Mpi, Shape::Deep, Shape::TaskRuntime] {
        let trace = datasets::generate(shape, 40_000, 1);
        let (place, plain) = (Place::new(&trace), Plain::new(&trace));
        let types: BTreeSet<&String> = plain.types.values().collect();
        for type_ in types {
            let split = place.split(&["--by", type_, "--no-warnings"], 4096);
            let about = format!("{shape} by {type_}");
            check(&about, &trace, &split);
            let owns = plain.owns(&split);
            let mut heads = 0;
            for container in plain.types.keys().filter(|name| &plain.types[*name] == type_) {
                let inside = |name: &&String| plain.is_in(name, container);
                let busy: Vec<&String> = plain.bytes.keys().filter(inside).collect();
                if let Some(first) = busy.first() {
                    let own = owns.iter().find(|own| own.contains(*first)).expect("it has events");
                    assert!(busy.iter().all(|name| own.contains(*name)), "{about}: {container}");
                    assert!(own.iter().all(|name| plain.is_in(name, container)), "{about}");
                    heads += 1;
                }
            }
            assert!((heads..=heads + 1).contains(&split.pieces.len()), "{about}");
        }
    }
}

/// Any kind of last line may lack its newline. All lines of pieces have one.
#[test]
fn unfinished_last_lines_are_completed() {
    let header = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajeDestroyContainer 5\n% Time date\n% Name string\n% Type string\n% Why string\n%EndEventDef
";
    let world = "1 \"Host type\" 0 # a comment\n2 S \"Host type\"\n\n   # nothing\n\
                 3 0 \"a b\" \"Host type\" 0\n3 0 \"\" \"Host type\" 0\n3 0 a\"c \"Host type\" 0\n";
    let ends = [
        // Last lines without a newline: an event, a comment, a definition, a destruction, a value.
        "4 1 S \"a b\" x\n4 1 S a\"c x # \"\n4 2 S \"\" \"y z",
        "4 1 S \"a b\" x\n4 1 S a\"c x\n# end",
        "4 1 S \"a b\" x\n%EventDef PajePopState 9\n% Time date\n% Type string\n% Container string\n%EndEventDef",
        "4 1 S \"a b\" x\n5 3 \"a b\" \"Host type\" because\n4 4 S \"a b\" ignored\n5 4 \"a b\" \"Host type\" again",
        "4 1 S \"a b\" x\n5 3 0 0 why\n3 4 late \"Host type\" 0\n4 4.5 S late x\n",
        "",
    ];
    for (number, end) in ends.iter().enumerate() {
        let trace = [header, world, end].concat().into_bytes();
        let place = Place::new(&trace);
        for count in ["1", "2", "9"] {
            let split = place.split(&["-p", count, "--no-warnings"], 100);
            check(&format!("end {number}, {count} pieces"), &trace, &split);
            // Containers without events are assigned too.
            assert!(!split.pieces.is_empty());
        }
    }
}
